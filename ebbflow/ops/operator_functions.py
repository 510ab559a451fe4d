"""`tf.__operators__`: operators of tensors as functions, by which models name them in their configs.

Knows the families' own functions. They refuse what is no tensor, so that dispatchers are asked about it.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.arrays.slicing import slice_helper
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import add as sum_of
from ebbflow.ops.ragged.index import getitem as ragged_item
from ebbflow.ops.ragged.tensor import RaggedTensor


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Return `x + y`.

    >>> add(1, 2).numpy()
    np.int32(3)
    """
    if not isinstance(x, (Tensor, RaggedTensor)) and not isinstance(y, (Tensor, RaggedTensor)):
        x = convert(x)
    return sum_of(x, y, name=name)


def eq(self: TensorLike, other: object) -> AnyTensor:
    """Return by element whether two tensors are equal; False for nothing."""
    return False if other is None else raw.Equal(self, other, incompatible_shape_error=False)


def ne(self: TensorLike, other: object) -> AnyTensor:
    """Return by element whether two tensors differ; True for nothing."""
    return True if other is None else raw.NotEqual(self, other, incompatible_shape_error=False)


def getitem(tensor: TensorLike, slice_spec: TensorLike, var: Any = None) -> Tensor:
    """Return `tensor[slice_spec]`.

    >>> getitem([1, 2, 3], 1).numpy()
    np.int32(2)
    """
    return slice_helper(tensor, slice_spec, var)


def ragged_getitem(rt_input: AnyTensor, key: object) -> AnyTensor:
    """Return `rt_input[key]` of a ragged tensor."""
    if not isinstance(rt_input, RaggedTensor):
        raise TypeError(f"ragged_getitem takes a tf.RaggedTensor, got {type(rt_input).__name__}")
    return ragged_item(rt_input, key)
