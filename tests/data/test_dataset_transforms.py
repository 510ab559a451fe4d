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


def test_scalars_are_padded_batches_too():
    dataset = tf.data.Dataset.from_tensor_slices(([0, 1, 2], ["a", "b", "c"])).padded_batch(2)
    assert [[part.tolist() for part in e] for e in dataset.as_numpy_iterator()] == [
        [[0, 1], [b"a", b"b"]],
        [[2], [b"c"]],
    ]


def test_none_fills_all_parts_with_defaults():
    dataset = tf.data.Dataset.from_tensor_slices([1, 2]).map(lambda x: (tf.fill([x], x), {"a": tf.fill([x], "y")}))
    (numbers, texts) = next(iter(dataset.padded_batch(2, padding_values=(-1, None))))
    assert numbers.numpy().tolist() == [[1, -1], [2, 2]] and texts["a"].numpy().tolist() == [[b"y", b""], [b"y", b"y"]]


def test_an_interleave_finds_its_cycle_length():
    for parallel in (None, tf.data.AUTOTUNE):
        found = tf.data.Dataset.range(5).interleave(
            lambda x: tf.data.Dataset.range(x), cycle_length=tf.data.AUTOTUNE, num_parallel_calls=parallel
        )
        assert sorted(int(x) for x in found) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]
