"""What `tf.contrib.nn` had for networks that keep their activations at mean 0 and deviation 1, and softplus scaled."""

from __future__ import annotations

from ebbflow.core.convert import convert
from ebbflow.core.op import Known
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.random.stateful import random_uniform

FLOOR = -1.7580993408473766
"""Where SELU levels out on the left: minus its scale times its alpha."""


def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `x` with elements set to SELU's floor at random, then scaled so that mean and deviation stay."""
    with name_scope(name, "alpha_dropout", [x]):
        x = convert(x, name="x")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep = convert(keep_prob, x.dtype, name="keep_prob")
        keep.shape.assert_has_rank(0)
        known = Known((), keep.dtype, getattr(keep, "_array", keep)).value
        if known is not None and known == 1:
            return x
        shape = raw.Shape(x) if noise_shape is None else noise_shape
        kept = cast(raw.GreaterEqual(random_uniform(shape, seed=seed, dtype=x.dtype), 1 - keep), x.dtype)
        masked = x * kept + FLOOR * (1 - kept)
        scale = raw.Rsqrt(keep + FLOOR**2 * keep * (1 - keep))
        return scale * masked - scale * FLOOR * (1 - keep)


def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return alpha * log(1 + exp(x / alpha)), at most `clip`: the larger alpha, the softer."""
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert(x, name="x")
        alpha = convert(alpha, x.dtype, name="alpha")
        y = alpha * raw.Softplus(x / alpha)
        return y if clip is None else raw.Minimum(y, convert(clip, x.dtype))


def nth_element(input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """Return along the last axis what would stand at place `n` if that were in order (in falling order: `reverse`).

    >>> int(nth_element([3, 1, 2], 0))
    1
    """
    return raw.NthElement(convert(input), n, reverse=reverse, name=name)
