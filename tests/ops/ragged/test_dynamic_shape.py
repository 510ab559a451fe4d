"""Ragged shapes: made, asked, changed, through functions and datasets. What is expected TensorFlow 2.21 says too."""

import pytest

import ebbflow as tf

Shape = tf.experimental.DynamicRaggedShape
Rows = tf.experimental.RowPartition

RAGGED = [2, (1, 2), 3]


@pytest.mark.parametrize("lengths", [[], [3], [2, 3], RAGGED, [2, 2, (1, 0, 2, 3), 4]])
def test_lengths_come_back(lengths):
    shape = Shape.from_lengths(lengths)
    assert shape.static_lengths() == lengths
    assert shape.rank == len(lengths)
    assert Shape.from_tensor(tf.zeros(shape)).static_lengths() == lengths


@pytest.mark.parametrize(
    ("lengths", "key", "expected"),
    [
        (RAGGED, slice(0, 2), [2, (1, 2)]),
        (RAGGED, slice(0, 1), [2]),
        ([2, 3, 4], slice(1, None), [3, 4]),
        ([2, 3, 4], slice(5, None), []),
        ([2, (1, 2), 3, 4], slice(2, 4), [3, 4]),
        ([2, (1, 2), 3, 4], slice(-2, None), [3, 4]),
    ],
)
def test_part_of_a_shape(lengths, key, expected):
    assert Shape.from_lengths(lengths)[key].static_lengths() == expected


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Shape.from_lengths(RAGGED)[1], ValueError, "Index 1 is not uniform"),
        (lambda: Shape.from_lengths(RAGGED)[1:], ValueError, "must be uniform"),
        (lambda: Shape.from_lengths(RAGGED)[0:2:2], IndexError, "Cannot stride"),
        (lambda: Shape.from_lengths([2, (1, 2, 3)]), ValueError, "not consistent"),
        (lambda: Shape.from_lengths([2, "a"]), ValueError, "int or tuple of ints"),
        (
            lambda: Shape([Rows.from_row_lengths([1, 2])], [4], validate=True),
            tf.errors.InvalidArgumentError,
            "inner_sh",
        ),
        (lambda: Shape([[0, 1]], [1]), TypeError, "row_partitions contains"),
        (lambda: Shape([], 3), ValueError, "must have rank 1"),
        (lambda: Shape.from_row_partitions([]), ValueError, "cannot be empty"),
        (lambda: Shape.from_lengths(RAGGED).is_uniform(7), IndexError, "axis=7 < rank=3"),
    ],
)
def test_what_is_no_shape(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_what_it_tells():
    shape = Shape.from_lengths(RAGGED)
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>"
    assert shape.static_lengths(ragged_lengths=False) == [2, None, 3]
    assert shape.inner_shape.numpy().tolist() == [3, 3]
    assert [shape.is_uniform(axis) for axis in range(3)] == [True, False, True]
    assert shape.with_dtype(tf.int32).row_partitions[0].dtype is tf.int32
    assert int(shape[2]) == 3
    assert tf.shape(tf.ragged.constant([[1], [2, 3]])).dtype is tf.int32


@pytest.mark.parametrize(
    ("lengths", "outer", "inner", "expected"),
    [
        ([2, 7, 5, 4], 1, 2, [2, 35, 4]),
        (RAGGED, 0, 1, [3, 3]),
        (RAGGED, 1, 2, [2, (3, 6)]),
        ([2, (2, 1), (7, 8, 9), 5], 1, 2, [2, (15, 9), 5]),
        ([2, (2, 1), (7, 8, 9), 2, 5], 1, 3, [2, (30, 18), 5]),
    ],
)
def test_axes_made_one(lengths, outer, inner, expected):
    assert Shape.from_lengths(lengths)._merge_dims(outer, inner).static_lengths() == expected


def test_more_or_fewer_partitions():
    shape = Shape.from_lengths([2, 3, 4])
    more = shape._with_num_row_partitions(2)
    assert (more.num_row_partitions, more.inner_shape.numpy().tolist()) == (2, [24])
    assert more._with_num_row_partitions(0).inner_shape.numpy().tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="ragged dimension"):
        Shape.from_lengths(RAGGED)._with_num_row_partitions(0)


def test_through_a_function():
    seen = []

    @tf.function
    def same(shape):
        seen.append(shape.static_lengths())
        return shape

    shape = Shape.from_lengths([2, 3, (1, 2, 3, 0, 0, 1), 4])
    assert bool(same(shape) == shape)
    assert seen == [[2, 3, None, 4]]


def test_through_a_dataset():
    data = tf.data.Dataset.from_tensors(Shape.from_lengths([4, (3, 0, 4, 5), 2])).unbatch()
    assert [each.static_lengths() for each in data] == [[3, 2], [0, 2], [4, 2], [5, 2]]
    assert [each.static_lengths() for each in data.batch(2)] == [[2, (3, 0), 2], [2, (4, 5), 2]]


def test_ops_that_take_a_shape():
    shape = Shape.from_lengths([2, (1, 3)])
    assert tf.reshape(tf.range(4), shape).to_list() == [[0], [1, 2, 3]]
    assert tf.reshape(tf.ragged.constant([[1, 2], [3]]), [3]).numpy().tolist() == [1, 2, 3]
    assert tf.ones(shape, tf.int32).to_list() == [[1], [1, 1, 1]]
    assert tf.fill(shape, 7).to_list() == [[7], [7, 7, 7]]
    assert tf.broadcast_to([[1], [2]], shape).to_list() == [[1], [2, 2, 2]]
    assert tf.broadcast_dynamic_shape(shape, Shape.from_lengths([2, 1])).static_lengths() == [2, (1, 3)]
