"""Columns give what TensorFlow 1.15's give: values, names of variables, what is read from Examples."""

import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.feature_columns import column_cases

RECORDED = json.loads(pathlib.Path(column_cases.__file__).with_suffix(".json").read_text())


@pytest.fixture(scope="module")
def answers():
    return column_cases.answers(tf.compat.v1)


def test_all_cases_are_recorded(answers):
    assert set(answers) == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_answers(answers, name):
    np.testing.assert_allclose(answers[name][0], RECORDED[name][0], atol=2e-5)
    assert json.loads(json.dumps(answers[name][1:])) == RECORDED[name][1:]
