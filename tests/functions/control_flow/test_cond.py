"""Choosing by value in graphs: values, gradients, nesting, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.control_flow.cond import cond

v1 = tf.compat.v1


def run(fetches, feeds):
    return tf.compat.v1.Session().run(fetches, feeds)


@pytest.mark.parametrize("flag", [True, False])
def test_value_and_gradients_of_the_branch_taken(flag):
    with tf.Graph().as_default():
        p, x = tf.compat.v1.placeholder(tf.bool, []), tf.compat.v1.placeholder(tf.float32, [])
        w = tf.constant(3.0)
        y = cond(p, lambda: tf.tanh(x) * w * w, lambda: x * 2.0 + w)
        first = tf.gradients(y, [x, w])
        second = tf.gradients(first[0], [x])
        got = run([y, *first, *second], {p: flag, x: 0.5})
    t = np.tanh(0.5)
    expected = [9 * t, 9 * (1 - t * t), 6 * t, -18 * t * (1 - t * t)] if flag else [4.0, 2.0, 1.0, 0.0]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_only_the_branch_taken_runs():
    with tf.Graph().as_default():
        p = tf.compat.v1.placeholder(tf.bool, [])
        v = tf.Variable(1.0, name="v")
        y = cond(p, lambda: v.assign_add(10.0).value(), lambda: v.assign_add(100.0).value())
        with tf.compat.v1.Session() as sess:
            sess.run(v.initializer)
            assert [sess.run(y, {p: f}) for f in (True, False, True)] == [11.0, 111.0, 121.0]


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(True, True, 1.0), (True, False, 2.0), (False, True, 3.0), (False, False, 3.0)]
)
def test_nested(a, b, expected):
    with tf.Graph().as_default():
        p, q = tf.compat.v1.placeholder(tf.bool, []), tf.compat.v1.placeholder(tf.bool, [])
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = cond(p, lambda: cond(q, lambda: x, lambda: 2.0 * x), lambda: 3.0 * x)
        (g,) = tf.gradients(y, [x])
        assert run([y, g], {p: a, q: b, x: 1.0}) == [expected, expected]


def test_structures():
    with tf.Graph().as_default():
        p = tf.compat.v1.placeholder(tf.bool, [])
        got = cond(p, lambda: {"a": 1.0, "b": (2, 3)}, lambda: {"a": 4.0, "b": (5, 6)})
        assert run(got, {p: False}) == {"a": 4.0, "b": (5, 6)}


REFUSED = [
    (lambda: 1.0, lambda: 1, "float32 in true_fn and int32 in false_fn"),
    (lambda: (1.0, 2.0), lambda: 1.0, "structure"),
    (1.0, lambda: 1.0, "callable"),
]


@pytest.mark.parametrize(("true_fn", "false_fn", "words"), REFUSED)
def test_refusals(true_fn, false_fn, words):
    with tf.Graph().as_default(), pytest.raises(TypeError, match=words):
        cond(tf.compat.v1.placeholder(tf.bool, []), true_fn, false_fn)


def test_eagerly_the_function_is_called():
    assert cond(tf.constant(False), lambda: 1, lambda: 2) == 2


def test_rows_of_tensors_get_indices_of_one_kind():
    def rows(kind):
        return lambda: tf.IndexedSlices(tf.constant([10]), tf.constant([0], kind))

    @tf.function
    def chosen(condition):
        found = tf.cond(condition, rows(tf.int32), rows(tf.int64))
        assert found.indices.dtype == tf.int64
        return found

    assert chosen(tf.constant(True)).indices.numpy().tolist() == [0]
    with pytest.raises(TypeError, match=r"Cannot reconcile tf\.cond 0-th outputs"):
        tf.function(lambda c: tf.cond(c, rows(tf.int32), lambda: tf.constant([1])))(tf.constant(True))


def test_a_branch_does_not_see_what_another_makes():
    kept = []

    def true_fn():
        kept.append(tf.constant(1.0, name="inside"))
        return kept[0]

    with pytest.raises(ValueError, match="Tensor cond/inside:0 in true_fn is accessed from false_fn"):
        tf.function(lambda c: tf.cond(c, true_fn, lambda: tf.identity(kept[0])))(tf.constant(True))


@pytest.mark.parametrize(
    "choose",
    [
        lambda one, other: tf.compat.v1.cond(tf.constant(True), one, other),
        lambda one, other: tf.switch_case(tf.constant(0), [one, other]),
    ],
    ids=["cond", "switch_case"],
)
def test_a_session_does_in_a_branch_only_what_its_fetch_waits_for(choose):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        count = tf.compat.v1.get_variable("count", initializer=0.0, use_resource=True)
        outputs = choose(lambda: (count.assign_add(1.0) * 2.0, 5.0), lambda: (0.0, 0.0))
        session.run(count.initializer)
        assert session.run(outputs[1]) == 5.0 and session.run(count) == 0.0
        assert session.run(outputs[0]) == 2.0 and session.run(count) == 1.0


def test_a_branch_that_is_never_taken_may_not_fit_what_comes_from_outside():
    """What enters a branch has a shape there and no value: a wrong one is an error for whoever takes the branch."""
    with tf.Graph().as_default(), v1.Session() as session:
        masks, size = tf.ones([15, 60, 40]), tf.constant([50, 100])
        taken = v1.placeholder_with_default(False, [])
        none = v1.cond(taken, lambda: tf.reshape(masks, [-1, size[0], size[1]]), lambda: tf.zeros([0, 50, 100]))
        assert session.run(none).shape == (0, 50, 100)
        with pytest.raises(tf.errors.InvalidArgumentError, match="36000 values"):
            session.run(none, {taken: True})
        with pytest.raises(ValueError, match="evenly divisible by 5000 but is 36000"):
            v1.cond(taken, lambda: tf.reshape(masks, [-1, 50, 100]), lambda: tf.zeros([0, 50, 100]))


def test_the_only_case_there_is_may_exclude_others():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [])
        found = tf.compat.v1.case([(tf.equal(x, 1), lambda: tf.constant(2))], exclusive=True)
        assert session.run(found, {x: 1}) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
            session.run(found, {x: 4})
