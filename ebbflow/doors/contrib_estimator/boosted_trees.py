"""Boosted trees grown on one batch that is kept in memory, as functions of `tf.contrib.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ebbflow.data.dataset import DatasetV2
from ebbflow.doors.boosted_trees.estimators import BoostedTreesClassifier, BoostedTreesRegressor


def _again(input_fn: Callable[..., Any]) -> Callable[[], Any]:
    """Return an input function that gives another's dataset again and again."""

    def repeated() -> Any:
        found = input_fn()
        return found.repeat() if isinstance(found, DatasetV2) else found

    return repeated


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Iterable[Any],
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """Return a classifier, trained on the one batch that an input function gives."""
    found = BoostedTreesClassifier(
        feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth, learning_rate,
        l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
        quantile_sketch_epsilon, train_in_memory=True,
    )  # fmt: skip
    found.train(input_fn=_again(train_input_fn), hooks=train_hooks)
    return found


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Iterable[Any],
    model_dir: str | None = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """Return a regressor, trained on the one batch that an input function gives."""
    found = BoostedTreesRegressor(
        feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate,
        l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
        quantile_sketch_epsilon, train_in_memory=True,
    )  # fmt: skip
    found.train(input_fn=_again(train_input_fn), hooks=train_hooks)
    return found
