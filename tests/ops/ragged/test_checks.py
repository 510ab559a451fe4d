"""Parts that make no ragged tensor are refused, at once and when a graph runs."""

import pytest

import ebbflow as tf
from ebbflow.ops.ragged.rows import boolean_mask

VALUES = [1, 2, 3, 4, 5]
WRONG = {
    "splits fall": lambda: tf.RaggedTensor.from_row_splits(VALUES, [0, 5, 2]),
    "splits begin late": lambda: tf.RaggedTensor.from_row_splits(VALUES, [1, 5]),
    "splits end early": lambda: tf.RaggedTensor.from_row_splits(VALUES, [0, 2]),
    "lengths too long": lambda: tf.RaggedTensor.from_row_lengths(VALUES, [0, 6]),
    "a length below zero": lambda: tf.RaggedTensor.from_row_lengths(VALUES, [-1, 6]),
    "rows fall": lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [2, 1, 0]),
    "a row below zero": lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [-1, 0, 1]),
    "rows beyond the last": lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 5], nrows=3),
    "more rows beside": lambda: tf.concat([tf.ragged.constant([[1], [2]]), tf.ragged.constant([[1], [2], [3]])], 1),
    "other rows behind": lambda: tf.concat(
        [tf.ragged.constant([[[1]], [[2], [3]]]), tf.ragged.constant([[[1], [2]], [[3]]])], 2
    ),
    "other batches": lambda: tf.gather(tf.ragged.constant([["a"], ["b"]]), tf.ragged.constant([[0]]), batch_dims=1),
    "more batches than axes": lambda: tf.gather(tf.ragged.constant([["a"]]), [[[0]]], batch_dims=2),
    "a mask of other rows": lambda: boolean_mask(tf.ragged.constant([[1, 2]]), tf.ragged.constant([[True] * 3])),
    "a mask of another shape": lambda: boolean_mask([[1, 2]], [[True, False, True]]),
    "a mask of no axes": lambda: boolean_mask([[1, 2]], True),
    "gaps in sparse rows": lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [3, 3])),
    "a sparse vector": lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0]], [1], [3])),
    "padding of another shape": lambda: tf.RaggedTensor.from_tensor([[1]], padding=[1]),
    "lengths of other rows": lambda: tf.RaggedTensor.from_tensor([[1, 2]], lengths=[1, 2]),
    "no ragged rank": lambda: tf.RaggedTensor.from_tensor([[1]], ragged_rank=0),
    "a policy": lambda: tf.gather_nd(tf.ragged.constant([[1]]), [[0, 0]], bad_indices_policy="IGNORE"),
}


@pytest.mark.parametrize("name", WRONG)
def test_at_once(name):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        WRONG[name]()


@pytest.mark.parametrize("name", WRONG)
def test_in_a_graph(name):
    wrong = pytest.raises((tf.errors.InvalidArgumentError, ValueError))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session, wrong:
        session.run(WRONG[name]())


def test_good_parts_pass_in_a_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ragged = tf.RaggedTensor.from_value_rowids(VALUES, [0, 0, 2, 2, 2])
        assert session.run(ragged).to_list() == [[1, 2], [], [3, 4, 5]]


def test_a_mask_as_deep_as_its_tensor():
    data = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    mask = tf.ragged.constant([[[True, False], [True, True]], [[False, True]]], ragged_rank=1)
    assert boolean_mask(data, mask).to_list() == [[[1], [3, 4]], [[6]]]


def test_ranges_are_counted_in_more_bits_than_they_have():
    make = lambda: tf.ragged.range(1136033460, -2110457150, -1849827689)
    for found in (make(), tf.function(make)()):
        assert found.to_list() == [[1136033460, -713794229]]
