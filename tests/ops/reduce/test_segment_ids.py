"""Numbers of segments that are not sorted or do not fit are refused in TensorFlow's words."""

import pytest

import ebbflow as tf

WRONG = [
    ([0, 1, 2, 0], r"Segment id 1 out of range \[0, 1\), possibly because"),
    ([0, 0, 0, -1], "segment ids must be >= 0"),
    ([-1, 0, 1, 1], r"Segment id -1 out of range \[0, 2\), possibly because"),
    ([0, 1, 0, 1], "segment ids are not increasing"),
]


@pytest.mark.parametrize(("ids", "says"), WRONG)
def test_sorted_segments(ids, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.math.segment_sum(tf.ones([4, 2]), ids)


GRADIENT = [
    ([0, 1, 1, 4], 3, "Invalid number of segments"),
    ([0, 1, 2, 0], 1, r"Segment id 1 out of range \[0, 1\)"),
    ([-1, 0, 1, 1], 2, r"Segment id -1 out of range \[0, 2\)"),
]


@pytest.mark.parametrize(("ids", "rows", "says"), GRADIENT)
def test_gradients_of_sparse_segments(ids, rows, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.raw_ops.SparseSegmentSumGrad(grad=tf.ones([rows, 4]), indices=[8, 3, 0, 9], segment_ids=ids, output_dim0=10)
