"""The type of ragged shapes: what one part knows follows for the others."""

import pytest

import ebbflow as tf
from ebbflow.ops.ragged.partition import RowPartitionSpec as Rows

Spec = tf.experimental.DynamicRaggedShape.Spec


def test_what_follows():
    spec = Spec([Rows(nrows=6), Rows(nrows=60, uniform_row_length=2)], [None, 4], tf.int64)
    assert (spec._row_partitions[0].nvals, spec._row_partitions[1].nvals) == (60, 120)
    assert spec._static_inner_shape.as_list() == [120, 4]
    assert spec._to_tensor_shape().as_list() == [6, None, 2, 4]
    assert [spec._num_slices_in_dimension(axis) for axis in range(4)] == [6, 60, 120, 480]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: Spec([Rows(nrows=3, uniform_row_length=4)], [11], tf.int64),
            ValueError,
            "12 and 11 are not compatible",
        ),
        (lambda: Spec([Rows()], [], tf.int64), ValueError, "inner_rank > 0"),
        (lambda: Spec([1], [2], tf.int64), TypeError, "RowPartitionSpecs"),
        (lambda: Spec([Rows()], [None], tf.int32), ValueError, "expected tf.int32"),
        (lambda: Spec([], [], tf.float32), ValueError, "int32 or tf.int64"),
        (lambda: Spec._from_tensor_shape([1, 2], 2, tf.int64), ValueError, "less than rank"),
        (lambda: Spec._from_tensor_shape([1, 2], 0, tf.int64)._dimension(2), ValueError, "out of range: 2"),
    ],
)
def test_what_is_no_type(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_of_other_specs():
    ragged = Spec._from_spec(tf.RaggedTensorSpec([2, None, 5], tf.int32, ragged_rank=1))
    assert repr(ragged) == (
        "DynamicRaggedShape.Spec(row_partitions=(RowPartitionSpec(nrows=2, nvals=None, uniform_row_length=None, "
        "dtype=tf.int64),), static_inner_shape=TensorShape([None, 5]), dtype=tf.int64)"
    )
    assert ragged._with_num_row_partitions(2)._static_inner_shape.as_list() == [None]
    assert ragged._truncate(2)._to_tensor_shape().as_list() == [2, None]
    assert Spec._from_spec(tf.TensorSpec([3, 4]))._merge_with(
        Spec._from_tensor_shape([None, 4], 1, tf.int64)
    )._to_tensor_shape().as_list() == [3, 4]
