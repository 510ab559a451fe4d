"""FarmHash's fingerprint of 128 bits, which SDCA knows its examples by.

Over Python's ints, one text at a time; the pieces are those of the 64-bit fingerprint (`hashing.py`).
"""

from __future__ import annotations

from ebbflow.ops.strings.hashing import K0, K1, MASK, Words, fingerprint64

SIXTEEN = 0x9DDFEA08EB382D69
"""What two words are multiplied by when they become one."""


def _turned(x: int, right: int) -> int:
    return (x >> right | x << 64 - right) & MASK


def _mixed(x: int) -> int:
    return x ^ x >> 47


def _joined(u: int, v: int) -> int:
    a = _mixed((u ^ v) * SIXTEEN & MASK)
    return _mixed((v ^ a) * SIXTEEN & MASK) * SIXTEEN & MASK


def fingerprint128(text: bytes) -> tuple[int, int]:
    """Return the low and the high word of a text's fingerprint."""
    if len(text) < 16:
        return _with_seed(text, K0, K1)
    words = Words(text)
    return _with_seed(text[16:], words.eight(0), words.eight(8) + K0 & MASK)


def _with_seed(text: bytes, low: int, high: int) -> tuple[int, int]:
    return _short(text, low, high) if len(text) < 128 else _long(text, low, high)


def _short(text: bytes, a: int, b: int) -> tuple[int, int]:
    words, n = Words(text), len(text)
    if n <= 16:
        a = _mixed(a * K1 & MASK) * K1 & MASK
        c = b * K1 + fingerprint64(words) & MASK
        d = _mixed(a + (words.eight(0) if n >= 8 else c) & MASK)
    else:
        c = _joined(words.eight(n - 8) + K1 & MASK, a)
        d = _joined(b + n & MASK, c + words.eight(n - 16) & MASK)
        a = a + d & MASK
        for at in range(0, n - 16, 16):
            a = (a ^ _mixed(words.eight(at) * K1 & MASK) * K1 & MASK) * K1 & MASK
            b ^= a
            c = (c ^ _mixed(words.eight(at + 8) * K1 & MASK) * K1 & MASK) * K1 & MASK
            d ^= c
    a, b = _joined(a, c), _joined(d, b)
    return a ^ b, _joined(b, a)


def _weak(words: Words, at: int, a: int, b: int) -> tuple[int, int]:
    first, second, third, last = (words.eight(at + 8 * i) for i in range(4))
    a = a + first & MASK
    b = _turned(b + a + last & MASK, 21)
    c = a
    a = a + second + third & MASK
    b = b + _turned(a, 44) & MASK
    return a + last & MASK, b + c & MASK


def _long(text: bytes, x: int, y: int) -> tuple[int, int]:
    words, n = Words(text), len(text)
    z = n * K1 & MASK
    v = [_turned(y ^ K1, 49) * K1 + words.eight(0) & MASK, 0]
    v[1] = _turned(v[0], 42) * K1 + words.eight(8) & MASK
    w = [_turned(y + z & MASK, 35) * K1 + x & MASK, _turned(x + words.eight(88) & MASK, 53) * K1 & MASK]
    whole = n - n % 128
    for at in range(0, whole, 64):
        x = _turned(x + y + v[0] + words.eight(at + 8) & MASK, 37) * K1 & MASK
        y = _turned(y + v[1] + words.eight(at + 48) & MASK, 42) * K1 & MASK
        x ^= w[1]
        y = y + v[0] + words.eight(at + 40) & MASK
        z = _turned(z + w[0] & MASK, 33) * K1 & MASK
        v = list(_weak(words, at, v[1] * K1 & MASK, x + w[0] & MASK))
        w = list(_weak(words, at + 32, z + w[1] & MASK, y + words.eight(at + 16) & MASK))
        z, x = x, z
    x = x + _turned(v[0] + z & MASK, 49) * K0 & MASK
    y = y * K0 + _turned(w[1], 37) & MASK
    z = z * K0 + _turned(w[0], 27) & MASK
    w[0], v[0] = w[0] * 9 & MASK, v[0] * K0 & MASK
    for done in range(32, n % 128 + 32, 32):
        at = n - done
        y = _turned(x + y & MASK, 42) * K0 + v[1] & MASK
        w[0] = w[0] + words.eight(at + 16) & MASK
        x = x * K0 + w[0] & MASK
        z = z + w[1] + words.eight(at) & MASK
        w[1] = w[1] + v[0] & MASK
        v = list(_weak(words, at, v[0] + z & MASK, v[1]))
        v[0] = v[0] * K0 & MASK
    x, y = _joined(x, v[0]), _joined(y + z & MASK, w[0])
    return _joined(x + v[1] & MASK, w[1]) + y & MASK, _joined(x + w[1] & MASK, y + v[1] & MASK)
