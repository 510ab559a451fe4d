"""Which device a node gets: what is asked for, company, soft placement, following the data; and refusals."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.core import errors
from ebbflow.engines import devices
from ebbflow.platform import config
from ebbflow.runtime import placement, run_on_devices

tf = tf2.compat.v1
CPUS = [devices.local("CPU", i) for i in range(3)]
GPUS = [devices.local("GPU", i, i) for i in range(2)]
WORKERS = [devices.Device(f"/job:worker/replica:0/task:{i}/device:CPU:0", "CPU", 1) for i in range(2)]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def homes(graph, there=CPUS, soft=False, fed=(), able=lambda device, node: True):
    """Where the nodes of a graph go, by name; devices by the end of their names."""
    where = placement.place(graph.get_operations(), {id(t) for t in fed}, there, soft, able)
    return {node.name: device.name.rpartition("device:")[2] for node, device in where.items()}


ASKED = [  # what is asked for, softly?, where it goes, with GPUs there too
    ("/cpu:1", False, "CPU:1", "CPU:1"),
    ("/job:localhost/replica:0/task:0/device:CPU:2", False, "CPU:2", "CPU:2"),
    ("/cpu:*", False, "CPU:0", "CPU:0"),
    ("/job:localhost", False, "CPU:0", "GPU:0"),
    ("", False, "CPU:0", "GPU:0"),
    ("/gpu:1", False, None, "GPU:1"),
    ("/gpu:1", True, "CPU:0", "GPU:1"),
    ("/gpu:7", True, "CPU:0", "GPU:0"),
    ("/gpu:7", False, None, None),
    ("/cpu:7", True, "CPU:0", "CPU:0"),
    ("/device:FOO:0", True, "CPU:0", "GPU:0"),
    ("/job:ps", True, None, None),
    ("/job:localhost/task:1", True, None, None),
]


@pytest.mark.parametrize(("asked", "soft", "home", "home_with_gpus"), ASKED)
def test_what_is_asked_for(graph, asked, soft, home, home_with_gpus):
    with tf.device(asked):
        tf.placeholder(tf.float32, name="x")
    for there, expected in ((CPUS, home), ([*CPUS, *GPUS], home_with_gpus)):
        if expected is None:
            with pytest.raises(errors.InvalidArgumentError, match="Cannot assign a device for operation x"):
                homes(graph, there, soft)
        else:
            assert homes(graph, there, soft) == {"x": expected}


def test_other_tasks_are_devices_like_any(graph):
    with tf.device("/job:worker/task:1"):
        tf.placeholder(tf.float32, name="x")
    where = placement.place(graph.get_operations(), set(), WORKERS, False, lambda device, node: True)
    assert [d.name for d in where.values()] == [WORKERS[1].name]


def test_functions_of_nodes_and_merging(graph):
    with tf.device(lambda node: "/cpu:2" if node.type == "AddV2" else "/cpu:1"), tf.device("/job:localhost"):
        x = tf.placeholder(tf.float32, name="x")
        tf.add(x, x, name="y")
    assert homes(graph) == {"x": "CPU:1", "y": "CPU:2"}


def test_company(graph):
    with tf.device("/cpu:1"):
        x = tf.placeholder(tf.float32, name="x")
    with tf.colocate_with(x.op):
        y = tf.placeholder(tf.float32, name="y")
    with tf.colocate_with(y.op):
        tf.placeholder(tf.float32, name="z")
    assert homes(graph) == {"x": "CPU:1", "y": "CPU:1", "z": "CPU:1"}


def test_company_of_a_node_that_does_not_run(graph):
    with tf.device("/cpu:2"):
        x = tf.placeholder(tf.float32, name="x")
    with tf.colocate_with(x.op):
        y = tf.placeholder(tf.float32, name="y")
    where = placement.place([y.op], set(), CPUS, False, lambda device, node: True)
    assert where == {y.op: CPUS[2]}


def test_company_that_is_nowhere_is_none(graph):
    x = tf.placeholder(tf.float32, name="x")
    x.op._set_attr("_class", (b"loc:@nobody",))
    assert homes(graph) == {"x": "CPU:0"}


def test_company_that_disagrees(graph):
    with tf.device("/cpu:1"):
        x = tf.placeholder(tf.float32, name="x")
    with tf.colocate_with(x.op):
        y = tf.placeholder(tf.float32, name="y")
    y.op._set_device("/device:CPU:0")
    says = (
        "Cannot colocate nodes {{colocation_node y}} and {{colocation_node x}}: Cannot merge devices with incompatible "
        "ids: '/device:CPU:1' and '/device:CPU:0'"
    )
    with pytest.raises(errors.InvalidArgumentError, match=re.escape(says)):
        homes(graph)
    assert homes(graph, soft=True) == {"x": "CPU:1", "y": "CPU:1"}


@pytest.mark.parametrize("use_resource", [True, False])
def test_variables_and_what_changes_them_stay_together(graph, use_resource):
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [2], use_resource=use_resource)
    with tf.device("/cpu:2"):
        update = tf.assign_add(v, [1.0, 2.0])
    (update if isinstance(update, tf.Operation) else update.op)._set_device("/device:CPU:2")
    found = homes(graph)
    changes = [n.name for n in graph.get_operations() if "Assign" in n.type]
    assert {found["v"], *(found[name] for name in changes)} == {"CPU:1"}


def test_nodes_follow_their_data(graph):
    with tf.device("/cpu:1"):
        large = tf.placeholder(tf.float32, [100], name="large")
    with tf.device("/cpu:2"):
        small = tf.placeholder(tf.float32, [None], name="small")
    total = tf.add(large, small, name="total")
    tf.identity(total, name="further")
    tf.shape(small, name="shape")
    tf.identity(tf.add(small, small, name="own"), name="own_further")
    found = homes(graph)
    assert {n: found[n] for n in ("total", "further", "shape", "own", "own_further")} == {
        "total": "CPU:1",
        "further": "CPU:1",
        "shape": "CPU:2",
        "own": "CPU:2",
        "own_further": "CPU:2",
    }


def test_what_has_no_inputs_goes_where_it_is_taken(graph):
    filled = tf.fill([2], 1.0, name="filled")
    with tf.device("/cpu:2"):
        tf.identity(filled, name="taken")
    assert set(homes(graph).values()) == {"CPU:2"}


def test_what_keeps_state_stays_on_the_first_device(graph):
    with tf.device("/cpu:2"):
        shape = tf.placeholder(tf.int32, [1], name="shape")
    tf.random_uniform(shape, name="r")
    assert homes(graph)["r/RandomUniform"] == "CPU:0"


def test_a_preferred_type_wins_over_nearby_data(graph):
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [100], name="x")
    with tf.device("/gpu:1"):
        y = tf.placeholder(tf.float32, [1], name="y")
    tf.square(x, name="from_host")
    tf.add(x, y, name="from_both")
    found = homes(graph, [*CPUS, *GPUS])
    assert (found["from_host"], found["from_both"]) == ("GPU:0", "GPU:1")


def test_what_a_device_cannot_run(graph):
    with tf.device("/gpu:0"):
        tf.placeholder(tf.string, name="x")

    def able(device, node):
        return device.device_type == "CPU"

    assert homes(graph, [*CPUS, *GPUS], soft=True, able=able) == {"x": "CPU:0"}
    says = "Could not satisfy explicit device specification '/device:GPU:0' because no supported kernel for GPU devices"
    with pytest.raises(errors.InvalidArgumentError, match=says):
        homes(graph, [*CPUS, *GPUS], able=able)


# --- in sessions ------------------------------------------------------------------------------------------------------


def test_a_session_refuses_in_tensorflows_words(graph):
    with tf.device("/gpu:0"):
        y = tf.add(tf.constant(1.0), 2.0, name="y")
    says = (
        "Cannot assign a device for operation y: {{node y}} was explicitly assigned to /device:GPU:0 but available "
        "devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers to a "
        "valid device.\n\t [[{{node y}}]]"
    )
    with tf.Session(config=tf.ConfigProto()) as session, pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(y)
    assert caught.value.message.startswith(says)
    assert "test_placement.py" in caught.value.message and caught.value.op is y.op
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(y) == 3


#        allow_soft_placement of the config (... no config), tf.config: is it soft?
SOFT = [
    (..., None, False),
    (..., True, True),
    (..., False, False),
    (None, True, False),  # a config that does not speak of it
    (None, None, False),
    (True, False, True),
    (False, True, False),
]


@pytest.mark.parametrize(("in_config", "told", "soft"), SOFT)
def test_which_sessions_are_soft(graph, monkeypatch, in_config, told, soft):
    monkeypatch.setattr(config, "wishes", config.Wishes())
    with tf.device("/gpu:0"):
        y = tf.constant(1.0) + 2.0
    if told is not None:
        tf2.config.set_soft_device_placement(told)
    proto = None if in_config is ... else tf.ConfigProto(allow_soft_placement=in_config)
    for session in (tf.Session(config=proto), tf.InteractiveSession(config=proto)):
        with contextlib.closing(session):
            if soft:
                assert session.run(y) == 3
            else:
                with pytest.raises(errors.InvalidArgumentError, match="available devices are"):
                    session.run(y)


def test_where_ops_run_at_once_placement_is_soft(monkeypatch):
    monkeypatch.setattr(config, "wishes", config.Wishes())
    assert tf2.config.get_soft_device_placement()
    with tf.Graph().as_default() as graph:
        assert not tf2.config.get_soft_device_placement()
        with tf.device("/gpu:0"):
            y = tf.constant(1.0) + 2.0
    assert tf.Session(graph=graph).run(y) == 3  # as in TensorFlow: what counts is where the session was made

    @tf2.function
    def three():
        with tf.device("/gpu:0"):
            return tf.constant(1.0) + 2.0

    assert three() == 3


def test_a_graph_on_one_device_has_a_plain_runner(graph):
    with tf.device("/cpu:0"):
        y = tf.constant(1.0) + 1
    with tf.device("/cpu:1"):
        z = tf.constant(1.0) + 1
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert isinstance(run_on_devices.runner_for(session, [y], []), run_on_devices.Runner)
        assert run_on_devices.runner_for(session, [z], []).device.endswith("CPU:1")
        assert isinstance(run_on_devices.runner_for(session, [y, z], []), run_on_devices.Partitioned)


def test_placements_are_logged_once(graph, capfd):
    with tf.device("/cpu:1"):
        y = tf.add(tf.placeholder_with_default(np.float32(1), [], name="p"), 2.0, name="y")
    config = tf.ConfigProto(device_count={"CPU": 2}, log_device_placement=True)
    with tf.Session(config=config) as session:
        session.run(y)
        session.run([y, y])
    lines = capfd.readouterr().out.splitlines()
    assert lines.count("y: (AddV2): /job:localhost/replica:0/task:0/device:CPU:1") == 1
    assert any(line.startswith("p: (PlaceholderWithDefault): /job:localhost") for line in lines)
