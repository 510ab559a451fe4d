"""Dropout: some elements become zero, chosen at random, and the rest grow so that sums stay what they were."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import building, constant
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.random.stateless import stateless_random_uniform
from ebbflow.ops.reduce.reductions import one_of


def dropout(
    x: TensorLike, rate: TensorLike, noise_shape: ShapeLike = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Return `x` with a share `rate` of its elements zero and the others divided by 1 - rate.

    >>> set(dropout([1.0] * 100, 0.5).numpy().tolist()) <= {0.0, 2.0}
    True
    """

    def draw(shape: Any, dtype: Any) -> Any:
        return random_uniform(shape, seed=seed, dtype=dtype)

    return _dropped(x, rate, noise_shape, draw, name, "dropout")


def general_dropout(
    x: TensorLike,
    rate: TensorLike,
    uniform_sampler: Callable[..., Any],
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Return `dropout(x, rate)` with random numbers from `uniform_sampler(shape=, dtype=)`."""
    return _dropped(
        x, rate, noise_shape, lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype), name, "general_dropout"
    )


def stateless_dropout(
    x: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    rng_alg: str | None = None,
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Return `dropout(x, rate)`, the same for the same `seed` every time."""
    more = {} if rng_alg is None else {"alg": rng_alg}

    def draw(shape: Any, dtype: Any) -> Any:
        return stateless_random_uniform(shape=shape, seed=seed, dtype=dtype, **more)

    return _dropped(x, rate, noise_shape, draw, name, "stateless_dropout")


def dropout_v1(
    x: TensorLike,
    keep_prob: TensorLike | None = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike | None = None,
) -> Tensor:
    """Return `x` with a share `rate` (or all but `keep_prob`) of its elements zero and the others grown instead."""
    return dropout(x, _rate_of(keep_prob, rate), noise_shape, seed, name)


def dropout_tf1(
    x: TensorLike,
    keep_prob: TensorLike | None = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike | None = None,
) -> Tensor:
    """Return `dropout_v1` as TensorFlow 1 puts it into a graph: a mask is multiplied with."""
    rate = _rate_of(keep_prob, rate)
    if building() is None:
        return dropout(x, rate, noise_shape, seed, name)
    with name_scope(name, "dropout", [x]):
        x = _floating(x)
        _check_rate(rate)
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        rate = convert(rate, x.dtype, None, "rate")
        drawn = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        kept = drawn >= rate
        result = x * scale * cast(kept, x.dtype)
        result.set_shape(x._dims)
        return result


def _rate_of(keep_prob: Any, rate: Any) -> Any:
    try:
        left = None if keep_prob is None else 1 - keep_prob
    except TypeError:
        raise ValueError(f"`keep_prob` must be a floating point number or Tensor, got {keep_prob!r}") from None
    rate = one_of("rate", rate, "keep_prob", left)
    if rate is None:
        raise ValueError("`rate` must be provided to dropout: the share of elements to drop.")
    return rate


def _dropped(x: Any, rate: Any, noise_shape: Any, draw: Any, name: Any, default: str) -> Any:
    with name_scope(name, default, [x]):
        _check_rate(rate)
        if hasattr(x, "with_flat_values"):  # ragged: element by element
            return x.with_flat_values(_dropped(x.flat_values, rate, noise_shape, draw, None, default))
        x = _floating(x)
        dtype = x.dtype
        if isinstance(rate, numbers.Real):
            if rate == 0:
                return x
            grown = raw.Mul(x, constant(1 / (1 - float(rate)), dtype))
        elif isinstance(rate, Tensor):
            if not rate.dtype.is_compatible_with(dtype):
                raise ValueError(f"`rate` has dtype {rate.dtype.name}, which is not that of `x`: {dtype.name}")
            rate = cast(rate, dtype, name="rate")
            grown = raw.RealDiv(x, raw.Sub(constant(1, dtype), rate))
        else:
            rate = convert(rate, None, dtype, "rate")
            grown = raw.RealDiv(x, raw.Sub(constant(1, dtype), rate))
        kept = raw.GreaterEqual(draw(_noise_shape(x, noise_shape), dtype), rate)
        result = raw.SelectV2(kept, grown, constant(0, dtype))
        if context.graph_scopes and building() is not None:
            result.set_shape(x._dims)
        return result


def _check_rate(rate: Any) -> None:
    shape = getattr(rate, "shape", ())
    if isinstance(rate, (str, bytes, list, tuple)) or TensorShape(shape).rank not in (None, 0):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if isinstance(rate, numbers.Real) and not 0 <= float(rate) < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if isinstance(rate, Tensor) and rate._dims not in ((), None):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")


def _floating(x: TensorLike) -> Tensor:
    x = convert(x, None, None, "x")
    if not x.dtype.is_floating:
        raise ValueError(
            f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype.name}"
        )
    return x


def _noise_shape(x: Any, noise_shape: Any) -> Any:
    """Return the shape of the choices: where it has None, that of `x`."""
    if noise_shape is None:
        return shape_of_tensor(x)
    if isinstance(noise_shape, Tensor) or any(isinstance(n, Tensor) for n in noise_shape):
        return noise_shape
    dims = as_dims(noise_shape)
    if dims is None or x._dims is None or len(dims) != len(x._dims):
        return noise_shape
    return [theirs if mine is None else mine for mine, theirs in zip(dims, x._dims, strict=True)]
