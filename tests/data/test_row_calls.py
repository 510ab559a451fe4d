"""`map_defun`: a function called for each row."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.row_calls import map_defun

ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.int32)


@tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
def double(x):
    return x * 2, tf.cast(x[0], tf.float64)


def test_rows_are_stacked():
    added = tf.Variable(3)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
    def more(x):
        return x + added

    whole, first = map_defun(double, [ROWS], [tf.int32, tf.float64], [[2], []])
    assert whole.numpy().tolist() == (ROWS * 2).tolist() and first.numpy().tolist() == [1, 3, 5]
    assert map_defun(more, [ROWS], [tf.int32], [[2]])[0].numpy().tolist() == (ROWS + 3).tolist()
    none = map_defun(double, [ROWS[:0]], [tf.int32, tf.float64], [[2], []])
    assert [t.shape.as_list() for t in none] == [[0, 2], [0]]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32)])
    def traced(rows):
        found = map_defun(double, [rows], [tf.int32, tf.float64], [[2], []])
        assert [t.shape.as_list() for t in found] == [[None, 2], [None]]
        return found[0]

    assert traced(ROWS).numpy().tolist() == (ROWS * 2).tolist()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ((ROWS, [tf.int32, tf.float64], [[2], []]), ValueError, "`elems` must be a list"),
        (([ROWS], [tf.int32, tf.int32], [[2], []]), tf.errors.InvalidArgumentError, "output_types"),
        (([ROWS], [tf.int32, tf.float64], [[3], []]), tf.errors.InvalidArgumentError, "output_shapes says"),
        (([ROWS, ROWS], [tf.int32, tf.float64], [[2], []]), tf.errors.InvalidArgumentError, "takes 1 arguments"),
        (([ROWS, ROWS[:2]], [tf.int32, tf.float64], [[2], []]), tf.errors.InvalidArgumentError, "dimension 0"),
        (([np.int32(1)], [tf.int32, tf.float64], [[2], []]), tf.errors.InvalidArgumentError, "dimension 0"),
    ],
)
def test_what_does_not_fit(given, error, says):
    with pytest.raises(error, match=says):
        map_defun(double, *given)
