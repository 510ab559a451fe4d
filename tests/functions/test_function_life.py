"""Traces live as long as what they were made for, and leaked tensors say where they come from."""

from __future__ import annotations

import gc
import weakref

import pytest

import ebbflow as tf
from ebbflow.functions.func_graph import FuncGraph


def traced(function=None, **options):
    return tf.function(function, autograph=False, **options)


def graphs():
    for _ in range(3):  # what the last one let go of may have held something else
        gc.collect()
    return sum(isinstance(found, FuncGraph) for found in gc.get_objects())


def closure(i):
    """Make, call, differentiate and drop a function with all that it holds."""
    held, w = tf.constant([float(i)] * 10), tf.Variable([1.0] * 10)

    @tf.custom_gradient
    def own(z):
        return z * 2.0, lambda dy: dy * 3.0

    @traced
    def f(x):
        return tf.reduce_sum(own(x) * w) + tf.reduce_sum(held) + tf.random.uniform([], seed=3)

    x = tf.constant([1.0] * 10)
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, w)
    f(x)


@traced
def apply(function, x):
    return function(x)


def argument(i):
    """Call a function that lives on with a closure that dies."""
    held = tf.constant([float(i)] * 10)
    apply(lambda z: z + tf.reduce_sum(held), tf.constant(1.0))


@traced
def twice(x):
    return x * 2.0


def graph(i):
    """Call a function that lives on in a graph that dies."""
    with tf.Graph().as_default():
        twice(tf.constant(1.0))


class Holder:
    @tf.function(autograph=False)
    def method(self, x):
        return x + 1.0


def method(i):
    """Call a method of an instance that dies."""
    Holder().method(tf.constant(1.0))


@pytest.mark.parametrize("use", [closure, argument, graph, method])
def test_nothing_is_left(use):
    for i in range(3):
        use(i)
    before = graphs()
    for i in range(30):
        use(i)
    assert graphs() <= before


def test_traces_of_dead_objects_are_forgotten():
    f = traced(lambda o, x: x + o.k)

    class Thing:
        k = 1.0

    thing = Thing()
    assert float(f(thing, tf.constant(1.0))) == 2.0
    assert len(f.traces()) == 1
    del thing
    gc.collect()
    assert len(f.traces()) == 0


def test_instances_die_with_their_traces():
    holder = Holder()
    holder.method(tf.constant(1.0))
    ref = weakref.ref(holder)
    del holder
    gc.collect()
    assert ref() is None


def test_captured_values_live_as_long_as_the_function():
    def make():
        k = tf.constant([5.0])
        f = traced(lambda x: x * k)
        f(tf.constant([1.0]))
        return f

    f = make()
    gc.collect()
    assert float(f(tf.constant([2.0]))[0]) == 10.0


def leaked():
    found = []
    traced(lambda x: found.append(x + 1.0) or x)(tf.constant(1.0))
    return found[0]


USES = {
    "eager op": lambda t: t + 1.0,
    "argument": lambda t: twice(t),
    "captured": lambda t: traced(lambda: t * 2.0)(),
    "returned": lambda t: traced(lambda: t)(),
    "assigned": lambda t: tf.Variable(1.0).assign(t),
    "in a list": lambda t: tf.stack([t, t]),
    "numpy": lambda t: tf.convert_to_tensor(t),
}


@pytest.mark.parametrize("use", USES)
def test_a_leaked_tensor_names_where_it_was_made(use):
    tensor = leaked()
    with pytest.raises(TypeError) as caught:
        USES[use](tensor)
    text = str(caught.value)
    assert "is out of scope and cannot be used here" in text
    assert f'File "{__file__}", line {leaked.__code__.co_firstlineno + 2}, in <lambda>' in text
    here = [entry for entry in caught.traceback if str(entry.path) == __file__]
    assert len(here) >= 2  # the line of use is in the traceback


def test_inner_tensors_may_not_be_used_in_the_function_around():
    kept = []

    @traced
    def outer(x):
        traced(lambda z: kept.append(z * 2.0) or z)(x)
        return x + kept[0]

    with pytest.raises(TypeError, match="out of scope"):
        outer(tf.constant(1.0))


def test_errors_show_the_users_lines_only():
    def helper(x):
        raise KeyError("mine")

    f = traced(lambda x: helper(x))
    with pytest.raises(KeyError) as caught:
        f(tf.constant(1.0))
    files = [str(entry.path) for entry in caught.traceback]
    inside = [file for file in files if "/ebbflow/" in file]
    assert files[-1] == __file__
    assert all(file.endswith("function.py") for file in inside)  # the call itself, nothing below


def test_a_failed_trace_leaves_nothing_behind():
    fail = [True]

    @traced
    def f(x):
        if fail[0]:
            raise ValueError("not yet")
        return x + 1.0

    with pytest.raises(ValueError, match="not yet"):
        f(tf.constant(1.0))
    assert tf.executing_eagerly()
    fail[0] = False
    assert float(f(tf.constant(1.0))) == 2.0
    assert len(f.traces()) == 1
