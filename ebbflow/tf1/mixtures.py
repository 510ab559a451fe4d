"""Mixtures of normal distributions as a graph: `tf.contrib.factorization.GmmAlgorithm`, on which `GMM` stands.

Means and covariances are in variables that are empty at first and filled by the op of `init_ops`; every training op is
then one iteration of expectation and maximization over all inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.placeholders import placeholder_with_default
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.checks.asserts import assert_less_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.reduce.reductions import reduce_logsumexp
from ebbflow.state.functions import assign
from ebbflow.state.variables import VariableV1

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
LITTLE = float(np.finfo(float).eps)
LEAST_VARIANCE = 1e-3
"""Added to covariances, so that they can be inverted."""


class GmmAlgorithm:
    """The graph of a mixture for some points, given as a list of matrices."""

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Nested,
        num_classes: int,
        initial_means: TensorLike | None = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int | None = 0,
    ):
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise ValueError(f"covariance_type must be 'full' or 'diag', got {covariance_type!r}")
        self._data = [convert(points) for points in data]
        self._count, self._params, self._seed = num_classes, params, random_seed
        self._full = covariance_type == FULL_COVARIANCE
        self._width = shape(self._data[0])[1]
        self._little = LEAST_VARIANCE * raw.Diag(raw.Fill(self._width[None], np.float32(1)))
        empty = placeholder_with_default(np.zeros([0], np.float32), shape=None)
        self._means = VariableV1(empty, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = VariableV1(empty, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._alpha = VariableV1(
            np.full([num_classes], 1 / num_classes, np.float32), name=self.CLUSTERS_WEIGHT, validate_shape=False
        )
        self._ready = VariableV1(False, dtype=dtypes.bool, name="initialized")
        self._init = self._beginning(initial_means)
        self._logs = [self._log_densities(points) for points in self._data]
        self._totals = [reduce_logsumexp(logs, axis=1, keepdims=True) for logs in self._logs]
        self._shares = [raw.Exp(logs - total) for logs, total in zip(self._logs, self._totals)]
        self._train = self._maximization()

    def _beginning(self, given: Any) -> Any:
        """Return the op that fills the variables, where nobody has."""
        first = self._data[0]
        middle = first - raw.Mean(first, 0, keep_dims=True)
        number = raw.Cast(shape(first)[0], DstT=dtypes.float32) - 1
        cov = raw.MatMul(middle, middle, transpose_a=True) / number + self._little
        some = cov[None] if self._full else raw.DiagPart(cov)[None]
        covs = tile(some, [self._count, *([1] * (2 if self._full else 1))])

        def fill() -> Any:
            means = (self._at_random() if given is None else convert(given, dtype=dtypes.float32))[:, None, :]
            filled = [
                assign(self._means, means, validate_shape=False), assign(self._covs, covs, validate_shape=False)
            ]  # fmt: skip
            with control_dependencies(filled):
                return identity(assign(self._ready, True))

        return cond_v1(identity(self._ready), lambda: identity(self._ready), fill)

    def _at_random(self) -> Any:
        number = raw.AddN([shape(points)[0] for points in self._data])
        with control_dependencies([assert_less_equal(self._count, number)]):
            most = raw.Cast(number, DstT=dtypes.int64)
        rows = random_uniform([self._count], 0, most, seed=self._seed, dtype=dtypes.int64)
        return gather(concat(self._data, 0) if len(self._data) > 1 else self._data[0], rows)

    def _log_densities(self, points: Any) -> Any:
        """Return the logarithm of each distribution's density at each point, times its weight: a column each."""
        means, covs = identity(self._means), identity(self._covs)
        if self._full:
            root = raw.Cholesky(covs + self._little)
            spread = 2.0 * raw.Sum(raw.Log(raw.MatrixDiagPart(root)), 1)
            apart = raw.Transpose(points[None] - means, [0, 2, 1])
            distances = raw.Sum(raw.Square(raw.MatrixTriangularSolve(root, apart, lower=True)), 1)
        else:
            spread = raw.Sum(raw.Log(covs + LEAST_VARIANCE), 1)
            apart = raw.SquaredDifference(points[None], means)
            distances = raw.Sum(apart / (covs + LEAST_VARIANCE)[:, None, :], 2)
        constant = raw.Cast(self._width, DstT=dtypes.float32) * float(np.log(2 * np.pi))
        return -0.5 * (raw.Transpose(distances, [1, 0]) + constant + spread) + raw.Log(identity(self._alpha))

    def _maximization(self) -> Any:
        """Return the op that sets weights, means and covariances, those of them that `params` names."""
        members = raw.AddN([raw.Sum(shares, 0) for shares in self._shares])
        sums = raw.AddN([raw.MatMul(w, x, transpose_a=True) for w, x in zip(self._shares, self._data)])
        each = members[:, None] + LITTLE
        means = (sums / each)[:, None, :]
        squares = raw.AddN([_weighted_squares(w, x) for w, x in zip(self._shares, self._data)]) / each[:, :, None]
        steps = []
        if "w" in self._params:
            share = members / len(self._data)
            steps.append(assign(self._alpha, share / (raw.Sum(share, 0) + LITTLE)))
        with control_dependencies([squares, *self._shares]):
            if "m" in self._params:
                steps.append(assign(self._means, means, validate_shape=False))
                current = identity(means)
            else:
                current = identity(self._means)
        if "c" in self._params:
            covs = squares - raw.BatchMatMulV2(raw.Transpose(current, [0, 2, 1]), current) + self._little
            new = covs if self._full else raw.MatrixDiagPart(covs)
            with control_dependencies([new]):
                steps.append(assign(self._covs, new, validate_shape=False))
        return group(*steps)

    def init_ops(self) -> Effect:
        """Return the op that chooses means and covariances; run again, it does nothing."""
        return group(self._init)

    def training_ops(self) -> Effect:
        """Return the op of one iteration."""
        return self._train

    def is_initialized(self) -> TensorLike:
        """Return the variable that says whether means were chosen."""
        return self._ready

    def alphas(self) -> TensorLike:
        """Return the variable of the distributions' weights."""
        return self._alpha

    def clusters(self) -> TensorLike:
        """Return the variable of the means, of shape [distributions, 1, width]."""
        return self._means

    def covariances(self) -> TensorLike:
        """Return the variable of the covariances: matrices, or their diagonals."""
        return self._covs

    def assignments(self) -> list[Any]:
        """Return the number of each point's likeliest distribution, for each of the inputs."""
        return [raw.ArgMax(shares, 1) for shares in self._shares]

    def scores(self) -> TensorLike:
        """Return the logarithm of the mixture's density at each point: a column for each of the inputs."""
        logs = [total + raw.Log(shares) for total, shares in zip(self._totals, self._shares)]
        return raw.Squeeze(reduce_logsumexp(raw.Pack(logs), axis=2, keepdims=True), squeeze_dims=[0])

    def log_likelihood_op(self) -> TensorLike:
        """Return the logarithm of the sum of the density over all points."""
        return reduce_logsumexp(raw.Pack([reduce_logsumexp(total) for total in self._totals]))


def _weighted_squares(shares: Any, points: Any) -> Any:
    """Return the sum of x xᵀ over points, each by its share in a distribution, for all of these."""
    weighted = raw.Transpose(shares, [1, 0])[:, :, None] * points[None]
    return raw.BatchMatMulV2(raw.Transpose(weighted, [0, 2, 1]), points[None])


def gmm(
    inp: Nested,
    initial_clusters: TensorLike | None,
    num_clusters: int,
    random_seed: int | None,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> Nested:
    """Return the loss, the score of each point, a list of its distributions, and the ops that train, that begin, and
    that say whether it has begun.
    """
    means = None
    if not (isinstance(initial_clusters, str) and initial_clusters == "random"):
        given = isinstance(initial_clusters, Tensor)
        means = initial_clusters if given else np.asarray(initial_clusters, np.float32)
    model = GmmAlgorithm(
        inp if isinstance(inp, list) else [inp], num_clusters, means, params, covariance_type, random_seed
    )
    return (
        model.log_likelihood_op(), model.scores(), [model.assignments()], model.training_ops(), model.init_ops(),
        model.is_initialized(),
    )  # fmt: skip
