"""Random ops without state: the same seeds give the same numbers, always.

The first generation of these ops takes a pair of seeds, the second a key and a counter, which
`StatelessRandomGetKeyCounter` makes of the seeds; both read the same numbers. Knows words and distributions; keeps
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.ops.declare import FLAT, raw, reduce_to, show
from ebbflow.ops.random import distributions, samplers
from ebbflow.ops.random.distributions import BLOCKS_PER_NUMBER
from ebbflow.ops.random.philox import Source, scramble
from ebbflow.ops.random.stateful_ops import (
    across,
    asked,
    asked_dims,
    asked_ints,
    between,
    draw_categories,
    drawn_categories,
    gamma_slope,
    highest,
    int_bounds,
    shuffled,
    usable_rates,
)
from ebbflow.ops.sizes import invalid

PHILOX, THREEFRY, AUTO_SELECT = 1, 2, 3
"""The numbers of the algorithms. The third means: the best one there is, which is the first."""

_INTS = "type in [int32,int64,uint32,uint64]"


# --- seeds, keys and counters -----------------------------------------------------------------------------------------


def seeded(seed: np.ndarray) -> Source:
    """Return where the numbers for a pair of seeds begin."""
    if seed.shape != (2,):
        raise invalid(f"seed must have shape [2], not {show(seed.shape)}")
    return scramble(*seed.tolist())


def keyed(key: np.ndarray, counter: np.ndarray, alg: np.ndarray) -> Source:
    """Return the place that a key and a counter name."""
    if alg.ndim:
        raise invalid(f"input 3 (0-based) must have shape [], not {show(alg.shape)}")
    if key.shape != (1,):
        raise invalid(
            f"key must have shape [1], not {show(key.shape)}. (Note that batched keys are not supported yet.)"
        )
    if counter.ndim != 1 or counter.size < 2:
        raise invalid(
            f"counter must be a vector with length at least 2; got shape: {show(counter.shape)}. "
            "(Note that batched counters are not supported yet.)"
        )
    if int(alg) not in (PHILOX, AUTO_SELECT):
        raise invalid(f"Unsupported algorithm id: {int(alg)}: use 'philox' or 'auto_select'")
    low, high = counter[:2].tolist()
    return Source(int(key[0]), low | high << 64)


def _two_seeds(seed: Known) -> None:
    if seed.dims is not None and (len(seed.dims) != 1 or seed.dims[0] not in (None, 2)):
        if len(seed.dims) != 1:
            raise errors.StaticShapeError(f"Shape must be rank 1 but is rank {len(seed.dims)}")
        raise errors.StaticShapeError(f"Dimension must be 2 but is {seed.dims[0]}")


StatelessRandomGetKeyCounter = op(
    "StatelessRandomGetKeyCounter(seed:Tseed) -> (key:uint64, counter:uint64) | Tseed: index = int64", gradient=FLAT
)
StatelessRandomGetKeyCounterAlg = op(
    "StatelessRandomGetKeyCounterAlg(seed:Tseed) -> (key:uint64, counter:uint64, alg:int32) | Tseed: index = int64",
    gradient=FLAT,
)
StatelessRandomGetAlg = op(
    "StatelessRandomGetAlg() -> (alg:int32) | stateful",
    shape=lambda: (),
    kernel=lambda xp: np.array(PHILOX, np.int32),
    gradient=FLAT,
)


@StatelessRandomGetKeyCounter.shape
def _(seed):
    _two_seeds(seed)
    return [(1,), (2,)]


@StatelessRandomGetKeyCounterAlg.shape
def _(seed):
    _two_seeds(seed)
    return [(1,), (2,), ()]


@StatelessRandomGetKeyCounter.kernel
def _(xp, seed):
    key, counter = seeded(seed)
    return np.array([key], np.uint64), np.array([counter & (2**64 - 1), counter >> 64], np.uint64)


@StatelessRandomGetKeyCounterAlg.kernel
def _(xp, seed):
    return *StatelessRandomGetKeyCounter.run([seed], {}), np.array(PHILOX, np.int32)


# --- uniform and normal -----------------------------------------------------------------------------------------------


def _drawn(name: str, key: str, draw: Callable[..., np.ndarray], types: str) -> tuple[Op, Op]:
    """Declare an op whose numbers need a type and a shape only, in both generations (`key` is what seeds the first)."""
    first = op(
        f"{name}(shape:T, seed:Tseed) -> (output:dtype) | dtype: {types}; T: index = int32; Tseed: {key}",
        "sizes=shape beside",
        gradient=FLAT,
    )
    second = op(
        f"{name}V2(shape:Tshape, key:uint64, counter:uint64, alg:int32) -> (output:dtype)"
        f" | dtype: {types}; Tshape: index = int32",
        "known=alg sizes=shape beside",
        shape=asked_dims,
        gradient=FLAT,
    )

    @first.shape
    def _(shape: Known, seed: Known) -> Any:
        _two_seeds(seed)
        return asked_dims(shape)

    @first.kernel
    def _(xp: Any, shape: Any, seed: Any, *, dtype: Any) -> Any:
        dims = asked(shape, dtype.np.itemsize)
        return draw(seeded(seed), math.prod(dims), dtype.np).reshape(dims)

    @second.kernel
    def _(xp: Any, shape: Any, key: Any, counter: Any, alg: Any, *, dtype: Any) -> Any:
        source = keyed(key, counter, alg)
        dims = asked(shape, dtype.np.itemsize)
        return draw(source, math.prod(dims), dtype.np).reshape(dims)

    return first, second


_FLOATS = "floats = float"
_FULL = _INTS + " = uint64"

#                                                     op                          seeds              numbers
StatelessRandomUniform, StatelessRandomUniformV2 = _drawn(
    "StatelessRandomUniform", "index = int64", distributions.uniform, _FLOATS
)
StatelessRandomNormal, StatelessRandomNormalV2 = _drawn(
    "StatelessRandomNormal", "index = int64", distributions.normal, _FLOATS
)
StatelessTruncatedNormal, StatelessTruncatedNormalV2 = _drawn(
    "StatelessTruncatedNormal", "index = int64", distributions.truncated_normal, _FLOATS
)
StatelessRandomUniformFullInt, StatelessRandomUniformFullIntV2 = _drawn(
    "StatelessRandomUniformFullInt", _INTS + " = int64", distributions.full_int, _FULL
)

StatelessRandomUniformInt = op(
    "StatelessRandomUniformInt(shape:T, seed:Tseed, minval:dtype, maxval:dtype) -> (output:dtype)"
    " | dtype: index; T: index; Tseed: index = int64",
    gradient=FLAT,
    facts="sizes=shape",
)
StatelessRandomUniformIntV2 = op(
    "StatelessRandomUniformIntV2(shape:Tshape, key:uint64, counter:uint64, alg:int32, minval:dtype, maxval:dtype)"
    f" -> (output:dtype) | dtype: {_INTS}; Tshape: index = int32",
    shape=lambda shape, key, counter, alg, minval, maxval: asked_ints(shape, minval, maxval),
    gradient=FLAT,
    facts="known=alg sizes=shape",
)


@StatelessRandomUniformInt.shape
def _(shape, seed, minval, maxval):
    _two_seeds(seed)
    return asked_ints(shape, minval, maxval)


@StatelessRandomUniformInt.kernel
def _(xp, shape, seed, minval, maxval, *, dtype):
    return _integers(seeded(seed), shape, minval, maxval, dtype)


@StatelessRandomUniformIntV2.kernel
def _(xp, shape, key, counter, alg, minval, maxval, *, dtype):
    return _integers(keyed(key, counter, alg), shape, minval, maxval, dtype)


def _integers(source: Source, shape: np.ndarray, minval: np.ndarray, maxval: np.ndarray, dtype: Any) -> np.ndarray:
    dims = asked(shape, dtype.np.itemsize)
    count = math.prod(dims)
    low, high = int_bounds(minval, maxval, not count)
    return (
        distributions.uniform_int(source, count, low, high, dtype.np).reshape(dims)
        if count
        else np.empty(dims, dtype.np)
    )


# --- with parameters --------------------------------------------------------------------------------------------------


def _each(dims: list[int], parameters: list[np.ndarray]) -> tuple[list[np.ndarray], int]:
    """Return parameters broadcast to flat vectors, and how many numbers each entry of theirs gets.

    Unlike in ops with state, the shape asked for has the parameters' shape at its end.
    """
    batch = batch_dims(*parameters)
    if len(dims) < len(batch) or dims[len(dims) - len(batch) :] != list(batch):
        raise invalid("Shape passed in must end with broadcasted shape.")
    return [np.broadcast_to(p, batch).reshape(-1) for p in parameters], math.prod(dims) // max(math.prod(batch), 1)


def batch_dims(*parameters: np.ndarray) -> tuple[int, ...]:
    """Return the shape that parameters broadcast to."""
    try:
        return np.broadcast_shapes(*(p.shape for p in parameters))
    except ValueError:
        shapes = " vs. ".join(show(p.shape) for p in parameters)
        raise invalid(f"parameters must have compatible batch dimensions: {shapes}") from None


def _gamma(source: Source, shape: np.ndarray, alpha: np.ndarray, dtype: Any) -> np.ndarray:
    dims = asked(shape, 8)
    if not math.prod(dims):
        return np.empty(dims, dtype.np)
    (shapes,), count = _each(dims, [alpha.astype(np.float64)])
    return across(samplers.sampled(source, count, samplers.gamma, shapes), dims, dtype)


StatelessRandomGammaV2 = op(
    "StatelessRandomGammaV2(shape:T, seed:Tseed, alpha:dtype) -> (output:dtype)"
    " | dtype: type in [half,float,double]; T: index; Tseed: index = int64",
    shape=lambda shape, seed, alpha: asked_dims(shape),
    kernel=lambda xp, shape, seed, alpha, *, dtype: _gamma(seeded(seed), shape, alpha, dtype),
    gradient=lambda call, grad: [None, None, gamma_slope(call.alpha, call.output, grad)],
)
StatelessRandomGammaV3 = op(
    "StatelessRandomGammaV3(shape:shape_dtype, key:uint64, counter:uint64, alg:int32, alpha:dtype) -> (output:dtype)"
    " | dtype: type in [half,float,double]; shape_dtype: index = int32",
    shape=lambda shape, key, counter, alg, alpha: asked_dims(shape),
    kernel=lambda xp, shape, key, counter, alg, alpha, *, dtype: _gamma(keyed(key, counter, alg), shape, alpha, dtype),
    gradient=lambda call, grad: [None, None, None, None, gamma_slope(call.alpha, call.output, grad)],
)

_NUMBERS = "type in [half,float,double,int32,int64]"
StatelessRandomPoisson = op(
    "StatelessRandomPoisson(shape:T, seed:Tseed, lam:Rtype) -> (output:dtype)"
    f" | Rtype: {_NUMBERS}; dtype: {_NUMBERS}; T: index; Tseed: index = int64",
    shape=lambda shape, seed, lam: asked_dims(shape),
    gradient=FLAT,
)


@StatelessRandomPoisson.kernel
def _(xp, shape, seed, lam, *, dtype):
    source = seeded(seed)
    dims = asked(shape, 8)
    if not math.prod(dims):
        return np.empty(dims, dtype.np)
    (rates,), count = _each(dims, [usable_rates(lam, dtype).reshape(lam.shape)])
    return across(samplers.poissons(source, count, rates, highest(dtype)), dims, dtype)


StatelessRandomBinomial = op(
    "StatelessRandomBinomial(shape:S, seed:Tseed, counts:T, probs:T) -> (output:dtype)"
    f" | S: index; Tseed: index = int64; T: {_NUMBERS} = double; dtype: {_NUMBERS} = int64",
    shape=lambda shape, seed, counts, probs: asked_dims(shape),
    kernel=lambda xp, shape, seed, counts, probs, *, dtype: binomial(seeded(seed), shape, counts, probs, dtype),
    gradient=FLAT,
)
_BLOCKS_OF_GAPS = 42
"""How far apart numbers stand that are few enough to be counted by the gaps between successes."""


def binomial(source: Source, shape: np.ndarray, counts: np.ndarray, probs: np.ndarray, dtype: Any) -> np.ndarray:
    """Return how often something of that chance happens in that many tries."""
    dims = asked(shape, 8)
    (counts, probs), count = _each(dims, [counts, probs])
    if np.isnan(counts).any() or (not dtype.is_floating and np.isnan(probs).any()):
        raise invalid("counts and probs must be numbers, got NaN")
    if not math.prod(dims):
        return np.empty(dims, dtype.np)
    likely = probs > probs.dtype.type(0.5)
    chance = np.where(likely, probs.dtype.type(1) - probs, probs)
    often = counts * chance >= counts.dtype.type(10)
    blocks = np.where(often, BLOCKS_PER_NUMBER, _BLOCKS_OF_GAPS)
    tries = counts.astype(np.float64)
    parameters = tries, chance.astype(np.float64), often.astype(np.int8)
    rows = samplers.sampled(source, count, samplers.binomial, *parameters, blocks=blocks)
    rows = np.where(likely[:, None], np.maximum(tries, 0)[:, None] - rows, rows)
    rows = np.where(np.isnan(probs)[:, None], np.nan, rows)
    return across(
        np.where((tries == 0)[:, None], 0.0, rows), dims, dtype
    )  # of no tries none happens, whatever the chance


StatelessParameterizedTruncatedNormal = op(
    "StatelessParameterizedTruncatedNormal(shape:S, seed:Tseed, means:dtype, stddevs:dtype, minvals:dtype,"
    " maxvals:dtype) -> (output:dtype) | S: index; Tseed: index = int64; dtype: type in [half,float,double]",
    shape=lambda shape, *others: asked_dims(shape),
    facts="beside",
)


@StatelessParameterizedTruncatedNormal.gradient
def _(call, grad):
    """Move a number with its distribution; with a bound as far as keeps its share of what is between the bounds."""
    means, stddevs, minvals, maxvals, drawn = call.means, call.stddevs, call.minvals, call.maxvals, call.output
    at, low, high = ((x - means) / stddevs for x in (drawn, minvals, maxvals))
    below = (_ndtr(at) - _ndtr(low)) / (_ndtr(high) - _ndtr(low))
    with_low = raw.Exp(0.5 * (at * at - low * low)) * (1.0 - below)
    with_high = raw.Exp(0.5 * (at * at - high * high)) * below
    each = [grad, grad * at, grad * with_low, grad * with_high]
    sources = (means, stddevs, minvals, maxvals)
    return None, None, *(reduce_to(g, x, drawn) for g, x in zip(each, sources, strict=True))


def _ndtr(x):
    return 0.5 * raw.Erfc(x * -math.sqrt(0.5))


@StatelessParameterizedTruncatedNormal.kernel
def _(xp, shape, seed, means, stddevs, minvals, maxvals, *, dtype):
    source = seeded(seed)
    dims = asked(shape, dtype.np.itemsize)
    parameters, count = _each(dims, [means, stddevs, minvals, maxvals])
    rows = np.empty((parameters[0].size, count), dtype.np)
    for row, one in zip(rows, zip(*parameters, strict=True), strict=True):
        row[:], blocks = between(source, count, *one, dtype.np)
        source = source._replace(counter=source.counter + blocks)
    return np.ascontiguousarray(rows.T).reshape(dims)


# --- categories and orders --------------------------------------------------------------------------------------------

StatelessMultinomial = op(
    "StatelessMultinomial(logits:T, num_samples:int32, seed:Tseed) -> (output:output_dtype)"
    " | T: reals; Tseed: index = int64; output_dtype: index = int64",
    gradient=FLAT,
    facts="beside",
)


@StatelessMultinomial.shape
def _(logits, num_samples, seed):
    _two_seeds(seed)
    return drawn_categories(logits, num_samples)


@StatelessMultinomial.kernel
def _(xp, logits, num_samples, seed, *, output_dtype):
    source = seeded(seed)
    return draw_categories(logits, num_samples, output_dtype, lambda blocks: source)


StatelessShuffle = op(
    "StatelessShuffle(value:T, key:uint64, counter:uint64, alg:int32) -> (output:T) | T: type",
    shape=lambda value, key, counter, alg: value.dims,
    gradient=FLAT,
)


@StatelessShuffle.kernel
def _(xp, value, key, counter, alg):
    source = keyed(key, counter, alg)
    return value if value.size <= 1 or len(value) <= 1 else shuffled(value, source)
