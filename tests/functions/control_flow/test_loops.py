"""`map_fn`, `scan`, `foldl`, `foldr` and `switch_case` in every way they can be run, with gradients and refusals."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.control_flow.tensor_array import TensorArraySpec
from tests.functions.modes import MODES, check_gradients, run

X = np.array([[0.3, 0.7], [-0.2, 0.5], [0.9, -0.4]])
Y = np.array([1.0, -2.0, 0.5])


def scanned(f, xs, start=None):
    found = [xs[0] if start is None else f(start, xs[0])]
    for x in xs[1:]:
        found.append(f(found[-1], x))
    return np.stack(found)


CASES = {
    "map": (lambda x, y: tf.map_fn(lambda v: v * v, x), lambda x, y: x * x),
    "map of several": (
        lambda x, y: tf.map_fn(lambda t: (t[0] * t[1], t[1]), (x, y)),
        lambda x, y: (x * y[:, None], y),
    ),
    "map with a signature": (
        lambda x, y: tf.map_fn(lambda v: tf.reduce_sum(v), x, fn_output_signature=tf.TensorSpec([], tf.float64)),
        lambda x, y: x.sum(1),
    ),
    "map to more": (
        lambda x, y: tf.map_fn(lambda v: {"a": v, "b": v[0]}, x, dtype={"a": tf.float64, "b": tf.float64}),
        lambda x, y: {"a": x, "b": x[:, 0]},
    ),
    "map in map": (lambda x, y: tf.map_fn(lambda r: tf.map_fn(lambda v: v**3, r), x), lambda x, y: x**3),
    "map with what is around": (lambda x, y: tf.map_fn(lambda v: v * x[0, 0], y), lambda x, y: y * x[0, 0]),
    "scan": (
        lambda x, y: tf.scan(lambda a, v: a * v + tf.sin(a), x),
        lambda x, y: scanned(lambda a, v: a * v + np.sin(a), x),
    ),
    "scan from a start": (
        lambda x, y: tf.scan(lambda a, v: a + v * x[0, 0], y, initializer=tf.constant(1.0, tf.float64)),
        lambda x, y: 1 + np.cumsum(y * x[0, 0]),
    ),
    "scan in reverse": (
        lambda x, y: tf.scan(lambda a, v: a + v, y, reverse=True),
        lambda x, y: np.cumsum(y[::-1])[::-1],
    ),
    "scan of several": (
        lambda x, y: tf.scan(lambda a, e: (a[0] + e[0], a[1] * e[1]), (x, y)),
        lambda x, y: (np.cumsum(x, 0), np.cumprod(y)),
    ),
    "scan with another state": (
        lambda x, y: tf.scan(lambda a, v: (a[0] + 1.0, a[1] * v), y, initializer=(y[0], y[1])),
        lambda x, y: (y[0] + np.arange(1.0, 4.0), y[1] * np.cumprod(y)),
    ),
    "foldl": (
        lambda x, y: tf.foldl(lambda a, v: a * v + v * v, y),
        lambda x, y: functools.reduce(lambda a, v: a * v + v * v, y),
    ),
    "foldr": (
        lambda x, y: tf.foldr(lambda a, v: a * v + v * v, y, initializer=x[0, 0]),
        lambda x, y: functools.reduce(lambda a, v: a * v + v * v, y[::-1], x[0, 0]),
    ),
    "foldl of several": (
        lambda x, y: tf.foldl(lambda a, e: a + e[0] * e[1], (x, y), initializer=tf.zeros([2], tf.float64)),
        lambda x, y: y @ x,
    ),
    "switch_case": (
        lambda x, y: tf.switch_case(tf.constant(1), [lambda: x, lambda: x * x, lambda: -x]),
        lambda x, y: x * x,
    ),
    "switch_case beyond": (
        lambda x, y: tf.switch_case(tf.constant(7), {0: lambda: x, 1: lambda: x * x}, default=lambda: -x),
        lambda x, y: -x,
    ),
    "switch_case by a value": (
        lambda x, y: tf.switch_case(tf.cast(y[0] + 0.5, tf.int32), [lambda: x, lambda: x * y[0] ** 2]),
        lambda x, y: x * y[0] ** 2,
    ),
    "case": (
        lambda x, y: tf.case([(y[0] > 5.0, lambda: x), (y[1] < 0.0, lambda: x**3)], default=lambda: -x),
        lambda x, y: x**3,
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_values(name, mode):
    f, expected = CASES[name]
    mine, theirs = run(mode, f, X, Y), expected(X, Y)
    tf.nest.assert_same_structure(mine, theirs)
    for a, b in zip(tf.nest.flatten(mine), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, mode):
    check_gradients(mode, CASES[name][0], X, Y)


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
def test_no_rows(mode):
    found = run(mode, lambda x: [tf.map_fn(lambda v: v * 2.0, x), tf.shape(x)], np.zeros([0, 3], np.float32))
    assert found[0].size == 0


REFUSED = {
    "map scalar": (lambda: tf.map_fn(lambda t: t, tf.constant(1.0)), ValueError, "1\\+ dimensional"),
    "map lengths": (
        lambda: tf.map_fn(lambda t: t[0], (tf.ones([2]), tf.ones([3])), fn_output_signature=tf.float32),
        ValueError,
        "not compatible",
    ),
    "map dtype": (
        lambda: tf.map_fn(lambda t: tf.cast(t, tf.int32), tf.ones([2])),
        tf.errors.InvalidArgumentError,
        "TensorArray dtype is float32 but Op is trying to write dtype int32",
    ),
    "map structure": (lambda: tf.map_fn(lambda t: (t, t), tf.ones([2])), ValueError, "same nested structure"),
    "map nothing": (lambda: tf.map_fn(lambda t: t, []), ValueError, "does not contain any Tensors"),
    "map no function": (lambda: tf.map_fn(3, tf.ones([2])), TypeError, "not callable"),
    "scan structure": (lambda: tf.scan(lambda a, e: (a, e), tf.ones([2])), ValueError, "same nested structure"),
    "scan no function": (lambda: tf.scan(3, tf.ones([2])), TypeError, "not callable"),
    "foldl nothing": (lambda: tf.foldl(lambda a, e: a + e, tf.zeros([0])), ValueError, "needs an initializer"),
    "switch index": (lambda: tf.switch_case(tf.constant(1.0), [lambda: 1]), TypeError, "must be an integer"),
    "switch keys": (
        lambda: tf.switch_case(tf.constant(1), {0: lambda: 1, 5: lambda: 2}),
        ValueError,
        "contiguous range",
    ),
    "case no tensor": (lambda: tf.case([(1, lambda: 1)]), TypeError, "pred must be a Tensor"),
    "case none": (
        lambda: tf.case([(tf.constant(False), lambda: tf.constant(1)), (tf.constant(False), lambda: tf.constant(2))]),
        tf.errors.InvalidArgumentError,
        "None of conditions evaluated as True",
    ),
}


@pytest.mark.parametrize("mode", ["eager", "graph", "function"])
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, mode):
    f, error, says = REFUSED[name]
    with pytest.raises(error, match=says):
        run(mode, f)


@pytest.mark.parametrize("loop", [tf.map_fn, lambda f, x: tf.scan(lambda a, b: a + b, x)], ids=["map_fn", "scan"])
def test_eager_loops_do_not_take_their_arrays_apart_in_every_turn(monkeypatch, loop):
    """Taking apart costs as much as there is in an array: in every turn it would cost the square of the rows."""
    taken = []
    apart = TensorArraySpec._to_components
    monkeypatch.setattr(TensorArraySpec, "_to_components", lambda self, value: taken.append(1) or apart(self, value))
    counts = []
    for rows in (5, 50):
        taken.clear()
        loop(lambda x: x * 2.0, tf.range(float(rows)))
        counts.append(len(taken))
    assert counts[0] == counts[1]


def away_from_zero(x, y=0):
    if x + y > 0:
        return x + y
    return -(x + y)


@pytest.mark.parametrize(
    "loop, wanted",
    [
        (lambda x: tf.map_fn(away_from_zero, x), [1, 2, 3]),
        (lambda x: tf.vectorized_map(away_from_zero, x), [1, 2, 3]),
        (lambda x: tf.scan(away_from_zero, x), [1, 1, 4]),
        (lambda x: tf.foldl(away_from_zero, x), 4),
        (lambda x: tf.foldr(away_from_zero, x), 2),
    ],
)
def test_a_function_given_to_a_loop_is_converted_where_its_caller_is(loop, wanted):
    rows = tf.constant([1, -2, 3])
    with pytest.raises(TypeError, match="not allowed"):
        tf.function(loop, autograph=False)(rows)
    assert tf.function(loop)(rows).numpy().tolist() == wanted
