"""Helpers of `tf.contrib.framework`: expected shapes, sums, conditions that are known, graphs of inputs."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import shape_checks

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), v1.Session() as opened:
        yield opened


def test_a_shape_that_is_known_is_checked_at_once():
    tensor = tf.constant([[1.0, 2.0]])
    assert shape_checks.with_shape([1, 2], tensor) is tensor
    assert shape_checks.with_shape(tf.TensorShape([None, 2]), tensor) is tensor
    assert shape_checks.with_same_shape(tf.zeros([1, 2]), tensor) is tensor
    with pytest.raises(ValueError, match="Wrong shape for Const:0"):
        shape_checks.with_shape([2, 1], tensor)
    with pytest.raises(ValueError, match="Invalid rank 2"):
        shape_checks.with_shape([[1], [2]], tensor)
    with pytest.raises(ValueError, match="Invalid dtype"):
        shape_checks.with_shape([1.5], tensor)


def test_a_shape_that_is_not_known_is_checked_in_the_run(session):
    given, other = v1.placeholder(tf.float32), v1.placeholder(tf.float32)
    fixed = shape_checks.with_shape([2], given)
    assert fixed.shape.as_list() == [2]
    for checked in (
        fixed,
        shape_checks.with_shape(tf.constant([2]), given),
        shape_checks.with_same_shape(other, given),
    ):
        feeds = {other: np.ones(2)}
        assert session.run(checked, {given: [1.0, 2.0], **feeds}).tolist() == [1.0, 2.0]
        for wrong in ([1.0], [[1.0, 2.0]], np.ones([2, 2]), np.ones([2, 2, 2])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
                session.run(checked, {given: wrong, **feeds})
    sparse = v1.sparse_placeholder(tf.float32)
    value = v1.SparseTensorValue([[0]], [1.0], [3])
    assert session.run(shape_checks.with_shape([3], sparse), {sparse: value}).dense_shape.tolist() == [3]
    for wrong in ([4], [3, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            session.run(shape_checks.with_shape(wrong, sparse), {sparse: value})


def test_scalars_sums_and_squeezed_axes(session):
    assert session.run(shape_checks.assert_scalar_int(3)) == 3
    with pytest.raises(ValueError, match="Expected integer"):
        shape_checks.assert_scalar_int(3.0)
    with pytest.raises(ValueError, match="Expected scalar"):
        shape_checks.assert_scalar_int([3])
    assert session.run(shape_checks.reduce_sum_n([[1, 2], [[3]]])) == 6
    predictions, labels = shape_checks.remove_squeezable_dimensions(tf.zeros([3, 1]), tf.ones([3]))
    assert [predictions.shape.as_list(), labels.shape.as_list()] == [[3], [3]]
    v = v1.get_variable("v", [2])
    session.run(shape_checks.zero_initializer(v))
    assert session.run(v).tolist() == [0.0, 0.0]


def test_conditions_that_are_known_call_one_function():
    called = []
    pairs = [(tf.constant(False), lambda: called.append("a")), (True, lambda: called.append("b"))]
    shape_checks.smart_case(pairs, exclusive=True)
    shape_checks.smart_case([(False, lambda: called.append("a"))], default=lambda: called.append("default"))
    assert called == ["b", "default"]
    assert shape_checks.smart_constant_value(v1.placeholder(tf.bool, [])) is None
    with pytest.raises(TypeError, match="`pred` must be a Tensor"):
        shape_checks.smart_constant_value("yes")


def test_conditions_of_a_run_choose_in_the_graph(session):
    flag = v1.placeholder(tf.bool, [])
    chosen = shape_checks.smart_case([(flag, lambda: tf.constant(1))], default=lambda: tf.constant(2))
    assert [session.run(chosen, {flag: value}) for value in (True, False)] == [1, 2]


def test_the_graph_of_inputs():
    x = v1.placeholder(tf.float32)
    assert shape_checks.get_graph_from_inputs([x, 3]) is x.graph
    assert shape_checks.get_placeholders(x.graph) == [x]
    with pytest.raises(ValueError, match="is not from the passed-in graph"):
        shape_checks.get_graph_from_inputs([x], graph=tf.Graph())
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be from the same graph as"):
        shape_checks.get_graph_from_inputs([x, v1.placeholder(tf.float32)])


def test_what_cannot_come_is_not_made():
    def never():
        raise RuntimeError("made")

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [])
        pairs = [(x > 1, lambda: tf.constant(1)), (False, never), (True, lambda: tf.constant(3))]
        found = shape_checks.smart_case(pairs, default=never)
        assert [session.run(found, {x: value}) for value in (2, 0)] == [1, 3]
