"""Which processes belong to a program: jobs, and the address of each of their tasks.

Knows names and addresses; knows nothing of whoever serves there.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core.typing import Message


class ClusterSpec:
    """The tasks of a program that runs on several machines: jobs, and an address for each of their tasks.

    >>> ClusterSpec({"ps": ["a:1"], "worker": ["b:2", "c:3"]}).num_tasks("worker")
    2
    """

    def __init__(self, cluster: Any):
        if isinstance(cluster, ClusterSpec):
            self._jobs: dict[str, dict[int, Any]] = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, dict):
            self._jobs = {job: self._numbered(job, tasks) for job, tasks in cluster.items()}
        elif hasattr(cluster, "DESCRIPTOR") and cluster.DESCRIPTOR.name == "ClusterDef":
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                "`ClusterDef` protocol buffer"
            )

    @staticmethod
    def _numbered(job: str, tasks: Any) -> dict[int, str]:
        if isinstance(tasks, dict):
            return {int(i): _address(address) for i, address in tasks.items()}
        if isinstance(tasks, (list, tuple)):
            return dict(enumerate(map(_address, tasks)))
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """Return a list of addresses for each job; a dictionary by number where some are missing."""
        found: dict[str, Any] = {}
        for job, tasks in self._jobs.items():
            whole = sorted(tasks) == list(range(len(tasks)))
            found[job] = [tasks[i] for i in range(len(tasks))] if whole else dict(tasks)
        return found

    def num_tasks(self, job_name: str) -> int:
        """Return how many tasks a job has."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the numbers of a job's tasks."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of one task."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job's tasks by number, None where one is missing."""
        tasks = self._tasks(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def as_cluster_def(self) -> Message:
        """Return this as a ClusterDef message."""
        message = messages.ClusterDef()
        for job, tasks in sorted(self._jobs.items()):
            made = message.job.add(name=job)
            for i, address in tasks.items():
                made.tasks[i] = address
        return message

    def _tasks(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def __repr__(self) -> str:
        inner = ", ".join(f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{inner}}})"


def _address(address: Any) -> str:
    if isinstance(address, bytes):
        return address.decode()
    if not isinstance(address, str):
        raise TypeError(f"Task address {address!r} must be bytes or unicode")
    return address
