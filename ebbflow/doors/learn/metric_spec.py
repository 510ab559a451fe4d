"""`tf.contrib.learn.MetricSpec`: a metric with the keys of the prediction, label and weight it is computed of.

Which arguments of a metric are which is told by their names. Knows nothing of Estimators.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Nested
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.arrays.creation import zeros
from ebbflow.state.variables import VariableV1 as Variable

ARGUMENTS = {
    "prediction": ("predictions", "prediction"),
    "label": ("labels", "targets", "label", "target"),
    "weight": ("weights", "weight"),
}


class MetricSpec:
    """A metric with the keys of the prediction, label and weight it is computed of."""

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ):
        self.metric_fn = metric_fn
        self.prediction_key, self.label_key, self.weight_key = prediction_key, label_key, weight_key
        self._name = getattr(_innermost(metric_fn), "__name__", str(metric_fn))
        self._positional, names = _arguments(metric_fn)
        self._of = {what: self._one_of(what, names) for what in ARGUMENTS}
        for what, key in (("label", label_key), ("weight", weight_key)):
            if key is not None and self._of[what] is None:
                raise ValueError(f"{what}_key {key!r} is given, but the {what} argument of {self._name} is missing")

    def _one_of(self, what: str, names: list[str]) -> str | None:
        found = [name for name in ARGUMENTS[what] if name in names]
        if len(found) > 1:
            raise ValueError(f"{self._name} must provide only one of its {what} arguments {found}")
        return found[0] if found else None

    def create_metric_ops(self, inputs: Nested, labels: AnyTensor, predictions: AnyTensor) -> Nested:
        """Return what the metric gives: its value and its update."""
        kwargs = {}
        prediction = _chosen(predictions, self.prediction_key, "prediction")
        if self._of["prediction"] is not None:
            kwargs[self._of["prediction"]] = prediction
        else:  # the first argument that is nothing else
            other = next((name for name in self._positional if name not in self._of.values()), None)
            if other is None:
                raise TypeError(f"{self._name} has no argument for predictions")
            kwargs[other] = prediction
        if self._of["label"] is not None:
            kwargs[self._of["label"]] = _chosen(labels, self.label_key, "label")
        if self.weight_key is not None and self._of["weight"] is not None:
            if not isinstance(inputs, Mapping) or self.weight_key not in inputs:
                raise ValueError(f"weight_key {self.weight_key!r} is not among the features")
            kwargs[self._of["weight"]] = inputs[self.weight_key]
        found = self.metric_fn(**kwargs)
        return _kept(found) if isinstance(found, Tensor) else found

    def __str__(self) -> str:
        keys = f"prediction_key={self.prediction_key}, label_key={self.label_key}, weight_key={self.weight_key}"
        return f"MetricSpec(metric_fn={self._name}, {keys})"


def _kept(value: Any) -> tuple[Any, Any]:
    """Return a metric of one batch as a value to read after the last batch, and what sets it."""
    last = Variable(zeros(value.shape, value.dtype), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
    return last.value(), last.assign(value)


def _innermost(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _arguments(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Return the arguments that may be given by place, and all that have names."""
    parameters = inspect.signature(function).parameters.values()
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return by_place, [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _chosen(values: Any, key: str | None, what: str) -> Any:
    if not isinstance(values, Mapping):
        if key is not None:
            raise ValueError(f"MetricSpec with {what}_key specified requires {what}s dict, got {values}.")
        return values
    if key is None:
        if len(values) != 1:
            raise ValueError(
                f"MetricSpec without specified {what}_key requires {what}s tensor or single element dict, "
                f"got {sorted(values)}."
            )
        return next(iter(values.values()))
    if key not in values:
        raise KeyError(f"Key {key!r}, the {what}_key, is missing from {sorted(values)}.")
    return values[key]
