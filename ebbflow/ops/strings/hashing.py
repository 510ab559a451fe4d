"""Hashes of bytes that files and models rely on: FarmHash's 64-bit fingerprint, MurmurHash64A, SipHash-2-4.

Each formula is written once, over Python's ints or over arrays of uint64: many texts of one length are hashed side by
side. Knows NumPy and nothing of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
FEW = 8
"""From this many texts of one length on, arrays are quicker than ints."""


class Words:
    """The bytes of one text, read as numbers; with `Columns`, of several texts of one length."""

    def __init__(self, data: bytes) -> None:
        self.data, self.length = data, len(data)

    def byte(self, at: int) -> Any:
        return self.data[at]

    def four(self, at: int) -> Any:
        return int.from_bytes(self.data[at : at + 4], "little")

    def eight(self, at: int) -> Any:
        return int.from_bytes(self.data[at : at + 8], "little")

    def number(self, value: int) -> Any:
        return value & MASK


class Columns:
    """As `Words`, over a matrix of bytes with a row for each text."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.length = rows, rows.shape[1]

    def byte(self, at: int) -> Any:
        return self.rows[:, at].astype(np.uint64)

    def four(self, at: int) -> Any:
        return np.ascontiguousarray(self.rows[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)

    def eight(self, at: int) -> Any:
        return np.ascontiguousarray(self.rows[:, at : at + 8]).view("<u8")[:, 0]

    def number(self, value: int) -> Any:
        return np.full(len(self.rows), value & MASK, np.uint64)


def hashes(texts: Sequence[bytes], hash_of: Callable[[Any], Any]) -> np.ndarray:
    """Return the hash of each text as uint64."""
    result = np.empty(len(texts), np.uint64)
    if len(texts) < FEW:
        for i, text in enumerate(texts):
            result[i] = hash_of(Words(text))
        return result
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    with np.errstate(over="ignore"):
        for length in np.unique(lengths).tolist():
            places = np.flatnonzero(lengths == length)
            if len(places) < FEW:
                for i in places.tolist():
                    result[i] = hash_of(Words(texts[i]))
            else:
                joined = b"".join([texts[i] for i in places.tolist()])
                result[places] = hash_of(Columns(np.frombuffer(joined, np.uint8).reshape(len(places), length)))
    return result


def _times(a: Any, b: Any) -> Any:
    return a * b & MASK if isinstance(a, int) and isinstance(b, int) else _array(a) * _array(b)


def _plus(*terms: Any) -> Any:
    if all(isinstance(t, int) for t in terms):
        return sum(terms) & MASK
    total = _array(terms[0])
    for term in terms[1:]:
        total = total + _array(term)
    return total


def _array(x: Any) -> Any:
    return np.uint64(x & MASK) if isinstance(x, int) else x


def _shift(x: Any, bits: int) -> Any:
    return x >> bits if isinstance(x, int) else x >> np.uint64(bits)


def _left(x: Any, bits: int) -> Any:
    return (x << bits) & MASK if isinstance(x, int) else x << np.uint64(bits)


def _turn(x: Any, right: int) -> Any:
    """Return the bits turned to the right."""
    return _shift(x, right) | _left(x, 64 - right)


def _xor(a: Any, b: Any) -> Any:
    return a ^ b if isinstance(a, int) and isinstance(b, int) else _array(a) ^ _array(b)


# --- FarmHash ---------------------------------------------------------------------------------------------------------


def fingerprint64(words: Any) -> Any:
    """Return FarmHash's fingerprint, the same on every machine and in every version."""
    length = words.length
    if length <= 16:
        return _up_to_16(words)
    if length <= 32:
        return _up_to_32(words)
    return _up_to_64(words) if length <= 64 else _long(words)


def _mixed(x: Any) -> Any:
    return _xor(x, _shift(x, 47))


def _pair(u: Any, v: Any, mul: Any) -> Any:
    a = _mixed(_times(_xor(u, v), mul))
    return _times(_mixed(_times(_xor(v, a), mul)), mul)


def _up_to_16(words: Any) -> Any:
    n = words.length
    mul = (K2 + 2 * n) & MASK
    if n >= 8:
        a, b = _plus(words.eight(0), K2), words.eight(n - 8)
        c, d = _plus(_times(_turn(b, 37), mul), a), _times(_plus(_turn(a, 25), b), mul)
        return _pair(c, d, mul)
    if n >= 4:
        return _pair(_plus(_left(words.four(0), 3), n), words.four(n - 4), mul)
    if n:
        y = _plus(words.byte(0), _left(words.byte(n >> 1), 8))
        z = _plus(_left(words.byte(n - 1), 2), n)
        return _times(_mixed(_xor(_times(y, K2), _times(z, K0))), K2)
    return words.number(K2)


def _up_to_32(words: Any) -> Any:
    n = words.length
    mul = (K2 + 2 * n) & MASK
    a, b = _times(words.eight(0), K1), words.eight(8)
    c, d = _times(words.eight(n - 8), mul), _times(words.eight(n - 16), K2)
    return _pair(
        _plus(_turn(_plus(a, b), 43), _turn(c, 30), d), _plus(a, _turn(_plus(b, K2), 18), c), mul
    )  # fmt: skip


def _up_to_64(words: Any) -> Any:
    n = words.length
    mul = (K2 + 2 * n) & MASK
    a, b = _times(words.eight(0), K2), words.eight(8)
    c, d = _times(words.eight(n - 8), mul), _times(words.eight(n - 16), K2)
    y = _plus(_turn(_plus(a, b), 43), _turn(c, 30), d)
    z = _pair(y, _plus(a, _turn(_plus(b, K2), 18), c), mul)
    e, f = _times(words.eight(16), mul), words.eight(24)
    g = _times(_plus(y, words.eight(n - 32)), mul)
    h = _times(_plus(z, words.eight(n - 24)), mul)
    return _pair(
        _plus(_turn(_plus(e, f), 43), _turn(g, 30), h), _plus(e, _turn(_plus(f, a), 18), g), mul
    )  # fmt: skip


def _weak(words: Any, at: int, a: Any, b: Any) -> tuple[Any, Any]:
    w, x, y, z = (words.eight(at + 8 * i) for i in range(4))
    a = _plus(a, w)
    b = _turn(_plus(b, a, z), 21)
    c = a
    a = _plus(a, x, y)
    b = _plus(b, _turn(a, 44))
    return _plus(a, z), _plus(b, c)


def _long(words: Any) -> Any:
    n, seed = words.length, 81
    y = words.number(seed * K1 + 113)
    z = _times(_mixed(_plus(_times(y, K2), 113)), K2)
    zero = words.number(0)
    v, w = (zero, zero), (zero, zero)
    x = _plus(seed * K2, words.eight(0))
    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _round(words, at, x, y, z, v, w, K1)
    mul = _plus(_left(_and(z, 0xFF), 1), K1)
    at = end + ((n - 1) & 63) - 63
    w = (_plus(w[0], (n - 1) & 63), w[1])
    v = (_plus(v[0], w[0]), v[1])
    w = (_plus(w[0], v[0]), w[1])
    x = _times(_turn(_plus(x, y, v[0], words.eight(at + 8)), 37), mul)
    y = _times(_turn(_plus(y, v[1], words.eight(at + 48)), 42), mul)
    x = _xor(x, _times(w[1], 9))
    y = _plus(y, _times(v[0], 9), words.eight(at + 40))
    z = _times(_turn(_plus(z, w[0]), 33), mul)
    v = _weak(words, at, _times(v[1], mul), _plus(x, w[0]))
    w = _weak(words, at + 32, _plus(z, w[1]), _plus(y, words.eight(at + 16)))
    z, x = x, z
    return _pair(
        _plus(_pair(v[0], w[0], mul), _times(_mixed(y), K0), z), _plus(_pair(v[1], w[1], mul), x), mul
    )  # fmt: skip


def _round(words: Any, at: int, x: Any, y: Any, z: Any, v: Any, w: Any, mul: Any) -> tuple[Any, ...]:
    x = _times(_turn(_plus(x, y, v[0], words.eight(at + 8)), 37), mul)
    y = _times(_turn(_plus(y, v[1], words.eight(at + 48)), 42), mul)
    x = _xor(x, w[1])
    y = _plus(y, v[0], words.eight(at + 40))
    z = _times(_turn(_plus(z, w[0]), 33), mul)
    v = _weak(words, at, _times(v[1], mul), _plus(x, w[0]))
    w = _weak(words, at + 32, _plus(z, w[1]), _plus(y, words.eight(at + 16)))
    return z, y, x, v, w


def _and(x: Any, bits: int) -> Any:
    return x & bits if isinstance(x, int) else x & np.uint64(bits)


# --- MurmurHash64A ----------------------------------------------------------------------------------------------------

MURMUR, MURMUR_SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def murmur64(words: Any) -> Any:
    """Return the hash of TensorFlow's oldest string buckets."""
    n = words.length
    h = words.number(MURMUR_SEED ^ (n * MURMUR & MASK))
    for at in range(0, n - n % 8, 8):
        k = _times(words.eight(at), MURMUR)
        k = _times(_mixed(k), MURMUR)
        h = _times(_xor(h, k), MURMUR)
    if n % 8:
        for i in range(n % 8):
            h = _xor(h, _left(words.byte(n - n % 8 + i), 8 * i))
        h = _times(h, MURMUR)
    return _mixed(_times(_mixed(h), MURMUR))


# --- SipHash ----------------------------------------------------------------------------------------------------------


def siphash(key: tuple[int, int]) -> Callable[[Any], Any]:
    """Return SipHash-2-4 under a key of two 64-bit numbers."""

    def hash_of(words: Any) -> Any:
        n = words.length
        state = [
            words.number(key[i % 2] ^ start)
            for i, start in enumerate((0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573))
        ]
        for at in range(0, n - n % 8, 8):
            _absorb(state, words.eight(at))
        last = words.number((n & 0xFF) << 56)
        for i in range(n % 8):
            last = last | _left(words.byte(n - n % 8 + i), 8 * i)
        _absorb(state, last)
        state[2] = _xor(state[2], 0xFF)
        for _ in range(4):
            _sip_round(state)
        return _xor(_xor(state[0], state[1]), _xor(state[2], state[3]))

    return hash_of


def _absorb(state: list[Any], word: Any) -> None:
    state[3] = _xor(state[3], word)
    _sip_round(state)
    _sip_round(state)
    state[0] = _xor(state[0], word)


def _sip_round(v: list[Any]) -> None:
    v[0] = _plus(v[0], v[1])
    v[1] = _xor(_turn(v[1], 51), v[0])
    v[0] = _turn(v[0], 32)
    v[2] = _plus(v[2], v[3])
    v[3] = _xor(_turn(v[3], 48), v[2])
    v[0] = _plus(v[0], v[3])
    v[3] = _xor(_turn(v[3], 43), v[0])
    v[2] = _plus(v[2], v[1])
    v[1] = _xor(_turn(v[1], 47), v[2])
    v[2] = _turn(v[2], 32)
