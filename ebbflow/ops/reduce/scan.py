"""Running sums, products and log-sum-exps along an axis: reductions that keep every partial result.

`exclusive` leaves the element itself out (the first result is then the neutral element); `reverse` runs from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import Known, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.reduce.reductions import is_narrow

_SCAN = "(x:T, axis:Tidx) -> (out:T) | exclusive: bool = false; reverse: bool = false; T: {types}; Tidx: index = int32"

Cumsum = op("Cumsum" + _SCAN.format(types="numbers"), checks_first=True, facts="one_core=45 portable known=axis")
Cumprod = op("Cumprod" + _SCAN.format(types="numbers"), checks_first=True, facts="one_core=45 portable known=axis")
CumulativeLogsumexp = op(
    "CumulativeLogsumexp" + _SCAN.format(types="floats"), checks_first=True, facts="one_core=60 known=axis"
)


@CumulativeLogsumexp.shape
@Cumprod.shape
@Cumsum.shape
def _same_dims(x: Known, axis: Known) -> Dims:
    if axis.dims not in (None, ()):
        raise errors.StaticShapeError(f"ScanOp: axis must be a scalar, not {show(axis.dims)}")
    if x.dims is not None and axis.value is not None:
        rank, at = len(x.dims), int(axis.value)
        if not -rank <= at < rank:
            raise errors.StaticShapeError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {at}")
    return x.dims


def _scan(xp: Any, x: Any, axis: Any, exclusive: bool, reverse: bool, scan: Callable[..., Any], neutral: float) -> Any:
    """Run `scan(array, axis)` forwards or backwards, over all elements up to each or all before it."""
    if is_narrow(x.dtype):
        return _scan(xp, x.astype(np.float32), axis, exclusive, reverse, scan, neutral).astype(x.dtype)
    axis = int(axis)
    if reverse:
        x = xp.flip(x, axis)
    if exclusive and x.shape[axis]:
        first = xp.full_like(xp.take(x, xp.asarray([0]), axis=axis), neutral)
        x = xp.concatenate([first, x[(slice(None),) * (axis % x.ndim) + (slice(-1),)]], axis=axis)
    y = scan(x, axis)
    return xp.flip(y, axis) if reverse else y


@Cumsum.kernel
def _(xp, x, axis, *, exclusive, reverse):
    return _scan(xp, x, axis, exclusive, reverse, lambda a, at: xp.add.accumulate(a, at, dtype=a.dtype), 0)


@Cumprod.kernel
def _(xp, x, axis, *, exclusive, reverse):
    return _scan(xp, x, axis, exclusive, reverse, lambda a, at: xp.multiply.accumulate(a, at, dtype=a.dtype), 1)


@CumulativeLogsumexp.kernel
def _(xp, x, axis, *, exclusive, reverse):
    return _scan(xp, x, axis, exclusive, reverse, _running_logsumexp(xp), -np.inf)


def _running_logsumexp(xp: Any) -> Callable[..., Any]:
    if xp is np:
        return lambda a, at: (_step_by_step if np.isnan(a).any() else np.logaddexp.accumulate)(a, at)

    def scan(a: Any, at: int) -> Any:
        if not a.size:
            return a
        largest = xp.max(a, axis=at, keepdims=True)
        return xp.log(xp.add.accumulate(xp.exp(a - largest), at)) + largest

    return scan


def _step_by_step(a: np.ndarray, axis: int) -> np.ndarray:
    """Accumulate as TensorFlow does beside NaN, which counts like one more of what there is already."""
    rows = np.moveaxis(a, axis, 0)
    out, total = np.empty_like(rows), np.full_like(rows[0], -np.inf)
    for i, row in enumerate(rows):
        low, high = np.where(row < total, row, total), np.where(total < row, row, total)
        apart = np.where(low == -np.inf, -np.inf, low - high)
        total = out[i] = np.log1p(np.exp(apart)) + high
    return np.moveaxis(out, 0, axis)


@Cumsum.gradient
def _(call, grad):
    exclusive, reverse = call.attrs["exclusive"], call.attrs["reverse"]
    return raw.Cumsum(dense(grad), call.inputs[1], exclusive=exclusive, reverse=not reverse), None


@Cumprod.gradient
def _(call, grad):
    x, axis = call.inputs
    exclusive, reverse = call.attrs["exclusive"], call.attrs["reverse"]
    product = raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = raw.Cumsum(product * dense(grad), axis, exclusive=exclusive, reverse=not reverse)
    return raw.DivNoNan(out, x), None


@CumulativeLogsumexp.gradient
def _(call, grad):
    (x, axis), y, grad = call.inputs, call.outputs[0], dense(grad)
    exclusive, reverse = call.attrs["exclusive"], call.attrs["reverse"]
    # In logarithms, where a sum of exponentials cannot overflow; the two signs of the gradient go separate ways.
    lowest = convert(np.asarray(grad.dtype.min, grad.dtype.np))
    parts = []
    for chosen, size in ((grad > 0, grad), (grad < 0, -grad)):
        logs = raw.SelectV2(chosen, raw.Log(size), raw.ZerosLike(grad) + lowest) - y
        run = raw.CumulativeLogsumexp(logs, axis, exclusive=exclusive, reverse=not reverse)
        parts.append(raw.Exp(run + x))
    return parts[0] - parts[1], None


# --- public functions -------------------------------------------------------------------------------------------------


def cumsum(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the running sum along `axis`.

    >>> cumsum([1, 2, 3]).numpy().tolist(), cumsum([1, 2, 3], exclusive=True).numpy().tolist()
    ([1, 3, 6], [0, 1, 3])
    """
    return _named(Cumsum, "Cumsum", x, axis, exclusive, reverse, name)


def cumprod(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the running product along `axis`.

    >>> cumprod([2, 3, 4]).numpy().tolist()
    [2, 6, 24]
    """
    return _named(Cumprod, "Cumprod", x, axis, exclusive, reverse, name)


def cumulative_logsumexp(
    x: TensorLike, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Return the running log(sum(exp(x))) along `axis`.

    >>> print(cumulative_logsumexp([0.0, 0.0]).numpy().round(4))
    [0.     0.6931]
    """
    return _named(CumulativeLogsumexp, "CumulativeLogsumexp", x, axis, exclusive, reverse, name)


def _named(op, default, x, axis, exclusive, reverse, name):
    with name_scope(name, default, [x]) as scope:
        x = operand(x, None, None, "x")
        return op(x, axis, exclusive=exclusive, reverse=reverse, name=scope or None)
