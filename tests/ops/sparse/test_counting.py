"""How far sequences are from each other, against the table that says so step by step."""

import random

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.sparse.counting import _distance


def by_table(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


@pytest.mark.parametrize("seed", range(20))
def test_distances_are_those_of_the_table(seed):
    draw = random.Random(seed)
    for _ in range(20):
        a, b = ([draw.randint(0, 3) for _ in range(draw.randint(0, 90))] for _ in range(2))
        assert _distance(a, b) == by_table(a, b)
        b = [*a[:7], 9, *a[7:]]
        assert _distance(a, b) == 1


def test_rows_may_come_in_pieces():
    shape = [2, 3]
    said = tf.SparseTensor([[0, 0], [1, 0], [0, 1]], ["a", "x", "b"], shape)
    meant = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "y"], shape)
    assert tf.edit_distance(said, meant, normalize=False).numpy().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("controls", [False, True])
def test_plain_letters_decode_as_others_do(controls):
    texts = ["word", "", "a\tb"]
    options = {"replace_control_characters": controls, "input_encoding": "UTF-8"}
    plain = tf.strings.unicode_decode_with_offsets(texts, **options)
    mixed = tf.strings.unicode_decode_with_offsets([*texts, "é"], **options)
    for ours, theirs in zip(plain, mixed):
        assert ours.to_list() == theirs.to_list()[:-1]
        assert ours.dtype == theirs.dtype
    assert tf.strings.unicode_decode(np.array([], "S"), "UTF-8").to_list() == []


OF_THREE = [np.array([[3, 0, 1]]), tf.sparse.from_dense([[3, 2, 1]]), tf.ragged.constant([[3, 0], [1]])]


@pytest.mark.parametrize("values", OF_THREE, ids=["dense", "sparse", "ragged"])
def test_nothing_is_below_zero(values):
    found = tf.sparse.bincount(values, maxlength=0, minlength=3, axis=-1)
    assert found.values.shape == [0] and found.dense_shape.numpy()[1] == 0


@pytest.mark.parametrize("number, says", list(enumerate(["tf.Tensor", "SparseTensor", "RaggedTensor"])))
def test_weights_belong_to_the_values(number, says):
    values = OF_THREE[number]
    for weights in OF_THREE:
        if type(weights) is not type(values):
            with pytest.raises(ValueError, match=f"must be a {says}"):
                tf.sparse.bincount(values, weights=weights, axis=-1)
    if says == "RaggedTensor":
        with pytest.raises(tf.errors.InvalidArgumentError, match="same row splits"):
            tf.sparse.bincount(values, weights=tf.ragged.constant([[3], [0, 1]]), axis=-1)
