"""Ragged shapes as lists of lengths, the older class."""

import pytest

import ebbflow as tf
from ebbflow.ops.ragged import dim_sizes
from ebbflow.ops.ragged.dim_sizes import RaggedTensorDynamicShape as Shape


def told(shape):
    return [size.numpy().tolist() for size in shape.partitioned_dim_sizes] + shape.inner_dim_sizes.numpy().tolist()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tf.constant("x"), []),
        (tf.zeros([1, 2, 3]), [1, 2, 3]),
        (tf.ragged.constant([[1, 2], [], [3, 4, 5]]), [3, [2, 0, 3]]),
        (tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), [2, [2, 1], 2]),
        (tf.ragged.constant([[[1, 2], [3]], [[4, 5]]]), [2, [2, 1], [2, 1, 2]]),
    ],
)
def test_of_tensors(value, expected):
    assert told(Shape.from_tensor(value)) == expected
    assert told(Shape.from_dim_sizes(expected)) == expected


@pytest.mark.parametrize(
    ("axis", "lengths", "before", "after"),
    [
        (0, 3, [1, 4, 5], [3, 4, 5]),
        (2, 5, [3, [3, 2, 8], 1], [3, [3, 2, 8], 5]),
        (1, [2, 0, 1], [3, 1, 5], [3, [2, 0, 1], 5]),
        (0, 2, [1, 3, [3, 0, 2]], [2, 3, [3, 0, 2, 3, 0, 2]]),
        (1, [4, 1, 2], [3, 1, [3, 1, 2], 5], [3, [4, 1, 2], [3, 3, 3, 3, 1, 2, 2], 5]),
        (1, [2, 1], [2, 1, 2, [2, 1, 2, 1]], [2, [2, 1], 2, [2, 1, 2, 1, 2, 1]]),
    ],
)
def test_one_axis(axis, lengths, before, after):
    made = Shape.from_dim_sizes(before).broadcast_dimension(axis, lengths)
    assert told(made) == after
    assert told(made.broadcast_dimension(axis, 1)) == after


def test_two_shapes_and_a_tensor():
    x, y = Shape.from_dim_sizes([2, [2, 1], 2, 1]), Shape.from_dim_sizes([1, 1, 2, [2, 1]])
    assert told(dim_sizes.broadcast_dynamic_shape(x, y)) == [2, [2, 1], 2, [2, 1, 2, 1, 2, 1]]
    assert told(Shape.from_dim_sizes([3, [3, 2, 4]]).broadcast_to_rank(4)) == [1, 1, 3, [3, 2, 4]]
    made = dim_sizes.broadcast_to([[10], [20], [30]], Shape.from_dim_sizes([3, [3, 0, 2]]))
    assert made.to_list() == [[10, 10, 10], [], [30, 30]]
    assert int(x.num_slices_in_dimension(2)) == 6
    with pytest.raises(ValueError, match="must be uniform"):
        Shape([[1, 2], [3]], [])
