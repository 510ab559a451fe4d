"""What ops give for structured tensors."""

import pytest

import ebbflow as tf
from ebbflow.ops.structured import array_ops

Structured = tf.experimental.StructuredTensor
ROWS = [[{"a": {}, "b": [3, 4]}, {"a": {}, "b": [5]}], [{"a": {}, "b": [7, 8, 9]}]]
FLAT = [{"x": 0, "y": {"z": [[3]]}}, {"x": 1, "y": {"z": [[3], [4, 13]]}}, {"x": 2, "y": {"z": []}}]


def made(value):
    return Structured.from_pyval(value)


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize(
    ("call", "value", "expected"),
    [
        (lambda x: tf.concat([x, x], 0), ROWS, ROWS + ROWS),
        (lambda x: tf.concat([x, x], -1), ROWS, [row + row for row in ROWS]),
        (lambda x: tf.gather(x, [2, 0]), FLAT, [FLAT[2], FLAT[0]]),
        (lambda x: tf.gather(x, 1), FLAT, FLAT[1]),
        (lambda x: tf.gather(x, tf.ragged.constant([[0], [1, 1]])), FLAT, [[FLAT[0]], [FLAT[1]] * 2]),
        (lambda x: tf.gather(x, [0, 0], axis=1, batch_dims=1), ROWS, [ROWS[0][0], ROWS[1][0]]),
        (lambda x: tf.expand_dims(x, 0), FLAT, [FLAT]),
        (lambda x: tf.expand_dims(x, -1), FLAT, [[row] for row in FLAT]),
    ],
)
def test_structures(call, value, expected, mode):
    assert (call if mode == "eager" else tf.function(call))(made(value)).to_pyval() == expected


def test_shapes():
    rows = made(ROWS)
    assert (int(tf.rank(rows)), int(tf.size(rows))) == (2, 3)
    assert tf.shape(rows).static_lengths() == [2, (2, 1)]
    assert tf.zeros_like(rows).to_list() == [[0.0, 0.0], [0.0]]
    assert tf.ones_like(rows, tf.int32).to_list() == [[1, 1], [1]]
    assert array_ops.structured_tensor_like(tf.ragged.constant([[1], [2, 3]])).to_pyval() == [[{}], [{}, {}]]


def test_rows_in_an_order_of_chance():
    tf.random.set_seed(1066)
    found = tf.random.shuffle(made(FLAT), seed=2021).to_pyval()
    assert sorted(row["x"] for row in found) == [0, 1, 2]
    assert all(row == FLAT[row["x"]] for row in found)
    with pytest.raises(ValueError, match="scalar"):
        tf.random.shuffle(made({"a": 1}))


@pytest.mark.parametrize(
    ("values", "axis", "says"),
    [
        ([[{"a": [2]}], [{}]], 0, "a"),
        ([[{"a": [3]}], [[{"a": 3}]]], 0, "Ranks of sub-message do not match"),
        ([{"a": [3]}, {"a": [4]}], 0, "axis=0 out of bounds"),
        ([[{"a": [3]}], [{"a": [[4]]}]], 0, "must have rank"),
    ],
)
def test_structures_that_do_not_go_together(values, axis, says):
    with pytest.raises(ValueError, match=says):
        tf.concat([made(value) for value in values], axis)
    with pytest.raises(ValueError, match="list of StructuredTensors"):
        tf.concat([made(values[0]), tf.constant(3)], 0)
