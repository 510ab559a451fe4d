"""Ops on many texts: machine code gives what Python gives, and leaves bad texts to it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code

DRAW = random.Random(5)
TEXTS = [DRAW.randbytes(DRAW.randint(0, 90)) for _ in range(400)] + [b"", b" a b\n", b"Z" * 64, b"q" * 65]
SHORT = [text[:64] for text in TEXTS]
CALLS = {
    "length": lambda t: tf.strings.length(t),
    "characters": lambda t: tf.strings.length(t, unit="UTF8_CHAR"),
    "lower": tf.strings.lower,
    "upper": tf.strings.upper,
    "substr": lambda t: tf.strings.substr(t, 0, 7),
    "substr to the end": lambda t: tf.strings.substr(t, 0, -1),
    "substr of each": lambda t: tf.strings.substr(t, -tf.minimum(tf.strings.length(t), 3), tf.fill(t.shape, 2)),
    "join": lambda t: tf.strings.join([t, t]),
    "join with one": lambda t: tf.strings.join([t, "end"], "--"),
    "join to one": lambda t: tf.strings.join(["start", t]),
    "join of three": lambda t: tf.strings.join(["start", t, t], ","),
    "base64": tf.io.encode_base64,
    "base64 filled up": lambda t: tf.io.encode_base64(t, pad=True),
    "base64 and back": lambda t: tf.io.decode_base64(tf.io.encode_base64(t)),
    "base64 filled up and back": lambda t: tf.io.decode_base64(tf.io.encode_base64(t, pad=True)),
    "strip": tf.strings.strip,
    "parts": lambda t: tf.strings.split(t, "\x01").values,
    "parts of few": lambda t: tf.strings.split(t, b"a", maxsplit=2).to_sparse().indices,
    "words": lambda t: tf.strings.split(t).values,
    "words' places": lambda t: tf.strings.split(t).row_splits,
    "parts of words": lambda t: tf.strings.split(tf.strings.join([t, "ab--c", t, "--"]), "--").values,
    "grams": lambda t: tf.strings.ngrams(t, 3, separator="||"),
    "one row's grams": lambda t: tf.strings.ngrams(t, 1),
    "grams of rows": lambda t: tf.strings.ngrams(tf.reshape(t, [4, -1]), 2, separator=""),
    "filled grams": lambda t: tf.strings.ngrams(t, [1, 2], pad_values=("<", ">")),
    "bytes": lambda t: tf.strings.bytes_split(t).values,
    "fast": lambda t: tf.strings.to_hash_bucket_fast(t, 1 << 60),
    "strong": lambda t: tf.strings.to_hash_bucket_strong(t, 1 << 60, [3, -4]),
    "old": lambda t: tf.strings.to_hash_bucket(t, 1 << 60),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("texts", [TEXTS, SHORT], ids=["long", "short"])
def test_code_gives_what_python_gives(call, texts, monkeypatch):
    tensor = tf.constant(np.array(texts, object))
    CALLS[call](tensor)
    late_code.settle()
    quick = CALLS[call](tensor).numpy().tolist()
    monkeypatch.setattr("ebbflow.ops.strings.text_loops.FEW", 1 << 60)
    assert quick == CALLS[call](tensor).numpy().tolist()


@pytest.mark.parametrize(
    ("call", "spoilt"),
    [(lambda t: tf.strings.substr(t, 3, 1), b"ab"), (tf.io.decode_base64, b"a"), (tf.io.decode_base64, b"ab*d")],
)
def test_one_bad_text_among_many_is_named(call, spoilt):
    good, bad = tf.constant([b"abcd"] * 100), tf.constant([b"abcd"] * 99 + [spoilt])
    call(good)
    late_code.settle()
    assert call(good).shape == [100]
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(bad)


NUMBERS = {
    "whole": np.array([0, 7, -7, 10, 99, 100, 2**31 - 1, -(2**31), 2**62, -(2**63) + 1] * 20, np.int64),
    "least": np.array([-(2**63)] * 100, np.int64),
    "bytes": np.arange(256, dtype=np.uint8),
    "single": np.array([0.0, -0.0, 0.5e-6, 1.5e-6, 2.5e-6, -1e-9, 123456.789, 9.9999995, 0.1, -0.3] * 20, np.float32),
    "half": np.linspace(-7, 7, 200).astype(np.float16),
    "large": np.array([1e12, np.inf, -np.inf, np.nan] * 50, np.float32),
    "double": np.linspace(-7, 7, 200),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_spelt_as_python_spells_them(numbers):
    tf.strings.as_string(numbers)
    late_code.settle()
    form = "%d" if numbers.dtype.kind in "iu" else "%f"
    assert tf.strings.as_string(numbers).numpy().tolist() == [(form % x).encode() for x in numbers.tolist()]


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int64"])
def test_numbers_are_read_as_python_reads_them(kind):
    whole = [DRAW.randint(-(10**9), 10**9) for _ in range(200)]
    spelt = [str(n) for n in whole] + ["+3", "-0"]
    if kind.startswith("float"):
        spelt += [f"{n / 1e5}" for n in whole] + [".5", "5.", "-.25", "123456789012345"]
    tensor = tf.constant([s.encode() for s in spelt])
    tf.strings.to_number(tensor, kind)
    late_code.settle()
    wanted = np.array([(float if kind.startswith("float") else int)(s) for s in spelt]).astype(kind)
    np.testing.assert_array_equal(tf.strings.to_number(tensor, kind).numpy(), wanted)


@pytest.mark.parametrize("odd", [b"1e3", b" 12 ", b"0.1234567890123456789"])
def test_rarer_spellings_of_numbers_are_left_to_python(odd):
    texts = tf.constant([b"1.5"] * 99 + [odd])
    tf.strings.to_number(texts)
    late_code.settle()
    assert tf.strings.to_number(texts).numpy()[-1] == np.float32(float(odd))
    for bad in (b"", b".", b"-", b"1.2.3", b"12a"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
            tf.strings.to_number(tf.constant([b"1.5"] * 99 + [bad]))


def test_what_only_behaves_like_bytes_is_left_to_python():
    class Own(bytes):
        pass

    texts = np.array([Own(b"Ab")] * 100, object)
    tf.strings.lower(texts)
    late_code.settle()
    assert set(tf.strings.lower(texts).numpy().tolist()) == {b"ab"}
