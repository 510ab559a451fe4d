"""Row partitions keep the encodings they were made of; their types know numbers of rows and values; rows travel."""

import pytest

import ebbflow as tf
from ebbflow.core.composite import BatchableTypeSpec
from ebbflow.ops.ragged.partition import RowPartition, RowPartitionSpec

ENCODED = [
    (lambda: RowPartition.from_row_splits([0, 2, 8]), {"row_splits"}),
    (lambda: RowPartition.from_row_lengths([2, 6]), {"row_splits", "row_lengths"}),
    (lambda: RowPartition.from_value_rowids([0, 0, 1]), {"row_splits", "row_lengths", "value_rowids", "nrows"}),
    (lambda: RowPartition.from_row_starts([0, 3], nvals=5), {"row_splits", "nvals"}),
]


@pytest.mark.parametrize(("make", "kept"), ENCODED)
def test_what_it_was_made_of_is_kept(make, kept):
    rows = make()
    words = ("row_splits", "row_lengths", "value_rowids", "nrows", "nvals")
    assert {word for word in words if getattr(rows, f"_has_precomputed_{word}")()} == kept


def test_a_given_tensor_is_given_back():
    lengths = tf.constant([2, 0, 1], tf.int64)
    assert RowPartition.from_row_lengths(lengths).row_lengths() is lengths
    numbers = tf.constant([0, 0, 2], tf.int64)
    assert RowPartition.from_value_rowids(numbers).value_rowids() is numbers


def test_encodings_are_merged_or_refused():
    merged = RowPartition.from_row_splits([0, 3, 8])._merge_precomputed_encodings(RowPartition.from_row_lengths([3, 5]))
    assert merged._has_precomputed_row_lengths()
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible row_splits"):
        RowPartition.from_row_splits([0, 3, 8])._merge_precomputed_encodings(RowPartition.from_row_splits([0, 5, 8]))


def test_types_of_partitions_follow_one_number_from_the_others():
    assert RowPartitionSpec(nrows=5, uniform_row_length=8).nvals == 40
    assert RowPartitionSpec(nvals=20, uniform_row_length=4).nrows == 5
    with pytest.raises(ValueError, match="not compatible"):
        RowPartitionSpec(nvals=11, uniform_row_length=5)
    assert RowPartitionSpec(nvals=12).is_compatible_with(RowPartitionSpec(uniform_row_length=3))
    assert not RowPartitionSpec(nvals=5).is_compatible_with(RowPartitionSpec(uniform_row_length=3))
    wide = RowPartitionSpec(nrows=8, nvals=33).most_specific_compatible_type(RowPartitionSpec(nrows=3, nvals=13))
    assert wide == RowPartitionSpec()


REFUSED = [
    (lambda: RowPartition.from_row_splits([]), ValueError, "may not be empty"),
    (lambda: RowPartition.from_value_rowids([0, 4], nrows=2), ValueError, r"nrows=2, value_rowids\[-1\]=4"),
    (lambda: RowPartition.from_row_lengths([3, -1]), tf.errors.InvalidArgumentError, "from_row_lengths"),
    (lambda: RowPartition.from_uniform_row_length(3, nvals=5), ValueError, "times nrows=1 must equal nvals=5"),
    (lambda: RowPartition(tf.constant([0, 1])), ValueError, "constructor is private"),
    (lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2]), tf.errors.InvalidArgumentError, "there are 3 values"),
    (
        lambda: tf.RaggedTensor.from_nested_row_splits([1], tf.constant([[0, 1]])),
        TypeError,
        "must be a list of Tensors",
    ),
]


@pytest.mark.parametrize(("call", "error", "says"), REFUSED)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_graph_refuses_when_it_runs():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def rows(nvals):
        return RowPartition.from_uniform_row_length(12, nvals=nvals, nrows=3).nvals()

    assert int(rows(36)) == 36
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows(7)


@pytest.mark.parametrize("value", [tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[[1], []], [[2, 3]]])])
def test_ragged_tensors_travel_as_variants(value):
    again = tf.RaggedTensor._from_variant(value._to_variant(), value.dtype, value.ragged_rank)
    assert again.to_list() == value.to_list()
    rows = tf.RaggedTensor._from_variant(value._to_variant(batched_input=True), value.dtype, value.ragged_rank)
    assert rows.to_list() == value.to_list()
    spec = value._type_spec
    assert spec._from_tensor_list(spec._to_tensor_list(value)).to_list() == value.to_list()
    assert spec._batch(4)._unbatch() == spec


class TwoSpec(BatchableTypeSpec):
    """A type of two values, as programs declare them."""

    def __init__(self, x, y, color="red"):
        self.x, self.y, self.color = x, y, color

    value_type = property(lambda self: tuple)
    _component_specs = property(lambda self: (self.x, self.y))

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return tuple(components)

    def _serialize(self):
        return self.x, self.y, self.color


def test_types_of_programs_are_compared_by_what_they_are_made_of():
    narrow, wide = TwoSpec(tf.TensorSpec([3]), tf.TensorSpec([2])), TwoSpec(tf.TensorSpec([None]), tf.TensorSpec(None))
    assert narrow == TwoSpec(tf.TensorSpec([3]), tf.TensorSpec([2])) and hash(narrow) == hash(
        TwoSpec(narrow.x, narrow.y)
    )
    assert narrow.is_subtype_of(wide) and not wide.is_subtype_of(narrow)
    assert narrow.most_specific_common_supertype([TwoSpec(tf.TensorSpec([4]), tf.TensorSpec([2]))]).x.shape == [None]
    assert narrow.most_specific_common_supertype([TwoSpec(narrow.x, narrow.y, "blue")]) is None
    with pytest.raises(ValueError, match="No TypeSpec is compatible"):
        narrow.most_specific_compatible_type(TwoSpec(narrow.x, narrow.y, "blue"))
    ragged = TwoSpec(tf.RaggedTensorSpec([2, None], tf.int32), tf.TensorSpec([2]))
    value = (tf.ragged.constant([[1], [2, 3]]), tf.constant([1.0, 2.0]))
    assert [t.dtype for t in ragged._to_batched_tensor_list(value)] == [tf.variant, tf.float32]
    assert ragged._from_tensor_list(ragged._to_tensor_list(value))[0].to_list() == [[1], [2, 3]]


def test_more_is_learned_of_a_ragged_shape():
    rows = tf.RaggedTensor.from_tensor([[[1], [2], [3]], [[4], [5], [6]]])
    assert rows.shape.as_list() == [2, 3, 1]
    with pytest.raises(ValueError, match="Inconsistent size"):
        rows._set_shape([None, 5, None])
