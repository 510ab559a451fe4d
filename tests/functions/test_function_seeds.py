"""The programs of the talks that compile Python into graphs: they run, and agree with the plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.eager.functions import gradients_function
from ebbflow.functions.defun import defun
from ebbflow.state.graph_callable import graph_callable


def lstm_cell(x, w, h, c):
    xhw = tf.matmul(tf.concat([x, h], axis=1), w)
    y = tf.split(xhw, 4, axis=1)
    in_value = tf.tanh(y[0])
    in_gate, forget_gate, out_gate = [tf.sigmoid(x) for x in y[1:]]
    c = (forget_gate * c) + (in_gate * in_value)
    h = out_gate * tf.tanh(c)
    return h, c


COMPILED = {
    "tf.function": tf.function(lstm_cell, autograph=False),
    "converted": tf.function(lstm_cell),
    "defun": defun(lstm_cell),
    "graph_callable": graph_callable(lstm_cell),
}


@pytest.mark.parametrize("kind", COMPILED)
def test_lstm_cell_plain_and_compiled(kind):
    random = np.random.RandomState(0)
    x, w, h, c = (tf.constant(random.randn(*s), tf.float32) for s in ([3, 4], [9, 20], [3, 5], [3, 5]))

    def run(cell):
        with tf.GradientTape() as tape:
            tape.watch([x, w, h, c])
            new_h, new_c = cell(x, w, h, c)
            loss = tf.reduce_sum(new_h * new_h) + tf.reduce_sum(new_c)
        return [new_h, new_c, *tape.gradient(loss, [x, w, h, c])]

    expected = run(lstm_cell)
    for _ in range(3):  # interpreted, then compiled
        for got, want in zip(run(COMPILED[kind]), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_square_sum_as_defun():
    @defun
    def square_sum(x, y):
        return tf.square(x + y)

    assert square_sum(2.0, 3.0).numpy() == 25


def test_polymorphic_add():
    @tf.function
    def add(a, b):
        return a + b

    np.testing.assert_allclose(add(tf.ones([2, 2]), tf.ones([2, 2])), [[2.0, 2.0], [2.0, 2.0]])
    assert int(add(1, 2)) == 3
    assert float(add(1.0, 2.5)) == 3.5
    assert add(tf.constant("a"), tf.constant("b")).numpy() == b"ab"


def test_line_search_through_a_graph():
    """Nudge an image towards a class: Python loops around a differentiated graph."""
    random = np.random.RandomState(1)
    weights = tf.constant(random.randn(12, 5), tf.float32)

    @graph_callable
    def classify(image):
        return tf.nn.softmax(tf.matmul(tf.reshape(image, [1, 12]), weights))

    def objective(x):
        return -tf.reshape(tf.math.log(classify(x)[0, 2]), [])

    grad_fn = gradients_function(objective)
    image = tf.constant(random.rand(2, 2, 3), tf.float32)
    values = []
    for _ in range(10):
        val, grad = objective(image), grad_fn(image)[0]
        values.append(float(val))
        g_norm = tf.reduce_sum(grad * grad)
        (init_val, init_image, rate) = (val, image, 1.0)
        while val > init_val - rate * g_norm:
            image, rate = init_image - rate * grad, rate / 2.0
            val = objective(image)
            if rate < 1e-6:
                break
    assert values[-1] < values[0]
    assert float(classify(image)[0, 2]) > 0.5


def test_switching_between_eager_and_graph():
    assert tf.executing_eagerly()
    f = tf.function(lambda x: x * 2.0, autograph=False)
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        y = f(tf.constant(3.0))
        with tf.compat.v1.Session() as session:
            assert session.run(y) == 6.0
    assert float(f(tf.constant(3.0))) == 6.0
