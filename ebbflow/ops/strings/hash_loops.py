"""The formulas of `hashing` for one text after the other, as loops that may become machine code.

They are written again because code goes from text to text, arrays from formula to formula; tests hold them together.
"""

from __future__ import annotations

from ebbflow.core.loops import U64, Text, Texts, Word, is_text, loop, u64
from ebbflow.ops.strings.hashing import K0, K1, K2, MURMUR, MURMUR_SEED
from ebbflow.ops.strings.text_loops import REFUSED

LONGEST = 64
"""Bytes of the longest text whose fingerprint the loop computes."""


def four(text: Text, at: int) -> Word:
    """Four bytes of a text as a number."""
    low = u64(text[at]) | u64(text[at + 1]) << 8
    return low | u64(text[at + 2]) << 16 | u64(text[at + 3]) << 24


def eight(text: Text, at: int) -> Word:
    """Eight bytes of a text as a number."""
    return four(text, at) | four(text, at + 4) << 32


def turn(x: Word, right: Word) -> Word:
    """Turn bits to the right."""
    return x >> right | x << 64 - right


def mixed(x: Word) -> Word:
    """Fold the upper bits into the lower."""
    return x ^ x >> 47


def pair_hash(u: Word, v: Word, mul: Word) -> Word:
    """Hash two words into one."""
    a = mixed((u ^ v) * mul)
    return mixed((v ^ a) * mul) * mul


def fingerprint_to_16(text: Text, size: int) -> Word:
    mul = K2 + u64(size) * 2
    if size >= 8:
        a = eight(text, 0) + K2
        b = eight(text, size - 8)
        c = turn(b, 37) * mul + a
        d = (turn(a, 25) + b) * mul
        return pair_hash(c, d, mul)
    if size >= 4:
        return pair_hash(u64(size) + (four(text, 0) << 3), four(text, size - 4), mul)
    if size > 0:
        y = u64(text[0]) + (u64(text[size // 2]) << 8)
        z = u64(size) + (u64(text[size - 1]) << 2)
        return mixed(y * K2 ^ z * K0) * K2
    return u64(K2)


def fingerprint_to_32(text: Text, size: int) -> Word:
    mul = K2 + u64(size) * 2
    a = eight(text, 0) * K1
    b = eight(text, 8)
    c = eight(text, size - 8) * mul
    d = eight(text, size - 16) * K2
    return pair_hash(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + K2, 18) + c, mul)


def fingerprint_to_64(text: Text, size: int) -> Word:
    mul = K2 + u64(size) * 2
    a = eight(text, 0) * K2
    b = eight(text, 8)
    c = eight(text, size - 8) * mul
    d = eight(text, size - 16) * K2
    y = turn(a + b, 43) + turn(c, 30) + d
    z = pair_hash(y, a + turn(b + K2, 18) + c, mul)
    e = eight(text, 16) * mul
    f = eight(text, 24)
    g = (y + eight(text, size - 32)) * mul
    h = (z + eight(text, size - 24)) * mul
    return pair_hash(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, mul)


@loop
def fingerprints(texts: Texts, n: int, key: U64, out: U64) -> int:
    """Compute the fingerprint of each text."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        if size > LONGEST:
            return REFUSED
        if size <= 16:
            out[i] = fingerprint_to_16(text, size)
        elif size <= 32:
            out[i] = fingerprint_to_32(text, size)
        else:
            out[i] = fingerprint_to_64(text, size)
    return 0


@loop
def murmurs(texts: Texts, n: int, key: U64, out: U64) -> int:
    """Compute the hash of TensorFlow's oldest string buckets of each text."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        whole = size - size % 8
        h = MURMUR_SEED ^ u64(size) * MURMUR
        for at in range(0, whole, 8):
            h = (h ^ mixed(eight(text, at) * MURMUR) * MURMUR) * MURMUR
        if size % 8 > 0:
            for k in range(size % 8):
                h = h ^ u64(text[whole + k]) << u64(k * 8)
            h = h * MURMUR
        out[i] = mixed(mixed(h) * MURMUR)
    return 0


def sip_round(v: U64) -> None:
    """One round of SipHash over its four words."""
    v[0] = v[0] + v[1]
    v[1] = turn(v[1], 51) ^ v[0]
    v[0] = turn(v[0], 32)
    v[2] = v[2] + v[3]
    v[3] = turn(v[3], 48) ^ v[2]
    v[0] = v[0] + v[3]
    v[3] = turn(v[3], 43) ^ v[0]
    v[2] = v[2] + v[1]
    v[1] = turn(v[1], 47) ^ v[2]
    v[2] = turn(v[2], 32)


def sip_absorb(v: U64, word: Word) -> None:
    v[3] = v[3] ^ word
    sip_round(v)
    sip_round(v)
    v[0] = v[0] ^ word


@loop
def siphashes(texts: Texts, n: int, key: U64, out: U64) -> int:
    """Compute SipHash-2-4 of each text; `key` holds two numbers, and room for four."""
    first = key[0]
    second = key[1]
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        whole = size - size % 8
        key[0] = first ^ 0x736F6D6570736575
        key[1] = second ^ 0x646F72616E646F6D
        key[2] = first ^ 0x6C7967656E657261
        key[3] = second ^ 0x7465646279746573
        for at in range(0, whole, 8):
            sip_absorb(key, eight(text, at))
        last = u64(size & 0xFF) << 56
        for k in range(size % 8):
            last = last | u64(text[whole + k]) << u64(k * 8)
        sip_absorb(key, last)
        key[2] = key[2] ^ 0xFF
        for _ in range(4):
            sip_round(key)
        out[i] = key[0] ^ key[1] ^ key[2] ^ key[3]
    return 0
