"""A tensor whose shape is checked: EnsureShape passes a value on, or says how it differs from what was promised."""

from __future__ import annotations

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import as_dims, is_compatible, merge_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.declare import show
from ebbflow.ops.sizes import invalid


def _grad_as_is(call, grad):
    return grad


EnsureShape = op(
    "EnsureShape(input:T) -> (output:T) | shape: shape; T: type", gradient=_grad_as_is, facts="same complains"
)


@EnsureShape.shape
def _(input, *, shape):
    try:
        return merge_dims(input.dims, shape)
    except ValueError:
        raise errors.StaticShapeError(
            f"Shape of tensor input {show(input.dims)} is not compatible with expected shape {show(shape)}."
        ) from None


@EnsureShape.kernel
def _(xp, input, *, shape):
    if not is_compatible(input.shape, shape):
        raise invalid(f"Shape of tensor input {show(input.shape)} is not compatible with expected shape {show(shape)}.")
    return input


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return `x`, whose shape is checked against `shape` when it is known.

    >>> ensure_shape([[1, 2]], [None, 2]).shape
    TensorShape([1, 2])
    """
    return EnsureShape(x, shape=as_dims(shape), name=name)
