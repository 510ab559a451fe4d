"""Moving averages: values by hand, names, and what is refused."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.train.moving_averages import assign_moving_average, weighted_moving_average

v1 = tf.compat.v1
Average = tf.train.ExponentialMovingAverage
KINDS = ["eager", "resource", "ref"]


def mode(kind):
    return context.eager_scope() if kind == "eager" else tf.Graph().as_default()


def variable(kind, value, name="v"):
    return v1.get_variable(name, initializer=tf.constant(value), use_resource=kind != "ref")


def values(*fetches, run=(), times=1):
    """What `fetches` are after `run` ran so many times (eagerly: now)."""
    if tf.executing_eagerly():
        return [np.asarray(f) for f in fetches]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(times):
            session.run(list(run))
        return session.run(list(fetches))


@pytest.mark.parametrize("kind", KINDS)
def test_one_average_moved(kind):
    with mode(kind):
        v = variable(kind, [1.0, 2.0])
        moved = assign_moving_average(v, tf.constant([3.0, 0.0]), 0.75, zero_debias=False)
        np.testing.assert_allclose(values(v, run=[moved])[0], [1.5, 1.5])


@pytest.mark.parametrize("kind", ["resource", "ref"])
def test_a_beginning_as_zero_is_made_up_for(kind):
    with mode(kind):
        v = variable(kind, [0.0, 0.0])
        moved = assign_moving_average(v, tf.constant([3.0, -1.0]), 0.9)
        names = [x.name for x in v1.global_variables()]
        assert names == ["v:0", "v/biased:0", "v/local_step:0"]
        assign_moving_average(v, tf.constant([3.0, -1.0]), 0.9)
        assert [x.name for x in v1.global_variables()][3:] == ["v/biased_1:0", "v/local_step_1:0"]
        np.testing.assert_allclose(values(v, run=[moved], times=3)[0], [3.0, -1.0], rtol=1e-6)


def test_weighted():
    with tf.Graph().as_default():
        average = weighted_moving_average(tf.constant([1.0, 2.0]), 0.5, tf.constant([0.5, 4.0]))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                np.testing.assert_allclose(session.run(average), [1.0, 2.0], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_shadows(kind):
    with mode(kind):
        v = variable(kind, [1.0, 2.0], f"{kind}/v")
        averages = Average(0.5)
        assert averages.average(v) is None and averages.name == "ExponentialMovingAverage"
        assert averages.average_name(v) == f"{kind}/v/ExponentialMovingAverage"
        updates = [averages.apply([v])]
        if kind == "eager":
            v.assign([3.0, 0.0])
            assert averages.apply([v]) is None
        else:
            with tf.control_dependencies([v.assign([3.0, 0.0])]):
                updates = [averages.apply([v])]
        shadow = averages.average(v)
        assert shadow.name == f"{kind}/v/ExponentialMovingAverage:0" and not shadow.trainable
        np.testing.assert_allclose(values(shadow, run=updates)[0], [2.0, 1.0])


def test_the_decay_follows_the_number_of_updates():
    v, count = tf.Variable(0.0), tf.Variable(0)
    averages = Average(0.99, num_updates=count)
    averages.apply([v])
    v.assign(1.0)
    averages.apply([v])
    np.testing.assert_allclose(averages.average(v).numpy(), 0.9, rtol=1e-6)


def test_names_to_restore():
    with tf.Graph().as_default():
        v = variable("ref", [1.0])
        other = v1.get_variable("other", initializer=1.0, trainable=False)
        averages = Average(0.9)
        averages.apply()
        restored = averages.variables_to_restore()
        assert restored == {"v/ExponentialMovingAverage": v, "other": other}
        assert v1.moving_average_variables() == [v]


def test_half_precision():
    v = tf.Variable(np.float16([1.0]))
    averages = Average(0.5)
    averages.apply([v])
    v.assign(np.float16([2.0]))
    averages.apply([v])
    assert averages.average(v).dtype is tf.float16
    np.testing.assert_array_equal(averages.average(v).numpy(), [1.5])


REFUSALS = {
    "integers": (lambda: Average(0.9).apply([tf.Variable(1)]), TypeError, "must be half, float, or double: Variable:0"),
    "tensors, eagerly": (
        lambda: Average(0.9).apply([tf.constant(1.0)]),
        TypeError,
        "does not support non-Variable tensors",
    ),
    "another shape": (
        lambda: assign_moving_average(tf.Variable([1.0]), [1.0, 2.0], 0.5, zero_debias=False),
        tf.errors.InvalidArgumentError,
        "shapes must be equal",
    ),
}


@pytest.mark.parametrize("what, error, words", REFUSALS.values(), ids=REFUSALS)
def test_refused(what, error, words):
    with pytest.raises(error, match=words):
        what()
