"""Programs with tf.function answer as TensorFlow 2.21 did: traces, signatures, results, errors, graphs, seeds."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

import ebbflow as tf
from tests.golden.functions import cases

GOLDEN = pathlib.Path(cases.__file__).parent

OWN_WORDS = {
    ("refusals", "numpy of a tensor"): "says what to do instead, and calls the class by its public name",
}
"""Errors of the recorded class in words of our own, and why."""

REFUSED = {
    ("taken", "None, tf.bool <- np.array(['a'])"): "TensorFlow takes any text for true",
}
"""What TensorFlow answers wrongly and Ebbflow refuses."""


def recorded(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def answers():
    """Ebbflow's answers, each program run once."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = json.loads(json.dumps(cases.PROGRAMS[name](tf)))
        return found[name]

    return of


ROWS = [(name, row) for name in cases.PROGRAMS if name not in ("seeds", "refusals") for row in recorded(name)]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}-{row}" for name, row in ROWS])
def test_answers_as_recorded(answers, name, row):
    assert answers(name)[row] == ("TypeError" if (name, row) in REFUSED else recorded(name)[row])


@pytest.mark.parametrize("row", recorded("refusals"))
def test_refuses_as_recorded(answers, row):
    classes, text = recorded("refusals")[row]
    own_classes, own_text = answers("refusals")[row]
    assert set(classes) <= set(own_classes)
    if ("refusals", row) not in OWN_WORDS:
        opening = re.split(r"[.:;](?: |$)", text)[0]  # the rest is TensorFlow's advice
        assert opening in own_text


def test_seeded_draws(answers):
    assert answers("seeds") == recorded("seeds")
