"""Random numbers as a function of seeds: Philox, in jax's words.

The bits are those of `ops.philox`, so uniform numbers and integers are the host's to the last bit; normal numbers
differ from it by rounding. What must be drawn again until it fits (truncated normals, gammas, …) stays on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.random.distributions import _FRACTION_BITS, SMALLEST, per_block
from ebbflow.ops.random.philox import _FACTORS, _KEY_STEPS, _ROUNDS
from ebbflow.ops.random.stateful_ops import asked

_M32 = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SEED_KEY = np.uint64(0x02461E293EC8F720)


def _rounds(jnp: Any, key: Any, low: Any, high: Any) -> list[Any]:
    """Return the four words of the blocks with these counters (64-bit halves), under a 64-bit key."""
    words = [(half >> shift) & _M32 for half in (low, high) for shift in (np.uint64(0), _HALF)]
    keys = [key & _M32, key >> _HALF]
    for _ in range(_ROUNDS):
        p, q = words[0] * np.uint64(_FACTORS[0]), words[2] * np.uint64(_FACTORS[1])
        words = [(q >> _HALF) ^ words[1] ^ keys[0], q & _M32, (p >> _HALF) ^ words[3] ^ keys[1], p & _M32]
        keys = [(k + np.uint64(step)) & _M32 for k, step in zip(keys, _KEY_STEPS, strict=True)]
    return words


def blocks(jnp: Any, source: tuple[Any, Any, Any], count: int) -> Any:
    """Return `count` blocks from a place (key, low and high half of the counter) on, as rows of four words."""
    key, low, high = source
    places = low + jnp.arange(count, dtype=np.uint64)
    carried = (places < low).astype(np.uint64)
    return jnp.stack(_rounds(jnp, key, places, high + carried), axis=1).astype(np.uint32)


def seeded(jnp: Any, seed: Any) -> tuple[Any, Any, Any]:
    """Return where the numbers for a pair of seeds begin."""
    first, second = seed[0].astype(np.int64).astype(np.uint64), seed[1].astype(np.int64).astype(np.uint64)
    a, b, c, d = _rounds(jnp, _SEED_KEY, first, second)
    return a | b << _HALF, jnp.uint64(0), c | d << _HALF


# --- from words to numbers --------------------------------------------------------------------------------------------


def _drawn(jnp: Any, source: Any, dims: Any, dtype: np.dtype, convert: Callable[..., Any]) -> Any:
    count, per = math.prod(dims), per_block(dtype)
    numbers = convert(jnp, blocks(jnp, source, -(-count // per)), dtype)
    return numbers.reshape(-1)[:count].reshape(dims).astype(dtype)


def _uniform(jnp: Any, words: Any, dtype: np.dtype) -> Any:
    bits = _FRACTION_BITS[dtype.name]
    if bits == 52:
        upper = (words[:, 0::2] & np.uint32(0xFFFFF)).astype(np.uint64) << _HALF
        return (upper | words[:, 1::2].astype(np.uint64)).astype(dtype) * 2.0**-52
    return (words & np.uint32((1 << bits) - 1)).astype(np.float32) * np.float32(2.0**-bits)


def _normal(jnp: Any, words: Any, dtype: np.dtype) -> Any:
    wide = np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    u = _uniform(jnp, words, wide).reshape(-1, 2)
    radius = jnp.sqrt(-2 * jnp.log(jnp.maximum(u[:, 0], wide.type(SMALLEST))))
    angle = u[:, 1] * wide.type(2 * math.pi)
    return jnp.stack([jnp.sin(angle) * radius, jnp.cos(angle) * radius], axis=1)


def _integers(jnp: Any, words: Any, dtype: np.dtype) -> Any:
    if dtype.itemsize == 8:
        words = words[:, 0::2].astype(np.uint64) | words[:, 1::2].astype(np.uint64) << _HALF
    return lax.bitcast_convert_type(words, dtype)


def _between(low: Any, high: Any) -> Callable[..., Any]:
    def convert(jnp: Any, words: Any, dtype: np.dtype) -> Any:
        unsigned = np.dtype(f"uint{dtype.itemsize * 8}")
        span = lax.bitcast_convert_type(high - low, unsigned)
        return lax.bitcast_convert_type(_integers(jnp, words, unsigned) % span, dtype) + low

    return convert


# --- the ops ----------------------------------------------------------------------------------------------------------


def _both_generations(name: str, convert: Callable[..., Any]) -> None:
    @lowering(name)
    def _(jnp: Any, shape: Any, seed: Any, *, dtype: Any) -> Any:
        return _drawn(jnp, seeded(jnp, seed), asked(shape, dtype.np.itemsize), dtype.np, convert)

    @lowering(f"{name}V2")
    def _(jnp: Any, shape: Any, key: Any, counter: Any, alg: Any, *, dtype: Any) -> Any:
        source = key[0], counter[0], counter[1]
        return _drawn(jnp, source, asked(shape, dtype.np.itemsize), dtype.np, convert)


_both_generations("StatelessRandomUniform", _uniform)
_both_generations("StatelessRandomNormal", _normal)
_both_generations("StatelessRandomUniformFullInt", _integers)


@lowering("StatelessRandomUniformInt", loses="whether minval is below maxval")
def _(jnp: Any, shape: Any, seed: Any, minval: Any, maxval: Any, *, dtype: Any) -> Any:
    return _drawn(jnp, seeded(jnp, seed), asked(shape, dtype.np.itemsize), dtype.np, _between(minval, maxval))


@lowering("StatelessRandomUniformIntV2", loses="whether minval is below maxval")
def _(
    jnp: Any, shape: Any, key: Any, counter: Any, alg: Any, minval: Any, maxval: Any, *, dtype: Any
) -> Any:  # fmt: skip
    source = key[0], counter[0], counter[1]
    return _drawn(jnp, source, asked(shape, dtype.np.itemsize), dtype.np, _between(minval, maxval))


@lowering("StatelessRandomGetKeyCounter")
def _(jnp: Any, seed: Any) -> Any:
    key, low, high = seeded(jnp, seed)
    return key.reshape(1), jnp.stack([low, high])


@lowering("StatelessRandomGetKeyCounterAlg")
def _(jnp: Any, seed: Any) -> Any:
    key, low, high = seeded(jnp, seed)
    return key.reshape(1), jnp.stack([low, high]), np.array(1, np.int32)


@lowering("StatelessRandomGetAlg")
def _(jnp: Any) -> Any:
    return np.array(1, np.int32)
