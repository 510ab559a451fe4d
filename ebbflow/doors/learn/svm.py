"""`tf.contrib.learn.SVM`: a linear classifier with a margin, solved by stochastic dual coordinate ascent.

The solver and the linear model are the package's (`canned.linear`); the loss that asks for a margin is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.canned import PredictionKey
from ebbflow.doors.learn.estimator import Estimator, ModeKeys, ModelFnOps
from ebbflow.doors.learn.inputs import named
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.declare import raw
from ebbflow.train import metrics
from ebbflow.train.losses import Reduction, compute_weighted_loss, hinge_loss
from ebbflow.train.step_counter import get_global_step

LEAST_L2 = 1.0
"""The solver needs that much regularization, whatever is asked for."""


class SVM(Estimator):
    """A support vector machine for two classes. `example_id_column` names a feature of strings, which tell rows apart.

    Rows seen again are known by these, and solved for further.
    """

    _as_given = False

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Iterable[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Iterable[Any] | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        self._columns, self._weights = list(feature_columns), weight_column_name
        self._solver = {
            "example_id_column": example_id_column, "num_loss_partitions": num_loss_partitions,
            "symmetric_l1_regularization": l1_regularization,
            "symmetric_l2_regularization": max(l2_regularization, LEAST_L2),
        }  # fmt: skip
        super().__init__(self._margin_model, model_dir, config, feature_engineering_fn=feature_engineering_fn)

    def _input(self, input_fn: Any) -> Any:
        return named(input_fn)

    def _margin_model(self, features: Mapping[str, Any], labels: Any, mode: str) -> ModelFnOps:
        linear = estimator_package.inside("canned.linear")
        model = linear.LinearModel(self._columns, units=1, sparse_combiner="sum", name="linear_model")
        logits = model(dict(features))
        both = concat([raw.ZerosLike(logits), logits], 1)
        predictions = {
            PredictionKey.LOGITS: logits, PredictionKey.CLASSES: raw.ArgMax(both, 1),
            PredictionKey.PROBABILITIES: raw.Softmax(both),
        }  # fmt: skip
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions)
        weights = None
        if self._weights is not None:
            weights = raw.Cast(reshape(features[self._weights], [-1, 1]), DstT=dtypes.float32)
        labels = reshape(labels, [-1, 1])
        loss = compute_weighted_loss(
            hinge_loss(labels, logits, reduction=Reduction.NONE), 1.0 if weights is None else weights,
            reduction=Reduction.MEAN,
        )  # fmt: skip
        if mode == ModeKeys.EVAL:
            each = None if weights is None else weights[:, 0]
            right = metrics.accuracy(labels[:, 0], predictions[PredictionKey.CLASSES], each)
            return ModelFnOps(mode, predictions, loss, None, {"accuracy": right})
        solver, step = linear.LinearSDCA(**self._solver).get_train_step(
            model.layer._state_manager, self._weights, "hinge_loss", self._columns, features, labels, model.bias,
            get_global_step(),
        )  # fmt: skip
        return ModelFnOps(
            mode, predictions, loss, step, training_chief_hooks=[linear._SDCAUpdateWeightsHook(solver, step)]
        )

    def predict_classes(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Nested:
        """Return the class of each row, 0 or 1."""
        return self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Nested = None,
        as_iterable: bool = True,
    ) -> Nested:
        """Return for each row the softmax of zero and its distance from the plane between the classes."""
        return self._one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    def _one(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        told = self.predict(x, input_fn, batch_size, [key], as_iterable)
        return (row[key] for row in told) if as_iterable else told[key]
