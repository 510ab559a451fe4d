"""Metrics that are objects (`tfe.metrics`): called with values they accumulate, `result()` says what they came to.

They keep their sums in variables, which checkpoints find; in a graph the call gives what accumulates, and
`init_variables` what starts anew.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, Nested, TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import control_dependencies, group, init_scope
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import ones_like
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.shaping import size
from ebbflow.ops.checks.asserts import assert_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import equal
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.summary.contrib import scalar
from ebbflow.trackable.base import Trackable

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class Metric(Trackable):
    """What accumulates: a kind says `build`, `call` and `result`."""

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        self._name = name or type(self).__name__
        self._scope = re.sub(r"[^A-Za-z0-9_.]", "_", self._name)
        self._vars: list[Any] = []
        self._starts: list[Any] = []
        self._built = False
        self._use_global_variables = use_global_variables

    name = property(lambda self: self._name, doc="Its name.")
    variables = property(lambda self: self._vars, doc="What it keeps.")

    def __call__(self, *args: Any, **kwargs: Any) -> Nested:
        """Accumulate; return what was given (in a graph once that has been counted)."""
        if not self._built:
            with init_scope(), variable_scope(self._scope, use_resource=True, reuse=False):
                self.build(*args, **kwargs)
            self._built = True
        with name_scope(self._scope):
            return self.call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the variables; called before the first `call`."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Nested:
        """Accumulate."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self, write_summary: bool = True) -> Nested:
        """Return what it came to."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Nested:
        """Return what it came to."""
        return self.result()

    def init_variables(self) -> Effect:
        """Start anew: at once, or in a graph by the operation returned."""
        if context.executing_eagerly():
            for v, start in zip(self._vars, self._starts, strict=True):
                v.assign(start)
            return None
        return group(*[v.initializer for v in self._vars])

    def add_variable(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None) -> Variable:
        """Return a new variable that is part of the metric."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        kind = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        variable = self._add_variable_with_custom_getter(
            name, shape, dtype, initializer, get_variable, overwrite=False, use_resource=True, trainable=False,
            collections=[kind, GraphKeys.METRIC_VARIABLES],
        )  # fmt: skip
        self._vars.append(variable)
        self._starts.append(variable.value() if context.executing_eagerly() else None)
        return variable


class Mean(Metric):
    """The weighted mean of what it was called with."""

    def __init__(
        self, name: str | None = None, dtype: DTypeLike = dtypes.float64, use_global_variables: bool = False
    ) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the sum and the count."""
        if not self._vars:  # a program may have called this
            self.numer = self.add_variable("numer", (), self.dtype, Zeros())
            self.denom = self.add_variable("denom", (), self.dtype, Zeros())

    def call(self, values: TensorLike, weights: TensorLike | None = None) -> Nested:
        """Add `values`, each weighing 1 or what `weights` says."""
        given = (values,) if weights is None else (values, weights)
        values = cast(convert(values), self.dtype)
        if weights is None:
            added, count = reduce_sum(values), cast(size(values), self.dtype)
        else:
            weights = cast(convert(weights), self.dtype) * ones_like(values)
            added, count = reduce_sum(values * weights), reduce_sum(weights)
        done = [self.denom.assign_add(count), self.numer.assign_add(added)]
        with control_dependencies([d for d in done if hasattr(d, "graph")]):
            kept = tuple(raw.Identity(convert(x)) for x in given)
        return kept[0] if len(kept) == 1 else kept

    def result(self, write_summary: bool = True) -> Tensor:
        """Return the mean so far; summaries of `tf.contrib.summary` get it too, unless that is not wanted."""
        mean = self.numer.value() / self.denom.value()
        if write_summary:
            scalar(self._name, mean)
        return mean


class _Matches(Mean):
    def _counted(self, matches: Any, weights: Any) -> None:
        Mean.call(self, cast(matches, self.dtype), weights)


class Accuracy(_Matches):
    """The share of predictions that equal their labels."""

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)

    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nested:
        """Compare; return (labels, predictions), with the weights where there are any."""
        labels, predictions = convert(labels), convert(predictions)
        words = "Shapes of labels and predictions are unequal"
        check = assert_equal_v1(shape_of(labels), shape_of(predictions), message=words)
        with control_dependencies([] if check is None else [check]):
            matches = equal(labels, cast(predictions, labels.dtype))
        self._counted(matches, weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Accuracy):
    """The share of rows whose largest prediction stands where the largest label does."""

    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nested:
        """Compare the places of the largest entries."""
        labels, predictions = convert(labels), convert(predictions)
        self._counted(equal(argmax(labels, -1), argmax(predictions, -1)), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class SparseAccuracy(Accuracy):
    """The share of rows whose largest prediction stands where the label says."""

    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nested:
        """Compare the labels with the places of the largest predictions."""
        labels, predictions = convert(labels), convert(predictions)
        self._counted(equal(cast(labels, dtypes.int64), argmax(predictions, -1)), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class BinaryAccuracy(_Matches):
    """The share of predictions that lie on the right side of a threshold."""

    def __init__(self, threshold: float, name: str | None = None, dtype: DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nested:
        """Compare the labels with whether predictions exceed the threshold."""
        labels, predictions = convert(labels), convert(predictions)
        above = cast(predictions > cast(self.threshold, predictions.dtype), labels.dtype)
        self._counted(equal(labels, above), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)
