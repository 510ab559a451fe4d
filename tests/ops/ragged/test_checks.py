"""Parts that make no ragged tensor are refused, at once and when a graph runs."""

import pytest

import ebbflow as tf

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
