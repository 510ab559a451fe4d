"""`tf.contrib.linear_optimizer`: linear models solved by stochastic dual coordinate ascent.

The solver is the package's (`canned.linear_optimizer`). What differs here is what was asked of it in those years: rows
are sampled by their gaps unless told otherwise, and less regularization than the solver needs is raised to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.canned import LinearClassifier, LinearRegressor
from ebbflow.feature_column.numeric import NumericColumn
from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.elementwise.casts import cast
from ebbflow.tf1.column_kinds import kind_of, sort_key, with_known

SOLVER = "canned.linear_optimizer.python.utils"
LEAST_L2 = 1.0
"""The solver needs that much regularization, whatever is asked for."""

_ops: Any = estimator_package.inside(f"{SOLVER}.sdca_ops")
_linear: Any = estimator_package.inside("canned.linear")
SparseFeatureColumn = _ops._SparseFeatureColumn
_tables: Any = estimator_package.inside(f"{SOLVER}.sharded_mutable_dense_hashtable")


_Table: Any = _tables._ShardedMutableDenseHashTable
_Model: Any = _ops._SDCAModel


class ShardedMutableDenseHashTable(_Table):
    """A table of several, each with the keys that leave a certain remainder."""

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return what the table has for each key."""
        found = super().lookup(keys, name)
        found.set_shape(keys.shape[:1].concatenate(self._value_shape))
        return found


class SdcaModel(_Model):
    """A linear model and its solver; `options` name the loss and the regularization."""

    def __init__(self, examples: Mapping[str, Any], variables: Mapping[str, Any], options: Mapping[str, Any]):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            if options[name] < 0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        self._asked_l2 = options["symmetric_l2_regularization"]
        raised = max(self._asked_l2, LEAST_L2)
        super().__init__(examples, variables, {"adaptive": True, **options, "symmetric_l2_regularization": raised})

    def regularized_loss(self, examples: Mapping[str, Any]) -> Any:
        """Return the mean loss of the examples with the regularization that was asked for."""
        raised, self._options["symmetric_l2_regularization"] = self._symmetric_l2_regularization(), self._asked_l2
        try:
            return super().regularized_loss(examples)
        finally:
            self._options["symmetric_l2_regularization"] = raised


class SDCAOptimizer:
    """What a linear model of `tf.contrib.learn` is given to be solved so. `example_id_column` tells rows apart."""

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Callable[..., Any] | None = None,
    ):
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive
        self.partitioner = partitioner

    def get_name(self) -> str:
        """Return what it is called."""
        return "SDCAOptimizer"

    def _options(self) -> dict[str, Any]:
        return {
            "symmetric_l1_regularization": self.symmetric_l1_regularization,
            "symmetric_l2_regularization": self.symmetric_l2_regularization,
            "adaptive": self.adaptive, "num_loss_partitions": self.num_loss_partitions,
            "num_table_shards": self.num_table_shards,
        }  # fmt: skip

    def of_package(self) -> Any:
        """Return the package's own that does the same."""
        options = self._options()
        options["symmetric_l2_regularization"] = max(self.symmetric_l2_regularization, LEAST_L2)
        return _linear.LinearSDCA(self.example_id_column, **options)

    def get_train_step(
        self,
        columns_to_variables: Mapping[Any, Any],
        weight_column_name: str | None,
        loss_type: str,
        features: Mapping[Any, Any],
        targets: TensorLike,
        global_step: object,
    ) -> tuple[SdcaModel, Effect]:
        """Return the model of columns and their variables, and the operation that trains it by a step."""
        count = shape(targets)[0]
        weights = ones([count]) if not weight_column_name else reshape(features[weight_column_name], [-1])
        examples: dict[str, Any] = {
            "sparse_features": [], "dense_features": [], "example_weights": weights,
            "example_labels": cast(reshape(targets, [-1]), dtypes.float32),
            "example_ids": features[self.example_id_column],
        }  # fmt: skip
        variables: dict[str, Any] = {"sparse_features_weights": [], "dense_features_weights": []}
        builder = with_known(features)
        for column in sorted(columns_to_variables, key=sort_key):
            kind, feature = self._feature(column, builder, count)
            examples[kind].append(feature)
            parts = columns_to_variables[column]
            variables[f"{kind}_weights"].append(parts if len(parts) > 1 else parts[0])
        model = SdcaModel(examples, variables, {**self._options(), "loss_type": loss_type})
        return model, model.minimize(global_step=global_step)

    def _feature(self, column: Any, builder: Any, count: Any) -> tuple[str, Any]:
        """Return what the solver takes for a column: numbers of each row, or ids with weights."""
        if hasattr(column, "_get_sparse_tensors"):
            unique = self.of_package()._prune_and_unique_sparse_ids
            return "sparse_features", unique(column._get_sparse_tensors(builder))
        if isinstance(column, NumericColumn):
            return "dense_features", reshape(column._get_dense_tensor(builder), [count, -1])
        raise ValueError(f"SDCAOptimizer does not support column type {kind_of(column)}.")


class _Solved:
    """What linear models share that are solved so."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Iterable[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
    ):
        solver: Any = SDCAOptimizer(
            example_id_column, num_loss_partitions or _workers(config), None, l1_regularization, l2_regularization,
            partitioner=partitioner,
        )  # fmt: skip
        made: Any = super().__init__
        made(
            feature_columns, model_dir, weight_column_name=weight_column_name, optimizer=solver, config=config,
            feature_engineering_fn=feature_engineering_fn,
        )  # fmt: skip


class SDCALogisticClassifier(_Solved, LinearClassifier):
    """Logistic regression of two classes, solved so."""


class SDCALinearRegressor(_Solved, LinearRegressor):
    """Linear regression, solved so."""


def _workers(config: Any) -> int:
    return max(1, getattr(config, "num_worker_replicas", 1) or 1)
