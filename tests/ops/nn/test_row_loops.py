"""Many short rows as machine code: softmax and cross entropies are NumPy's to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.nn import bias_softmax, cross_entropy, row_loops


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 10, 16, 31, 40, 64])
def test_rows_are_numpys(width, monkeypatch):
    x = np.random.RandomState(width).randn(3, 2000, width).astype(np.float32) * 3
    x[0, 5], x[1, 6, 0], x[2, 7] = np.nan, np.inf, -np.inf
    flat = x.reshape(-1, width)
    calls = [
        lambda: bias_softmax.Softmax.kernel_fn(np, x),
        lambda: bias_softmax.LogSoftmax.kernel_fn(np, x),
        lambda: cross_entropy.SoftmaxCrossEntropyWithLogits.kernel_fn(np, flat, flat[::-1].copy())[1],
    ]
    with np.errstate(all="ignore"):
        for call in calls:
            call()
        late_code.settle()
        quick = [call() for call in calls]
        monkeypatch.setattr(row_loops, "WIDEST", 0)
        for a, call in zip(quick, calls, strict=True):
            np.testing.assert_array_equal(a, call())


@pytest.mark.parametrize("k", [1, 3, 10])
def test_top_k(k, monkeypatch):
    x = np.random.default_rng(0).integers(0, 6, (50, 10)).astype(np.float32)
    x[3, 4] = np.inf
    call = lambda array: [t.numpy() for t in tf.math.top_k(array, k)]
    monkeypatch.setattr(row_loops.top_of_rows, "spent", -(1 << 60))
    expected = call(x)
    monkeypatch.setattr(row_loops.top_of_rows, "spent", PAYS)
    call(x)
    late_code.settle()
    assert row_loops.top_of_rows.code() is not None
    for found, wanted in zip(call(x), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    x[7, 2] = np.nan
    by_code = call(x)
    monkeypatch.setattr(row_loops.top_of_rows, "spent", -(1 << 60))
    for found, wanted in zip(by_code, call(x), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("merge", [True, False])
def test_greedy_decoding(merge, monkeypatch):
    random = np.random.default_rng(1)
    x = random.integers(0, 3, (9, 4, 5)).astype(np.float32)
    x[2, 1, 3] = np.nan
    lengths = np.array([9, 0, 5, 1], np.int32)

    def call():
        (decoded,), scores = tf.nn.ctc_greedy_decoder(x, lengths, merge)
        return [part.numpy() for part in (decoded.indices, decoded.values, decoded.dense_shape, scores)]

    monkeypatch.setattr(row_loops.largest_of_rows, "spent", -(1 << 60))
    expected = call()
    monkeypatch.setattr(row_loops.largest_of_rows, "spent", PAYS)
    call()
    late_code.settle()
    for found, wanted in zip(call(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    labels = [[] for _ in lengths]
    for (row, _), value in zip(expected[0], expected[1], strict=True):
        labels[row].append(value)
    for b, length in enumerate(lengths):
        best, wanted = x[:length, b].argmax(-1), []
        for t, label in enumerate(best):
            if label != 4 and not (merge and t and label == best[t - 1]):
                wanted.append(label)
        assert labels[b] == wanted


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (3, 10), (2, 3, 70)])
def test_places_of_the_largest(shape, monkeypatch):
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32) * np.float32(-1)
    x[-1, ..., 0], x[0, ..., -1] = np.nan, -np.inf
    x[x == 1] = -0.0  # no zero is larger than the other
    monkeypatch.setattr(row_loops.largest_of_rows, "spent", -(1 << 60))
    expected = [tf.argmax(x, -1).numpy(), tf.argmax(x, len(shape) - 1, tf.int32).numpy()]
    monkeypatch.setattr(row_loops.largest_of_rows, "spent", PAYS)
    row_loops.largest_of_rows.code()
    late_code.settle()
    found = [tf.argmax(x, -1).numpy(), tf.argmax(x, len(shape) - 1, tf.int32).numpy()]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    places, values = row_loops.largest_places(x)
    np.testing.assert_array_equal(places, x.argmax(-1))
    np.testing.assert_array_equal(values, x.max(-1))
