"""Random ops that keep state: uniform, normal, truncated normal, gamma, Poisson, categories, shuffles.

Each kernel asks `random_seed` for its stream and reserves as many blocks as TensorFlow would, so that a seeded op gives
TensorFlow's numbers run after run; without a seed it takes `entropy`. The functions people call are in `random`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Known, Op, op
from ebbflow.ops.declare import FLAT, broadcast, raw, same, show
from ebbflow.ops.random import distributions, samplers
from ebbflow.ops.random import unseeded as entropy
from ebbflow.ops.random.distributions import BLOCKS_PER_NUMBER
from ebbflow.ops.random.seeds import stream_of
from ebbflow.ops.sizes import invalid, room_for

# --- shapes asked for -------------------------------------------------------------------------------------------------


def asked(shape: np.ndarray, itemsize: int) -> list[int]:
    """Return the dims that a kernel's shape input asks for, once it is sure that they can be had."""
    if shape.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {show(shape.shape)}")
    dims: list[int] = shape.tolist()
    room_for(dims, itemsize)
    return dims


def asked_dims(shape: Known, *others: Known) -> Any:
    """The output has the shape that the first input spells; a -1 in it leaves a length open until the op runs."""
    ranked(shape, 1)
    for n in () if shape.value is None else shape.value.tolist():
        if n < -1:
            raise errors.StaticShapeError(f"Invalid value in tensor used for shape: {n}")
    return shape.as_dims


def ranked(arg: Known, rank: int) -> None:
    """Refuse an input of another rank."""
    if arg.rank not in (None, rank):
        raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {arg.rank}")


def asked_ints(shape: Known, minval: Known, maxval: Known) -> Any:
    """The output has the shape that the first input spells; the bounds are scalars."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.rank not in (None, 0):
            raise errors.StaticShapeError(f"{name} must be a scalar; got a tensor of shape {show(bound.dims)}")
    return asked_dims(shape)


def each_parameter(shape: Known, parameter: Known) -> Any:
    """The output has the shape that the first input spells, and then that of the parameter."""
    dims = asked_dims(shape)
    return None if dims is None or parameter.dims is None else (*dims, *parameter.dims)


def int_bounds(minval: np.ndarray, maxval: np.ndarray, empty: bool) -> tuple[int, int]:
    """Return the bounds of random integers, which must leave room for one (unless none is wanted)."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.ndim:
            raise invalid(f"{name} must be 0-D, got shape {show(bound.shape)}")
    low, high = int(minval), int(maxval)
    if low >= high and not empty:
        raise invalid(f"Need minval < maxval, got {low} >= {high}")
    return low, high


# --- uniform and normal -----------------------------------------------------------------------------------------------


def _plain(name: str, seeded: Any, unseeded: Any) -> Op:
    """Declare an op whose only input is the shape; `seeded` and `unseeded` give its numbers."""
    declared = op(
        f"{name}(shape:T) -> (output:dtype) | seed: int = 0; seed2: int = 0; dtype: floats; T: index | stateful",
        "random beside",
        shape=asked_dims,
        gradient=FLAT,
    )

    @declared.kernel
    def _(xp: Any, shape: Any, *, seed: int, seed2: int, dtype: DType, T: DType, run: Any) -> Any:
        dims = asked(shape, dtype.np.itemsize)
        count = math.prod(dims)
        stream = stream_of(run, name, seed, seed2, dtype, T)
        if stream is None:
            return unseeded(count, dtype.np).reshape(dims)
        return seeded(stream.reserve(count * BLOCKS_PER_NUMBER), count, dtype.np).reshape(dims)

    return declared


RandomUniform = _plain("RandomUniform", distributions.uniform, entropy.uniform)
RandomStandardNormal = _plain("RandomStandardNormal", distributions.normal, entropy.normal)
TruncatedNormal = _plain("TruncatedNormal", distributions.truncated_normal, entropy.truncated_normal)

RandomUniformInt = op(
    "RandomUniformInt(shape:T, minval:Tout, maxval:Tout) -> (output:Tout)"
    " | seed: int = 0; seed2: int = 0; Tout: index; T: index | stateful",
    shape=asked_ints,
    gradient=FLAT,
    facts="random beside",
)


@RandomUniformInt.kernel
def _(xp, shape, minval, maxval, *, seed, seed2, Tout, T, run):
    dims = asked(shape, Tout.np.itemsize)
    count = math.prod(dims)
    low, high = int_bounds(minval, maxval, not count)
    if not count:
        return np.empty(dims, Tout.np)
    stream = stream_of(run, "RandomUniformInt", seed, seed2, Tout, T)
    if stream is None:
        return entropy.uniform_int(count, low, high, Tout.np).reshape(dims)
    return distributions.uniform_int(stream.reserve(count * BLOCKS_PER_NUMBER), count, low, high, Tout.np).reshape(dims)


# --- normal between bounds --------------------------------------------------------------------------------------------

ParameterizedTruncatedNormal = op(
    "ParameterizedTruncatedNormal(shape:T, means:dtype, stdevs:dtype, minvals:dtype, maxvals:dtype) -> (output:dtype)"
    " | seed: int = 0; seed2: int = 0; dtype: floats; T: index | stateful",
    gradient=FLAT,
    facts="random beside",
)
_BATCH = 100
"""Numbers of the same parameters are drawn in batches of this many."""


@ParameterizedTruncatedNormal.shape
def _(shape, means, stdevs, minvals, maxvals):
    for parameter in (means, stdevs, minvals, maxvals):
        if parameter.rank is not None and parameter.rank > 1:
            raise errors.StaticShapeError(f"Shape must be at most rank 1 but is rank {parameter.rank}")
    return asked_dims(shape)


@ParameterizedTruncatedNormal.kernel
def _(xp, shape, means, stdevs, minvals, maxvals, *, seed, seed2, dtype, T, run):
    if shape.ndim != 1:
        raise invalid(f"Input shape should be a vector, got shape: {show(shape.shape)}")
    if not shape.size:
        raise invalid("Shape tensor must not be empty")
    dims = asked(shape, dtype.np.itemsize)
    parameters = {"means": means, "stddevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    batches, size = _batches(dims, parameters)
    stream = stream_of(run, "ParameterizedTruncatedNormal", seed, seed2, dtype, T) or entropy.stream()
    source = stream.reserve(batches * 2 * samplers.MAX_TRIES * (size + 3) // 4)
    out = np.empty(math.prod(dims), dtype.np)
    for batch in range(batches):
        part = out[batch * size : (batch + 1) * size]
        mean, deviation, low, high = (p.reshape(-1)[batch if p.size > 1 else 0] for p in parameters.values())
        part[:], blocks = between(source, part.size, mean, deviation, low, high, dtype.np)
        source = source._replace(counter=source.counter + blocks)
    return out.reshape(dims)


def _batches(dims: list[int], parameters: dict[str, np.ndarray]) -> tuple[int, int]:
    """Return how many batches of how many numbers with the same parameters there are."""
    for name, p in parameters.items():
        if p.ndim > 1:
            raise invalid(f"Input {name} should be a scalar or vector, got shape: {show(p.shape)}")
    means, deviations, lows, highs = parameters.values()
    if means.size == 1 and deviations.size == 1 and not lows.ndim and not highs.ndim:
        return -(-math.prod(dims) // _BATCH), _BATCH
    for name, p in parameters.items():
        if p.ndim and p.size not in (1, dims[0]):
            raise invalid(f"Input {name} should have length 1 or shape[0], got shape: {show(p.shape)}")
    return dims[0], math.prod(dims[1:])


def between(
    source: Any, count: int, mean: Any, deviation: Any, low: Any, high: Any, dtype: Any
) -> tuple[np.ndarray, int]:
    """Return normal numbers between bounds and the blocks they took, for parameters that make sense."""
    if not (deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
        raise invalid("Invalid parameters")
    return samplers.between(source, count, mean, deviation, low, high, dtype)


# --- gamma and Poisson ------------------------------------------------------------------------------------------------

RandomGamma = op(
    "RandomGamma(shape:S, alpha:T) -> (output:T)"
    " | seed: int = 0; seed2: int = 0; S: index; T: type in [half,float,double] | stateful",
    shape=each_parameter,
    facts="random",
)


@RandomGamma.kernel
def _(xp, shape, alpha, *, seed, seed2, S, T, run):
    dims = [*asked(shape, T.np.itemsize), *alpha.shape]
    room_for(dims, 8)
    if not math.prod(dims):
        return np.empty(dims, T.np)
    stream = stream_of(run, "RandomGamma", seed, seed2, S, T)
    shapes = alpha.reshape(-1).astype(np.float64)
    count = math.prod(dims) // shapes.size
    if stream is None:
        return across(entropy.gamma(count, shapes), dims, T)
    source = stream.reserve(math.prod(dims) * BLOCKS_PER_NUMBER)
    return across(samplers.sampled(source, count, samplers.gamma, shapes), dims, T)


def across(rows: np.ndarray, dims: list[int], dtype: DType) -> np.ndarray:
    """Return rows of numbers, one a parameter, in the shape asked for, in which the parameters come last."""
    if dtype.np.itemsize == 2:
        rows = rows.astype(np.float32)  # rounded twice, as TensorFlow does
    return np.ascontiguousarray(rows.T, dtype.np).reshape(dims)


@RandomGamma.gradient
def _(call, grad):
    return None, gamma_slope(call.alpha, call.outputs[0], grad)


def gamma_slope(alpha: Any, sample: Any, grad: Any) -> Any:
    """Return the gradient of gamma numbers in the shapes they were drawn with, which are their last axes."""
    extra = raw.Sub(raw.Rank(sample), raw.Rank(alpha))
    return raw.Sum(grad * RandomGammaGrad(alpha, sample), raw.Range(0, extra, 1))


RandomGammaGrad = op(
    "RandomGammaGrad(alpha:T, sample:T) -> (output:T) | T: type in [float,double]", shape=broadcast, gradient=FLAT
)
_LARGE_SHAPE = 1e4


@RandomGammaGrad.kernel
def _(xp, alpha, sample, *, T):
    a, x = np.broadcast_arrays(alpha.astype(np.float64), sample.astype(np.float64))
    log_density = (a - 1) * np.log(x) - x - raw.Lgamma.run([a], {})
    slope = -raw.IgammaGradA.run([np.minimum(a, _LARGE_SHAPE), x], {}) / np.exp(log_density)
    # Of large shapes the cube root is as good as normal (Wilson and Hilferty): better than a long series.
    cube = np.cbrt(x / a)
    large = cube**3 + 3 * cube**2 * (1 / (9 * a) - (cube - 1 + 1 / (9 * a)) / 2)
    return np.where(a > _LARGE_SHAPE, large, slope).astype(T.np)


RandomPoissonV2 = op(
    "RandomPoissonV2(shape:S, rate:R) -> (output:dtype) | seed: int = 0; seed2: int = 0; S: index;"
    " R: type in [half,float,double,int32,int64] = double; dtype: type in [half,float,double,int32,int64] = int64"
    " | stateful",
    shape=each_parameter,
    gradient=FLAT,
    facts="random",
)
RandomPoisson = op(
    "RandomPoisson(shape:S, rate:dtype) -> (output:dtype) | seed: int = 0; seed2: int = 0; S: index;"
    " dtype: type in [half,float,double] | stateful deprecated@25",
    shape=each_parameter,
    gradient=FLAT,
    facts="random",
)


@RandomPoissonV2.kernel
def _(xp, shape, rate, *, seed, seed2, S, R, dtype, run):
    return _poisson(shape, rate, dtype, stream_of(run, "RandomPoissonV2", seed, seed2, S, R, dtype))


@RandomPoisson.kernel
def _(xp, shape, rate, *, seed, seed2, S, dtype, run):
    return _poisson(shape, rate, dtype, stream_of(run, "RandomPoisson", seed, seed2, S, dtype))


def _poisson(shape: np.ndarray, rate: np.ndarray, dtype: DType, stream: Any) -> np.ndarray:
    dims = [*asked(shape, dtype.np.itemsize), *rate.shape]
    room_for(dims, 8)
    if not math.prod(dims):
        return np.empty(dims, dtype.np)
    rates = usable_rates(rate, dtype)
    count = math.prod(dims) // rates.size
    if stream is None:
        return across(np.minimum(entropy.poisson(count, rates), highest(dtype)), dims, dtype)
    source = stream.reserve(math.prod(dims) * BLOCKS_PER_NUMBER)
    return across(samplers.poissons(source, count, rates, highest(dtype)), dims, dtype)


def highest(dtype: DType) -> float:
    """Return the largest number of a type."""
    return float(np.finfo(dtype.np).max if dtype.is_floating else np.iinfo(dtype.np).max)


def usable_rates(rate: np.ndarray, dtype: DType) -> np.ndarray:
    """Return Poisson rates as a flat vector; numbers of the type asked for must be able to follow them."""
    rates = rate.reshape(-1).astype(np.float64)
    bad = ~(rates - 10 * np.sqrt(np.maximum(rates, 0)) <= highest(dtype))
    if dtype.is_floating:
        bad &= np.isfinite(rates)
    if bad.any():
        raise invalid(f"rate = {rates[bad][0]:g} is too large for, or no rate of, numbers of type {dtype.name}")
    return rates


# --- categories and orders --------------------------------------------------------------------------------------------

Multinomial = op(
    "Multinomial(logits:T, num_samples:int32) -> (output:output_dtype)"
    " | seed: int = 0; seed2: int = 0; T: reals; output_dtype: index = int64 | stateful",
    gradient=FLAT,
    facts="random beside",
)


def drawn_categories(logits: Known, num_samples: Known, *others: Known) -> Any:
    """The output has a row for each row of the logits, and as many columns as samples are wanted."""
    ranked(logits, 2)
    ranked(num_samples, 0)
    count = num_samples.value
    if count is not None and count < 0:
        raise errors.StaticShapeError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {int(count)}"
        )
    return (None if logits.dims is None else logits.dims[0], None if count is None else int(count))


Multinomial.shape(drawn_categories)


@Multinomial.kernel
def _(xp, logits, num_samples, *, seed, seed2, T, output_dtype, run):
    stream = stream_of(run, "Multinomial", seed, seed2, T, output_dtype)
    return draw_categories(logits, num_samples, output_dtype, lambda blocks: stream and stream.reserve(blocks))


def draw_categories(logits: np.ndarray, num_samples: np.ndarray, dtype: DType, reserve: Any) -> np.ndarray:
    """Return random categories; `reserve(blocks)` gives the source to read from, or None for no seed.

    TensorFlow deals out a large batch to its threads and starts each at a place of its own; here, as there with one
    thread, row follows row.
    """
    if logits.ndim != 2:
        raise invalid(f"logits should be a matrix, got shape {show(logits.shape)}")
    if num_samples.ndim:
        raise invalid(f"num_samples should be a scalar, got shape {show(num_samples.shape)}")
    rows, samples = len(logits), int(num_samples)
    if samples < 0:
        raise invalid(f"num_samples should be non-negative, got {samples}")
    if not logits.shape[1]:
        raise invalid("num_classes should be positive, got 0")
    room_for([rows, samples], 8)
    if not rows * samples:
        return np.empty((rows, samples), dtype.np)
    source = reserve(rows * ((samples + 3) // 4 * 4) * 2 * BLOCKS_PER_NUMBER)
    count = rows * samples
    u = entropy.uniform(count, np.float64) if source is None else distributions.uniform(source, count, np.float64)
    return samplers.categories(logits, u.reshape(rows, samples)).astype(dtype.np)


RandomShuffle = op(
    "RandomShuffle(value:T) -> (output:T) | seed: int = 0; seed2: int = 0; T: type | stateful",
    shape=same,
    gradient=FLAT,
    facts="random beside",
)


@RandomShuffle.kernel
def _(xp, value, *, seed, seed2, T, run):
    if value.size <= 1 or len(value) <= 1:
        return value
    stream = stream_of(run, "RandomShuffle", seed, seed2, T)
    if stream is None:
        return value[entropy.order(len(value))]
    return shuffled(value, stream.reserve((len(value) + 2) // 4))


def shuffled(value: np.ndarray, source: Any) -> np.ndarray:
    """Return the rows of `value` in random order."""
    return value[samplers.shuffled(source.words((len(value) + 2) // 4), len(value))]
