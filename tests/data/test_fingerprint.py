"""Fingerprints of datasets: the same for the same calls, in any process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import ebbflow as tf

Dataset = tf.data.Dataset


def chain(factor=2, seed=1):
    numbers = Dataset.from_tensor_slices(np.arange(6)).map(lambda x: tf.cond(x > 2, lambda: x * factor, lambda: x))
    return Dataset.zip((numbers.shuffle(3, seed=seed), Dataset.range(6))).batch(2).prefetch(2)


def test_the_same_calls_have_the_same_fingerprint():
    first = chain().fingerprint()
    assert first.dtype == tf.uint64 and first.shape == ()
    assert int(first) == int(chain().fingerprint())
    assert len({int(d.fingerprint()) for d in (chain(), chain(3), chain(seed=2), chain().take(2))}) == 4
    inside = tf.function(lambda: Dataset.range(3).fingerprint())
    assert int(inside()) == int(Dataset.range(3).fingerprint())


def test_another_process_finds_the_same():
    program = "import ebbflow as tf; print(int(tf.data.Dataset.range(3).map(lambda x: x + 1).batch(2).fingerprint()))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert int(found.stdout) == int(Dataset.range(3).map(lambda x: x + 1).batch(2).fingerprint())
