"""Training under constraints: projections against what they must be, steps as TensorFlow 1.15 makes them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import constrained_optimization as constrained

v1 = tf.compat.v1


class Fixed(constrained.ConstrainedMinimizationProblem):
    def __init__(self):
        self._objective = v1.Variable(0.0)

    objective = property(lambda self: self._objective)
    constraints = property(lambda self: tf.constant([0.6, -0.1, 0.4]))


def steps(optimizer, count):
    """Return the state before each of some steps."""
    train = optimizer.minimize_constrained(Fixed())
    (state,) = [v for v in v1.global_variables() if "optimizer_state" in v.name]
    seen = []
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(count):
            seen.append(session.run(state))
            session.run(train)
    return seen


def test_multipliers_rise_where_constraints_are_violated():
    for other in (None, v1.train.GradientDescentOptimizer(1.0)):
        with tf.Graph().as_default():
            optimizer = constrained.AdditiveExternalRegretOptimizer(v1.train.GradientDescentOptimizer(1.0), other, 1.0)
            seen = steps(optimizer, 4)
        np.testing.assert_allclose(seen, [[0, 0, 0], [0.6, 0, 0.4], [0.7, 0, 0.3], [0.8, 0, 0.2]], atol=1e-6)


def test_weights_of_swap_regret():
    sgd = v1.train.GradientDescentOptimizer(1.0)
    with tf.Graph().as_default():
        seen = steps(constrained.AdditiveSwapRegretOptimizer(sgd), 3)
    np.testing.assert_allclose(seen[1][:, 0], [2 / 3, 4 / 15, 0, 1 / 15], atol=1e-6)
    np.testing.assert_allclose(seen[2][0], [0.41666667, 0.93333333, 1.0, 0.98333333], atol=1e-6)
    with tf.Graph().as_default():
        seen = steps(constrained.MultiplicativeSwapRegretOptimizer(sgd, None, 1e-3, 0.8), 2)
    np.testing.assert_allclose(np.exp(seen[0][:, 1]), [0.4, 0.2, 0.2, 0.2], atol=1e-6)
    np.testing.assert_allclose(np.exp(seen[1][:, 0]), [0.36999014, 0.23517483, 0.17774131, 0.21709373], atol=1e-6)


def test_projections():
    with tf.Graph().as_default(), v1.Session() as session:
        run = session.run
        np.testing.assert_allclose(
            run(constrained.bounded(tf.constant([0.4, 0.7, -0.2, 0.5, 0.1]), 1.0)), [0.2, 0.5, 0, 0.3, 0], atol=1e-6
        )
        inside = constrained.bounded(tf.constant([-0.1, 0.6, 0.3]), 1.0)
        np.testing.assert_allclose(run(inside), [0, 0.6, 0.3], atol=1e-6)
        matrix = tf.constant([[-0.1, -0.1, 0.4], [-0.8, 0.4, 1.2], [-0.3, 0.1, 0.2]])
        near = [[0.6, 0.1, 0.1], [0, 0.6, 0.9], [0.4, 0.3, 0]]
        np.testing.assert_allclose(run(constrained.stochastic(matrix)), near, atol=1e-6)
        vector = run(constrained.stationary(tf.constant(near, tf.float64)))
        np.testing.assert_allclose(np.array(near) @ vector, vector, atol=1e-6)
        logs = run(constrained.log_stochastic(tf.math.log(tf.constant([[0.2, 0.8], [0.1, 0.2]]))))
        np.testing.assert_allclose(np.exp(logs).sum(0), [1, 1], atol=1e-6)
        with pytest.raises(ValueError, match="floating-point"):
            constrained.bounded(tf.constant([1, 2]), 1.0)


def test_the_first_steps_may_ignore_constraints():
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        optimizer = constrained.AdditiveExternalRegretOptimizer(v1.train.GradientDescentOptimizer(1.0))
        train = optimizer.minimize(Fixed(), unconstrained_steps=2, global_step=step)
        (state,) = [v for v in v1.global_variables() if "optimizer_state" in v.name]
        session.run(v1.global_variables_initializer())
        seen = [session.run([train, state])[1].max() for _ in range(4)]
        assert session.run(step) == 4 and session.run(state)[0] > 0 and seen[0] == 0


OBJECTIVES = np.array([0.03053309, -0.06667082, 0.88355145, 0.46529806])
CONSTRAINTS = np.array(
    [[-0.60164551, 0.36676229, 0.7856454, -0.8441711], [0.00371592, -0.16392108, -0.59778071, -0.56908492]]
)


def test_candidates():
    best = constrained.find_best_candidate_distribution(OBJECTIVES, CONSTRAINTS)
    np.testing.assert_allclose(best, [0.37872711, 0.62127289, 0, 0], atol=1e-6)
    assert constrained.find_best_candidate_index(OBJECTIVES, CONSTRAINTS, rank_objectives=True) == 1
    assert constrained.find_best_candidate_index(OBJECTIVES, CONSTRAINTS) == 3
    with pytest.raises(ValueError, match="column for each"):
        constrained.find_best_candidate_index(OBJECTIVES[:3], CONSTRAINTS)
    worse = constrained.find_best_candidate_distribution([1.0, 2.0], [[0.5, 0.25]])  # nothing keeps to it
    np.testing.assert_allclose(worse, [0, 1], atol=1e-6)
