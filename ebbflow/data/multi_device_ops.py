"""The ops of iterators whose elements go round several devices, each the next one in turn.

Each device asks for its own elements, at its own speed: what comes by for the others meanwhile waits for them.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.data.iterator_ops import check
from ebbflow.data.pipe import TYPED, Element, Pipe, Position, pipe_of
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import find_or_make

MultiDeviceIterator = op(
    "MultiDeviceIterator() -> (handle:resource) | devices: list(string) >= 1; shared_name: string; container: string; "
    f"{TYPED} | stateful",
    shape=scalar,
    gradient=FLAT,
)
AnonymousMultiDeviceIteratorV3 = op(
    f"AnonymousMultiDeviceIteratorV3() -> (handle:resource) | devices: list(string) >= 1; {TYPED} | stateful",
    shape=scalar,
    gradient=FLAT,
)
MultiDeviceIteratorInit = op(
    "MultiDeviceIteratorInit(dataset:variant, multi_device_iterator:resource, max_buffer_size:int64) -> "
    "(incarnation_id:int64) | stateful",
    shape=scalar,
    gradient=FLAT,
)
MultiDeviceIteratorGetNextFromShard = op(
    "MultiDeviceIteratorGetNextFromShard(multi_device_iterator:resource, shard_num:int32, incarnation_id:int64) -> "
    f"(components:list(output_types)) | {TYPED} | stateful",
    "waits",
    shape=lambda multi_device_iterator, shard_num, incarnation_id, *, output_shapes: list(output_shapes),
    gradient=FLAT,
)


class Shards:
    """One pass over a dataset, whose elements are dealt in turn to several who ask."""

    def __init__(self, name: str, count: int, types: Any, dims: Any):
        self._position = Position(name, types, dims)
        self._lock = threading.Lock()
        self._waiting: list[deque[Element]] = [deque() for _ in range(count)]
        self._dealt = self._incarnation = 0

    def begin(self, pipe: Pipe) -> int:
        """Start over a dataset; return the number of this pass."""
        with self._lock:
            self._position.begin(pipe)
            self._dealt, self._incarnation = 0, self._incarnation + 1
            for queue in self._waiting:
                queue.clear()
            return self._incarnation

    def take(self, shard: int, incarnation: int) -> Element | None:
        """Return the next element for one of those who ask, or None behind the last or when the pass is over."""
        if not 0 <= shard < len(self._waiting):
            raise errors.InvalidArgumentError(None, None, f"shard_num = {shard} is not in [0, {len(self._waiting)})")
        with self._lock:
            queue = self._waiting[shard]
            while not queue and incarnation == self._incarnation:
                element = self._position.take()
                if element is None:
                    return None
                self._waiting[self._dealt % len(self._waiting)].append(element)
                self._dealt += 1
            return queue.popleft() if incarnation == self._incarnation else None


def _shards_of(handle: np.ndarray) -> Shards:
    found = held(handle)
    if not isinstance(found, Shards):
        raise errors.FailedPreconditionError(
            None, None, f"The given resource is no iterator over several devices: it holds {type(found).__name__}"
        )
    return found


@MultiDeviceIterator.kernel
def _(xp: Any, *, devices: Any, shared_name: Any, container: Any, output_types: Any, output_shapes: Any, run: Any):
    name = shared_name or (run.node.name if run.node is not None else "multi_device_iterator")
    make = lambda: Shards(name, len(devices), output_types, output_shapes)
    return boxed(find_or_make((container, name), run, make))


@AnonymousMultiDeviceIteratorV3.kernel
def _(xp: Any, *, devices: Any, output_types: Any, output_shapes: Any) -> Any:
    return boxed(Shards("anonymous_multi_device_iterator", len(devices), output_types, output_shapes))


@MultiDeviceIteratorInit.kernel
def _(xp: Any, dataset: Any, multi_device_iterator: Any, max_buffer_size: Any) -> Any:
    return np.array(_shards_of(multi_device_iterator).begin(pipe_of(dataset)), np.int64)


@MultiDeviceIteratorGetNextFromShard.kernel
def _(
    xp: Any, multi_device_iterator: Any, shard_num: Any, incarnation_id: Any, *, output_types: Any, output_shapes: Any
):
    element = _shards_of(multi_device_iterator).take(int(shard_num), int(incarnation_id))
    if element is None:
        raise errors.OutOfRangeError(None, None, "End of sequence")
    check(element, output_types, output_shapes)
    return list(element)
