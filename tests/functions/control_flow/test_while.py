"""`tf.while_loop` in every way it can be run: values, structures, limits, gradients, refusals."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.modes import MODES, check_gradients, run

v1 = tf.compat.v1
Pair = collections.namedtuple("Pair", "a b")
X = np.array([0.3, 0.7])


def powers(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]


def nested(x):
    def inner(y):
        return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * y + x), (0, y))[1]

    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, inner(y)), (0, x))[1]


def structures(x):
    found = tf.while_loop(
        lambda i, p, d: i < 3,
        lambda i, p, d: (i + 1, Pair(p.a + 1.0, (p.b[0] * 2.0,)), {"k": d["k"] + p.a}),
        (0, Pair(x, (x,)), {"k": tf.zeros_like(x)}),
    )
    return [found[0], found[1].a, found[1].b[0], found[2]["k"]]


def by_value(x):
    return tf.while_loop(lambda y: tf.reduce_sum(y) > 0.5, lambda y: y * y, [x])[0]


def with_choice(x):
    def body(i, y):
        return i + 1, tf.cond(i % 2 > 0, lambda: y * x, lambda: tf.sin(y))

    return tf.while_loop(lambda i, y: i < 4, body, (0, x))[1]


CASES = {
    "powers": (powers, lambda x: x**4),
    "nested": (nested, None),
    "no iteration": (lambda x: tf.while_loop(lambda y: y[0] > 9.0, lambda y: y * 2.0, [x])[0], lambda x: x),
    "by value": (by_value, None),
    "with a choice": (with_choice, lambda x: np.sin(np.sin(x) * x) * x),
    "limit": (
        lambda x: tf.while_loop(lambda y: True, lambda y: y + x, [x], maximum_iterations=4)[0],
        lambda x: 5 * x,
    ),
    "limit that is a tensor": (
        lambda x: tf.while_loop(lambda y: y[0] < 99.0, lambda y: y + x, [x], maximum_iterations=tf.constant(2))[0],
        lambda x: 3 * x,
    ),
    "limit below 0": (
        lambda x: tf.while_loop(lambda y: y[0] < 99.0, lambda y: y + 1.0, [x], maximum_iterations=-1)[0],
        lambda x: x,
    ),
    "limit 0": (lambda x: tf.while_loop(lambda y: True, lambda y: y + x, [x], maximum_iterations=0)[0], lambda x: x),
    "two that change places": (
        lambda x: tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, a * x), (0, x, x * x))[1:],
        lambda x: (x**3, x**3),
    ),
    "an integer rides along": (
        lambda x: tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 2, y + tf.cast(i, y.dtype)), (0, x)),
        lambda x: (6, x + 6),
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_values(name, mode):
    f, expected = CASES[name]
    wanted = expected(X) if expected is not None else run("eager", f, X)
    for mine, theirs in zip(tf.nest.flatten(run(mode, f, X)), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, mode):
    check_gradients(mode, CASES[name][0], X)


@pytest.mark.parametrize("mode", ["graph", "function"])
def test_second_gradient_by_a_constant(mode):
    """A constant that a loop takes from outside is still something to differentiate by."""

    def second():
        x = tf.constant(X)
        first = tf.gradients(powers(x), x)[0]
        return tf.gradients(first, x)[0]

    np.testing.assert_allclose(run(mode, second), 12 * X**2, rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_structures(mode):
    count, a, b, k = run(mode, structures, X)
    assert count == 3
    np.testing.assert_allclose([a, b, k], [X + 3, X * 8, 3 * X + 3])


FORMS = [
    (lambda c, b, v: tf.while_loop(c, b, v), [0], list),
    (lambda c, b, v: tf.while_loop(c, b, v), (0, 1), tuple),
    (lambda c, b, v: v1.while_loop(c, b, v, return_same_structure=True), [0], list),
    (lambda c, b, v: v1.while_loop(c, b, v), [0], None),
]


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize(("loop", "start", "form"), FORMS)
def test_form_of_the_result(loop, start, form, mode):
    def f():
        found = loop(lambda i, *r: i < 3, lambda i, *r: type(start)([i + 1, *r]), start)
        forms.append(type(found))
        return tf.nest.flatten(found)[0]

    forms = []
    assert run(mode, f) == 3
    assert form is None or set(forms) == {form}


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
def test_shape_invariants(mode):
    def f(x):
        found = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, tf.concat([y, y], 0)),
            (0, x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )[1]
        shapes.append(found.shape.as_list())
        return found

    shapes = []
    np.testing.assert_array_equal(run(mode, f, X), np.tile(X, 8))
    assert shapes[-1] == ([16] if mode == "eager" else [None])
    check_gradients(mode, lambda x: f(x) ** 3, X)


@pytest.mark.parametrize("mode", ["graph", "function"])
def test_back_prop_off(mode):
    def f(x):
        y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x), back_prop=False)[1]
        return [y, *[tf.zeros([]) if g is None else g for g in tf.gradients(y, x)]]

    y, gradient = run(mode, f, X)
    np.testing.assert_allclose(y, X**4)
    assert not np.any(gradient)


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_variables_in_a_loop(mode):
    v = tf.Variable(1.0)

    def f(x):
        def body(i):
            v.assign_add(x)
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [0])
        return v.read_value()

    assert run(mode, f, np.float32(2.0)) == (7.0 if mode == "eager" else 13.0)  # a function is run twice


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
def test_rows_and_sparse_tensors_are_loop_variables(mode):
    def f(x):
        slices = tf.IndexedSlices(x[None], tf.constant([2]), tf.constant([3, 2]))
        sparse = tf.sparse.SparseTensor([[0, 1]], x[:1], [2, 2])
        step = lambda i, a, b: (i + 1, tf.IndexedSlices(a.values * 2, a.indices, a.dense_shape), b)
        _, slices, sparse = tf.while_loop(lambda i, a, b: i < 3, step, (0, slices, sparse))
        return [slices.values, sparse.values]

    values, rest = run(mode, f, X)
    np.testing.assert_allclose(values, [X * 8])
    np.testing.assert_allclose(rest, X[:1])


REFUSED = {
    "dtype": (
        lambda: tf.while_loop(lambda x: x < 10, lambda x: tf.cast(x, tf.float32), [tf.constant(1)]),
        TypeError,
        "enters the loop with type .*int32.* but has type .*float32",
    ),
    "shape": (
        lambda: tf.while_loop(lambda x: tf.size(x) < 9, lambda x: tf.concat([x, x], 0), [tf.constant([1.0])]),
        ValueError,
        r"enters the loop with shape \(1,\), but has shape \(2,\) after one iteration",
    ),
    "structure": (
        lambda: tf.while_loop(lambda x, y: x < 10, lambda x, y: (x + 1,), [tf.constant(1), tf.constant(2)]),
        ValueError,
        "same nested structure",
    ),
    "no variables": (lambda: tf.while_loop(lambda: True, lambda: (), []), ValueError, "'loop_vars' must be provided"),
    "no condition": (lambda: tf.while_loop(3, lambda x: x, [1]), TypeError, "'cond' must be callable"),
    "no body": (lambda: tf.while_loop(lambda x: True, 3, [1]), TypeError, "'body' must be callable"),
    "parallel": (
        lambda: tf.while_loop(lambda x: False, lambda x: x, [1], parallel_iterations=0),
        TypeError,
        "'parallel_iterations' must be a positive integer",
    ),
    "invariants": (
        lambda: tf.while_loop(lambda x: False, lambda x: x, [tf.ones([2])], shape_invariants=[tf.TensorShape([3])]),
        ValueError,
        "not compatible with the initial shape",
    ),
}


@pytest.mark.parametrize("mode", ["graph", "function"])
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, mode):
    f, error, says = REFUSED[name]
    with pytest.raises(error, match=says):
        run(mode, f)


def test_a_loop_that_assigns_to_a_reference_variable():
    with tf.Graph().as_default(), v1.Session() as session:
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer(), use_resource=False)

        def turn(i):
            with tf.control_dependencies([v1.assign_add(total, 1.0)]):
                return i + 1

        loop = v1.while_loop(lambda i: i < 3, turn, [tf.constant(0)])
        session.run(v1.global_variables_initializer())
        for runs in (1, 2, 3):
            session.run(loop)
            assert session.run(total) == 3.0 * runs


def test_a_read_that_is_waited_for_stays_in_the_loop():
    v = tf.Variable(2.0)

    @tf.function
    def times(x, n):
        def turn(i, y):
            read = tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32)
            with tf.control_dependencies([read]):
                return i + 1, tf.identity(y) * v

        return tf.while_loop(lambda i, y: i < n, turn, (0, x))[1]

    for _ in range(3):  # by nodes first, then compiled
        assert times(tf.constant(1.0), tf.constant(3)).numpy() == 8.0


def test_a_sessions_loop_that_reads_a_variable_runs_again_and_again():
    """The Program of a later run takes the variable's value into the loop, where no variable is left to read."""
    with tf.Graph().as_default(), v1.Session() as session:
        times = v1.placeholder(tf.int32, [])
        weights = v1.get_variable("weights", initializer=np.float32([[0.5, 0.25], [0.125, 1.0]]), use_resource=True)
        start = tf.ones([1, 2])
        end = tf.while_loop(lambda i, x: i < times, lambda i, x: (i + 1, tf.matmul(x, weights)), (0, start))[1]
        (slope,) = tf.gradients(tf.reduce_sum(end), weights)
        session.run(v1.global_variables_initializer())
        for count in (1, 2, 3, 2, 1, 40, 40):
            found, by_weights = session.run([end, slope], {times: count})
            w = np.float64([[0.5, 0.25], [0.125, 1.0]])
            powers = [np.linalg.matrix_power(w, i) for i in range(count + 1)]
            np.testing.assert_allclose(found, np.ones((1, 2)) @ powers[-1], rtol=1e-5)
            exact = sum(np.outer(np.ones(2) @ powers[i], powers[count - 1 - i] @ np.ones(2)) for i in range(count))
            np.testing.assert_allclose(by_weights, exact, rtol=1e-4)


STRUCTURES = [  # loop variables, body, what TensorFlow 2.21 gives: by functional control flow, and by that of TF 1
    ([0, 1.0], lambda i, x: (i + 1, x), ["t", "t"], ("t", "t")),
    ((0, 1.0), lambda i, x: [i + 1, x], ("t", "t"), ["t", "t"]),
    ([0], lambda i: i + 1, "t", "t"),
    ((0,), lambda i: [i + 1], "t", "t"),
    ([[0, 1]], lambda i: ([i[0] + 1, i[1]],), [["t", "t"]], (["t", "t"],)),
    ([[0]], lambda i: ([i[0] + 1],), "t", ["t"]),
]


@pytest.mark.parametrize("case", range(len(STRUCTURES)))
@pytest.mark.parametrize("functional", [True, False])
def test_structure_of_what_a_loop_of_a_session_gives(case, functional):
    start, body, *wanted = STRUCTURES[case]
    v1 = tf.compat.v1
    before = v1.control_flow_v2_enabled()
    try:
        (v1.enable_control_flow_v2 if functional else v1.disable_control_flow_v2)()
        with tf.Graph().as_default():
            found = v1.while_loop(lambda i, *_: tf.nest.flatten(i)[0] < 2, body, start)
        assert tf.nest.map_structure(lambda t: "t", found) == wanted[0 if functional else 1]
    finally:
        (v1.enable_control_flow_v2 if before else v1.disable_control_flow_v2)()
