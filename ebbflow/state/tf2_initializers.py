"""Initializers in TF 2 manner (`tf.zeros_initializer`, …): called with a shape and a dtype, which they do not keep.

A seeded one gives the same numbers each time it is called. `partition_shape` and `partition_offset` ask for a part
only. Formulas are those of TF 1's initializers.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.arrays.creation import constant, ones, zeros
from ebbflow.ops.linalg.diag import diag_part, eye
from ebbflow.ops.random import stateful, stateless
from ebbflow.ops.random.seeds import is_seeded
from ebbflow.platform import config
from ebbflow.state.initializers import TRUNCATED_STDDEV, orthogonal_matrix, scaled_variance, scaling

_PARTITION_SHAPE, _PARTITION_OFFSET = "partition_shape", "partition_offset"


class Initializer:
    """Gives first values: `initializer(shape, dtype)`."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> AnyTensor:
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it initializes: define __call__(shape, dtype)"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this initializer again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Return the initializer that `get_config` described."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})

    def _part(self, shape: Any, kwargs: dict[str, Any], supported: bool = True) -> Any:
        """Return the shape to give: the part's where a part is asked for."""
        for key in kwargs:
            if key not in (_PARTITION_SHAPE, _PARTITION_OFFSET):
                raise TypeError(
                    f"Keyword argument should be one of {[_PARTITION_SHAPE, _PARTITION_OFFSET]}. Received: {key}"
                )
            if not supported:
                raise ValueError(f"{type(self).__name__} initializer doesn't support partition-related arguments")
        return kwargs.get(_PARTITION_SHAPE, shape)


class Zeros(Initializer):
    """Zeros.

    >>> Zeros()([2, 2]).numpy().tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        return zeros(self._part(shape, kwargs), _numeric(dtype))


class Ones(Initializer):
    """Ones.

    >>> Ones()([2], dtypes.int32).numpy().tolist()
    [1, 1]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        return ones(self._part(shape, kwargs), _numeric(dtype))


class Constant(Initializer):
    """One value everywhere, or as many as the shape has elements.

    >>> Constant(0.5)([2]).numpy().tolist()
    [0.5, 0.5]
    """

    def __init__(self, value: TensorLike = 0, support_partition: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or tuple of "
                "values, or "
                "numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> AnyTensor:
        shape = self._part(shape, kwargs, self.support_partition)
        return constant(self.value, dtype=None if dtype is None else dtypes.as_dtype(dtype), shape=shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class RandomUniform(Initializer):
    """Numbers anywhere between `minval` and `maxval`."""

    def __init__(self, minval: TensorLike = -0.05, maxval: TensorLike = 0.05, seed: int | None = None):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> AnyTensor:
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        return uniform(self._part(shape, kwargs), self.minval, self.maxval, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(Initializer):
    """Numbers of a normal distribution.

    >>> RandomNormal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean: TensorLike = 0.0, stddev: TensorLike = 0.05, seed: int | None = None):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> AnyTensor:
        return self._draw(self._part(shape, kwargs), _floating(dtype))

    def _draw(self, shape: Any, dtype: Any) -> Any:
        return normal(shape, self.mean, self.stddev, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class TruncatedNormal(RandomNormal):
    """Numbers of a normal distribution, drawn again where they are more than two deviations off."""

    def _draw(self, shape: Any, dtype: Any) -> Any:
        return truncated(shape, self.mean, self.stddev, dtype, self.seed)


class VarianceScaling(Initializer):
    """Numbers whose spread goes by the number of inputs or outputs of a layer."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ):
        self.scale, self.mode, self.distribution = scaling(scale, mode, distribution)
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        dtype = _floating(dtype)
        variance = scaled_variance(self.scale, self.mode, [int(n) for n in shape])
        shape = self._part(shape, kwargs)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        return truncated(shape, 0.0, math.sqrt(variance) / TRUNCATED_STDDEV, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed}


class GlorotUniform(VarianceScaling):
    """Uniform numbers within sqrt(6 / (inputs + outputs))."""

    _distribution = "uniform"

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", self._distribution, seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


class GlorotNormal(GlorotUniform):
    """Truncated normal numbers of variance 2 / (inputs + outputs)."""

    _distribution = "truncated_normal"


class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns; all axes but the last count as rows."""

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        self.gain = gain
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> AnyTensor:
        self._part(shape, kwargs, supported=False)
        dtype = _floating(dtype)
        return orthogonal_matrix(shape, self.gain, lambda flat: normal(flat, 0.0, 1, dtype, self.seed), diag_part)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed}


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> AnyTensor:
        self._part(shape, kwargs, supported=False)
        dtype = _floating(dtype)
        if len(shape) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. "
                f"Received shape={shape}"
            )
        return self.gain * eye(*shape, dtype=dtype)  # type: ignore[misc]

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Return an initializer: truncated normal numbers of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Return an initializer: uniform numbers within sqrt(3 / inputs)."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Return an initializer: truncated normal numbers of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Return an initializer: uniform numbers within sqrt(6 / inputs)."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


# --- drawing: seeded means the same numbers each time -----------------------------------------------------------------


def uniform(shape: Any, low: Any, high: Any, dtype: Any, seed: int | None) -> Any:
    """Return uniform numbers."""
    seed = _settled(seed)
    if seed is None:
        return stateful.random_uniform(shape, low, high, dtype)
    return stateless.stateless_random_uniform(shape, [seed, 0], low, high, dtype)


def normal(shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None) -> Any:
    """Return normal numbers."""
    seed = _settled(seed)
    if seed is None:
        return stateful.random_normal(shape, mean, stddev, dtype)
    return stateless.stateless_random_normal(shape, [seed, 0], mean, stddev, dtype)


def truncated(shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None) -> Any:
    """Return truncated normal numbers."""
    seed = _settled(seed)
    if seed is None:
        return stateful.truncated_normal(shape, mean, stddev, dtype)
    return stateless.stateless_truncated_normal(shape, [seed, 0], mean, stddev, dtype)


def _settled(seed: int | None) -> int | None:
    """Return a seed of Python's numbers where there is none and random ops must have one."""
    wanted = seed is None and config.wishes.seeds_needed and not is_seeded()
    return random.randint(1, 10**9) if wanted else seed


def _floating(dtype: Any) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    return dtype


def _numeric(dtype: Any) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_numpy_compatible or dtype is dtypes.string:
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
    return dtype
