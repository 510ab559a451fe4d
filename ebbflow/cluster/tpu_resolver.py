"""TPUs as a cluster: their hosts, by addresses.

Nobody's cloud is asked; GKE, Colab and programs name addresses. Knows no servers and no sessions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ebbflow.cluster.resolvers import ClusterResolver
from ebbflow.cluster.spec import ClusterSpec

ENVIRONMENT = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME", "COLAB_TPU_ADDR")
"""Where the addresses are, if the program names none."""


class TPUClusterResolver(ClusterResolver):
    """The hosts of TPUs, by their addresses. Where nobody names any, making one is a ValueError, as programs expect
    that train on what else there is; names are not looked up in anybody's cloud.

    >>> TPUClusterResolver("grpc://10.0.0.1:8470").master()
    'grpc://10.0.0.1:8470'
    """

    def __init__(
        self,
        tpu: str | Sequence[str] | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: object = "default",
        service: object = None,
        discovery_url: str | None = None,
    ):
        tpu = _named(tpu)
        layer, separator, _ = tpu.partition("://")
        self._addresses = [] if tpu == "local" else [a.rpartition("://")[2] for a in tpu.split(",") if a]
        if any(not re.search(r":\d+$", address) for address in self._addresses):
            raise ValueError(
                f"TPUs are found by their addresses here ('grpc://host:port', several with commas between), got {tpu!r}"
            )
        self._layer = layer if separator else "grpc"
        self._jobs = {job_name: self._addresses} if self._addresses else {}
        if self._jobs and coordinator_name and coordinator_address:
            self._jobs[coordinator_name] = [coordinator_address]
        self.task_type, self.task_id = job_name, 0

    def __enter__(self) -> TPUClusterResolver:
        return self

    def __exit__(self, *exc: object) -> None:
        """Leave; there is nothing to undo."""

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs and the addresses of their tasks; without any for "local"."""
        return ClusterSpec(self._jobs)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of the first; "" for "local"."""
        if not self._jobs:
            return ""
        return self._address(task_type or self.task_type, task_id or 0, rpc_layer or self._layer)

    def get_master(self) -> str:
        """Return the address of the first task."""
        return self.master()

    def get_job_name(self) -> str | None:
        """Return the name of the job that has the TPUs."""
        return self.task_type


def _named(tpu: str | Sequence[str] | None) -> str:
    """Return which TPUs are meant: those that are given, or those that the environment names."""
    if isinstance(tpu, (list, tuple)):
        tpu = ",".join(tpu)
    named = tpu or next((os.environ[name] for name in ENVIRONMENT if os.environ.get(name)), None)
    if not named:
        raise ValueError("Please provide a TPU Name to connect to.")
    return str(named)
