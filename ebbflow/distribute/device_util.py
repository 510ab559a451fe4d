"""Names of devices as strategies write them: whole, with what a name leaves out taken from the process or a block.

Knows names and the block a program is in; knows nothing of which devices exist.
"""

from __future__ import annotations

from ebbflow.cluster.connection import connected
from ebbflow.core import context
from ebbflow.core.device import Parts, merge, parse, to_string
from ebbflow.eager.the_context import get_device_name
from ebbflow.platform.eras import executing_eagerly_outside_functions

HOST = Parts(None, 0, 0, "CPU", 0)


def canonicalize(d: str, default: str | None = None) -> str:
    """Return a whole name: what `d` leaves out is as in `default`, else this process's first CPU.

    >>> canonicalize("/job:worker/cpu:0", default="/task:2")
    '/job:worker/replica:0/task:2/device:CPU:0'
    """
    own = HOST
    if executing_eagerly_outside_functions():
        job, task = (connected[0].job, connected[0].task) if connected else ("localhost", 0)
        own = own._replace(job=job, task=task)
    return to_string(merge(merge(own, parse(default)), parse(d)))


def canonicalize_without_job_and_task(d: str) -> str:
    """Return a whole name that says nothing of a task.

    >>> canonicalize_without_job_and_task("/job:worker/task:1/gpu:1")
    '/replica:0/device:GPU:1'
    """
    return to_string(parse(canonicalize(d))._replace(job=None, task=None))


def resolve(d: str) -> str:
    """Return a whole name: what `d` leaves out is as in the block that the program is in."""
    return canonicalize(d, default=current())


def current() -> str:
    """Return the device of the block that the program is in, as far as it is said."""
    if context.executing_eagerly():
        name = get_device_name()
        return canonicalize(name) if name else ""
    node = _NoNode()
    context.default_graph()._apply_device_functions(node)
    return node.device


class _NoNode:
    """Stands for a node that would be made here."""

    type, name, device = "Const", "", ""

    def _set_device(self, device: str) -> None:
        self.device = device


def get_host_for_device(device: str, device_index: int = 0) -> str:
    """Return a CPU of the task that has a device.

    >>> get_host_for_device("/job:worker/task:1/device:GPU:2")
    '/job:worker/task:1/device:CPU:0'
    """
    return to_string(parse(device)._replace(device_type="CPU", device_index=device_index))


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """Return the names of so many GPUs, or of the CPU where there are none."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)
