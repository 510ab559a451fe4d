"""Variables are put on parameter servers: in turn, by load, by a cluster's size. (Graphs: tests/graph.)"""

import pytest

import ebbflow as tf
from ebbflow.train import device_setter as training

v1 = tf.compat.v1


def devices(setter, shapes=((2,), (3,), (4,), (5,)), **options):
    with tf.Graph().as_default(), v1.device(setter):
        made = [v1.get_variable(f"v{i}", shape, **options) for i, shape in enumerate(shapes)]
        total = tf.add_n([tf.reduce_sum(v) for v in made])
    return [v.device for v in made], total.device


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_go_round(use_resource):
    found, rest = devices(v1.train.replica_device_setter(ps_tasks=2), use_resource=use_resource)
    assert found == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0", "/job:ps/task:1"]
    assert rest == "/job:worker"


CLUSTER = {"ps": ["a:1", "b:1", "c:1"], "worker": ["d:1"]}


SPEC = v1.train.ClusterSpec(CLUSTER)


@pytest.mark.parametrize("cluster", [CLUSTER, SPEC, SPEC.as_cluster_def()], ids=["dictionary", "spec", "message"])
def test_a_cluster_says_how_many_servers_there_are(cluster):
    setter = v1.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0")
    found, rest = devices(setter)
    assert found[-2:] == ["/job:ps/task:2", "/job:ps/task:0"] and rest == "/job:worker/task:0"


@pytest.mark.parametrize("options", [{}, {"cluster": {"worker": ["d:1"]}}])
def test_without_servers_there_is_no_function(options):
    assert v1.train.replica_device_setter(**options) is None


def test_a_device_that_was_asked_for_stays():
    with tf.Graph().as_default(), v1.device(v1.train.replica_device_setter(ps_tasks=2)):
        with v1.device("/cpu:0"):
            assert v1.get_variable("v", [2]).device == "/job:ps/task:0/device:CPU:0"
        with v1.device("/job:other/task:5"):
            assert v1.get_variable("w", [2]).device == "/job:other/task:5"


def test_greedy_balancing():
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    setter = v1.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)
    found, _ = devices(setter, shapes=[(100,), (10,), (10,), (200,), (1,)])
    assert [name[-1] for name in found] == ["0", "1", "1", "1", "0"]


def test_a_strategy_must_be_a_function():
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        v1.train.replica_device_setter(ps_tasks=1, ps_strategy=3)


def test_clusters():
    cluster = v1.train.ClusterSpec({"ps": {2: "a:1", 0: "b:1"}, "worker": ["c:1"]})
    assert cluster.jobs == ["ps", "worker"] and cluster.num_tasks("ps") == 2
    assert cluster.as_dict() == {"ps": {2: "a:1", 0: "b:1"}, "worker": ["c:1"]}
    assert cluster.job_tasks("ps") == ["b:1", None, "a:1"] and cluster.task_indices("ps") == [0, 2]
    assert cluster.task_address("worker", 0) == "c:1"
    assert v1.train.ClusterSpec(cluster.as_cluster_def()) == cluster
    with pytest.raises(ValueError, match="No such job in cluster"):
        cluster.num_tasks("chief")
