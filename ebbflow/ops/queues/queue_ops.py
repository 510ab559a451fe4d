"""The ops of queues: making one, putting and taking rows, closing, asking.

A queue is a resource like a variable: found by its shared name among what a session holds; made eagerly, it belongs to
those who have its handle. TF 1's first ops passed a reference instead of a handle; one row declares both forms. No
gradient flows through a queue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors, stopping
from ebbflow.core.op import Op, op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.queues import givers
from ebbflow.ops.queues.queue import PaddingQueue, PriorityQueue, Queue, ShuffleQueue, rows_of
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import find_or_make

REFERENCE, HANDLE = "Ref(string)", "resource"
NAMED = 'container: string = ""; shared_name: string = ""'

# --- making -----------------------------------------------------------------------------------------------------------


def shared(run: Any, container: str, shared_name: str, kind: str, make: Callable[[str], Any]) -> np.ndarray:
    """Return the handle of the session's thing of this name, made on first use; made eagerly it is nobody else's."""
    node = run.node
    if node is None:
        return boxed(make(shared_name or kind))
    name = shared_name or node.name
    return boxed(find_or_make((container, name, kind), run, lambda: make(name)))


def _queue_kernel(kind: type[Queue]) -> Callable[..., Any]:
    def kernel(
        xp: Any, *, component_types: Any, shapes: Any, capacity: int, container: str, shared_name: str, run: Any
    ) -> Any:
        def make(name: str) -> Queue:
            return kind(name, capacity, *_components(kind, component_types, shapes))

        return _checked(shared(run, container, shared_name, "queue", make), shared_name, run, make)

    return kernel


def _shuffle_kernel(
    xp: Any, *, component_types: Any, shapes: Any, capacity: int, min_after_dequeue: int, seed: int, seed2: int,
    container: str, shared_name: str, run: Any,
) -> Any:  # fmt: skip
    def make(name: str) -> Queue:
        return ShuffleQueue(name, capacity, component_types, shapes, min_after_dequeue, seed, seed2)

    return _checked(shared(run, container, shared_name, "queue", make), shared_name, run, make)


def _components(kind: type[Queue], types: Any, shapes: Any) -> tuple[Any, Any]:
    """Return a queue's component types and shapes: rows of a queue of priorities have theirs in front."""
    if kind is not PriorityQueue:
        return types, shapes
    return [dtypes.int64, *types], [(), *shapes] if shapes else []


def _checked(handle: np.ndarray, shared_name: str, run: Any, make: Callable[[str], Queue]) -> np.ndarray:
    if shared_name and run.node is not None:
        held(handle).refuse_other(make(shared_name))
    return handle


_ATTRS = f"shapes: list(shape) >= 0 = []; capacity: int = -1; {NAMED}"
_SHUFFLE = "shapes: list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; seed: int = 0; "
_SHUFFLE += f"seed2: int = 0; {NAMED}"
_MAKERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "FIFOQueue": (f"component_types: list(type) >= 1; {_ATTRS}", _queue_kernel(Queue)),
    "PaddingFIFOQueue": (f"component_types: list(type) >= 1; {_ATTRS}", _queue_kernel(PaddingQueue)),
    "RandomShuffleQueue": (f"component_types: list(type) >= 1; {_SHUFFLE}", _shuffle_kernel),
    "PriorityQueue": (
        f"component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1; {NAMED}",
        _queue_kernel(PriorityQueue),
    ),
}


def _maker(name: str, attrs: str, kernel: Callable[..., Any], kind: str) -> Op:
    declared = op(f"{name}() -> (handle:{kind}) | {attrs} | stateful", kernel=kernel, gradient=FLAT)
    declared.shape(scalar if kind == HANDLE else lambda: (2,))
    return declared


for _name, (_text, _kernel) in _MAKERS.items():
    _maker(_name, _text, _kernel, REFERENCE)
    _maker(f"{_name}V2", _text, _kernel, HANDLE)

FakeQueue = op(
    "FakeQueue(resource:resource) -> (handle:Ref(string)) | stateful",
    shape=scalar,
    kernel=lambda xp, resource: resource,
    gradient=FLAT,
)


# --- using ------------------------------------------------------------------------------------------------------------


def queue_of(handle: np.ndarray) -> Queue:
    """Return the queue a handle stands for."""
    queue = held(handle)
    if not isinstance(queue, Queue):
        raise invalid(f"handle is not of a queue, but of {type(queue).__name__}")
    return queue


def _no_timeout(timeout_ms: int) -> None:
    if timeout_ms != -1:
        raise errors.InvalidArgumentError(None, None, "Timeout not supported yet: use RunOptions.timeout_in_ms")


def _enqueue(xp: Any, handle: Any, components: Any, *, timeout_ms: int, run: Any) -> tuple[()]:
    _no_timeout(timeout_ms)
    queue = queue_of(handle)
    queue.check(components)
    queue.put([tuple(components)], stopping.current(run.session))
    return ()


def _enqueue_many(xp: Any, handle: Any, components: Any, *, timeout_ms: int, run: Any) -> tuple[()]:
    _no_timeout(timeout_ms)
    queue = queue_of(handle)
    for i, array in enumerate(components):
        if not array.ndim:
            raise invalid(f"component {i} of an enqueue_many must have at least one axis, got a scalar")
    queue.check(components, many=True)
    if givers.giver(run) is not None:
        queue.renew(list(rows_of(components)))
    else:
        queue.put(rows_of(components), stopping.current(run.session))
    return ()


def _taken(queue: Queue, component_types: Any) -> Queue:
    if [t.name for t in component_types] != [t.name for t in queue.types]:
        raise invalid(
            f"component_types {[t.name for t in component_types]} are not those of {queue.kind} '{queue.name}': "
            f"{[t.name for t in queue.types]}"
        )
    return queue


def _dequeue(xp: Any, handle: Any, *, component_types: Any, timeout_ms: int, run: Any) -> Any:
    _no_timeout(timeout_ms)
    queue, who, stop = _taken(queue_of(handle), component_types), givers.giver(run), stopping.current(run.session)
    return list(queue.take_one(stop) if who is None else queue.take_new(who, stop))


def _dequeue_many(xp: Any, handle: Any, n: Any, *, component_types: Any, timeout_ms: int, run: Any) -> Any:
    _no_timeout(timeout_ms)
    return _taken(queue_of(handle), component_types).take_batch(int(n), stopping.current(run.session), at_most=False)


def _dequeue_up_to(xp: Any, handle: Any, n: Any, *, component_types: Any, timeout_ms: int, run: Any) -> Any:
    _no_timeout(timeout_ms)
    return _taken(queue_of(handle), component_types).take_batch(int(n), stopping.current(run.session), at_most=True)


def _close(xp: Any, handle: Any, *, cancel_pending_enqueues: bool, run: Any) -> tuple[()]:
    queue_of(handle).close(cancel_pending_enqueues, stopping.current(run.session))
    return ()


def _unknown(handle: Any, n: Any = None, *, component_types: Any) -> list[Any]:
    return [None] * len(component_types)


_PUT = ", components:list(Tcomponents)) -> () | Tcomponents: list(type) >= 1; timeout_ms: int = -1"
_TAKE = ") -> (components:list(component_types)) | component_types: list(type) >= 1; timeout_ms: int = -1"
_USES: dict[str, tuple[str, str, Callable[..., Any], Callable[..., Any]]] = {
    "QueueEnqueue": (_PUT, "waits keeps", _enqueue, lambda handle, components: []),
    "QueueEnqueueMany": (_PUT, "waits keeps", _enqueue_many, lambda handle, components: []),
    "QueueDequeue": (_TAKE, "waits brings", _dequeue, _unknown),
    "QueueDequeueMany": (f", n:int32{_TAKE}", "waits brings", _dequeue_many, _unknown),
    "QueueDequeueUpTo": (f", n:int32{_TAKE}", "waits brings", _dequeue_up_to, _unknown),
    "QueueClose": (") -> () | cancel_pending_enqueues: bool = false", "waits", _close, lambda handle: []),
    "QueueIsClosed": (") -> (is_closed:bool)", "", lambda xp, handle: np.array(queue_of(handle).closed), scalar),
    "QueueSize": (") -> (size:int32)", "", lambda xp, handle: np.array(queue_of(handle).size(), np.int32), scalar),
}
"""What can be done with a queue: the rest of the interface, facts, the kernel, the shape rule."""

for _name, (_text, _facts, _kernel, _shape) in _USES.items():
    for _form, _kind, _flags in ((_name, REFERENCE, ""), (f"{_name}V2", HANDLE, " | stateful")):
        op(
            f"{_form}(handle:{_kind}{_text}{_flags}",
            shape=_shape,
            kernel=_kernel,
            gradient=FLAT,
            facts=_facts,
        )
