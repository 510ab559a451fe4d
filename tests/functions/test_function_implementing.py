"""Functions that implement an op, functions that are cancelled, callbacks of functions that have been traced."""

from __future__ import annotations

import threading

import pytest

import ebbflow as tf
from ebbflow.functions.cancellation import CancellationManager
from ebbflow.functions.func_graph import add_exit_callback


def adding():
    return tf.function(lambda x, y: x + y, experimental_implements="add")


def test_what_implements_an_op_takes_tensors_whatever_is_given():
    add, v = adding(), tf.Variable(1.0)
    assert [float(add(v, 2.0)), float(add(2.0, v)), float(add(3, 4))] == [3.0, 3.0, 7.0]
    assert len(add._entries) == 2  # float32 and int32
    concrete = add.get_concrete_function([2.0, 3.0], v)
    assert [t.shape.as_list() for t in concrete.inputs] == [[2], []]
    v.assign(5.0)
    assert float(add(v, 2.0)) == 7.0


def test_its_name_is_written_with_the_function():
    add = adding()
    with tf.Graph().as_default() as graph:
        add(tf.constant(1.0), tf.constant(2.0))
        (written,) = graph.as_graph_def().library.function
    assert written.attr["_implements"].s == b"add"


def test_an_op_with_attrs_is_written_as_one():
    text = 'name: "embedding_matmul" attr { key: "key1" value { i: 2 } }'
    add = tf.function(lambda x: x + 1, experimental_implements=text, experimental_attributes={"_fast": True, "_n": 3})
    found = add.get_concrete_function(tf.constant(1.0)).function_def.attr
    assert (found["_implements"].func.name, found["_implements"].func.attr["key1"].i) == ("embedding_matmul", 2)
    assert (found["_fast"].b, found["_n"].i) == (True, 3)


def test_its_gradient_reaches_variables():
    multiply = tf.function(lambda x, y: x * y, experimental_implements="multiply")
    x, y = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = multiply(x, y)
    assert [float(g) for g in tape.gradient(z, [x, y])] == [2.0, 3.0]


def test_what_implements_an_op_may_use_nothing_else():
    outside = tf.Variable(1.0)
    with pytest.raises(AssertionError, match="variables are always captured"):
        tf.function(lambda x: x + outside, experimental_implements="more")(1.0)


def test_a_function_that_waits_is_cancelled():
    queue = tf.queue.FIFOQueue(1, tf.int32)
    manager = CancellationManager()
    take = manager.get_cancelable_function(tf.function(queue.dequeue).get_concrete_function())
    queue.enqueue(37)
    assert int(take()) == 37
    timer = threading.Timer(0.2, manager.start_cancel)
    timer.start()
    with pytest.raises(tf.errors.CancelledError):
        take()
    timer.join()
    assert manager.is_cancelled
    with pytest.raises(tf.errors.CancelledError):
        take()


def test_callbacks_are_called_when_a_function_has_been_traced():
    called = []

    @tf.function
    def inner(x):
        add_exit_callback(lambda: called.append("inner"))
        assert not called
        return x + 1

    @tf.function
    def outer(x):
        add_exit_callback(lambda: called.append("outer"))
        return inner(x)

    outer(tf.constant(1.0))
    outer(tf.constant(2.0))
    assert called == ["inner", "outer"]
    with pytest.raises(RuntimeError, match="when not building a function"):
        add_exit_callback(lambda: None)


def test_arguments_that_are_one_in_a_graph_are_refused():
    with pytest.raises(ValueError, match="Name collision after sanitization"):
        tf.function(lambda **kwargs: kwargs["a_b"] + kwargs["a/b"])(**{"a_b": 1, "a/b": 2})


def test_a_handle_that_a_function_gives_knows_the_shape_of_its_variable():
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=[[1, 2], [3, 4]], use_resource=True)
        handle = tf.function(lambda: v.handle)()
        assert tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.int32).shape == [2, 2]
        passed = tf.function(lambda h: h)(v.handle)
        assert tf.raw_ops.ReadVariableOp(resource=passed, dtype=tf.int32).shape == [2, 2]


def test_the_error_for_a_tensor_of_a_function_says_where_it_was_made():
    @tf.function
    def leaking():
        a = tf.constant(1.0)
        with tf.init_scope():
            return a + a

    with pytest.raises(TypeError, match=r"(?s)test_function_implementing.*leaking.*out of scope"):
        leaking()
