"""What makes a layer of trees: statistics of one batch, or the mean of those of several, from one worker or many.

`InMemory` grows at every step, from the one batch that holds all examples. `FromBatches` gathers in accumulators that
all workers share; the chief grows when enough have come. Knows ops; the model function puts it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.doors.boosted_trees.features import Features
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import control_dependencies, group, no_op
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.joining import stack, unstack
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import greater_equal
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_min
from ebbflow.state.queues.accumulators import ConditionalAccumulator
from ebbflow.tf1.boosted_trees import PruningMode, QuantileAccumulator, TreeEnsemble


class Options(NamedTuple):
    """What trees are like."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    def check(self) -> None:
        """Refuse numbers that make no trees."""
        for name in ("n_trees", "max_depth", "learning_rate", "quantile_sketch_epsilon"):
            if getattr(self, name) <= 0:
                raise ValueError(f"Expected {name} > 0, received: {getattr(self, name)}")
        for name in ("l1", "l2", "tree_complexity", "min_node_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"Expected {name} >= 0, received: {getattr(self, name)}")
        prunes = PruningMode.from_str(self.pruning_mode) != PruningMode.NO_PRUNING
        if self.tree_complexity > 0 and not prunes:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if prunes and not self.tree_complexity > 0:
            raise ValueError("For pruning, tree_complexity must be positive.")


class InMemory:
    """Grows a layer from every batch."""

    def __init__(
        self, ensemble: TreeEnsemble, quantiles: QuantileAccumulator | None, features: Features, options: Options,
        width: int,
    ):  # fmt: skip
        self._ensemble, self._quantiles, self._features = ensemble, quantiles, features
        self._options, self._width = options, width

    def begin(self) -> Any:
        """Return the op that the chief runs when a session is new."""
        return no_op()

    def gather_quantiles(self, numbers: list[Tensor], weights: Tensor, ready: Any) -> Any:
        """Return the op that takes a batch of numbers, and makes buckets when there are enough."""
        assert self._quantiles is not None
        with control_dependencies([self._quantiles.add_summaries(numbers, weights)]):
            return self._make_buckets(ready)

    def _make_buckets(self, ready: Any) -> Any:
        assert self._quantiles is not None
        with control_dependencies([self._quantiles.flush()]):
            return ready.assign(True).op

    def center_bias(self, needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        """Return the op that moves the first node's value to where the labels are."""
        return self._center(needed, reduce_mean(gradients, 0, keepdims=True), reduce_mean(hessians, 0, keepdims=True))

    def _center(self, needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        goes_on = raw.BoostedTreesCenterBias(
            self._ensemble.resource_handle, gradients, hessians, self._options.l1, self._options.l2
        )
        return needed.assign(goes_on).op

    def grow(self, stats: list[list[Tensor]], last_layer: Tensor) -> Any:
        """Return the op that splits the nodes of the last layer, from the statistics of every group's features."""
        options, columns = self._options, []
        for group_, summaries in zip(self._features.groups, stats, strict=True):
            columns.append(
                raw.BoostedTreesCalculateBestFeatureSplitV2(
                    last_layer, summaries, group_.splits, group_.ids, options.l1, options.l2, options.tree_complexity,
                    options.min_node_weight, logits_dimension=self._width,
                )
            )  # fmt: skip
        nodes, gains, features, dimensions, thresholds, left, right, kinds = (
            list(c) for c in zip(*columns, strict=True)
        )
        return raw.BoostedTreesUpdateEnsembleV2(
            self._ensemble.resource_handle, features, dimensions, nodes, gains, thresholds, left, right, kinds,
            options.max_depth, options.learning_rate, PruningMode.from_str(options.pruning_mode),
            logits_dimension=self._width,
        )  # fmt: skip


class FromBatches(InMemory):
    """Grows a layer from the mean over several batches, which workers bring together."""

    def __init__(self, *parts: Any, stamp: Tensor, batches: int, is_chief: bool):
        super().__init__(*parts)
        self._stamp, self._batches, self._is_chief = stamp, batches, is_chief
        splits = (1 << self._options.max_depth) - 1
        numbers = self._width + self._width**2
        self._stats = [
            _accumulator([len(g.ids), splits, None, g.buckets + 1, numbers], f"numeric_stats_summary_accumulator_{i}")
            for i, g in enumerate(self._features.groups)
        ]
        self._bias = _accumulator([2, 1], "bias_accumulator") if self._options.center_bias else None

    def begin(self) -> Any:
        """Return the op with which the accumulators begin at the ensemble's stamp."""
        everything = [*self._stats, *([self._bias] if self._bias is not None else [])]
        return group(*(accumulator.set_global_step(self._stamp) for accumulator in everything))

    def _when_enough(self, accumulators: Sequence[Any], do: Any, name: str) -> Any:
        if not self._is_chief:
            return no_op()
        counts = reduce_min(stack([accumulator.num_accumulated() for accumulator in accumulators]))
        return cond(greater_equal(counts, self._batches), lambda: group(do()), no_op, name=name)

    def gather_quantiles(self, numbers: list[Tensor], weights: Tensor, ready: Any) -> Any:
        """Return the op that takes a batch of numbers, and makes buckets when there are enough."""
        assert self._quantiles is not None
        counter = _accumulator([], "quantile_summary_accum")
        taken = [
            self._quantiles.add_summaries(numbers, weights),
            counter.set_global_step(self._stamp),
            counter.apply_grad(constant(0.0), self._stamp),
        ]

        def make() -> Any:
            return group(counter.take_grad(1), self._make_buckets(ready))

        with control_dependencies(taken):
            return self._when_enough([counter], make, "wait_until_quaniles_accumulated")

    def center_bias(self, needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        """Return the op that gathers means, and moves the first node's value when there are enough."""
        bias = self._bias
        assert bias is not None
        means = reduce_mean(stack([gradients, hessians]), axis=1)

        def move() -> Any:
            gradient, hessian = unstack(bias.take_grad(1), num=2)
            with control_dependencies([self._center(needed, gradient[None], hessian[None])]):
                return cond(needed.read_value(), no_op, self._follow_stamp)

        with control_dependencies([bias.apply_grad(means, self._stamp)]):
            return self._when_enough([bias], move, "wait_until_n_batches_for_bias_accumulated")

    def _follow_stamp(self) -> Any:
        return group(*(accumulator.set_global_step(self._stamp + 1) for accumulator in self._stats))

    def grow(self, stats: list[list[Tensor]], last_layer: Tensor) -> Any:
        """Return the op that gathers statistics, and splits nodes when there are enough."""
        applied = [
            accumulator.apply_grad(stack(summaries), self._stamp)
            for accumulator, summaries in zip(self._stats, stats, strict=True)
        ]

        def split() -> Any:
            means = [
                unstack(accumulator.take_grad(1), num=len(summaries))
                for accumulator, summaries in zip(self._stats, stats, strict=True)
            ]
            return super(FromBatches, self).grow(means, last_layer)

        with control_dependencies(applied):
            return self._when_enough(self._stats, split, "wait_until_n_batches_accumulated")


def _accumulator(dims: list[int | None], shared_name: str) -> ConditionalAccumulator:
    return ConditionalAccumulator(dtypes.float32, shape=dims, shared_name=shared_name)
