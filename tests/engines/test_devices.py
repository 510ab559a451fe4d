"""The table of devices: what there is, what a program may change and when, and what sessions see of it."""

from __future__ import annotations

import pytest

import ebbflow as tf2
from ebbflow.api import device_lib
from ebbflow.core import errors
from ebbflow.engines import devices
from ebbflow.engines.devices import LogicalDeviceConfiguration as Part
from ebbflow.engines.devices import PhysicalDevice
from ebbflow.engines.devices import set_logical_device_configuration as split

tf1 = tf2.compat.v1


@pytest.fixture
def machine(monkeypatch):
    """A machine with one CPU and two GPUs, before the program has asked for anything."""
    monkeypatch.setattr(devices, "table", devices.Devices(lambda: ["GPU", "GPU"]))
    return devices.list_physical_devices()


def test_devices(machine):
    assert [device.name.rpartition("physical_device:")[2] for device in machine] == ["CPU:0", "GPU:0", "GPU:1"]
    assert repr(machine[0]) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    cpu, _, gpu = machine
    devices.set_visible_devices(gpu, "GPU")
    devices.set_logical_device_configuration(cpu, [Part()] * 2)
    devices.set_logical_device_configuration(gpu, [Part(memory_limit=10)] * 2)
    names = [device.name for device in devices.list_logical_devices()]
    assert names == ["/device:CPU:0", "/device:CPU:1", "/device:GPU:0", "/device:GPU:1"]
    assert [(d.number, d.memory_limit) for d in devices.table.logical()[2:]] == [(1, 10 << 20)] * 2
    assert devices.gpu_device_name() == "/device:GPU:0" and devices.is_gpu_available() and devices.num_gpus() == 2
    assert devices.list_devices()[1] == "/job:localhost/replica:0/task:0/device:CPU:1"
    devices.set_visible_devices(gpu, "GPU")  # what is so already may be said again
    devices.set_logical_device_configuration(cpu, [Part()] * 2)


GPU, NO_GPU = PhysicalDevice("/physical_device:GPU:0", "GPU"), PhysicalDevice("/physical_device:GPU:7", "GPU")
CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
INITIALIZED = "cannot be modified after being initialized"
REFUSED = [  # what is asked, whether after the devices are settled, the error, its words (TensorFlow 2.21's)
    (lambda: devices.set_visible_devices(NO_GPU), 0, ValueError, "Unrecognized device: PhysicalDevice"),
    (lambda: devices.set_visible_devices("CPU"), 0, ValueError, "Unrecognized device: 'CPU'"),
    (lambda: devices.set_visible_devices([CPU], "GPU"), 0, ValueError, "Unrecognized device: PhysicalDevice"),
    (lambda: devices.set_visible_devices([], "CPU"), 1, RuntimeError, f"Visible devices {INITIALIZED}"),
    (lambda: split(NO_GPU, []), 0, ValueError, "Unrecognized device"),
    (lambda: split(CPU, [Part(10)]), 0, ValueError, "Setting memory limit on CPU"),
    (lambda: split(CPU, [Part(None, 1)]), 0, ValueError, "experimental_priority on"),
    (lambda: split(CPU, [Part(None, None, 1)]), 0, ValueError, "ordinal on CPU"),
    (lambda: split(CPU, [Part()]), 1, RuntimeError, f"Virtual devices {INITIALIZED}"),
    (lambda: devices.set_memory_growth(CPU, True), 0, ValueError, "Cannot set memory growth on non-GPU"),
    (lambda: devices.get_memory_growth(CPU), 0, KeyError, "CPU:0"),
    (lambda: devices.get_memory_info("TPU:0"), 0, ValueError, "No matching devices found for 'TPU:0'"),
]


@pytest.mark.parametrize(("ask", "settled", "error", "says"), REFUSED)
def test_refusals(machine, ask, settled, error, says):
    if settled:
        devices.list_logical_devices()
    with pytest.raises(error, match=says):
        ask()


def test_memory(machine):
    devices.set_memory_growth(GPU, True)
    assert devices.get_memory_growth(GPU)
    devices.set_logical_device_configuration(GPU, [Part(10), Part(10)])
    with pytest.raises(ValueError, match="when virtual devices configured"):
        devices.set_memory_growth(GPU, True)
    assert devices.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    assert devices.get_device_details(CPU) == {}


COUNTS = [  # device_count, the devices of the session
    (None, ["CPU:0", "GPU:0", "GPU:1"]),
    ({}, ["CPU:0", "GPU:0", "GPU:1"]),
    ({"CPU": 3}, ["CPU:0", "CPU:1", "CPU:2", "GPU:0", "GPU:1"]),
    ({"GPU": 1}, ["CPU:0", "GPU:0"]),
    ({"GPU": 0}, ["CPU:0"]),
    ({"GPU": 9, "TPU": 2}, ["CPU:0", "GPU:0", "GPU:1"]),
]


@pytest.mark.parametrize(("count", "names"), COUNTS)
def test_a_sessions_devices(machine, count, names):
    config = None if count is None else tf1.ConfigProto(device_count=count)
    with tf1.Session(graph=tf1.Graph(), config=config) as session:
        listed = session.list_devices()
    assert [d.name for d in listed] == [f"/job:localhost/replica:0/task:0/device:{n}" for n in names]
    assert listed[0].memory_limit_bytes == 256 << 20 and len({d.incarnation for d in listed}) == len(names)
    if count is not None:
        assert [d.name for d in device_lib.list_local_devices(config)] == [f"/device:{n}" for n in names]


@pytest.mark.parametrize("count", [0, -1])
def test_a_session_without_a_cpu(count):
    with pytest.raises(errors.NotFoundError, match="No CPU devices are available in this process"):
        tf1.Session(graph=tf1.Graph(), config=tf1.ConfigProto(device_count={"CPU": count}))


def test_logical_devices_are_a_sessions_too(machine):
    devices.set_logical_device_configuration(CPU, [Part()] * 2)
    assert [d.name[-5:] for d in tf1.Session(graph=tf1.Graph()).list_devices()] == ["CPU:0", "CPU:1", "GPU:0", "GPU:1"]
    assert len(tf1.Session(graph=tf1.Graph(), config=tf1.ConfigProto()).list_devices()) == 3
