"""`tf.gradients` inside loops and choices of TF 1's graphs: by tensors from around them, and through nodes there.

The expected numbers are TensorFlow 1.15's.
"""

import pytest

import ebbflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def control_flow_of_tf1():
    was = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    yield
    if was:
        v1.enable_control_flow_v2()


def evaluate(make):
    with tf.Graph().as_default(), v1.Session() as session:
        result = make()
        session.run(v1.global_variables_initializer())
        return session.run(result)


def turns(count, step, first=0.0):
    return tf.while_loop(lambda i, x: i < count, lambda i, x: (i + 1, step(i, x)), [0, first])[1]


def of_what_was_computed_before():
    p = tf.constant(5.0)
    square = tf.square(p)
    return turns(10, lambda i, x: x + tf.gradients(p * tf.constant([1.0, 2.0, 3.0]) * square, p)[0])


def of_a_reference_variable_read_before():
    v = v1.Variable(3.0, use_resource=False)
    read = v * v
    return turns(2, lambda i, x: x + tf.gradients(read * v, v)[0])


def of_a_variable_in_a_choice():
    v = v1.get_variable("v", initializer=3.0, use_resource=True)
    read = v * v
    return tf.cond(tf.constant(True), lambda: tf.gradients(tf.sin(read) * v, v)[0], lambda: 0.0)


def through_a_loop_before():
    x = tf.constant(3.0)
    cube = turns(3, lambda i, y: y * x, x)
    return tf.cond(tf.constant(True), lambda: tf.gradients(cube * 2.0, x)[0], lambda: 0.0)


def in_a_choice_in_a_loop_through_a_choice_before():
    x = tf.constant(3.0)
    chosen = tf.cond(x > 2.0, lambda: x * x, lambda: x)
    return turns(3, lambda i, y: tf.cond(i > 0, lambda: y + tf.gradients(chosen * 2.0, x)[0], lambda: y), x)


def by_the_variable_of_the_loop_around():
    def step(i, y):
        z = y * y
        return tf.cond(i > 0, lambda: tf.gradients(z, y)[0], lambda: y)

    return turns(3, step, tf.constant(3.0))


@pytest.mark.parametrize(
    "make, expected",
    [
        (of_what_was_computed_before, 4500.0),
        (of_a_reference_variable_read_before, 54.0),
        (of_a_variable_in_a_choice, -15.988226),
        (through_a_loop_before, 216.0),
        (in_a_choice_in_a_loop_through_a_choice_before, 27.0),
        (by_the_variable_of_the_loop_around, 12.0),
    ],
)
def test_gradients_inside_reach_what_is_around(make, expected):
    assert evaluate(make) == pytest.approx(expected, rel=1e-6)


def test_a_gradient_by_the_first_value_of_a_variable_of_the_loop_is_refused():
    def make():
        x = tf.constant(3.0, name="start")
        return turns(3, lambda i, y: tf.gradients(y * 2.0, x)[0], x + 1)

    with pytest.raises(ValueError, match="inside while loop with respect to op 'start'"):
        evaluate(make)


def test_a_loop_variable_behind_stop_gradient_has_a_gradient_of_zero():
    def make():
        x, y, apart = tf.constant(3.0), tf.constant(2.0), tf.constant(1.0)

        def step(x, y, apart):
            stopped = tf.stop_gradient(tf.square(y))
            return tf.square(x) + stopped, stopped, apart * 2.0

        result = tf.while_loop(lambda x, y, apart: x < 100.0, step, [x, y, apart])[0]
        assert tf.gradients(result, apart) == [None]
        return tf.gradients(result, [x, y])

    assert evaluate(make) == [156.0, 0.0]
