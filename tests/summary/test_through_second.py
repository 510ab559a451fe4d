"""Summary ops of TF 1 where TensorFlow 2's manners hold: they write to its default writer."""

from __future__ import annotations

import glob

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1
CALLS = {
    "scalar": lambda: v1.summary.scalar("x", 2.5, family="own"),
    "histogram": lambda: v1.summary.histogram("x", [1.0, 2.0], family="own"),
    "image": lambda: v1.summary.image("x", np.zeros((1, 2, 2, 1), np.float32), family="own"),
    "audio": lambda: v1.summary.audio("x", np.zeros((1, 8), np.float32), 8000, family="own"),
    "text": lambda: v1.summary.text("x", tf.constant("words")),
}


def written(folder):
    events = [e for file in glob.glob(f"{folder}/*") for e in v1.train.summary_iterator(file)]
    return [(event.step, value.tag) for event in events for value in event.summary.value]


@pytest.mark.parametrize("kind", CALLS)
def test_a_summary_goes_to_the_default_writer(kind, tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3):
        assert CALLS[kind]().numpy() == b""
    assert written(tmp_path) == [(3, "x" if kind == "text" else "own/own/x")]


def test_without_writer_or_step_it_is_a_message_as_ever(tmp_path):
    with pytest.warns(UserWarning, match="default summary writer not found"):
        assert v1.summary.scalar("x", 2.5).numpy() != b""
    writer = tf.summary.create_file_writer(str(tmp_path))
    with pytest.warns(UserWarning, match="global step not set"), writer.as_default():
        assert v1.summary.scalar("x", 2.5).numpy() != b""


@pytest.mark.parametrize("step", [(), [1, 2], tf.ones([2])], ids=str)
def test_a_step_is_one_number(step, tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(), pytest.raises(ValueError, match="must be a scalar"):
        tf.summary.scalar("x", 1.0, step=step)
