"""What a run does of a loop of which it asks for some variables only: what these wait for, as TensorFlow 1.15 does."""

from __future__ import annotations

import json
import pathlib

import pytest

import ebbflow as tf
from tests.golden.control_flow import pruned

RECORDED = json.loads((pathlib.Path(pruned.__file__).parent / "pruned.json").read_text())
v1 = tf.compat.v1


@pytest.fixture(params=["raw", "functional"])
def control_flow(request):
    before = v1.control_flow_v2_enabled()
    (v1.enable_control_flow_v2 if request.param == "functional" else v1.disable_control_flow_v2)()
    yield
    (v1.enable_control_flow_v2 if before else v1.disable_control_flow_v2)()


@pytest.mark.parametrize("name", pruned.PROGRAMS)
def test_effects_of_what_is_not_fetched_are_left_undone(control_flow, name):
    for fetch in pruned.FETCHES:
        found = json.loads(json.dumps(pruned.answer(v1, pruned.PROGRAMS[name], fetch)))
        assert found == RECORDED[f"{name} {fetch}"], fetch


def build(counts):
    """A choice and a loop with effects that nobody waits for, beside one that a result waits for."""

    def branch():
        counts[0].assign_add(1.0)
        with tf.control_dependencies([counts[1].assign_add(1.0)]):
            return tf.constant(10)

    chosen = tf.cond(tf.constant(True), branch, lambda: tf.constant(0))
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x + branch()), [0, chosen])[1]


def test_a_wrapped_function_does_no_more_than_its_results_wait_for():
    counts = [tf.Variable(0.0), tf.Variable(0.0)]
    wrapped = v1.wrap_function(lambda: build(counts), [])
    assert int(wrapped()) == 30
    assert [float(v) for v in counts] == [0.0, 3.0]


def test_a_function_does_all_that_is_written_in_it():
    counts = [tf.Variable(0.0), tf.Variable(0.0)]
    assert int(tf.function(lambda: build(counts))()) == 30
    assert [float(v) for v in counts] == [3.0, 3.0]
