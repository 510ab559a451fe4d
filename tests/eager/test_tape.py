"""The tape: what it records, what it gives back, and what it says when there is nothing to give."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.eager.functions import gradients_function


def grad(f, *xs, **options):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape(**options) as tape:
        for x in xs:
            tape.watch(x)
        y = f(*xs)
    return tape.gradient(y, xs)


# function, arguments, gradients
RULES = [
    (lambda x: x * x, [3.0], [6.0]),
    (lambda x, y: x * y + x, [2.0, 5.0], [6.0, 2.0]),
    (lambda x: tf.reduce_sum(tf.exp(x)), [[0.0, 1.0]], [[1.0, np.e]]),
    (lambda x, y: tf.reduce_sum(x + y), [[[1.0], [2.0]], [1.0, 2.0, 3.0]], [[[3.0], [3.0]], [2.0, 2.0, 2.0]]),
    (lambda x: tf.stop_gradient(x) * x, [3.0], [3.0]),
    (lambda x: tf.where(x > 0, x, 0.0), [[-1.0, 2.0]], [[0.0, 1.0]]),
]


@pytest.mark.parametrize(("f", "xs", "expected"), RULES)
def test_gradient(f, xs, expected):
    for found, wanted in zip(grad(f, *xs), expected, strict=True):
        np.testing.assert_allclose(found.numpy(), np.array(wanted, np.float32), rtol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_any_order(order):
    x = tf.constant(1.5)

    def derivative(n):
        if n == 0:
            return x**5
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(n - 1)
        return tape.gradient(y, x)

    falling = np.prod([5 - i for i in range(order)])
    np.testing.assert_allclose(derivative(order).numpy(), falling * 1.5 ** (5 - order), rtol=1e-5)


def test_structures_of_sources_and_targets():
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch({"a": a, "b": [b]})
        targets = (a * b, b * b)
    found = tape.gradient(targets, {"a": a, "b": [b]})
    assert found["a"].numpy() == 3.0 and found["b"][0].numpy() == 8.0


def test_output_gradients_weigh_the_targets():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0])).numpy().tolist() == [20.0, 400.0]


def test_a_tape_is_used_once_unless_persistent():
    x = tf.constant(2.0)
    for persistent in (False, True):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x * x
        assert tape.gradient(y, x).numpy() == 4.0
        if persistent:
            assert tape.gradient(y * 1.0, x) is None
            assert tape.gradient(y, x).numpy() == 4.0
        else:
            with pytest.raises(RuntimeError, match="non-persistent"):
                tape.gradient(y, x)


def test_unconnected():
    x, z = tf.constant(2.0), tf.constant([1.0, 2.0])
    for mode, wanted in (
        (tf.UnconnectedGradients.NONE, None),
        (tf.UnconnectedGradients.ZERO, [0.0, 0.0]),
        ("zero", [0.0, 0.0]),
    ):
        with tf.GradientTape() as tape:
            tape.watch([x, z])
            y = x * x
        found = tape.gradient(y, z, unconnected_gradients=mode)
        assert found is None if wanted is None else found.numpy().tolist() == wanted


def test_stop_recording_and_reset():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tape.stop_recording():
            hidden = x * 5.0
        y = x * hidden
        assert tape.gradient(y, x).numpy() == 10.0
        tape.reset()
        tape.watch(x)
        z = x * x
    assert tape.gradient(z, x).numpy() == 4.0
    assert tape.gradient(y, x) is None


def test_variables_are_watched_when_read():
    v, w = tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * w
    assert tape.watched_variables() == (v,) or tape.watched_variables()[0] is v
    assert tape.gradient(y, [v, w])[0].numpy() == 24.0
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert tape.gradient(y, w).numpy() == 3.0


def test_a_target_may_be_a_variable_itself():
    with tf.GradientTape() as tape:
        v = tf.Variable([1.0, 2.0])
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        assert tape.gradient([v, y], v).numpy().tolist() == [3.0, 5.0]
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]


def test_gathered_rows_come_as_slices():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 0, 2]))
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert tf.convert_to_tensor(found).numpy().tolist() == [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]


def test_jacobians():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    found = tape.jacobian(y, x).numpy()
    assert found.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(found.reshape(4, 4), np.diag([2.0, 4.0, 6.0, 8.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=1, keepdims=True)
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), [[[2.0, 4.0]], [[6.0, 8.0]]])


def test_ten_thousand_ops_need_no_recursion():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(10_000):
            y = y + x
    assert tape.gradient(y, x).numpy() == 10_001.0


def test_threads_do_not_hear_each_other():
    x = tf.constant(2.0)
    found = {}

    def work(n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(50):
                y = y * float(n)
        found[n] = tape.gradient(y, x).numpy()

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 0)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {1: 1.0, 0: 0.0}


def test_tape_in_a_graph():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        found = tape.gradient(y, x)
        assert tf.compat.v1.Session().run(found, {x: 2.0}) == 12.0


# what stands between, words of the explanation
EXPLAINED = [
    (lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32), "through Cast to int32"),
    (lambda x: tf.stop_gradient(x) * 2.0, "behind a stop_gradient"),
    (lambda x: tf.constant(1.0), "never used"),
    (lambda x: x * x, "is not None"),
    (lambda x: tf.constant(x.numpy()) * 2.0 + 0.0 * tf.cast(x > 0, tf.float32), "Greater"),
]


@pytest.mark.parametrize(("f", "words"), EXPLAINED)
def test_explain_says_where_the_way_breaks(f, words):
    x = tf.Variable(1.5)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        if "never" not in words:
            tape.watch(x)
    if words != "never used":
        assert words in tape.explain(y, x)
        if "is not None" not in words:
            assert tape.gradient(y, x) is None
            assert "test_tape.py:" in tape.explain(y, x)
    else:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        assert words in tape.explain(y, x)


# Many ways from x under one tape, all but one leading elsewhere: each target has its own reason.
REASONS = {
    "cast": "through Cast to int32",
    "stopped": "behind a stop_gradient",
    "stopped, far on": "behind a stop_gradient",
    "argmax": "through ArgMax to int64",
    "round": "Round at",
    "another": "made from other values than the source, by Mul at",
    "constant": "made outside the tape",
    "numpy": "made outside the tape",
    "flows": "is not None",
    "both": "behind a stop_gradient",
}


def test_each_target_has_its_own_reason():
    x, z = tf.Variable(1.5), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        made = {
            "cast": tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0,
            "stopped": tf.stop_gradient(x),
            "argmax": tf.argmax([x, z]),
            "round": tf.round(x) + 1.0,
            "another": z * 2.0,
            "constant": tf.constant(3.0) * 2.0,
            "numpy": tf.constant(x.numpy()) * 2.0,
            "flows": x * 2.0,
        }
        made["stopped, far on"] = tf.exp(made["stopped"] + 1.0) * tf.constant(2.0)
        made["both"] = made["stopped, far on"] * z
    for name, words in REASONS.items():
        assert words in tape.explain(made[name], x), name
        assert (tape.gradient(made[name], x) is None) == (name != "flows")


def test_a_used_tape_cannot_explain():
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x)
    assert tape.gradient(y, x) is None and "persistent=True" in tape.explain(y, x)


def test_the_trail_keeps_nothing_alive():
    x = tf.Variable(tf.ones([10]))
    with tf.GradientTape():
        y = tf.stop_gradient(x.read_value())
        z = weakref.ref(y * 2.0)
    assert z() is None


def test_explain_knows_what_was_made_outside():
    x = tf.Variable(1.5)
    y = x * 2.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        x * 3.0
    assert "made outside the tape" in tape.explain(y, x)


# wrong use, error, words
REFUSED = [
    (lambda t: t.watch("x"), ValueError, "not tf.Tensor"),
    (lambda t: t.gradient(tf.constant(1.0), 3), ValueError, "to differentiate by"),
    (
        lambda t: t.gradient(tf.constant(1.0), tf.constant(1.0), unconnected_gradients="some"),
        ValueError,
        "some",
    ),
    (lambda t: t.__enter__(), ValueError, "still recording"),
]


@pytest.mark.parametrize(("use", "error", "words"), REFUSED)
def test_wrong_use(use, error, words):
    with tf.GradientTape(persistent=True) as tape, pytest.raises(error, match=words):
        use(tape)


def test_watched_variables_come_in_the_order_they_were_made():
    first, second, third = (tf.Variable(float(i)) for i in range(3))
    with tf.GradientTape() as tape:
        _ = third * second + first
    assert [v.ref() for v in tape.watched_variables()] == [v.ref() for v in (first, second, third)]


@pytest.mark.parametrize("taken", [True, False])
def test_forward_mode_goes_through_choices_and_loops_of_a_function(taken):
    @tf.function
    def choice(k, y):
        with tf.autodiff.ForwardAccumulator(y, 1.0) as acc:
            result = tf.cond(k, lambda: y * 3.0, lambda: 0.0)
        return acc.jvp(result)

    @tf.function
    def loop(turns, y):
        with tf.autodiff.ForwardAccumulator(y, 1.0) as acc:
            result = 0.0
            for i in tf.range(turns):
                result += y * tf.cast(i, tf.float32)
        return acc.jvp(result)

    y = tf.constant(1.0)
    assert float(choice(tf.constant(taken), y)) == (3.0 if taken else 0.0)
    assert float(loop(tf.constant(5 if taken else 0), y)) == (10.0 if taken else 0.0)


def test_a_used_tape_says_so_whatever_it_is_asked_for():
    with tf.GradientTape() as tape:
        x = tf.constant([[3.0]])
        tape.watch(x)
        y = x * x
    tape.batch_jacobian(y, x)
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only"):
        tape.batch_jacobian(y, [x])


def test_device_blocks_must_be_left_in_order():
    outer = tf.device("/CPU:0")
    outer.__enter__()
    with tf.device(None), pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)


def test_a_tape_that_gives_one_gradient_gives_no_parallel_jacobian_in_a_graph():
    def jacobian(persistent):
        with tf.GradientTape(persistent=persistent) as tape:
            x = tf.constant([[3.0]])
            tape.watch(x)
            y = tf.tile(x * x, [1, 4])
        return tape.batch_jacobian(y, x, parallel_iterations=8)

    assert tf.function(jacobian)(True).shape == (1, 4, 1)
    with pytest.raises(RuntimeError, match=r"persistent=True.*parallel_iterations"):
        tf.function(jacobian)(False)


def test_a_list_of_numbers_is_one_argument_to_differentiate_by():

    (gradient,) = gradients_function(lambda x: tf.reduce_sum(x * x))([1.0, 2.0])
    assert gradient.numpy().tolist() == [2.0, 4.0]
    assert gradients_function(lambda x: tf.stop_gradient(tf.argmax(x)))([0.0]) == [None]


@pytest.mark.parametrize("rows", [1, 3])
def test_jacobians_of_batches_whose_size_the_run_knows(rows):
    v, apart = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable(1.0)

    def jacobians(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.matmul(x, v) ** 2
        return tape.jacobian(y, [x, v, apart], unconnected_gradients="zero"), tape.batch_jacobian(y, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])[:rows]
    traced = tf.function(jacobians, input_signature=[tf.TensorSpec([None, 2])])(x)
    for found, wanted in zip(tf.nest.flatten(traced), tf.nest.flatten(jacobians(x)), strict=True):
        np.testing.assert_allclose(found, wanted)


def test_batch_jacobians_at_the_edges():
    with tf.GradientTape(persistent=True) as tape:
        x, empty = tf.constant([[1.0, 2.0]]), tf.zeros([1, 0])
        tape.watch([x, empty])
        y, other, none = x * x, tf.constant([[1.0]]), empty * 2.0
    assert tape.batch_jacobian(other, x).numpy().tolist() == [[[0.0, 0.0]]]
    assert tape.batch_jacobian(none, empty).shape == (1, 0, 0)
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(y[0], x)


def test_a_variable_is_differentiated_by_itself():
    v = [tf.Variable(2.0), tf.Variable(5.0)]
    with tf.GradientTape() as tape:
        largest = max(v)
    assert [None if g is None else float(g) for g in tape.gradient(largest, v)] == [None, 1.0]
