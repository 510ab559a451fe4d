"""Shapes that are known in part, and what follows from them."""

from __future__ import annotations

import pytest

from ebbflow import v1 as tf
from ebbflow.compiler.build import build

size = lambda x, i: tf.shape(x)[i]
CASES = {
    "an element": (lambda x: tf.zeros([size(x, 0), 5]), (4, 5)),
    "one that is open": (lambda x: tf.zeros([size(x, 1), 5]), (None, 5)),
    "joined": (lambda x: tf.zeros(tf.concat([tf.shape(x)[:2], [7]], 0)), (4, None, 7)),
    "gathered": (lambda x: tf.zeros(tf.gather(tf.shape(x), [2, 0, 1])), (3, 4, None)),
    "turned": (lambda x: tf.zeros(tf.reverse(tf.shape(x, out_type=tf.int64), [0])), (3, None, 4)),
    "computed": (lambda x: tf.zeros([size(x, 0) * 2 - 1, size(x, 1) * 0]), (7, 0)),
    "of two axes": (lambda x: tf.zeros([size(x, 0) * size(x, 2), size(x, 0) * size(x, 1)]), (12, None)),
    "at most": (lambda x: tf.zeros([tf.minimum(size(x, 1), 6)]), (None,)),
    "at least": (lambda x: tf.zeros([tf.maximum(size(x, 1), 1)]), (None,)),
    "half": (lambda x: tf.zeros([size(x, 1) // 100_000]), (None,)),
    "in large pieces": (lambda x: tf.zeros([size(x, 1) // 200_000, size(x, 0) // 200_000]), (None, 0)),
    "in larger pieces": (lambda x: tf.zeros([tf.shape(x, out_type=tf.int64)[1] // 2**33]), (None,)),
    "a difference": (lambda x: tf.zeros([size(x, 1) - size(x, 2) + 2, size(x, 0) - 4]), (None, 0)),
    "a difference of elements": (lambda x: tf.zeros([tf.reduce_sum(tf.shape(x)[1:] * [1, -1]) + 2]), (None,)),
    "chosen": (lambda x: tf.zeros([tf.where(tf.equal(size(x, 1), 5), 1, 2)]), (None,)),
    "unpacked": (lambda x: tf.zeros(tf.unstack(tf.shape(x))[::2]), (4, 3)),
    "all at once": (lambda x: tf.zeros([tf.size(x)]), (None,)),
    "cast there and back": (lambda x: tf.zeros([tf.cast(tf.cast(size(x, 0), tf.int64), tf.int32)]), (4,)),
}

TWO = ("a difference", "a difference of elements")
"""Cases of which two axes are open."""


@pytest.mark.parametrize("case", CASES)
def test_dims(case):
    make, dims = CASES[case]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, None, None])
        y = make(x)
        flow = build(graph._nodes, [x], [(4, None, 3 if case not in TWO else None)], [y])
    assert flow.outputs[0].dims == dims
