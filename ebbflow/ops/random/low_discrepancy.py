"""Numbers that fill space evenly, and orders of indices computed one by one: Sobol's sequence, a shuffle as a cipher.

Sobol's numbers are SciPy's direction numbers in Gray-code order (the first point, zero, is left out, as in TensorFlow).
The shuffle is a Feistel network of Simon's rounds over as many bits as the indices need, walked until the result is
one of them.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, DTypeLike, TensorLike
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.random import distributions
from ebbflow.ops.random.philox import Source
from ebbflow.ops.sizes import invalid, room_for

SobolSample = op(
    "SobolSample(dim:int32, num_results:int32, skip:int32) -> (samples:dtype) | dtype: type in [float,double] = float",
    gradient=FLAT,
)


@SobolSample.shape
def _(dim, num_results, skip):
    sizes = []
    for name, arg in (("dim", dim), ("num_results", num_results), ("skip", skip)):
        if arg.rank not in (None, 0):
            raise errors.StaticShapeError(f"{name} must be a scalar, but its shape is {show(arg.dims)}")
        sizes.append(None if arg.value is None else int(arg.value))
    if sizes[0] is not None and sizes[0] < 1:
        raise errors.StaticShapeError(f"dim must be at least one, got {sizes[0]}")
    if sizes[1] is not None and sizes[1] < 1:
        raise errors.StaticShapeError(f"num_results must be at least one, got {sizes[1]}")
    return (sizes[1], sizes[0])


@SobolSample.kernel
def _(xp, dim, num_results, skip, *, dtype):
    if dim.ndim or num_results.ndim or skip.ndim:
        raise invalid("dim, num_results and skip must be scalars")
    width, count, first = (int(x.reshape(-1)[0]) for x in (dim, num_results, skip))
    if not 1 <= width <= 1111:
        raise invalid(f"dim must be in [1, 1111], got {width}")
    if count < 1:
        raise invalid(f"num_results must be at least one, got {count}")
    if first < 0 or first >= 2**31 - 1 - count:
        raise invalid(f"skip must be non-negative and leave room for num_results, got {first} with {count}")
    room_for((count, width), dtype.np.itemsize)
    from scipy.stats import qmc  # on use: heavy

    sequence = qmc.Sobol(width, scramble=False, bits=32)
    sequence.fast_forward(first + 1)
    return sequence.random(count).astype(dtype.np)


def sobol_sample(
    dim: Axis, num_results: TensorLike, skip: int = 0, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return points that fill the unit cube of `dim` dimensions evenly, after skipping some."""
    return SobolSample(dim, num_results, skip, dtype=dtypes.as_dtype(dtype), name=name)


RandomIndexShuffle = op(
    "RandomIndexShuffle(index:dtype, seed:Tseed, max_index:dtype) -> (output:dtype) | rounds: int = 4; "
    "dtype: type in [int32,uint32,int64,uint64]; Tseed: type in [int32,uint32,int64,uint64]",
    gradient=FLAT,
)


@RandomIndexShuffle.shape
def _(index, seed, max_index):
    for arg in (index, max_index):
        if arg.rank is not None and arg.rank > 1:
            raise errors.StaticShapeError(f"index and max_index must be scalars or vectors, got {show(arg.dims)}")
    return index.dims if index.dims != () else max_index.dims


_MASK = (1 << 64) - 1


def _turned(x: int, by: int, bits: int) -> int:
    by %= bits
    return ((x << by) | (x >> (bits - by))) & ((1 << bits) - 1)


def _keys(seed: list[int], rounds: int, bits: int) -> list[int]:
    """Return a key for each round, of the seed's three words."""
    state, keys = (seed[0] << 32 ^ seed[1]) & _MASK, []
    for i in range(rounds):
        state = (state + 0x9E3779B97F4A7C15 + seed[2] + i) & _MASK
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
        keys.append((mixed ^ mixed >> 31) & ((1 << bits) - 1))
    return keys


def _shuffled(value: int, seed: list[int], most: int, rounds: int) -> int:
    bits = max((most.bit_length() + 1) // 2, 8)
    keys, mask = _keys(seed, rounds, bits), (1 << bits) - 1
    while True:
        left, right = value >> bits, value & mask
        for key in keys:
            mixed = (_turned(right, 1, bits) & _turned(right, 8, bits)) ^ _turned(right, 2, bits)
            left, right = right, left ^ mixed ^ key
        value = left << bits | right
        if value <= most:
            return value


@RandomIndexShuffle.kernel
def _(xp, index, seed, max_index, *, rounds):
    if rounds < 4 or rounds % 2:
        raise invalid(f"Rounds must be >= 4 and even, got {rounds}")
    if seed.shape[-1:] != (3,) or seed.ndim > 2:
        raise invalid(f"Seed must be [3] or [n, 3], got shape {show(seed.shape)}")
    if index.ndim > 1 or max_index.ndim > 1:
        raise invalid("index and max_index must be scalars or vectors")
    counts = {x.shape[0] for x in (index, max_index) if x.ndim} | ({seed.shape[0]} if seed.ndim == 2 else set())
    if len(counts - {1}) > 1:
        raise invalid(f"index, seed and max_index must be of one length, got {sorted(counts)}")
    count = max(counts, default=1)
    places = np.broadcast_to(np.atleast_1d(index), count).tolist()
    most = np.broadcast_to(np.atleast_1d(max_index), count).tolist()
    seeds = np.broadcast_to(np.atleast_2d(seed), (count, 3)).tolist()
    wrong = next(((i, m) for i, m in zip(places, most, strict=True) if not 0 <= i <= m), None)
    if wrong is not None:
        broken = "max_index must be >= 0" if wrong[1] < 0 else "index must be >= 0"
        broken = broken if min(wrong) < 0 else "max_index must be >= index"
        raise invalid(f"{broken}: index must be in [0, max_index], got {wrong[0]} with max_index {wrong[1]}")
    words = [[s & 0xFFFFFFFF for s in row] for row in seeds]
    found = [_shuffled(i, s, m, rounds) for i, s, m in zip(places, words, most, strict=True)]
    result = np.array(found, index.dtype)
    return result if counts else result[0]


def index_shuffle(index: TensorLike, seed: TensorLike, max_index: TensorLike) -> Tensor:
    """Return where `index` goes when the numbers up to `max_index` are shuffled; each goes to one place of its own."""
    seed = convert(seed)
    if seed.shape.rank is not None and seed.shape[-1] == 2:  # a stateless seed: two words and none
        seed = raw.ConcatV2([seed, raw.ZerosLike(seed[..., :1])], -1)
    return RandomIndexShuffle(index, seed, max_index, rounds=4)


StochasticCastToInt = op(
    "StochasticCastToInt(input:Tin, key:uint64, counter:uint64, alg:int32) -> (output:Tout) | "
    "Tin: type in [half,bfloat16,float,double]; Tout: type in [int8,int16,int32]",
    gradient=FLAT,
    facts="beside",
)
StochasticCastToInt.shape(lambda input, key, counter, alg: input.dims)


@StochasticCastToInt.kernel
def _(xp, input, key, counter, alg, *, Tout):
    if key.shape != (1,) or counter.shape not in ((1,), (2,)) or alg.ndim:
        raise invalid(f"key must be [1], counter [1] or [2], alg a scalar: {key.shape}, {counter.shape}, {alg.shape}")
    words = [*counter.tolist(), 0][:2]
    chance = distributions.uniform(Source(int(key[0]), words[0] | words[1] << 64), input.size, np.dtype(np.float32))
    x = np.nan_to_num(input.astype(np.float64), nan=0.0)
    whole = np.floor(x)
    result = whole + (chance.reshape(input.shape) < x - whole)
    info = np.iinfo(Tout.np)
    return np.clip(result, info.min, info.max).astype(Tout.np)
