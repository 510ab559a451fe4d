"""Draws at the ends of what parameters may be, and how draws move with their parameters."""

import math

import numpy as np
import pytest

import ebbflow as tf


def test_of_no_tries_none_happens():
    counts, probs = np.float32([5, 5, 5, 0, 0, 0]), np.float32([0, 1, np.nan, -10, 10, np.nan])
    found = tf.random.stateless_binomial([6], [1, 2], counts, probs, tf.float32)
    np.testing.assert_array_equal(found, [0, 5, np.nan, 0, 0, 0])


def test_a_bounded_normal_moves_with_its_distribution_and_its_bounds():
    parameters = [tf.Variable(x) for x in (0.25, 1.5, -1.0, 2.0)]
    with tf.GradientTape() as tape:
        drawn = tf.random.stateless_parameterized_truncated_normal([1], [1, 2], *parameters)
    mean, stddev, low, high = (float(g) for g in tape.gradient(drawn, parameters))
    at, first, last = ((x - 0.25) / 1.5 for x in (float(drawn[0]), -1.0, 2.0))
    below, low_end, high_end = (math.erf(x / math.sqrt(2)) for x in (at, first, last))
    share = (below - low_end) / (high_end - low_end)
    assert (mean, stddev) == (1.0, pytest.approx(at, rel=1e-5))
    assert low == pytest.approx(math.exp((at**2 - first**2) / 2) * (1 - share), rel=1e-4)
    assert high == pytest.approx(math.exp((at**2 - last**2) / 2) * share, rel=1e-4)
