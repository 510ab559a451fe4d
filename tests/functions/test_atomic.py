"""Atomic functions: a trace called with all that it takes, and without gradient. Answers are TensorFlow 2.21's."""

from __future__ import annotations

import pytest

import ebbflow as tf

SCALAR = tf.TensorSpec([], tf.float32)


def scaled():
    factor = tf.Variable(2.0)
    traced = tf.function(lambda a, b: {"all": a * factor + b, "both": (a, b)}).get_concrete_function(SCALAR, b=SCALAR)
    return factor, traced


def test_without_captures_it_is_called_as_the_function():
    traced = tf.function(lambda a: a + a).get_concrete_function(tf.TensorSpec([], tf.string))
    atomic = traced.inference_fn
    assert isinstance(atomic, tf.types.experimental.AtomicFunction)
    assert not isinstance(traced, tf.types.experimental.AtomicFunction)
    assert [atomic(tf.constant("x")).numpy(), atomic("x").numpy(), atomic(a="x").numpy()] == [b"xx"] * 3
    assert (atomic.name, atomic.graph, atomic.function_type) == (traced.name, traced.graph, traced.function_type)
    assert atomic.definition.signature.name == traced.name.decode()


def test_captures_are_given():
    _, traced = scaled()
    atomic = traced.inference_fn
    three, one = tf.constant(3.0), tf.constant(1.0)
    with pytest.raises(ValueError, match="Use call_with_captures instead"):
        atomic(three, one)
    found = atomic.call_with_captures((three,), {"b": one}, traced.captured_inputs)
    assert float(found["all"]) == 7.0 and [float(x) for x in found["both"]] == [3.0, 1.0]
    assert [float(x) for x in atomic.call_flat(three, one, *traced.captured_inputs)] == [7.0, 3.0, 1.0]
    assert float(atomic.call_preflattened([three, one, *traced.captured_inputs])["all"]) == 7.0
    other = tf.Variable(10.0)
    assert float(atomic.call_with_captures((three, one), {}, [other.handle])["all"]) == 31.0


@pytest.mark.parametrize(
    ("args", "error", "says"),
    [
        ((), TypeError, "missing a required argument: 'a'"),
        ((tf.constant(1),), TypeError, "Can not cast .*int32.* to .*float32"),
    ],
)
def test_arguments_are_those_of_the_trace(args, error, says):
    with pytest.raises(error, match=says):
        tf.function(lambda a: a).get_concrete_function(SCALAR).inference_fn(*args)


def test_the_number_of_flat_arguments_is_that_of_the_trace():
    _, traced = scaled()
    with pytest.raises(ValueError, match="specifies 3 arguments, got: 1"):
        traced.inference_fn.call_flat(tf.constant(1.0))
    with pytest.raises(ValueError, match="captures 1 tensors"):
        traced.inference_fn.call_with_captures((tf.constant(1.0),) * 2, {}, [])


def test_no_tape_listens():
    x = tf.Variable(3.0)
    traced = tf.function(lambda a: a * a).get_concrete_function(SCALAR)
    with tf.GradientTape(persistent=True) as tape:
        by_trace, y = traced.inference_fn(x), traced(x)
    assert float(y) == float(by_trace) == 9.0
    assert tape.gradient(by_trace, x) is None
    assert float(tape.gradient(y, x)) == 6.0
