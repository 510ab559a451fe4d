"""Sequences are pooled with paddings that are said."""

import numpy as np
import pytest

import ebbflow as tf


@pytest.mark.parametrize("form", ["NWC", "NCW"])
def test_sequences_are_pooled_with_paddings_that_are_said(form):
    x = np.arange(6.0, dtype=np.float32)
    shape, pads = ((1, 6, 1), [[0, 0], [1, 1], [0, 0]]) if form == "NWC" else ((1, 1, 6), [[0, 0], [0, 0], [1, 1]])
    pooled = tf.nn.max_pool1d(x.reshape(shape), 2, 2, pads, data_format=form)
    assert pooled.numpy().ravel().tolist() == [0.0, 2.0, 4.0, 5.0]
