"""Ragged tensors as text, and their running sums: TensorFlow 2.21's answers."""

import pytest

import ebbflow as tf
from ebbflow.ops.ragged.text import ragged_tensor_to_string

LONG = [[1, 2, 3, 4, 5, 6, 7, 8], [3], [], [4, 5]]


@pytest.mark.parametrize(
    ("rows", "summarize", "text"),
    [
        (LONG, None, "[[1, 2, 3, ..., 6, 7, 8], [3], [], [4, 5]]"),
        (LONG, 1, "[[1, ..., 8], ..., [4, 5]]"),
        (LONG, -1, "[[1, 2, 3, 4, 5, 6, 7, 8], [3], [], [4, 5]]"),
        ([["a'b"], [r"c\d"]], None, r"[['a\'b'], ['c\\d']]"),
        ([[[1, 2], []], [[3]]], None, "[[[1, 2], []], [[3]]]"),
        ([[]], None, "[[]]"),
    ],
)
def test_texts(rows, summarize, text):
    found = ragged_tensor_to_string(tf.ragged.constant(rows), summarize)
    assert found.numpy().decode() == text
    traced = tf.function(lambda x: ragged_tensor_to_string(x, summarize))
    assert traced(tf.ragged.constant(rows)).numpy().decode() == text


def test_templates_and_refusals(capsys):
    rows = tf.ragged.constant([[1], [2, 3]])
    assert tf.strings.format("{} and {}", (rows, tf.constant("x"))).numpy() == b'[[1], [2, 3]] and "x"'
    tf.print({"a": rows}, 5)
    assert capsys.readouterr().err == "{'a': [[1], [2, 3]]} 5\n"
    with pytest.raises(ValueError, match=r"Expected summarize to be .*, got 0"):
        ragged_tensor_to_string(rows, 0)


@pytest.mark.parametrize(
    ("how", "sums"),
    [
        ({}, [[1, 3, 6], [4], [], [5, 11]]),
        ({"exclusive": True}, [[0, 1, 3], [0], [], [0, 5]]),
        ({"reverse": True}, [[6, 5, 3], [4], [], [11, 6]]),
        ({"exclusive": True, "reverse": True}, [[5, 3, 0], [0], [], [6, 0]]),
    ],
)
def test_running_sums_stay_in_their_rows(how, sums):
    assert tf.cumsum(tf.ragged.constant([[1, 2, 3], [4], [], [5, 6]]), axis=1, **how).to_list() == sums
