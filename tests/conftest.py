"""What all tests share: helper modules are found as `tests.…`, behind whatever is installed; each test starts in
TF 2's manners and without a seed.
"""

import pathlib
import sys

import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.engines import devices
from ebbflow.ops.random import seeds

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))


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
