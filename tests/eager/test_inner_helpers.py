"""Functions that programs reach by inner paths of TensorFlow."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.eager import inner_helpers
from ebbflow.eager.tape import should_record_backprop


def test_sum_of_rows_and_tensors():
    rows = inner_helpers.as_indexed_slices(tf.constant([[1.0], [0.0], [3.0]]))
    total = inner_helpers.aggregate_indexed_slices([rows, None, tf.constant([[0.0], [5.0], [7.0]])])
    assert isinstance(total, tf.IndexedSlices)
    assert tf.convert_to_tensor(total).numpy().tolist() == [[1.0], [5.0], [10.0]]
    assert inner_helpers.aggregate_indexed_slices([None, rows]) is rows
    with pytest.raises(TypeError, match="Not a Tensor or IndexedSlices"):
        inner_helpers.as_indexed_slices([1.0])


def test_gradient_function_of_a_node():
    rule = tf.RegisterGradient("test_inner_helpers_rule")(lambda op, grad: grad)
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        with graph.gradient_override_map({"Neg": "test_inner_helpers_rule"}):
            mapped = tf.negative(x)
        with graph.gradient_override_map({"Neg": "test_inner_helpers_no_rule"}):
            unknown = tf.negative(x)
        assert inner_helpers.get_gradient_function(mapped.op) is rule
        assert inner_helpers.get_gradient_function(x.op) is None
        with pytest.raises(LookupError, match="test_inner_helpers_no_rule"):
            inner_helpers.get_gradient_function(unknown.op)


@pytest.mark.parametrize(
    ("tensors", "axis", "error", "says"),
    [
        (lambda t: [t, "abc"], 0, TypeError, 'element 1 has type "str"'),
        (lambda t: t, 0, TypeError, "must be a list or a tuple"),
        (lambda t: [t], -2, ValueError, "must be non-negative. Got -2"),
        (lambda t: [t], 1, IndexError, r"Slice dimension \(1\) must be smaller .* index 0 has rank 1"),
    ],
)
def test_refused_shape_slices(tensors, axis, error, says):
    with pytest.raises(error, match=says):
        inner_helpers.tensor_shape_slice(tensors(tf.constant([1, 2])), axis)


def test_whether_a_tape_would_note_an_op():
    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, 1.0), tf.GradientTape() as tape:
        before = should_record_backprop([x])
        tape.watch(x)
        assert not before and should_record_backprop([x])
        with tape.stop_recording():
            assert not should_record_backprop([x])
