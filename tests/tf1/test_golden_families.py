"""Families of `tf.contrib`, and names that programs use: what TensorFlow 1.15 answered, asked of the TF 1 door in a
process of its own.
"""

import functools
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests.golden.contrib import census, families, later_families, rare_families

ASK = """
import importlib, json, sys
import ebbflow.v1 as tf
print(json.dumps(importlib.import_module(sys.argv[1]).CASES.answers(tf)))
"""


@functools.cache
def recorded(cases):
    return json.loads(pathlib.Path(cases.__file__).with_suffix(".json").read_text())


@functools.cache
def answers(cases):
    command = [sys.executable, "-c", ASK, cases.__name__]
    root = pathlib.Path(__file__).parents[2]
    child = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=root)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


FILES = (families, census, rare_families, later_families)


@pytest.mark.parametrize("cases", FILES)
def test_every_case_is_recorded(cases):
    assert list(recorded(cases)) == list(cases.CASES)


@pytest.mark.parametrize(("cases", "name"), [(cases, name) for cases in FILES for name in cases.CASES])
def test_recorded(cases, name):
    assert len(answers(cases)[name]) == len(recorded(cases)[name])
    for ours, theirs in zip(answers(cases)[name], recorded(cases)[name], strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if theirs.dtype.kind in "US":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
