"""k-means as a graph: `tf.contrib.factorization.KMeans`, on which the Estimators of that name stand.

Centers are in a variable that is empty at first and filled by `init_op`, which may take several batches; then every
training op is one iteration over all inputs, or a step with a small batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.functions.control_flow.while_loop import while_loop_v1
from ebbflow.graph.placeholders import placeholder_with_default
from ebbflow.graph.scopes import control_dependencies, group, no_op
from ebbflow.ops.arrays.creation import identity, ones, zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.sets import unique
from ebbflow.ops.arrays.shaping import reshape, shape, squeeze_v1
from ebbflow.ops.checks.asserts import assert_equal_v1, assert_greater_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.norms import l2_normalize
from ebbflow.ops.random.seeds import get_seed
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.reduce.segment import unsorted_segment_sum
from ebbflow.state.functions import assign, assign_sub, scatter_add
from ebbflow.state.variables import VariableV1

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VAR_NAME = "clusters"

WAYS_TO_BEGIN = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
DISTANCES = (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE)
LITTLE = 1e-6
"""Added to the number of points of a cluster, which may have none."""


class KMeans:
    """The graph of k-means for some points: see `training_graph`."""

    def __init__(
        self,
        inputs: Nested,
        num_clusters: TensorLike,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int | None = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ):
        if isinstance(initial_clusters, str) and initial_clusters not in WAYS_TO_BEGIN:
            raise ValueError(
                f"Unsupported initialization algorithm `{initial_clusters}`, must be one of {WAYS_TO_BEGIN}."
            )
        if distance_metric not in DISTANCES:
            raise ValueError(f"Unsupported distance metric `{distance_metric}`, must be one of {DISTANCES}.")
        self._inputs = [convert(points) for points in (inputs if isinstance(inputs, list) else [inputs])]
        self._num_clusters, self._initial = num_clusters, initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._small_batches, self._steps = use_mini_batch, int(mini_batch_steps_per_iteration)
        self._seed = get_seed(random_seed)[0]
        self._retries, self._chain = kmeans_plus_plus_num_retries, kmc2_chain_length

    def training_graph(self) -> tuple[Any, ...]:
        """Return all distances, the nearest center of each point, the distance from it, whether there are centers yet,
        the op that chooses some, and the op that trains. The first three have a tensor for each of the inputs.
        """
        given = None if isinstance(self._initial, str) or callable(self._initial) else convert(self._initial)
        count = convert(self._num_clusters) if given is None else shape(given)[0]
        state = _State(count, self._small_batches, self._steps)
        init_op = _Beginning(self, state, count, given).op()
        points, centers = self._inputs, identity(state.centers)
        if self._cosine:
            points = [l2_normalize(some, axis=1) for some in points]
            if not self._normalized():
                centers = l2_normalize(centers, axis=1)
        told = [self._nearest(some, centers) for some in points]
        distances, indices, nearest = (list(column) for column in zip(*told, strict=True))
        if self._small_batches:
            with control_dependencies([self._published(state)]):
                train = group(*(_small_step(*pair, state) for pair in zip(points, indices, strict=True)))
        else:
            train = self._iteration(points, indices, count, state.centers)
        return distances, indices, nearest, state.initialized, init_op, train

    def _normalized(self) -> bool:
        """Whether the centers in the variable have length one."""
        return self._cosine and (not self._small_batches or self._steps > 1)

    def _nearest(self, points: Any, centers: Any) -> tuple[Any, Any, Any]:
        products = raw.MatMul(points, centers, transpose_b=True)
        if self._cosine:
            everything = 1 - products
        else:
            squares = [raw.Sum(raw.Square(x), 1, keep_dims=True) for x in (points, centers)]
            everything = squares[0] - 2 * products + raw.Transpose(squares[1], [1, 0])
        index, distance = raw.NearestNeighbors(points, centers, 1)
        if self._cosine:  # between points of length one, a squared distance is twice that of the angle
            distance = distance * 0.5
        return everything, squeeze_v1(index, [-1]), squeeze_v1(distance, [-1])

    def _iteration(self, points: Sequence[Any], indices: Sequence[Any], count: Any, centers: Any) -> Any:
        """Move every center into the middle of its points."""
        pairs = list(zip(points, indices, strict=True))
        sums = raw.AddN([unsorted_segment_sum(some, at, count) for some, at in pairs])
        members = raw.AddN([unsorted_segment_sum(ones([shape(some)[0], 1]), at, count) for some, at in pairs])
        middle = sums / (raw.Cast(members, DstT=sums.dtype) + LITTLE)
        return assign(centers, l2_normalize(middle, axis=1) if self._normalized() else middle)

    def _published(self, state: _State) -> Any:
        """Copy the centers that every step moves to those that points are compared with, at the end of an iteration."""
        left, counts = state.left, state.counts
        if left is None or counts is None:
            return no_op()

        def publish() -> Any:
            with control_dependencies([assign(left, self._steps - 1)]):
                moved = l2_normalize(state.moving, axis=1) if self._cosine else identity(state.moving)
            with control_dependencies([assign(state.centers, moved)]):
                cleared = assign(counts, zeros_like(counts))
            with control_dependencies([cleared]):
                return identity(left)

        return cond_v1(left <= 0, publish, lambda: identity(assign_sub(left, 1)))


class _State:
    """The variables of a k-means."""

    def __init__(self, count: Any, small_batches: bool, steps: int):
        empty = placeholder_with_default(np.zeros([0], np.float32), shape=None)
        self.centers = VariableV1(empty, name=CLUSTERS_VAR_NAME, validate_shape=False)
        self.initialized = VariableV1(False, dtype=dtypes.bool, name="initialized")
        self.moving, self.left, self.counts = self.centers, None, None
        if small_batches and steps > 1:
            self.moving = VariableV1(empty, name="clusters_updated", validate_shape=False)
            self.left = VariableV1(steps, dtype=dtypes.int64, name="update_in_steps")
            self.counts = VariableV1(raw.Fill([count], np.int64(0)))
        elif small_batches:
            self.counts = VariableV1(raw.Fill([count], np.int64(1)))


def _small_step(points: Any, indices: Any, state: _State) -> Any:
    """Move the centers of some points towards these, the less the more points they have seen.

    A center x of n points, which gets the points d of a batch, k of them, moves by (sum d - k x) / (n + k).
    """
    assert state.counts is not None
    which, places = unique(reshape(indices, [-1]))[:2]
    number = shape(which)[0]
    before, old = gather(state.counts, which), gather(state.moving, which)
    added = unsorted_segment_sum(raw.OnesLike(raw.Cast(places, DstT=dtypes.int64)), places, number)
    column = lambda counts: raw.Cast(counts, DstT=points.dtype)[:, None]
    change = (unsorted_segment_sum(points, places, number) - column(added) * old) / column(before + added)
    return group(scatter_add(state.counts, which, added), scatter_add(state.moving, which, change))


class _Beginning:
    """Chooses centers to begin with, as many as a batch allows, until there are enough."""

    def __init__(self, model: KMeans, state: _State, count: Any, given: Any):
        self._model, self._state, self._count, self._given = model, state, count, given
        self._inputs = model._inputs
        self._rows = raw.AddN([shape(some)[0] for some in self._inputs])
        self._before = reshape(state.centers, [-1, shape(self._inputs[0])[1]])
        self._left = raw.Cast(count, DstT=dtypes.int32) - shape(self._before)[0]

    def op(self) -> Any:
        """Return the op; run when there are enough centers, it does nothing."""
        too_many = assert_greater_equal(self._left, 0, message="the variable has more than num_clusters centers")
        with control_dependencies([too_many]):
            return cond_v1(self._left > 0, self._add, lambda: identity(self._state.initialized))

    def _add(self) -> Any:
        state = self._state
        added = self._chosen()
        if self._model._cosine:
            added = l2_normalize(added, axis=1)
        every = concat([self._before, added], 0)
        filled = [
            assign(v, every, validate_shape=False) for v in {id(v): v for v in (state.centers, state.moving)}.values()
        ]
        with control_dependencies(filled):
            return identity(
                assign(state.initialized, raw.Equal(shape(every)[0], raw.Cast(self._count, DstT=dtypes.int32)))
            )

    def _chosen(self) -> Any:
        initial = self._model._initial
        if self._given is not None:
            with control_dependencies([assert_equal_v1(self._left, shape(self._given)[0])]):
                return identity(self._given)
        if initial == RANDOM_INIT:
            return cond_v1(self._rows <= self._left, lambda: concat(self._inputs, 0), self._at_random)
        if initial == KMEANS_PLUS_PLUS_INIT:
            with control_dependencies([assert_greater_equal(self._rows, self._left)]):
                return self._far_apart()
        if initial == KMC2_INIT:
            return self._by_chains()
        chosen: Callable[..., Any] = initial
        return convert(chosen(self._inputs, self._left))

    def _at_random(self) -> Any:
        most = raw.Cast(self._rows, DstT=dtypes.int64)
        indices = random_uniform([self._left], 0, most, seed=self._model._seed, dtype=dtypes.int64)
        return gather(concat(self._inputs, 0), indices)

    def _far_apart(self) -> Any:
        points = l2_normalize(self._inputs[0], axis=1) if self._model._cosine else self._inputs[0]
        wanted = raw.Cast(self._left, DstT=dtypes.int64)
        return raw.KmeansPlusPlusInitialization(points, wanted, self._model._seed, self._model._retries)

    def _by_chains(self) -> Any:
        """Draw one center from each stretch of `kmc2_chain_length` points; the first of all is the first point."""
        points, length, seed = self._inputs[0], self._model._chain, self._model._seed
        some = l2_normalize(points, axis=1) if self._model._cosine else points
        wanted = raw.Maximum(raw.Minimum(self._left, shape(points)[0] // length), 1)
        enough = shape(self._before)[0] + wanted

        def add(i: Any, centers: Any) -> Any:
            stretch = some[i * length : i * length + length]

            def drawn() -> Any:
                distances = raw.NearestNeighbors(stretch, centers, 1)[1]
                return gather(stretch, raw.KMC2ChainInitialization(distances[:, 0], seed))[None]

            new = cond_v1(raw.Equal(shape(centers)[0], 0), lambda: some[:1], drawn)
            return i + 1, concat([centers, new], 0)

        loop = while_loop_v1(
            lambda i, centers: shape(centers)[0] < enough, add, [0, self._before],
            shape_invariants=[self._left.shape, TensorShape([None, points.shape[1]])],
        )  # fmt: skip
        return loop[1][shape(self._before)[0] :]
