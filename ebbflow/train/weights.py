"""Broadcasting weights to values, and shapes that differ by an axis of length 1.

Shared by losses and metrics.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.shaping import expand_dims, squeeze
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all


def broadcastable(weights: Any, values: Any) -> list[Any]:
    """Refuse weights that do not spread over the values; return what to wait for where that shows only later."""
    weights, values = convert(weights), convert(values)
    found, wanted = weights._dims, values._dims
    if found == ():
        return []
    if found is not None and wanted is not None and _checked_statically(found, wanted, weights, values):
        return []
    with name_scope("assert_broadcastable"):
        shape, full = raw.Shape(weights), raw.Shape(values)
        scalar = raw.Equal(rank_of(weights), 0)
        same_rank = raw.Equal(rank_of(weights), rank_of(values))
        as_long = raw.Equal(shape, full, incompatible_shape_error=False)  # of other ranks: not, and no error of its own
        fits = reduce_all(raw.LogicalOr(as_long, raw.Equal(shape, 1)))
        told = [_REFUSED, "weights.shape=", shape, "values.shape=", full, "is_scalar=", scalar]
        assertion = Assert(raw.LogicalOr(scalar, raw.LogicalAnd(same_rank, fits)), told)
    return [] if assertion is None else [assertion]


def assert_broadcastable(weights: TensorLike, values: TensorLike) -> Any:
    """Return an operation that fails where weights do not spread over values; ValueError where that is known."""
    return group(*broadcastable(weights, values))


_REFUSED = "weights can not be broadcast to values."


def _checked_statically(found: tuple[Any, ...], wanted: tuple[Any, ...], weights: Any, values: Any) -> bool:
    """Return whether weights are known to spread over the values; raise ValueError where they are known not to."""
    if len(found) != len(wanted):
        raise ValueError(
            f"{_REFUSED} values.rank={len(wanted)}. weights.rank={len(found)}. values.shape={values.shape}. "
            f"weights.shape={weights.shape}."
        )
    for axis, (w, v) in enumerate(zip(found, wanted, strict=True)):
        if None not in (w, v) and w not in (1, v):
            shown = (f"[{' '.join(map(str, dims))}]" for dims in (wanted, found))
            raise ValueError("{} Mismatch at dim {}. values.shape={} weights.shape={}.".format(_REFUSED, axis, *shown))
    return all(w == 1 or (w is not None and w == v) for w, v in zip(found, wanted, strict=True))


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """Return weights spread over the values."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert(values, name="values")
        weights = cast(convert(weights, name="weights"), values.dtype)
        if weights._dims is not None and weights._dims == values._dims and None not in weights._dims:
            return weights
        with control_dependencies(broadcastable(weights, values)):
            return raw.Mul(weights, raw.OnesLike(values, name="ones_like"), name=scope or None)


def remove_squeezable_dimensions(
    labels: TensorLike, predictions: TensorLike, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return labels and predictions; one that has a last axis of length 1 too many is without it."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        labels, predictions = convert(labels), convert(predictions)
        if predictions._dims is not None and labels._dims is not None:
            apart = len(predictions._dims) - len(labels._dims)
            if apart == expected_rank_diff + 1 and predictions._dims[-1] in (1, None):
                predictions = squeeze(predictions, [-1])
            elif apart == expected_rank_diff - 1 and labels._dims[-1] in (1, None):
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = rank_of(predictions) - rank_of(labels)
        return (
            _without_last_if(raw.Equal(expected_rank_diff - 1, difference), labels),
            _without_last_if(raw.Equal(expected_rank_diff + 1, difference), predictions),
        )


def _without_last_if(too_long: Tensor, x: Tensor) -> Tensor:
    """Return `x`, without its last axis where `too_long` turns out to be true and that axis can be of length 1."""
    if x._dims is not None and (not x._dims or x._dims[-1] not in (1, None)):
        return x
    return cond(too_long, lambda: squeeze(x, [-1]), lambda: x)


def matched(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    """Return all three in shapes that match: of predictions, labels and weights that differ by a last axis of
    length 1, it is taken off (or put on, for weights).
    """
    predictions = convert(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    weights = convert(weights)
    if weights._dims == ():
        return predictions, labels, weights
    if weights._dims is None or predictions._dims is None:
        return predictions, labels, _of_like_rank(weights, predictions)
    apart = len(weights._dims) - len(predictions._dims)
    if apart == 1:
        weights = squeeze(weights, [-1])
    elif apart == -1:
        weights = expand_dims(weights, -1)
    return predictions, labels, weights


def _of_like_rank(weights: Any, predictions: Any) -> Any:
    """Return weights without, or with, a last axis of length 1 more, where their rank shows only when it runs."""
    own, wanted = rank_of(weights), rank_of(predictions)
    near = raw.LogicalAnd(raw.LessEqual(raw.Abs(own - wanted), 1), raw.Greater(own, 0))
    dims = raw.ConcatV2([raw.Shape(weights), [1]], 0)
    return raw.Reshape(weights, dims[: raw.SelectV2(near, wanted, own)])


def as_floats(weights: Any) -> Any:
    """Return weights as float32."""
    return cast(weights, dtypes.float32)


def match_shapes(
    predictions: TensorLike, labels: TensorLike | None, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Any]:
    """Return all three in shapes that match (`metrics_impl._remove_squeezable_dimensions`)."""
    return matched(predictions, labels, weights)
