"""Masks: the elements that a mask of booleans chooses, and the masks that lengths of sequences make.

Composed of ops of `indexing` and others; declares none of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import from_dims, is_compatible
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops.arrays.creation import building, constant
from ebbflow.ops.arrays.indexing import GatherV2, Where
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.arrays.slicing import provide_boolean_mask
from ebbflow.ops.declare import raw


def boolean_mask(tensor: TensorLike, mask: TensorLike, axis: Axis = None, name: str = "boolean_mask") -> Tensor:
    """Return the elements (or slices) of `tensor` where `mask`, along its first axes or from `axis` on, holds.

    >>> boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
    [1, 3]
    """
    with name_scope(name or "boolean_mask", None, [tensor, mask]):
        tensor = convert(tensor, None, None, "tensor")
        mask = convert(mask, None, None, "mask")
        if mask._dims is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is "
                "ok, but shape=None is not."
            )
        depth = len(mask._dims)
        if not depth:
            raise ValueError("mask cannot be scalar.")
        at: Any = 0 if axis is None else axis.constant_value() if isinstance(axis, Tensor) else axis
        if at is None:  # known only when it runs
            return _mask_later(tensor, mask, axis, depth)
        at = int(at)
        if tensor._dims is not None:
            at = at + len(tensor._dims) if at < 0 else at
            if not is_compatible(mask._dims, tensor._dims[at : at + depth]):
                raise ValueError(
                    f"Shapes {from_dims(tensor._dims[at : at + depth])} and {from_dims(mask._dims)} are incompatible"
                )
        return _mask_now(tensor, mask, at, depth) if building() is None else _mask_later(tensor, mask, at, depth)


def _mask_now(tensor: Any, mask: Any, at: int, depth: int) -> Any:
    dims = tensor._dims
    if depth > 1:
        tensor = reshape(tensor, [*dims[:at], math.prod(dims[at : at + depth]), *dims[at + depth :]])
    chosen = wrap(np.flatnonzero(mask._array), dtypes.int64)
    return GatherV2(tensor, chosen, wrap(np.array(at, np.int32), dtypes.int32))


def _mask_later(tensor: Any, mask: Any, at: Any, depth: int) -> Any:
    count = raw.Prod(shape(tensor)[at : at + depth], [0])
    rows = reshape(tensor, concat([shape(tensor)[:at], [count], shape(tensor)[at + depth :]], 0))
    chosen = raw.Squeeze(Where(reshape(mask, [-1])), squeeze_dims=[1])
    return GatherV2(rows, chosen, at)


def boolean_mask_v1(tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: Axis = None) -> Tensor:
    """Return the elements (or slices) of `tensor` where `mask`, along its first axes or from `axis` on, holds."""
    return boolean_mask(tensor, mask, axis, name)


provide_boolean_mask(boolean_mask)


def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = dtypes.bool, name: str | None = None
) -> Tensor:
    """Return, for each length n, `maxlen` numbers of which the first n are true.

    >>> sequence_mask([1, 3], 3).numpy().astype(int).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert(lengths)
        if maxlen is None:
            axes = (
                constant(np.arange(len(lengths._dims), dtype=np.int32))
                if lengths._dims is not None
                else raw.Range(0, raw.Rank(lengths), 1)
            )
            longest = raw.Max(lengths, axes) if not _is_empty(lengths) else constant(0, lengths.dtype)
            limit: Tensor = raw.Maximum(constant(0, longest.dtype), longest)
        else:
            limit = convert(maxlen)
        if limit._dims not in (None, ()):
            raise ValueError(
                f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {limit} with shape "
                f"'{limit.shape}' instead"
            )
        row = raw.Range(constant(0, limit.dtype), limit, constant(1, limit.dtype))
        ends = raw.Cast(raw.ExpandDims(lengths, -1), DstT=limit.dtype)
        result = raw.Less(row, ends)
        kind = as_dtype(dtype)
        return result if kind is dtypes.bool else raw.Cast(result, DstT=kind)


def _is_empty(x: Any) -> bool:
    return x.__class__ is EagerTensor and not x._array.size
