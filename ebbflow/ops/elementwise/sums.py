"""Sums of any number of tensors of one shape: AddN, and AccumulateNV2 as TF 1 puts it into graphs.

Gradients that come from several places are brought together by these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.shape import as_dims, is_compatible, merge_dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.declare import dense, merged, raw, show

AddN = op(
    "AddN(inputs:N*T) -> (sum:T) | N: int >= 1; T: type in [numbers,variant] | commutative aggregate",
    facts="cheap folds",
)
AccumulateNV2 = op(
    "AccumulateNV2(inputs:N*T) -> (sum:T) | N: int >= 1; T: numbers; shape: shape | commutative aggregate"
)


@AddN.shape
def _(inputs):
    dims = inputs[0].dims
    for i, x in enumerate(inputs):
        if not is_compatible(dims, x.dims):
            raise errors.StaticShapeError(
                "Inputs to operation AddN of type AddN must have the same size and shape. "
                f"Input 0: {show(dims)} != input {i}: {show(x.dims)}"
            )
        dims = merge_dims(dims, x.dims)
    return dims


@AccumulateNV2.shape
def _(inputs, *, shape):
    dims = merged(*inputs)
    return dims if shape is None else merge_dims(dims, shape)


@AccumulateNV2.kernel
@AddN.kernel
def _(xp, inputs):
    first = inputs[0]
    if any(x.shape != first.shape for x in inputs):
        raise ValueError("the inputs differ in shape")
    if len(inputs) == 1:
        return first
    total = xp.add(first, inputs[1])
    for x in inputs[2:]:
        total = total + x if total.__class__ is not np.ndarray else np.add(total, x, total)
    return total


@AccumulateNV2.gradient
@AddN.gradient
def _(call, grad):
    return [grad] * len(call.inputs)


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Return the sum of tensors of one shape and dtype; IndexedSlices among them count as the tensors they stand for.

    >>> add_n([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).numpy().tolist()
    [9.0, 12.0]
    """
    if not inputs or not isinstance(inputs, Iterable) or isinstance(inputs, Tensor):
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    found = [x if isinstance(x, (Tensor, IndexedSlices)) else operand(x) for x in inputs]
    if len(found) > 1:
        return AddN([dense(x) for x in found], name=name or "AddN")
    only = dense(found[0])
    return raw.Identity(only, name=name) if name else only


def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the sum of tensors, each of which must fit `shape` and have `tensor_dtype` where those are given.

    >>> accumulate_n([[1, 2], [3, 4]]).numpy().tolist()
    [4, 6]
    """
    return add_n(_to_accumulate(inputs, shape, tensor_dtype)[0], name=name)


def accumulate_n_tf1(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`accumulate_n` as TensorFlow 1 puts it into a graph: an AccumulateNV2 node."""
    tensors, dims = _to_accumulate(inputs, shape, tensor_dtype)
    if len(tensors) == 1:
        return raw.Identity(tensors[0], name=name) if name else tensors[0]
    return AccumulateNV2(tensors, shape=dims, name=name or "AccumulateNV2")


def _to_accumulate(inputs, shape, tensor_dtype):
    refused = ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise refused
    tensors = [convert(x) for x in inputs]
    if any(t.dtype.base_dtype is not tensors[0].dtype.base_dtype for t in tensors):
        raise refused
    dims = as_dims(shape)
    for t in tensors:
        if not is_compatible(dims, t._dims):
            raise ValueError(f"Shapes {show(dims)} and {show(t._dims)} are incompatible")
        dims = merge_dims(dims, t._dims)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not tensors[0].dtype.base_dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {tensors[0].dtype}")
    return tensors, dims
