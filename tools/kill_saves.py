"""Kill saves at every call of the system that they make, and restore what they left.

    python tools/kill_saves.py FOLDER [WAY …]

A child process is forked for each place; there it ends as if it had been killed. After each, the latest checkpoint of
the folder must be whole: that of the save before, or the new one. Every way of saving is tried: over the same prefix,
in the background, numbered with a list (CheckpointManager), in shards that are merged over the same prefix (by the
ops, by a policy, by a session's Saver, by a saver of the program), and as files of arrays. Prints how many places each
had; ends with 1 where a checkpoint was damaged.
"""

from __future__ import annotations

import functools
import os
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ebbflow as tf
from ebbflow.checkpoint import management
from ebbflow.io.array_files import read_arrays
from ebbflow.io.save_ops import open_checkpoint
from ebbflow.platform import file_systems
from ebbflow.trackable import registration

COUNT, LENGTH, DONE, KILLED = 14, 64, 7, 9
CALLS = ("replace", "remove", "fsync", "mkdir", "makedirs", "open", "close", "stat", "listdir", "rmdir")


class Countdown:
    """Ends the process when it has been counted down."""

    def __init__(self, left: int):
        self.left = left

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts before it is called."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.left == 0:
                os._exit(KILLED)
            self.left -= 1
            return function(*args, **kwargs)

        return call


class Unbuffered:
    """A file whose writes reach the system at once, in two halves."""

    def __init__(self, file: Any, countdown: Countdown):
        self._file = file
        self._write = countdown.around(os.write)

    def write(self, data: Any) -> int:
        half = len(data) // 2
        for part in (bytes(data[:half]), bytes(data[half:])):
            self._write(self._file.fileno(), part)
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Refuse: NumPy only asks whether a file has this."""
        raise OSError("a file that is being written")

    def flush(self) -> None:
        """Nothing is held back."""

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Unbuffered:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def wrap_system(countdown: Countdown) -> None:
    """Count every call of the system that touches files."""
    os.environ["EBBFLOW_CHECKPOINT_SYNC"] = "1"
    plain: Any = file_systems.LocalFiles.open
    os.fsync = lambda handle: None  # counted below; a killed process loses nothing that the system has
    for name in CALLS:
        setattr(os, name, countdown.around(getattr(os, name)))

    def opened(self: Any, path: str, mode: str) -> Any:
        if mode != "wb":
            return plain(self, path, mode)
        return Unbuffered(open(path, mode, buffering=0), countdown)

    file_systems.LocalFiles.open = countdown.around(opened)  # type: ignore[method-assign]


def killed_at(place: int, save: Callable[[], None]) -> int:
    """Save in a child process that ends at its place-th call; return DONE where it came to its end, else KILLED."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            wrap_system(Countdown(place))
            save()
            code = DONE
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def value_in(prefix: str) -> float:
    """Return the one value that all tensors of a checkpoint have."""
    reader = open_checkpoint(prefix)
    values = {x for name in reader.names if "VALUE" in name and "counter" not in name for x in reader.read(name).flat}
    if len(values) != 1:
        raise AssertionError(f"{prefix} has values of several saves: {sorted(values)}")
    return float(values.pop())


def places_survived(save: Callable[[float], None], latest: Callable[[], float]) -> int:
    """Kill a save at its first call, another one at its second, …; return at how many places one was killed."""
    place = 0
    while True:
        before, after = float(2 * place), float(2 * place + 1)
        save(before)  # whole, over what the one before left
        code = killed_at(place, lambda value=after: save(value))  # type: ignore[misc]
        if code not in (DONE, KILLED):
            raise AssertionError(f"the save at place {place} ended with {code}")
        value = latest()
        if value not in (before, after) or (code == DONE and value != after):
            raise AssertionError(f"killed at place {place}: the latest checkpoint has {value}, the one before {before}")
        if code == DONE:
            return place
        place += 1


class Saved(tf.Module):
    """A value that functions of the program save and restore."""

    def __init__(self) -> None:
        self.value = tf.Variable(np.zeros(LENGTH, np.float32))


def _save_own(trackables: dict[str, Any], file_prefix: Any) -> Any:
    names = [f"{path}/VALUE" for path in trackables]
    values = [one.value for one in trackables.values()]
    tf.raw_ops.SaveV2(prefix=file_prefix, tensor_names=names, shape_and_slices=[""] * len(names), tensors=values)
    return file_prefix


registration.register_checkpoint_saver(
    "kill_saves", "own", lambda obj: isinstance(obj, Saved), _save_own, lambda trackables, merged_prefix: None
)


class Ways:
    """The ways of saving, each a method of the value that everything is to have."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.variables = [tf.Variable(np.zeros(LENGTH, np.float32), name=f"v{i}") for i in range(COUNT)]
        self.own = Saved()
        self.checkpoint = tf.train.Checkpoint(v=self.variables)
        self.with_own = tf.train.Checkpoint(v=self.variables, own=self.own)
        with tf.Graph().as_default() as self.graph:
            self.fed = tf.compat.v1.placeholder(tf.float32, [])
            held = []
            for i in range(4):
                with tf.device(f"/cpu:{i % 2}"):
                    held.append(tf.compat.v1.get_variable(f"VALUE{i}", [LENGTH], use_resource=True))
            self.filled = [one.assign(tf.fill([LENGTH], self.fed)) for one in held]
            self.saver = tf.compat.v1.train.Saver(held, sharded=True, max_to_keep=1)

    def prefix(self, name: str) -> str:
        return str(self.folder / name / "m")

    def _assign(self, value: float) -> None:
        for variable in [*self.variables, self.own.value]:
            variable.assign(np.full(LENGTH, value, np.float32))

    def same(self, value: float) -> None:
        self._assign(value)
        self.checkpoint.write(self.prefix("same"))

    def background(self, value: float) -> None:
        self._assign(value)
        self.checkpoint.write(self.prefix("background"), options=tf.train.CheckpointOptions(enable_async=True))
        self.checkpoint.sync()

    def numbered(self, value: float) -> None:
        self._assign(value)
        manager = tf.train.CheckpointManager(self.checkpoint, str(self.folder / "numbered"), max_to_keep=2)
        manager.save(checkpoint_number=int(value) + 10)

    def policy(self, value: float) -> None:
        self._assign(value)
        policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=LENGTH * 16)
        options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
        self.checkpoint.write(self.prefix("policy"), options=options)

    def registered(self, value: float) -> None:
        self._assign(value)
        self.with_own.write(self.prefix("registered"))

    def session(self, value: float) -> None:
        with tf.compat.v1.Session(graph=self.graph) as session:
            session.run(self.filled, {self.fed: value})
            self.saver.save(session, self.prefix("session"), write_meta_graph=False)

    def sharded(self, value: float) -> None:
        arrays = [np.full(LENGTH, value, np.float32)] * COUNT
        names = [f"VALUE{i}" for i in range(COUNT)]
        parts = [str(self.folder / "sharded" / f"m_temp/part-{i:05d}-of-00002") for i in range(2)]
        for i, part in enumerate(parts):
            mine = names[i::2]
            tf.raw_ops.SaveV2(
                prefix=part, tensor_names=mine, shape_and_slices=[""] * len(mine), tensors=arrays[: len(mine)]
            )
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=self.prefix("sharded"))

    def safetensors(self, value: float) -> None:
        self._assign(value)
        tf.train.export_variables(self.folder / "safetensors" / "m.safetensors", self.variables)

    def npz(self, value: float) -> None:
        self._assign(value)
        tf.train.export_variables(self.folder / "npz" / "m.npz", self.variables)

    def value(self, name: str) -> float:
        """Return the value that all tensors of the latest checkpoint of a way have."""
        if name in ("safetensors", "npz"):
            arrays = read_arrays(str(self.folder / name / f"m.{name}"))
            values = {x for array in arrays.values() for x in array.flat}
            if len(values) != 1 or len(arrays) != COUNT:
                raise AssertionError(f"{name} has values of several saves: {sorted(values)}")
            return float(values.pop())
        return value_in(
            str(management.latest_checkpoint(self.folder / name)) if name == "numbered" else self.prefix(name)
        )


WAYS = ("same", "background", "numbered", "policy", "registered", "session", "sharded", "safetensors", "npz")


def main(folder: pathlib.Path, names: Sequence[str] = WAYS) -> int:
    """Try all ways of saving, or those that are named."""
    os.environ["EBBFLOW_CHECKPOINT_SYNC"] = "0"  # of the saves that are not killed
    ways = Ways(folder)
    for name in names or WAYS:
        (folder / name).mkdir(parents=True)
        try:
            places = places_survived(getattr(ways, name), functools.partial(ways.value, name))
            print(f"{name}: killed at {places} places")
        except AssertionError as error:
            print(f"{name}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
