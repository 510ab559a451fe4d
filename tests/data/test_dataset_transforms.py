"""Shapes that batches are padded to: as tensors, beside elements that are None, and what is refused."""

import pytest

import ebbflow as tf

Dataset = tf.data.Dataset


def rows():
    return Dataset.range(3).map(lambda x: tf.fill([x], x))


@pytest.mark.parametrize("shape", [[3], (3,), tf.TensorShape([3]), "tensor", "in a function"])
def test_padded_shapes_may_be_tensors(shape):
    if shape == "in a function":

        @tf.function
        def total(length):
            dataset = rows().padded_batch(2, tf.expand_dims(length, 0))
            return dataset.reduce(tf.constant(0, tf.int64), lambda n, batch: n + tf.size(batch, tf.int64))

        assert total(tf.constant(3, tf.int64)).numpy() == 9
        return
    given = tf.constant([3], tf.int64) if isinstance(shape, str) else shape
    dataset = rows().padded_batch(2, given)
    assert dataset.element_spec.shape.as_list() == [None, 3]
    assert [batch.numpy().tolist() for batch in dataset] == [[[0, 0, 0], [1, 0, 0]], [[2, 2, 0]]]


def test_none_is_not_padded():
    dataset = rows().map(lambda x: {"a": x, "b": None, "c": tf.size(x)})
    with pytest.raises(TypeError, match=r"not a subclass of TensorSpec: `NoneTensorSpec\(\)`"):
        dataset.padded_batch(3, padding_values={"a": tf.constant(7, tf.int64), "b": None, "c": 0})


@pytest.mark.parametrize(
    ("shape", "error", "says"),
    [
        (tf.constant([1.0]), TypeError, "must be a `tf.int64` vector tensor"),
        (tf.constant([[1]], tf.int64), ValueError, "must be a `tf.int64` vector tensor"),
        ([[1]], ValueError, "must be a `tf.int64` vector tensor"),
        (tf.constant([1, 2], tf.int64), ValueError, "not compatible with the shape"),
        ([1, 2], ValueError, "not compatible with the shape"),
    ],
)
def test_refusals(shape, error, says):
    with pytest.raises(error, match=says):
        rows().padded_batch(2, shape)
