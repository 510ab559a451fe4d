"""The short way back over a tape: what it gives is what the rules give, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.eager import entries, tape
from ebbflow.ops.declare import raw


def vector(seed, *shape, dtype=np.float32):
    random = np.random.RandomState(seed)
    values = random.uniform(0.2, 0.9, shape or (5,))
    return tf.constant((values * 1j + 0.3 if dtype is np.complex64 else values).astype(dtype))


def reals(*shapes):
    return [vector(i, *shape) for i, shape in enumerate(shapes)]


# what is recorded, its inputs, ops that go the long way
CASES = {
    "products": (lambda x, y: x * y * x - y / x, reals((5,), (5,)), set()),
    "quotients of parts": (lambda x, y: tf.realdiv(x, y) ** 2.0 + tf.sqrt(x), reals((5,), (5,)), set()),
    "unary": (lambda x: tf.sin(tf.exp(x)) * tf.tanh(tf.sigmoid(x)), reals((5,)), set()),
    "scalars": (lambda x, y: 2.0 * x * y - 3.0, reals((), ()), set()),
    "numbers beside arrays": (lambda x: (2.0 * x + 1.0) / 3.0 - x * 0.5, reals((2, 3)), set()),
    "broadcasting": (lambda x, y: (x * y) * x, reals((2, 3), (3,)), {"Mul"}),
    "extremes": (lambda x, y: tf.maximum(x, y) * x, reals((5,), (5,)), {"Maximum"}),
    "complex": (lambda x: tf.abs(x * x), [vector(0, dtype=np.complex64)], {"Mul", "ComplexAbs"}),
    "real parts": (lambda x: tf.math.real(x) * 2.0, [vector(0, dtype=np.complex64)], {"Real"}),
    "used again": (lambda x: [x * x * x, x + x, -x], reals((5,)), set()),
    "sums": (lambda x: tf.reduce_sum(x * x) * x, reals((5,)), {"Sum", "Mul"}),
    "rows": (lambda x: tf.gather(x * x, [0, 0, 2]), reals((5,)), {"Gather", "Mul"}),
    "doubles": (lambda x: tf.square(x) * x, [vector(0, dtype=np.float64)], set()),
    "halves": (lambda x: tf.square(x) * x, [vector(0, dtype=np.float16)], set()),
    "none": (lambda x: x[:0] * x[:0], reals((5,)), {"StridedSlice"}),
}


def gradients(f, inputs, **options):
    with tf.GradientTape(persistent=True) as noted:
        for x in inputs:
            noted.watch(x)
        y = f(*inputs)
    return [g if g is None else (g.numpy(), g.dtype) for g in noted.gradient(y, inputs, **options)]


@pytest.fixture
def walked(monkeypatch):
    """Have tapes walked, and not replayed; return the names of the ops that go the long way."""
    long = []
    monkeypatch.setattr(tape, "_replay", None)
    monkeypatch.setattr(
        entries, "call_of", lambda entry, made=entries.call_of: long.append(entry[0].name) or made(entry)
    )
    return long


@pytest.mark.parametrize("case", CASES)
def test_the_short_way_gives_what_rules_give(case, walked, monkeypatch):
    f, inputs, long_ones = CASES[case]
    for _ in range(2):
        f(*inputs)  # the first call of an op is no quick one
    short = gradients(f, inputs)
    assert set(walked) == long_ones
    monkeypatch.setattr(tape, "calls_left", lambda calls, *rest: map(entries.call_of, calls))
    for (found, dtype), (wanted, same) in zip(short, gradients(f, inputs), strict=True):
        assert dtype is same
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_gradients_that_are_given_in_another_shape(walked):
    x = vector(0, 2, 3)
    given = [tf.constant(2.0)]
    (found,) = gradients(lambda x: x * x, [x], output_gradients=given)
    assert walked == ["Mul"]
    np.testing.assert_array_equal(found[0], (x * 2.0 + 2.0 * x).numpy())


def test_what_lies_between_may_be_asked_for_too(walked):
    x = vector(0)
    with tf.GradientTape() as noted:
        noted.watch(x)
        middle = x * x
        y = middle * x
    by_middle, by_x = noted.gradient(y, [middle, x])
    assert not walked
    np.testing.assert_array_equal(by_middle, x)
    np.testing.assert_allclose(by_x, 3.0 * x * x, rtol=1e-6)


def test_rules_of_programs_come_first(walked):
    tf.RegisterGradient("TestOfEntries")(lambda call, grad: grad * 7.0)
    x = vector(0)
    with tf.GradientTape() as noted:
        noted.watch(x)
        with noted.stop_recording():
            y = tf.square(x)
        noted.note(raw.Square, {"_gradient_op_type": "TestOfEntries"}, y, x)
    np.testing.assert_array_equal(noted.gradient(y, x), np.full(5, 7.0))
    assert walked == ["Square"]


def test_gradients_of_gradients(walked):
    x = vector(0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        slope = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(slope, x), 6.0 * x, rtol=1e-6)
    assert set(walked) <= {"AddN", "OnesLike"}
