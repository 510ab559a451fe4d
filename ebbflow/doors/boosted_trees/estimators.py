"""The Estimators of boosted trees: a classifier, a regressor, and one for any head; what features matter, and why.

They stand on the Estimator and the heads of `tensorflow_estimator`; its last release has no boosted trees.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint.reader import load_checkpoint
from ebbflow.core import dtypes
from ebbflow.doors import estimator_package
from ebbflow.doors.boosted_trees import model
from ebbflow.doors.boosted_trees.features import Features
from ebbflow.doors.boosted_trees.growing import Options
from ebbflow.graph.scopes import name_scope_v1, no_op
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.shaping import size
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.unary import sigmoid
from ebbflow.train.losses import Reduction

heads = estimator_package.inside("canned.head")
Estimator = estimator_package.inside("estimator").Estimator
PATHS = "_serialized_debug_outputs_proto"


class _BoostedTrees(Estimator):  # type: ignore[misc, valid-type]
    """What the Estimators share."""

    def __init__(
        self, head: Any, feature_columns: Iterable[Any], batches: int, options: Options, model_dir: Any, config: Any,
        closed_form: Any = None, weight_column: Any = None, in_memory: bool = False, is_classification: bool = False,
    ):  # fmt: skip
        options.check()
        if in_memory and batches != 1:
            raise ValueError(
                f"n_batches_per_layer = {batches}: with train_in_memory all examples are one batch, and it must be 1"
            )
        self._trees = Features(feature_columns, int(1 / options.quantile_sketch_epsilon))
        self._tree_options, self._tree_head, self._is_classification = options, head, is_classification

        def _model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model.model_fn(
                features, labels, mode, config, head=head, features=self._trees, options=options, batches=batches,
                closed_form=closed_form, weight_column=weight_column, in_memory=in_memory,
            )  # fmt: skip

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config)

    def experimental_feature_importances(self, normalize: bool = False) -> dict[str, float]:
        """Return how much splits by each column have gained, most first; `normalize` makes the sum 1."""
        serialized = load_checkpoint(self.model_dir).get_tensor(f"{model.NAME}:0_serialized")
        trees = messages.parse(messages.TreeEnsemble, bytes(serialized))
        if not trees.trees:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble. You should only call this method after training."
            )
        gains = np.zeros(len(self._trees.names))
        for tree, weight in zip(trees.trees, trees.tree_weights, strict=True):
            for node in tree.nodes:
                kind = node.WhichOneof("node")
                if kind not in (None, "leaf"):
                    gains[getattr(node, kind).feature_id] += weight * node.metadata.gain
        if normalize:
            if (gains < 0).any():
                raise AssertionError("feature_importances must be non-negative.")
            if not gains.sum() > 0:
                raise AssertionError("Trees are all empty or contain only a root node.")
            gains /= gains.sum()
        return self._by_column(gains)

    def _by_column(self, values: np.ndarray) -> dict[str, float]:
        sums: dict[str, float] = {}
        for name, value in zip(self._trees.names, values.tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + value
        return collections.OrderedDict(sorted(sums.items(), key=lambda pair: abs(pair[1]), reverse=True))

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Iterable[str] | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield predictions with `bias`, and with `dfc`: what each column adds to it, largest first."""
        if not self._tree_options.center_bias:
            raise ValueError("center_bias must be enabled during estimator instantiation when using "
                             "experimental_predict_with_explanations.")  # fmt: skip
        if self._tree_head.logits_dimension > 1:
            raise ValueError("experimental_predict_with_explanations does not yet support multi-class classification "
                             "and multi-label regression.")  # fmt: skip
        if not self._is_classification and getattr(self._tree_head, "_inverse_link_fn", None) not in (None, identity):
            raise ValueError("For now only identity inverse_link_fn in regression_head is supported for "
                             "experimental_predict_with_explanations.")  # fmt: skip
        with_paths = Estimator(self._explained, model_dir=self.model_dir, config=self.config)
        keys = None if predict_keys is None else [*predict_keys, PATHS]
        for row in with_paths.predict(input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path):
            path = messages.parse(messages.DebugOutput, row.pop(PATHS))
            said = np.array(path.logits_path, np.float64)
            said = 1 / (1 + np.exp(-said)) if self._is_classification else said
            added = np.bincount(list(path.feature_ids), np.diff(said), len(self._trees.names))
            yield {**row, "bias": said[0], "dfc": self._by_column(added)}

    def _explained(self, features: Any, labels: Any, mode: str) -> Any:
        with name_scope_v1(model.NAME) as scope:
            trees = model.Trees(scope, self._trees, self._tree_options)
            buckets = self._trees.buckets(features, trees.boundaries)
            spec = self._tree_head.create_estimator_spec(
                features=features, mode=mode, labels=None, train_op_fn=lambda loss: no_op(),
                logits=trees.predict(buckets, self._tree_head.logits_dimension),
            )  # fmt: skip
            spec.predictions[PATHS] = raw.BoostedTreesExampleDebugOutputs(
                trees.ensemble.resource_handle, buckets, logits_dimension=1
            )
        return spec


def _closed_form(head: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
    """Return first and second derivatives of the mean logistic loss."""
    labels = heads._check_dense_labels_match_logits_and_reshape(
        cast(labels, dtypes.float32), logits, head.logits_dimension
    )
    said, share = sigmoid(logits), 1.0 / cast(size(logits), dtypes.float32)
    return (said - labels) * share, said * (1.0 - said) * share


class BoostedTreesClassifier(_BoostedTrees):
    """Boosted trees that tell classes apart."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        closed_form = None
        if n_classes == 2:
            head = heads._binary_logistic_head_with_sigmoid_cross_entropy_loss(
                weight_column=weight_column, label_vocabulary=label_vocabulary,
                loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
            )  # fmt: skip
            if weight_column is None and label_vocabulary is None:
                closed_form = functools.partial(_closed_form, head)
        else:
            head = heads._multi_class_head_with_softmax_cross_entropy_loss(
                n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
                loss_reduction=Reduction.SUM_OVER_NONZERO_WEIGHTS,
            )  # fmt: skip
        options = Options(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, feature_columns, n_batches_per_layer, options, model_dir, config, closed_form, weight_column,
            train_in_memory, is_classification=True,
        )  # fmt: skip


class BoostedTreesRegressor(_BoostedTrees):
    """Boosted trees that say numbers."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        head = heads._regression_head(
            label_dimension=label_dimension, weight_column=weight_column, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE
        )
        options = Options(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, feature_columns, n_batches_per_layer, options, model_dir, config, None, weight_column, train_in_memory
        )


class BoostedTreesEstimator(_BoostedTrees):
    """Boosted trees for any head."""

    def __init__(
        self,
        feature_columns: Iterable[Any],
        n_batches_per_layer: int,
        head: Any,
        model_dir: str | None = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        options = Options(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, feature_columns, n_batches_per_layer, options, model_dir, config, None, weight_column, train_in_memory
        )
