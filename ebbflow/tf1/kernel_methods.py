"""Kernels by random features (`tf.contrib.kernel_methods`): a mapping whose dot products are nearly a kernel, and the
hinge loss of several classes that goes with it.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.checks.asserts import assert_less_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_max, reduce_sum
from ebbflow.train.losses import Reduction, compute_weighted_loss


class InvalidShapeError(Exception):
    """A tensor of a shape that a mapper does not take."""


class DenseKernelMapper(abc.ABC):
    """What maps dense tensors to another space."""

    @abc.abstractmethod
    def map(self, input_tensor: TensorLike) -> Tensor:
        """Return the rows of a tensor in the other space."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The mapper's name."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The size of the other space."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Cosines of random directions: their dot products are nearly the Gaussian kernel of width `stddev`."""

    def __init__(
        self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None
    ) -> None:
        self._input_dim, self._output_dim, self._stddev = input_dim, output_dim, stddev
        self._seed, self._name = seed, name

    @property
    def name(self) -> str:
        """The mapper's name."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """How many features a row has."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """How many cosines a row becomes."""
        return self._output_dim

    def map(self, input_tensor: TensorLike) -> Tensor:
        """Return the cosines of each row."""
        rows = convert(input_tensor)
        sizes = rows.shape.as_list()
        if len(sizes) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(sizes)} instead.")
        if sizes[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {sizes[1]} instead."
            )
        drawn = np.random.RandomState(self._seed)  # the same in all graphs: training and serving must agree
        directions = drawn.normal(scale=1.0 / self._stddev, size=(self._input_dim, self._output_dim))
        shifts = drawn.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        angles = raw.MatMul(rows, convert(directions, dtypes.float32)) + convert(shifts, dtypes.float32)
        return math.sqrt(2.0 / self._output_dim) * raw.Cos(angles)


def sparse_multiclass_hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Return by how much the best wrong class comes within 1 of the right one."""
    with name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as inner:
        scores, classes, factors = convert(logits), convert(labels), convert(weights)
        if scores.shape.rank != 2:
            raise ValueError(
                f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {scores.shape.rank}"
            )
        if classes.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Invalid dtype for labels: {classes.dtype}. Acceptable dtypes: int32 and int64")
        if classes.shape.rank not in (1, 2):
            raise ValueError(
                f"labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {classes.shape.rank}"
            )
        if factors.shape.rank not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
                f"{factors.shape.rank}"
            )
        scores, count = cast(scores, dtypes.float32), raw.Shape(scores)[1]
        with control_dependencies([assert_less_v1(classes, cast(count, classes.dtype))]):
            classes = reshape(classes, [-1])
        if factors.shape.rank:
            factors = reshape(factors, [-1])
            factors.shape.assert_is_compatible_with(classes.shape)
        right = one_hot(classes, count, 1.0, 0.0)
        own = reduce_sum(right * scores, axis=1, keepdims=True)
        loss = reduce_max(raw.Relu(scores - own + (1.0 - right)), axis=1)
        return compute_weighted_loss(loss, factors, inner, loss_collection, reduction=reduction)
