"""HParams answers what TensorFlow 1.15's does, errors included."""

from __future__ import annotations

import json
import pathlib

import pytest

from ebbflow.tf1.hparams import HParams, parse_values
from tests.golden.contrib import hparams

RECORDED = json.loads(pathlib.Path(hparams.__file__).with_suffix(".json").read_text())


def test_all_calls_are_recorded():
    assert set(hparams.answers(HParams)) == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_answers(name):
    assert hparams.answers(HParams)[name] == RECORDED[name]


def test_unknown_names_may_be_ignored():
    assert parse_values("a=1,b=2", {"b": int}, ignore_unknown=True) == {"b": 2}
