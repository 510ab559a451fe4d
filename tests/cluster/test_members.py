"""Who is who among the workers of a program; the answers are TensorFlow's."""

from __future__ import annotations

import pytest

from ebbflow.cluster import members

WORKERS = {"worker": ["a:1", "b:2"]}
CHIEF = {"chief": ["c:0"], "worker": ["a:1", "b:2"], "ps": ["d:1"]}
FIRST_WORKER, FIRST_CHIEF = "/job:worker/replica:0/task:0", "/job:chief/replica:0/task:0"


@pytest.mark.parametrize(
    "spec, task, chief, number, leader, count",
    [
        (WORKERS, ("worker", 0), True, 0, FIRST_WORKER, 2),
        (WORKERS, ("worker", 1), False, 1, FIRST_WORKER, 2),
        (WORKERS, ("evaluator", 0), True, 0, "", 0),
        (CHIEF, ("chief", 0), True, 0, FIRST_CHIEF, 3),
        (CHIEF, ("worker", 1), False, 2, FIRST_CHIEF, 3),
    ],
)
def test_who_is_who(spec, task, chief, number, leader, count):
    found = members.is_chief(spec, *task), members.id_in_cluster(spec, *task), members.collective_leader(spec, *task)
    assert (*found, members.worker_count(spec, task[0])) == (chief, number, leader, count)


@pytest.mark.parametrize(
    "spec, task, words",
    [
        (WORKERS, ("chief", 0), "`task_type` 'chief' not found"),
        (WORKERS, ("worker", 2), "The `task_id` 2 exceeds the maximum id of worker."),
        (WORKERS, ("gorker", 0), "Unrecognized task_type: gorker"),
        (CHIEF, ("ps", 0), "There is no id for task_type 'ps'"),
        ({"chief": ["a:1", "b:1"]}, ("chief", 0), "at most one 'chief' job"),
        ({"foo": ["a:1"]}, ("worker", 0), "Disallowed task type"),
        (["a:1"], ("worker", 0), "should be dict or"),
    ],
)
def test_refused(spec, task, words):
    with pytest.raises(ValueError, match=words):
        members.id_in_cluster(spec, *task)
