"""Sorted segments: gaps between ids are empty segments, whatever the fold and the dtype."""

import numpy as np
import pytest

import ebbflow as tf

IDS = [1, 1, 4, 4, 4]
ROWS = np.arange(1, 11).reshape(5, 2)
FOLDS = {
    "segment_sum": (np.add.reduce, 0),
    "segment_prod": (np.multiply.reduce, 1),
    "segment_max": (np.maximum.reduce, 0),
    "segment_min": (np.minimum.reduce, 0),
    "segment_mean": (lambda rows: rows.sum(0) / len(rows), 0),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
@pytest.mark.parametrize("name", FOLDS)
def test_gaps_are_empty_segments(name, dtype):
    fold, empty = FOLDS[name]
    data = tf.cast(ROWS, dtype)
    wide = ROWS.astype(np.float64)
    expected = np.full([5, 2], empty, np.float64)
    expected[1], expected[4] = fold(wide[:2]), fold(wide[2:])
    if name == "segment_prod" and dtype == "int8":
        expected = expected.astype(np.int64).astype(np.int8)
    result = getattr(tf.math, name)(data, IDS)
    assert result.dtype == data.dtype
    np.testing.assert_allclose(tf.cast(result, "float64").numpy(), expected, rtol=1e-2)


def test_a_nan_goes_when_the_next_row_comes():
    data = [[np.nan], [2.0], [1.0], [np.nan]]
    np.testing.assert_array_equal(tf.math.segment_max(data, [0, 0, 1, 1]).numpy(), [[2.0], [np.nan]])
    assert np.isnan(tf.math.segment_sum(data, [0, 0, 1, 1]).numpy()).all()
