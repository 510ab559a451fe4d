"""Public functions answer as TensorFlow 2.21 did, eagerly and inside functions (see `calls`)."""

import pytest

import ebbflow as tf
from tests.ops import calls

CASES = [(family, name) for family in calls.families() for name in calls.load(family)]


@pytest.mark.parametrize("family", calls.families())
def test_answers_as_recorded(family):
    recorded, failures = calls.load(family), []
    for name, function, _ in calls.cases(family, tf):
        departure = calls.difference(calls.run(tf, function), recorded[name])
        if departure:
            failures.append(f"{name}: {departure}")
    assert not failures, f"{len(failures)} of {len(recorded)} depart from TensorFlow\n" + "\n".join(failures)


@pytest.mark.parametrize("family", calls.families())
def test_answers_as_recorded_in_functions(family):
    recorded, failures = calls.load(family), []
    for name, function, in_graphs in calls.cases(family, tf):
        theirs = recorded[name]
        if not in_graphs or (isinstance(theirs, dict) and "error" in theirs):
            continue
        departure = calls.difference(calls.run(tf, function, graph=True), theirs)
        if departure:
            failures.append(f"{name}: {departure}")
    assert not failures, f"{len(failures)} of {len(recorded)} depart from TensorFlow\n" + "\n".join(failures)


def test_every_case_is_recorded():
    for family in calls.families():
        assert {name for name, *_ in calls.cases(family, tf)} == set(calls.load(family))
    assert len(CASES) > 100


def test_departures_are_noticed():
    one = calls.plain(tf, tf.constant([1.0, 2.0]))
    assert calls.difference(one, one) is None
    assert calls.difference(calls.plain(tf, tf.constant([1.0, 2.001])), one)
    assert calls.difference(calls.plain(tf, tf.constant([1.0, 2.0], tf.float64)), one)
    assert calls.difference({"error": "ValueError", "classes": ["ValueError"]}, one)
    assert calls.difference(one, {"error": "ValueError"})
