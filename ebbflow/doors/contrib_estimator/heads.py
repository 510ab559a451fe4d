"""The heads of `tf.contrib.estimator`: the package's heads of one objective, with the defaults they had here.

Losses are means over a batch. `multi_label_head` and `multi_head`, which the package has only for TF 2, stand in
modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ebbflow.doors.estimator_package import inside
from ebbflow.ops.elementwise.unary import exp, sigmoid
from ebbflow.ops.nn.cross_entropy import log_poisson_loss
from ebbflow.train.losses import Reduction, sigmoid_cross_entropy

base = inside("canned.head")


def multi_class_head(
    n_classes: int,
    weight_column: object = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return a head that tells more than two classes apart."""
    return base._multi_class_head_with_softmax_cross_entropy_loss(
        n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name,
    )  # fmt: skip


def binary_classification_head(
    weight_column: object = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return a head that tells two classes apart."""
    return base._binary_logistic_head_with_sigmoid_cross_entropy_loss(
        weight_column=weight_column, thresholds=thresholds, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name,
    )  # fmt: skip


def regression_head(
    weight_column: object = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return a head that says numbers, judged by squared differences."""
    return base._regression_head(
        weight_column=weight_column, label_dimension=label_dimension, loss_reduction=loss_reduction, loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn, name=name,
    )  # fmt: skip


def poisson_regression_head(
    weight_column: object = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Any:
    """Return a head for counts: logits are logarithms of rates."""

    def loss(labels: Any, logits: Any) -> Any:
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return regression_head(weight_column, label_dimension, loss_reduction, loss, exp, name)


def logistic_regression_head(
    weight_column: object = None, loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, name: str | None = None
) -> Any:
    """Return a head for labels in [0, 1]: logits are log-odds."""

    def loss(labels: Any, logits: Any) -> Any:
        return sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)

    return regression_head(weight_column, 1, loss_reduction, loss, sigmoid, name)
