"""Reductions by segment, sorted, unsorted, and over chosen rows."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

SORTED = np.array([0, 0, 1, 3], np.int32)
UNSORTED = np.array([1, 0, 1, -1], np.int32)
FOLDS = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}
NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "max": 0, "min": 0}


def folded(x, ids, count, fold, empty):
    rows = [x[ids == i] for i in range(count)]
    return np.array([fold(r, 0) if len(r) else np.full(x.shape[1:], empty) for r in rows])


def sorted_case(kind, dims):
    fn = getattr(tf.math, f"segment_{kind}")
    return Case(
        lambda x: fn(x, SORTED), args(dims), lambda x: folded(x, SORTED, 4, FOLDS[kind], NEUTRAL[kind]),
        smooth=1 if kind in ("max", "min") else 2, name=f"segment_{kind}",
    )  # fmt: skip


def unsorted_case(kind, dims):
    fn = getattr(tf.math, f"unsorted_segment_{kind}")
    empty = {"max": np.finfo(np.float64).min, "min": np.finfo(np.float64).max}.get(kind, NEUTRAL.get(kind, 0))
    fold = FOLDS.get(kind, lambda r, axis: r.sum(axis) / np.sqrt(len(r)))
    return Case(
        lambda x: fn(x, UNSORTED, 3), args(dims), lambda x: folded(x, UNSORTED, 3, fold, empty),
        smooth=0 if kind in ("max", "min") else 2, name=f"unsorted_segment_{kind}",
    )  # fmt: skip


CASES = [sorted_case(kind, dims) for kind in FOLDS for dims in ("4", "4 2", "4 0")]
CASES += [unsorted_case(kind, dims) for kind in (*FOLDS, "sqrt_n") for dims in ("4", "4 2")]
CASES += [
    Case(lambda x: tf.math.unsorted_segment_sum(x, [[0, 1], [1, 1]], 2), args("2 2 3"),
         lambda x: np.array([x[0, 0], x[0, 1] + x[1, 0] + x[1, 1]]), name="ids_over_two_axes"),
    Case(lambda x: tf.sparse.segment_sum(x, [0, 2, 0], [0, 0, 2]), args("3 2"),
         lambda x: np.array([x[0] + x[2], 0 * x[0], x[0]]), name="sparse_sum"),
    Case(lambda x: tf.sparse.segment_mean(x, [0, 2, 0], [0, 0, 1], num_segments=3), args("3 2"),
         lambda x: np.array([(x[0] + x[2]) / 2, x[0], 0 * x[0]]), name="sparse_mean"),
    Case(lambda x: tf.sparse.segment_sqrt_n(x, [0, 2, 0], [0, 0, 1]), args("3 2"),
         lambda x: np.array([(x[0] + x[2]) / np.sqrt(2), x[0]]), name="sparse_sqrt_n"),
    Refusal(lambda x: tf.math.segment_sum(x, [1, 0]), args("2"), says="segment ids are not increasing", name="down"),
    Refusal(lambda x: tf.math.segment_sum(x, [-1, 0]), args("2"), says="Segment id -1 out of range", name="negative"),
    Refusal(lambda x: tf.math.segment_sum(x, [0]), args("2"), says="same size as dimension 0", name="too_few"),
    Refusal(lambda x: tf.math.unsorted_segment_sum(x, [0, 5], 3), args("2"),
            says="segment_ids[1] = 5 is out of range [0, 3)", name="too_large"),
    Refusal(lambda x: tf.math.unsorted_segment_sum(x, [0, 1], -3), args("2"), says="not be negative", name="count"),
    Refusal(lambda x: tf.math.unsorted_segment_sum(x, [0, 1, 2], 3), args("2"), says="not start with", name="prefix"),
    Refusal(lambda x: tf.sparse.segment_sum(x, [0, 3], [0, 0]), args("3"), says="indices[1] == 3 out of range [0, 3)",
            name="row"),
    Refusal(lambda x: tf.sparse.segment_sum(x, [0], [0, 0]), args("3"), says="same size", name="lengths"),
    Refusal(lambda x: tf.sparse.segment_sum(x, [0, 1], [0, 5], num_segments=4), args("3"), says="< num_segments",
            name="segments"),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


@pytest.mark.parametrize("fn", [tf.math.segment_max, lambda x, i: tf.math.unsorted_segment_max(x, i, 1)])
def test_equal_extremes_share_the_gradient(fn):
    x = tf.constant([2.0, 2.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x, [0, 0, 0])
    assert tape.gradient(y, x).numpy().tolist() == [0.5, 0.5, 0.0]


def test_the_gradient_of_a_product_beside_a_zero():
    x = tf.constant([0.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.segment_prod(x, [0, 0, 0])
    assert tape.gradient(y, x).numpy().tolist() == [12.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bfloat16"])
def test_other_dtypes(dtype):
    x = tf.constant([1, 2, 3, 4], dtype)
    assert tf.math.segment_sum(x, [0, 0, 1, 1]).numpy().tolist() == [3, 7]
    assert tf.math.unsorted_segment_min(x, [0, 0, 1, 1], 2).numpy().tolist() == [1, 3]


def test_more_segments_than_memory_are_refused():
    with pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError)):
        tf.math.unsorted_segment_sum(tf.ones([1, 1000]), [0], tf.constant(2**55, tf.int64))


def test_a_table_gradient_may_be_rows():
    x = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sparse.segment_sum(x, [2, 2, 0], [0, 1, 1], sparse_gradient=True)
    grad = tape.gradient(y, x)
    assert isinstance(grad, tf.IndexedSlices)
    assert tf.convert_to_tensor(grad).numpy().tolist() == [[1.0], [0.0], [2.0]]
