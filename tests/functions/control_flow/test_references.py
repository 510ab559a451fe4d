"""Reference variables that one body reads and assigns: the numbers of TensorFlow 1.15."""

from __future__ import annotations

import json
import pathlib

import pytest

import ebbflow as tf
from tests.golden.control_flow import references

RECORDED = json.loads((pathlib.Path(references.__file__).parent / "references.json").read_text())


@pytest.fixture(scope="module")
def answers():
    return references.answers(tf)


@pytest.mark.parametrize("name", references.PROGRAMS)
def test_numbers_are_those_of_tf1(answers, name):
    assert answers[name] == RECORDED[name]
