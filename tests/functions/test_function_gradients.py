"""Gradients through functions: every order, every way to ask, equal to those of the plain Python function."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.slices import IndexedSlices


def constant(value):
    return tf.constant(value, tf.float32)


def inner(x):
    return tf.tanh(x) * x


inner_function = tf.function(inner, autograph=False)


@tf.custom_gradient
def doubled(x):
    return x * x, lambda dy: dy * 4.0 * x


def several(x):
    a, b = tf.split(x, 2)
    return tf.reduce_sum(a * b) + tf.reduce_sum(tf.concat([b, a], 0) ** 3.0)


def in_loop(x):
    for _ in range(3):
        x = tf.sin(x) * x
    return tf.reduce_sum(x)


def grown(x):
    def body(i, array):
        return i + 1, array.write(i, array.read(i - 1) * x + tf.cast(i, tf.float32))

    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False).write(0, x)
    return tf.while_loop(lambda i, array: i < 3, body, (1, array))[1].stack()


FUNCTIONS = {
    "element-wise": lambda x: tf.reduce_sum(tf.tanh(x) * tf.exp(x)),
    "matrix": lambda x: tf.reduce_sum(tf.matmul(tf.reshape(x, [2, 2]), tf.reshape(x, [2, 2])) ** 2.0),
    "several results used": several,
    "nested": lambda x: tf.reduce_sum(inner_function(x) * inner_function(x * 2.0)),
    "custom gradient": lambda x: tf.reduce_sum(doubled(x) * x),
    "python loop": in_loop,
    "broadcast": lambda x: tf.reduce_sum(x * x * tf.reduce_sum(x) ** 2.0),
    "tape inside": lambda x: _tape_inside(x),
    "cond": lambda x: tf.cond(
        tf.reduce_sum(x) > 0.0, lambda: tf.reduce_sum(x**3.0 * tf.tanh(x)), lambda: tf.reduce_sum(x)
    ),
    "while": lambda x: tf.reduce_sum(
        tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.tanh(x)))[1]
    ),
    "array that grows and is read back": lambda x: tf.reduce_sum(grown(x) ** 2.0),
    "gathered": lambda x: tf.reduce_sum(tf.gather(x, [0, 0, 2]) ** 2.0),
}


def _tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * x)
    return tf.reduce_sum(tape.gradient(y, x) * x)


POINT = [0.3, -0.7, 1.1, 0.5]


def derivatives(f, x, order):
    """Return f(x) and the gradients up to `order`, each of the sum of the one before."""
    if order == 0:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = derivatives(f, x, order - 1)
        top = tf.reduce_sum(values[-1])
    return [*values, tape.gradient(top, x)]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders_with_tapes(name, order):
    f = FUNCTIONS[name]
    x = constant(POINT)
    expected = derivatives(f, x, order)
    traced = tf.function(f, autograph=False)
    for _ in range(2):  # the second time all is there already
        for got, want in zip(derivatives(traced, x, order), expected, strict=True):
            np.testing.assert_allclose(tf.convert_to_tensor(got), tf.convert_to_tensor(want), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders_inside_a_function(name):
    f = FUNCTIONS[name]
    x = constant(POINT)
    expected = derivatives(f, x, 2)
    whole = tf.function(lambda x: derivatives(tf.function(f, autograph=False), x, 2), autograph=False)
    for got, want in zip(whole(x), expected, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(got), tf.convert_to_tensor(want), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders_with_gradients_in_a_graph(name):
    f = FUNCTIONS[name]
    x = constant(POINT)
    expected = derivatives(f, x, 3)
    traced = tf.function(f, autograph=False)
    with tf.Graph().as_default():
        fed = tf.compat.v1.placeholder(tf.float32, [4])
        found = [traced(fed)]
        for _ in range(3):
            found.append(tf.convert_to_tensor(tf.gradients(tf.reduce_sum(found[-1]), fed)[0]))
        with tf.compat.v1.Session() as session:
            got = session.run(found, {fed: POINT})
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, tf.convert_to_tensor(b), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode(name):
    f = FUNCTIONS[name]
    x, t = constant(POINT), constant([1.0, 0.5, -1.0, 2.0])
    expected = tf.reduce_sum(tf.convert_to_tensor(derivatives(f, x, 1)[1]) * t)
    with tf.autodiff.ForwardAccumulator(x, t) as accumulator:
        y = tf.function(f, autograph=False)(x)
    np.testing.assert_allclose(accumulator.jvp(y), expected, rtol=2e-5)


def test_forward_over_reverse():
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x), autograph=False)
    x, t = constant(POINT), constant([1.0, 0.5, -1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, t) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        gradient = tape.gradient(y, x)
    hessian = np.diag(derivatives(lambda x: tf.reduce_sum(tf.tanh(x) * x), x, 2)[2])
    np.testing.assert_allclose(accumulator.jvp(gradient), hessian @ np.asarray(t), rtol=1e-5)


def test_persistent_tape_gives_second_order_too():
    f = tf.function(lambda x: x * x * x, autograph=False)
    x = constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        first = tape.gradient(y, x)
    assert float(first) == 12.0
    assert float(tape.gradient(first, x)) == 12.0


def test_variables_are_watched_and_get_gradients():
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    frozen = tf.Variable(3.0, trainable=False)

    @tf.function(autograph=False)
    def loss(x):
        return tf.reduce_sum((tf.matmul(x, w) + b) * frozen)

    for _ in range(2):
        with tf.GradientTape() as tape:
            y = loss(constant([[1.0, 2.0]]))
        assert [v.name for v in tape.watched_variables()] == [w.name, b.name]
        dw, db = tape.gradient(y, [w, b])
        np.testing.assert_allclose(dw, [[3.0], [6.0]])
        np.testing.assert_allclose(db, [3.0])


def test_rows_stay_rows():
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    look_up = tf.function(lambda ids: tf.reduce_sum(tf.gather(table, ids) ** 2.0), autograph=False)
    with tf.GradientTape() as tape:
        y = look_up(tf.constant([2, 0, 2]))
    grad = tape.gradient(y, table)
    assert isinstance(grad, IndexedSlices)
    np.testing.assert_allclose(tf.convert_to_tensor(grad), [[0.0, 2.0], [0.0, 0.0], [16.0, 20.0]])


def test_variable_as_argument():
    square = tf.function(lambda v: v * v, autograph=False)
    for value in (2.0, 3.0):
        v = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = square(v)
        assert float(tape.gradient(y, v)) == 2 * value
    assert square.experimental_get_tracing_count() == 1


def test_unwatched_calls_are_not_recorded():
    f = tf.function(lambda x: x * 2.0, autograph=False)
    x = constant(1.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.gradient(y, x) is None


def test_a_subset_of_results_and_unused_arguments():
    f = tf.function(lambda x, y, n: (x * y, tf.split(x * 2.0, 2), n + 1), autograph=False)
    x, y = constant([1.0, 2.0]), constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, (b, c), n = f(x, y, tf.constant(1))
    np.testing.assert_allclose(tape.gradient(c, x), [0.0, 2.0])
    assert tape.gradient(b, y) is None
    np.testing.assert_allclose(tape.gradient([a, b], x), [5.0, 3.0])
    assert int(n) == 2


def test_an_op_without_gradient_matters_only_when_asked_for():
    f = tf.function(lambda x: (tf.tanh(x * 2.0) * x, tf.unique(x * x)[0]), autograph=False)
    x = constant([0.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x)
    t = np.tanh(2.0)
    np.testing.assert_allclose(tape.gradient(y, x), [0.0, t + 2.0 * (1.0 - t * t)], rtol=1e-5)
    with pytest.raises(LookupError, match="No gradient defined for operation"):
        tape.gradient(z, x)


def test_gradients_by_captured_tensors():
    k = constant(3.0)
    f = tf.function(lambda x: x * k * k, autograph=False)
    with tf.GradientTape() as tape:
        tape.watch(k)
        y = f(constant(2.0))
    assert float(tape.gradient(y, k)) == 12.0


def test_random_numbers_are_drawn_once():
    f = tf.function(lambda x: x * tf.random.uniform([]), autograph=False)
    x = constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == float(y)


def test_effects_happen_once_with_a_tape():
    v = tf.Variable(0.0)

    @tf.function(autograph=False)
    def f(x):
        v.assign_add(1.0)
        return x * v

    x = constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 1.0
    assert float(v) == 1.0


def test_jacobian_of_a_function():
    f = tf.function(lambda x: tf.stack([x[0] * x[1], x[1] ** 2.0]), autograph=False)
    x = constant([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.jacobian(y, x), [[3.0, 2.0], [0.0, 6.0]])


def test_unknown_shapes():
    f = tf.function(
        lambda x, y: tf.reduce_sum(x * y) + tf.reduce_sum(tf.nn.softmax(x)[:, 0]),
        input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(None)],
        autograph=False,
    )
    for n in (2, 3):
        x, y = constant(np.ones((n, 2))), constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        dx, dy = tape.gradient(z, [x, y])
        np.testing.assert_allclose(dx, np.tile([1.25, 1.75], (n, 1)))
        np.testing.assert_allclose(dy, [n, n])


@pytest.mark.parametrize("deep", [False, True])
def test_gradients_in_a_body_go_on_through_what_it_captures(deep):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        weighted = tf.sigmoid(x) * tf.constant([1.0, 3.0])
        loss = tf.reduce_sum(weighted)

        def twice():
            slope = v1.gradients(loss, x)[0]
            return slope, v1.gradients(slope, x)[0], v1.gradients(tf.reduce_sum(weighted * x), x)[0]

        def once(body):
            return tf.cond(v1.placeholder_with_default(True, []), body, lambda: (x, x, x))

        slope, curve, product = session.run(once(lambda: once(twice)) if deep else once(twice))
    s = 1 / (1 + np.exp(-np.array([1.0, 2.0])))
    w = np.array([1.0, 3.0])
    np.testing.assert_allclose(slope, w * s * (1 - s), rtol=1e-5)
    np.testing.assert_allclose(curve, w * s * (1 - s) * (1 - 2 * s), rtol=1e-5)
    np.testing.assert_allclose(product, w * (s + np.array([1.0, 2.0]) * s * (1 - s)), rtol=1e-5)
