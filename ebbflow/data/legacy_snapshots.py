"""Snapshots as TensorFlow 1.15 and 2.0 made them: whoever comes first writes, others pass elements on or read them.

    path/<fingerprint, or custom-name>/snapshot.metadata                    which run it is, and whether it is whole
    path/<fingerprint, or custom-name>/<run, or custom>/<part>.snapshot     of each element its tensors as messages

Files are records like those of `saved`, which TensorFlow reads as well as its own. What there is to do is decided when
the first element is asked for.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.typing import TensorLike
from ebbflow.data import saved
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.element_records import dtype_of, record_of
from ebbflow.data.fingerprint import fingerprint
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import TYPED, Element, dataset_op, made, pipe_of
from ebbflow.io.record_forms import writer_of
from ebbflow.ops.random.seeds import get_seed
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import as_bytes
from ebbflow.platform import files

SnapshotDataset = dataset_op(
    f'SnapshotDataset(input_dataset:variant, path:string) -> (handle:variant) | {TYPED}; compression: string = ""; '
    'reader_path_prefix: string = ""; writer_path_prefix: string = ""; shard_size_bytes: int = 10737418240; '
    "pending_snapshot_expiry_seconds: int = 86400; num_reader_threads: int = 1; reader_buffer_size: int = 1; "
    "num_writer_threads: int = 1; writer_buffer_size: int = 1; shuffle_on_read: bool = false; seed: int = 0; "
    'seed2: int = 0; mode: string = "auto"; snapshot_name: string = ""'
)
SHARD_BYTES, EXPIRY = 10 << 30, 86400
MODES = ("auto", "read", "write", "passthrough")


@SnapshotDataset.kernel
def _(
    xp: Any, input_dataset: Any, path: Any, *, output_types: Any, compression: Any, reader_path_prefix: Any,
    writer_path_prefix: Any, shard_size_bytes: int, pending_snapshot_expiry_seconds: int, shuffle_on_read: bool,
    seed: int, seed2: int, mode: Any, snapshot_name: Any,
) -> Any:  # fmt: skip
    source, form = pipe_of(input_dataset), saved.form_of(as_bytes(compression).decode())
    wish, name = as_bytes(mode).decode(), as_bytes(snapshot_name).decode()
    if wish not in MODES:
        raise invalid(f"mode must be one of {', '.join(MODES)}, got {wish!r}")
    folder = f"custom-{name}" if name else str(fingerprint(source))
    place = os.path.join(os.fsdecode(path.item()), folder)
    reading, writing = [as_bytes(prefix).decode() for prefix in (reader_path_prefix, writer_path_prefix)]
    most = shard_size_bytes if shard_size_bytes > 0 else SHARD_BYTES
    wait = pending_snapshot_expiry_seconds if pending_snapshot_expiry_seconds > 0 else EXPIRY

    def elements() -> Iterator[Element]:
        said = saved.described(reading + place)
        what = _what_to_do(said, wait) if wish == "auto" else wish
        if what == "read":
            if said is None:
                raise errors.NotFoundError(None, None, f"{reading + place} holds no snapshot to read")
            order = np.random.RandomState([seed % 2**32, seed2 % 2**32] if seed or seed2 else None)
            return _read(os.path.join(reading + place, said.run_id), output_types, order if shuffle_on_read else None)
        if what == "passthrough":
            return source.start()
        run = "custom" if name else str(secrets.randbits(64))
        return _written(source.start(), writing + place, run, folder, form, most)

    return made(lambda: _later(elements), source.size, source)


class _later:  # noqa: N801  (called like a function)
    """What an iterator gives that is chosen when the first element is asked for."""

    def __init__(self, choose: Callable[[], Iterator[Element]]):
        self._choose = choose
        self._elements: Iterator[Element] | None = None

    def __iter__(self) -> _later:
        return self

    def __next__(self) -> Element:
        if self._elements is None:
            self._elements = self._choose()
        return next(self._elements)


def _what_to_do(said: Any, wait: int) -> str:
    if said is None or (not said.finalized and said.creation_timestamp / 1e6 + wait < time.time()):
        return "write"
    return "read" if said.finalized else "passthrough"


def _read(folder: str, types: Any, order: Any) -> Iterator[Element]:
    """Yield what a run holds, its files by number or in the order of a generator."""
    names = sorted(files.listdir(folder))
    if order is not None:
        order.shuffle(names)
    for name in names:
        yield from saved.elements_of(os.path.join(folder, name), types)


@goes_on
def _written(elements: Iterator[Element], place: str, run: str, graph: str, form: str, most: int) -> Iterator[Any]:
    """Yield elements that are then written, in files of no much more than `most` bytes."""
    folder = os.path.join(place, run)
    files.makedirs(folder)
    said = messages.message(saved.RECORD)(graph_hash=graph, run_id=run, version=saved.VERSION)
    said.creation_timestamp = int(time.time() * 1e6)
    _put(place, said)
    with _Parts(folder, form, most) as parts:
        lacking = False
        for element in told(elements):
            yield element
            if element.__class__ is Failed:
                lacking = True
                continue
            parts.write(element)
            said.num_elements += 1
            if not said.dtype:
                said.dtype.extend([dtype_of(array).as_datatype_enum for array in element])
    if not lacking:
        said.finalized = True
        _put(place, said)


def _put(place: str, said: Any) -> None:
    files.atomic_write_string_to_file(os.path.join(place, saved.METADATA), said.SerializeToString())


class _Parts:
    """Files that are written one after the other."""

    def __init__(self, folder: str, form: str, most: int):
        self._folder, self._form, self._most = folder, form, most
        self._count = self._bytes = 0
        self._name = ""
        self._writer: Any = None

    def __enter__(self) -> _Parts:
        self._begin()
        return self

    def __exit__(self, *failed: object) -> None:
        self._writer.close()

    def _begin(self) -> None:
        self._name = os.path.join(self._folder, f"{self._count:08d}.snapshot")
        self._writer = writer_of(self._name, self._form)
        self._count, self._bytes = self._count + 1, 0

    def write(self, element: Element) -> None:
        """Write an element, into a new file where this one is full."""
        if self._bytes > self._most and (not self._form or files.stat(self._name).length > self._most):
            self._writer.close()
            self._begin()
        for array in element:
            self._writer.write(record_of(array))
            self._bytes += sum(map(len, array.flat)) if array.dtype == object else array.nbytes


def legacy_snapshot(
    path: TensorLike,
    compression: str | None = None,
    reader_path_prefix: str | None = None,
    writer_path_prefix: str | None = None,
    shard_size_bytes: int | None = None,
    pending_snapshot_expiry_seconds: int | None = None,
    num_reader_threads: int | None = None,
    reader_buffer_size: int | None = None,
    num_writer_threads: int | None = None,
    writer_buffer_size: int | None = None,
    shuffle_on_read: bool | None = None,
    shuffle_seed: int | None = None,
    mode: str | None = None,
    snapshot_name: str | None = None,
) -> Callable[[DatasetV2], Any]:
    """Return a transformation: elements are written to a directory the first time, and read from it afterwards."""
    first, second = get_seed(shuffle_seed)
    numbers: dict[str, Any] = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    words: dict[str, Any] = {
        "compression": compression,
        "reader_path_prefix": reader_path_prefix,
        "writer_path_prefix": writer_path_prefix,
        "snapshot_name": snapshot_name,
    }
    attrs: dict[str, Any] = {name: -1 if value is None else value for name, value in numbers.items()}
    attrs |= {name: value or "" for name, value in words.items()}
    attrs |= {
        "shuffle_on_read": bool(shuffle_on_read),
        "mode": mode or "auto",
        "seed": first or 0,
        "seed2": second or 0,
    }
    place = convert(path, dtypes.string, name="path")
    return lambda dataset: dataset._then(SnapshotDataset, place, kind="_LegacySnapshotDataset", **attrs)
