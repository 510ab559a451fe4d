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
    monkeypatch.setenv("EBBFLOW_ENGINES", "host")
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


def test_what_only_behaves_like_bytes_is_left_to_python():
    class Own(bytes):
        pass

    texts = np.array([Own(b"Ab")] * 100, object)
    tf.strings.lower(texts)
    late_code.settle()
    assert set(tf.strings.lower(texts).numpy().tolist()) == {b"ab"}
