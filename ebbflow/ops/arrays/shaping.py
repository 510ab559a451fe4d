"""The shape of arrays: asking for it, and changing it while the elements stay (reshape, transpose, squeeze).

Kernels give views wherever NumPy can. Shape functions (`shape`, `size`, `rank`) are constants in a graph where the
static shape is known, as in TensorFlow. Imports `creation`; imported by `array` and the families behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import Axis, DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.quick import int32, int32s, result_of
from ebbflow.ops.sizes import INT64_MAX, invalid, is_static, like, product, scalar_value, vector

# --- asking for it ----------------------------------------------------------------------------------------------------

Shape = op(
    "Shape(input:T) -> (output:out_type) | T: type; out_type: index = int32", gradient=FLAT, facts="static small"
)


@Shape.shape
def _(input):
    return (input.rank,)


@Shape.kernel
def _(xp, input, *, out_type):
    return np.array(input.shape, out_type.np)


ShapeN = op(
    "ShapeN(input:N*T) -> (output:N*out_type) | N: int >= 1; T: type; out_type: index = int32",
    gradient=FLAT,
    facts="static small",
)


@Shape.from_dims
@ShapeN.from_dims
def _(dims, dtype):
    return None if None in dims else np.array(dims, dtype)


@ShapeN.shape
def _(input):
    return [(x.rank,) for x in input]


@ShapeN.kernel
def _(xp, input, *, out_type):
    return [np.array(x.shape, out_type.np) for x in input]


Size = op("Size(input:T) -> (output:out_type) | T: type; out_type: index = int32", gradient=FLAT, facts="static small")
Size.shape(lambda input: ())


@Size.kernel
def _(xp, input, *, out_type):
    count = math.prod(input.shape)
    if out_type is dtypes.int32 and count > np.iinfo(np.int32).max:
        raise invalid(f"Number of elements was larger than representable by 32-bit output type: {count}")
    return np.array(count, out_type.np)


@Size.from_dims
def _(dims, dtype):
    count = None if None in dims else math.prod(dims)
    return None if count is None or count > np.iinfo(dtype).max else np.array(count, dtype)


Rank = op("Rank(input:T) -> (output:int32) | T: type", gradient=FLAT, facts="static small")
Rank.shape(lambda input: ())
Rank.kernel(lambda xp, input: np.array(input.ndim, np.int32))
Rank.from_dims(lambda dims, dtype: np.array(len(dims), dtype))

# --- reshape ----------------------------------------------------------------------------------------------------------

Reshape = op(
    "Reshape(tensor:T, shape:Tshape) -> (output:T) | T: type; Tshape: index = int32",
    facts="view free light cheap arranges static portable sizes=shape",
)


@Reshape.shape
def _(tensor, shape):
    if shape.rank not in (None, 0, 1):
        raise errors.StaticShapeError(f"sizes input must be 1-D, not {show(shape.dims)}")
    value = shape.value
    asked = shape.as_dims if value is None else value.reshape(-1).tolist()
    if asked is None:
        return None
    if value is not None:
        for size in asked:
            if size < -1:
                raise errors.StaticShapeError(f"Invalid value in tensor used for shape: {size}")
        asked = tuple(None if n == -1 else n for n in asked)
    count = None if tensor.dims is None else product(tensor.dims)
    if count is not None:
        return _fitted(asked, count)
    _check_factors(tensor.dims, asked)
    return asked


def _check_factors(dims: tuple[int | None, ...] | None, asked: tuple[int | None, ...]) -> None:
    """Refuse a shape whose number of elements is no multiple of the lengths that are known."""
    if dims is None or None in asked:
        return
    known, wanted = math.prod(n for n in dims if n is not None), math.prod(n for n in asked if n is not None)
    if wanted % known:
        raise errors.StaticShapeError(f"Dimension size must be evenly divisible by {known} but is {wanted}")


def _fitted(asked: tuple[int | None, ...], count: int) -> tuple[int | None, ...]:
    """Return `asked` with its one unknown length, if there is one, found from the number of elements."""
    known = math.prod(n for n in asked if n is not None)
    gaps = asked.count(None)
    if (gaps == 0 and known != count) or (known == 0 and count):
        raise errors.StaticShapeError(
            f"Cannot reshape a tensor with {count} elements to shape {show(asked)} ({known} elements)"
        )
    if gaps != 1 or known == 0:
        return asked
    if count % known:
        raise errors.StaticShapeError(f"Dimension size must be evenly divisible by {known} but is {count}")
    return tuple(count // known if n is None else n for n in asked)


@Reshape.kernel
def _(xp, tensor, shape):
    sizes = [int(shape)] if not shape.ndim else shape.tolist()
    try:
        if len(sizes) and min(sizes) < -1:
            raise ValueError
        return tensor.reshape(sizes)
    except (ValueError, TypeError):
        return tensor.reshape(_explained(tensor.shape, shape, sizes))


def _explained(dims: tuple[int, ...], shape: Any, sizes: Any) -> list[int]:
    """Return what NumPy could not find out about an empty tensor's new shape, or raise what is wrong with it."""
    if shape.ndim > 1:
        raise invalid(f"sizes input must be 1-D, not {show(shape.shape)}")
    gaps = [i for i, n in enumerate(sizes) if n == -1]
    for i, n in enumerate(sizes):
        if n < -1:
            raise invalid(f"Size {i} must be non-negative, not {n}")
    if len(gaps) > 1:
        raise invalid(f"Only one input size may be -1, not both {gaps[0]} and {gaps[1]}")
    count, known = math.prod(dims), math.prod(n for n in sizes if n != -1)
    if known > INT64_MAX:
        raise invalid(f"Shape {sizes} has too many elements")
    if gaps and known == 0 and count == 0:
        there = math.prod(n for n in dims if n)
        asked = math.prod(n for n in sizes if n > 0)
        if there % asked == 0:
            return [there // asked if n == -1 else n for n in sizes]
    rule = f"requires a multiple of {known}" if gaps else f"has {known}"
    raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape {rule}")


@Reshape.gradient
def _(call, grad):
    return like(grad, call.tensor), None


ExpandDims = op(
    "ExpandDims(input:T, dim:Tdim) -> (output:T) | T: type; Tdim: index = int32",
    facts="view free light cheap arranges static sizes=dim",
)


@ExpandDims.shape
def _(input, dim):
    if dim.dims is not None and product(dim.dims) not in (None, 1):
        raise errors.StaticShapeError("'dim' must be a tensor with a single value")
    if input.dims is None or dim.value is None:
        return None
    at, rank = int(dim.value.reshape(())), len(input.dims)
    if not -rank - 1 <= at <= rank:
        raise errors.StaticShapeError(f"dim {at} not in the interval [{-rank - 1}, {rank}].")
    at += rank + 1 if at < 0 else 0
    return (*input.dims[:at], 1, *input.dims[at:])


@ExpandDims.kernel
def _(xp, input, dim):
    if dim.size != 1:
        raise invalid("'dim' must be a tensor with a single value")
    at, dims = int(dim.reshape(())), input.shape
    rank = len(dims)
    if not -rank - 1 <= at <= rank:
        raise invalid(f"Tried to expand dim index {at} for tensor with {rank} dimensions.")
    at += rank + 1 if at < 0 else 0
    return input.reshape((*dims[:at], 1, *dims[at:]))


@ExpandDims.gradient
def _(call, grad):
    return like(grad, call.input), None


Squeeze = op(
    "Squeeze(input:T) -> (output:T) | T: type; squeeze_dims: list(int) >= 0 = []",
    facts="view free light cheap arranges static portable",
)


def _squeezed(dims: Any, axes: Any) -> tuple[Any, ...]:
    rank = len(dims)
    drop = set()
    for axis in axes:
        if not -rank <= axis < rank:
            raise errors.StaticShapeError(f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions.")
        if dims[axis] not in (1, None):
            raise errors.StaticShapeError(
                f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {dims[axis]}"
            )
        drop.add(axis % rank)
    return tuple(n for i, n in enumerate(dims) if (i not in drop if axes else n != 1))


@Squeeze.shape
def _(input, *, squeeze_dims):
    if input.dims is None or (not squeeze_dims and None in input.dims):
        return None
    return _squeezed(input.dims, squeeze_dims)


@Squeeze.kernel
def _(xp, input, *, squeeze_dims):
    return input.reshape(_squeezed(input.shape, squeeze_dims))


@Squeeze.gradient
def _(call, grad):
    return like(grad, call.input)


# --- transpose --------------------------------------------------------------------------------------------------------

Transpose = op(
    "Transpose(x:T, perm:Tperm) -> (y:T) | T: type; Tperm: index = int32",
    facts="view light cheap arranges static portable known=perm",
)
ConjugateTranspose = op(
    "ConjugateTranspose(x:T, perm:Tperm) -> (y:T) | T: type; Tperm: index = int32", facts="portable known=perm"
)


@ConjugateTranspose.shape
@Transpose.shape
def _(x, perm):
    count = vector(perm, "perm")
    rank = x.rank if x.rank is not None else count
    if rank is None:
        return None
    if count is not None and count != rank:
        raise errors.StaticShapeError(f"Dimension must be {rank} but is {count}")
    if perm.value is None or x.dims is None:
        return (x.dims[0],) if rank == 1 and x.dims else (None,) * rank
    order = perm.value.tolist()
    for axis in order:
        if not -rank <= axis < rank:
            raise errors.StaticShapeError(f"perm dim {axis} is out of range of input rank {rank}")
    return tuple(x.dims[axis] for axis in order)


def _transposed(xp: Any, x: Any, perm: Any) -> Any:
    order = perm.tolist()
    try:
        return x.transpose(order)
    except (ValueError, TypeError, IndexError):
        raise _bad_order(x.ndim, perm) from None


def _bad_order(rank: int, perm: Any) -> errors.InvalidArgumentError:
    if perm.ndim != 1:
        return invalid(f"perm must be rank 1, got shape {show(perm.shape)}")
    order = perm.tolist()
    if len(order) != rank:
        return invalid(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(order)}")
    for axis in order:
        if not -rank <= axis < rank:
            return invalid(f"{axis} is out of range [0 .. {rank})")
    missing = next(i for i in range(rank) if i not in [axis % rank for axis in order])
    return invalid(f"{missing} is missing from {{{','.join(map(str, order))}}}.")


Transpose.kernel(_transposed)


@ConjugateTranspose.kernel
def _(xp, x, perm):
    moved = _transposed(xp, x, perm)
    return xp.conj(moved) if moved.dtype.kind == "c" else moved


def _inverse(perm: Any, as_node: bool = False) -> Any:
    value = perm.constant_value()
    if value is None or (as_node and value.min(initial=0) >= 0):
        return raw.InvertPermutation(perm)
    back = np.argsort(value % max(value.size, 1)).astype(value.dtype)
    return wrap(back, perm.dtype) if perm.__class__ is EagerTensor else back


@Transpose.gradient
def _(call, grad):
    return Transpose(grad, _inverse(call.perm), name="transpose"), None


@Transpose.gradient_by_name
def _(call, grad):
    return Transpose(grad, _inverse(call.perm, as_node=True), name="transpose"), None


@ConjugateTranspose.gradient
def _(call, grad):
    return ConjugateTranspose(grad, _inverse(call.perm), name="transpose"), None


@ConjugateTranspose.gradient_by_name
def _(call, grad):
    return ConjugateTranspose(grad, _inverse(call.perm, as_node=True), name="transpose"), None


# --- public: asking for it --------------------------------------------------------------------------------------------


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return the shape of `input` as an integer vector.

    >>> shape([[1, 2, 3]]).numpy().tolist()
    [1, 3]
    """
    kind = dtypes.int32 if out_type is None else as_dtype(out_type)
    if isinstance(input, (SparseTensor, SparseTensorValue)):
        return raw.Cast(convert(input.dense_shape, dtypes.int64), DstT=kind)
    ragged_shape = getattr(input, "_dynamic_shape", None)
    if ragged_shape is not None:
        return ragged_shape(out_type)
    graph = building()
    if graph is None:
        if kind is dtypes.int32 and input.__class__ is EagerTensor:
            return int32s(input._array.shape)
        return Shape(input if input.__class__ is EagerTensor else convert(input), out_type=kind)
    with name_scope(name, "Shape", [input]) as scope:
        tensor = convert(input)
        if is_static(tensor):
            return graph.constant(np.array(tensor._dims, kind.np), kind, scope)
        return Shape(tensor, out_type=kind, name=scope)


def shape_internal(
    input: TensorLike, name: str | None = None, optimize: bool = True, out_type: DTypeLike | None = None
) -> Tensor:
    """Return the shape of a tensor; with `optimize=False` always as a node (`array_ops.shape_internal`)."""
    if optimize:
        return shape(input, out_type=out_type, name=name)
    return raw.Shape(input, out_type=dtypes.int32 if out_type is None else dtypes.as_dtype(out_type), name=name)


def shape_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the shape of `input` as an integer vector."""
    return shape(input, out_type, name)


def shape_n(input: Sequence[TensorLike], out_type: DTypeLike = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """Return the shapes of several tensors."""
    return ShapeN(list(input), out_type=out_type, name=name)


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return how many elements `input` has.

    >>> int(size([[1, 2, 3]]))
    3
    """
    kind = dtypes.int32 if out_type is None else as_dtype(out_type)
    if isinstance(input, (SparseTensor, SparseTensorValue)):
        return raw.Prod(shape(input, kind), [0], name=name)
    graph = building()
    if graph is None:
        counted = kind if kind in (dtypes.int32, dtypes.int64) else dtypes.int64
        count = Size(input if input.__class__ is EagerTensor else operand(input), out_type=counted)
        return count if counted is kind else raw.Cast(count, DstT=kind)
    with name_scope(name, "Size", [input]) as scope:
        tensor = operand(input)
        if isinstance(tensor, Tensor) and is_static(tensor):
            return graph.constant(np.array(math.prod(tensor._dims), kind.np), kind, scope)
        return Size(tensor, out_type=kind, name=scope)


def size_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return how many elements `input` has."""
    return size(input, out_type, name)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """Return how many axes `input` has.

    >>> int(rank([[1, 2, 3]]))
    2
    """
    if isinstance(input, (SparseTensor, SparseTensorValue)):
        return size(input.dense_shape, name=name)
    graph = building()
    if graph is None:
        return Rank(input if input.__class__ is EagerTensor else operand(input))
    with name_scope(name, "Rank", [input]) as scope:
        tensor = operand(input)
        if getattr(tensor, "_dims", None) is not None:
            return graph.constant(np.array(len(tensor._dims), np.int32), dtypes.int32, scope)
        return Rank(tensor, name=scope)


# --- public: changing it ----------------------------------------------------------------------------------------------


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return the elements of `tensor` in another shape; one length may be -1 and is then found.

    >>> reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    if (
        tensor.__class__ is EagerTensor
        and not context.graph_scopes
        and (shape.__class__ is list or shape.__class__ is tuple)
    ):
        try:
            if min(shape) < -1:
                return Reshape(tensor, shape)
            array = tensor._array.reshape(shape)
        except Exception:  # the full path explains it
            return Reshape(tensor, shape)
        return _reshaped(Reshape, tensor, int32s(array.shape), array)
    return Reshape(tensor, shape, name=name)


def _reshaped(op: Any, x: Any, how: Any, array: Any) -> Any:
    attr = "Tshape" if op is Reshape else "Tdim" if op is ExpandDims else "Tperm"
    return result_of(op, (x, how), array, x._dtype, {"T": x._dtype, attr: how._dtype})


def expand_dims(input: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Return `input` with an axis of length 1 put in at `axis`.

    >>> expand_dims([1, 2], 0).numpy().tolist()
    [[1, 2]]
    """
    if input.__class__ is EagerTensor and axis.__class__ is int and not context.graph_scopes:
        dims = input._array.shape
        at = axis + len(dims) + 1 if axis < 0 else axis
        if 0 <= at <= len(dims):
            return _reshaped(ExpandDims, input, int32(axis), input._array.reshape((*dims[:at], 1, *dims[at:])))
    return ExpandDims(input, axis, name=name)


def expand_dims_v1(input: TensorLike, axis: Axis = None, name: str | None = None, dim: Axis = None) -> Tensor:
    """Return `input` with an axis of length 1 put in at `axis` (once called `dim`)."""
    if axis is None and dim is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    return ExpandDims(input, dim if axis is None else axis, name=name)


def squeeze(input: TensorLike, axis: Axis = None, name: str | None = None) -> Tensor:
    """Return `input` without its axes of length 1, or without those of them that `axis` names.

    >>> squeeze([[1], [2]]).numpy().tolist()
    [1, 2]
    """
    axes = [] if axis is None else [axis] if np.isscalar(axis) else axis
    if input.__class__ is EagerTensor and not context.graph_scopes and axes.__class__ is list:
        try:
            array = input._array.reshape(_squeezed(input._array.shape, axes))
        except Exception:  # the full path explains it
            return Squeeze(input, squeeze_dims=axes)
        return result_of(Squeeze, (input,), array, input._dtype, {"T": input._dtype, "squeeze_dims": tuple(axes)})
    return Squeeze(input, squeeze_dims=axes, name=name)


def squeeze_v1(input: TensorLike, axis: Axis = None, name: str | None = None, squeeze_dims: Axis = None) -> Tensor:
    """Return `input` without its axes of length 1 (`squeeze_dims` is the old name of `axis`)."""
    if axis is not None and squeeze_dims is not None:
        raise ValueError("Cannot specify both 'squeeze_dims' and 'axis'.")
    return squeeze(input, squeeze_dims if axis is None else axis, name)


def transpose(
    a: TensorLike, perm: TensorLike | None = None, conjugate: bool = False, name: str = "transpose"
) -> Tensor:
    """Return `a` with its axes in the order `perm` (reversed when none is given).

    >>> transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if building() is None:
        a = a if a.__class__ is EagerTensor else convert(a)
        if perm is None:
            perm = int32s(tuple(range(a._array.ndim - 1, -1, -1)))
        elif (perm.__class__ is list or perm.__class__ is tuple) and all([n.__class__ is int for n in perm]):
            perm = int32s(tuple(perm))
        if conjugate and a.dtype.is_complex:
            return ConjugateTranspose(a, perm)
        if perm.__class__ is EagerTensor:
            try:
                return _reshaped(Transpose, a, perm, a._array.transpose(perm._array.tolist()))
            except Exception:  # the full path explains it
                return Transpose(a, perm)
        return Transpose(a, perm)
    with name_scope(name or "transpose", None, [a]) as scope:
        a = convert(a, None, None, "a")
        chosen = ConjugateTranspose if conjugate and a.dtype.is_complex else Transpose
        if perm is None:
            if a._dims is None:
                perm = _reversed_axes(raw.Rank(a))
            else:
                perm = np.arange(len(a._dims) - 1, -1, -1, dtype=np.int32)
        return chosen(a, perm, name=scope)


def _reversed_axes(rank: Any) -> Any:
    last = raw.Sub(rank, 1, name="sub")
    if context.switches.tf1:
        return raw.Sub(last, raw.Range(0, rank, 1), name="sub")
    return raw.Range(last, -1, -1)


def transpose_v1(
    a: TensorLike, perm: TensorLike | None = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """Return `a` with its axes in the order `perm` (reversed when none is given)."""
    return transpose(a, perm, conjugate, name)


def matrix_transpose(a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Return `a` with its last two axes exchanged.

    >>> matrix_transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    with name_scope(name or "matrix_transpose", None, [a]):
        a = convert(a, None, None, "a")
        if a._dims is None:
            count = raw.Rank(a)
            front = raw.Range(0, raw.Sub(count, 2, name="sub"), 1)
            last = [raw.Sub(count, 1, name="sub"), raw.Sub(count, 2, name="sub")]
            return transpose(a, raw.ConcatV2([front, last], 0, name="concat"), conjugate)
        axes = len(a._dims)
        if axes < 2:
            raise ValueError(
                f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: {a.shape}"
            )
        return transpose(a, [*range(axes - 2), axes - 1, axes - 2], conjugate)


def checked_scalar(arg: Any, name: str) -> Any:
    """Return the value of an input that is one integer (a vector of one serves too), or None where it is not known."""
    if arg.dims == (1,) and arg.value is not None:
        return arg.value[0]
    return scalar_value(arg, name)
