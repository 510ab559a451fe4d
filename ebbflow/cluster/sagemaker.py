"""`SageMakerClusterResolver`: the hosts of a training job of Amazon SageMaker, which are all workers."""

from __future__ import annotations

import json
import os
from typing import Any

from ebbflow.cluster.resolvers import ClusterResolver
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core import errors


class SageMakerClusterResolver(ClusterResolver):
    """What the variables SM_HOSTS and SM_CURRENT_HOST say: the names of all hosts, and of this one."""

    def __init__(
        self,
        port: int = 2223,
        task_type: str = "worker",
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._port, self._environment = port, environment
        hosts, own = _hosts(), os.environ.get("SM_CURRENT_HOST", "")
        self.task_type, self.rpc_layer = task_type, rpc_layer
        self.task_id = int(task_id) if task_id is not None else hosts.index(own) if own in hosts else None

    @property
    def environment(self) -> str | None:  # type: ignore[override]
        """Where the job runs, as was given."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """Return the hosts as workers; no job where there are none."""
        hosts = _hosts()
        return ClusterSpec({"worker": [f"{host}:{self._port}" for host in hosts]} if hosts else {})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this one; "" where there are not several hosts."""
        if len(_hosts()) < 2:
            return ""
        kind, number = task_type or self.task_type, self.task_id if task_id is None else task_id
        return self._address(kind, number, rpc_layer or self.rpc_layer)


def _hosts() -> list[str]:
    text = os.environ.get("SM_HOSTS", "") or "[]"
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.InvalidArgumentError(None, None, f"SM_HOSTS is not JSON: {error}: {text[:200]!r}") from None
    if not isinstance(found, list) or not all(isinstance(host, str) for host in found):
        raise errors.InvalidArgumentError(None, None, f"SM_HOSTS must be a list of names, not {text[:200]!r}")
    return found
