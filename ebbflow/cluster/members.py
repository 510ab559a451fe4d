"""Who is who among workers that run one program: which jobs there may be, who is the chief, who counts where.

A cluster of such workers has at most one chief; without one the first worker is. Evaluators work alone. Knows names of
jobs; knows nothing of processes.
"""

from __future__ import annotations

from typing import Any

from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core.typing import Message

JOBS = ("chief", "worker", "evaluator", "ps", None)
"""The jobs there may be; None is who starts the steps of the others."""


def normalize_cluster_spec(cluster_spec: ClusterSpec | Message | dict[str, Any]) -> ClusterSpec:
    """Return a cluster, which may be given as a dictionary or a message."""
    if isinstance(cluster_spec, ClusterSpec):
        return cluster_spec
    if isinstance(cluster_spec, dict) or hasattr(cluster_spec, "DESCRIPTOR"):
        return ClusterSpec(cluster_spec)
    raise ValueError("`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` object")


def validated(cluster_spec: Any, task_type: str | None, task_id: int | None) -> ClusterSpec:
    """Return a cluster that has a task; ValueError if it has not, or has jobs that cannot be.

    >>> validated({"worker": ["a:1"]}, "worker", 3)
    Traceback (most recent call last):
    ValueError: The `task_id` 3 exceeds the maximum id of worker.
    """
    spec = normalize_cluster_spec(cluster_spec)
    if any(job not in JOBS for job in spec.jobs):
        raise ValueError(f"Disallowed task type found in cluster spec. Allowed types are {JOBS} and the cluster spec "
                         f"is {spec}.")  # fmt: skip
    if task_type not in JOBS:
        raise ValueError(f"Unrecognized task_type: {task_type}, valid task types are: {JOBS}")
    for job in ("chief", "evaluator"):
        if job in spec.jobs and spec.num_tasks(job) > 1 and (job == "chief" or task_type == job):
            raise ValueError(f"There must be at most one '{job}' job.")
    if task_type and task_type not in spec.jobs and task_type != "evaluator":
        raise ValueError(f"`task_type` '{task_type}' not found in cluster_spec.")
    if task_type in spec.jobs and (task_id is None or task_id > max(spec.task_indices(task_type))):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return spec


def task_count(cluster_spec: ClusterSpec, task_type: str) -> int:
    """Return how many tasks a job has, zero where there is no such job."""
    return cluster_spec.num_tasks(task_type) if task_type in cluster_spec.jobs else 0


def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Return whether a task is the chief: it has that job or is the first worker; an evaluator always is."""
    if cluster_spec is None:
        return True
    spec = validated(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in spec.jobs and task_type == "worker" and task_id == 0


def collective_leader(cluster_spec: Any, task_type: str | None, task_id: int | None) -> str:
    """Return the name of the task that leads sums over workers; none for a program that runs alone."""
    spec = normalize_cluster_spec(cluster_spec)
    if not spec:
        return ""
    validated(spec, task_type, task_id)
    return "" if task_type == "evaluator" else coordination_leader(spec)


def coordination_leader(cluster_spec: Any) -> str:
    """Return the name of the task that the others ask who belongs to them."""
    spec = normalize_cluster_spec(cluster_spec)
    if not spec:
        return ""
    leader = next(job for job in ("chief", "worker", *spec.jobs) if job in spec.jobs)
    return f"/job:{leader}/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str | None) -> int:
    """Return how many tasks do the work that a task has part in: chief and workers, or evaluators."""
    spec = validated(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    jobs = ("evaluator",) if task_type == "evaluator" else ("chief", "worker")
    return sum(task_count(spec, job) for job in jobs)


def id_in_cluster(cluster_spec: Any, task_type: str | None, task_id: int) -> int:
    """Return the number of a task among those that do the same work: the chief is the first."""
    spec = validated(cluster_spec, task_type, task_id)
    if task_type == "worker":
        return task_id + task_count(spec, "chief")
    if task_type in ("chief", "evaluator"):
        return task_id
    raise ValueError(f"There is no id for task_type {task_type!r}")
