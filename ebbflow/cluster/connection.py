"""A process that gives work to the tasks of a cluster.

Says which tasks there are and how each is reached. The process serves no task itself unless it is asked to: it speaks
to servers, and they to each other. Knows addresses and homes; knows nothing of strategies.
"""

from __future__ import annotations

from ebbflow.cluster.remote_storage import Home, home_at
from ebbflow.cluster.spec import ClusterSpec


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
