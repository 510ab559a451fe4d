"""Dropout for self-normalizing networks keeps mean and deviation; what is no probability is refused."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import self_normalizing


def test_mean_and_deviation_stay():
    x = np.random.default_rng(0).normal(size=200_000).astype("float32")
    y = self_normalizing.alpha_dropout(x, 0.7).numpy()
    np.testing.assert_allclose([y.mean(), y.std()], [0.0, 1.0], atol=0.02)
    changed = self_normalizing.alpha_dropout(np.ones([1000, 2], "float32"), 0.5, noise_shape=[1000, 1], seed=1).numpy()
    assert (changed[:, 0] == changed[:, 1]).all() and len(np.unique(changed)) == 2


def test_what_is_no_probability_is_refused():
    for keep in (0.0, -0.1, 1.5):
        with pytest.raises(ValueError, match="keep_prob must be a scalar tensor or a float in the range"):
            self_normalizing.alpha_dropout([1.0], keep)
    with pytest.raises(ValueError, match="rank"):
        self_normalizing.alpha_dropout([1.0], tf.constant([0.5]))
