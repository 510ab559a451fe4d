"""Who is in a cluster, as programs, TF_CONFIG, SLURM and Kubernetes say; TensorFlow 2.21 gave these answers."""

import json
from types import SimpleNamespace as Thing

import pytest

import ebbflow as tf
from ebbflow.cluster.sagemaker import SageMakerClusterResolver
from ebbflow.cluster.tpu_resolver import ENVIRONMENT
from ebbflow.engines import devices as engine_devices
from ebbflow.runtime.session import BaseSession

resolvers = tf.distribute.cluster_resolver
TWO = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}


def simple(cluster, **kwargs):
    return resolvers.SimpleClusterResolver(tf.train.ClusterSpec(cluster), **kwargs)


def test_what_the_program_knows_itself():
    known = simple({"worker": ["a:1", "b:2"], "ps": {1: "c:3"}}, master="m:1", task_type="worker", rpc_layer="grpc")
    assert [known.master(), known.master("worker", 0), known.master("ps", 1, "x")] == [
        "grpc://m:1",
        "grpc://a:1",
        "x://c:3",
    ]
    assert (known.task_type, known.task_id, known.environment, known.num_accelerators()) == ("worker", None, "", {})
    with pytest.raises(ValueError, match="7"):
        known.master("worker", 7)
    with pytest.raises(TypeError, match="ClusterSpec"):
        resolvers.SimpleClusterResolver({"worker": ["a:1"]})


def test_several_together():
    both = resolvers.UnionResolver(simple(TWO, master="m:1", task_id=3), simple({"worker": ["d:4"], "chief": ["e:5"]}))
    expected = {"worker": ["a:1", "b:2", "d:4"], "ps": ["c:3"], "chief": ["e:5"]}
    assert both.cluster_spec().as_dict() == expected
    assert (both.master(), both.master("chief", 0), both.task_id) == ("m:1", "e:5", 3)
    numbered = [simple({"worker": {i: f"x:{i}"}}) for i in (0, 1)]
    assert resolvers.UnionResolver(*numbered).cluster_spec().as_dict() == {"worker": ["x:0", "x:1"]}
    with pytest.raises(KeyError, match="two tasks 1"):
        resolvers.UnionResolver(numbered[1], simple({"worker": {1: "y:1"}})).cluster_spec()
    for bad in [((), {}), ((numbered[0],), {"bad": 1})]:
        with pytest.raises(ValueError, match=r"kwargs|At least"):
            resolvers.UnionResolver(*bad[0], **bad[1])


@pytest.mark.parametrize(
    "config, cluster, master, task",
    [
        ({}, {}, "", (None, None, None)),
        ({"cluster": TWO, "task": {"type": "worker", "index": 1}}, TWO, "b:2", ("worker", 1, None)),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}, {"worker": ["a:1"]}, "",
         ("worker", 0, None)),
        ({"session_master": "z:1"}, {}, "z:1", (None, None, None)),
        ({"cluster": TWO, "task": {"type": "ps", "index": "0"}, "rpc_layer": "http"}, TWO, "http://c:3",
         ("ps", 0, "http")),
        ({"cluster": {"12": ["c:3"], "ps": ["d:4"]}, "task": {"type": 12, "index": 0}}, {"12": ["c:3"], "ps": ["d:4"]},
         "c:3", ("12", 0, None)),
    ],
)  # fmt: skip
def test_tf_config(monkeypatch, config, cluster, master, task):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    told = resolvers.TFConfigClusterResolver()
    assert told.cluster_spec().as_dict() == cluster
    assert told.master() == master
    assert (told.task_type, told.task_id, told.rpc_layer) == task


@pytest.mark.parametrize("text", ["{", "[1]", '"worker"'])
def test_a_tf_config_that_is_none(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TF_CONFIG"):
        resolvers.TFConfigClusterResolver().cluster_spec()


def test_slurm(monkeypatch):
    for name, value in {"PROCID": "3", "STEP_NODELIST": "t02n[13,41-43]", "STEP_TASKS_PER_NODE": "1,2,1,1"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    step = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4}, port_base=8000, gpus_per_node=2, gpus_per_task=1)
    workers = ["t02n41:8000", "t02n41:8001", "t02n42:8000", "t02n43:8000"]
    assert step.cluster_spec().as_dict() == {"ps": ["t02n13:8000"], "worker": workers}
    assert step.get_task_info() == ("worker", 2)
    assert step.master() == "grpc://t02n42:8000"
    assert resolvers.SlurmClusterResolver().cluster_spec().num_tasks("worker") == 5
    with pytest.raises(RuntimeError, match="2 tasks, the job step has 5"):
        resolvers.SlurmClusterResolver({"worker": 2})
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "1,2")
    with pytest.raises(RuntimeError, match="4 nodes"):
        resolvers.SlurmClusterResolver()
    monkeypatch.delenv("SLURM_PROCID")
    with pytest.raises(RuntimeError, match="SLURM_PROCID"):
        resolvers.SlurmClusterResolver()


@pytest.mark.parametrize(
    "gpus, given, expected", [("0,1,2,3", {}, 2), ("0", {}, 0), ("", {}, 0), ("0,1,2,3", {"gpus_per_task": 1}, 1)]
)
def test_slurm_shares_the_gpus_of_a_node_among_its_tasks(monkeypatch, gpus, given, expected):
    for name, value in {"PROCID": "0", "STEP_NODELIST": "n[1-2]", "STEP_TASKS_PER_NODE": "2(x2)"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    assert resolvers.SlurmClusterResolver(**given).num_accelerators() == {"GPU": expected}
    for given in (
        {"gpus_per_task": 3},
        {"gpus_per_node": 0, "gpus_per_task": 1},
        {"gpus_per_node": 3, "gpus_per_task": 2},
    ):
        with pytest.raises(RuntimeError, match="more GPUs per node than available: n1 has"):
            resolvers.SlurmClusterResolver(**given)


@pytest.mark.parametrize(
    "hosts, own, jobs, master, index",
    [
        ('["a-1","a-2"]', "a-2", {"worker": ["a-1:2223", "a-2:2223"]}, "a-2:2223", 1),
        ('["a-1"]', "a-1", {"worker": ["a-1:2223"]}, "", 0),
        ("", "", {}, "", None),
    ],
)
def test_sagemaker(monkeypatch, hosts, own, jobs, master, index):
    monkeypatch.setenv("SM_HOSTS", hosts)
    monkeypatch.setenv("SM_CURRENT_HOST", own)
    told = SageMakerClusterResolver()
    assert (told.cluster_spec().as_dict(), told.master(), told.task_id) == (jobs, master, index)
    assert (told.task_type, told.rpc_layer, told.environment) == ("worker", None, None)
    if master:
        assert told.master("worker", 0, "grpc") == "grpc://a-1:2223"


def test_hosts_of_sagemaker_that_are_no_list(monkeypatch):
    for text in ("{", '{"a": 1}', "[1]"):
        monkeypatch.setenv("SM_HOSTS", text)
        with pytest.raises(tf.errors.InvalidArgumentError, match="SM_HOSTS"):
            SageMakerClusterResolver()


@pytest.mark.parametrize("eagerly", [True, False])
def test_devices_of_a_task(monkeypatch, eagerly):
    """Eagerly those that this process sees, in a graph those that a session of the task lists."""
    names = [("worker/task:0", "GPU:0"), ("worker/task:0", "TPU:1"), ("worker/task:1", "GPU:0"), ("ps/task:0", "CPU:0")]
    found = [Thing(name=f"/job:{task}/device:{at}", device_type=at[:3]) for task, at in names]
    seen, listed = (found, []) if eagerly else ([], found)
    monkeypatch.setattr(engine_devices, "list_logical_devices", lambda kind=None: seen)
    monkeypatch.setattr(BaseSession, "list_devices", lambda self: listed)
    with tf.init_scope() if eagerly else tf.Graph().as_default():
        own = type("Own", (resolvers.ClusterResolver,), {"master": lambda *which: ""})()
        assert own.num_accelerators() == {"GPU": 2, "TPU": 1}
        assert own.num_accelerators("worker", 1) == {"GPU": 1}
        monkeypatch.setenv(
            "TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "ps", "index": 0}})
        )
        assert resolvers.TFConfigClusterResolver().num_accelerators() == {}


def test_kubernetes():
    def pod(name, ip, phase="Running"):
        return Thing(metadata=Thing(name=name), status=Thing(phase=phase, host_ip=ip))

    pods = {"x": [pod("b", "10.0.0.2"), pod("a", "10.0.0.1")], "y": [pod("c", "10.0.0.3", "Failed")]}
    client = Thing(list_pod_for_all_namespaces=lambda label_selector: Thing(items=pods[label_selector]))
    asked = resolvers.KubernetesClusterResolver({"worker": ["x"]}, tf_server_port=80, override_client=client)
    assert asked.cluster_spec().as_dict() == {"worker": ["10.0.0.1:80", "10.0.0.2:80"]}
    assert (asked.master(), asked.master("worker", 1)) == ("", "grpc://10.0.0.2:80")
    with pytest.raises(RuntimeError, match='"c" is not running; phase: "Failed"'):
        resolvers.KubernetesClusterResolver({"worker": ["y"]}, override_client=client).cluster_spec()
    with pytest.raises(ValueError, match="executable_location"):
        resolvers.KubernetesClusterResolver(executable_location=None)


class Compute:
    """What Google's service answers: two pages of machines."""

    pages = (["https://x/zones/z/instances/b"], ["https://x/zones/z/instances/a"])
    addresses = {"a": "10.0.0.9", "b": "10.0.0.1"}  # noqa: RUF012

    def instanceGroups(self):
        return self

    instances = instanceGroups

    def listInstances(self, project, zone, instanceGroup, body, orderBy):
        assert (project, zone, instanceGroup, orderBy) == ("p", "z", "g", "name")
        assert body == {"instanceState": "RUNNING"}
        return self._page(0)

    def _page(self, number):
        if number == len(self.pages):
            return None
        items = [{"instance": name} for name in self.pages[number]]
        return Thing(number=number, execute=lambda: {"items": items})

    def listInstances_next(self, previous_request, previous_response):
        return self._page(previous_request.number + 1)

    def get(self, project, zone, instance):
        return Thing(execute=lambda: {"networkInterfaces": [{"networkIP": self.addresses[instance]}]})


def test_google_machines_are_asked_for_page_by_page():
    asked = resolvers.GCEClusterResolver("p", "z", "g", 80, task_id=1, service=Compute())
    assert asked.cluster_spec().as_dict() == {"worker": ["10.0.0.1:80", "10.0.0.9:80"]}
    assert (asked.master(), asked.master("worker", 0, "x")) == ("grpc://10.0.0.9:80", "x://10.0.0.1:80")
    assert (asked.task_type, asked.task_id, asked.rpc_layer) == ("worker", 1, "grpc")
    with pytest.raises(RuntimeError, match="cannot reset the task_type"):
        asked.task_type = "ps"


def test_tpus_are_known_by_their_addresses(monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    for nothing in (None, ""):
        with pytest.raises(ValueError, match=r"Please provide a TPU Name to connect to\."):
            resolvers.TPUClusterResolver(nothing)
    here = resolvers.TPUClusterResolver("local")
    assert (here.cluster_spec().as_dict(), here.master(), here.task_type, here.task_id) == ({}, "", "worker", 0)
    one = resolvers.TPUClusterResolver("grpc://1.2.3.4:8470")
    assert one.cluster_spec().as_dict() == {"worker": ["1.2.3.4:8470"]}
    assert one.master() == one.get_master() == "grpc://1.2.3.4:8470"
    assert one.get_job_name() == "worker" and one.environment == ""
    with resolvers.TPUClusterResolver("10.0.0.1:1,10.0.0.2:2", job_name="tpu") as two:
        assert two.master("tpu", 1) == "grpc://10.0.0.2:2"
    with pytest.raises(ValueError, match=r"addresses here .*got 'my-tpu'"):
        resolvers.TPUClusterResolver("my-tpu")
    monkeypatch.setenv("TPU_NAME", "grpc://9.9.9.9:1")
    assert resolvers.TPUClusterResolver().master() == "grpc://9.9.9.9:1"
    monkeypatch.setenv("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "grpc://10.0.0.5:8470,grpc://10.0.0.6:8470")
    assert resolvers.TPUClusterResolver().cluster_spec().as_dict() == {"worker": ["10.0.0.5:8470", "10.0.0.6:8470"]}
    assert resolvers.TPUClusterResolver(["grpc://1.2.3.4:1"]).master() == "grpc://1.2.3.4:1"
