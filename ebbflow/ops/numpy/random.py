"""NumPy's random numbers: drawn by the global seed, of NumPy's shapes and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.numpy.promotion import ArrayLike, default_float, inexact_together, tensor
from ebbflow.ops.random import seeds, stateful


def _dims(size: Any) -> list[int]:
    return [] if size is None else [int(n) for n in np.atleast_1d(size)]


def seed(s: int) -> None:
    """Set the seed of what is drawn from now on."""
    seeds.set_seed(s)


def randn(*args: int) -> Tensor:
    """Return standard normals in a shape given axis by axis."""
    return standard_normal(args or None)


def standard_normal(size: TensorLike | None = None) -> Tensor:
    """Return standard normals."""
    return stateful.random_normal(_dims(size), dtype=default_float())


def random(size: TensorLike | None = None) -> Tensor:
    """Return numbers in [0, 1)."""
    return stateful.random_uniform(_dims(size), dtype=default_float())


def rand(*size: int) -> Tensor:
    """Return numbers in [0, 1), in a shape given axis by axis."""
    return random(size or None)


def uniform(low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: TensorLike | None = None) -> Tensor:
    """Return numbers in [low, high)."""
    first, last = inexact_together(low, high)
    dims = np.broadcast_shapes(tuple(first.shape.as_list()), tuple(last.shape.as_list())) if size is None else size
    share = stateful.random_uniform(_dims(dims) if dims != () else [], dtype=default_float())
    return cast(first, share.dtype) + share * cast(last - first, share.dtype)


def poisson(lam: ArrayLike = 1.0, size: TensorLike | None = None) -> Tensor:
    """Return counts of events of which `lam` are expected."""
    rate = tensor(lam)
    return stateful.random_poisson(_dims(size), rate, dtype=dtypes.int64)


def randint(low: int, high: int | None = None, size: TensorLike | None = None, dtype: DTypeLike = np.int64) -> Tensor:
    """Return whole numbers in [low, high), or in [0, low)."""
    low, high = (0, low) if high is None else (low, high)
    wanted = dtypes.as_dtype(dtype)
    if wanted in (dtypes.int32, dtypes.int64):
        return stateful.random_uniform(_dims(size), low, high, wanted)
    return cast(stateful.random_uniform(_dims(size), low, high, dtypes.int64), wanted)
