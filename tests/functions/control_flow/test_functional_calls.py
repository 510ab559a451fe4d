"""Choices and loops given as functions of tensors, some of which say what they take."""

import ebbflow as tf
from ebbflow.functions.control_flow.functional_calls import call_for, call_if, call_while
from ebbflow.functions.typed_function import Defun

v1 = tf.compat.v1


def in_session(make):
    """Return what tensors are in a session of their own."""
    with tf.Graph().as_default(), v1.Session() as session:
        return session.run(make())


def test_a_choice_of_functions():
    def chosen(x):
        return call_if(x > 0.0, [x], lambda x: x * 2.0, lambda x: x * 3.0 + 1.0)

    assert [float(chosen(tf.constant(x))[0]) for x in (9.0, -8.0, 0.0)] == [18.0, -23.0, 1.0]
    assert in_session(lambda: chosen(tf.constant(9.0))) == [18.0]


def test_a_loop_of_functions_that_say_what_they_take():
    def left():
        less = Defun(tf.float32, tf.float32)(lambda n, x: n > 0)
        body = Defun(tf.float32, tf.float32)(lambda n, x: (n - 1, x + n))
        return call_while([20.0, 0.0], less, body)

    assert in_session(left) == [0.0, 210.0]


def test_a_loop_over_a_range():
    def sums():
        body = lambda n, x: x + tf.cast(n, tf.float32)
        return [call_for(1, 21, 1, [0.0], body)[0], call_for(100, 0, -1, [0.0], body)[0]]

    assert in_session(sums) == [210.0, 5050.0] and [float(x) for x in sums()] == [210.0, 5050.0]
    assert call_for(1, 10, 1, [], lambda n: None) == []
