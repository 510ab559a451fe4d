"""Functions whose two eras differ in the order or the names of their arguments."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.api import adapters
from ebbflow.graph.graph import Graph
from ebbflow.runtime.session import Session

tf1 = tf.compat.v1


def test_convert_to_tensor():
    assert tf.convert_to_tensor(1, tf.float32, None, "name").dtype is tf.float32
    assert tf.convert_to_tensor(1, dtype_hint=tf.float64).dtype is tf.float64
    assert tf1.convert_to_tensor(1, tf.float32, "name", tf.float64).dtype is tf.float32
    assert tf1.convert_to_tensor(1, preferred_dtype=tf.float64).dtype is tf.float64


def test_gradients_and_hessians():
    with Graph().as_default(), Session() as session:
        x = tf1.placeholder(tf.float32, [2])
        y = tf.reduce_sum(x * x * x)
        feed = {x: [1.0, 2.0]}
        for made in (tf.gradients(y, x, None, "g", False), tf1.gradients(y, x, None, "g", True, False)):
            np.testing.assert_allclose(session.run(made[0], feed), [3.0, 12.0])
        for made in (tf.hessians(y, x, False, None, "h"), tf1.hessians(y, x, "h")):
            np.testing.assert_allclose(session.run(made[0], feed), [[6.0, 0.0], [0.0, 12.0]])


def test_tuple():
    with Graph().as_default(), Session() as session:
        a, b = tf.constant(1), tf.constant(2)
        assert session.run(tf.tuple([a, b], None, "t")) == [1, 2]
        assert session.run(tf1.tuple([a, b], "t", None)) == [1, 2]


@pytest.mark.parametrize(
    "arguments", [{"true_fn": lambda: 1, "false_fn": lambda: 2}, {"fn1": lambda: 1, "fn2": lambda: 2}]
)
def test_cond(arguments):
    assert tf1.cond(tf.constant(True), **arguments) == 1
    assert tf1.cond(tf.constant(False), **arguments) == 2


def test_cond_gives_the_one_of_a_list_unless_strict():
    assert tf1.cond(True, lambda: [1], lambda: [2]) == 1
    assert tf1.cond(True, lambda: [1], lambda: [2], strict=True) == [1]
    assert tf.cond(True, lambda: [1], lambda: [2]) == [1]


@pytest.mark.parametrize(
    "arguments, says",
    [
        ({"fn1": lambda: 1, "true_fn": lambda: 1, "fn2": lambda: 1}, "may not be set simultaneously"),
        ({"fn1": lambda: 1}, "'false_fn' argument required"),
        ({"true_fn": 1, "false_fn": lambda: 1}, "'true_fn' must be callable"),
    ],
)
def test_cond_refuses(arguments, says):
    with pytest.raises(TypeError, match=says):
        tf1.cond(True, **arguments)


def test_devices_by_function_are_of_the_first_era():
    with Graph().as_default():
        with tf1.device(lambda node: "/cpu:0"):
            assert tf.constant(1).device == "/cpu:0"
        with pytest.raises(RuntimeError, match="does not support functions"):
            tf.device(lambda node: "/cpu:0")


def test_small_ones():
    assert tf.newaxis is None and tf.constant([1])[tf.newaxis].shape == (1, 1)
    assert tf.is_tensor(x=tf.constant(1)) and not tf.is_tensor([1])
    assert adapters.make_ndarray(tensor=tf.make_tensor_proto([1, 2])).tolist() == [1, 2]
    with Graph().as_default():
        assert tf.get_static_value(tf.constant([3])).tolist() == [3]
        assert tf.get_static_value(tf1.placeholder(tf.int32)) is None
        assert tf.get_static_value(tf.size(tf.zeros([2, 3]))) == 6
        assert tf.get_static_value(tf.where(True, 1, 2)) is None
    assert tf.get_static_value([1]) == [1] and tf.get_static_value(tf.Variable(1)) is None


def test_an_object_may_say_of_itself_that_it_is_a_tensor():
    class Deferred:
        def __init__(self, says):
            self.is_tensor_like = says

    assert tf.is_tensor(Deferred(True)) and not tf.is_tensor(Deferred(False))
