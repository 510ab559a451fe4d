"""Datasets that keep elements: made ahead of time in a thread, or once and for all in memory or a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.data.background import Ahead
from ebbflow.data.pipe import NOTED, TYPED, Element, Pipe, dataset_op, made, pipe_of
from ebbflow.io.records import RecordReader, TFRecordWriter
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

PrefetchDataset = dataset_op(
    f"PrefetchDataset(input_dataset:variant, buffer_size:int64) -> (handle:variant) | {TYPED}; slack_period: int = 0; "
    'legacy_autotune: bool = true; buffer_size_min: int = 0; metadata: string = ""'
)
CacheDataset = dataset_op(f"CacheDataset(input_dataset:variant, filename:string) -> (handle:variant) | {NOTED}")
CacheDatasetV2 = dataset_op(
    f"CacheDatasetV2(input_dataset:variant, filename:string, cache:resource) -> (handle:variant) | {NOTED} | stateful"
)
DummyMemoryCache = op(
    "DummyMemoryCache() -> (handle:resource) | stateful",
    shape=scalar,
    kernel=lambda xp: boxed(None),
    gradient=FLAT,
    facts="copyable",
)

AHEAD = 16
"""Elements made ahead where the size of the buffer is left to us."""


@PrefetchDataset.kernel
def _(xp: Any, input_dataset: Any, buffer_size: Any) -> Any:
    source, room = pipe_of(input_dataset), int(buffer_size)
    if room < -1:
        raise invalid(f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, got {room}")
    if room == 0:
        return input_dataset
    return made(lambda: Ahead(source.start, AHEAD if room == -1 else room), source.size, source)


# --- in memory --------------------------------------------------------------------------------------------------------


class Memory:
    """All elements of a dataset, once somebody has gone through it to the end."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None


def _kept(source: Pipe, memory: Memory) -> Iterator[Element]:
    if memory.elements is not None:
        return iter(memory.elements)
    return _keeping(source, memory)


def _keeping(source: Pipe, memory: Memory) -> Iterator[Element]:
    found = []
    for element in source.start():
        found.append(element)
        yield element
    memory.elements = found


@CacheDataset.kernel
def _(xp: Any, input_dataset: Any, filename: Any) -> Any:
    return _cached(pipe_of(input_dataset), filename, Memory())


@CacheDatasetV2.kernel
def _(xp: Any, input_dataset: Any, filename: Any, cache: Any) -> Any:
    return _cached(pipe_of(input_dataset), filename, Memory())


def _cached(source: Pipe, filename: Any, memory: Memory) -> Any:
    path = os.fsdecode(filename.item())
    if path:
        return made(lambda: _in_file(source, path), source.size, source)
    return made(lambda: _kept(source, memory), source.size, source)


# --- in a file --------------------------------------------------------------------------------------------------------
#
# A file of records: of each element its tensors as messages, one after the other, behind a first record that says how
# many tensors an element has. It gets its name when it is whole.


def _in_file(source: Pipe, path: str) -> Iterator[Element]:
    if os.path.exists(path + ".elements"):
        return _read(path + ".elements")
    return _written(source, path + ".elements")


def _written(source: Pipe, path: str) -> Iterator[Element]:
    part = f"{path}.{os.getpid()}.{threading.get_ident()}.part"
    try:
        with TFRecordWriter(part) as writer:
            for element in source.start():
                writer.write(str(len(element)))
                for array in element:
                    writer.write(make_tensor_proto(array).SerializeToString())
                yield element
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _read(path: str) -> Iterator[Element]:
    with RecordReader(path) as records:
        for count in records:
            if not count.isdigit():
                raise errors.DataLossError(None, None, f"{path} is not a cache of a dataset")
            yield tuple([make_ndarray(messages.TensorProto.FromString(next(records))) for _ in range(int(count))])
