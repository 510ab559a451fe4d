"""Regularizers (`tf.contrib.layers`): functions from weights to a loss, for `get_variable` and layers, and the sum
of the losses they gave.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.collections import GraphKeys, add_to_collection, get_collection
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.platform import logging

Regularizer = Callable[..., Any]


def l1_regularizer(scale: TensorLike, scope: str | None = None) -> Regularizer:
    """Return a regularizer: `scale` times the sum of magnitudes.

    >>> float(l1_regularizer(0.5)(convert([1.0, -3.0])))
    2.0
    """
    return _scaled(scale, scope, "l1_regularizer", lambda weights: reduce_sum(raw.Abs(weights)))


def l2_regularizer(scale: TensorLike, scope: str | None = None) -> Regularizer:
    """Return a regularizer: `scale` times half the sum of squares.

    >>> float(l2_regularizer(0.5)(convert([2.0, 4.0])))
    5.0
    """
    return _scaled(scale, scope, "l2_regularizer", raw.L2Loss)


def _scaled(scale: Any, scope: str | None, default: str, penalty: Regularizer) -> Regularizer:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any, name: str | None = None) -> Any:
        with name_scope(scope, default, [weights]) as name:
            factor = convert(scale, weights.dtype.base_dtype, name="scale")
            return raw.Mul(factor, penalty(weights), name=name or None)

    return regularizer


def l1_l2_regularizer(
    scale_l1: TensorLike = 1.0, scale_l2: TensorLike = 1.0, scope: str | None = None
) -> Regularizer | None:
    """Return a regularizer: the sum of an L1 and an L2 regularizer."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(regularizer_list: Sequence[Any], scope: str | None = None) -> Regularizer | None:
    """Return a regularizer: the sum of several. None where there is none."""
    chosen = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not chosen:
        return None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [loss for loss in (each(weights) for each in chosen) if loss is not None]
            return raw.AddN(losses, name=name or None) if losses else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Tensor:
    """Return the sum of a regularizer's losses, kept in the collection of regularization losses too."""
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope(None, "get_regularization_penalty", weights_list) as scope:
        losses = [regularizer(weights) for weights in weights_list]
        losses = [constant(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.get_shape().rank != 0:
                raise ValueError(
                    f"regularizer must return a scalar Tensor instead of a Tensor with rank {loss.get_shape().rank}."
                )
        total = raw.AddN(losses, name=scope or None)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Return the losses that regularizers gave, of variables under `scope` where one is given."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """Return the sum of the losses that regularizers gave (0.0 where there is none)."""
    losses = get_regularization_losses(scope)
    return raw.AddN(losses, name=name) if losses else constant(0.0)
