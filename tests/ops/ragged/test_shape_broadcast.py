"""Ragged shapes and tensors broadcast to each other."""

import pytest

import ebbflow as tf
from ebbflow.ops.ragged.shape_broadcast import broadcast_dynamic_shape_extended

Shape = tf.experimental.DynamicRaggedShape
PAIRS = [  # from TensorFlow 2.21
    ([], [2, (2, 3)], [2, (2, 3)]),
    ([3], [4, 2, 1], [4, 2, 3]),
    ([3], [3, (2, 3, 1), 1], [3, (2, 3, 1), 3]),
    ([1, 3, (5, 1, 6)], [2, 1, 1], [2, 3, (5, 1, 6, 5, 1, 6)]),
    ([2, (2, 1), 2, 1], [1, 1, 2, (2, 1)], [2, (2, 1), 2, (2, 1, 2, 1, 2, 1)]),
    ([5, (1, 2, 0, 3, 1)], [1, 5, (1, 2, 0, 3, 1)], [1, 5, (1, 2, 0, 3, 1)]),
    ([2, (2, 2)], [5, 2, 1], [5, 2, (2,) * 10]),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS)
def test_two_shapes(one, other, expected):
    a, b = Shape.from_lengths(one), Shape.from_lengths(other)
    for x, y in ((a, b), (b, a)):
        shape, to_x, to_y = broadcast_dynamic_shape_extended(x, y)
        assert shape.static_lengths() == expected
        for own, way in ((x, to_x), (y, to_y)):
            values = tf.reshape(tf.range(int(own._num_elements())), own)
            made, asked = way.broadcast(values), tf.broadcast_to(values, shape)
            assert Shape.from_tensor(made).static_lengths() == expected
            assert (
                getattr(made, "flat_values", made).numpy().tolist()
                == getattr(asked, "flat_values", asked).numpy().tolist()
            )


@pytest.mark.parametrize(
    ("one", "other"), [([2, 3], [4, 3]), ([2, (1, 2)], [2, (2, 2)]), ([2, (1, 2)], [2, 3]), ([2, (1, 1)], [3, 1])]
)
def test_shapes_that_do_not_fit(one, other):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"[Cc]annot broadcast"):
        tf.broadcast_dynamic_shape(Shape.from_lengths(one), Shape.from_lengths(other))


SUMS = [
    (tf.ragged.constant([[1, 2, 3]]), [[10], [20]], [[11, 12, 13], [21, 22, 23]]),
    (tf.ragged.constant([[[1], [2]], [[4]]], ragged_rank=1), [[[1, 2]]], [[[2, 3], [3, 4]], [[5, 6]]]),
    (
        tf.ragged.constant([[[1], [2]], [[4]]], ragged_rank=1),
        tf.ragged.constant([[10, 20, 30]]),
        [[[11, 21, 31], [12, 22, 32]], [[14, 24, 34]]],
    ),
    (
        tf.ragged.constant([[[[1], [2]], [[3], [4]]], [[[5], [6]]]], ragged_rank=1),
        tf.ragged.constant([[10, 20], [30]]),
        [[[[11, 21], [32]], [[13, 23], [34]]], [[[15, 25], [36]]]],
    ),
]


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize(("x", "y", "expected"), SUMS)
def test_sums(x, y, expected, mode):
    add = tf.add if mode == "eager" else tf.function(tf.add)
    assert add(x, y).to_list() == expected
    assert add(y, x).to_list() == expected


def test_rows_that_differ_are_refused_when_the_graph_runs():
    add = tf.function(tf.add, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot broadcast"):
        add(tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1], [2, 3]]))


def test_gradient_goes_back_to_what_was_repeated():
    x = tf.constant([[3.0], [1.0], [4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        flat = tf.broadcast_to(x, Shape.from_lengths([3, (4, 3, 1)])).flat_values
    assert tape.gradient(flat, x).numpy().tolist() == [[4.0], [3.0], [1.0]]
