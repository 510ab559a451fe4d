"""Clipping by value and by norm."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from tests.ops.cases import MODES, Case, Refusal, args


def by_norm(x, limit, axis=None):
    norm = np.sqrt(np.sum(x * x, axis=axis, keepdims=True))
    return x * limit / np.maximum(norm, limit)


CASES = [
    Case(lambda x: tf.clip_by_value(x, -1.0, 1.2), args("2 3"), lambda x: np.clip(x, -1.0, 1.2), smooth=1,
         name="value"),
    Case(lambda x, lo, hi: tf.clip_by_value(x, lo, hi), [*args("2 3"), np.full(3, -1.0), np.array([[0.5], [1.0]])],
         np.clip, smooth=1, name="value"),
    Case(lambda x: tf.clip_by_value(x, -1, 1), args("5", dtype="int32"), lambda x: np.clip(x, -1, 1), name="value"),
    Case(lambda x: tf.clip_by_norm(x, 1.5), args("2 3"), lambda x: by_norm(x, 1.5), name="norm"),
    Case(lambda x: tf.clip_by_norm(x, 50.0), args("2 3"), lambda x: x, name="norm_large"),
    Case(lambda x: tf.clip_by_norm(x, 1.5, axes=[1]), args("2 3"), lambda x: by_norm(x, 1.5, 1), name="norm_rows"),
    Case(lambda x, lo, hi: tf.raw_ops.ClipByValue(t=x, clip_value_min=lo, clip_value_max=hi),
         [*args("2 3"), np.array(-1.0), np.full((2, 3), 1.2)], np.clip, smooth=1, name="ClipByValue"),
    Refusal(lambda x: tf.clip_by_value(x, 0.0, [[1.0], [2.0]]), args("3"), says="incompatible", name="value"),
    Refusal(lambda x, lo, hi: tf.raw_ops.ClipByValue(t=x, clip_value_min=lo, clip_value_max=hi), args("2 3", "3", ""),
            says="same shape", name="ClipByValue"),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_a_zero_tensor_has_a_finite_gradient():
    x = tf.zeros([3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.clip_by_norm(x, 1.0)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0, 1.0]


def test_average_norm():
    x = np.array([3.0, 4.0], np.float32)
    np.testing.assert_allclose(tf.compat.v1.clip_by_average_norm(x, 1.0).numpy(), x / (5 / 2))


class TestGlobalNorm:
    def test_values(self):
        clipped, norm = tf.clip_by_global_norm([[3.0], None, [[4.0]]], 2.5)
        assert norm.numpy() == 5.0
        assert [None if t is None else t.numpy().tolist() for t in clipped] == [[1.5], None, [[2.0]]]
        assert tf.linalg.global_norm([[3.0], None, [4.0]]).numpy() == 5.0

    def test_small_ones_are_left_alone(self):
        clipped, _ = tf.clip_by_global_norm([[0.3], [0.4]], 2.5)
        np.testing.assert_allclose([t.numpy()[0] for t in clipped], [0.3, 0.4], 1e-6)

    def test_a_given_norm_is_used(self):
        clipped, norm = tf.clip_by_global_norm([[3.0]], 1.0, use_norm=tf.constant(6.0))
        assert (clipped[0].numpy().tolist(), norm.numpy()) == ([0.5], 6.0)

    def test_rows_stay_rows(self):
        rows = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([0, 5]))
        (clipped,), norm = tf.clip_by_global_norm([rows], 2.5)
        assert norm.numpy() == 5.0
        assert clipped.values.numpy().tolist() == [[1.5], [2.0]]
        assert clipped.indices is rows.indices
        assert isinstance(tf.clip_by_value(rows, 0.0, 1.0), tf.IndexedSlices)
        assert isinstance(tf.clip_by_norm(rows, 1.0), tf.IndexedSlices)

    def test_a_norm_that_is_not_finite_shows(self):
        clipped, norm = tf.clip_by_global_norm([[np.inf], [1.0]], 1.0)
        assert np.isinf(norm.numpy())
        assert all(np.isnan(t.numpy()).all() for t in clipped)

    def test_a_sequence_is_needed(self):
        with pytest.raises(TypeError, match="sequence"):
            tf.clip_by_global_norm({"a": 1.0}, 1.0)


@pytest.mark.parametrize("norm", [-1.0, float("-inf"), 0.0])
def test_a_norm_below_zero_is_none(norm):
    assert tf.clip_by_norm([1.0, 2.0, 3.0], norm).numpy().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_many_numbers_are_clipped_as_few(dtype):
    x = np.random.default_rng(0).normal(0, 5, (3, 70_001)).astype(dtype)
    if dtype is not np.int32:
        x[0, :4] = np.nan, np.inf, -np.inf, -0.0
    for low, high in ((-2, 3), (3, -2), *(() if dtype is np.int32 else ((np.nan, 1), (0, np.nan), (-np.inf, 0)))):
        call = lambda low=low, high=high: tf.clip_by_value(x, dtype(low), dtype(high)).numpy()
        first = call()
        late_code.settle()
        np.testing.assert_array_equal(first, np.maximum(np.minimum(x, dtype(high)), dtype(low)))
        np.testing.assert_array_equal(call(), first)
    np.testing.assert_array_equal(tf.saturate_cast(x[1:], tf.uint8).numpy(), np.clip(x[1:], 0, 255).astype(np.uint8))
