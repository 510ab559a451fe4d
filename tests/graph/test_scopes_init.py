"""init_scope: what is called inside leaves functions, and takes along the device that was asked for."""

from __future__ import annotations

import ebbflow as tf

v1 = tf.compat.v1


def function_graph():
    graph = tf.Graph()
    graph._building_function = True
    return graph


def test_ops_leave_graphs_that_are_said_to_be_functions():
    plain, inner = tf.Graph(), function_graph()
    with plain.as_default(), inner.as_default(), tf.init_scope():
        assert v1.get_default_graph() is plain
        tf.constant(1.0)
    assert not inner.get_operations()
    assert [op.type for op in plain.get_operations()] == ["Const"]


def test_the_innermost_device_comes_along():
    plain, inner = tf.Graph(), function_graph()
    with plain.as_default(), tf.device("CPU:0"), inner.as_default():
        with tf.device("GPU:0"), tf.init_scope():
            assert tf.constant(1.0).device == "/device:GPU:0"
        assert tf.constant(1.0).device == ""
        with tf.init_scope():
            assert tf.constant(1.0).device == "/device:CPU:0"
    with plain.as_default():
        assert tf.constant(1.0).device == ""
