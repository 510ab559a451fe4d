"""Shapes, which are known while tracing, and what is cut, filled and counted by them.

The shape of a traced array is a fact: `Shape` and its kin give NumPy arrays, and what is computed from them stays
known. Slices whose start comes only when running are dynamic slices, of a size that is known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.shape import is_compatible
from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.lower import is_known
from ebbflow.engines.xla.refusal import Refusal, UnknownValueError
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.arrays.slicing import entries, numpy_index

# --- facts about shapes -----------------------------------------------------------------------------------------------


@lowering("Shape", keeps="input")
def _(jnp: Any, input: Any, *, out_type: Any) -> Any:
    return np.array(input.shape, out_type.np)


@lowering("ShapeN", keeps="input")
def _(jnp: Any, input: Any, *, out_type: Any) -> Any:
    return [np.array(x.shape, out_type.np) for x in input]


@lowering("Size", keeps="input")
def _(jnp: Any, input: Any, *, out_type: Any) -> Any:
    return np.array(math.prod(input.shape), out_type.np)


@lowering("Rank", keeps="input")
def _(jnp: Any, input: Any) -> Any:
    return np.array(len(input.shape), np.int32)


@lowering("EnsureShape")
def _(jnp: Any, input: Any, *, shape: Any) -> Any:
    if not is_compatible(input.shape, shape):
        raise ValueError(f"Shape of tensor input {list(input.shape)} is not compatible with expected shape {shape}.")
    return input


@lowering("NoOp", "ControlTrigger")
def _(jnp: Any) -> Any:
    return ()


@lowering("FakeParam")
def _(jnp: Any, *, dtype: Any, shape: Any) -> Any:
    if dtype in (dtypes.variant, dtypes.resource, dtypes.string):
        raise Refusal(f"stands in for a {dtype.name} in a branch that has none")
    if shape is None or None in shape:
        raise Refusal("stands in for a tensor of unknown shape in a branch that has none")
    return jnp.zeros(shape, dtype.np)


@lowering("Identity", "Snapshot", "StopGradient", "PreventGradient", "GuaranteeConst", keeps="input", variants=True)
def _(jnp: Any, input: Any) -> Any:
    return input


@lowering("IdentityN", keeps="input", variants=True)
def _(jnp: Any, input: Any) -> Any:
    return input


@lowering("ZerosLike", variants=True)
def _(jnp: Any, x: Any) -> Any:
    return x.zeros(jnp) if hasattr(x, "zeros") else jnp.zeros(x.shape, x.dtype)


# --- counting up ------------------------------------------------------------------------------------------------------


@lowering("Range")
def _(jnp: Any, start: Any, limit: Any, delta: Any) -> Any:
    count = max(0, math.ceil((limit.item() - start.item()) / delta.item()))
    steps = jnp.arange(count)
    return start + steps.astype(start.dtype) * delta


# --- cutting ----------------------------------------------------------------------------------------------------------

_SLICED = "whether the slice lies inside"


@lowering("Slice", may_vary="begin", loses=_SLICED)
def _(jnp: Any, input: Any, begin: Any, size: Any) -> Any:
    rank = input.ndim
    if begin.shape != (rank,) or size.shape != (rank,):
        raise ValueError(f"Expected begin and size arguments to be 1-D tensors of size {rank}")
    sizes = size.tolist()
    if is_known(begin):
        starts = begin.tolist()
        sizes = [n - b if s == -1 else s for n, b, s in zip(input.shape, starts, sizes, strict=True)]
        for i, (n, b, s) in enumerate(zip(input.shape, starts, sizes, strict=True)):
            if not 0 <= b <= n or not 0 <= s <= n - b:
                raise ValueError(f"Expected begin[{i}] and size[{i}] inside [0, {n}], but got {b} and {s}")
        return input[tuple(slice(b, b + s) for b, s in zip(starts, sizes, strict=True))]
    if -1 in sizes:
        raise UnknownValueError("a slice goes to the end from where it begins, which is known only when it runs")
    return lax.dynamic_slice(input, [begin[i] for i in range(rank)], sizes)


def _masks(begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> Any:
    return begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask


@lowering("StridedSlice", may_vary="begin end", loses=_SLICED)
def _(
    jnp: Any, input: Any, begin: Any, end: Any, strides: Any,
    *, begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    masks = _masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    if is_known(begin) and is_known(end):
        return input[numpy_index(input.shape, begin, end, strides, masks)]
    starts, sizes, index = _moving_slice(jnp, input.shape, begin, strides, masks)
    return lax.dynamic_slice(input, starts, sizes)[tuple(index)]


def _moving_slice(jnp: Any, dims: Any, begin: Any, strides: Any, masks: Any) -> tuple[list[Any], list[int], list[Any]]:
    """Return start and size of every axis, and the index that puts the axes in order, for single rows that are picked
    when running (`x[i, :, j]`); anything longer would have an unknown length.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = masks
    starts: list[Any] = [np.zeros((), begin.dtype)] * len(dims)
    sizes, index = list(dims), list[Any]()
    for axis, i in entries(len(dims), strides.shape[0], ellipsis_mask, new_axis_mask):
        if axis is None:
            index.append(None)
        elif i is None or ((begin_mask >> i) & 1 and (end_mask >> i) & 1 and strides[i] == 1):
            index.append(slice(None))
        elif (shrink_axis_mask >> i) & 1:
            at = begin[i]
            starts[axis] = jnp.where(at < 0, at + dims[axis], at)
            sizes[axis] = 1
            index.append(0)
        else:
            raise UnknownValueError("how long a slice is, is known only when it runs")
    return starts, sizes, index


@lowering("StridedSliceGrad", may_vary="begin end", loses=_SLICED)
def _(
    jnp: Any, shape: Any, begin: Any, end: Any, strides: Any, dy: Any,
    *, begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> Any:  # fmt: skip
    masks = _masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    dims = shape.tolist()
    if is_known(begin) and is_known(end):
        return _put_back(jnp, dims, numpy_index(dims, begin, end, strides, masks), dy)
    starts, sizes, _ = _moving_slice(jnp, dims, begin, strides, masks)
    return lax.dynamic_update_slice(jnp.zeros(dims, dy.dtype), dy.reshape(sizes), starts)


def _put_back(jnp: Any, dims: list[int], index: tuple[Any, ...], dy: Any) -> Any:
    """Return zeros with `dy` where `index` cuts: by padding, which fuses with what comes before and after."""
    entries_ = [i for i in index if i is not None and i is not Ellipsis]
    config, lengths, flipped = [], [], []
    for axis, (length, entry) in enumerate(zip(dims, [*entries_, *[slice(None)] * len(dims)], strict=False)):
        picked = range(entry, entry + 1) if isinstance(entry, int) else range(*entry.indices(length))
        if picked.step < 0:
            picked = picked[::-1]
            flipped.append(axis)
        count = len(picked)
        low = picked.start if count else 0
        high = length - (picked[-1] + 1) if count else length
        config.append((low, high, picked.step - 1 if count > 1 else 0))
        lengths.append(count)
    whole = dy.reshape(lengths)
    return lax.pad(jnp.flip(whole, flipped) if flipped else whole, np.zeros((), dy.dtype), config)


@lowering("Split")
def _(jnp: Any, split_dim: Any, value: Any, *, num_split: int) -> Any:
    return jnp.split(value, num_split, axis=int(split_dim.reshape(())))


@lowering("SplitV")
def _(jnp: Any, value: Any, size_splits: Any, split_dim: Any) -> Any:
    axis, sizes = int(split_dim.reshape(())), size_splits.tolist()
    if -1 in sizes:
        sizes[sizes.index(-1)] = value.shape[axis] - sum(n for n in sizes if n != -1)
    return jnp.split(value, np.cumsum(sizes[:-1]).tolist(), axis=axis)


@lowering("ExpandDims")
def _(jnp: Any, input: Any, dim: Any) -> Any:
    return jnp.expand_dims(input, int(dim.reshape(())))


@lowering("Unpack")
def _(jnp: Any, value: Any, *, num: int, axis: int) -> Any:
    return [jnp.squeeze(part, axis) for part in jnp.split(value, num, axis)] if num else []
