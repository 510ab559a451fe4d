"""`tf.contrib.learn.RunConfig`: a task's place in its cluster, in processes of their own."""

import json

import pytest

from tests.doors.test_alias import python
from tests.machine import KERAS_2

pytestmark = KERAS_2

SHOW = """
    import ebbflow.v1 as tf
    try:
        c = tf.contrib.learn.RunConfig({arguments})
        print(c.master or "-", c.task_type, c.task_id, c.num_ps_replicas, c.num_worker_replicas, c.is_chief)
        print(c.uid() == tf.contrib.learn.RunConfig({arguments}).uid(), c.uid() != c.replace(model_dir="other").uid())
    except ValueError as error:
        print(str(error).partition(" in the cluster")[0])
"""
CLUSTER = {"ps": ["a:1"], "worker": ["b:1", "b:2"]}
WORKER = {"type": "worker"}


@pytest.mark.parametrize(
    ("tf_config", "arguments", "told"),
    [
        ({}, "", "- None 0 0 0 True True True"),
        ({"cluster": CLUSTER, "task": WORKER | {"index": 1}}, "", "grpc://b:2 worker 1 1 2 False True True"),
        ({"cluster": CLUSTER, "task": WORKER | {"index": 0}}, "master='x'", "x worker 0 1 2 True True True"),
        (
            {"cluster": CLUSTER, "task": {"type": "worker", "index": 2}},
            "",
            "2 is not a valid task_id for task_type worker",
        ),
        ({"cluster": CLUSTER, "task": {"type": "cook"}}, "", "cook is not a valid task_type"),
    ],
)
def test_the_place_in_a_cluster(tf_config, arguments, told):
    assert python(SHOW.format(arguments=arguments), TF_CONFIG=json.dumps(tf_config)) == told.split()
