"""Small functions that TensorFlow has inside and that programs and their tests call by inner paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.call import Call
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.eager.backprop import FLAT, add_up, rule_of
from ebbflow.ops.declare import raw


def get_gradient_function(op: Any) -> Callable[..., Any] | None:
    """Return the function that gives the gradient of a node; None where it was said to have none."""
    if not op.inputs:
        return None
    rule = rule_of(Call(op._op, op._inputs, op._outputs, op._attrs))
    return None if rule is FLAT else rule


def as_indexed_slices(x: TensorLike, optimize: bool = True) -> IndexedSlices:
    """Return a tensor as all of its rows: `math_ops._as_indexed_slices`.

    >>> as_indexed_slices(convert([[1.0], [2.0]])).indices.numpy().tolist()
    [0, 1]
    """
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}.")
    shape = raw.Shape(x)
    return IndexedSlices(x, raw.Range(np.int32(0), shape[0], np.int32(1)), shape)


def aggregate_indexed_slices(grads: Sequence[Any]) -> IndexedSlices | Tensor | None:
    """Return the sum of gradients as rows; None among them count nothing.

    >>> aggregate_indexed_slices([]) is None
    True
    """
    there = [g for g in grads if g is not None]
    if len(there) <= 1:
        return there[0] if there else None
    return add_up([as_indexed_slices(g) for g in there])


def tensor_shape_slice(tensors: Sequence[EagerTensor], slice_dim: int) -> Tensor:
    """Return the size of each tensor along one axis.

    >>> tensor_shape_slice([convert([[1, 2]]), convert([[3]])], 1).numpy().tolist()
    [2, 1]
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f'tensors argument must be a list or a tuple. Got "{type(tensors).__name__}"')
    if slice_dim < 0:
        raise ValueError(f"Slice dimension must be non-negative. Got {slice_dim}")
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, EagerTensor):
            raise TypeError(f'Expected a list of EagerTensors but element {i} has type "{type(tensor).__name__}"')
        if slice_dim >= tensor._array.ndim:
            raise IndexError(
                f"Slice dimension ({slice_dim}) must be smaller than rank of all tensors, but tensor at index {i} has "
                f"rank {tensor._array.ndim}"
            )
    return convert(np.array([t._array.shape[slice_dim] for t in tensors], np.int32))
