"""Glimpses: TensorFlow's windows, noise of the image's range outside of it, and what is refused."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf

PLACE = pathlib.Path(__file__).resolve().parents[2] / "golden" / "glimpses" / "glimpse_cases.py"
spec = importlib.util.spec_from_file_location("glimpse_cases", PLACE)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
RECORDED = json.loads(PLACE.with_suffix(".json").read_text())


def test_windows_are_tensorflows():
    wrong = [c for c, told in zip(cases.CASES, RECORDED, strict=True) if cases.answer(tf, c) != told]
    assert not wrong


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_is_of_the_images_range(noise):
    image = np.random.RandomState(0).uniform(5, 8, (1, 6, 6, 2)).astype(np.float32)
    outside = tf.image.extract_glimpse(image, [20, 20], [[90.0, 90.0]], False, False, noise).numpy()
    assert image.min() <= outside.min() < outside.max() <= image.max()


def test_the_older_function_takes_the_middle_and_graphs_know_the_shape():
    @tf.function(input_signature=[tf.TensorSpec([None, 4, 4, 1]), tf.TensorSpec([None, 2])])
    def look(image, at):
        found = tf.compat.v1.image.extract_glimpse(image, [2, 2], at)
        assert found.shape.as_list() == [None, 2, 2, 1]
        return found

    image = np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1)
    assert look(image, [[0.0, 0.0]]).numpy().reshape(-1).tolist() == [5.0, 6.0, 9.0, 10.0]


REFUSED = [
    ({"input": np.zeros((2, 3, 4), np.float32)}, "4-dimensional"),
    ({"size": [1]}, "vector of size 2"),
    ({"size": [-1, 2]}, "must be >= 0"),
    ({"offsets": [[0.0, 0.0, 0.0]]}, r"size 2 \(y,x\)"),
    ({"offsets": [[0.0, 0.0]] * 2}, "should be batch"),
    ({"noise": "pink"}, "could only be uniform, gaussian, or zero"),
]


@pytest.mark.parametrize(("wrong", "says"), REFUSED)
def test_refusals(wrong, says):
    good = {"input": np.zeros((1, 3, 4, 1), np.float32), "size": [1, 1], "offsets": [[0.0, 0.0]]}
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=says):
        tf.image.extract_glimpse(**{**good, **wrong})
