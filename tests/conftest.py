"""What all tests share: helper modules are found as `tests.…`, behind whatever is installed; each test starts in
TF 2's manners and without a seed.
"""

import os
import pathlib
import socket
import sys

import pytest

import ebbflow as tf
from ebbflow.cluster import ports
from ebbflow.core import context
from ebbflow.engines import devices
from ebbflow.ops.random import seeds

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

_free_ports = ports.free_ports


def _ports_of_this_worker(count):
    """Return free ports that no other worker of this run takes meanwhile: each has halves of one remainder.

    Linux gives odd ports.
    """
    workers, number = (
        int(os.environ.get(f"PYTEST_XDIST_{name}", default).removeprefix("gw"))
        for name, default in (("WORKER_COUNT", "1"), ("WORKER", "gw0"))
    )
    found = []
    while len(found) < count:
        found += [port for port in _free_ports(count) if port // 2 % workers == number and port not in found]
    return found[:count]


ports.free_ports = _ports_of_this_worker


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Have what workers note of each test's reruns sent at once: held back for more, it took each test 40 ms."""
    link = getattr(getattr(config, "failures_db", None), "sock", None)
    if link is not None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """A test module that goes through the TF 1 door does so alone: those collected after it are not in graph mode."""
    report = yield
    _come_back()
    return report


@pytest.fixture(autouse=True)
def manners_of_tf2():
    """Undo a change of era, or a seed, that a test or an import leaves behind: they are process-wide."""
    _come_back()
    yield
    _come_back()


@pytest.fixture
def two_cpus():
    """Two logical CPUs for the length of a test."""
    devices.reset()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    yield
    devices.reset()


def _come_back():
    if context.switches.tf1 or not context.switches.v2_behavior:
        context.enter_v2()
    if context.executing_eagerly() and seeds.global_seed() is not None:
        tf.random.set_seed(None)
