"""Expectations from samples: of the distribution itself, and of another one."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distributions.real import Normal
from ebbflow.tf1 import monte_carlo

v1 = tf.compat.v1


def test_samples_of_another_distribution_are_weighted():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        p, q = Normal(tf.constant([-1.0, 1.0]), 0.5), Normal(tf.constant([0.0, 0.0]), 1.0)
        mean = monte_carlo.expectation_importance_sampler(lambda x: x, p.log_prob, q, n=100000, seed=4)
        log = monte_carlo.expectation_importance_sampler_logspace(
            lambda x: v1.log(tf.square(x)), p.log_prob, q, n=100000, seed=4
        )
        mean, second = session.run([mean, tf.exp(log)])
    np.testing.assert_allclose(mean, [-1, 1], atol=0.05)
    np.testing.assert_allclose(second, [1.25, 1.25], rtol=0.05)


@pytest.mark.parametrize("through", [True, False])
def test_a_gradient_by_samples_or_by_their_probability(through):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        x = tf.constant([-1.0, 2.0])
        p = Normal(x, 1.0)
        mean = monte_carlo.expectation(tf.identity, p.sample(100000, seed=1), p.log_prob, through)
        mean, grad = session.run([mean, v1.gradients(mean, x)[0]])
    np.testing.assert_allclose(mean, [-1, 2], atol=0.05)
    np.testing.assert_allclose(grad, [1, 1], atol=0.05)


def test_what_is_missing_is_named():
    with tf.Graph().as_default():
        p = Normal(0.0, 1.0)
        with pytest.raises(ValueError, match="exactly one"):
            monte_carlo.samples_of(p, None, None, None)
        with pytest.raises(ValueError, match="`log_prob` must be"):
            monte_carlo.expectation(tf.identity, p.sample(3), None, use_reparametrization=False)
