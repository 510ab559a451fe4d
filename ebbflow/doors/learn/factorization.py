"""The Estimators of `tf.contrib.factorization` besides k-means: `WALSMatrixFactorization` and `GMM`.

Their graphs are `tf1/factorization.py` and `tf1/mixtures.py`; here are the model functions, and the hooks that begin
and go over rows and columns in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.typing import Array, Nested, TensorLike
from ebbflow.doors.learn.estimator import Estimator, ModeKeys, ModelFnOps
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import control_dependencies, group, no_op, with_dependencies
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunHook
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.declare import raw
from ebbflow.state.functions import assign, assign_add, scatter_update
from ebbflow.state.variables import VariableV1
from ebbflow.summary.ops import scalar
from ebbflow.tf1.factorization import Initial, WALSModel
from ebbflow.tf1.mixtures import GmmAlgorithm, gmm
from ebbflow.train.step_counter import get_global_step


class _Sweeps(SessionRunHook):
    """Updates some rows, or some columns, at every step; turns from one to the other when all have had their turn."""

    def __init__(self, state: _SweepState, model: WALSModel, row_step: Any, col_step: Any, last: int | None):
        self._state, self._begin, self._last = state, model.worker_init, last
        self._steps = {True: row_step, False: col_step}
        self._prepare = {
            True: (model.row_update_prep_gramian_op, model.initialize_row_update_op),
            False: (model.col_update_prep_gramian_op, model.initialize_col_update_op),
        }
        self._count = assign_add(get_global_step(), 1).op
        self._begun = False

    def before_run(self, run_context: Any) -> Any:
        run = run_context.session.run
        done = run(self._state.done)
        if not self._begun:
            run(self._begin)
        if done:
            run(self._state.turn)
        rows = bool(run(self._state.of_rows))
        if done or not self._begun:
            for op in self._prepare[rows]:
                run(op)
        self._begun = True
        run(self._count)
        return SessionRunArgs([self._steps[rows], self._state.completed])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._last is not None and run_context.session.run(self._state.completed) >= self._last:
            run_context.request_stop()


class _SweepState:
    """The variables that say how far a training is, kept in checkpoints."""

    def __init__(self) -> None:
        make = lambda value, name: VariableV1(
            value, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES]
        )
        self.of_rows, self.done = make(True, "is_row_sweep"), make(False, "is_sweep_done")
        self.completed = make(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
        self.loss = make(0.0, WALSMatrixFactorization.LOSS)
        self.error = make(0.0, WALSMatrixFactorization.RWSE)
        self.turn: Any = None

    def step(self, batch: Any, count: int, updated: tuple[Any, ...], axis: str) -> tuple[Any, Any]:
        """Return the op that forgets who had a turn, and the op of a step."""
        seen = VariableV1(
            np.zeros([count], bool), trainable=False, name=f"processed_{axis}",
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )  # fmt: skip
        _, update, loss, regularization, weight = updated
        told = [assign(self.loss, loss + regularization), assign(self.error, raw.Sqrt(loss / weight))]
        with control_dependencies([update, *told]):
            rows = batch.indices[:, 0]
            marked = scatter_update(seen, rows, raw.Fill(raw.Shape(rows), True))
        with control_dependencies([marked]):
            done = raw.All(identity(seen), 0)
        completed = assign_add(self.completed, raw.Cast(done, DstT=dtypes.int32))
        return seen.initializer, group(assign(self.done, done), completed, name=f"{axis}_sweep_train_op")


class WALSMatrixFactorization(Estimator):
    """Factors of a sparse matrix, by weighted alternating least squares.

    The input function gives a dictionary of two SparseTensors: some rows of the matrix, and some rows of its transpose.
    For projections it has `PROJECT_ROW` too, and may have `PROJECTION_WEIGHTS`.
    """

    _as_given = False

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Initial = "random",
        col_init: Initial = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        if config is not None and config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")
        self._sizes = (num_rows, num_cols)
        self._shards = {"row": num_row_shards, "col": num_col_shards}
        self._last, self._copies = max_sweeps, (use_factors_weights_cache_for_training, use_gramian_cache_for_training)
        self._model_options = {
            "input_rows": num_rows, "input_cols": num_cols, "n_components": embedding_dimension,
            "unobserved_weight": unobserved_weight, "regularization": regularization_coeff, "row_init": row_init,
            "col_init": col_init, "num_row_shards": num_row_shards, "num_col_shards": num_col_shards,
            "row_weights": row_weights, "col_weights": col_weights,
        }  # fmt: skip
        super().__init__(self._factors_model, model_dir, config)

    def _factors_model(self, features: Mapping[str, Any], labels: Any, mode: str) -> ModelFnOps:
        if labels is not None:
            raise ValueError(f"labels must be None: a factorization has none, got {labels!r}")
        training = mode == ModeKeys.TRAIN
        model = WALSModel(
            **self._model_options, use_factors_weights_cache=training and self._copies[0],
            use_gramian_cache=training and self._copies[1],
        )  # fmt: skip
        rows, columns = features[self.INPUT_ROWS], features[self.INPUT_COLS]
        if training:
            return self._training(model, rows, columns)
        weights = features.get(self.PROJECTION_WEIGHTS)

        def chosen(of_rows: Callable[[], Any], of_columns: Callable[[], Any]) -> Any:
            return cond_v1(features[self.PROJECT_ROW], of_rows, of_columns)

        if mode == ModeKeys.INFER:
            projected = chosen(
                lambda: model.project_row_factors(rows, projection_weights=weights),
                lambda: model.project_col_factors(columns, transpose_input=True, projection_weights=weights),
            )
            return ModelFnOps(mode, {self.PROJECTION_RESULT: projected})
        loss = chosen(
            lambda: raw.AddN(model.update_row_factors(rows)[2:4]),
            lambda: raw.AddN(model.update_col_factors(columns, transpose_input=True)[2:4]),
        )
        return ModelFnOps(mode, {}, loss)

    def _training(self, model: WALSModel, rows: Any, columns: Any) -> ModelFnOps:
        state = _SweepState()
        scalar("loss", state.loss)
        scalar("root_weighted_squared_error", state.error)
        scalar("completed_sweeps", state.completed)
        forget_rows, row_step = state.step(rows, self._sizes[0], model.update_row_factors(rows), "rows")
        updated = model.update_col_factors(columns, transpose_input=True)
        forget_columns, col_step = state.step(columns, self._sizes[1], updated, "cols")
        turned = assign(state.of_rows, raw.LogicalNot(identity(state.of_rows)))
        state.turn = group(turned, forget_rows, forget_columns, name="sweep_switch_op")
        hook = _Sweeps(state, model, row_step, col_step, self._last)
        return ModelFnOps(ModeKeys.TRAIN, {}, identity(state.loss), no_op(), training_hooks=[hook])

    def get_row_factors(self) -> list[Any]:
        """Return the rows' factors in the last checkpoint, a matrix a shard."""
        return [self.get_variable_value(f"row_factors_shard_{i}") for i in range(self._shards["row"])]

    def get_col_factors(self) -> list[Any]:
        """Return the columns' factors in the last checkpoint, a matrix a shard."""
        return [self.get_variable_value(f"col_factors_shard_{i}") for i in range(self._shards["col"])]

    def get_projections(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Return the factors of the rows or columns that an input function gives, one by one."""
        return (row[self.PROJECTION_RESULT] for row in self.predict(input_fn=input_fn))


class _Begins(SessionRunHook):
    """Runs an op until a variable says that enough has begun; other workers wait for the chief's."""

    def __init__(self, begin: Any, ready: Any, is_chief: bool):
        self._begin, self._ready, self._is_chief = begin, ready, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not session.run(self._ready):
            if self._is_chief:
                session.run(self._begin)
            else:
                time.sleep(1)


class GMM(Estimator):
    """A mixture of normal distributions."""

    _as_given = False

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int | None = 0,
        params: str = "wmc",
        initial_clusters: TensorLike = "random",
        covariance_type: str = "full",
        config: object = None,
    ):
        self._mixture = (initial_clusters, num_clusters, random_seed, covariance_type, params)
        super().__init__(self._mixture_model, model_dir, config)

    def _mixture_model(self, features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
        if labels is not None:
            raise ValueError(f"labels must be None: a mixture has none, got {labels!r}")
        if isinstance(features, Mapping):
            features = concat([features[key] for key in sorted(features)], 1)
        loss, scores, assigned, train, begin, ready = gmm(features, *self._mixture)
        with control_dependencies([train]):
            counted = assign_add(get_global_step(), 1)
        metrics = None if mode != ModeKeys.EVAL else {self.SCORES: _last(scores)}
        return ModelFnOps(
            mode, {self.ASSIGNMENTS: assigned[0][0]}, loss, with_dependencies([train, counted], loss), metrics,
            training_hooks=[_Begins(begin, ready, config.is_chief)],
        )  # fmt: skip

    def predict_assignments(
        self, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None, outputs: Nested = None
    ) -> Iterator[Any]:
        """Return the number of each point's likeliest distribution, one by one."""
        for row in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield row[self.ASSIGNMENTS]

    def score(
        self, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None, steps: int | None = None
    ) -> float:
        """Return the logarithm of the sum of the density over the points of the last batch."""
        told = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(told[self.SCORES])))

    def weights(self) -> Array:
        """Return the weights of the distributions in the last checkpoint."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Array:
        """Return the means of the distributions in the last checkpoint."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> Array:
        """Return the covariances of the distributions in the last checkpoint."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _last(tensor: Any) -> tuple[Any, Any]:
    """Return a tensor as a metric: its value in the last batch."""
    kept = VariableV1(
        np.zeros([0], np.float32), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False
    )
    return identity(kept), assign(kept, tensor, validate_shape=False)
