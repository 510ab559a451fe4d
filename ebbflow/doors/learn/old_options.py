"""What canned models of `tf.contrib.learn` take and today's do not: clipped gradients, a centered bias, features anew.

Each is put around a part that the package's Estimators take from outside: the optimizer, the head, the model function.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ebbflow.core.slices import IndexedSlices
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.estimator import core
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import group
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.elementwise.clip import clip_by_global_norm
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.train.losses import Reduction
from ebbflow.train.optimizer import Optimizer
from ebbflow.train.optimizers import AdagradOptimizer

CENTERED_BIAS_RATE = 0.1
DNN_RATE = 0.05
LINEAR_RATE = {"LinearClassifier": 0.2, "LinearRegressor": 0.2}
BESIDE_NEURONS_RATE = 0.005
"""The largest learning rates of models that are given no optimizer; a linear model's gets less with many columns."""


class AdjustedGradients(Optimizer):
    """An optimizer whose gradients are multiplied for some variables, and clipped by their common norm, beforehand."""

    def __init__(self, inner: Any, norm: float | None, multipliers: Mapping[str, float]):
        super().__init__(False, inner.get_name())
        self._inner, self._norm, self._multipliers = inner, norm, multipliers

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what the inner optimizer computes."""
        return self._inner.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Have the inner optimizer apply them, multiplied and clipped."""
        pairs = list(grads_and_vars)
        gradients = [self._multiplied(gradient, variable) for gradient, variable in pairs]
        if self._norm:
            gradients, _ = clip_by_global_norm(gradients, self._norm)
        again = [(gradient, variable) for gradient, (_, variable) in zip(gradients, pairs, strict=True)]
        return self._inner.apply_gradients(again, global_step, name)

    def _multiplied(self, gradient: Any, variable: Any) -> Any:
        factors = [value for part, value in self._multipliers.items() if part in variable.op.name]
        if gradient is None or not factors:
            return gradient
        if isinstance(gradient, IndexedSlices):
            return IndexedSlices(gradient.values * factors[0], gradient.indices, gradient.dense_shape)
        return gradient * factors[0]

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the inner optimizer."""
        return self._inner.get_slot(*args, **kwargs)

    def get_slot_names(self) -> list[str]:
        """Return the names of the inner optimizer's slots."""
        return self._inner.get_slot_names()

    def variables(self) -> Any:
        """Return the inner optimizer's variables."""
        return self._inner.variables()


def adjusted(kind: str, arguments: dict[str, Any], norm: float | None, multipliers: Any) -> dict[str, Any]:
    """Return the arguments of a model of a kind, with optimizers that adjust gradients where any are to be adjusted."""
    if not norm and not multipliers:
        return arguments
    factors = {f"{column.name}/embedding_weights": value for column, value in (multipliers or {}).items()}
    names = ["dnn_optimizer", "linear_optimizer"] if kind.startswith("DNNLinear") else ["optimizer"]
    return {**arguments, **{name: _maker(kind, name, arguments, norm, factors) for name in names}}


def _maker(kind: str, name: str, arguments: Mapping[str, Any], norm: Any, factors: Mapping[str, float]) -> Any:
    linear = name == "linear_optimizer" or kind in LINEAR_RATE
    columns = arguments.get("linear_feature_columns" if name == "linear_optimizer" else "feature_columns") or [None]
    top = LINEAR_RATE.get(kind, BESIDE_NEURONS_RATE)
    rate = min(top, 1 / math.sqrt(len(list(columns)))) if linear else DNN_RATE
    chosen = arguments.get(name) or ("Ftrl" if linear else "Adagrad")

    def make() -> AdjustedGradients:
        optimizers = estimator_package.inside("canned.optimizers")
        return AdjustedGradients(optimizers.get_optimizer_instance(chosen, learning_rate=rate), norm, factors)

    return make


class CenteredHead:
    """A head with a bias that is trained on the labels alone; what the model learns is what remains besides."""

    def __init__(self, head: Any, scope: str):
        self._head, self._scope = head, scope

    def __getattr__(self, name: str) -> Any:
        return getattr(self._head, name)

    def _bias(self) -> Any:
        with variable_scope(self._scope) as scope:
            scope.set_partitioner(None)
            return get_variable(
                "centered_bias_weight", [self._head.logits_dimension], initializer=Zeros(), trainable=False,
                collections=[GraphKeys.GLOBAL_VARIABLES],
            )  # fmt: skip

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None, train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:  # fmt: skip
        """Return the head's spec for logits with the bias, whose training trains the bias too."""
        bias = self._bias()
        spec = self._head.create_estimator_spec(
            features=features, mode=mode, logits=bias_add(logits, bias), labels=labels, optimizer=optimizer,
            train_op_fn=train_op_fn, regularization_losses=regularization_losses,
        )  # fmt: skip
        if mode != core.ModeKeys.TRAIN:
            return spec
        alone = tile(bias[None, :], [shape(logits)[0], 1])
        loss = self._head.create_loss(features=features, mode=mode, logits=alone, labels=labels).training_loss
        step = AdagradOptimizer(CENTERED_BIAS_RATE).minimize(loss, var_list=[bias], name="centered_bias_step")
        return spec._replace(train_op=group(spec.train_op, step))


def with_centered_bias(kind: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the kind and the arguments of a model that takes its head from outside, with a centered bias in it."""
    heads, reduction = estimator_package.inside("canned.head"), Reduction.SUM_OVER_BATCH_SIZE
    weights, classes = arguments.get("weight_column"), arguments.get("n_classes")
    if kind.endswith("Classifier"):
        words = arguments.get("label_vocabulary")
        scope = "binary_logistic_head" if classes == 2 else "multi_class_head"
        head = heads._binary_logistic_or_multi_class_head(classes, weights, words, reduction)
    else:
        scope, head = "regression_head", heads._regression_head(weights, arguments.get("label_dimension"), reduction)
    taken = ("weight_column", "label_vocabulary", "n_classes", "label_dimension", "loss_reduction")
    rest = {name: value for name, value in arguments.items() if name not in taken}
    family = kind.removesuffix("Classifier").removesuffix("Regressor")
    return f"{family}Estimator", {**rest, "head": CenteredHead(head, scope)}


def with_features_anew(estimator: Any, feature_engineering_fn: Any) -> Any:
    """Return an Estimator like another, whose model sees the features and labels that a function makes of them."""
    inner = estimator.model_fn

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        features, labels = feature_engineering_fn(features, labels)
        return inner(features, labels, mode, config)

    return core.Estimator(model_fn, estimator.model_dir, estimator.config)
