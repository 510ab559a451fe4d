"""Slices: `x[1:, ..., 0]`, `tf.slice`, `tf.strided_slice`, and their gradients.

One function, `numpy_index`, turns TensorFlow's begin/end/strides and their five bit masks into NumPy's index; the
kernels of slicing, of its gradient and of updating all stand on it. `__getitem__` is put on the tensor classes here:
on an eager tensor plain ints and slices are NumPy views at once; a boolean mask goes to `masks.boolean_mask`.
Variables slice by `slice_helper` too.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import borrowed, dispatches
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.op import op, record
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dimension, Dims
from ebbflow.core.tensor import EagerTensor, Tensor, _new, is_tensor, ndarray, wrap
from ebbflow.core.typing import TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.creation import building, constant, filled, ones_like_v1, zeros_like
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.sizes import INT32_MAX, invalid, is_static, lengths, room_for, shape_of, vector

_MASKS = (
    "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0"
)
MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

NEW_AXIS = None


# --- from bits and vectors to what is meant ---------------------------------------------------------------------------


def entries(rank: int, count: int, ellipsis_mask: int, new_axis_mask: int) -> list[tuple[int | None, int | None]]:
    """Return, for each axis of the result before shrinking, (axis of the input or None, place in the spec or None).

    An axis without a place is taken whole; a place without an axis is a new one.
    """
    if ellipsis_mask & (ellipsis_mask - 1):
        raise errors.StaticShapeError("Multiple ellipses in slice spec not allowed")
    marks = [i for i in range(count) if not (ellipsis_mask >> i) & 1 and not (new_axis_mask >> i) & 1]
    whole = rank - len(marks)
    if whole < 0:
        if rank == 0:
            raise errors.StaticShapeError("Attempting to slice scalar input.")
        raise errors.StaticShapeError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    found: list[tuple[int | None, int | None]] = []
    axis, spread = 0, False
    for i in range(count):
        if (ellipsis_mask >> i) & 1:
            found += [(axis + j, None) for j in range(whole)]
            axis, spread = axis + whole, True
        elif (new_axis_mask >> i) & 1:
            found.append((NEW_AXIS, i))
        else:
            found.append((axis, i))
            axis += 1
    if not spread:
        found += [(axis + j, None) for j in range(whole)]
    return found


def _one_entry(i: int, axis: int, length: Any, begin: Any, end: Any, stride: Any, masks: tuple[int, ...]) -> Any:
    """Return an int or a slice for place `i` of the spec; unknown numbers are None, and then None comes back."""
    begin_mask, end_mask, _, _, shrink_mask = masks
    if stride == 0:
        raise errors.StaticShapeError(f"strides[{i}] must be non-zero")
    if (shrink_mask >> i) & 1:
        if stride is not None and stride < 0:
            raise errors.StaticShapeError("only stride 1 allowed on non-range indexing.")
        if begin is None or length is None:
            return 0
        at = begin + length if begin < 0 else begin
        if not 0 <= at < length:
            raise errors.StaticShapeError(f"slice index {at} of dimension {axis} out of bounds.")
        return at
    start = None if (begin_mask >> i) & 1 else begin
    stop = None if (end_mask >> i) & 1 else end
    known = (
        stride is not None and (begin is not None or (begin_mask >> i) & 1) and (end is not None or (end_mask >> i) & 1)
    )
    return slice(start, stop, stride) if known else None


def numpy_index(dims: Any, begin: Any, end: Any, strides: Any, masks: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the index with which NumPy takes the slice of an array of shape `dims`."""
    if begin.ndim != 1 or begin.shape != end.shape or begin.shape != strides.shape:
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{show(begin.shape)}, {show(end.shape)}, and {show(strides.shape)} instead."
        )
    starts, stops, steps = begin.tolist(), end.tolist(), strides.tolist()
    index: list[Any] = []
    for axis, i in entries(len(dims), len(starts), masks[2], masks[3]):
        if i is None:
            index.append(slice(None))
        elif axis is None:
            index.append(None)
        else:
            index.append(_one_entry(i, axis, dims[axis], starts[i], stops[i], steps[i], masks))
    return (*index, ...)


def _sliced_dims(dims: Dims, begin: Any, end: Any, strides: Any, masks: tuple[int, ...]) -> Dims:
    counts = {n for n in (vector(a, "begin, end and strides") for a in (begin, end, strides)) if n is not None}
    if len(counts) > 1:
        raise errors.StaticShapeError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{show(begin.dims)}, {show(end.dims)}, and {show(strides.dims)} instead."
        )
    if not counts or dims is None:
        return None
    count = counts.pop()
    starts, stops, steps = (_partly(arg, count) for arg in (begin, end, strides))
    result: list[int | None] = []
    for axis, i in entries(len(dims), count, masks[2], masks[3]):
        if axis is None:
            result.append(1)
        elif i is None:
            result.append(dims[axis])
        else:
            item = _one_entry(i, axis, dims[axis], starts[i], stops[i], steps[i], masks)
            if item.__class__ is not int:
                known = item is not None and dims[axis] is not None
                result.append(len(range(*item.indices(dims[axis]))) if known else None)
    return tuple(result)


def _partly(arg: Any, count: int) -> list[int | None]:
    """Return a vector's values as far as they are known before running."""
    value = arg.value
    if value is not None:
        return value.tolist()
    return list(arg.as_dims or (None,) * count)


def _put(xp: Any, base: Any, index: Any, value: Any) -> Any:
    """Return `base`, an array of our own, with `value` at `index`."""
    if xp is np:
        base[index] = value
        return base
    return base.at[index].set(value)


# --- StridedSlice -----------------------------------------------------------------------------------------------------

StridedSlice = op(
    "StridedSlice(input:T, begin:Index, end:Index, strides:Index) -> (output:T)"
    f" | T: type; Index: type in [int16,int32,int64]; {_MASKS}",
    facts="view light cheap static known=begin,end,strides",
)


@StridedSlice.shape
def _(input, begin, end, strides, *, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _sliced_dims(input.dims, begin, end, strides, masks)


@StridedSlice.kernel
def _(xp, input, begin, end, strides, *, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return input[numpy_index(input.shape, begin, end, strides, masks)]


def _masks_of(call: Any) -> dict[str, int]:
    return {name: call.attrs[name] for name in MASK_NAMES}


@StridedSlice.gradient
def _(call, grad):
    ends = [call.begin, call.end, call.strides]
    if ends[0].dtype is dtypes.int16:
        ends = [raw.Cast(x, DstT=dtypes.int32) for x in ends]
    shape = shape_of(call.input, ends[0].dtype)
    return StridedSliceGrad(shape, *ends, grad, **_masks_of(call)), None, None, None


StridedSliceGrad = op(
    "StridedSliceGrad(shape:Index, begin:Index, end:Index, strides:Index, dy:T) -> (output:T)"
    f" | T: type; Index: index; {_MASKS}",
    facts="known=begin,end,strides sizes=shape",
)


@StridedSliceGrad.shape
def _(shape, begin, end, strides, dy):
    if shape.rank not in (None, 1):
        raise errors.StaticShapeError(f"shape must be 1-D, got shape.shape = {show(shape.dims)}")
    return lengths(shape, "shape")


@StridedSliceGrad.kernel
def _(xp, shape, begin, end, strides, dy, *, T, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    if shape.ndim != 1:
        raise ValueError("shape must be a vector")
    dims = shape.tolist()
    index = numpy_index(
        dims, begin, end, strides, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    )
    room_for(dims, dy.dtype.itemsize)
    if xp is np:
        result = filled(dims, b"" if T is dtypes.string else 0, T)
        if result[index].shape != dy.shape:
            raise invalid(f"shape of dy was {show(dy.shape)} instead of {show(result[index].shape)}")
        result[index] = dy
        return result
    return xp.zeros(dims, dy.dtype).at[index].set(dy)


@StridedSliceGrad.gradient
def _(call, grad):
    return None, None, None, None, StridedSlice(grad, call.begin, call.end, call.strides, **_masks_of(call))


TensorStridedSliceUpdate = op(
    "TensorStridedSliceUpdate(input:T, begin:Index, end:Index, strides:Index, value:T) -> (output:T)"
    f" | T: type; Index: index; {_MASKS}",
    facts="portable known=begin,end,strides",
)
TensorStridedSliceUpdate.shape(lambda input, begin, end, strides, value: input.dims)


@TensorStridedSliceUpdate.kernel
def _(xp, input, begin, end, strides, value, *, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index = numpy_index(input.shape, begin, end, strides, masks)
    try:
        return _put(xp, xp.array(input), index, value)
    except ValueError:
        raise invalid(f"shape of value was {show(value.shape)} instead of {show(input[index].shape)}") from None


@TensorStridedSliceUpdate.gradient
def _(call, grad):
    ends = (call.begin, call.end, call.strides)
    grad = dense(grad)
    kept = TensorStridedSliceUpdate(grad, *ends, zeros_like(call.value), **_masks_of(call)) if call.wants(0) else None
    put = raw.StridedSlice(grad, *ends, **_masks_of(call)) if call.wants(4) else None
    if put is not None and not (is_static(put) and put._dims == call.value._dims):
        axes = raw.BroadcastGradientArgs(raw.Shape(put), raw.Shape(call.value))[1]
        put = raw.Reshape(raw.Sum(put, axes), raw.Shape(call.value))
    return kept, None, None, None, put


# --- Slice ------------------------------------------------------------------------------------------------------------

Slice = op(
    "Slice(input:T, begin:Index, size:Index) -> (output:T) | T: type; Index: index",
    facts="view light cheap static known=begin sizes=size",
)


@Slice.shape
def _(input, begin, size):
    counts = {n for n in (vector(begin, "begin"), vector(size, "size"), input.rank) if n is not None}
    if len(counts) > 1:
        wanted = vector(begin, "begin") or vector(size, "size")
        raise errors.StaticShapeError(f"Shape must be rank {wanted} but is rank {input.rank}")
    if not counts:
        return None
    rank = counts.pop()
    dims = input.dims or (None,) * rank
    starts, sizes = _partly(begin, rank), _partly(size, rank)
    known = size.value is not None
    for n in sizes if known else ():
        if n < -1:
            raise errors.StaticShapeError(f"Invalid value in tensor used for shape: {n}")
    return tuple(_slice_length(i, *item, known) for i, item in enumerate(zip(dims, starts, sizes, strict=True)))


def _slice_length(i: int, length: Any, start: Any, size: Any, known: bool) -> int | None:
    if size is None or size != -1 or not known:
        return size
    if length is None or start is None:
        return None
    if start > length:
        raise errors.StaticShapeError(f"Negative dimension size caused by subtracting {start} from {length}")
    return length - start


@Slice.kernel
def _(xp, input, begin, size):
    rank = input.ndim
    if begin.shape != (rank,) or size.shape != (rank,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, but got shapes "
            f"{show(begin.shape)} and {show(size.shape)} instead."
        )
    index = []
    for i, (length, start, count) in enumerate(zip(input.shape, begin.tolist(), size.tolist(), strict=True)):
        if not 0 <= start <= length:
            raise invalid(f"Expected begin[{i}] in [0, {length}], but got {start}")
        if count == -1:
            count = length - start
        elif not 0 <= count <= length - start:
            raise invalid(f"Expected size[{i}] in [0, {length - start}], but got {count}")
        index.append(slice(start, start + count))
    return input[(*index, ...)]


@Slice.gradient
def _(call, grad):
    x, y, begin = call.input, call.output, call.begin
    if x.__class__ is EagerTensor:
        before = begin._array
        after = np.array(x._dims, before.dtype) - np.array(y._dims, before.dtype) - before
        return raw.Pad(grad, wrap(np.stack([before, after], axis=1), begin.dtype)), None, None
    kind = begin.dtype
    after = raw.Sub(raw.Sub(shape_of(x, kind), shape_of(y, kind)), begin)
    pads = raw.ConcatV2([raw.Reshape(begin, [-1, 1]), raw.Reshape(after, [-1, 1])], 1)
    return raw.Pad(grad, pads), None, None


@Slice.gradient_by_name
def _(call, grad):
    return tf1_gradients.padded(call, grad), None, None


# --- public -----------------------------------------------------------------------------------------------------------


def slice_(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """Return the part of `input_` that starts at `begin` and has the shape `size` (-1: all that is left).

    >>> slice_([1, 2, 3], [1], [-1]).numpy().tolist()
    [2, 3]
    """
    return Slice(input_, begin, size, name=name)


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return every stride-th element from `begin` to `end`, axis by axis; bits of the masks change what a place means.

    >>> strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
    [1, 3]
    """
    if strides is None:
        strides = ones_like_v1(begin)
    masks = dict(zip(MASK_NAMES, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    result = StridedSlice(input_, begin, end, strides, **masks, name=name)
    if var is not None:
        var._note_slice(result, (begin, end, strides), masks)
    return result


# --- indexing with brackets -------------------------------------------------------------------------------------------

_INDEX_TYPES = (dtypes.int16, dtypes.int32, dtypes.int64)
SLICE_TYPE_ERROR = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid "
    "indices"
)


class Spec:
    """What stands between the brackets, in TensorFlow's terms: three lists and five masks."""

    __slots__ = ("begin", "end", "masks", "strides")

    def __init__(self, items: Any):
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(MASK_NAMES, 0)
        for i, item in enumerate(items):
            self._add(item, 1 << i)

    def _add(self, item: Any, bit: int) -> None:
        if item.__class__ is slice:
            self._add_slice(item, bit)
            return
        if item is Ellipsis or item is None:
            self.masks["ellipsis_mask" if item is Ellipsis else "new_axis_mask"] |= bit
            place = (0, 0, 1)
        else:
            item = checked_index(item)
            self.masks["shrink_axis_mask"] |= bit
            place = (item, item + 1, 1)
        for list_, value in zip((self.begin, self.end, self.strides), place, strict=True):
            list_.append(value)

    def _add_slice(self, item: slice, bit: int) -> None:
        ends = (item.start, item.stop, item.step)
        parts = [None if x is None or _is_unknown(x) else checked_index(x) for x in ends]
        kind = None
        if not context.switches.tf1:
            kind = next((x.dtype.base_dtype for x in parts if isinstance(x, Tensor)), None)
        defaults = (0, 0, 1)
        for k, (list_, mask) in enumerate(((self.begin, "begin_mask"), (self.end, "end_mask"), (self.strides, None))):
            if parts[k] is not None:
                list_.append(parts[k])
                continue
            if mask:
                self.masks[mask] |= bit
            # beside tensors, a missing end is a constant of their type (not so in 1.15)
            list_.append(defaults[k] if kind is None else constant(defaults[k], kind))


def _is_unknown(item: Any) -> bool:
    return isinstance(item, Dimension) and item.value is None


def checked_index(item: Any) -> Any:
    """Return an index as a Python int or a scalar integer tensor; anything else is refused."""
    if item.__class__ is int:
        return item
    if isinstance(item, Dimension):
        return int(item)
    if isinstance(item, Tensor) or (is_tensor(item) and not isinstance(item, (np.ndarray, np.generic))):
        tensor = convert(item)
        if tensor.dtype.base_dtype in _INDEX_TYPES and (tensor._dims is None or len(tensor._dims) == 0):
            return tensor
    elif isinstance(item, (np.integer, np.ndarray)):
        if item.ndim == 0 and item.dtype.kind in "iu":
            return int(item)
    elif hasattr(item, "__index__") and not isinstance(item, (bool, np.bool_)):
        return operator.index(item)
    raise TypeError(f"{SLICE_TYPE_ERROR}, got {item!r}")


def slice_helper(tensor, slice_spec, var=None):
    """Return `tensor[slice_spec]`, by TensorFlow's rules and under its node names."""
    if _is_mask(slice_spec):
        return _boolean_mask[0](tensor, slice_spec)
    items = slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec]
    if isinstance(items, list) and any(isinstance(item, (bool, np.bool_)) for item in items):
        raise TypeError(
            f"{SLICE_TYPE_ERROR}, got {slice_spec!r}: a mask must be an array or a tensor, tf.constant({slice_spec!r})"
        )
    spec = Spec(items)
    with name_scope(None, "strided_slice") as scope:
        ends = [_vector_of(values) for values in (spec.begin, spec.end, spec.strides)]
        if any(x.dtype is dtypes.int64 for x in ends):
            ends = [x if x.dtype is dtypes.int64 else raw.Cast(x, DstT=dtypes.int64) for x in ends]
        result = StridedSlice(tensor, *ends, **spec.masks, name=scope or "strided_slice")
    if var is not None:
        var._note_slice(result, tuple(ends), spec.masks)
    return result


def _vector_of(values: list[Any]) -> Any:
    if not values:
        return constant([], dtypes.int32)
    if building() is None and not any([isinstance(x, Tensor) for x in values]):
        big = any([not -INT32_MAX <= x <= INT32_MAX for x in values])
        return wrap(np.array(values, np.int64 if big else np.int32), dtypes.int64 if big else dtypes.int32)
    return stack(values)


def _is_mask(spec: Any) -> bool:
    if spec.__class__ is bool:
        return True
    if isinstance(spec, np.ndarray):
        return spec.dtype == bool
    return is_tensor(spec) and spec.dtype.base_dtype is dtypes.bool


_boolean_mask: list[Any] = []


def provide_boolean_mask(function: Any) -> None:
    """Let `indexing` say how a boolean mask selects."""
    _boolean_mask[:] = [function]


def _plain(spec: Any) -> Any:
    """Return an index that NumPy takes as TensorFlow means it, or None where it takes more than ints and slices."""
    if spec.__class__ is int:
        return (spec, ...)
    if spec.__class__ is slice:
        return (spec, ...) if _plain_slice(spec) else None
    if spec is None or spec is Ellipsis:
        return (spec, ...) if spec is None else (spec,)
    if spec.__class__ is not tuple:
        return None
    dots = False
    for item in spec:
        kind = item.__class__
        if kind is int or item is None or (kind is slice and _plain_slice(item)):
            continue
        if item is Ellipsis and not dots:
            dots = True
            continue
        return None
    return spec if dots else (*spec, ...)


def _plain_slice(item: slice) -> bool:
    return (
        (item.start is None or item.start.__class__ is int)
        and (item.stop is None or item.stop.__class__ is int)
        and (item.step is None or item.step.__class__ is int)
    )


def _getitem(self, spec):
    """Return `self[spec]`; on plain ints and slices this is a NumPy view."""
    if context.graph_scopes and context.current_graph() is not None:
        return _lent_getitem(self, spec)
    index = _plain(spec)
    if index is None:
        try:
            index = _plain(plain := _without_tensors(spec))
        except (TypeError, ValueError):
            return _by_others(self, spec)
        spec = plain
    if index is None:
        return slice_helper(self, spec)
    try:
        array = self._array[index]
    except (IndexError, ValueError, RunElsewhere):  # the full path explains it, or the op is run elsewhere
        return slice_helper(self, spec)
    result = _new(EagerTensor)
    result._array = array if array.__class__ is ndarray else np.asarray(array, self._dtype.np)
    result._dtype = self._dtype
    if context.recorders:
        _record(self, spec, result)
    return result


def _record(x: Any, spec: Any, result: Any) -> None:
    found = Spec(spec if spec.__class__ is tuple else (spec,))
    ends = [_vector_of(values) for values in (found.begin, found.end, found.strides)]
    kind = dtypes.int64 if any(e._dtype is dtypes.int64 for e in ends) else dtypes.int32
    ends = [e if e._dtype is kind else wrap(e._array.astype(kind.np), kind) for e in ends]
    record(StridedSlice, (x, *ends), (result,), {"T": x._dtype, "Index": kind, **found.masks})


def _without_tensors(spec: Any) -> Any:
    """Return the spec with the values of eager tensors, NumPy numbers and such in it as Python ints."""
    if spec.__class__ is list and spec and not any(isinstance(item, (bool, np.bool_)) for item in spec):
        spec = tuple(spec)
    if spec.__class__ is tuple:
        return tuple(_without_tensors(item) if item.__class__ is not tuple else item for item in spec)
    if spec.__class__ is slice:
        ends = (spec.start, spec.stop, spec.step)
        return slice(*(None if x is None or _is_unknown(x) else _as_int(x) for x in ends))
    if spec is None or spec is Ellipsis or _is_mask(spec):
        return spec
    return _as_int(spec)


def _as_int(item: Any) -> Any:
    if isinstance(item, (list, tuple, bool, np.bool_)):
        return item
    found = checked_index(item)
    return int(found._array) if found.__class__ is EagerTensor else found


def _lent_getitem(self, spec):
    """Return `self[spec]`; to a class that has taken this over from tensors it is a public function."""
    if not isinstance(self, Tensor):
        return borrowed(_PUBLIC, self, spec)
    try:
        return slice_helper(self, spec)
    except (TypeError, ValueError):
        return _by_others(self, spec)


def _by_others(x: Any, spec: Any) -> Any:
    """Return what dispatchers make of `x[spec]`, of an index that is theirs; to be called where slicing has failed."""
    if not dispatches():
        raise  # the error that is being handled
    return borrowed(_PUBLIC, x, spec)


_PUBLIC = "__operators__.getitem"
Tensor.__getitem__ = _lent_getitem  # type: ignore[method-assign]
EagerTensor.__getitem__ = _getitem  # type: ignore[method-assign]
