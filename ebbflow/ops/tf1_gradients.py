"""Gradients step by step: the longer ways that TensorFlow's rules take in a graph, node for node.

Programs look nodes up inside `gradients/…_grad/`, so in a plain graph rules make the nodes that TensorFlow 1 makes.
Most rules make them anyway. An op for which there is a shorter way (eagerly, and in bodies of functions) declares a
second rule, `@Op.gradient_by_name`, of these pieces; `eager.backprop` decides which of the two is used. What is
computed is the same, and shapes known at run time make most of it constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.ops.declare import constant_like, raw, shape_node
from ebbflow.ops.sizes import is_static

LONG_CONCAT = 16
"""Pieces of a gradient up to which each is sliced out by itself; more are split off together."""


def constant(value: Any, name: str = "Const", dtype: DType = dtypes.int32) -> Any:
    """Return a Const node."""
    return context.current_graph().constant(np.array(value, dtype.np), dtype, name)


def size_node(x: Any, dtype: DType = dtypes.int32) -> Any:
    """Return how many elements a tensor has as a node called Size."""
    return constant(math.prod(x._dims), "Size", dtype) if is_static(x) else raw.Size(x, out_type=dtype)


def rank_node(x: Any) -> Any:
    """Return how many axes a tensor has as a node called Rank."""
    return raw.Rank(x) if x._dims is None else constant(len(x._dims), "Rank")


# --- reductions -------------------------------------------------------------------------------------------------------


def spread(call: Any, grad: Any) -> Any:
    """Return the gradient of a sum: `grad` repeated along the axes that were folded."""
    x, indices = call.inputs
    axes = None if x._dims is None else indices.constant_value()
    if axes is not None and np.array_equal(axes, np.arange(len(x._dims))):
        grad = raw.Reshape(grad, [1] * len(x._dims))
        return raw.Tile(grad, constant(x._dims) if is_static(x) else shape_node(x))
    if axes is not None and is_static(x):
        kept, times = _known_shapes(x._dims, tuple(axes.reshape(-1).tolist()))
        return raw.Tile(raw.Reshape(grad, np.array(kept, np.int32)), np.array(times, np.int32))
    shape = shape_node(x)
    kept = kept_shape(shape, indices)
    times = quotient(shape, kept)
    return raw.Tile(raw.Reshape(grad, kept), times)


def _known_shapes(dims: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the shape with the folded axes of length 1, and how often each axis is repeated.

    The nodes that would compute them are made once a graph, as in TensorFlow, though nobody needs them.
    """
    kept = tuple(1 if axis in {a % len(dims) for a in axes} else n for axis, n in enumerate(dims))
    met = context.current_graph().__dict__.setdefault("_shapes_folded", set())
    if (dims, axes) not in met:
        met.add((dims, axes))
        kept_shape(constant(dims, "Cast/x"), constant(axes, "Cast_1/x"))
        quotient(np.array(dims, np.int32), np.array(kept, np.int32))
    return kept, [n // max(k, 1) for n, k in zip(dims, kept, strict=True)]


def kept_shape(shape: Any, indices: Any) -> Any:
    """Return a shape vector with 1 in place of the axes folded."""
    axes = indices if indices.dtype is dtypes.int32 else raw.Cast(indices, DstT=dtypes.int32)
    rank = size_node(shape)
    axes = (axes + rank) % rank
    ones_shape = shape_node(axes)
    every = raw.Range(0, rank, 1, name="range")
    return raw.DynamicStitch([every, axes], [shape, raw.Fill(ones_shape, 1)])


def quotient(x: Any, y: Any) -> Any:
    """Return `x // y` of lengths, where a length of 0 divides as 1."""
    return raw.FloorDiv(x, raw.Maximum(y, 1), name="floordiv")


def mean_divisor(x: Any, y: Any) -> Any:
    """Return how many elements of `x` went into each of its means `y`, in the dtype of `x`."""
    if is_static(x) and is_static(y):
        return constant_like(math.prod(x._dims) // max(math.prod(y._dims), 1), x)
    shapes = [shape_node(x), shape_node(y)]
    inside, outside = (raw.Prod(shape, constant([0])) for shape in shapes)
    return raw.Cast(quotient(inside, outside), DstT=x.dtype.base_dtype)


def share_of_extremes(call: Any, grad: Any) -> Any:
    """Return the gradient of a maximum or minimum: equal extremes share it."""
    x, indices = call.inputs
    kept = kept_shape(shape_node(x), indices)
    y, grad = raw.Reshape(call.outputs[0], kept), raw.Reshape(grad, kept)
    chosen = raw.Cast(raw.Equal(y, x), DstT=x.dtype.base_dtype)
    count = raw.Reshape(raw.Sum(chosen, indices), kept)
    return chosen / count * grad


# --- places -----------------------------------------------------------------------------------------------------------


def parted(grad: Any, values: Sequence[Any], axis: Any) -> list[Any]:
    """Return the pieces of the gradient of a concatenation."""
    if len(values) == 1:
        return [grad]
    at = axis % rank_node(values[0])
    shapes = _shapes_of(values)
    if len(shapes) > LONG_CONCAT:
        sizes = raw.Squeeze(raw.Slice(raw.Pack(shapes, axis=1, name="stack"), raw.Pack([at, 0]), [1, -1]))
        return raw.SplitV(grad, sizes, at, num_split=len(values), name="split")
    offsets = raw.ConcatOffset(at, shapes)
    return [raw.Slice(grad, offset, shape) for offset, shape in zip(offsets, shapes, strict=True)]


def _shapes_of(values: Sequence[Any]) -> list[Any]:
    shapes = []
    for x in values:
        shapes.append(shape_node(x))
        if not is_static(x):
            return raw.ShapeN(list(values))
    return shapes


def padded(call: Any, grad: Any) -> Any:
    """Return the gradient of a slice: `grad` among zeros."""
    x, begin = call.input, call.begin
    count = rank_node(x)
    shape = shape_node(call.output, dtype=begin.dtype)
    column = _column(count)
    before = raw.Reshape(begin, column)
    after = raw.Reshape(shape_node(x, dtype=begin.dtype) - shape - begin, column)
    return raw.Pad(grad, raw.ConcatV2([before, after], 1, name="concat"))


def _column(count: Any) -> Any:
    """Return the shape of a column of `count` numbers."""
    with name_scope("stack") as scope:
        return raw.Pack([count, constant(1, "1")], name=scope)


def unpadded(call: Any, grad: Any) -> Any:
    """Return the gradient of a padded tensor: the part of `grad` that is not padding."""
    x, paddings = call.input, call.paddings
    first = raw.Slice(paddings, [0, 0], _column(rank_node(x)))
    begin = raw.Reshape(first, [-1])
    return raw.Slice(grad, begin, shape_node(x, dtype=paddings.dtype))


def untiled(call: Any, grad: Any) -> Any:
    """Return the gradient of a tiled tensor: the sum of its copies."""
    x = call.input
    shape = shape_node(x, dtype=call.multiples.dtype)
    pairs = raw.Transpose(raw.Pack([call.multiples, shape], name="stack"), [1, 0], name="transpose")
    dims = raw.Reshape(pairs, [-1])
    axes = raw.Range(0, size_node(dims), 2, name="range")
    return raw.Sum(raw.Reshape(grad, dims), axes)


def gathered_rows(params: Any, indices: Any, grad: Any) -> IndexedSlices:
    """Return the gradient of a gather along the first axis."""
    with context.current_graph().colocate_with(params.op):
        whole = raw.Cast(shape_node(params, dtype=dtypes.int64), DstT=dtypes.int32)
    count = raw.ExpandDims(size_node(indices), 0)
    values = raw.Reshape(grad, raw.ConcatV2([count, whole[1:]], 0, name="concat"))
    return IndexedSlices(values, raw.Reshape(indices, count), whole)


def unbatched(left: Any, right: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the gradients of a product of batches, summed over axes along which a batch was repeated."""
    shapes = [shape_node(x), shape_node(y)]
    axes = raw.BroadcastGradientArgs(shapes[0][:-2], shapes[1][:-2])
    return tuple(
        raw.Reshape(raw.Sum(grad, folded), shape)
        for grad, folded, shape in zip((left, right), axes, shapes, strict=True)
    )
