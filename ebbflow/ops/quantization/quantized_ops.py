"""Ops on quantised numbers: quantising, and arithmetic, pooling, convolution and activations on the integers.

Products and sums are of integers, with the integer that means zero taken off first; their range follows from those of
the inputs. Nothing here has a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, Padding, Sizes, TensorLike
from ebbflow.ops.declare import UNDEFINED, broadcast, same, show
from ebbflow.ops.kernels import computed
from ebbflow.ops.quantization.step_loops import combined, walk
from ebbflow.ops.quantization.values import (
    TYPES,
    away_from_zero,
    boxed,
    dequantized,
    from_floats,
    limits,
    plain,
    quantized,
    scalar,
    to_floats,
)
from ebbflow.ops.sizes import invalid

_MODE = 'mode: string in ["MIN_COMBINED","MIN_FIRST","SCALED"] = "MIN_COMBINED"'

# --- there, and back --------------------------------------------------------------------------------------------------

QuantizeV2 = op(
    "QuantizeV2(input:float, min_range:float, max_range:float) -> (output:T, output_min:float, output_max:float) | "
    f"T: {TYPES}; {_MODE}; "
    'round_mode: string in ["HALF_AWAY_FROM_ZERO","HALF_TO_EVEN"] = "HALF_AWAY_FROM_ZERO"; narrow_range: bool = false; '
    "axis: int = -1; ensure_minimum_range: float = 0.009999999776482582",
    gradient=UNDEFINED,
)
Dequantize = op(
    f"Dequantize(input:T, min_range:float, max_range:float) -> (output:dtype) | T: {TYPES}; {_MODE}; "
    "narrow_range: bool = false; axis: int = -1; dtype: type in [bfloat16,float] = float",
    gradient=UNDEFINED,
    facts="beside",
)


def _bounds(x: np.ndarray, low: np.ndarray, high: np.ndarray, axis: int) -> tuple[Any, Any]:
    """Return the range as numbers, or as arrays that go with `x` along an axis."""
    if not -1 <= axis < max(x.ndim, 1):
        raise invalid(f"Axis must be -1 or in [0, {x.ndim}), got {axis}")
    if axis == -1:
        return scalar(low, "min_range"), scalar(high, "max_range")
    places = tuple(-1 if i == axis else 1 for i in range(x.ndim))
    if low.shape != (x.shape[axis],) or high.shape != low.shape:
        raise invalid(f"min_range and max_range must have {x.shape[axis]} entries, got {show(low.shape)}")
    return low.reshape(places).astype(np.float64), high.reshape(places).astype(np.float64)


def _with_range(input: Known, min_range: Known, max_range: Known) -> Any:
    return [input.dims, min_range.dims, max_range.dims]


QuantizeV2.shape(_with_range)
Dequantize.shape(same)


@QuantizeV2.kernel
def _(xp, input, min_range, max_range, *, T, mode, round_mode, narrow_range, axis, ensure_minimum_range):
    low, high = _bounds(input, min_range, max_range, axis)
    if axis == -1 and mode == "MIN_COMBINED" and T in _BYTES and (low or high or ensure_minimum_range):
        found, most = _spread_over(input, low, high, T, ensure_minimum_range)
        shape = min_range.shape
        return found, np.full(shape, min(0.0, low), np.float32), np.full(shape, most, np.float32)
    if not np.all(np.isfinite(low)) or not np.all(np.isfinite(high)):
        raise invalid("min_range and max_range must be finite")
    if np.any(np.asarray(low) > np.asarray(high)):
        raise invalid(f"max_range must be larger than min_range, got {np.asarray(low)} and {np.asarray(high)}")
    low = np.minimum(0.0, low)
    room = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high))) * ensure_minimum_range
    high = np.maximum(0.0, np.maximum(high, low + room))
    to_even, x = round_mode == "HALF_TO_EVEN", input.astype(np.float64)
    found, least, most = quantized(x, low, high, T, mode, to_even, narrow_range)
    shape = min_range.shape
    return boxed(found, T), np.reshape(least, shape).astype(np.float32), np.reshape(most, shape).astype(np.float32)


_BYTES = (dtypes.quint8, dtypes.qint8)


def _spread_over(x: Any, low: float, high: float, kind: Any, room: float) -> tuple[Any, float]:
    """Return floats as integers of 8 bits that are spread over a range, and its upper end."""
    if not math.isfinite(low) or not math.isfinite(high):
        raise invalid("min_range and max_range must be finite")
    if low > high:
        raise invalid(f"max_range must be larger than min_range, got {low} and {high}")
    low = min(0.0, low)
    high = max(0.0, high, low + max(1.0, abs(low), abs(high)) * room)
    least, most = limits(kind)
    scale, shift = (most - least) / (high - low), (most - least + 1) / 2.0 if least < 0 else 0.0
    whole = walk(combined, x, np.float32, low, high, scale, shift, float(least), float(most))
    if whole is not None:
        return whole.astype(np.dtype(kind.np)[0]).view(kind.np), high
    moved = (np.minimum(np.maximum(x.astype(np.float64), low), high) - low) * scale - shift
    return boxed(away_from_zero(moved), kind), high


@Dequantize.kernel
def _(xp, input, min_range, max_range, *, T, mode, narrow_range, axis, dtype):
    low, high = _bounds(input, min_range, max_range, axis)
    return dequantized(plain(input), low, high, T, mode, narrow_range).astype(dtype.np)


# --- another range ----------------------------------------------------------------------------------------------------

Requantize = op(
    "Requantize(input:Tinput, input_min:float, input_max:float, requested_output_min:float, "
    "requested_output_max:float) "
    f"-> (output:out_type, output_min:float, output_max:float) | Tinput: {TYPES}; out_type: {TYPES}",
    gradient=UNDEFINED,
)
RequantizationRange = op(
    "RequantizationRange(input:Tinput, input_min:float, input_max:float) -> (output_min:float, output_max:float) | "
    f"Tinput: {TYPES}",
    gradient=UNDEFINED,
)
QuantizeDownAndShrinkRange = op(
    "QuantizeDownAndShrinkRange(input:Tinput, input_min:float, input_max:float) -> (output:out_type, output_min:float, "
    f"output_max:float) | Tinput: {TYPES}; out_type: {TYPES}",
    gradient=UNDEFINED,
)


def _like_first(first: Known, *others: Known) -> Any:
    return [first.dims, (), ()]


Requantize.shape(_like_first)
QuantizeDownAndShrinkRange.shape(_like_first)
RequantizationRange.shape(lambda input, input_min, input_max: [(), ()])


def _requantized(x: Any, low: float, high: float, kind: Any, new_low: float, new_high: float, out: Any) -> Any:
    values = to_floats(plain(x), low, high, kind)
    return boxed(from_floats(values, new_low, new_high, out), out), np.float32(new_low), np.float32(new_high)


def _used(x: Any, low: float, high: float, kind: Any) -> tuple[float, float]:
    """Return the range of the numbers that are there, with zero."""
    if not x.size:
        return 0.0, 0.0
    integers = plain(x)
    ends = to_floats(np.array([integers.min(), integers.max()]), low, high, kind)
    return min(0.0, float(ends[0])), float(ends[1])


@Requantize.kernel
def _(xp, input, input_min, input_max, requested_output_min, requested_output_max, *, Tinput, out_type):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    new_low = scalar(requested_output_min, "requested_output_min")
    new_high = scalar(requested_output_max, "requested_output_max")
    if new_low > 0:
        raise invalid(f"requested_output_min must be <= 0, but got {new_low}")
    if new_high < new_low:
        raise invalid(f"requested_output_max must be >= requested_output_min, but got {new_high} and {new_low}")
    return _requantized(input, low, high, Tinput, new_low, new_high, out_type)


@RequantizationRange.kernel
def _(xp, input, input_min, input_max, *, Tinput):
    low, high = _used(input, scalar(input_min, "input_min"), scalar(input_max, "input_max"), Tinput)
    return np.float32(low), np.float32(high)


@QuantizeDownAndShrinkRange.kernel
def _(xp, input, input_min, input_max, *, Tinput, out_type):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    return _requantized(input, low, high, Tinput, *_used(input, low, high, Tinput), out_type)


# --- products and sums ------------------------------------------------------------------------------------------------


def _without_zero(x: np.ndarray, low: np.ndarray, high: np.ndarray, kind: Any, names: str) -> tuple[np.ndarray, float]:
    """Return integers with what means zero taken off, and how much one of them is worth."""
    a, b = scalar(low, f"min_{names}"), scalar(high, f"max_{names}")
    if not a < b:
        raise invalid(f"max_{names} must be larger than min_{names}, got {b} and {a}")
    least, most = limits(kind)
    return plain(x).astype(np.int64) - int(from_floats(0.0, a, b, kind)), (b - a) / (most - least)


def _product(x: np.ndarray, worth: float, out: Any) -> tuple[Any, Any, Any]:
    least, most = limits(out)
    return boxed(x, out), np.float32(worth * least), np.float32(worth * most)


def _pairwise(name: str, args: str, result: str, extra: str, rule: Any, work: Callable[..., Any]) -> Op:
    """Declare an op of two quantised inputs whose result is a product of integers."""
    a, b = args.split()
    kinds = "Tinput Tfilter out_type" if name == "QuantizedConv2D" else "T1 T2 Toutput"
    first, second, out = kinds.split()
    declared = op(
        f"{name}({a}:{first}, {b}:{second}, min_{a}:float, max_{a}:float, min_{b}:float, max_{b}:float) -> "
        f"({result}:{out}, min_{'output' if result == 'output' else result}:float, "
        f"max_{'output' if result == 'output' else result}:float) | {first}: {TYPES}; {second}: {TYPES}; "
        f"{out}: {TYPES} = qint32{extra}",
        gradient=UNDEFINED,
    )
    declared.shape(rule)

    def kernel(xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, **attrs: Any) -> Any:
        left, worth = _without_zero(x, min_x, max_x, attrs[first], a)
        right, other = _without_zero(y, min_y, max_y, attrs[second], b)
        return _product(work(left, right, attrs), worth * other, attrs[out])

    declared.kernel(kernel)
    declared.kernel_attrs = tuple(declared.signature.attrs)
    return declared


_TRANSPOSES = f"; transpose_a: bool = false; transpose_b: bool = false; Tactivation: {TYPES} = quint8"
_CONV = '; strides: list(int); padding: string in ["SAME","VALID"]; dilations: list(int) = [1,1,1,1]'


def _matmul_rule(a: Known, b: Known, *ranges: Known, transpose_a: bool, transpose_b: bool) -> Any:
    dims = registry["MatMul"].shape_fn(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return [dims, (), ()]


def _conv_rule(input: Known, filter: Known, *ranges: Known, strides: Any, padding: str, dilations: Any) -> Any:
    dims = registry["Conv2D"].shape_fn(
        input, filter, strides=strides, padding=padding, explicit_paddings=(), data_format="NHWC", dilations=dilations
    )
    return [dims, (), ()]


def _broadcast_rule(x: Known, y: Known, *ranges: Known) -> Any:
    return [broadcast(x, y), (), ()]


def _matrix_product(a: np.ndarray, b: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    a, b = a.T if attrs["transpose_a"] else a, b.T if attrs["transpose_b"] else b
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise invalid(f"Matrix size-incompatible: {show(a.shape)} and {show(b.shape)}")
    return a @ b


def _convolution(x: np.ndarray, filter: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    exact = (x.astype(np.float64), filter.astype(np.float64))  # below 2**53 floats are exact
    attrs = {key: attrs[key] for key in ("strides", "padding", "dilations")}
    return np.rint(computed("Conv2D", *exact, **attrs))


QuantizedMul = _pairwise("QuantizedMul", "x y", "z", "", _broadcast_rule, lambda a, b, attrs: a * b)
QuantizedMatMul = _pairwise("QuantizedMatMul", "a b", "out", _TRANSPOSES, _matmul_rule, _matrix_product)
QuantizedConv2D = _pairwise("QuantizedConv2D", "input filter", "output", _CONV, _conv_rule, _convolution)

QuantizedAdd = op(
    "QuantizedAdd(x:T1, y:T2, min_x:float, max_x:float, min_y:float, max_y:float) -> (z:Toutput, min_z:float, "
    f"max_z:float) | T1: {TYPES}; T2: {TYPES}; Toutput: {TYPES} = qint32",
    gradient=UNDEFINED,
)
QuantizedBiasAdd = op(
    "QuantizedBiasAdd(input:T1, bias:T2, min_input:float, max_input:float, min_bias:float, max_bias:float) -> "
    f"(output:out_type, min_out:float, max_out:float) | T1: {TYPES}; T2: {TYPES}; out_type: {TYPES}",
    gradient=UNDEFINED,
)
QuantizedAdd.shape(_broadcast_rule)
QuantizedBiasAdd.shape(_like_first)


def _sum(x: Any, y: Any, ranges: list[Any], first: Any, second: Any, out: Any, room: int) -> Any:
    """Add floats that integers mean; the range has room for many times the larger."""
    a, b, c, d = (scalar(r, "the range's bound") for r in ranges)
    most = max(abs(a), abs(b), abs(c), abs(d)) * room
    total = to_floats(plain(x), a, b, first) + to_floats(plain(y), c, d, second)
    return boxed(from_floats(total, -most, most, out), out), np.float32(-most), np.float32(most)


@QuantizedAdd.kernel
def _(xp, x, y, min_x, max_x, min_y, max_y, *, T1, T2, Toutput):
    return _sum(x, y, [min_x, max_x, min_y, max_y], T1, T2, Toutput, 1 << 14)


@QuantizedBiasAdd.kernel
def _(xp, input, bias, min_input, max_input, min_bias, max_bias, *, T1, T2, out_type):
    if bias.ndim != 1 or not input.ndim or bias.shape[0] != input.shape[-1]:
        raise invalid(f"bias must have one entry for each of the last axis: {show(bias.shape)}, {show(input.shape)}")
    return _sum(input, bias, [min_input, max_input, min_bias, max_bias], T1, T2, out_type, 1 << 17)


# --- activations and pools --------------------------------------------------------------------------------------------

_RELU = (
    "-> (activations:out_type, min_activations:float, max_activations:float) | "
    f"Tinput: {TYPES}; out_type: {TYPES} = quint8"
)
QuantizedRelu = op(
    f"QuantizedRelu(features:Tinput, min_features:float, max_features:float) {_RELU}", gradient=UNDEFINED
)
QuantizedRelu6 = op(
    f"QuantizedRelu6(features:Tinput, min_features:float, max_features:float) {_RELU}", gradient=UNDEFINED
)
QuantizedReluX = op(
    f"QuantizedReluX(features:Tinput, max_value:float, min_features:float, max_features:float) {_RELU}",
    gradient=UNDEFINED,
)
for _declared in (QuantizedRelu, QuantizedRelu6, QuantizedReluX):
    _declared.shape(_like_first)


def _clipped(features: Any, low: Any, high: Any, kind: Any, out: Any, most: float | None) -> Any:
    a, b = scalar(low, "min_features"), scalar(high, "max_features")
    x = plain(features).astype(np.int64)
    x = np.maximum(x, int(from_floats(0.0, a, b, kind)))
    if most is not None:
        x = np.minimum(x, int(from_floats(most, a, b, kind)))
    return boxed(x, out), np.float32(a), np.float32(b)


@QuantizedRelu.kernel
def _(xp, features, min_features, max_features, *, Tinput, out_type):
    return _clipped(features, min_features, max_features, Tinput, out_type, None)


@QuantizedRelu6.kernel
def _(xp, features, min_features, max_features, *, Tinput, out_type):
    return _clipped(features, min_features, max_features, Tinput, out_type, 6.0)


@QuantizedReluX.kernel
def _(xp, features, max_value, min_features, max_features, *, Tinput, out_type):
    return _clipped(features, min_features, max_features, Tinput, out_type, scalar(max_value, "max_value"))


def _pool(name: str, plain_pool: str) -> Op:
    declared = op(
        f"{name}(input:T, min_input:float, max_input:float) -> (output:T, min_output:float, max_output:float) | "
        f'T: {TYPES}; ksize: list(int); strides: list(int); padding: string in ["SAME","VALID"]',
        gradient=UNDEFINED,
    )

    @declared.shape
    def _(input: Known, min_input: Known, max_input: Known, *, ksize: Any, strides: Any, padding: str) -> Any:
        attrs = {"ksize": ksize, "strides": strides, "padding": padding, "data_format": "NHWC"}
        more = {"explicit_paddings": ()} if plain_pool == "MaxPool" else {}
        return [registry[plain_pool].shape_fn(input, **attrs, **more), (), ()]

    @declared.kernel
    def _(
        xp: Any, input: Any, min_input: Any, max_input: Any, *, T: Any, ksize: Any, strides: Any, padding: str
    ) -> Any:
        x = computed(plain_pool, plain(input).astype(np.float64), ksize=ksize, strides=strides, padding=padding)
        low, high = scalar(min_input, "min_input"), scalar(max_input, "max_input")
        return boxed(np.trunc(x), T), np.float32(low), np.float32(high)

    return declared


QuantizedMaxPool = _pool("QuantizedMaxPool", "MaxPool")
QuantizedAvgPool = _pool("QuantizedAvgPool", "AvgPool")


# --- shapes -----------------------------------------------------------------------------------------------------------

QuantizedReshape = op(
    "QuantizedReshape(tensor:T, shape:Tshape, input_min:float, input_max:float) -> (output:T, output_min:float, "
    "output_max:float) | T: type; Tshape: type in [int32,int64] = int32",
    gradient=UNDEFINED,
)
_CONCAT = "(output:T, output_min:float, output_max:float) | N: int >= 2; T: type"
QuantizedConcat = op(
    f"QuantizedConcat(concat_dim:int32, values:N*T, input_mins:N*float, input_maxes:N*float) -> {_CONCAT}",
    gradient=UNDEFINED,
)
QuantizedConcatV2 = op(
    f"QuantizedConcatV2(values:N*T, axis:Tidx, input_mins:N*float, input_maxes:N*float) -> {_CONCAT}; "
    "Tidx: type in [int32,int64] = int32",
    gradient=UNDEFINED,
)


@QuantizedReshape.shape
def _(tensor, shape, input_min, input_max):
    return [registry["Reshape"].shape_fn(tensor, shape), (), ()]


@QuantizedReshape.kernel
def _(xp, tensor, shape, input_min, input_max):
    low, high = scalar(input_min, "input_min"), scalar(input_max, "input_max")
    return computed("Reshape", tensor, shape), np.float32(low), np.float32(high)


def _joined(values: list[Any], axis: int, lows: list[Any], highs: list[Any], kind: Any) -> Any:
    """Join arrays after bringing all to the widest range."""
    ranges = [(scalar(a, "input_mins"), scalar(b, "input_maxes")) for a, b in zip(lows, highs, strict=True)]
    low, high = min(0.0, *(a for a, _ in ranges)), max(b for _, b in ranges)
    rank = values[0].ndim
    if not -rank <= axis < rank or any(v.ndim != rank for v in values):
        raise invalid(f"concat_dim must be in [{-rank}, {rank}), and all values of one rank; got {axis}")
    if kind.is_quantized:
        values = [
            v if pair == (low, high) else boxed(from_floats(to_floats(plain(v), *pair, kind), low, high, kind), kind)
            for v, pair in zip(values, ranges, strict=True)
        ]
    try:
        return np.concatenate(values, axis), np.float32(low), np.float32(high)
    except ValueError as error:
        raise invalid(f"values do not fit together along axis {axis}: {error}") from None


def _axis(value: Any) -> int:
    if value.ndim:
        raise invalid(f"the axis to join along must be a scalar, got shape {show(value.shape)}")
    return int(value)


def _joined_dims(values: list[Known], axis: Known) -> Any:
    dims = [v.dims for v in values]
    if axis.dims:
        raise errors.StaticShapeError(f"the axis to join along must be a scalar, got shape {show(axis.dims)}")
    if axis.value is None or any(d is None for d in dims):
        return [None, (), ()]
    rank = len(dims[0])  # type: ignore[arg-type]
    at = int(axis.value)
    if any(len(d) != rank for d in dims) or not -rank <= at < rank:  # type: ignore[arg-type]
        raise errors.StaticShapeError(f"all values must have one rank that has the axis {at}: {dims}")
    lengths = [d[at] for d in dims]  # type: ignore[index]
    first = list(dims[0])  # type: ignore[arg-type]
    first[at] = None if None in lengths else sum(lengths)  # type: ignore[arg-type]
    return [tuple(first), (), ()]


QuantizedConcat.shape(lambda concat_dim, values, input_mins, input_maxes: _joined_dims(values, concat_dim))
QuantizedConcatV2.shape(lambda values, axis, input_mins, input_maxes: _joined_dims(values, axis))


@QuantizedConcat.kernel
def _(xp, concat_dim, values, input_mins, input_maxes, *, T):
    return _joined(values, _axis(concat_dim), input_mins, input_maxes, T)


@QuantizedConcatV2.kernel
def _(xp, values, axis, input_mins, input_maxes, *, T):
    return _joined(values, _axis(axis), input_mins, input_maxes, T)


# --- public functions -------------------------------------------------------------------------------------------------


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> tuple[Tensor, ...]:
    """Return floats as integers of few bits, and the range that these mean."""
    input = convert(input)
    if axis is not None and axis < 0:
        if input.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        axis %= input.shape.rank
    return QuantizeV2(
        input, min_range, max_range, T=dtypes.as_dtype(T), mode=mode, round_mode=round_mode, narrow_range=narrow_range,
        axis=-1 if axis is None else axis, ensure_minimum_range=ensure_minimum_range, name=name,
    )  # fmt: skip


def quantize_v2(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> tuple[Tensor, ...]:
    """`quantize` with TensorFlow 1's order of arguments."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis, ensure_minimum_range)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = dtypes.float32,
) -> Tensor:
    """Return what integers of few bits mean, given their range."""
    input = convert(input)
    if axis is not None and axis < 0:
        if input.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        axis %= input.shape.rank
    return Dequantize(
        input, min_range, max_range, mode=mode, narrow_range=narrow_range, axis=-1 if axis is None else axis,
        dtype=dtypes.as_dtype(dtype), name=name,
    )  # fmt: skip


def quantized_concat(
    concat_dim: Axis, values: TensorLike, input_mins: TensorLike, input_maxes: TensorLike, name: str | None = None
) -> tuple[Tensor, ...]:
    """Return quantised tensors joined along an axis, brought to one range."""
    return QuantizedConcat(concat_dim, values, input_mins, input_maxes, name=name)


def quantized_avg_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return means over windows of a quantised tensor."""
    return QuantizedAvgPool(input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


def quantized_max_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return maxima over windows of a quantised tensor."""
    return QuantizedMaxPool(input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


def quantized_conv2d(
    input: TensorLike,
    filter: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_filter: TensorLike,
    max_filter: TensorLike,
    strides: Sizes,
    padding: Padding,
    out_type: DTypeLike = dtypes.qint32,
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return the convolution of quantised images."""
    return QuantizedConv2D(
        input, filter, min_input, max_input, min_filter, max_filter, strides=strides, padding=padding,
        out_type=out_type, dilations=list(dilations), name=name,
    )  # fmt: skip


def quantized_relu_x(
    features: TensorLike,
    max_value: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = dtypes.quint8,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return quantised numbers cut off below zero and above `max_value`."""
    return QuantizedReluX(features, max_value, min_features, max_features, out_type=out_type, name=name)
