"""Divisions into rows without values, and what `tf.shape` gives for a ragged tensor."""

import pytest

import ebbflow as tf

Rows = tf.experimental.RowPartition
SPLITS = [0, 2, 2, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rows.from_row_splits(SPLITS),
        lambda: Rows.from_row_lengths([2, 0, 1]),
        lambda: Rows.from_row_starts([0, 2, 2], nvals=3),
        lambda: Rows.from_row_limits([2, 2, 3]),
        lambda: Rows.from_value_rowids([0, 0, 2]),
        lambda: Rows.from_value_rowids([0, 0, 2], nrows=3, dtype=tf.int32),
    ],
)
def test_ways_to_say_the_same(make):
    rows = make()
    assert rows.row_splits().numpy().tolist() == SPLITS
    assert rows.row_lengths().numpy().tolist() == [2, 0, 1]
    assert rows.value_rowids().numpy().tolist() == [0, 0, 2]
    assert rows.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    assert (int(rows.nrows()), int(rows.nvals()), rows.is_uniform()) == (3, 3, False)


def test_rows_of_one_length():
    rows = Rows.from_uniform_row_length(2, nvals=6)
    assert rows.is_uniform() and int(rows.uniform_row_length()) == 2 and int(rows.nrows()) == 3
    with pytest.raises(ValueError, match="must be specified"):
        Rows.from_uniform_row_length(2)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_the_shape_of_a_ragged_tensor(wrap):
    ragged = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,))
    seen = []

    def look(ragged):
        shape = tf.shape(ragged)
        seen.append(shape)
        with pytest.raises(ValueError, match="not uniform"):
            shape[1]
        return shape[0], shape[-1]

    assert [int(n) for n in wrap(look)(ragged)] == [2, 2]
    assert seen[0].rank == 3 and seen[0].num_row_partitions == 1
    with pytest.raises(IndexError):
        tf.shape(ragged)[3]
