"""Which form of a function runs, where there is one for the CPU. Answers are TensorFlow 2.21's."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.dataflow_v1.switch_merge import in_xla_context

ONE = tf.constant([1.0])
OUTSIDE = tf.Variable(100.0)


def plus_one(x):
    return x + 1.0


def chosen(other, device="CPU", default=plus_one, registered_first=False):
    """Return a function that calls one form and registers another."""
    called = tf.function(default, autograph=False, experimental_attributes={"api_implements": "form"})
    attributes = {"api_implements": "form", "api_preferred_device": device}
    form = tf.function(other, autograph=False, experimental_attributes=attributes)

    @tf.function(autograph=False)
    def outer(x):
        if registered_first:
            form.get_concrete_function(x).add_to_graph()
        y = called(x)
        if not registered_first:
            concrete = form.get_concrete_function(x)
            concrete.add_to_graph()
            concrete.add_gradient_functions_to_graph()
        return y

    return outer


@pytest.mark.parametrize(
    ("other", "options", "value"),
    [
        (lambda x: x + 10.0, {}, 11.0),
        (lambda x: x + 10.0, {"registered_first": True}, 11.0),
        (lambda x: x + 10.0, {"device": "GPU"}, 2.0),
        (lambda x: x + OUTSIDE, {}, 2.0),
        (lambda x: tf.cast(x, tf.float64), {}, 2.0),
        (lambda x: (x, x), {}, 2.0),
    ],
    ids=["cpu", "first", "gpu", "captures", "dtype", "results"],
)
def test_the_form_for_the_cpu_runs_where_it_takes_and_gives_the_same(other, options, value):
    outer = chosen(other, **options)
    assert outer(ONE).numpy().tolist() == [value]
    assert tf.function(lambda x: outer(x) * 1.0)(ONE).numpy().tolist() == [value]


def test_the_gradient_is_that_of_the_form_that_runs():
    outer = chosen(lambda x: x * 3.0, default=lambda x: x * 2.0)
    with tf.GradientTape() as tape:
        tape.watch(ONE)
        y = outer(ONE) * 1.0
    np.testing.assert_array_equal([y, tape.gradient(y, ONE)], [[3.0], [3.0]])


def test_what_is_compiled_keeps_its_form():
    outer = chosen(lambda x: x + 10.0)
    compiled = tf.function(lambda x: outer(x) * 1.0, autograph=False, jit_compile=True)
    assert [f(ONE).numpy().tolist() for f in (outer, compiled, outer)] == [[11.0], [2.0], [11.0]]


def test_what_is_traced_sees_that_it_will_be_compiled():
    seen = []

    def body(x):
        seen.append(in_xla_context(tf.compat.v1.get_default_graph()))
        return x + 1.0

    inner = tf.function(body, autograph=False)
    tf.function(lambda x: inner(x), autograph=False, jit_compile=True)(ONE)
    assert seen == [True]
    tf.function(body, autograph=False, jit_compile=True)(ONE)
    assert seen == [True, True]
    assert inner(ONE).numpy().tolist() == [2.0]
    assert seen == [True, True, False]
    tf.function(lambda x: inner(x), autograph=False, jit_compile=True)(ONE)
    assert len(seen) == 3
