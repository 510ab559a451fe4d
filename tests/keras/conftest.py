"""Tests with the real Keras on Ebbflow; skipped where it is not installed."""

import importlib.util
import os

import pytest

import ebbflow as tf

if importlib.util.find_spec("keras") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")


@pytest.fixture
def keras():
    """The package, with seeds set and names counted from the beginning."""
    tf.keras.utils.set_random_seed(7)
    tf.keras.backend.clear_session()
    return tf.keras
