"""Grey-scale morphology: dilation and erosion of images.

A dilation is a convolution in which sums are maxima and products are sums. Its gradient goes to the place that gave the
maximum, the first of them in the window's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.op import Known, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Padding, Sizes, TensorLike
from ebbflow.ops.declare import UNDEFINED, raw
from ebbflow.ops.nn.morphology_loops import dilated, dilated_lines
from ebbflow.ops.nn.windows import Grid, grid, output_length
from ebbflow.ops.parts import in_shares
from ebbflow.ops.shape_rules import equal_length, ranked
from ebbflow.ops.sizes import invalid

_ATTRS = 'T: reals; strides: list(int) >= 4; rates: list(int) >= 4; padding: string in ["SAME","VALID"]'

Dilation2D = op(f"Dilation2D(input:T, filter:T) -> (output:T) | {_ATTRS}")
Dilation2DBackpropInput = op(
    f"Dilation2DBackpropInput(input:T, filter:T, out_backprop:T) -> (in_backprop:T) | {_ATTRS}"
)
Dilation2DBackpropFilter = op(
    f"Dilation2DBackpropFilter(input:T, filter:T, out_backprop:T) -> (filter_backprop:T) | {_ATTRS}"
)
Dilation2DBackpropInput.gradient(UNDEFINED)
Dilation2DBackpropFilter.gradient(UNDEFINED)


def _check_attrs(strides: Any, rates: Any) -> None:
    for name, values in (("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise errors.StaticShapeError(
                f"Dilation2D requires the {name} attribute to contain 4 values, got: {values}"
            )
        if values[0] != 1 or values[3] != 1:
            text = f"{name} are only supported across spatial dimensions, got {name} = {list(values)}"
            raise errors.UnimplementedError(None, None, text)


@Dilation2D.shape
def _(input, filter, *, strides, rates, padding):
    if len(strides) != 4 or len(rates) != 4:
        raise errors.StaticShapeError(f"Dilation2D requires strides and rates of 4 values, got {strides} and {rates}")
    batch, height, width, depth = ranked(input, 4)
    rows, columns, channels = ranked(filter, 3)
    depth = equal_length(depth, channels)
    out = [
        output_length(length, window, strides[axis], rates[axis], padding)
        for axis, length, window in ((1, height, rows), (2, width, columns))
    ]
    return (batch, *out, depth)


def _like_input(input: Known, filter: Known, out_backprop: Known) -> Any:
    return ranked(input, 4)


def _like_filter(input: Known, filter: Known, out_backprop: Known) -> Any:
    return ranked(filter, 3)


Dilation2DBackpropInput.shape(_like_input)
Dilation2DBackpropFilter.shape(_like_filter)


FEW = 256
"""Numbers of a result from which on machine code makes it."""


LINES, SHARE = 1 << 18, 1 << 17
"""Up to so many sums of a line are taken together; so many are a share of work."""


def _grid(input: np.ndarray, filter: np.ndarray, strides: Any, rates: Any, padding: str) -> Grid:
    _check_attrs(strides, rates)
    if input.ndim != 4 or filter.ndim != 3:
        raise invalid(f"input must be 4-dimensional and filter 3-dimensional, got {input.shape} and {filter.shape}")
    if input.shape[3] != filter.shape[2]:
        raise invalid(f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}")
    return grid(input.shape[1:3], filter.shape[:2], tuple(strides[1:3]), padding, tuple(rates[1:3]))


def _taps(g: Grid) -> Iterator[tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each place of the window, the rows and columns it meets (kept inside), and which of them are inside."""
    for place in np.ndindex(g.windows):
        rows, columns = (np.arange(g.out[a]) * g.strides[a] + place[a] * g.dilations[a] - g.pads[a][0] for a in (0, 1))
        inside = ((rows >= 0) & (rows < g.sizes[0]))[:, None] & ((columns >= 0) & (columns < g.sizes[1]))
        yield place, np.clip(rows, 0, g.sizes[0] - 1), np.clip(columns, 0, g.sizes[1] - 1), inside[..., None]


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _best(input: np.ndarray, filter: np.ndarray, g: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest sum of each window, and the number of the place that gave it."""
    shape = (input.shape[0], *g.out, input.shape[3])
    best = np.full(shape, _lowest(input.dtype), input.dtype)
    which = np.full(shape, -1, np.int32)
    for number, (place, rows, columns, inside) in enumerate(_taps(g)):
        value = (input[:, rows[:, None], columns] + filter[place]).astype(input.dtype)
        better = inside & ((value > best) | ((which < 0) & inside))
        best, which = np.where(better, value, best), np.where(better, number, which)
    return best, which


@Dilation2D.kernel
def _(xp, input, filter, *, strides, rates, padding):
    g = _grid(input, filter, strides, rates, padding)
    shape = (input.shape[0], *g.out, input.shape[3])
    if not np.prod(shape):
        return np.zeros(shape, input.dtype)
    quick = _dilated(input, filter, g, shape)
    return _best(input, filter, g)[0] if quick is None else quick


def _dilated(input: np.ndarray, filter: np.ndarray, g: Grid, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the largest sum of each window by machine code; None where that is not there."""
    size = math.prod(shape)
    by_lines = g.strides[1] == 1 and size >= FEW and math.prod(g.windows) * math.prod(shape[2:]) <= LINES
    made = dilated_lines if by_lines else dilated
    code = made.worth(size, FEW) if input.dtype == filter.dtype == np.float32 else None
    if code is None:
        return None
    result = np.empty(shape, np.float32)
    image, window = np.ascontiguousarray(input), np.ascontiguousarray(filter)
    pads = (g.pads[0][0], g.pads[1][0])
    if by_lines:
        windows = np.repeat(window[:, :, None], g.out[1], axis=2)
        sides = (*image.shape[1:], *g.windows, *g.out, g.strides[0], *g.dilations, *pads, -np.inf)
        share = max(1, SHARE // windows.size)
        in_shares(lambda begin, end: code(image, windows, result, *sides, begin, end), shape[0] * shape[1], share)
        return result
    code(image, window, result, *image.shape, *g.windows, *g.out, *g.strides, *g.dilations, *pads, -np.inf)
    return result


@Dilation2D.gradient
def _(call, grad):
    attrs = {"strides": call.strides, "rates": call.rates, "padding": call.padding}
    return (
        raw.Dilation2DBackpropInput(call.input, call.filter, grad, **attrs),
        raw.Dilation2DBackpropFilter(call.input, call.filter, grad, **attrs),
    )


def _check_backprop(input: np.ndarray, g: Grid, out_backprop: np.ndarray) -> None:
    expected = (input.shape[0], *g.out, input.shape[3])
    if out_backprop.shape != expected:
        raise invalid(f"out_backprop has incompatible size: {out_backprop.shape}, expected {expected}")


@Dilation2DBackpropInput.kernel
def _(xp, input, filter, out_backprop, *, strides, rates, padding):
    g = _grid(input, filter, strides, rates, padding)
    _check_backprop(input, g, out_backprop)
    result = np.zeros_like(input)
    if not out_backprop.size:
        return result
    _, which = _best(input, filter, g)
    for number, (_, rows, columns, _inside) in enumerate(_taps(g)):
        share = np.where(which == number, out_backprop, 0).astype(input.dtype)
        np.add.at(result, (slice(None), rows[:, None], columns), share)
    return result


@Dilation2DBackpropFilter.kernel
def _(xp, input, filter, out_backprop, *, strides, rates, padding):
    g = _grid(input, filter, strides, rates, padding)
    _check_backprop(input, g, out_backprop)
    result = np.zeros_like(filter)
    if not out_backprop.size:
        return result
    _, which = _best(input, filter, g)
    for number, place in enumerate(np.ndindex(g.windows)):
        result[place] = np.where(which == number, out_backprop, 0).sum((0, 1, 2)).astype(filter.dtype)
    return result


# --- public functions -------------------------------------------------------------------------------------------------


def dilation2d_v1(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Sizes | None = None,
    rates: Sizes | None = None,
    padding: Padding | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:
    """Return the maxima of input and filter, added up, over windows."""
    filter = filters if filter is None else filter
    rates = dilations if rates is None else rates
    return Dilation2D(input, filter, strides=strides, rates=rates, padding=padding, name=name)


def dilation2d(
    input: TensorLike,
    filters: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str,
    dilations: Sizes,
    name: str | None = None,
) -> Tensor:
    """Return the maxima of input and filters, added up, over windows."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: {data_format}")
    return Dilation2D(input, filters, strides=strides, rates=dilations, padding=padding, name=name)


def erosion2d_v1(
    value: TensorLike, kernel: TensorLike, strides: Sizes, rates: Sizes, padding: Padding, name: str | None = None
) -> Tensor:
    """Return the minima of value minus kernel over windows."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        value, kernel = convert(value), convert(kernel)
        turned = raw.ReverseV2(kernel, [0, 1])
        return raw.Neg(
            Dilation2D(raw.Neg(value), turned, strides=strides, rates=rates, padding=padding), name=scope or None
        )


def erosion2d(
    value: TensorLike,
    filters: TensorLike,
    strides: Sizes,
    padding: Padding,
    data_format: str,
    dilations: Sizes,
    name: str | None = None,
) -> Tensor:
    """Return the minima of value minus filters over windows."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: {data_format}")
    return erosion2d_v1(value, filters, strides, dilations, padding, name)
