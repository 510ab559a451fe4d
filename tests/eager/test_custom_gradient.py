"""Custom gradients: eagerly, in graphs, nested, with variables, recomputed."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.eager import functions as tfe


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@pytest.mark.parametrize(("at", "slope"), [(0.0, 0.5), (100.0, 1.0)])
def test_stable_log1pexp(at, slope):
    assert tfe.gradients_function(log1pexp)(at)[0].numpy() == slope


def test_in_a_graph():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [])
        (found,) = tf.gradients(log1pexp(x), [x])
        assert tf.compat.v1.Session().run(found, {x: 100.0}) == 1.0


def test_second_order_goes_through_the_given_gradient():
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3 * x**2

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        dy = inner.gradient(y, x)
    assert dy.numpy() == 12.0 and outer.gradient(dy, x).numpy() == 12.0


def test_nested():
    @tf.custom_gradient
    def inner(x):
        return x * 2.0, lambda dy: dy * 100.0

    @tf.custom_gradient
    def outer(x):
        return inner(x), lambda dy: dy * 7.0

    assert tfe.gradients_function(outer)(1.0)[0].numpy() == 7.0
    assert tfe.gradients_function(inner)(1.0)[0].numpy() == 100.0


def test_several_arguments_and_results():
    @tf.custom_gradient
    def both(a, b):
        return (a + b, a * b), lambda ds, dp: (ds + dp, ds - dp)

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        total, product = both(a, b)
        y = total * 10.0 + product
    assert [g.numpy() for g in tape.gradient(y, [a, b])] == [11.0, 9.0]


def test_with_variables():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables=None):
            assert variables[0] is v
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [10.0, 100.0]


def test_variables_need_an_argument_for_them():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="variables"):
        scaled(tf.constant(1.0))


def test_methods():
    class Model:
        @tf.custom_gradient
        def double(self, x):
            return x * 2.0, lambda dy: dy * 5.0

    assert tfe.gradients_function(Model().double)(1.0)[0].numpy() == 5.0


def test_wrong_number_of_gradients():
    @tf.custom_gradient
    def f(a, b):
        return a * b, lambda dy: dy

    with pytest.raises(ValueError, match="expected to return 2 gradients"):
        tfe.gradients_function(f)(1.0, 2.0)


def test_recompute_grad_runs_twice_and_agrees():
    runs = []
    v = tf.Variable([1.0, 2.0])

    def f(x):
        runs.append(1)
        return tf.reduce_sum(tf.tanh(x * v) * v)

    x = tf.constant([0.5, -0.5])
    results = []
    for function in (f, tf.recompute_grad(f)):
        runs.clear()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        results.append([g.numpy() for g in tape.gradient(y, [x, v])])
    assert len(runs) == 2
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_register_gradient_and_override_map():
    @tf.RegisterGradient("TimesSeven")
    def _(op, grad):
        assert op.type == "Identity" and op.inputs[0].dtype == tf.float32
        return grad * 7.0

    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        with graph.gradient_override_map({"Identity": "TimesSeven"}):
            y = tf.identity(x)
        z = tf.identity(x)
        found = tf.gradients(y, x) + tf.gradients(z, x)
        assert tf.compat.v1.Session().run(found, {x: 1.0}) == [7.0, 1.0]


@pytest.mark.parametrize(
    ("make", "call", "expected"),
    [
        (tfe.gradients_function, lambda f: f(3.0)[0].numpy(), 6.0),
        (tfe.value_and_gradients_function, lambda f: (f(3.0)[0].numpy(), f(3.0)[1][0].numpy()), (9.0, 6.0)),
        (lambda f: tfe.gradients_function(lambda x: tfe.gradients_function(f)(x)[0]), lambda f: f(3.0)[0].numpy(), 2.0),
        (lambda f: tfe.value_and_gradients_function(f), lambda f: f(3.0, dy=2.0)[1][0].numpy(), 12.0),
    ],
)
def test_early_functions(make, call, expected):
    assert call(make(lambda x: x * x)) == expected


def test_implicit_gradients():
    w, b = tf.Variable(2.0), tf.Variable(1.0)
    value, pairs = tfe.implicit_value_and_gradients(lambda x: w * x + b)(5.0)
    assert value.numpy() == 11.0
    assert [(g.numpy(), v is e) for (g, v), e in zip(pairs, (w, b), strict=True)] == [(5.0, True), (1.0, True)]
    with pytest.raises(ValueError, match="No trainable variables"):
        tfe.implicit_gradients(lambda x: tf.constant(x))(1.0)


def test_early_functions_in_graphs():
    with tf.Graph().as_default():
        (found,) = tfe.gradients_function(lambda x: x * x)(3.0)
        assert tf.compat.v1.Session().run(found) == 6.0


# function, point, tangent, product
FORWARD = [
    (lambda x: x * x, 3.0, 1.0, 6.0),
    (lambda x: tf.sin(x) * x, 0.5, 2.0, 2.0 * (np.cos(0.5) * 0.5 + np.sin(0.5))),
    (lambda x: tf.reduce_sum(tf.linalg.matvec(tf.constant([[1.0, 2.0], [3.0, 4.0]]), x)), [1.0, 1.0], [1.0, 0.0], 4.0),
    (lambda x: tf.gather(x, [1, 1]), [1.0, 2.0], [10.0, 20.0], [20.0, 20.0]),
]


@pytest.mark.parametrize(("f", "at", "tangent", "expected"), FORWARD)
def test_forward_mode(f, at, tangent, expected):
    x = tf.constant(at)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(tangent)) as acc:
        y = f(x)
    np.testing.assert_allclose(acc.jvp(y).numpy(), np.array(expected, np.float32), rtol=1e-5)


def test_forward_over_reverse_gives_hessian_vector_products():
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3)
        found = tape.gradient(y, x)
    assert acc.jvp(found).numpy().tolist() == [6.0, 0.0]


@pytest.mark.parametrize("manner", ["eager", "function", "compiled"])
def test_a_variable_that_only_the_gradient_reads_has_its_gradient(manner):
    scale = tf.Variable(3.0)

    @tf.custom_gradient
    def through(x, s):
        return x, lambda upstream: (upstream * 10.0, s * 100.0)

    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = through(x * 2.0, scale)
        return tape.gradient(y, [x, scale])

    call = slopes if manner == "eager" else tf.function(slopes, jit_compile=manner == "compiled")
    assert [float(g) for g in call(tf.constant(2.0))] == [20.0, 300.0]


@pytest.mark.parametrize("manner", [lambda f: f, tf.function])
def test_ragged_arguments_have_ragged_gradients(manner):
    @tf.custom_gradient
    def scaled(x, y):
        return (x * x, 2 * y), lambda dx, dy: (3 * dx, 4 * dy)

    x, y = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.constant([4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        out = manner(scaled)(x, y)
    dx, dy = tape.gradient(out, (x, y))
    assert out[0].to_list() == [[1.0, 4.0], [9.0]]
    assert dx.to_list() == [[3.0, 3.0], [3.0]]
    assert dy.numpy().tolist() == [4.0, 4.0]
