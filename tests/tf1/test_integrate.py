"""Differential equations solved eagerly, in functions and in graphs, against their solutions; what is refused."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.integrate import odeint, odeint_fixed

v1 = tf.compat.v1
TIMES = np.linspace(0.0, 2.0, 5)
CIRCLE = np.array([[0.0, 1.0], [-1.0, 0.0]])


def turning(y, t):
    return tf.linalg.matvec(CIRCLE, y)


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
@pytest.mark.parametrize("solve", [odeint, lambda f, y, t: odeint_fixed(f, y, t, 0.01)], ids=["adaptive", "fixed"])
def test_a_turning_vector(mode, solve):
    start = np.array([0.0, 1.0])
    if mode == "graph":
        with tf.Graph().as_default(), v1.Session() as session:
            found = session.run(solve(turning, start, TIMES))
    else:
        found = (tf.function(solve) if mode == "function" else solve)(turning, tf.constant(start), tf.constant(TIMES))
    np.testing.assert_allclose(found, np.stack([np.sin(TIMES), np.cos(TIMES)], 1), rtol=1e-5, atol=1e-6)


def test_gradients_go_through_the_steps():
    with tf.GradientTape() as tape:
        start = tf.constant(2.0, tf.float64)
        tape.watch(start)
        end = odeint(lambda y, t: -y, start, TIMES)[-1]
    np.testing.assert_allclose(tape.gradient(end, start), np.exp(-2.0), rtol=1e-5)


def test_steps_do_not_depend_on_the_times_that_are_asked_for():
    few, told = odeint(turning, np.array([0.0, 1.0]), [0.0, 2.0], full_output=True)
    many, again = odeint(turning, np.array([0.0, 1.0]), TIMES, full_output=True)
    np.testing.assert_array_equal(few[-1], many[-1])
    np.testing.assert_array_equal(told["integrate_points"], again["integrate_points"])
    assert int(told["num_func_evals"]) == 6 * len(told["error_ratio"]) + 1


def test_midpoints_are_of_second_order():
    exact, errors = np.exp(-2.0), []
    for dt in (0.1, 0.05):
        found = odeint_fixed(lambda y, t: -y, np.float64(1.0), [0.0, 2.0], dt, method="midpoint")
        errors.append(abs(float(found[-1]) - exact))
    assert 3.5 < errors[0] / errors[1] < 4.6


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: odeint(turning, [1, 0], TIMES), TypeError, "`y0` must have a floating point"),
        (lambda: odeint(turning, [1.0], tf.constant([0, 1])), TypeError, "`t` must have a floating point"),
        (lambda: odeint(turning, [1.0], TIMES, options={"first_step": 1.0}), ValueError, "without specifying `method`"),
        (lambda: odeint(turning, [1.0], TIMES, method="euler"), ValueError, "invalid method: 'euler'"),
        (lambda: odeint(turning, [1.0], TIMES, method="dopri5", options={"steps": 1}), TypeError, "no options"),
        (lambda: odeint(turning, np.ones(2), TIMES[::-1]), tf.errors.InvalidArgumentError, "monotonic increasing"),
        (
            lambda: odeint(turning, np.ones(2), TIMES, method="dopri5", options={"max_num_steps": 0}),
            tf.errors.InvalidArgumentError,
            "max_num_steps",
        ),
        (lambda: odeint_fixed(turning, np.ones(2), TIMES, np.ones(3)), ValueError, "incompatible lengths"),
        (lambda: odeint_fixed(turning, np.ones(2), TIMES[None], 0.1), ValueError, "must be vectors"),
        (lambda: odeint_fixed(turning, np.ones(2), TIMES, method="euler"), ValueError, "method not supported"),
    ],
)
def test_what_cannot_be_solved(call, error, says):
    with pytest.raises(error, match=says):
        call()
