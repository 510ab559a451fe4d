"""Random words by machine code are those of NumPy, bit for bit, wherever in the stream they stand."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import offers
from ebbflow.engines import enabled
from ebbflow.engines.native import late_code, random_words
from ebbflow.ops.random import philox

TOP = (1 << 64) - 1


@pytest.fixture(scope="module")
def code():
    words = random_words.Words()
    for _ in range(random_words.CALLS):
        words(1, 2, 3, 100)
    late_code.settle()
    return words


@pytest.fixture
def numpy_only(monkeypatch):
    monkeypatch.delitem(offers.ways, philox.WORDS)


@pytest.mark.usefixtures("numpy_only")
@pytest.mark.parametrize("key", [0, 1, 0x123456789ABCDEF0, TOP])
@pytest.mark.parametrize("counter", [0, (1 << 32) - 3, TOP - 2000, 7 << 64 | 5, TOP << 64])
@pytest.mark.parametrize("count", [9, 33, 1000])
def test_words_are_numpys(code, key, counter, count):
    np.testing.assert_array_equal(
        code(key, counter & TOP, counter >> 64, count), philox.Source(key, counter).words(count)
    )


def test_code_is_made_after_some_calls_and_nothing_changes():
    words = random_words.Words()
    for _ in range(random_words.CALLS - 1):
        assert words(1, 2, 3, 100) is None
    words(1, 2, 3, 100)
    late_code.settle()
    assert words(1, 2, 3, 100).shape == (100, 4)


def test_numbers_are_the_same_before_and_after(code, monkeypatch):
    monkeypatch.delitem(offers.ways, philox.WORDS)
    before = tf.random.stateless_uniform([5000], [3, 4]), tf.random.stateless_normal([5000], [3, 4])
    asked = []
    monkeypatch.setitem(offers.ways, philox.WORDS, lambda *given: asked.append(given) or code(*given))
    after = tf.random.stateless_uniform([5000], [3, 4]), tf.random.stateless_normal([5000], [3, 4])
    assert asked
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_stream_that_passes_the_end_of_a_counter_goes_on(code, monkeypatch):
    source = philox.Source(9, TOP - 10)
    monkeypatch.delitem(offers.ways, philox.WORDS)
    plain = source.words(50)
    monkeypatch.setitem(offers.ways, philox.WORDS, code)
    np.testing.assert_array_equal(source.words(50), plain)


def test_without_engines_numpy_answers(monkeypatch):
    from ebbflow.engines import large_calls

    monkeypatch.setattr(enabled, "allowed", lambda name: False)
    assert large_calls.random_words(1, 2, 3, 100) is None
