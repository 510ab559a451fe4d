"""The model function of boosted trees: predictions from the ensemble, and training that grows it layer by layer."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.doors.boosted_trees.features import Features, transformed
from ebbflow.doors.boosted_trees.growing import FromBatches, InMemory, Options
from ebbflow.feature_column.numeric import numeric_column
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.gradients import gradients
from ebbflow.graph.scopes import control_dependencies, group, name_scope_v1, no_op
from ebbflow.monitored.session_run_hook import SessionRunArgs, SessionRunHook
from ebbflow.ops.arrays.creation import constant, fill, zeros
from ebbflow.ops.arrays.joining import stack, unstack
from ebbflow.ops.arrays.shaping import reshape, shape, squeeze_v1
from ebbflow.ops.declare import raw
from ebbflow.state.variables import VariableV1
from ebbflow.summary.ops import scalar as scalar_summary
from ebbflow.tf1.boosted_trees import QuantileAccumulator, TreeEnsemble
from ebbflow.train.step_counter import get_or_create_global_step

NAME = "boosted_trees"
QUANTILES = "QuantileAccumulator"
NOWHERE = -1
"""The node of an example that has been in no tree."""


class Trees:
    """The resources of a model, in the current graph."""

    def __init__(self, scope: str, features: Features, options: Options):
        self.ensemble = TreeEnsemble(scope)
        self.quantiles: QuantileAccumulator | None = None
        self.boundaries: list[Tensor] = []
        if features.floats:
            epsilon = options.quantile_sketch_epsilon
            self.quantiles = QuantileAccumulator(epsilon, features.num_floats, int(1 / epsilon), name=QUANTILES)
            self.boundaries = self.quantiles.get_bucket_boundaries()

    def predict(self, buckets: list[Tensor], width: int) -> Tensor:
        """Return the logits of examples in these buckets."""
        return raw.BoostedTreesPredict(self.ensemble.resource_handle, buckets, logits_dimension=width)


def model_fn(
    values: Any, labels: Any, mode: str, config: Any, *, head: Any, features: Features, options: Options, batches: int,
    closed_form: Any = None, weight_column: Any = None, in_memory: bool = False,
) -> Any:  # fmt: skip
    """Return the EstimatorSpec of a model of boosted trees."""
    with name_scope_v1(NAME) as scope:
        trees = Trees(scope, features, options)
        buckets = features.buckets(values, trees.boundaries)
        if mode != "train":
            logits = trees.predict(buckets, head.logits_dimension)
            return head.create_estimator_spec(
                features=values, mode=mode, labels=labels, train_op_fn=lambda loss: no_op(), logits=logits
            )
        if in_memory and (not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0):
            raise ValueError("train_in_memory is supported only for non-distributed training.")
        training = Training(trees, buckets, values, labels, head.logits_dimension, features, options)
        grower = training.follow(config, batches, in_memory, scope)

        def train_op_fn(loss: Tensor) -> Any:
            return training.step(loss, grower, closed_form, weight_column)

    spec = head.create_estimator_spec(
        features=values, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=training.logits
    )
    hooks = (*spec.training_hooks, StopAtAttempts(*training.progress, options))
    return spec._replace(training_hooks=hooks, training_chief_hooks=(Begin(grower.begin()), *spec.training_chief_hooks))


class Training:
    """One step: where examples are in the trees, what that says, and the layer that follows."""

    def __init__(
        self, trees: Trees, buckets: list[Tensor], values: Any, labels: Any, width: int, features: Features,
        options: Options,
    ):  # fmt: skip
        self._trees, self._buckets, self._values, self._labels = trees, buckets, values, labels
        self._width, self._features, self._options = width, features, options
        self._step = get_or_create_global_step()
        self._ready = _flag(not features.floats, "are_boundaries_ready")

    def follow(self, config: Any, batches: int, in_memory: bool, scope: str) -> InMemory:
        """Take examples on from where they were, and return what will grow the next layer."""
        rows, width = shape(self._labels)[0], self._width
        nowhere = fill([rows], NOWHERE)
        start: tuple[Any, ...] = zeros([rows], dtypes.int32), nowhere, zeros([rows, width])
        self._cache: list[VariableV1] = []
        if in_memory:
            names = "tree_ids_cache", "node_ids_cache", "logits_cache"
            self._cache = [_kept(value, name) for value, name in zip(start, names, strict=True)]
            start = tuple(convert(variable) for variable in self._cache)
        ensemble, reloaded = self._trees.ensemble, no_op()
        if config.num_worker_replicas > 1:
            ensemble = TreeEnsemble(f"{scope.rstrip('/')}_local", is_local=True)
            reloaded = ensemble.deserialize(*self._trees.ensemble.serialize())
        with control_dependencies([reloaded]):
            stamp, count, finalized, attempted, self._last_layer = ensemble.get_states()
            change, self._tree_ids, self._node_ids = raw.BoostedTreesTrainingPredict(
                ensemble.resource_handle, start[0], start[1], self._buckets, logits_dimension=width
            )
        self.logits = start[2] + change
        self.progress = finalized, attempted
        for value, name in (
            (count, "num_trees"),
            (finalized, "num_finalized_trees"),
            (attempted, "num_attempted_layers"),
        ):
            scalar_summary(f"ensemble/{name}", value)
        parts = self._trees.ensemble, self._trees.quantiles, self._features, self._options, width
        if in_memory:
            return InMemory(*parts)
        return FromBatches(*parts, stamp=stamp, batches=batches, is_chief=config.is_chief)

    def step(self, loss: Tensor, grower: InMemory, closed_form: Any, weight_column: Any) -> Any:
        """Return the op of a step: quantiles first, where they are not known; then layers."""
        needs_bias = _flag(self._options.center_bias, "center_bias_needed")

        def grow() -> Any:
            return self._grow(loss, grower, closed_form, needs_bias)

        def gather() -> Any:
            weights = _weights(self._values, weight_column)
            return group(grower.gather_quantiles(self._features.numbers(self._values), weights, self._ready))

        return cond(self._ready.read_value(), grow, gather) if self._features.floats else grow()

    def _grow(self, loss: Tensor, grower: InMemory, closed_form: Any, needs_bias: Any) -> Any:
        width, done = self._width, []
        if self._cache:
            keep = self._keep
            done.append(cond(needs_bias.read_value(), no_op, keep) if self._options.center_bias else keep())
        if closed_form is not None and width == 1:
            slopes, curves = closed_form(self.logits, self._labels)
        else:
            slopes = gradients(loss, self.logits, name="Gradients")[0]
            curves = _hessians(slopes, self.logits, width)
        stats = [
            [
                raw.BoostedTreesAggregateStats(
                    self._node_ids, slopes, curves, self._buckets[number],
                    max_splits=(1 << self._options.max_depth) - 1, num_buckets=features.buckets,
                )
                for number in features.ids
            ]
            for features in self._features.groups
        ]  # fmt: skip

        def layer() -> Any:
            return group(grower.grow(stats, self._last_layer))

        if self._options.center_bias:
            done.append(
                cond(needs_bias.read_value(), lambda: group(grower.center_bias(needs_bias, slopes, curves)), layer)
            )
        else:
            done.append(layer())
        with control_dependencies(done):
            done.append(self._step.assign_add(1).op)
        return group(*done)

    def _keep(self) -> Any:
        values = self._tree_ids, self._node_ids, self.logits
        return group(*(v.assign(value).op for v, value in zip(self._cache, values, strict=True)))


def _hessians(slopes: Tensor, logits: Tensor, width: int) -> Tensor:
    """Return the second derivatives of every example's loss: one, or a whole matrix in a row."""
    if width == 1:
        return gradients(slopes, logits, name="Hessians")[0]
    rows = [
        gradients(slope, logits, name=f"Hessian_{i}")[0] for i, slope in enumerate(unstack(slopes, num=width, axis=1))
    ]
    return reshape(stack(rows, axis=1), [-1, width**2])


def _weights(values: Any, column: Any) -> Tensor:
    if column is None:
        return constant(1.0, shape=[1])
    column = numeric_column(column) if isinstance(column, str) else column
    return squeeze_v1(transformed(values, [column])[column], axis=1)


def _flag(value: bool, name: str) -> Any:
    return VariableV1(value, trainable=False, name=name, use_resource=True)


def _kept(value: Tensor, name: str) -> Any:
    return VariableV1(value, trainable=False, name=name, use_resource=True, validate_shape=False)


class StopAtAttempts(SessionRunHook):
    """Ends training when all trees are done, or when layers were tried twice as often as there is need."""

    def __init__(self, finalized: Tensor, attempted: Tensor, options: Options):
        self._tensors = [finalized, attempted]
        self._trees, self._layers = options.n_trees, 2 * options.n_trees * options.max_depth

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Ask for the state before the step."""
        return SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Look once more where the step may have been the last."""
        finalized, attempted = run_values.results
        if finalized >= self._trees - 1 or attempted > self._layers - 1:
            finalized, attempted = run_context.session.run(self._tensors)
        if finalized >= self._trees or attempted > self._layers:
            run_context.request_stop()


class Begin(SessionRunHook):
    """Runs an op when a session is new."""

    def __init__(self, op: Any):
        self._op = op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Run it."""
        session.run(self._op)
