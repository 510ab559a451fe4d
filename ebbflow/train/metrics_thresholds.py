"""Metrics of probabilities: hits and misses at many thresholds, and the areas and points of curves made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.argmax import argmax, argmin
from ebbflow.ops.arrays.creation import identity, ones_like_v1
from ebbflow.ops.arrays.shaping import expand_dims, reshape
from ebbflow.ops.checks.asserts import assert_greater_equal_v1, assert_less_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div, div_no_nan, maximum, minimum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.reduce.reductions import reduce_min, reduce_sum
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.platform import logging
from ebbflow.state.functions import assign_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.train.metrics import collected, metric_variable, only_in_graphs
from ebbflow.train.weights import as_floats, broadcast_weights, matched

TINY = 1e-7
"""What is put beside 0 and 1 among thresholds, and under quotients."""

_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_CASES = {"tp": (True, True), "fn": (True, False), "tn": (False, False), "fp": (False, True)}


def confusion_matrix_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    includes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return variables that count hits ("tp", "tn") and misses ("fp", "fn") at each threshold, and their updates."""
    includes = tuple(_NAMES) if includes is None else includes
    for include in includes:
        if include not in _NAMES:
            raise ValueError(f"Invalid key: {include}.")
    predictions = convert(predictions)
    zero, one = (cast(n, predictions.dtype) for n in (0.0, 1.0))
    checks = [
        assert_greater_equal_v1(predictions, zero, message="predictions must be in [0, 1]"),
        assert_less_equal_v1(predictions, one, message="predictions must be in [0, 1]"),
    ]
    with control_dependencies([c for c in checks if c is not None]):
        given = cast(predictions, dtypes.float32), cast(labels, dtypes.bool)
        predictions, labels, weights = matched(*given, weights)
    above = raw.Greater(reshape(predictions, [1, -1]), expand_dims(convert(list(thresholds), dtypes.float32), 1))
    is_true = raw.LogicalAnd(reshape(labels, [1, -1]), ones_like_v1(above))
    if weights is not None:
        weights = reshape(broadcast_weights(as_floats(weights), predictions), [1, -1])
    values, updates = {}, {}
    for key in (k for k in _NAMES if k in includes):
        label, prediction = _CASES[key]
        cases = raw.LogicalAnd(
            is_true if label else raw.LogicalNot(is_true), above if prediction else raw.LogicalNot(above)
        )
        cases = cast(cases, dtypes.float32)
        values[key] = metric_variable([len(thresholds)], dtypes.float32, name=_NAMES[key])
        updates[key] = assign_add(values[key], reduce_sum(cases if weights is None else cases * weights, 1))
    return values, updates


def even_thresholds(count: int) -> list[float]:
    """Return thresholds evenly from 0 to 1, the ends just outside."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - TINY, *inner, 1.0 + TINY]


# --- the area under a curve -------------------------------------------------------------------------------------------


def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the area under the ROC or precision-recall curve, approximated at thresholds, and its update."""
    only_in_graphs("auc")
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, "auc", [labels, predictions, weights]):
        if thresholds is not None:
            if any(not 0 <= t <= 1 for t in thresholds):
                raise ValueError("thresholds must be in [0, 1]")
            thresholds = [0.0 - TINY, *sorted(thresholds), 1.0 + TINY]
        else:
            thresholds = even_thresholds(num_thresholds)
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights)
        area = _area(curve, summation_method, len(thresholds))
        return collected(area(values, "value"), area(updates, "update_op"), metrics_collections, updates_collections)


def _area(curve: str, method: str, count: int) -> Callable[[dict[str, Any], str], Any]:
    def heights(y: Any) -> Any:
        left, right = y[: count - 1], y[1:]
        if method in ("trapezoidal", "careful_interpolation"):
            return (left + right) / 2.0
        if method in ("minoring", "majoring"):
            return (minimum if method == "minoring" else maximum)(left, right)
        raise ValueError(f"Invalid summation_method: {method}")

    def area(counts: dict[str, Any], name: str) -> Any:
        tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
        if curve == "PR":
            if method == "careful_interpolation":
                return _interpolated(tp, fp, fn, count)
            if method == "trapezoidal":
                logging.warning(
                    "Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                    '"careful_interpolation" instead.'
                )
        epsilon = 1.0e-6
        recalled = div(tp + epsilon, tp + fn + epsilon)
        x, y = (
            (div(fp, fp + tn + epsilon), recalled)
            if curve == "ROC"
            else (recalled, div(tp + epsilon, tp + fp + epsilon))
        )
        return reduce_sum(raw.Mul(x[: count - 1] - x[1:], heights(y)), name=name)

    return area


def _interpolated(tp: Any, fp: Any, fn: Any, count: int) -> Any:
    """Return the area under a precision-recall curve that bends between its points as precision does."""
    tp, fp, fn = (convert(x) for x in (tp, fp, fn))
    lost = tp[: count - 1] - tp[1:]
    told = tp + fp
    slope = div_no_nan(lost, maximum(told[: count - 1] - told[1:], 0), name="prec_slope")
    intercept = tp[1:] - raw.Mul(slope, told[1:])
    both = raw.LogicalAnd(told[: count - 1] > 0, told[1:] > 0)
    ratio = div_no_nan(told[: count - 1], maximum(told[1:], 0), name="recall_relative_ratio")
    ratio = where_v1(both, ratio, ones_like_v1(told[1:]))
    increment = div_no_nan(
        slope * (lost + intercept * raw.Log(ratio)), maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment"
    )
    return reduce_sum(increment, name="interpolate_pr_auc")


# --- at thresholds ----------------------------------------------------------------------------------------------------


def _counts_at(kind: str, key: str, doc: str) -> Callable[..., tuple[Any, Any]]:
    def function(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Sequence[str] | str | None = None,
        updates_collections: Sequence[str] | str | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        only_in_graphs(f"{kind}_at_thresholds")
        with variable_scope(name, kind, [predictions, labels, weights]):
            values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights, (key,))
            return collected(identity(values[key]), updates[key], metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = f"{kind}_at_thresholds"
    function.__doc__ = doc
    return function


true_positives_at_thresholds = _counts_at(
    "true_positives", "tp", "Return how many true labels were predicted at each threshold, and the update."
)
true_negatives_at_thresholds = _counts_at(
    "true_negatives", "tn", "Return how many false labels were predicted as such at each threshold, and the update."
)
false_positives_at_thresholds = _counts_at(
    "false_positives", "fp", "Return how many false labels were predicted as true at each threshold, and the update."
)
false_negatives_at_thresholds = _counts_at(
    "false_negatives", "fn", "Return how many true labels were predicted as false at each threshold, and the update."
)


def _part_at(kind: str, miss: str, doc: str) -> Callable[..., tuple[Any, Any]]:
    def function(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Sequence[str] | str | None = None,
        updates_collections: Sequence[str] | str | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor]:
        only_in_graphs(f"{kind}_at_thresholds")
        with variable_scope(name, f"{kind}_at_thresholds", [predictions, labels, weights]):
            values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights, ("tp", miss))

            def quotient(counts: dict[str, Any], name: str) -> Any:
                return div(counts["tp"], TINY + counts["tp"] + counts[miss], name=f"{kind}_{name}")

            found = quotient(values, "value"), quotient(updates, "update_op")
            return collected(*found, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = f"{kind}_at_thresholds"
    function.__doc__ = doc
    return function


precision_at_thresholds = _part_at(
    "precision", "fp", "Return which part of what is above each threshold is true, and the update."
)
recall_at_thresholds = _part_at(
    "recall", "fn", "Return which part of what is true is above each threshold, and the update."
)


# --- points of the curve ----------------------------------------------------------------------------------------------


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the sensitivity where the specificity is nearest to the one asked for, and the update."""
    only_in_graphs("sensitivity_at_specificity")
    _refuse_outside(specificity, "specificity")
    with variable_scope(name, "sensitivity_at_specificity", [predictions, labels, weights]):
        values, updates = confusion_matrix_at_thresholds(labels, predictions, even_thresholds(num_thresholds), weights)

        def point(counts: dict[str, Any], name: str) -> Any:
            tp, fn, tn, fp = (convert(counts[key]) for key in ("tp", "fn", "tn", "fp"))
            at = cast(argmin(raw.Abs(div(tn, tn + fp + TINY) - specificity), 0), dtypes.int32)
            return div(tp[at], tp[at] + fn[at] + TINY, name=name)

        return collected(point(values, "value"), point(updates, "update_op"), metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | str | None = None,
    updates_collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the specificity where the sensitivity is nearest to the one asked for, and the update."""
    only_in_graphs("specificity_at_sensitivity")
    _refuse_outside(sensitivity, "sensitivity")
    with variable_scope(name, "specificity_at_sensitivity", [predictions, labels, weights]):
        values, updates = confusion_matrix_at_thresholds(labels, predictions, even_thresholds(num_thresholds), weights)

        def point(counts: dict[str, Any], name: str) -> Any:
            tp, fn, tn, fp = (convert(counts[key]) for key in ("tp", "fn", "tn", "fp"))
            apart = raw.Abs(div(tp, tp + fn + TINY) - sensitivity)
            nearest = cast(raw.Equal(apart, reduce_min(apart)), dtypes.int64)
            at = cast(argmax(cumsum(nearest), 0), dtypes.int32)  # the last of them, should there be several
            return div(tn[at], tn[at] + fp[at] + TINY, name=name)

        return collected(point(values, "value"), point(updates, "update_op"), metrics_collections, updates_collections)


def _refuse_outside(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1].")
