"""Variables in parts: read by rows, written whole, given to functions; as TensorFlow 2.21 answers."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distribute.sharded_variable import ShardedVariable

ROWS = np.arange(16).reshape(8, 2)


def parts(rows=ROWS, ends=(3, 6), **given):
    return ShardedVariable([tf.Variable(part) for part in np.split(rows, ends)], **given)


def test_any_rows_are_those_of_the_whole():
    whole = parts()
    for start in (None, *range(-10, 11)):
        for stop in (None, 0, 2, 5, 8, -1, -3, -9):
            for step in (None, 2, 5, 7, -1, -3, -6):
                np.testing.assert_array_equal(whole[start:stop:step], ROWS[start:stop:step])


@pytest.mark.parametrize("index", [2, -2, (2, 1), (slice(None), 0), (slice(1, 7, 2), slice(0, 1)), ..., (..., 0),
                                   (None, slice(0, 5)), (slice(0, 1), ...), (slice(5, 2), 0)], ids=str)  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_indexing(index, wrap):
    whole = parts()
    np.testing.assert_array_equal(wrap(lambda: whole[index])(), ROWS[index])
    np.testing.assert_array_equal(whole[tf.convert_to_tensor(whole) > 10], ROWS[ROWS > 10])


def test_rows_are_read_of_the_parts_that_have_them():
    whole = parts()
    read = tf.function(lambda: (whole[4], whole[1:3])).get_concrete_function()
    assert len(read.captured_inputs) == 2


@pytest.mark.parametrize("index, error, words", [
    (100, IndexError, "out of bounds"), (-100, IndexError, "out of bounds"), (tf.constant(1), TypeError, "not allowed"),
    (slice(tf.constant(1), None), TypeError, "not allowed"),
])  # fmt: skip
def test_refused_indices(index, error, words):
    with pytest.raises(error, match=words):
        parts()[index]


def test_a_list_is_the_whole():
    whole = ShardedVariable([tf.Variable([[0, 0]]), tf.Variable([[1, 1], [2, 2]])])
    assert whole.assign([[4, 4], [5, 5], [6, 6]]) is whole
    whole.assign_add([[1, 1]] * 3)
    whole.assign_sub(tf.constant([[0, 1]] * 3))
    assert [part.numpy().tolist() for part in whole.variables] == [[[5, 4]], [[6, 5], [7, 6]]]
    whole.batch_scatter_update(tf.IndexedSlices(tf.constant([[9, 9]]), tf.constant([2])))
    assert whole.numpy().tolist() == [[5, 4], [6, 5], [9, 9]]
    assert (whole == [[5, 4], [6, 0], [9, 9]]).numpy().tolist() == [[True, True], [True, False], [True, True]]
    assert {whole: 1}[whole] == 1


def test_it_is_an_argument_of_functions_and_a_structure_of_its_parts():
    traces = []

    @tf.function
    def clear(variable, x):
        traces.append(1)
        variable.assign(x * tf.zeros_like(variable))
        with tf.control_dependencies([variable.assign_add(x), tf.group(variable)]):
            return variable.read_value() + tf.convert_to_tensor(variable)

    for start in (1.0, 2.0):
        whole = ShardedVariable([tf.Variable([start]), tf.Variable([start + 1])])
        assert clear(whole, tf.constant([3.0, 4.0])).numpy().tolist() == [6.0, 8.0]
        assert whole.numpy().tolist() == [3.0, 4.0]
    assert len(traces) == 1
    flat = tf.nest.flatten([whole], expand_composites=True)
    assert [one is part for one, part in zip(flat, whole.variables, strict=True)] == [True, True]
    module = tf.Module()
    module.w = whole
    assert [one is part for one, part in zip(module.variables, whole.variables, strict=True)] == [True, True]


def test_a_saved_model_has_the_parts(tmp_path):
    root = tf.Module()
    root.table = parts(ROWS.astype(np.float32))
    root.look = tf.function(lambda i: tf.nn.embedding_lookup(root.table, i), [tf.TensorSpec([None], tf.int64)])
    tf.saved_model.save(root, str(tmp_path))
    np.testing.assert_array_equal(tf.saved_model.load(str(tmp_path)).look([7, 2]), ROWS[[7, 2]])


@pytest.mark.parametrize("given, error, words", [
    (None, TypeError, "non-empty list of"), ([], TypeError, "non-empty list of"), (["no"], TypeError, "non-empty list"),
    ([tf.Variable([0]), tf.Variable([1.0])], ValueError, "must have the same dtype"),
    ([tf.Variable(tf.ones([5, 10])), tf.Variable(tf.ones([5, 20]))], ValueError, "the same shapes except"),
])  # fmt: skip
def test_what_are_no_parts(given, error, words):
    with pytest.raises(error, match=words):
        ShardedVariable(given)
    with pytest.raises(ValueError, match="`SaveSliceInfo` should not"):
        ShardedVariable(parts().variables)
