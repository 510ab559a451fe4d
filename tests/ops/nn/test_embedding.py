"""Looking rows of tables up: tables that live elsewhere."""

import numpy as np
import pytest

import ebbflow as tf


def test_a_variable_made_eagerly_is_looked_up_in_a_function():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        return loss, tf.convert_to_tensor(tape.gradient(loss, table))

    loss, slope = step(tf.constant([2, 0]))
    assert float(loss) == 66.0
    assert slope.numpy().tolist() == [[2.0, 4.0], [0.0, 0.0], [10.0, 12.0]]


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_lookups_of_halves_are_halves(weighted):
    places = [[0, 0], [1, 0]]
    ids = tf.sparse.SparseTensor(places, tf.constant([0, 1], tf.int64), [2, 1])
    weights = tf.sparse.SparseTensor(places, tf.constant([1.0, 2.0]), [2, 1]) if weighted else None
    found = tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0]], tf.float16), ids, weights)
    assert found.dtype == tf.float16 and found.numpy().tolist() == [[1.0], [2.0]]


def test_a_list_of_arrays_is_one_table_in_shards():
    shards = [np.array([[1.0], [2.0]]), np.array([[3.0]])]
    assert tf.nn.embedding_lookup(shards, [2, 0]).numpy().tolist() == [[3.0], [1.0]]
