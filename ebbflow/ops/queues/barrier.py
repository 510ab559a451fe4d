"""Barriers: tuples whose components come at different times, under a key, and leave together.

An insertion gives one component of several keys; a key whose components are all there is ready, and ready ones are
taken in the order in which their first components came. A closed barrier takes no new keys, but the missing components
of those it has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors, stopping
from ebbflow.core.op import op
from ebbflow.core.shape import dims_str
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.queues.queue import rows_of, stacked
from ebbflow.ops.queues.queue_ops import NAMED, shared
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held

FIRST_INDEX = -(2**63)
"""The number of the first insertion, as TensorFlow counts: keys of one insertion share it."""


class Barrier:
    """Tuples by key, some of which lack components."""

    def __init__(self, name: str, types: Any, shapes: Any):
        self.name, self.types, self.shapes = name, tuple(types), tuple(shapes)
        self._changed = threading.Condition()
        self._arrivals = FIRST_INDEX
        self._incomplete: dict[bytes, tuple[tuple[int, int], dict[int, np.ndarray]]] = {}
        self._ready: dict[bytes, tuple[tuple[int, int], dict[int, np.ndarray]]] = {}
        self.closed = self._cancelled = False

    def insert(self, component: int, keys: list[bytes], values: list[np.ndarray]) -> None:
        """Give one component of some keys."""
        if not 0 <= component < len(self.types):
            raise invalid(
                f"The component ID is out of range: {component} > num_components (= {len(self.types)}) of barrier "
                f"'{self.name}'"
            )
        if len(keys) != len(values):
            raise invalid(f"Barrier '{self.name}': {len(keys)} keys and {len(values)} values were given")
        if any(value.size == 0 for value in values):
            raise invalid(f"Barrier '{self.name}': Tensors with no elements are not supported: component {component}")
        dims: Any = self.shapes[component] if self.shapes else None
        for value in values if dims is not None else ():
            if len(dims) != value.ndim or any(n not in (None, m) for n, m in zip(dims, value.shape, strict=True)):
                raise invalid(
                    f"Barrier '{self.name}': Shape mismatch in tuple component {component}. Expected {list(dims)}, got "
                    f"{list(value.shape)}"
                )
        with self._changed:
            self._refuse(component, keys)
            arrival = self._arrivals
            self._arrivals += any(key not in self._incomplete for key in keys)
            for place, (key, value) in enumerate(zip(keys, values, strict=True)):
                if key not in self._incomplete:
                    self._incomplete[key] = ((arrival, place), {})
                index, parts = self._incomplete[key]
                parts[component] = value
                if len(parts) == len(self.types):
                    self._ready[key] = (index, parts)
                    del self._incomplete[key]
            self._changed.notify_all()

    def _refuse(self, component: int, keys: list[bytes]) -> None:
        if self._cancelled:
            raise errors.CancelledError(None, None, f"Barrier '{self.name}' is closed, its insertions cancelled.")
        for key in keys:
            known = self._incomplete.get(key)
            if known is None and self.closed:
                raise errors.CancelledError(
                    None, None, f"Barrier '{self.name}' is closed. Pending enqueues cancelled: {self._cancelled}. "
                    f"Inserted key: {key.decode(errors='replace')}",
                )  # fmt: skip
            if known is not None and component in known[1]:
                raise invalid(
                    f"Key {key.decode(errors='replace')} already has a value for component {component} in barrier "
                    f"'{self.name}'"
                )

    def take(self, count: int, small: bool, stop: stopping.Stop) -> list[tuple[bytes, int, dict[int, np.ndarray]]]:
        """Return the `count` ready tuples that came first; of a closed barrier, as many as are ready if `small`."""
        if count < 0:
            raise invalid(f"num_elements must be at least 0, got {count}")
        with self._changed:
            if self.closed and small and count:
                count = max(min(count, len(self._ready)), 1)
            if len(self._ready) < count and not self._ended():
                stop.wait_for(
                    self._changed, lambda: len(self._ready) >= count or self._ended(), "Barrier operation was cancelled"
                )
            if len(self._ready) < count and not (small and self._ready):
                raise errors.OutOfRangeError(
                    None, None, f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, "
                    f"total size {len(self._ready)})",
                )  # fmt: skip
            first = sorted(self._ready, key=lambda key: self._ready[key][0])[:count]
            taken = [(key, *self._ready.pop(key)) for key in first]
            return [(key, arrival, parts) for key, (arrival, _), parts in taken]

    def _ended(self) -> bool:
        """Whether nothing more will become ready."""
        return self.closed and (self._cancelled or not self._incomplete)

    def close(self, cancel_pending: bool) -> None:
        """Take no new keys; with `cancel_pending`, nothing at all."""
        with self._changed:
            if self.closed and (self._cancelled or not cancel_pending):
                raise errors.CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self.closed = True
            self._cancelled = self._cancelled or cancel_pending
            self._changed.notify_all()

    def refuse_other(self, other: Barrier) -> None:
        """Refuse a node that shares this barrier under its name but asks for another one (`other`, never used)."""
        for what, mine, theirs in (
            ("component types", [t.name for t in self.types], [t.name for t in other.types]),
            ("component shapes", [dims_str(d) for d in self.shapes], [dims_str(d) for d in other.shapes]),
        ):
            if mine != theirs:
                raise invalid(f"Shared barrier '{self.name}' has {what} {mine} but requested {what} were {theirs}")

    def ready_size(self) -> int:
        """Return how many tuples can be taken."""
        return len(self._ready)

    def incomplete_size(self) -> int:
        """Return how many tuples lack components."""
        return len(self._incomplete)


# --- ops --------------------------------------------------------------------------------------------------------------

BarrierOp = op(
    "Barrier() -> (handle:Ref(string)) | component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; "
    f"capacity: int = -1; {NAMED} | stateful",
    shape=lambda: (2,),
    gradient=FLAT,
)


@BarrierOp.kernel
def _(xp, *, component_types, shapes, capacity, container, shared_name, run):
    if capacity != -1:
        raise invalid(f"Barrier only accepts capacity=-1 (a queue in front of it can set a limit), got {capacity}")
    handle = shared(run, container, shared_name, "barrier", lambda name: Barrier(name, component_types, shapes))
    if shared_name and run.node is not None:
        held(handle).refuse_other(Barrier(shared_name, component_types, shapes))
    return handle


def _barrier(handle: np.ndarray) -> Barrier:
    barrier = held(handle)
    if not isinstance(barrier, Barrier):
        raise invalid(f"handle is not of a barrier, but of {type(barrier).__name__}")
    return barrier


def _insert(xp: Any, handle: Any, keys: Any, values: Any, *, component_index: int) -> tuple[()]:
    if keys.ndim != 1 or not values.ndim:
        shapes = f"{list(keys.shape)} and {list(values.shape)}"
        raise invalid(f"keys must be a vector, and values have a row for each of them, got shapes {shapes}")
    _barrier(handle).insert(component_index, keys.tolist(), [row for (row,) in rows_of([values])])
    return ()


def _take(xp: Any, handle: Any, num_elements: Any, *, component_types: Any, allow_small_batch: bool, run: Any) -> Any:
    barrier = _barrier(handle)
    taken = barrier.take(int(num_elements), allow_small_batch, stopping.current(run.session))
    keys = np.empty(len(taken), object)
    keys[:] = [key for key, _, _ in taken]
    indices = np.array([index for _, index, _ in taken], np.int64)
    return (
        indices,
        keys,
        [_column(barrier, [parts[i] for _, _, parts in taken], i) for i in range(len(component_types))],
    )


def _column(barrier: Barrier, arrays: list[np.ndarray], i: int) -> np.ndarray:
    if arrays:
        return stacked(arrays)
    dims = barrier.shapes[i] if barrier.shapes else ()
    return np.empty((0, *(n or 0 for n in dims or ())), barrier.types[i].np)


def _close(xp: Any, handle: Any, *, cancel_pending_enqueues: bool) -> tuple[()]:
    _barrier(handle).close(cancel_pending_enqueues)
    return ()


_USES: dict[str, tuple[str, str, Callable[..., Any], Callable[..., Any]]] = {
    "BarrierInsertMany": (
        ", keys:string, values:T) -> () | T: type; component_index: int",
        "keeps",
        _insert,
        lambda handle, keys, values: [],
    ),
    "BarrierTakeMany": (
        ", num_elements:int32) -> (indices:int64, keys:string, values:list(component_types)) | component_types: "
        "list(type) >= 1; allow_small_batch: bool = false; wait_for_incomplete: bool = false; timeout_ms: int = -1",
        "waits",
        _take,
        lambda handle, n, *, component_types: [(None,), (None,), *[None] * len(component_types)],
    ),
    "BarrierClose": (") -> () | cancel_pending_enqueues: bool = false", "", _close, lambda handle: []),
    "BarrierReadySize": (
        ") -> (size:int32)",
        "",
        lambda xp, handle: np.array(_barrier(handle).ready_size(), np.int32),
        scalar,
    ),
    "BarrierIncompleteSize": (
        ") -> (size:int32)",
        "",
        lambda xp, handle: np.array(_barrier(handle).incomplete_size(), np.int32),
        scalar,
    ),
}
"""What can be done with a barrier: the rest of the interface, facts, the kernel, the shape rule."""

for _name, (_rest, _facts, _kernel, _shape) in _USES.items():
    op(
        f"{_name}(handle:Ref(string){_rest}",
        shape=_shape,
        kernel=_kernel,
        gradient=FLAT,
        facts=_facts,
    )
