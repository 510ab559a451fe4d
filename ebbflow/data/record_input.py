"""`RecordInput` of TF 1: one node that gives batches of records of many files, in random order, epoch after epoch.

Its place in the files is a resource of the session. Every epoch gives each record once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors, forks
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.io.records import RecordReader, TFRecordOptions
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.variable_ops import find_or_make
from ebbflow.platform.files import glob

RecordInput = op(
    "RecordInput() -> (records:string) | file_pattern: string; file_random_seed: int = 301; "
    "file_shuffle_shift_ratio: float = 0.0; file_buffer_size: int = 10000; file_parallelism: int = 16; "
    'batch_size: int = 32; compression_type: string = "" | stateful',
    shape=lambda *, batch_size: (batch_size if batch_size >= 0 else None,),
    gradient=FLAT,
)


class Records:
    """The records of files in random order, without end."""

    def __init__(self, pattern: str, seed: int, shift: float, room: int, compression: str):
        self._pattern, self._seed, self._shift, self._room = pattern, seed, shift, room
        self._options = TFRecordOptions(compression)
        self._lock = forks.lock()
        self._records: Iterator[bytes] | None = None

    def take(self, count: int) -> np.ndarray:
        """Return the next records."""
        batch = np.empty(count, object)
        with self._lock:
            if self._records is None:
                self._records = self._endless()
            try:
                for i in range(count):
                    batch[i] = next(self._records)
            except BaseException:
                self._records = None
                raise
        return batch

    def _endless(self) -> Iterator[bytes]:
        epoch = 0
        while True:
            empty = True
            for record in self._epoch(epoch):
                empty = False
                yield record
            if empty:
                raise errors.NotFoundError(None, None, f"no record in the files of {self._pattern}")
            epoch += 1

    def _epoch(self, number: int) -> Iterator[bytes]:
        """Yield every record once: files in random order, moved on by the shift, and records drawn of those at hand."""
        files = sorted(glob(self._pattern))
        if not files:
            raise errors.NotFoundError(None, None, f"no files match {self._pattern}")
        random = np.random.RandomState((self._seed + number) % 2**32)
        random.shuffle(files)
        first = int(len(files) * self._shift * number) % len(files)
        waiting: list[bytes] = []
        for path in files[first:] + files[:first]:
            for record in RecordReader(path, self._options, whole=True):
                waiting.append(record)
                if len(waiting) > self._room:
                    yield _drawn(waiting, random)
        while waiting:
            yield _drawn(waiting, random)


def _drawn(waiting: list[bytes], random: np.random.RandomState) -> bytes:
    place = random.randint(len(waiting))
    waiting[place], waiting[-1] = waiting[-1], waiting[place]
    return waiting.pop()


@RecordInput.kernel
def _(
    xp: Any, *, file_pattern: str, file_random_seed: int, file_shuffle_shift_ratio: float, file_buffer_size: int,
    file_parallelism: int, batch_size: int, compression_type: str, run: Any,
) -> Any:  # fmt: skip
    least = (("file_buffer_size", file_buffer_size, 1), ("file_parallelism", file_parallelism, 1),
             ("batch_size", batch_size, 1), ("file_shuffle_shift_ratio", file_shuffle_shift_ratio, 0))  # fmt: skip
    for name, value, lowest in least:
        if value < lowest:
            raise invalid(f"{name} must be >= {lowest}, got {value}")

    def make() -> Records:
        return Records(file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, compression_type)

    if run.node is None:
        return make().take(batch_size)
    return find_or_make(("RecordInput", run.node.name), run, make).take(batch_size)


class RecordInputV1:
    """Records of the files that match a pattern, in random order, as batches of strings."""

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ):
        self._batches, self._name = batches, name
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": float(shift_ratio),
            "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(TFRecordOptions(compression_type or 0)),
        }

    def get_yield_op(self) -> Tensor | list[Any]:
        """Return the tensor of the next records: a vector, or a list of as many as there are to be batches."""
        records = RecordInput(batch_size=self._batch_size, name=self._name, **self._attrs)
        if self._batches is None:
            return records
        rows = raw.Reshape(records, [self._batches, -1])
        return list(raw.Unpack(rows, num=self._batches))
