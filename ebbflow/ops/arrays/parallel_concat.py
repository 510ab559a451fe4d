"""`tf.parallel_stack`: tensors of known shapes as slices of one, each written when ready. Graphs alone have it."""

from __future__ import annotations

from collections.abc import Sequence

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.sizes import invalid, is_static

ParallelConcat = op("ParallelConcat(values:N*T) -> (output:T) | N: int >= 1; T: type; shape: shape", gradient=FLAT)


@ParallelConcat.shape
def _(values, *, shape):
    if shape is None or None in shape:
        raise errors.StaticShapeError("shape attr must be fully defined.")
    for value in values:
        if value.dims is not None and value.dims[:1] != (1,):
            raise errors.StaticShapeError("Size of first dimension must be 1.")
    return shape


@ParallelConcat.kernel
def _(xp, values, *, shape):
    joined = xp.concatenate(values, axis=0)
    if joined.shape != tuple(shape):
        raise invalid(f"the values join to shape {show(joined.shape)}, not {show(shape)}")
    return joined


def parallel_stack(values: Sequence[TensorLike], name: str = "parallel_stack") -> Tensor:
    """Return the tensors, whose shapes must be known, as slices of one along a new first axis. (Graphs only.)"""
    if building() is None:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    with name_scope(name or "parallel_stack"):
        first = convert(values[0])
        if not is_static(first):
            raise ValueError(f"tf.parallel_stack needs a known shape; values[0] has {first.shape}")
        rows = [raw.ExpandDims(v, 0) for v in values]
        return ParallelConcat(rows, shape=(len(values), *first._dims))
