"""TensorFlow 1 and before: functions that had another name, fewer arguments, or took them in another order.

Thin adapters over today's functions, shown at the TF 1 door only. Where a name kept its place but its arguments moved,
both orders are taken: the kinds of the arguments tell which is meant, and where they do not, the order of 1.x holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor, is_tensor
from ebbflow.core.typing import DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.ops.arrays import creation, shaping
from ebbflow.ops.arrays.joining import concat as concat_now
from ebbflow.ops.arrays.joining import split as split_now
from ebbflow.ops.arrays.joining import stack, unstack
from ebbflow.ops.arrays.reversing import reverse as reverse_now
from ebbflow.ops.arrays.sets import setdiff1d
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v1,
    sparse_softmax_cross_entropy_with_logits,
)


def is_axis(value: Any) -> bool:
    """Return whether a value can only be an axis: one whole number.

    >>> is_axis(1), is_axis([1]), is_axis(1.0)
    (True, False, False)
    """
    if isinstance(value, (int, np.integer)):
        return not isinstance(value, bool)
    return is_tensor(value) and value.dtype.is_integer and value.shape.rank == 0


def concat(*args: Any, **kwargs: Any) -> Tensor:
    """Join tensors along an axis: `concat(values, axis)`, or `concat(axis, values)` as it was."""
    if "concat_dim" in kwargs:
        kwargs["axis"] = kwargs.pop("concat_dim")
    elif len(args) >= 2 and is_axis(args[0]) and not is_axis(args[1]):
        args = (args[1], args[0], *args[2:])
    elif len(args) == 1 and is_axis(args[0]) and "values" in kwargs:
        kwargs["axis"] = args[0]
        args = ()
    return concat_now(*args, **kwargs)


def split(*args: Any, **kwargs: Any) -> Any:
    """Cut a tensor along an axis: `split(value, number, axis)`, or `split(axis, number, value)` as it was."""
    first_is_number = len(args) > 0 and isinstance(args[0], (int, np.integer))  # which nobody splits
    third_is_value = "value" in kwargs or (len(args) > 2 and not is_axis(args[2]))
    if "split_dim" in kwargs or "num_split" in kwargs or (first_is_number and third_is_value):
        return _first_split(*args, **kwargs)
    return split_now(*args, **kwargs)


def _first_split(split_dim: Any, num_split: Any, value: Any, name: str = "split") -> Any:
    return split_now(value, num_split, split_dim, name=name)


def reverse(
    tensor: TensorLike, axis: TensorLike | None = None, name: str | None = None, dims: TensorLike | None = None
) -> Tensor:
    """Reverse some axes: given by number, or by a truth value for each as it was."""
    chosen = axis if dims is None else dims
    flags = None if is_tensor(chosen) else np.asarray(chosen)
    if flags is not None and flags.dtype == bool and flags.ndim == 1:
        chosen = np.flatnonzero(flags).astype(np.int32)
    return reverse_now(tensor, chosen, name=name)


def pack(values: TensorLike, axis: int = 0, name: str = "pack") -> Tensor:
    """Stack tensors along a new axis: `tf.stack`."""
    return stack(values, axis=axis, name=name)


def unpack(value: TensorLike, num: int | None = None, axis: int = 0, name: str = "unpack") -> list[Tensor]:
    """Take a tensor apart along an axis: `tf.unstack`."""
    return unstack(value, num=num, axis=axis, name=name)


def select(condition: TensorLike, t: TensorLike, e: TensorLike, name: str | None = None) -> Tensor:
    """Take elements from `t` where the condition holds and from `e` elsewhere: `tf.where`."""
    return where_v1(condition, t, e, name=name)


def batch_matmul(
    x: TensorLike, y: TensorLike, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Tensor:
    """Multiply matrices pair by pair: `tf.matmul`."""
    return matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


def listdiff(x: TensorLike, y: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Nested:
    """Return what is in `x` and not in `y`, and where: `tf.setdiff1d`."""
    return setdiff1d(x, y, index_dtype=out_idx, name=name)


def flipped_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """Return the cross entropy of softmax(logits) with `labels`, which come second."""
    return softmax_cross_entropy_with_logits_v1(labels, logits, dim, name)


def flipped_sparse_softmax_cross_entropy(logits: TensorLike, labels: TensorLike, name: str | None = None) -> Tensor:
    """Return the cross entropy of softmax(logits) with classes, which come second."""
    return sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def flipped_sigmoid_cross_entropy(logits: TensorLike, targets: TensorLike, name: str | None = None) -> Tensor:
    """Return the cross entropy of sigmoid(logits) with `targets`, which come second."""
    return sigmoid_cross_entropy_with_logits(targets, logits, name)


class RegisterShape:
    """Takes a shape function of before 1.0 and leaves it: an op's declaration has its own."""

    def __init__(self, op_type: str) -> None:
        self.op_type = op_type

    def __call__(self, shape_function: Any) -> Any:
        return shape_function


# --- without the `layout` of today: packages compare the arguments of these with those of their own ------------------


def zeros(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of zeros."""
    return creation.zeros(shape, dtype, name)


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of ones."""
    return creation.ones(shape, dtype, name)


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None) -> Tensor:
    """Return a tensor of one value."""
    return creation.fill(dims, value, name)


def ones_like_second(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return a tensor of ones in the shape of another (`tf.compat.v2.ones_like` of TensorFlow 1.15)."""
    return creation.ones_like(input, dtype, name)


def zeros_like_second(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return a tensor of zeros in the shape of another (`tf.compat.v2.zeros_like` of TensorFlow 1.15)."""
    return creation.zeros_like(input, dtype, name)


def shape_second(input: TensorLike, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Return the shape of a tensor (`tf.compat.v2.shape` of TensorFlow 1.15)."""
    return shaping.shape(input, out_type=out_type, name=name)


def size_second(input: TensorLike, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Return how many elements a tensor has (`tf.compat.v2.size` of TensorFlow 1.15)."""
    return shaping.size(input, out_type=out_type, name=name)
