"""Gradients against differences: right ones agree, a wrong one is seen."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.graph.graph import Graph
from ebbflow.runtime.session import Session
from ebbflow.testing.gradient_check import (
    compute_gradient,
    compute_gradient_error,
    compute_gradient_v1,
    max_error,
)

X = np.array([[0.5, -1.25], [2.0, 0.75]])


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda x: x * x * x, [X]),
        (lambda x: tf.exp(x), [X.astype(np.float32)]),
        (lambda x, y: tf.matmul(x, y), [X, X.T.copy()]),
        (lambda x: x * (1 + 2j), [X + 1j * X.T]),
        (lambda x: tf.stop_gradient(x) * 0, [X]),
        (lambda x: x * 2, [np.zeros((0, 3))]),
    ],
)
def test_right_gradients_agree(f, x):
    by_rules, by_moving = compute_gradient(f, x)
    tolerance = 2e-3 if x[0].dtype == np.float32 else 1e-5
    assert max_error(by_rules, by_moving) < tolerance
    assert [j.shape for j in by_rules] == [j.shape for j in by_moving]


def test_a_wrong_gradient_is_seen():
    @tf.custom_gradient
    def wrong(x):
        return x * x, lambda dy: dy * x * 2.002

    assert max_error(*compute_gradient(wrong, [X])) > 1e-3


def test_arguments_are_a_list():
    with pytest.raises(ValueError, match="`x` must be a list or tuple"):
        compute_gradient(lambda x: x, X)


def test_in_a_graph():
    with Graph().as_default(), Session():
        x = tf.compat.v1.placeholder(tf.float64, [2, 2])
        y = tf.reduce_sum(x * x, 1)
        by_rules, by_moving = compute_gradient_v1(x, [2, 2], y, [2], x_init_value=X)
        assert by_rules.shape == by_moving.shape == (4, 2)
        assert compute_gradient_error(x, [2, 2], y, [2], x_init_value=X) < 1e-6
        pairs = compute_gradient_v1([x], [[2, 2]], tf.exp(x), [2, 2])
        assert max_error([one for one, _ in pairs], [two for _, two in pairs]) < 1e-4


def test_a_session_is_needed():
    with Graph().as_default(), pytest.raises(ValueError, match="needs a default session"):
        x = tf.constant([1.0])
        compute_gradient_v1(x, [1], x * x, [1])
