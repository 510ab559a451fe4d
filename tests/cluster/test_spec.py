"""Clusters as data."""

from __future__ import annotations

import pytest

import ebbflow as tf

SPEC = tf.train.ClusterSpec({"ps": {1: "a:1", 4: "b:1"}, "worker": ["c:1", "d:1"]})


def test_a_cluster_with_holes():
    assert SPEC.num_tasks("ps") == 2
    assert SPEC.task_indices("ps") == [1, 4]
    assert SPEC.job_tasks("ps") == [None, "a:1", None, None, "b:1"]
    assert SPEC.as_dict() == {"ps": {1: "a:1", 4: "b:1"}, "worker": ["c:1", "d:1"]}
    assert SPEC.task_address("ps", 4) == "b:1"


@pytest.mark.parametrize("as_what", ["dict", "def", "spec"])
def test_the_ways_to_say_it_agree(as_what):
    given = {"dict": SPEC.as_dict(), "def": SPEC.as_cluster_def(), "spec": SPEC}[as_what]
    assert tf.train.ClusterSpec(given) == SPEC


@pytest.mark.parametrize(("job", "task", "says"), [("chief", 0, "No such job"), ("ps", 0, "No task with index 0")])
def test_who_is_not_there_is_named(job, task, says):
    with pytest.raises(ValueError, match=says):
        SPEC.task_address(job, task)


@pytest.mark.parametrize("tasks", [[3], {1: 3}, 3])
def test_an_address_is_a_string(tasks):
    with pytest.raises(TypeError, match="must be"):
        tf.train.ClusterSpec({"ps": tasks})
