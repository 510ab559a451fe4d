"""Initializers in TF 1 manner: objects that give a variable's first value for a shape and a dtype.

Random ones draw from the seeded streams of `ops.random`, so that a seed means what it meant in TensorFlow. An
initializer of one part of a partitioned variable is told by `partition_info` what it is a part of. Those of TF 2 are in
`tf2_initializers`; the ones for orthogonal convolutions in `orthogonal`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.arrays.creation import constant_v1, ones, zeros
from ebbflow.ops.arrays.shaping import matrix_transpose, reshape
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag import eye
from ebbflow.ops.random import stateful

if TYPE_CHECKING:
    from ebbflow.state.partitioners import PartitionInfo


TRUNCATED_STDDEV = 0.87962566103423978
"""The standard deviation of a standard normal cut off at two deviations."""


class Initializer:
    """Gives first values: `initializer(shape, dtype)`."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it initializes: define __call__(shape, dtype)"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this initializer again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return the initializer that `get_config` described."""
        return cls(**config)


class Zeros(Initializer):
    """Zeros (empty strings, False).

    >>> Zeros()([2]).numpy().tolist()
    [0.0, 0.0]
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        return zeros(shape, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


class Ones(Zeros):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        return ones(shape, self.dtype if dtype is None else dtype)


class Constant(Initializer):
    """The elements of `value`; in a graph the last one is repeated where the shape has more.

    >>> Constant(2)([3]).numpy().tolist()
    [2.0, 2.0, 2.0]
    """

    def __init__(self, value: TensorLike = 0, dtype: DTypeLike = dtypes.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, or "
                "numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        if verify_shape is None:
            verify_shape = self._verify_shape
        return constant_v1(self.value, self.dtype if dtype is None else dtype, shape, verify_shape=verify_shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value, "dtype": self.dtype.name}


class RandomUniform(Initializer):
    """Numbers anywhere between `minval` and `maxval`."""

    def __init__(
        self,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return stateful.random_uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class RandomNormal(Initializer):
    """Numbers of a normal distribution."""

    _draw = staticmethod(stateful.random_normal)

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = floating(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return self._draw(shape, self.mean, self.stddev, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


class TruncatedNormal(RandomNormal):
    """Numbers of a normal distribution, drawn again where they are more than two deviations off.

    >>> bool((abs(TruncatedNormal(stddev=0.1, seed=1)([100]).numpy()) <= 0.2).all())
    True
    """

    _draw = staticmethod(stateful.truncated_normal)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of what is multiplied by them."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = floating(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> AnyTensor:
        dtype = self.dtype if dtype is None else dtype
        inputs = math.prod(float(n) for n in full_shape(shape, partition_info)[:-1])
        limit = math.sqrt(3 / max(inputs, 1.0)) * self.factor
        return stateful.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


class VarianceScaling(Initializer):
    """Numbers whose spread goes by the number of inputs or outputs of a layer."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.scale, self.mode, self.distribution = scaling(scale, mode, distribution)
        self.seed = seed
        self.dtype = floating(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        variance = scaled_variance(self.scale, self.mode, full_shape(shape, partition_info))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return stateful.random_uniform(shape, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return stateful.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        return stateful.truncated_normal(shape, 0.0, math.sqrt(variance) / TRUNCATED_STDDEV, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class GlorotUniform(VarianceScaling):
    """Uniform numbers within sqrt(6 / (inputs + outputs)); what a variable of floats gets by default."""

    _distribution = "uniform"

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        super().__init__(1.0, "fan_avg", self._distribution, seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(GlorotUniform):
    """Truncated normal numbers of variance 2 / (inputs + outputs)."""

    _distribution = "truncated_normal"


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


class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns; all axes but the last count as rows."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = floating(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> AnyTensor:
        dtype = self.dtype if dtype is None else dtype
        return orthogonal_matrix(
            shape, self.gain, lambda flat: stateful.random_normal(flat, dtype=dtype, seed=self.seed), raw.DiagPart
        )

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class Identity(Initializer):
    """The identity matrix, times `gain`.

    >>> Identity()([2, 2]).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32):
        self.gain = gain
        self.dtype = floating(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> Tensor:
        full = full_shape(shape, partition_info)
        if len(full) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices: the tensor to initialize, specified "
                "by argument "
                f"`shape`, must be two-dimensional. Received shape={shape}"
            )
        whole = eye(*full, dtype=self.dtype if dtype is None else dtype)  # type: ignore[misc, arg-type]
        if partition_info is not None:
            whole = slice_(whole, partition_info.var_offset, shape)
        return self.gain * whole

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


# --- formulas that TF 2's initializers share --------------------------------------------------------------------------


def floating(dtype: DType) -> DType:
    """Return `dtype`, which must be a floating-point type."""
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def full_shape(shape: Any, partition_info: Any) -> list[int]:
    """Return the shape of the whole variable, given that of a part."""
    return [int(n) for n in (shape if partition_info is None else partition_info.full_shape)]


def scaling(scale: float, mode: str, distribution: str) -> tuple[float, str, str]:
    """Return the arguments of VarianceScaling, checked and in lower case."""
    if scale <= 0.0:
        raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
    lower = distribution.lower()
    if lower == "normal":
        lower = "truncated_normal"
    if lower not in ("uniform", "truncated_normal", "untruncated_normal"):
        raise ValueError(
            "Argument `distribution` should be one of ('uniform', 'truncated_normal', 'untruncated_normal'). "
            f"Received: {distribution}"
        )
    return scale, mode, lower


def fans(shape: list[int]) -> tuple[float, float]:
    """Return the numbers of inputs and outputs of a layer with weights of this shape.

    >>> fans([3, 3, 2, 4]), fans([5]), fans([])
    ((18, 36), (5, 5), (1, 1))
    """
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    window = math.prod(shape[:-2])
    return shape[-2] * window, shape[-1] * window


def scaled_variance(scale: float, mode: str, shape: list[int]) -> float:
    """Return the variance that VarianceScaling wants for weights of this shape."""
    inputs, outputs = fans(shape)
    by = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[mode]
    return scale / max(1.0, by)


def orthogonal_matrix(shape: Any, gain: float, draw: Any, diagonal: Any) -> Any:
    """Return a tensor of `shape` with orthogonal rows or columns, made of the normal numbers `draw(shape)` gives."""
    if len(shape) < 2:
        raise ValueError(
            "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. "
            f"Received shape={shape}"
        )
    rows, columns = math.prod(int(n) for n in shape[:-1]), int(shape[-1])
    q = orthonormal(draw([max(rows, columns), min(rows, columns)]), diagonal)
    if rows < columns:
        q = matrix_transpose(q)
    return gain * reshape(q, shape)


def orthonormal(matrix: Any, diagonal: Any) -> Any:
    """Return the Q of a matrix's QR factors, its signs chosen so that it is uniformly distributed."""
    q, r = raw.Qr(matrix, full_matrices=False)
    return q * raw.Sign(diagonal(r))


# --- by the names of functions ----------------------------------------------------------------------------------------

zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
identity_initializer = Identity
