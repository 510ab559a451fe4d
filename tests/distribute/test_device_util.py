"""Whole names of devices; the answers are TensorFlow's."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.distribute import device_util


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """A process that is connected to no cluster, whatever it did before."""
    monkeypatch.setattr(device_util, "connected", [])


@pytest.mark.parametrize(
    "name, default, whole",
    [
        ("/cpu:0", None, "/job:localhost/replica:0/task:0/device:CPU:0"),
        ("/gpu:1", "/job:worker", "/job:worker/replica:0/task:0/device:GPU:1"),
        ("/job:worker/task:1", "/gpu:0", "/job:worker/replica:0/task:1/device:GPU:0"),
        ("/job:worker/cpu:0", "/job:ps/task:3/device:CPU:1", "/job:worker/replica:0/task:3/device:CPU:0"),
    ],
)
def test_whole_names(name, default, whole):
    assert device_util.canonicalize(name, default) == device_util.canonicalize(whole) == whole


def test_in_the_block_of_a_device():
    assert device_util.current() == ""
    with tf.device("/cpu:0"):
        assert device_util.current() == "/job:localhost/replica:0/task:0/device:CPU:0"
    with tf.Graph().as_default(), tf.device("/job:worker/cpu:0"):
        assert device_util.current() == "/job:worker/device:CPU:0"
        assert device_util.resolve("/gpu:1") == "/job:worker/replica:0/task:0/device:GPU:1"
        assert device_util.canonicalize("/gpu:1") == "/replica:0/task:0/device:GPU:1"


def test_the_cpu_beside_a_device_and_local_devices():
    assert device_util.get_host_for_device("/job:worker/task:1/device:GPU:2", 1) == "/job:worker/task:1/device:CPU:1"
    assert device_util.local_devices_from_num_gpus(2) == ("/device:GPU:0", "/device:GPU:1")
    assert device_util.local_devices_from_num_gpus(0) == ("/device:CPU:0",)
