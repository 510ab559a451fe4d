"""Values out of nothing, and values passed on as they are: constants, fills, placeholders, identities.

Eagerly `constant`, `zeros` and `ones` make arrays without calling an op, since no gradient could flow through them;
in a graph they come out as TensorFlow's nodes (a small fill is a Const, a large one a Fill). Knows how arrays are
made and which names nodes get; what is done with arrays afterwards is in `array` and the families behind it.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import (
    check_fits_a_graph,
    convert,
    holds_tensors,
    register_tensor_conversion_function,
    to_array,
)
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.op import op, tagged
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.source import short
from ebbflow.core.tensor import EagerTensor, Tensor, is_tensor, wrap
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.declare import FLAT, raw, same, show
from ebbflow.ops.quick import numbers, result_of
from ebbflow.ops.sizes import all_axes, int_vector, invalid, is_static, lengths, room_for
from ebbflow.ops.state.list_value import zeros_like as zero_variants

SMALL_FILL = 1000
"""A fill of fewer elements than this is written into the graph as a Const."""


def building() -> Any:
    """Return the graph being built here, or None where ops run at once."""
    return context.current_graph() if context.graph_scopes else None


def filled(dims: Any, value: Any, dtype: DType) -> np.ndarray:
    """Return a new array of one value; zeros of strings are empty strings."""
    dims = tuple(dims)
    room_for(dims, dtype.np.itemsize)
    if dtype.np.hasobject:
        array = np.empty(dims, object)
        array.fill(value)
        return array
    return np.zeros(dims, dtype.np) if not value else np.full(dims, value, dtype.np)


# --- constants --------------------------------------------------------------------------------------------------------

Const = op("Const() -> (output:dtype) | value: tensor; dtype: type", gradient=FLAT, facts="static")


@Const.shape
def _(*, value):
    return value.shape


@Const.kernel
def _(xp, *, value):
    return value


# --- passing on -------------------------------------------------------------------------------------------------------


def _as_is(xp, input):
    return input


def _grad_as_is(call, grad):
    return grad


Identity = op(
    "Identity(input:T) -> (output:T) | T: type",
    shape=same,
    kernel=_as_is,
    gradient=_grad_as_is,
    facts="same free light cheap static",
)
Snapshot = op(
    "Snapshot(input:T) -> (output:T) | T: type", shape=same, kernel=_as_is, gradient=_grad_as_is, facts="same"
)
StopGradient = op(
    "StopGradient(input:T) -> (output:T) | T: type",
    shape=same,
    kernel=_as_is,
    gradient=FLAT,
    facts="same free cheap static",
)
GuaranteeConst = op(
    "GuaranteeConst(input:T) -> (output:T) | T: type | stateful", shape=same, kernel=_as_is, gradient=_grad_as_is
)
Copy = op(
    'Copy(input:T) -> (output:T) | T: type; tensor_name: string = ""; debug_ops_spec: list(string) = []'
    " | allows_uninitialized_input",
    shape=same,
    kernel=lambda xp, input: xp.array(input),
    gradient=_grad_as_is,
    facts="portable",
)
CopyHost = op(
    'CopyHost(input:T) -> (output:T) | T: type; tensor_name: string = ""; debug_ops_spec: list(string) = []'
    " | allows_uninitialized_input",
    shape=same,
    kernel=lambda xp, input: xp.array(input),
    gradient=_grad_as_is,
    facts="portable",
)
DeepCopy = op(
    "DeepCopy(x:T) -> (y:T) | T: type | stateful", shape=same, kernel=lambda xp, x: xp.array(x), gradient=FLAT
)
IdentityN = op(
    "IdentityN(input:list(T)) -> (output:list(T)) | T: list(type) >= 1",
    shape=lambda input: [x.dims for x in input],
    kernel=lambda xp, input: list(input),
    gradient=lambda call, *grads: list(grads),
    facts="view",
)
PreventGradient = op(
    'PreventGradient(input:T) -> (output:T) | T: type; message: string = ""', shape=same, kernel=_as_is, facts="same"
)


@PreventGradient.gradient
def _(call, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {call.message!r}")


# --- fills ------------------------------------------------------------------------------------------------------------

ZerosLike = op("ZerosLike(x:T) -> (y:T) | T: type", shape=same, gradient=FLAT, facts="fresh free cheap arranges static")


@ZerosLike.kernel
def _(xp, x, *, T):
    if T is dtypes.variant:
        return zero_variants(x)
    return filled(x.shape, b"" if T is dtypes.string else 0, T) if x.dtype.hasobject else xp.zeros_like(x)


OnesLike = op(
    "OnesLike(x:T) -> (y:T) | T: type in [bfloat16,half,float,double,integers,complexes,bool]",
    shape=same,
    kernel=lambda xp, x: xp.ones_like(x),
    gradient=FLAT,
    facts="fresh free cheap arranges static portable",
)


def _everywhere(number: int) -> Any:
    """Return how an array of one number follows from its shape: it takes the memory of one."""

    def from_dims(dims: Any, dtype: Any) -> Any:
        return None if None in dims or dtype.hasobject else np.broadcast_to(np.array(number, dtype), dims)

    return from_dims


ZerosLike.from_dims(_everywhere(0))
OnesLike.from_dims(_everywhere(1))

Fill = op(
    "Fill(dims:index_type, value:T) -> (output:T) | T: type; index_type: index = int32",
    facts="fresh free cheap arranges repeats=value static portable sizes=dims",
)


@Fill.shape
def _(dims, value):
    if value.dims not in (None, (), (1,)):
        raise errors.StaticShapeError(f"value must represent a scalar, got shape {show(value.dims)}")
    if dims.rank not in (None, 1):
        raise errors.StaticShapeError(f"dims must represent a vector, got shape {show(dims.dims)}")
    return lengths(dims, "dims")


@Fill.kernel
def _(xp, dims, value):
    dims = dims.tolist() if dims.ndim else [dims.item()]  # one length alone stands for a list of it, but in a graph
    if value.ndim and value.shape != (1,):
        raise invalid(f"value must represent a scalar, got shape {show(value.shape)}")
    room_for(dims, value.dtype.itemsize)
    if value.dtype.hasobject:
        return filled(dims, value.reshape(())[()], dtypes.string)
    return xp.full(dims, value, dtype=value.dtype)


@Fill.gradient
def _(call, grad):
    return None, raw.Sum(grad, all_axes(grad))


Empty = op(
    "Empty(shape:int32) -> (output:dtype) | dtype: type; init: bool = false | stateful",
    gradient=FLAT,
    facts="unchecked beside",
)


@Empty.shape
def _(shape):
    if shape.rank not in (None, 1):
        raise errors.StaticShapeError(f"shape must be a vector of int32, got shape {show(shape.dims)}")
    return lengths(shape, "shape")


@Empty.kernel
def _(xp, shape, *, dtype):
    return filled(shape.tolist(), b"" if dtype is dtypes.string else 0, dtype)


# --- public: constants ------------------------------------------------------------------------------------------------


def constant(value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str = "Const") -> Tensor:
    """Return a tensor with the elements of `value`, repeated to `shape` where it is one element.

    >>> constant([1, 2]).numpy().tolist()
    [1, 2]
    >>> constant(0.5, shape=[2]).numpy().tolist()
    [0.5, 0.5]
    """
    if dtype is not None and dtype.__class__ is not DType:
        dtype = as_dtype(dtype)
    graph = context.current_graph() if context.graph_scopes else None
    if graph is not None:
        return _graph_constant(graph, value, dtype, shape, name, verify_shape=False, pads=False)
    if isinstance(value, Tensor):
        tensor = _same_tensor(value, dtype)
    elif value.__class__ is list and (found := numbers(value, dtype)) is not None:
        tensor = EagerTensor(*found)
    elif isinstance(value, (list, tuple)) and holds_tensors(value):
        tensor = convert(value, dtype)
    else:
        tensor = EagerTensor(*_array(value, dtype))
    return tensor if shape is None else _shaped(tensor, value, as_dims(shape))


def constant_v1(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """Return a tensor with the elements of `value`; in a graph the last one is repeated to fill `shape`."""
    graph = building()
    if graph is None:
        tensor = constant(value, dtype)
        if shape is None:
            return tensor
        wanted = as_dims(shape)
        if verify_shape and tensor._dims != wanted:
            raise TypeError(
                f"Expected Tensor {tensor.numpy()} (converted from {value!r}) with shape {wanted}, "
                f"but got shape {tensor._dims}."
            )
        return _shaped(tensor, value, wanted)
    return _graph_constant(
        graph, value, None if dtype is None else as_dtype(dtype), shape, name, verify_shape, pads=True
    )


def _array(value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if dtype is not None and isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        array = np.array(value, order="C")  # what NumPy holds is cast, whatever is lost
        if (array.dtype.kind == "f" and dtype.is_integer) or (array.dtype.kind == "c" and not dtype.is_complex):
            return array.real.astype(dtype.np), dtype
    return to_array(value, dtype)


def _same_tensor(value: Tensor, dtype: DType | None) -> Tensor:
    if value.__class__ is not EagerTensor:
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {value!r}")
    if dtype is not None and value.dtype is not dtype:
        raise TypeError(f"Expected tensor {value.numpy()} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
    return value


def _shaped(tensor: Any, value: Any, dims: Any) -> Tensor:
    array = tensor._array
    if array.shape == dims:
        return tensor
    count = math.prod(dims)
    if array.size == count:
        return wrap(array.reshape(dims), tensor._dtype)
    if array.size == 1:
        return wrap(filled(dims, array.reshape(())[()], tensor._dtype), tensor._dtype)
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value!r}) has "
        f"{array.size} elements, but got `shape` {dims} with {count} elements)."
    )


def _graph_constant(graph, value, dtype, shape, name, verify_shape, pads):
    if _has_symbolic(value):
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    check_fits_a_graph(value._array if isinstance(value, EagerTensor) else value, dtype)
    dims = None if shape is None else as_dims(shape)
    if isinstance(value, Tensor):
        array, found = np.array(_same_tensor(value, dtype)._array), value.dtype
    elif dims is not None and not math.prod(dims):  # TensorFlow does not look at a value of which nothing is taken
        array, found = _array([], dtype)
    else:
        array, found = _array(value, dtype)
    if dims is not None:
        array = _graph_shaped(array, dims, found, verify_shape and array.size > 0, pads)
    return graph.constant(array, found, name or "Const")


def _has_symbolic(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_symbolic(item) for item in value)
    return isinstance(value, Tensor) and value.__class__ is not EagerTensor


def _graph_shaped(array: np.ndarray, dims: Any, dtype: DType, verify_shape: bool, pads: bool) -> np.ndarray:
    count = math.prod(dims)
    if array.shape != dims and (verify_shape or (not pads and array.size not in (1, count))):
        raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
    if array.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {array.size}.")
    if array.size == count or not array.size:
        return array.reshape(dims)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), dims)  # one element in memory, and in the GraphDef
    flat = filled((count,), array.reshape(-1)[-1], dtype)
    flat[: array.size] = array.reshape(-1)
    return flat.reshape(dims)


def convert_to_tensor_or_indexed_slices(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """Return `value` as a tensor, or as it is where it is an IndexedSlices of that dtype."""
    if not isinstance(value, IndexedSlices):
        return convert(value, None if dtype is None else as_dtype(dtype), None, name)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {as_dtype(dtype).name} for tensor with dtype {value.dtype.name}: "
            f"{value!r}"
        )
    return value


def indexed_slices_to_tensor(value, dtype=None, name=None, as_ref=False):
    """Return the dense tensor that an IndexedSlices stands for: rows of one index are added up."""
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    return raw.UnsortedSegmentSum(value.values, value.indices, value.dense_shape[0], name=name)


register_tensor_conversion_function(IndexedSlices, indexed_slices_to_tensor)


# --- public: fills ----------------------------------------------------------------------------------------------------


def zeros(
    shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: object = None
) -> Tensor:
    """Return a tensor of zeros (empty strings, False).

    >>> zeros([2]).numpy().tolist()
    [0.0, 0.0]
    """
    dtype = as_dtype(dtype).base_dtype
    zero = False if dtype is dtypes.bool else b"" if dtype is dtypes.string else 0
    return _all_of(zero, shape, dtype, name, "zeros")


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: object = None) -> Tensor:
    """Return a tensor of ones.

    >>> ones([2], dtypes.int32).numpy().tolist()
    [1, 1]
    """
    dtype = as_dtype(dtype).base_dtype
    if dtype is dtypes.string:
        raise TypeError("Cannot convert 1 to a Tensor of dtype string")
    return _all_of(True if dtype is dtypes.bool else 1, shape, dtype, name, "ones")


def _all_of(value: Any, shape: Any, dtype: DType, name: str | None, default: str) -> Tensor:
    if hasattr(type(shape), "_op_form"):  # a ragged shape
        return Fill(shape, convert(value, dtype))
    graph = building()
    if graph is None:
        try:
            return wrap(filled(plain_dims(shape), value, dtype), dtype)
        except errors.OpError as error:
            raise short(tagged(error, Fill)) from None
    with name_scope(name, default, [shape]) as scope:
        dims = None if _has_tensor(shape) else plain_dims(_whole_lengths(shape))
        small = dims is not None and hasattr(shape, "__len__") and math.prod(dims) < SMALL_FILL
        if dims is not None and small and min(dims, default=0) >= 0:  # what a number alone is the shape of is filled
            return graph.constant(np.broadcast_to(filled((), value, dtype), dims), dtype, scope)
        if dims is None and context.switches.tf1 and isinstance(shape, (list, tuple)):
            functools.reduce(operator.mul, shape) < SMALL_FILL  # noqa: B015  (1.15 left these nodes in the graph)
        if dims is not None:
            shape = graph.constant(int_vector(dims), dtypes.int32, "shape_as_tensor")
        elif not isinstance(shape, Tensor):
            shape = convert(shape, None, dtypes.int32)
        if shape._dims is not None and len(shape._dims) != 1:
            shape = raw.Reshape(shape, [-1])
        return Fill(shape, graph.constant(filled((), value, dtype), dtype, "Const"), name=scope)


def _whole_lengths(shape: Any) -> Any:
    """Return a shape with floats in it as integers: graphs take `[n / 2, n]`."""
    array = np.asarray(shape) if isinstance(shape, (list, tuple, float, np.ndarray, np.floating)) else None
    return shape if array is None or array.dtype.kind != "f" else np.atleast_1d(array).astype(np.int64)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor) or is_tensor(value)


def plain_dims(shape: Any) -> Any:
    """Return a shape (a number, a list, an array, an eager tensor, a TensorShape) as a sequence of Python ints."""
    kind = shape.__class__
    if kind is int:
        return (shape,)
    if (kind is list or kind is tuple) and all([n.__class__ is int for n in shape]):
        return shape
    if kind is TensorShape:
        if not shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
        return shape._dims
    if isinstance(shape, (list, tuple)):
        return [_plain_length(n) for n in shape]
    array = shape._array if kind is EagerTensor else to_array(shape)[0]
    if array.dtype.kind not in "iu":
        raise TypeError(f"Cannot convert {shape!r} to a Tensor of dtype int32")
    if array.ndim > 1:
        raise invalid(f"dims must represent a vector, got shape {show(array.shape)}")
    return array.reshape(-1).tolist()


def _plain_length(n: Any) -> int:
    if isinstance(n, (list, tuple)) or n is None:
        raise invalid(f"dims must represent a vector of lengths, but holds {n!r}")
    if isinstance(n, (float, np.floating, str, bytes)):
        raise TypeError(f"Cannot convert {n!r} to a length: it is not an integer")
    if n.__class__ is EagerTensor and n._dtype.is_floating and not n._array.ndim:
        return int(n._array)  # as a tensor in a list becomes part of any vector of integers
    return operator.index(n)


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None, layout: object = None) -> Tensor:
    """Return a tensor of shape `dims` whose every element is `value`.

    >>> fill([2, 2], 7).numpy().tolist()
    [[7, 7], [7, 7]]
    """
    return Fill(dims, value, name=name)


def zeros_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: object = None
) -> Tensor:
    """Return zeros of the input's shape.

    >>> zeros_like([1, 2]).numpy().tolist()
    [0, 0]
    """
    return zeros_like_v1(input, dtype, name)


def zeros_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return zeros of the tensor's shape; `optimize` lets a known shape become a Const."""
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    if hasattr(tensor, "_ragged_shape"):  # a structured tensor, which has no dtype
        return zeros(tensor._ragged_shape, dtype or dtypes.float32)
    if hasattr(tensor, "with_flat_values"):
        ragged: Any = tensor
        return ragged.with_flat_values(zeros_like_v1(ragged.flat_values, dtype, name, optimize))
    if building() is None and not hasattr(tensor, "read_value"):
        tensor = convert(tensor)
        dtype = dtype or tensor.dtype
        return ZerosLike(tensor) if dtype is dtypes.variant else zeros(tensor._dims, dtype)
    return _like("zeros_like", tensor, dtype, name, optimize)


def _like(kind: str, tensor: Any, dtype: DType | None, name: str | None, optimize: bool = True) -> Tensor:
    """Return zeros or ones like a variable or a tensor of a graph. But in TF 1, no variable of known shape is read."""
    fill, op = (zeros, ZerosLike) if kind == "zeros_like" else (ones, OnesLike)
    with name_scope(name, kind, [tensor]) as scope:
        if context.switches.tf1 or not is_tensor(tensor):
            tensor = convert(tensor, None, None, "tensor")
        found, shape = dtype or tensor.dtype.base_dtype, tensor.shape
        if optimize and shape.is_fully_defined() and found is not dtypes.variant:
            return fill(shape, found, scope)
        if found is tensor.dtype.base_dtype:
            return op(tensor, name=scope)
        return fill(raw.Shape(tensor), found, scope)


def ones_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: object = None
) -> Tensor:
    """Return ones of the input's shape.

    >>> ones_like([3, 4]).numpy().tolist()
    [1, 1]
    """
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    if hasattr(input, "_ragged_shape"):  # a structured tensor, which has no dtype
        return ones(input._ragged_shape, dtype or dtypes.float32)
    if hasattr(input, "with_flat_values"):
        ragged: Any = input
        return ragged.with_flat_values(ones_like(ragged.flat_values, dtype, name))
    if building() is None:
        tensor = convert(input)
        return OnesLike(tensor) if dtype is None or dtype is tensor.dtype else ones(tensor._dims, dtype)
    return _like("ones_like", input, dtype, name)


def ones_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Return ones of the tensor's shape; `optimize` lets a known shape become a Const."""
    graph = building()
    if graph is None or hasattr(tensor, "with_flat_values") or hasattr(tensor, "_ragged_shape"):
        return ones_like(tensor, dtype)
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert(tensor, None, None, "tensor")
        found = tensor.dtype.base_dtype if dtype is None else as_dtype(dtype).base_dtype
        if optimize and is_static(tensor):
            label = "Shape" if context.switches.tf1 else "Shape/shape_as_tensor"
            shape = graph.constant(int_vector(tensor._dims), dtypes.int32, label)
        else:
            shape = raw.Shape(tensor)
        return ones(shape, found, scope)


# --- public: passing on -----------------------------------------------------------------------------------------------


def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Return a tensor with the same value.

    >>> identity([1.0, 2.0]).numpy().tolist()
    [1.0, 2.0]
    """
    if input.__class__ is EagerTensor and not context.graph_scopes:
        return result_of(Identity, (input,), input._array, input._dtype, {"T": input._dtype})
    if isinstance(input, IndexedSlices):
        parts: list[Any] = [Identity(part, name=name) for part in input._flatten()]
        return input._unflatten(parts)  # type: ignore[return-value]
    if isinstance(input, CompositeTensor):
        return nest.map_structure(lambda part: Identity(part, name=name), input, expand_composites=True)
    return Identity(input, name=name)


def identity_n(input: TensorLike, name: str | None = None) -> list[Tensor]:
    """Return a list of tensors with the same values."""
    return IdentityN(input, name=name)


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the same value, through which no gradient flows back.

    >>> stop_gradient([1, 2]).numpy().tolist()
    [1, 2]
    """
    if input.__class__ is EagerTensor and not context.graph_scopes:
        return result_of(StopGradient, (input,), input._array, input._dtype, {"T": input._dtype})
    return StopGradient(input, name=name)


def prevent_gradient(input, message="", name=None):
    """Return the same value; asking for a gradient through it raises LookupError with `message`."""
    return PreventGradient(input, message=message, name=name)


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the same value, promised not to change between runs."""
    return GuaranteeConst(input, name=name)
