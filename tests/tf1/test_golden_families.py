"""Families of `tf.contrib`: what TensorFlow 1.15 answered, asked of the TF 1 door in a process of its own."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests.golden.contrib import families

RECORDED = json.loads(pathlib.Path(families.__file__).with_suffix(".json").read_text())
ASK = """
import importlib.util, json, sys
import ebbflow.v1 as tf
spec = importlib.util.spec_from_file_location("families", sys.argv[1])
families = importlib.util.module_from_spec(spec)
spec.loader.exec_module(families)
print(json.dumps(families.answers(tf)))
"""


@pytest.fixture(scope="module")
def answers():
    child = subprocess.run(
        [sys.executable, "-c", ASK, families.__file__], capture_output=True, text=True, timeout=240, check=False
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


def test_every_case_is_recorded():
    assert list(RECORDED) == list(families.CASES)


@pytest.mark.parametrize("name", families.CASES)
def test_recorded(answers, name):
    assert len(answers[name]) == len(RECORDED[name])
    for ours, theirs in zip(answers[name], RECORDED[name], strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if theirs.dtype.kind in "US":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
