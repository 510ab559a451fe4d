"""Learning rates: the curves by hand, in graphs and eagerly. TensorFlow's own numbers are in the golden replay."""

import math

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1
train = v1.train


def half_cosine(x):
    return 0.5 * (1 + math.cos(math.pi * x))


# schedule: what the rate is at steps 0, 3, 10, 25
CURVES = {
    "exponential": (lambda s: train.exponential_decay(1.0, s, 10, 0.5), lambda t: 0.5 ** (t / 10)),
    "in stairs": (lambda s: train.exponential_decay(1.0, s, 10, 0.5, staircase=True), lambda t: 0.5 ** (t // 10)),
    "natural": (lambda s: train.natural_exp_decay(1.0, s, 10, 0.5), lambda t: math.exp(-0.05 * t)),
    "natural, of an int": (lambda s: train.natural_exp_decay(1.0, s, 10, 1), lambda t: math.exp(-0.1 * t)),
    "inverse": (lambda s: train.inverse_time_decay(1.0, s, 10, 0.5), lambda t: 1 / (1 + 0.05 * t)),
    "inverse in stairs": (
        lambda s: train.inverse_time_decay(1.0, s, 10, 0.5, staircase=True),
        lambda t: 1 / (1 + 0.5 * (t // 10)),
    ),
    "polynomial": (
        lambda s: train.polynomial_decay(1.0, s, 20, 0.1, power=2.0),
        lambda t: 0.9 * (1 - min(t, 20) / 20) ** 2 + 0.1,
    ),
    "polynomial, steps in a tensor": (
        lambda s: train.polynomial_decay(1.0, s, tf.constant(20), 0.0),
        lambda t: 1 - min(t, 20) / 20,
    ),
    "polynomial, over and over": (
        lambda s: train.polynomial_decay(1.0, s, 10, 0.0, cycle=True),
        lambda t: 1 - t / (10 * max(1, math.ceil(t / 10))),
    ),
    "cosine": (
        lambda s: train.cosine_decay(1.0, s, 20, alpha=0.25),
        lambda t: 0.75 * half_cosine(min(t, 20) / 20) + 0.25,
    ),
    "restarts": (lambda s: train.cosine_decay_restarts(1.0, s, 8, t_mul=1.0), lambda t: half_cosine(t / 8 % 1)),
    "longer restarts": (
        lambda s: train.cosine_decay_restarts(1.0, s, 8, t_mul=2.0, m_mul=0.5),
        lambda t: (
            half_cosine(t / 8)
            if t < 8
            else 0.5 * half_cosine((t - 8) / 16)
            if t < 24
            else 0.25 * half_cosine((t - 24) / 32)
        ),
    ),
    "restarts, factor in a tensor": (
        lambda s: train.cosine_decay_restarts(1.0, s, 8, t_mul=tf.constant(1.0)),
        lambda t: half_cosine(t / 8 % 1),
    ),
    "linear cosine": (
        lambda s: train.linear_cosine_decay(1.0, s, 20, num_periods=1.0, alpha=0.1, beta=0.01),
        lambda t: (0.1 + 1 - min(t, 20) / 20) * half_cosine(2 * min(t, 20) / 20) + 0.01,
    ),
    "pieces": (
        lambda s: train.piecewise_constant(s, [3, 10], [1.0, 0.5, 0.1]),
        lambda t: 1.0 if t <= 3 else 0.5 if t <= 10 else 0.1,
    ),
}
STEPS = [0, 3, 10, 25]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("curve", CURVES)
def test_in_a_graph(curve, dtype):
    make, wanted = CURVES[curve]
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.placeholder(dtype, [])
        rate = make(step)
        assert rate.dtype is tf.float32 and rate.shape.rank == 0
        given = [session.run(rate, {step: t}) for t in STEPS]
    np.testing.assert_allclose(given, [wanted(t) for t in STEPS], rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("curve", CURVES)
def test_eagerly_a_function_of_the_step_now(curve):
    make, wanted = CURVES[curve]
    step = tf.Variable(0, dtype=tf.int64)
    rate = make(step)
    given = []
    for t in STEPS:
        step.assign(t)
        given.append(float(rate()))
    np.testing.assert_allclose(given, [wanted(t) for t in STEPS], rtol=2e-6, atol=2e-7)


def test_in_the_dtype_of_the_rate():
    rate = train.cosine_decay(tf.constant(1.0, tf.float64), 5, 20)()
    assert rate.dtype is tf.float64
    np.testing.assert_allclose(float(rate), half_cosine(0.25), rtol=1e-15)


def test_noise_has_the_variance_asked_for():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        options = {"initial_variance": 0.25, "variance_decay": 1.0, "num_periods": 0.0, "beta": 0.0}
        rate = train.noisy_linear_cosine_decay(1.0, 3, 10, **options)
        draws = np.array([session.run(rate) for _ in range(2000)])
    assert abs(draws.mean() - 0.7) < 0.03
    assert abs(draws.var() - 0.25 / 4) < 0.01


REFUSALS = {
    "counts": (lambda: train.piecewise_constant(1, [1, 2], [1.0]), "boundaries should be 1 less"),
    "boundaries": (lambda: train.piecewise_constant(1.5, [1, 2], [1.0, 2.0, 3.0])(), "must have the same dtype as x"),
    "fractions of ints": (lambda: train.piecewise_constant(1, [1.5], [1.0, 2.0])(), "must have the same dtype as x"),
    "values": (lambda: train.piecewise_constant(1, [1], [1.0, tf.constant(2)])(), "elements all with the same dtype"),
    "no step": (lambda: train.exponential_decay(0.1, None, 10, 0.9)(), "None"),
}


@pytest.mark.parametrize("what, words", REFUSALS.values(), ids=REFUSALS)
def test_refused(what, words):
    with pytest.raises(ValueError, match=words):
        what()
