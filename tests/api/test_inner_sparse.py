"""Sparse and ragged tensors that are serialized, or appended to each other, by TensorFlow's inner functions."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.api import inner_sparse as inner

v1 = tf.compat.v1


def test_serialized_tensors_come_back_as_one():
    one = tf.io.serialize_sparse(tf.SparseTensor([[0, 1]], [5], [2, 2]))
    two = tf.io.serialize_sparse(tf.SparseTensor([[1, 0]], [6], [2, 3]))
    found = inner.deserialize_sparse(tf.stack([one, two]), tf.int32)
    assert found.indices.numpy().tolist() == [[0, 0, 1], [1, 1, 0]]
    assert found.dense_shape.numpy().tolist() == [2, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"SparseTensor\[0\].values.dtype\(\) == int32"):
        inner.deserialize_sparse(tf.stack([one, two]), tf.int64)
    deeper = tf.io.serialize_sparse(tf.SparseTensor([[1, 0, 0]], [6], [2, 3, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"rank prior to SparseTensor\[1\] was: 2"):
        inner.deserialize_sparse(tf.stack([one, deeper]), tf.int32)


def test_rows_are_appended():
    sparse = tf.SparseTensor([[0, 0]], [1], [1, 1])
    value = v1.SparseTensorValue([[0, 0]], [1], [1, 1])
    for each in (sparse, value):
        found = inner.append_composite_tensor(each, each)
        assert np.asarray(found.indices).tolist() == [[0, 0], [1, 0]]
        assert np.asarray(found.dense_shape).tolist() == [2, 1]
    ragged = v1.ragged.constant_value([[0], [1, 2]])
    assert inner.append_composite_tensor(ragged, ragged).to_list() == [[0], [1, 2], [0], [1, 2]]
    assert inner.append_composite_tensor(tf.ragged.constant([[1]]), tf.ragged.constant([[2, 3]])).to_list() == [
        [1],
        [2, 3],
    ]
    assert [inner.is_composite_or_composite_value(x) for x in (sparse, value, ragged, [1])] == [True, True, True, False]
    with pytest.raises(RuntimeError, match="Unable to concatenate"):
        inner.append_composite_tensor(sparse, value)


@pytest.mark.parametrize("kind", ["bool", "float16", "int64"])
def test_eight_comparisons_are_a_byte(kind):
    x = np.random.RandomState(0).randint(0, 2, [3, 16])
    found = inner.compare_and_bitpack(tf.cast(x, kind), tf.cast(0, kind))
    assert found.dtype == tf.uint8 and found.numpy().tolist() == np.packbits(x, axis=-1).tolist()
    with pytest.raises(ValueError, match="multiple of 8"):
        inner.compare_and_bitpack(np.zeros([2, 7], np.float32), 0.0)
