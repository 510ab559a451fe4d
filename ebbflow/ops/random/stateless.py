"""Random numbers without state as people ask for them: `stateless_normal`, `split`, `fold_in` and the rest.

In a graph these put TensorFlow's nodes there, those of 1.15 in the first era. Eagerly, with plain numbers as
parameters, they compute straight away. Knows the ops of `stateless_random_ops`.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.op import Op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.declare import raw
from ebbflow.ops.random import distributions
from ebbflow.ops.random.stateful import (
    ACCEPTED,
    added,
    at_least_tiny,
    category_type,
    cropped,
    scaled,
    shape_array,
    shape_tensor,
    spread_over,
)
from ebbflow.ops.random.stateful_ops import asked
from ebbflow.ops.random.stateless_ops import (
    AUTO_SELECT,
    PHILOX,
    THREEFRY,
    StatelessMultinomial,
    StatelessParameterizedTruncatedNormal,
    StatelessRandomBinomial,
    StatelessRandomGammaV3,
    StatelessRandomGetKeyCounter,
    StatelessRandomNormal,
    StatelessRandomNormalV2,
    StatelessRandomPoisson,
    StatelessRandomUniform,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformInt,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessShuffle,
    StatelessTruncatedNormal,
    StatelessTruncatedNormalV2,
    seeded,
)


class Algorithm(enum.Enum):
    """How random bits are made."""

    PHILOX = PHILOX
    THREEFRY = THREEFRY
    AUTO_SELECT = AUTO_SELECT


_ALGORITHMS = {"philox": PHILOX, "threefry": THREEFRY, "autoselect": AUTO_SELECT}


def algorithm_number(alg: Any) -> Any:
    """Return the number of an algorithm, given by name, number or member of `Algorithm`."""
    if alg is None:
        return AUTO_SELECT
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, (int, Tensor)):
        return alg
    if not isinstance(alg, str):
        raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")
    found = _ALGORITHMS.get(alg.strip().lower().replace("-", "").replace("_", ""))
    if found is None:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, "
            "threefry for the ThreeFry algorithm, and auto_select for auto-selection."
        )
    return found


def key_and_counter(seed: Any, alg: Any) -> tuple[Any, Any]:
    """Return the key and the counter that a pair of seeds stands for."""
    if alg == THREEFRY:
        words = raw.Cast(seed, DstT=dtypes.uint64)
        low = raw.BitwiseAnd(words, np.array(2**32 - 1, np.uint64))
        key = raw.BitwiseOr(low[0], raw.LeftShift(low[1], np.array(32, np.uint64)))
        return raw.Reshape(key, [1]), np.zeros(1, np.uint64)
    return StatelessRandomGetKeyCounter(_plain_seed(seed))


def _plain_seed(seed: Any) -> Any:
    """Return a list of small integers as int32, the type TensorFlow 2 gives it in a graph."""
    if isinstance(seed, (list, tuple)) and all(isinstance(s, int) and -(2**31) <= s < 2**31 for s in seed):
        return np.array(seed, np.int32)
    return seed


def _at_once(
    draw: Callable[..., np.ndarray], shape: Any, seed: Any, alg: Any, dtype: DType, ops: Any, *numbers: Any
) -> Any:
    """Return the numbers the short way: eagerly, all parameters being plain; None: go the long way."""
    if building() is not None or any(op.engines for op in ops) or algorithm_number(alg) not in (PHILOX, AUTO_SELECT):
        return None
    if not dtype.is_floating or not all(n.__class__ in (int, float) for n in numbers):
        return None
    sizes, seeds = shape_array(shape), convert(seed)
    if sizes is None or seeds.__class__ is not EagerTensor or seeds._dtype not in (dtypes.int32, dtypes.int64):
        return None
    try:
        dims = asked(sizes, dtype.np.itemsize)
        return draw(seeded(seeds._array), math.prod(dims), dtype.np).reshape(dims)
    except Exception:  # the long way explains it
        return None


# --- uniform ----------------------------------------------------------------------------------------------------------


def stateless_random_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Return the numbers from [minval, maxval) that belong to a pair of seeds.

    >>> stateless_random_uniform([2], [1, 2], 0, 10, dtypes.int32).numpy().tolist()
    [0, 9]
    """
    dtype = as_dtype(dtype)
    _check_bounds(dtype, minval, maxval)
    if maxval is None and not dtype.is_integer:
        maxval = 1
    array = _at_once(distributions.uniform, shape, seed, alg, dtype, [StatelessRandomUniformV2], minval, maxval)
    if array is not None:
        kind = array.dtype.type
        return wrap(scaled(array, kind(maxval) - kind(minval), minval), dtype)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        if dtype.is_integer:
            return _uniform_int(shape, seed, minval, maxval, dtype, algorithm_number(alg), scope)
        minval = convert(minval, dtype, None, "min")
        maxval = convert(maxval, dtype, None, "max")
        drawn = _drawn(StatelessRandomUniform, StatelessRandomUniformV2, shape, seed, dtype, alg)
        span = raw.Sub(maxval, minval, name="sub")
        return added(raw.Mul(drawn, span, name="mul"), minval, scope)


def _check_bounds(dtype: DType, minval: Any, maxval: Any) -> None:
    accepted = (*ACCEPTED, dtypes.uint32, dtypes.uint64)
    if dtype not in accepted:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are {accepted}.")
    if not dtype.is_integer:
        return
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both None or not None. "
            f"Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is not None and dtype in (dtypes.uint32, dtypes.uint64):
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )


def _uniform_int(shape: Any, seed: Any, minval: Any, maxval: Any, dtype: DType, alg: Any, scope: Any) -> Any:
    if minval is None:
        key, counter = key_and_counter(seed, alg)
        return StatelessRandomUniformFullIntV2(shape, key, counter, alg, dtype=dtype, name=scope or None)
    minval = convert(minval, dtype, None, "min")
    maxval = convert(maxval, dtype, None, "max")
    if context.switches.tf1:
        return StatelessRandomUniformInt(shape, seed, minval, maxval, name=scope or None)
    key, counter = key_and_counter(seed, alg)
    return StatelessRandomUniformIntV2(shape, key, counter, alg, minval, maxval, name=scope or None)


def _drawn(first: Op, second: Op, shape: Any, seed: Any, dtype: DType, alg: Any) -> Any:
    """Return the numbers of an op, by the generation of the era."""
    if context.switches.tf1:
        return first(shape, seed, dtype=dtype)
    alg = algorithm_number(alg)
    key, counter = key_and_counter(seed, alg)
    return second(shape, key, counter, alg, dtype=dtype)


# --- normal -----------------------------------------------------------------------------------------------------------


def stateless_random_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Return the normal numbers that belong to a pair of seeds."""
    ops = StatelessRandomNormal, StatelessRandomNormalV2
    return _spread(ops, distributions.normal, "stateless_random_normal", shape, seed, mean, stddev, dtype, name, alg)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Return the normal numbers, none of them two deviations or more from the mean, that belong to a pair of seeds."""
    ops, draw = (StatelessTruncatedNormal, StatelessTruncatedNormalV2), distributions.truncated_normal
    return _spread(ops, draw, "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name, alg)


def _spread(
    ops: Any, draw: Any, default: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: Any, alg: Any
) -> Any:
    dtype = as_dtype(dtype)
    array = _at_once(draw, shape, seed, alg, dtype, ops, mean, stddev)
    if array is not None:
        return wrap(scaled(array, stddev, mean), dtype)
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        shape = shape_tensor(shape)
        mean = convert(mean, dtype, None, "mean")
        stddev = convert(stddev, dtype, None, "stddev")
        drawn = _drawn(*ops, shape, seed, dtype, alg)  # type: ignore[call-arg]
        return added(raw.Mul(drawn, stddev, name="mul"), mean, scope)


def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Return the normal numbers between bounds that belong to a pair of seeds."""
    named = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "stateless_parameterized_truncated_normal", [shape, *named.values()]):
        shape = shape_tensor(shape)
        parameters = [convert(value, None, None, key) for key, value in named.items()]
        return StatelessParameterizedTruncatedNormal(shape, _plain_seed(seed), *parameters)


# --- others -----------------------------------------------------------------------------------------------------------


def stateless_random_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return the gamma numbers that belong to a pair of seeds; `shape` ends with that of the parameters."""
    dtype = as_dtype(dtype)
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        shape = shape_tensor(shape)
        alpha = convert(alpha, dtype, None, "alpha")
        beta = convert(1 if beta is None else beta, dtype, None, "beta")
        shapes = spread_over(alpha, beta)
        key, counter = key_and_counter(seed, AUTO_SELECT)
        drawn = StatelessRandomGammaV3(shape, key, counter, AUTO_SELECT, shapes)
        return at_least_tiny(raw.RealDiv(drawn, beta, name="truediv"))


def stateless_random_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = dtypes.int32, name: str | None = None
) -> Tensor:
    """Return the Poisson numbers that belong to a pair of seeds; `shape` ends with that of the rates."""
    with name_scope(name, "stateless_random_poisson", [shape, seed, lam]):
        return StatelessRandomPoisson(shape_tensor(shape), _plain_seed(seed), lam, dtype=dtype)


def stateless_random_binomial(
    shape: ShapeLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return the binomial numbers that belong to a pair of seeds; `shape` ends with that of the parameters."""
    with name_scope(name, "stateless_random_binomial", [shape, seed, counts, probs]):
        shape = shape_tensor(shape)
        probs = convert(probs, None, dtypes.float32, "probs")
        counts = convert(counts, None, probs.dtype, "counts")
        return StatelessRandomBinomial(shape, _plain_seed(seed), counts, probs, dtype=output_dtype)


def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Return the categories that belong to a pair of seeds, drawn by unnormalised log-chances."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _categories(logits, num_samples, seed, dtype)


def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Return the categories that belong to a pair of seeds, drawn by unnormalised log-chances."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _categories(logits, num_samples, seed, output_dtype)


def _categories(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Any:
    logits = convert(logits, None, None, "logits")
    seed = seed if context.switches.tf1 else _plain_seed(seed)
    return StatelessMultinomial(logits, num_samples, seed, output_dtype=category_type(dtype))


def stateless_shuffle(value: TensorLike, seed: TensorLike, alg: str = "auto_select", name: str | None = None) -> Tensor:
    """Return the rows of `value` in the order that belongs to a pair of seeds."""
    with name_scope(name, "stateless_shuffle", [value, seed]):
        alg = algorithm_number(alg)
        key, counter = key_and_counter(seed, alg)
        return StatelessShuffle(value, key, counter, alg)


def stateless_random_crop(value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """Return the part of `value` of that size whose place belongs to a pair of seeds."""

    def draw(shape: Any) -> Any:
        return stateless_random_uniform(shape, seed, 0, dtypes.int32.max, dtypes.int32)

    return cropped(value, size, name, draw)


def split(seed: TensorLike, num: TensorLike = 2, alg: str = "auto_select") -> Tensor:
    """Return `num` pairs of seeds made of one, as the rows of a matrix."""
    seed = convert(seed)
    return stateless_random_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: TensorLike, data: TensorLike, alg: str = "auto_select") -> Tensor:
    """Return a pair of seeds made of another and an integer."""
    data = convert(data)
    first = stateless_random_uniform([], seed, None, None, data.dtype, alg=alg)
    return raw.Pack([first, data], name="stack")
