"""`tf.device` around ops that run at once and around functions: where results say they are (as TensorFlow 2.21's)."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context, errors
from ebbflow.eager import the_context
from ebbflow.engines import devices
from ebbflow.platform import config

TASK = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def three_cpus(monkeypatch):
    monkeypatch.setattr(devices, "table", devices.Devices(lambda: ()))
    monkeypatch.setattr(config, "wishes", config.Wishes())
    (cpu,) = devices.list_physical_devices()
    devices.set_logical_device_configuration(cpu, [devices.LogicalDeviceConfiguration()] * 3)


def short(tensor):
    assert tensor.device.startswith(TASK) and tensor.backing_device == tensor.device
    return tensor.device.removeprefix(TASK)


PLACES = [  # asked for, softly?, where a constant and a sum say they are
    ("/cpu:1", True, "CPU:1"),
    ("/job:localhost/cpu:1", False, "CPU:1"),
    ("/cpu:*", True, "CPU:0"),
    ("cpu", False, "CPU:0"),
    (None, True, "CPU:0"),
    ("", True, "CPU:0"),
    ("/cpu:7", True, "CPU:0"),
    ("/gpu:0", True, "CPU:0"),
    ("/device:FOO:0", True, "CPU:0"),
]


@pytest.mark.parametrize(("asked", "soft", "place"), PLACES)
def test_where_results_are(asked, soft, place):
    tf.config.set_soft_device_placement(soft)
    with tf.device(asked):
        x = tf.constant(1.0)
        assert [short(t) for t in (x, x + 1.0, tf.square(x), tf.reduce_sum([x, x]))] == [place] * 4
    assert short(x) == place and short(x + 1.0) == "CPU:0"
    assert not context.thread.devices and not context.thread.recorders


REFUSED = [  # asked for, softly?, the error's words
    ("/cpu:7", False, r"Could not satisfy device specification '.*CPU:7'. enable_soft_placement=0. .* \[Op:AddV2\]"),
    ("/gpu:0", False, r"Could not satisfy device specification '.*GPU:0'.*All available devices \[.*CPU:2\]"),
    ("/job:ps/task:0/cpu:0", True, "/job:ps/replica:0/task:0/device:CPU:0 unknown device."),
]


@pytest.mark.parametrize(("asked", "soft", "says"), REFUSED)
def test_refusals(asked, soft, says):
    tf.config.set_soft_device_placement(soft)
    x = tf.constant(1.0)
    with pytest.raises(errors.InvalidArgumentError, match=says), tf.device(asked):
        x + x
    assert not context.thread.devices and not context.thread.recorders


def test_nested_blocks():
    with tf.device("/cpu:1"):
        with tf.device("/cpu:2"):
            assert short(tf.zeros([2]) + 1) == "CPU:2"
            with tf.device("/cpu:0"):
                assert short(tf.zeros([2]) + 1) == "CPU:0"
            with tf.device(None):
                assert short(tf.zeros([2]) + 1) == "CPU:0"
        with tf.device("/job:localhost"):
            assert short(tf.zeros([2]) + 1) == "CPU:1"


def test_the_first_device_costs_nothing():
    before = context.recorders
    with tf.device("/cpu:0"):
        assert context.recorders == before


def test_variables():
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0])
        assert short(v + 1.0) == "CPU:1"
    assert v.device == v.handle.device == f"{TASK}CPU:1" and short(v + 1.0) == "CPU:0"
    with tf.device("/cpu:2"):
        assert short(tf.identity(v)) == "CPU:2"


def test_functions_on_several_devices():
    @tf.function
    def spread(x):
        with tf.device("/cpu:1"):
            y = x + 1
        with tf.device("/cpu:2"):
            z = y * 2
        return y, z, x * 3

    @tf.function
    def around(x):
        return spread(x)[1] + 1

    for _ in range(3):
        results = spread(tf.constant(1.0))
        assert [float(r) for r in results] == [2, 4, 3] and {short(r) for r in results} == {"CPU:0"}
        assert float(around(tf.constant(1.0))) == 5
    with tf.device("/cpu:1"):
        assert {short(r) for r in spread(tf.constant(1.0))} == {"CPU:1"}
    assert spread.source().count("# on /job:localhost") == 3


def test_a_function_runs_on_the_device_it_is_called_under():
    @tf.function
    def both(x):
        with tf.device("/cpu:1"):
            y = x + 1
        return y * 2

    def places():
        return {short: run.__self__ for short, (run, *_) in body._runners.items()}

    body = both.get_concrete_function(tf.constant(1.0)).graph
    assert float(both(tf.constant(1.0))) == 4
    with tf.device("/cpu:2"):
        assert float(both(tf.constant(1.0))) == 4
    with tf.device("/cpu:1"):
        assert float(both(tf.constant(1.0))) == 4
    found = {key and key.name[-5:]: run for key, run in places().items()}
    assert [part.device.name[-5:] for part in found["CPU:2"].parts] == ["CPU:1", "CPU:2"]
    assert found["CPU:1"].device.endswith("CPU:1") and list(found) == [None, "CPU:2", "CPU:1"]


def test_gradients_under_a_device():
    x = tf.Variable(2.0)
    with tf.device("/cpu:2"), tf.GradientTape() as tape:
        y = x * x * 3.0
    np.testing.assert_allclose(tape.gradient(y, x), 12)


def test_a_function_that_asks_for_what_is_not_there():
    @tf.function
    def far(x):
        with tf.device("/gpu:0"):
            return x + 1

    assert float(far(tf.constant(1.0))) == 2

    @tf.function
    def farther(x):
        with tf.device("/gpu:0"):
            return x + 2

    tf.config.set_soft_device_placement(False)
    with pytest.raises(errors.InvalidArgumentError, match="Cannot assign a device for operation add"):
        farther(tf.constant(1.0))


def test_where_ops_run_is_told(capfd):
    x = tf.constant([1.0])
    try:
        tf.debugging.set_log_device_placement(True)
        tf.square(x)
        with tf.device("/cpu:1"):
            x + x
    finally:
        tf.debugging.set_log_device_placement(False)
    tf.square(x)
    told = capfd.readouterr().err.splitlines()
    assert told == [f"Executing op Square in device {TASK}CPU:0", f"Executing op AddV2 in device {TASK}CPU:1"]
    assert not context.thread.recorders


def test_the_context_tells_the_device_that_is_asked_for():
    here = the_context.the_context()
    assert here.device_spec.device_type is None
    with tf.device("/cpu:0"):
        assert here.device_spec.device_type == "CPU" and here.device_spec.device_index == 0
