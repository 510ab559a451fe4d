"""Quantisation as if: numbers are rounded to what few bits can say, and stay floats.

`FakeQuant…` ops round between a minimum and a maximum that are moved so that zero is one of the steps; gradients pass
where a number was inside. `QuantizeAndDequantize…` have steps on both sides of zero of one size.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.declare import UNDEFINED, raw, same, show
from ebbflow.ops.quantization.step_loops import both_ways, faked, walk
from ebbflow.ops.shape_rules import agreed, equal_length, ranked
from ebbflow.ops.sizes import invalid

_BITS = "num_bits: int = 8; narrow_range: bool = false"
_RANGE = f"min: float = -6.0; max: float = 6.0; {_BITS}"
_BACK = "(backprops_wrt_input:float, backprop_wrt_min:float, backprop_wrt_max:float)"

FakeQuantWithMinMaxArgs = op(
    f"FakeQuantWithMinMaxArgs(inputs:float) -> (outputs:float) | {_RANGE}", "portable", shape=same
)
FakeQuantWithMinMaxArgsGradient = op(
    f"FakeQuantWithMinMaxArgsGradient(gradients:float, inputs:float) -> (backprops:float) | {_RANGE}",
    "portable",
    shape=same,
    gradient=UNDEFINED,
)
FakeQuantWithMinMaxVars = op(
    f"FakeQuantWithMinMaxVars(inputs:float, min:float, max:float) -> (outputs:float) | {_BITS}", "portable"
)
FakeQuantWithMinMaxVarsGradient = op(
    f"FakeQuantWithMinMaxVarsGradient(gradients:float, inputs:float, min:float, max:float) -> {_BACK} | {_BITS}",
    "portable",
    gradient=UNDEFINED,
)
FakeQuantWithMinMaxVarsPerChannel = op(
    f"FakeQuantWithMinMaxVarsPerChannel(inputs:float, min:float, max:float) -> (outputs:float) | {_BITS}", "portable"
)
FakeQuantWithMinMaxVarsPerChannelGradient = op(
    "FakeQuantWithMinMaxVarsPerChannelGradient(gradients:float, inputs:float, min:float, max:float) -> "
    f"{_BACK} | {_BITS}",
    "portable",
    gradient=UNDEFINED,
)


# --- ranges -----------------------------------------------------------------------------------------------------------


def nudged(low: Any, high: Any, num_bits: int, narrow: bool, xp: Any = np) -> tuple[Any, Any, Any]:
    """Return a range moved so that zero is one of its steps, and the size of a step."""
    if not 2 <= num_bits <= 16:
        raise invalid(f"num_bits must be between 2 and 16, was: {num_bits}")
    first, last = np.float32(narrow), np.float32(2**num_bits - 1)
    scale = (high - low) / (last - first)
    with np.errstate(all="ignore"):
        zero = first - low / scale
        zero = xp.where(zero < first, first, xp.where(zero > last, last, xp.floor(zero + np.float32(0.5))))
    return (first - zero) * scale, (last - zero) * scale, scale


@functools.lru_cache(maxsize=256)
def _steps(low: float, high: float, num_bits: int, narrow: bool) -> tuple[Any, ...]:
    """Return the nudged ends of a range, 1 / step, which step zero is, and the step: as float32."""
    least, most, scale = nudged(np.float32(low), np.float32(high), num_bits, narrow)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scale
        return least, most, inverse, np.floor(-least * inverse + np.float32(0.5)), scale


def _rounded(xp: Any, x: Any, low: Any, high: Any, num_bits: int, narrow: bool) -> Any:
    if xp is np and not low.ndim and (low != 0 or high != 0):
        least, most, inverse, zero, scale = steps = _steps(float(low), float(high), num_bits, narrow)
        result = walk(faked, x, np.float32, *map(float, steps)) if least <= most else None
        if result is None:
            inside = np.maximum(x, least)
            result = np.minimum(inside, most)
            result = np.floor((result - least) * inverse - zero + np.float32(0.5)) * scale
        return result
    least, most, scale = nudged(low, high, num_bits, narrow, xp)
    with np.errstate(all="ignore"):
        inverse, half = np.float32(1) / scale, np.float32(0.5)
        zero = xp.floor(-least * inverse + half)
        result = xp.floor((xp.clip(x, least, most) - least) * inverse - zero + half) * scale
    return xp.where((low == 0) & (high == 0), np.float32(0), result).astype(np.float32)


def _passed(xp: Any, gradients: Any, x: Any, low: Any, high: Any, num_bits: int, narrow: bool) -> tuple[Any, Any, Any]:
    """Return the gradients of numbers inside the range, and of those below and above it."""
    least, most, _ = nudged(low, high, num_bits, narrow, xp)
    nothing = (low == 0) & (high == 0)
    below, above = (x < least) & ~nothing, (x > most) & ~nothing
    return tuple(xp.where(which, gradients, np.float32(0)) for which in (~(below | above), below, above))


def _check_args(low: float, high: float, num_bits: int) -> tuple[Any, Any]:
    if not low < high:
        raise invalid(f"min has to be smaller than max, was: {low} >= {high}")
    if not 2 <= num_bits <= 16:
        raise invalid(f"num_bits must be between 2 and 16, inclusive, was: {num_bits}")
    return np.float32(low), np.float32(high)


def _check_vars(low: np.ndarray, high: np.ndarray, shape: tuple[int, ...]) -> None:
    for name, x in (("min", low), ("max", high)):
        if x.shape != shape:
            raise invalid(f"{name} must have shape {show(shape)}, got {show(x.shape)}")


# --- as if ------------------------------------------------------------------------------------------------------------


@FakeQuantWithMinMaxArgs.kernel
def _(xp, inputs, *, min, max, num_bits, narrow_range):
    return _rounded(xp, inputs, *_check_args(min, max, num_bits), num_bits, narrow_range)


@FakeQuantWithMinMaxArgs.gradient
def _(call, grad):
    attrs = {"min": call.min, "max": call.max, "num_bits": call.num_bits, "narrow_range": call.narrow_range}
    return raw.FakeQuantWithMinMaxArgsGradient(grad, call.inputs[0], **attrs)


@FakeQuantWithMinMaxArgsGradient.kernel
def _(xp, gradients, inputs, *, min, max, num_bits, narrow_range):
    if gradients.shape != inputs.shape:
        raise invalid(f"gradient and input must be the same size, got {show(gradients.shape)}, {show(inputs.shape)}")
    return _passed(xp, gradients, inputs, *_check_args(min, max, num_bits), num_bits, narrow_range)[0]


@FakeQuantWithMinMaxVars.shape
def _(inputs, min, max):
    ranked(min, 0), ranked(max, 0)
    return inputs.dims


@FakeQuantWithMinMaxVars.kernel
def _(xp, inputs, min, max, *, num_bits, narrow_range):
    _check_vars(min, max, ())
    return _rounded(xp, inputs, min, max, num_bits, narrow_range)


@FakeQuantWithMinMaxVars.gradient
def _(call, grad):
    inputs, low, high = call.inputs
    attrs = {"num_bits": call.num_bits, "narrow_range": call.narrow_range}
    return tuple(raw.FakeQuantWithMinMaxVarsGradient(grad, inputs, low, high, **attrs))


@FakeQuantWithMinMaxVarsGradient.shape
def _(gradients, inputs, min, max):
    return [agreed(gradients.dims, inputs.dims), (), ()]


@FakeQuantWithMinMaxVarsGradient.kernel
def _(xp, gradients, inputs, min, max, *, num_bits, narrow_range):
    if gradients.shape != inputs.shape:
        raise invalid(f"gradient and input must be the same size, got {show(gradients.shape)}, {show(inputs.shape)}")
    _check_vars(min, max, ())
    inside, below, above = _passed(xp, gradients, inputs, min, max, num_bits, narrow_range)
    return inside, below.sum(dtype=np.float32), above.sum(dtype=np.float32)


@FakeQuantWithMinMaxVarsPerChannel.shape
def _(inputs, min, max):
    ranked(min, 1), ranked(max, 1)
    if inputs.dims == ():
        raise errors.StaticShapeError("inputs must have at least one axis: its last one is that of the channels")
    for bound in (min, max):
        if inputs.dims is not None:
            equal_length(inputs.dims[-1], ranked(bound, 1)[0])
    return inputs.dims


@FakeQuantWithMinMaxVarsPerChannel.kernel
def _(xp, inputs, min, max, *, num_bits, narrow_range):
    if not inputs.ndim:
        raise invalid("inputs must have at least one axis: its last one is that of the channels")
    _check_vars(min, max, inputs.shape[-1:])
    return _rounded(xp, inputs, min, max, num_bits, narrow_range)


@FakeQuantWithMinMaxVarsPerChannel.gradient
def _(call, grad):
    inputs, low, high = call.inputs
    attrs = {"num_bits": call.num_bits, "narrow_range": call.narrow_range}
    return tuple(raw.FakeQuantWithMinMaxVarsPerChannelGradient(grad, inputs, low, high, **attrs))


@FakeQuantWithMinMaxVarsPerChannelGradient.shape
def _(gradients, inputs, min, max):
    dims = agreed(gradients.dims, inputs.dims)
    return [dims, ranked(min, 1), ranked(max, 1)]


@FakeQuantWithMinMaxVarsPerChannelGradient.kernel
def _(xp, gradients, inputs, min, max, *, num_bits, narrow_range):
    if gradients.shape != inputs.shape or not inputs.ndim:
        raise invalid(f"gradient and input must be the same size, got {show(gradients.shape)}, {show(inputs.shape)}")
    _check_vars(min, max, inputs.shape[-1:])
    inside, below, above = _passed(xp, gradients, inputs, min, max, num_bits, narrow_range)
    axes = tuple(range(inputs.ndim - 1))
    return inside, below.sum(axes, dtype=np.float32), above.sum(axes, dtype=np.float32)


# --- there and back ---------------------------------------------------------------------------------------------------

_FLOATS = "T: type in [bfloat16,half,float,double]"
_ROUND = 'round_mode: string in ["HALF_TO_EVEN","HALF_UP"] = "HALF_TO_EVEN"; narrow_range: bool = false; axis: int = -1'
_GIVEN = "signed_input: bool = true; num_bits: int = 8; range_given: bool = false"

QuantizeAndDequantize = op(
    f"QuantizeAndDequantize(input:T) -> (output:T) | {_GIVEN}; input_min: float = 0.0; input_max: float = 0.0; "
    f"{_FLOATS} | deprecated@22",
    shape=same,
)
QuantizeAndDequantizeV2 = op(
    f"QuantizeAndDequantizeV2(input:T, input_min:T, input_max:T) -> (output:T) | {_GIVEN}; {_FLOATS}; {_ROUND}",
    facts="beside",
)
QuantizeAndDequantizeV3 = op(
    "QuantizeAndDequantizeV3(input:T, input_min:T, input_max:T, num_bits:int32) -> (output:T) | "
    f"signed_input: bool = true; range_given: bool = true; {_FLOATS}; narrow_range: bool = false; axis: int = -1",
    facts="beside",
)
QuantizeAndDequantizeV4 = op(
    f"QuantizeAndDequantizeV4(input:T, input_min:T, input_max:T) -> (output:T) | {_GIVEN}; {_FLOATS}; {_ROUND}",
    facts="beside",
)
QuantizeAndDequantizeV4Grad = op(
    "QuantizeAndDequantizeV4Grad(gradients:T, input:T, input_min:T, input_max:T) -> (input_backprop:T, "
    f"input_min_backprop:T, input_max_backprop:T) | {_FLOATS}; axis: int = -1",
    gradient=UNDEFINED,
)


def _same_as_input(input: Any, input_min: Any, input_max: Any, *others: Any, axis: int) -> Any:
    for bound in (input_min, input_max):
        ranked(bound, 0 if axis == -1 else 1)
    return input.dims


for _declared in (QuantizeAndDequantizeV2, QuantizeAndDequantizeV3, QuantizeAndDequantizeV4):
    _declared.shape(_same_as_input)


def _there_and_back(
    x: np.ndarray, low: Any, high: Any, *, signed: bool, bits: int, given: bool, mode: str, narrow: bool, axis: int
) -> np.ndarray:
    if not (2 if signed else 1) <= bits <= (62 if signed else 63):
        raise invalid(f"num_bits is out of range: {bits} with signed_input = {signed}")
    if not -1 <= axis < max(x.ndim, 1):
        raise invalid(f"Axis should be -1 or 0 or a positive value less than {x.ndim}, but given axis value was {axis}")
    wide: Any = np.float64 if x.dtype == np.float64 else np.float32
    if axis == -1 and wide is x.dtype.type and mode == "HALF_TO_EVEN" and x.size and not np.ndim(low) + np.ndim(high):
        ends = (float(low), float(high)) if given else (float(x.min()), float(x.max()))
        low, high, scale, step = _one_range(*ends, x.dtype, bits, signed, narrow)
        return _there_and_back_again(x, low, high, scale, step, bits, given)
    low, high = _bounds(x, np.asarray(low, wide), np.asarray(high, wide), given, axis)
    low, high, scale, step = _scaled(low, high, wide, bits, signed, narrow)
    with np.errstate(all="ignore"):
        inside = x.astype(wide)
        if given:
            inside = np.clip(inside, low.astype(wide), high.astype(wide))
        inside = inside * scale
        steps = np.rint(inside) if mode == "HALF_TO_EVEN" else np.floor(inside + wide(0.5))
        return (steps * step).astype(x.dtype)


def _there_and_back_again(
    x: np.ndarray, low: Any, high: Any, scale: Any, step: Any, bits: int, cut: bool
) -> np.ndarray:
    """The same for one range, and numbers as wide as they are computed; those outside may have to be cut off."""
    if bits <= 16 and low <= high:
        ends = (float(low), float(high)) if cut else (-np.inf, np.inf)
        result = walk(both_ways, x, np.float32, *ends, float(scale), float(step))
        if result is not None:
            return result
    inside = np.minimum(np.maximum(x, low), high) if cut else x
    return np.rint(inside * scale) * step


@functools.lru_cache(maxsize=256)
def _one_range(low: float, high: float, dtype: np.dtype, bits: int, signed: bool, narrow: bool) -> tuple[Any, ...]:
    if low > high:
        raise invalid(f"Invalid range: input_min {low} > input_max {high}")
    wide: Any = dtype.type
    ends = (np.asarray(low, wide), np.asarray(high, wide))
    return tuple(wide(number) for number in _scaled(*ends, wide, bits, signed, narrow))


def _scaled(low: Any, high: Any, wide: Any, bits: int, signed: bool, narrow: bool) -> tuple[Any, Any, Any, Any]:
    """Return the range that integers can say, how many of them one is, and how much one of them is."""
    least = float(-(2 ** (bits - 1)) + narrow) if signed else 0.0
    most = float(2 ** (bits - 1) - 1) if signed else float(2**bits - 1)
    with np.errstate(all="ignore"):
        huge = np.finfo(wide).max
        from_low = np.where(least * low > 0, least / low, huge)
        from_high = np.where(most * high > 0, most / high, huge)
        by_low = from_low < from_high
        scale = np.where(by_low, from_low, from_high).astype(wide)
        step = np.where(by_low, low / least if least else 0.0, high / most).astype(wide)
        return np.where(by_low, low, least * step), np.where(by_low, most * step, high), scale, step


def _bounds(x: np.ndarray, low: np.ndarray, high: np.ndarray, given: bool, axis: int) -> tuple[Any, Any]:
    """Return the range, given or that of the numbers; along an axis, one for each of its entries."""
    shape = () if axis == -1 else (x.shape[axis],)
    if low.shape != shape or high.shape != shape:
        found = f"{show(low.shape)} and {show(high.shape)}"
        raise invalid(f"input_min and input_max must have shape {show(shape)}, got {found}")
    if not given:
        others = None if axis == -1 else tuple(i for i in range(x.ndim) if i != axis)
        low, high = (x.min(others), x.max(others)) if x.size else (np.zeros(shape), np.zeros(shape))
    if (np.asarray(low) > np.asarray(high)).any():
        raise invalid(f"Invalid range: input_min {np.asarray(low).tolist()} > input_max {np.asarray(high).tolist()}")
    if axis == -1:
        return np.asarray(low), np.asarray(high)
    places = tuple(-1 if i == axis else 1 for i in range(x.ndim))
    return np.asarray(low).reshape(places), np.asarray(high).reshape(places)


@QuantizeAndDequantize.kernel
def _(xp, input, *, signed_input, num_bits, range_given, input_min, input_max):
    return _there_and_back(
        input, input_min, input_max, signed=signed_input, bits=num_bits, given=range_given, mode="HALF_TO_EVEN",
        narrow=False, axis=-1,
    )  # fmt: skip


def _second(
    xp: Any,
    input: Any,
    input_min: Any,
    input_max: Any,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
    axis: int,
) -> Any:
    return _there_and_back(
        input, input_min, input_max, signed=signed_input, bits=num_bits, given=range_given, mode=round_mode,
        narrow=narrow_range, axis=axis,
    )  # fmt: skip


QuantizeAndDequantizeV2.kernel(_second)
QuantizeAndDequantizeV4.kernel(_second)


@QuantizeAndDequantizeV3.kernel
def _(xp, input, input_min, input_max, num_bits, *, signed_input, range_given, narrow_range, axis):
    if num_bits.ndim:
        raise invalid(f"num_bits must be a scalar, got shape {show(num_bits.shape)}")
    return _there_and_back(
        input, input_min, input_max, signed=signed_input, bits=int(num_bits), given=range_given, mode="HALF_TO_EVEN",
        narrow=narrow_range, axis=axis,
    )  # fmt: skip


QuantizeAndDequantize.gradient(lambda call, grad: grad)
QuantizeAndDequantizeV2.gradient(lambda call, grad: (grad, None, None))
QuantizeAndDequantizeV3.gradient(lambda call, grad: (grad, None, None, None))


@QuantizeAndDequantizeV4.gradient
def _(call, grad):
    return tuple(raw.QuantizeAndDequantizeV4Grad(grad, call.input, call.input_min, call.input_max, axis=call.axis))


@QuantizeAndDequantizeV4Grad.shape
def _(gradients, input, input_min, input_max):
    return [agreed(gradients.dims, input.dims), input_min.dims, input_max.dims]


@QuantizeAndDequantizeV4Grad.kernel
def _(xp, gradients, input, input_min, input_max, *, axis):
    if gradients.shape != input.shape:
        raise invalid(f"gradients and input must have one shape, got {show(gradients.shape)}, {show(input.shape)}")
    if not -1 <= axis < max(input.ndim, 1):
        raise invalid(f"Axis should be >= -1 and < {input.ndim}, got {axis}")
    shape = () if axis == -1 else (input.shape[axis],)
    _check_vars(input_min, input_max, shape)
    places = () if axis == -1 else tuple(-1 if i == axis else 1 for i in range(input.ndim))
    outside = (input < input_min.reshape(places)) | (input > input_max.reshape(places))
    nothing = np.zeros(shape, gradients.dtype)  # TensorFlow's rule: the range is not learnt
    return np.where(outside, gradients.dtype.type(0), gradients), nothing, nothing


# --- public functions -------------------------------------------------------------------------------------------------


def fake_quant_with_min_max_args(
    inputs: Sequence[TensorLike],
    min: TensorLike = -6,
    max: int = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return numbers as they would be after rounding to `num_bits` bits between `min` and `max`.

    >>> [round(float(x), 3) for x in fake_quant_with_min_max_args([0.1, 7.0], min=-6, max=6)]
    [0.094, 5.976]
    """
    return FakeQuantWithMinMaxArgs(inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: Sequence[TensorLike],
    min: TensorLike = -6,
    max: int = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the gradients of `fake_quant_with_min_max_args`: those of numbers inside the range."""
    return FakeQuantWithMinMaxArgsGradient(
        gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars(
    inputs: Sequence[TensorLike],
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return numbers as after rounding to `num_bits` bits; the range may be learnt."""
    return FakeQuantWithMinMaxVars(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: Sequence[TensorLike],
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return the gradients of `fake_quant_with_min_max_vars` for inputs, minimum and maximum."""
    return FakeQuantWithMinMaxVarsGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_per_channel(
    inputs: Sequence[TensorLike],
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return numbers as after rounding to `num_bits` bits, with a range for each channel."""
    return FakeQuantWithMinMaxVarsPerChannel(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: Sequence[TensorLike],
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return the gradients of `fake_quant_with_min_max_vars_per_channel`."""
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: Axis = None,
) -> Tensor:
    """Return numbers rounded to steps of one size around zero; gradients pass as they are."""
    return _both_ways(
        QuantizeAndDequantizeV2, input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,
        narrow_range, axis,
    )  # fmt: skip


def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: Axis = None,
) -> Tensor:
    """Return numbers rounded to steps of one size around zero; gradients pass inside the range."""
    return _both_ways(
        QuantizeAndDequantizeV4, input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,
        narrow_range, axis,
    )  # fmt: skip


def _both_ways(declared: Any, input: Any, low: Any, high: Any, *rest: Any) -> Any:
    signed, bits, given, mode, name, narrow, axis = rest
    input = convert(input, name="input")
    if axis is None:
        axis = -1
    elif axis < 0:
        if input.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        axis %= input.shape.rank
    low, high = (raw.Cast(convert(x), DstT=input.dtype) if input.dtype != dtypes.float32 else x for x in (low, high))
    return declared(
        input, low, high, signed_input=signed, num_bits=bits, range_given=given, round_mode=mode, narrow_range=narrow,
        axis=axis, name=name,
    )  # fmt: skip
