"""Means of losses over a batch that may be spread over replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw

replicas: list[Callable[[], int | None]] = []
"""Who knows how many replicas add up what is computed here; None is the answer where all of them speak at once."""


def _replicas(name: str) -> int:
    """Return how many replicas call a function, which is refused where none of them does."""
    count = replicas[0]() if replicas else 1
    if count is None:
        raise RuntimeError(
            f"You are calling `{name}` in cross replica context, while it was expected to be called in replica context."
        )
    return count


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> Tensor:
    """Return the sum of losses, weighted where weights are given, over the size of the whole batch.

    >>> compute_average_loss([1., 2., 3.], global_batch_size=6).numpy()
    np.float32(1.0)
    """
    losses = _real(convert(per_example_loss, name="per_example_loss"))
    kind = losses.dtype
    if sample_weight is not None:
        losses = losses * _beside(convert(sample_weight, dtype=None, name="sample_weight"), losses)
    if global_batch_size is None:
        if losses.shape.rank == 0:
            raise ValueError("If `global_batch_size` is not given, `per_example_loss` must have at least one dimension")
        global_batch_size = raw.Shape(losses)[0] * _replicas("compute_average_loss")
    size = convert(global_batch_size)
    if size.shape.rank not in (0, None):
        raise ValueError(f"global_batch_size must be a scalar, its shape is {size.shape}")
    if not size.dtype.is_integer:
        raise TypeError(f"global_batch_size must be an int, got {size.dtype.name}")
    total = raw.Sum(losses, raw.Range(0, raw.Rank(losses), 1))
    return raw.Cast(raw.DivNoNan(total, raw.Cast(size, DstT=total.dtype)), DstT=kind)


def _beside(weights: Any, losses: Any) -> Any:
    """Return weights of the losses' dtype, with as many axes."""
    weights = raw.Cast(weights, DstT=losses.dtype)
    while weights.shape.rank is not None and losses.shape.rank is not None and weights.shape.rank < losses.shape.rank:
        if weights.shape.rank == 0:
            break
        weights = raw.ExpandDims(weights, -1)
    return weights


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Return the sum of a regularisation loss over how many replicas add it up: one, outside a strategy."""
    count = _replicas("scale_regularization_loss")
    total = raw.Sum(*_all_of(_real(convert(regularization_loss))))
    return total if count == 1 else total / count


def _real(x: Any) -> Any:
    """Return whole numbers as what their quotients are."""
    return raw.Cast(x, DstT=dtypes.float64) if x.dtype.is_integer else x


def _all_of(x: Any) -> tuple[Any, Any]:
    return x, raw.Range(0, raw.Rank(x), 1)
