"""Folders of checkpoints: the `checkpoint` file that lists them, which is the latest, whether one exists, removing one.

The list is a CheckpointState message as text. Knows files and names; knows nothing of what is in a checkpoint.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.typing import Message, PathLike
from ebbflow.io.bundle import PENDING, bundle_exists, index_path
from ebbflow.io.bundle_writer import write_atomically
from ebbflow.platform import files, logging

V2 = 2  # SaverDef.CheckpointFormatVersion
LIST = "checkpoint"


def list_path(save_dir: Any, latest_filename: str | None) -> str:
    """Return the path of the file that lists a folder's checkpoints."""
    return os.path.join(os.fspath(save_dir), latest_filename or LIST)


# --- the list ---------------------------------------------------------------------------------------------------------


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Iterable[Any] | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """Return the CheckpointState that lists these checkpoints; relative paths become relative to the folder."""
    save_dir, latest = os.fspath(save_dir), os.fspath(model_checkpoint_path)
    paths = [os.fspath(p) for p in all_model_checkpoint_paths or ()]
    if not paths or paths[-1] != latest:
        logging.info("%s is not in all_model_checkpoint_paths. Manually adding it.", latest)
        paths.append(latest)
        if isinstance(all_model_checkpoint_paths, list):
            all_model_checkpoint_paths.append(latest)  # the caller's list is kept complete, as in TensorFlow
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps "
            f"{all_model_checkpoint_timestamps})"
        )
    if not _is_absolute(save_dir):
        latest = latest if _is_absolute(latest) else os.path.relpath(latest, save_dir)
        paths = [p if _is_absolute(p) else os.path.relpath(p, save_dir) for p in paths]
    state = messages.CheckpointState(
        model_checkpoint_path=latest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
    )
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    return state


def _is_absolute(path: str) -> bool:
    return os.path.isabs(path) or "://" in path


def update_checkpoint_state(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Iterable[Any] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Iterable[Any] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the list of a folder's checkpoints."""
    update_checkpoint_state_internal(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
        all_model_checkpoint_timestamps, last_preserved_timestamp,
    )  # fmt: skip


def update_checkpoint_state_internal(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Iterable[Any] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the list of a folder's checkpoints; paths can be made relative to the folder."""
    latest, paths = os.fspath(model_checkpoint_path), list(all_model_checkpoint_paths or ())
    if save_relative_paths:
        latest, *paths = [os.path.relpath(p, save_dir) if os.path.isabs(p) else p for p in (latest, *paths)]
    state = generate_checkpoint_state_proto(
        save_dir, latest, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    path = list_path(save_dir, latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  Please use a "
            "different save path."
        )
    write_atomically(path, messages.to_text(state).encode())


def get_checkpoint_state(checkpoint_dir: PathLike, latest_filename: str | None = None) -> Message | None:
    """Return the CheckpointState of a folder with whole paths, or None where there is none.

    >>> import os, tempfile
    >>> import ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tf.train.Checkpoint(v=tf.Variable(1.0)).save(os.path.join(folder, "ckpt"))
    ...     os.path.basename(get_checkpoint_state(folder).model_checkpoint_path)
    'ckpt-1'
    """
    checkpoint_dir = files.text_of(checkpoint_dir)
    path = list_path(checkpoint_dir, latest_filename)
    try:
        if not files.exists(path):
            return None
        state = messages.parse_text(files.read_file_to_string(path), messages.CheckpointState, path)
    except (errors.OpError, UnicodeDecodeError) as error:
        logging.warning("%s: %s", type(error).__name__, error)
        logging.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = _whole(checkpoint_dir, state.model_checkpoint_path)
    for i, listed in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = _whole(checkpoint_dir, listed)
    return state


def _whole(folder: str, path: str) -> str:
    return path if _is_absolute(path) else os.path.join(folder, path)


# --- checkpoints ------------------------------------------------------------------------------------------------------


def latest_checkpoint(checkpoint_dir: PathLike, latest_filename: str | None = None) -> str | None:
    """Return the prefix of the latest checkpoint of a folder, or None.

    >>> import os, tempfile
    >>> import ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(os.path.join(folder, "ckpt"))
    ...     latest_checkpoint(folder) == path
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists_internal(state.model_checkpoint_path):
        return state.model_checkpoint_path
    logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists_internal(checkpoint_prefix: Any) -> bool:
    """Return whether there is a checkpoint of that prefix, of either format."""
    prefix = files.text_of(checkpoint_prefix)
    return bool(bundle_exists(prefix) or files.glob(index_path(prefix)) or files.glob(prefix))


checkpoint_exists = checkpoint_exists_internal


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """Return when checkpoints were written, in seconds; those that are not there are left out."""
    times = []
    for prefix in map(files.text_of, checkpoint_prefixes):
        matches = files.glob(index_path(prefix)) or files.glob(index_path(prefix) + PENDING) or files.glob(prefix)
        if matches:
            times.append(files.stat(matches[0]).mtime_nsec / 1e9)
    return times


def remove_checkpoint(
    checkpoint_prefix: PathLike, checkpoint_format_version: int = V2, meta_graph_suffix: str = "meta"
) -> None:
    """Remove a checkpoint and its MetaGraph."""
    prefix = files.text_of(checkpoint_prefix)
    _remove_matching(meta_graph_filename(prefix, meta_graph_suffix))
    if checkpoint_format_version != V2:
        _remove_matching(prefix)
        return
    _remove_matching(index_path(prefix))  # without an index it is no checkpoint: data goes last
    _remove_matching(index_path(prefix) + PENDING)
    _remove_matching(prefix + ".data-?????-of-?????")
    _remove_matching(prefix + ".data-?????-of-?????" + PENDING)


def _remove_matching(pattern: str) -> None:
    for path in files.glob(pattern):
        with contextlib.suppress(errors.NotFoundError):
            files.remove(path)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Return the name of the MetaGraph of a checkpoint.

    >>> meta_graph_filename("model.ckpt-5"), meta_graph_filename("model-?????-of-00002")
    ('model.ckpt-5.meta', 'model.meta')
    """
    base, dash, shards = checkpoint_filename.rpartition("-?????-of-")
    return f"{base if dash and shards.isdigit() else checkpoint_filename}.{meta_graph_suffix}"


# --- waiting for checkpoints ------------------------------------------------------------------------------------------


def wait_for_new_checkpoint(
    checkpoint_dir: PathLike,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Wait until a folder has a latest checkpoint other than `last_checkpoint`, and return it; None: time is up."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop_at = time.time() + timeout if timeout is not None else None
    while True:
        latest = latest_checkpoint(checkpoint_dir)
        if latest is not None and latest != last_checkpoint:
            logging.info("Found new checkpoint at %s", latest)
            return latest
        if stop_at is not None and time.time() + seconds_to_sleep > stop_at:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yield a folder's latest checkpoints as they appear; ends when none comes within `timeout` seconds."""
    checkpoint_path = None
    while True:
        newer = wait_for_new_checkpoint(checkpoint_dir, checkpoint_path, timeout=timeout)
        if newer is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.time()
        checkpoint_path = newer
        yield checkpoint_path
        left = start + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)
