"""Sparse tensors as strings and back: rows, ranks, and parts that are none."""

import pytest

import ebbflow as tf

ROWS = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])


@pytest.mark.parametrize("rank", [None, 2])
def test_rows_come_back(rank):
    back = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(ROWS), tf.float32, rank)
    tf.debugging.assert_equal(tf.sparse.to_dense(back), tf.sparse.to_dense(ROWS))


def test_one_is_stacked_with_others():
    one = tf.io.serialize_sparse(ROWS)
    assert one.dtype is tf.string and tf.io.serialize_sparse(ROWS, tf.variant).dtype is tf.variant
    both = tf.io.deserialize_many_sparse(tf.stack([one, one]), tf.float32)
    assert both.dense_shape.numpy().tolist() == [2, 3, 4] and both.values.numpy().tolist() == [1.0, 2.0, 1.0, 2.0]


def test_tf1_has_another_order_and_rows_may_differ_in_length():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        parts = [tf.SparseTensor([[0]], ["a"], [2]), tf.SparseTensor([[4]], ["b"], [5])]
        strings = tf.stack([v1.serialize_sparse(part, f"s{i}") for i, part in enumerate(parts)])
        back = v1.deserialize_many_sparse(strings, tf.string, rank=2)
        assert back.indices.shape.as_list() == [None, 2] and back.dense_shape.shape.as_list() == [2]
        assert session.run(back).dense_shape.tolist() == [2, 5]
        assert strings.op.inputs[0].op.name == "s0"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda rows: tf.io.deserialize_many_sparse(rows, tf.int32), "type int32 but SparseTensor"),
        (lambda rows: tf.io.deserialize_many_sparse(rows[:, :2], tf.float32), "must have 3 columns"),
        (lambda rows: tf.io.deserialize_many_sparse([[b"a", b"b", b"c"]], tf.float32), "Could not parse"),
        (lambda rows: tf.io.deserialize_many_sparse(rows[:0], tf.float32), "at least 1 serialized"),
        (lambda rows: tf.io.serialize_many_sparse(tf.SparseTensor([[0]], [1.0], [3])), "should be > 1"),
    ],
)
def test_refused(call, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        call(tf.io.serialize_many_sparse(ROWS))


def test_dense_tensors_and_wrong_ranks_are_refused():
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        tf.io.serialize_sparse(tf.zeros([2]))
    with pytest.raises(ValueError, match="not compatible"):
        tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(ROWS), tf.float32, rank=1)
