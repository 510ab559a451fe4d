"""Sparse tensors: the class and its spec, `tf.sparse` as recorded from TensorFlow, feeds, fetches, gradients."""

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.programs import replay

v1 = tf.compat.v1


@pytest.mark.parametrize("judge, name", replay.cases("sparse"))
def test_answers_as_recorded(judge, name):
    expected, given = replay.outcome("sparse", judge, name)
    replay.assert_alike(given, expected)


@pytest.fixture
def small():
    return tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])


def test_printing(small):
    said = (
        "SparseTensor(indices=tf.Tensor(\n[[0 1]\n [2 0]], shape=(2, 2), dtype=int64), "
        "values=tf.Tensor([1. 2.], shape=(2,), dtype=float32), "
        "dense_shape=tf.Tensor([3 4], shape=(2,), dtype=int64))"
    )
    assert str(small) == repr(small) == said


def test_what_it_knows_of_itself(small):
    assert small.shape.as_list() == small.get_shape().as_list() == [3, 4]
    assert small.dtype is tf.float32 and tf.is_tensor(small)
    assert small.with_values([5, 6]).dtype is tf.int32
    assert [t.dtype for t in tf.nest.flatten(small, expand_composites=True)] == [tf.int64, tf.float32, tf.int64]
    assert tf.identity(small).values.numpy().tolist() == [1.0, 2.0]


WRONG = {
    "Shape (2,) must have rank 2": ([0, 1], [1.0, 2.0], [3]),
    "Dimensions 1 and 2 are not compatible": ([[0, 1]], [1.0, 2.0], [3, 4]),
    "Dimensions 2 and 1 are not compatible": ([[0, 1]], [1.0], [3]),
}


@pytest.mark.parametrize("says", WRONG)
def test_parts_that_do_not_go_together(says):
    with pytest.raises(ValueError) as caught:
        tf.SparseTensor(*WRONG[says])
    assert says in str(caught.value)


def test_specs(small):
    spec = tf.SparseTensorSpec([None, 4], tf.float32)
    assert repr(spec) == "SparseTensorSpec(TensorShape([None, 4]), tf.float32)"
    assert spec.is_compatible_with(small) and not spec.is_compatible_with(tf.SparseTensorSpec([3, 5]))
    assert small._type_spec.most_specific_compatible_type(tf.SparseTensorSpec([5, 4])) == spec
    assert tf.SparseTensorSpec.from_value(small) == tf.SparseTensorSpec([3, 4])
    assert tf.SparseTensorSpec([3, 4]).is_subtype_of(spec) and not spec.is_subtype_of(tf.SparseTensorSpec([3, 4]))


@pytest.mark.parametrize("call", [lambda s: tf.convert_to_tensor(s), lambda s: s + s, lambda s: s[0]])
def test_it_is_no_dense_tensor(call, small):
    with pytest.raises((TypeError, ValueError)):
        call(small)


def test_places_out_of_order_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sparse.to_dense(tf.SparseTensor([[2, 0], [0, 1]], [1.0, 2.0], [3, 4]))


@pytest.mark.parametrize("value", [v1.SparseTensorValue([[0, 1]], [5.0], [2, 3]), ([[0, 1]], [5.0], [2, 3])])
def test_fed_and_fetched(value):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.sparse_placeholder(tf.float32, [None, 3], name="sp")
        assert x.shape.as_list() == [None, 3]
        assert [t.name for t in (x.indices, x.values, x.dense_shape)] == ["sp/indices:0", "sp/values:0", "sp/shape:0"]
        back, dense = session.run([x, tf.sparse.to_dense(x)], {x: value})
        again = x.eval({x: value})
    assert isinstance(back, v1.SparseTensorValue) and isinstance(again, v1.SparseTensorValue)
    assert back.indices.tolist() == [[0, 1]] and back.dense_shape.tolist() == [2, 3]
    assert dense.tolist() == [[0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]


def test_a_sparse_placeholder_is_for_graphs():
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.sparse_placeholder(tf.float32)


def test_a_shape_that_was_given_need_not_be_fed():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.sparse_placeholder(tf.float32, [2, 3])
        assert session.run(tf.sparse.to_dense(x), {x: ([[1, 2]], [4.0])}).tolist() == [[0, 0, 0], [0, 0, 4]]


def test_a_model_of_sparse_features_learns():
    """Linear regression on sparse rows: the gradient of the product reaches the dense weights."""
    weights = tf.Variable([[0.0], [0.0], [0.0]])
    rows = tf.SparseTensor([[0, 0], [1, 1], [2, 2], [3, 0], [3, 2]], [1.0, 1.0, 1.0, 1.0, 1.0], [4, 3])
    wanted = np.array([[1.0], [-2.0], [3.0], [4.0]], np.float32)
    for _ in range(200):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.sparse.sparse_dense_matmul(rows, weights) - wanted))
        weights.assign_sub(0.2 * tape.gradient(loss, weights))
    np.testing.assert_allclose(weights.numpy(), [[1.0], [-2.0], [3.0]], atol=1e-4)


def test_gradients_of_an_embedding_of_many_ids_touch_their_rows():
    table = tf.Variable(np.ones((4, 2), np.float32))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 2], [2, 2])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"))
    grad = tape.gradient(total, table)
    assert isinstance(grad, tf.IndexedSlices)
    assert tf.convert_to_tensor(grad).numpy().tolist() == [[1, 1], [0, 0], [2, 2], [0, 0]]


def test_bad_combiners_and_ids():
    ids = tf.SparseTensor([[0, 0]], [0], [1, 1])
    with pytest.raises(ValueError, match="combiner must be one of 'mean', 'sqrtn' or 'sum'"):
        tf.nn.embedding_lookup_sparse([[1.0]], ids, None, combiner="max")
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse([[1.0]], [0], None)
