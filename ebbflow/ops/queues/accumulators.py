"""Accumulators of gradients: sums of what several workers give, taken when enough have given.

A gradient is dropped where it was computed for a step that the accumulator has left behind. Taking waits until enough
have come, gives their mean (or sum), and goes on to the next step. A sparse one sums rows; the mean of a row is over
the gradients that had it. Resources of the session, as queues are.

Where it is known who gives (`givers`), each has one gradient a step: what a
worker gives again after it was started again is dropped, and sums are in the order of the givers, whoever was first.
What was taken is kept until more is taken, so that a step that was cut off can be taken again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import stopping
from ebbflow.core.op import op
from ebbflow.core.shape import Dims, dims_str, is_compatible
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.queues import givers
from ebbflow.ops.queues.queue_ops import HANDLE, NAMED, REFERENCE, shared
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held

_TYPES = "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
DTYPE = f"dtype: type in [{_TYPES}complex128,half,uint32,uint64]"


class Accumulator:
    """Sums gradients of one shape."""

    def __init__(self, name: str, dims: Dims, reduction: str):
        self.name, self.dims, self._mean = name, dims, reduction == "MEAN"
        self._changed = threading.Condition()
        self._step = 0
        self.count = 0
        self._sum: Any = None
        self._by_giver: dict[Any, Any] = {}
        self._taken: tuple[int, dict[Any, Any]] | None = None  # the step before, and what was given for it

    def set_step(self, step: int) -> None:
        """Go on to a step; gradients of earlier ones are dropped from now on."""
        with self._changed:
            if step != self._step and (self._by_giver or self._taken is not None):
                self._go_back(step)
            self._step = step

    def _go_back(self, step: int) -> None:
        """What was taken for this very step counts again; what belongs to another is of no use."""
        again = self._taken is not None and self._taken[0] == step
        self._by_giver = self._taken[1] if again and self._taken is not None else {}
        self.count, self._sum, self._taken = len(self._by_giver), None, None
        self._changed.notify_all()

    def apply(self, step: int, gradient: Any, giver: Any = None) -> None:
        """Add a gradient that was computed for a step, or drop it where that step has passed."""
        with self._changed:
            self._check(gradient)
            if step < self._step or (giver is not None and giver in self._by_giver):
                return
            if giver is None:
                self._add(gradient)
            else:
                self._by_giver[giver] = copied(gradient)
            self.count += 1
            self._changed.notify_all()

    def take(self, required: int, stop: stopping.Stop) -> Any:
        """Return the mean of the gradients, when at least that many have come, and start anew."""
        if required <= 0:
            raise invalid(f"num_required of accumulator '{self.name}' must be at least 1, got {required}")
        with self._changed:
            if self.count < required:
                stop.wait_for(self._changed, lambda: self.count >= required, "TakeGrad operation was cancelled")
            for giver in sorted(self._by_giver):
                self._add(self._by_giver[giver])
            taken = self._result()
            self._taken = (self._step, self._by_giver) if self._by_giver else None
            self.count, self._sum, self._by_giver = 0, None, {}
            self._step += 1
            return taken

    def _check(self, gradient: Any) -> None:
        if not is_compatible(self.dims, gradient.shape):
            raise invalid(
                f"Shape mismatch: accumulator '{self.name}' has shape {dims_str(self.dims)}, the gradient "
                f"{list(gradient.shape)}"
            )
        if self._sum is not None and self._sum.shape != gradient.shape:
            raise invalid(
                f"Shape mismatch: accumulator '{self.name}' has summed {list(self._sum.shape)}, the gradient is "
                f"{list(gradient.shape)}"
            )

    def _add(self, gradient: Any) -> None:
        self._sum = gradient.copy() if self._sum is None else self._sum + gradient

    def _result(self) -> Any:
        return (self._sum / self.count).astype(self._sum.dtype) if self._mean else self._sum


class SparseAccumulator(Accumulator):
    """Sums rows: a gradient is indices, values, and the shape of the whole (empty where it is not said)."""

    def _check(self, gradient: Any) -> None:
        indices, values, shape = gradient
        where = f"accumulator '{self.name}': "
        if indices.ndim != 1:
            raise invalid(f"{where}Input indices should be vector but received shape: {list(indices.shape)}")
        if not values.ndim:
            raise invalid(f"{where}Values cannot be 0-dimensional.")
        if len(indices) != len(values):
            raise invalid(f"{where}Expected {len(indices)} non-empty input values, got {len(values)}")
        what, whole = ("shape", tuple(shape.tolist())) if shape.size else ("values", (None, *values.shape[1:]))
        dims = self.dims or ()
        if len(whole) < len(dims):
            raise invalid(f"{where}Shape mismatch: expected {what} rank at least {len(dims)}, got {len(whole)}")
        self._compare(what, dims, whole[: len(dims)])
        if shape.size and whole[1:] != values.shape[1:]:
            raise invalid(f"{where}Shape mismatch: values have shape {list(values.shape)}, gradient_shape is {whole}")
        rows = whole[0] if whole[0] is not None else dims[0] if dims else None
        bad = np.flatnonzero((indices < 0) | (indices >= (np.inf if rows is None else rows)))
        if bad.size:
            raise invalid(
                f"{where}Shape mismatch: index of slice {bad[0]} exceeded limits of shape; index is {indices[bad[0]]} "
                f"exceeded {rows}"
            )
        if self._sum:
            summed = self._sum[0][1]
            if summed.ndim != values.ndim:
                raise invalid(f"{where}Shape mismatch: expected values rank {summed.ndim}, got {values.ndim}")
            self._compare("values", (None, *summed.shape[1:]), values.shape)

    def _compare(self, what: str, dims: Dims, others: Sequence[int | None]) -> None:
        for at, (mine, theirs) in enumerate(zip(dims or (), others, strict=True)):
            if mine is not None and theirs is not None and mine != theirs:
                raise invalid(
                    f"accumulator '{self.name}': Shape mismatch: expected {what} dim {at} to be {mine}, got {theirs}"
                )

    def _add(self, gradient: Any) -> None:
        indices, values, _ = gradient
        self._sum = [] if self._sum is None else self._sum
        self._sum.append((indices, values))

    def _result(self) -> Any:
        indices = np.concatenate([i for i, _ in self._sum])
        values = np.concatenate([v for _, v in self._sum])
        rows, place = np.unique(indices, return_inverse=True)
        total = np.zeros((len(rows), *values.shape[1:]), values.dtype)
        np.add.at(total, place.reshape(-1), values)
        if self._mean:
            counts = np.zeros(len(rows), np.int64)
            for given, _ in self._sum:
                counts[np.searchsorted(rows, np.unique(given))] += 1
            total = (total / counts.reshape(-1, *[1] * (total.ndim - 1))).astype(values.dtype)
        first = self.dims[0] if self.dims else None
        return rows.astype(np.int64), total, np.array([-1 if first is None else first, *values.shape[1:]], np.int64)


def copied(gradient: Any) -> Any:
    """Return a gradient of either kind that nobody else writes to."""
    return tuple(part.copy() for part in gradient) if isinstance(gradient, tuple) else gradient.copy()


# --- ops --------------------------------------------------------------------------------------------------------------


def _making(kind: type[Accumulator]) -> Callable[..., Any]:
    def kernel(
        xp: Any, *, dtype: Any, shape: Any, container: str, shared_name: str, reduction_type: str, run: Any
    ) -> Any:
        return shared(run, container, shared_name, "accumulator", lambda name: kind(name, shape, reduction_type))

    return kernel


_ATTRS = f'{DTYPE}; shape: shape; {NAMED}; reduction_type: string in ["MEAN","SUM"] = "MEAN"'
for _name, _kind, _made in (
    ("ConditionalAccumulator", REFERENCE, Accumulator),
    ("ResourceConditionalAccumulator", HANDLE, Accumulator),
    ("SparseConditionalAccumulator", REFERENCE, SparseAccumulator),
):
    op(
        f"{_name}() -> (handle:{_kind}) | {_ATTRS} | stateful",
        shape=scalar if _kind == HANDLE else lambda: (2,),
        kernel=_making(_made),
        gradient=FLAT,
    )


def _accumulator(handle: np.ndarray) -> Accumulator:
    accumulator = held(handle)
    if not isinstance(accumulator, Accumulator):
        raise invalid(f"handle is not of an accumulator, but of {type(accumulator).__name__}")
    return accumulator


def _apply(xp: Any, handle: Any, local_step: Any, gradient: Any, *, run: Any) -> tuple[()]:
    _accumulator(handle).apply(int(local_step), gradient, givers.giver(run))
    return ()


def _take(xp: Any, handle: Any, num_required: Any, *, run: Any) -> Any:
    return _accumulator(handle).take(int(num_required), stopping.current(run.session))


def _set_step(xp: Any, handle: Any, new_global_step: Any) -> tuple[()]:
    _accumulator(handle).set_step(int(new_global_step))
    return ()


_USES: dict[str, tuple[str, Callable[..., Any], Callable[..., Any], str]] = {
    "AccumulatorApplyGradient": (
        f", local_step:int64, gradient:dtype) -> () | {DTYPE}", _apply, lambda h, s, g: [], "",
    ),
    "AccumulatorTakeGradient": (
        f", num_required:int32) -> (average:dtype) | {DTYPE}", _take, lambda h, n: None, "waits",
    ),
    "AccumulatorSetGlobalStep": (", new_global_step:int64) -> ()", _set_step, lambda h, s: [], ""),
    "AccumulatorNumAccumulated": (
        ") -> (num_accumulated:int32)",
        lambda xp, handle: np.array(_accumulator(handle).count, np.int32),
        scalar,
        "",
    ),
}  # fmt: skip
"""What can be done with an accumulator: the rest of the interface, kernel, shape rule, facts."""

for _name, (_rest, _kernel, _shape, _facts) in _USES.items():
    for _form, _kind, _flags in ((_name, REFERENCE, ""), (f"Resource{_name}", HANDLE, " | stateful")):
        op(f"{_form}(handle:{_kind}{_rest}{_flags}", shape=_shape, kernel=_kernel, gradient=FLAT, facts=_facts)

SparseAccumulatorApplyGradient = op(
    "SparseAccumulatorApplyGradient(handle:Ref(string), local_step:int64, gradient_indices:int64, "
    f"gradient_values:dtype, gradient_shape:int64) -> () | {DTYPE}; has_known_shape: bool",
    shape=lambda handle, step, indices, values, shape: [],
    gradient=FLAT,
)


@SparseAccumulatorApplyGradient.kernel
def _(xp, handle, local_step, gradient_indices, gradient_values, gradient_shape, *, has_known_shape, run):
    shape = gradient_shape if has_known_shape else gradient_shape[:0]
    _accumulator(handle).apply(int(local_step), (gradient_indices, gradient_values, shape), givers.giver(run))
    return ()


SparseAccumulatorTakeGradient = op(
    "SparseAccumulatorTakeGradient(handle:Ref(string), num_required:int32) -> (indices:int64, values:dtype, "
    f"shape:int64) | {DTYPE}",
    shape=lambda handle, num_required: [(None,), None, (None,)],
    kernel=_take,
    gradient=FLAT,
    facts="waits",
)
