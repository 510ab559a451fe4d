"""Initializers for orthogonal convolutions (TF 1): kernels that keep the norm of what they are applied to.

`ConvolutionDeltaOrthogonal` puts an orthogonal matrix in the middle of a kernel of zeros. The others build a k×…×k
kernel out of small ones made of projections (Xiao et al., 2018), in one, two or three dimensions by the same lines.
"""

from __future__ import annotations

import itertools
from functools import reduce
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.typing import AnyTensor
from ebbflow.ops.arrays.shaping import matrix_transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag import eye
from ebbflow.ops.random import stateful
from ebbflow.state.initializers import Initializer, floating, orthonormal

if TYPE_CHECKING:
    from ebbflow.state.partitioners import PartitionInfo


Kernel = dict[tuple[int, ...], Any]
"""A kernel by places: at each place of the window a matrix from inputs to outputs."""


_RANKS = {1: "three", 2: "four", 3: "five"}  # of kernels, by the axes of the window


class _Convolution(Initializer):
    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = floating(dtypes.as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class ConvolutionDeltaOrthogonal(_Convolution):
    """Zeros with an orthogonal matrix in the middle of the window."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: PartitionInfo | None = None) -> AnyTensor:
        dtype = self.dtype if dtype is None else dtypes.as_dtype(dtype)
        if not 3 <= len(shape) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        matrix = orthonormal(stateful.random_normal([shape[-1], shape[-1]], dtype=dtype, seed=self.seed), raw.DiagPart)
        part = raw.Slice(matrix, [0, 0], [shape[-2], shape[-1]]) * _number(self.gain, dtype)
        window = [int(n) for n in shape[:-2]]
        middle = [[(n - 1) // 2 for n in window]]
        return raw.ScatterNd(middle, raw.ExpandDims(part, 0), [*window, int(shape[-2]), int(shape[-1])])


class ConvolutionOrthogonal(_Convolution):
    """What the initializers for one, two and three dimensions share."""

    _axes = 2

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtypes.as_dtype(dtype)
        window = [int(n) for n in shape[:-2]]
        if len(shape) != self._axes + 2:
            raise ValueError(f"The tensor to initialize must be {_RANKS[self._axes]}-dimensional")
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(window)) > 1:
            raise ValueError(f"Kernel sizes must be equal. Received shape={shape}")
        draws = _Draws(dtype, self.seed)
        return self._kernel(window[0], int(shape[-2]), int(shape[-1]), draws) * _number(self.gain, dtype)

    def _kernel(self, size: int, inputs: int, outputs: int, draws: _Draws) -> Any:
        first = raw.Slice(draws.orthogonal(outputs), [0, 0], [inputs, outputs])
        places = list(itertools.product(range(size), repeat=self._axes))
        if size == 1:
            kernel: Kernel = {places[0]: first}
        else:
            whole = self._block(outputs, draws)
            for _ in range(size - 2):
                whole = convolved(whole, self._block(outputs, draws))
            kernel = {place: raw.MatMul(first, whole[place]) for place in places}
        stacked = raw.Pack([kernel[place] for place in places])
        return raw.Reshape(stacked, [*[size] * self._axes, inputs, outputs])

    def _block(self, size: int, draws: _Draws) -> Kernel:
        """Return an orthogonal kernel of window 2×…×2: products of projections and what they leave out."""
        one = eye(size, dtype=draws.dtype)
        choices = []
        for _ in range(self._axes):
            projection = draws.projection(size)
            pair = (projection, one - projection)
            choices.append(pair if self._axes < 3 else pair[::-1])  # TensorFlow counts them the other way round in 3-D
        return {
            place: reduce(raw.MatMul, (choice[i] for choice, i in zip(choices, place, strict=True)))
            for place in itertools.product(range(2), repeat=self._axes)
        }


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """An orthogonal kernel for 1-D convolutions."""

    _axes = 1


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """An orthogonal kernel for 2-D convolutions."""


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """An orthogonal kernel for 3-D convolutions."""

    _axes = 3


class _Draws:
    """Random matrices, each with a seed of its own."""

    def __init__(self, dtype: Any, seed: int | None):
        self.dtype = dtype
        self._seed = seed

    def _normal(self, shape: list[int]) -> Any:
        found = stateful.random_normal(shape, dtype=self.dtype, seed=self._seed)
        if self._seed:
            self._seed += 1
        return found

    def orthogonal(self, size: int) -> Any:
        """Return an orthogonal matrix."""
        return orthonormal(self._normal([size, size]), raw.DiagPart)

    def projection(self, size: int) -> Any:
        """Return a symmetric projection onto a random subspace."""
        matrix = self.orthogonal(size)
        mask = raw.Cast(self._normal([size]) > 0, DstT=self.dtype)
        kept = matrix * mask
        return raw.MatMul(kept, matrix_transpose(kept))


def convolved(one: Kernel, other: Kernel) -> Kernel:
    """Return the kernel that has the effect of two kernels one after the other."""
    result: Kernel = {}
    for a, b in itertools.product(one, other):
        place = tuple(i + j for i, j in zip(a, b, strict=True))
        product = raw.MatMul(one[a], other[b])
        result[place] = result[place] + product if place in result else product
    return result


def _number(value: float, dtype: Any) -> Any:
    return raw.Cast(value, DstT=dtype)
