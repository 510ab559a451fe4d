"""`tf.config.experimental_connect_to_cluster`: a process that gives work to the tasks of a cluster.

Says which tasks there are and how each is reached. The process serves no task itself unless it is asked to: it speaks
to servers, and they to each other. Knows addresses and homes; knows nothing of strategies.
"""

from __future__ import annotations

from typing import Any

from ebbflow.cluster.remote_storage import Home, home_at
from ebbflow.cluster.resolvers import ClusterResolver
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core import errors


class Connected:
    """A cluster that this process gives work to."""

    def __init__(self, spec: ClusterSpec, job: str, task: int):
        self.spec, self.job, self.task = spec, job, task

    def homes(self, job: str) -> list[Home]:
        """Return the tasks of a job."""
        if job not in self.spec.jobs:
            return []
        return [home_at(self.spec.task_address(job, i), f"/job:{job}/replica:0/task:{i}/device:CPU:0")
                for i in self.spec.task_indices(job)]  # fmt: skip


connected: list[Connected] = []
"""The cluster that this process is connected to, if it is."""


def connect(spec: ClusterSpec, job: str = "localhost", task: int = 0) -> Connected:
    """Remember a cluster, and return it."""
    connected[:] = [Connected(spec, job, task)]
    return connected[0]


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Have this process give work to the tasks of a cluster.

    Strategies find the tasks through it; a variable or a function goes to a task by way of a strategy's coordinator.
    """
    given = cluster_spec_or_resolver
    if isinstance(given, ClusterResolver):
        spec = given.cluster_spec()
        if job_name == "localhost" and given.task_type is not None:
            job_name, task_index = given.task_type, given.task_id or 0
    elif isinstance(given, (ClusterSpec, dict)):
        spec = ClusterSpec(given)
    else:
        raise ValueError(f"`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, got {given!r}")
    if protocol not in (None, "grpc"):
        raise ValueError(f"protocol = {protocol!r}: tasks of a cluster speak 'grpc'")
    connect(spec, job_name, task_index)


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Have this process give work to servers at some addresses, which become the tasks of one job."""
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host or ())
    if not hosts:
        raise ValueError("Must provide at least one remote_host")
    spec = ClusterSpec({job_name: [host.removeprefix("grpc://") for host in hosts]})
    for i in spec.task_indices(job_name):
        address = spec.task_address(job_name, i)
        try:
            home_at(address).incarnation()
        except errors.UnavailableError as error:
            raise errors.UnavailableError(
                None, None, f"/job:{job_name}/task:{i} at {address}: {error.message}"
            ) from None
    connect(spec, job_name)
