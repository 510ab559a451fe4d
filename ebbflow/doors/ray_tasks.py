"""Tasks of a launched program on the machines of a Ray cluster (`ebbflow launch --ray`, the extra `ebbflow[ray]`).

One actor stands for each task: Ray chooses the machine, and the actor runs the task's process there, as the supervisor
would on its own machine. No tensor goes through Ray: tasks speak to each other as always. When an actor or its machine
is lost the task counts as failed, and another actor takes its place, at the same address where that is possible. Knows
Ray and task processes; knows nothing of clusters.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Sequence
from typing import Any

from ebbflow.core import errors
from ebbflow.doors.task_process import TaskProcess, say

LOST = -9
"""What a task counts as ended with whose actor is gone."""

ASK_SECONDS = 0.2
"""Between two questions how a task is."""

PATIENCE_SECONDS = 30.0
"""How long an actor may take to answer: one that is started may have to import much."""

LOCAL_TASKS = 64
"""How many tasks a cluster on this machine takes, whatever it has of processors."""

_KEPT = ("TF_CONFIG", "EBBFLOW_", "PYTHON")
"""What of the supervisor's environment goes to other machines, by how it begins."""


def connect(address: str) -> None:
    """Join a running Ray cluster, or start one on this machine (`local`) that only this user's token opens."""
    own = address == "local"
    if own:  # Ray reads these when it is imported
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    more = {"include_dashboard": False, "num_cpus": max(os.cpu_count() or 1, LOCAL_TASKS)} if own else {}
    _library().init(None if own else address, log_to_driver=False, configure_logging=False, **more)


def disconnect() -> None:
    """Leave the cluster; one that was started here ends."""
    _library().shutdown()


def _library() -> Any:
    try:
        import ray  # heavy, and only for programs on a Ray cluster
    except ImportError:
        raise errors.FailedPreconditionError(None, None, "Ray is not installed: pip install 'ebbflow[ray]'") from None
    return ray


class Host:
    """What an actor does: one task's process, on the machine where the actor is."""

    def __init__(self, job: str, index: int):
        self._lines: list[str] = []
        self._task = TaskProcess(job, index, self._lines.append)

    def place(self, port: int) -> str:
        """Return an address for the task: with this port, if it is free here."""
        import ray  # the actor's own

        host = ray.util.get_node_ip_address()
        for wanted in (port, 0):
            with socket.socket() as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    one.bind((host, wanted))
                except OSError:
                    continue
                return f"{host}:{one.getsockname()[1]}"
        raise OSError(f"no port is free at {host}")

    def start(self, command: Sequence[str], environment: dict[str, str]) -> int:
        """Start the next process, and return its number there."""
        self._task.start(command, {**os.environ, **environment})
        return self._task.pid

    def tell(self, done: list[str]) -> None:
        """Tell the process which other tasks have done their work."""
        self._task.tell(done)

    def status(self) -> tuple[int | None, float, list[str]]:
        """Return what the process ended with, how long it has shown no life, and its lines since the last question."""
        lines, self._lines[:] = list(self._lines), []
        return self._task.ended(), self._task.silent_seconds(), lines

    def end(self, seconds: float) -> list[str]:
        """Ask the process to end, by force after so many seconds; return its last lines."""
        if seconds:
            self._task.terminate()
        else:
            self._task.kill()
        self._task.wait(seconds)
        return list(self._lines)


class RayTask:
    """A task whose processes run in actors: what the supervisor knows of it is what it knows of a `TaskProcess`."""

    def __init__(self, job: str, index: int):
        self.job, self.index, self.name = job, index, f"{job} {index}"
        self.generation, self.pid = 0, 0
        self._ray = _library()
        self._actor: Any = None
        self._ended: int | None = None
        self._silent, self._asked, self._port = 0.0, 0.0, 0

    def place(self) -> str:
        """Return the address of the task where its actor is now, with a new actor if that was lost."""
        if self._actor is None:
            self._actor = self._ray.remote(Host).options(num_cpus=1).remote(self.job, self.index)
        address = str(self._ray.get(self._actor.place.remote(self._port), timeout=PATIENCE_SECONDS))
        self._port = int(address.rpartition(":")[2])
        return address

    def start(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Start the next process."""
        kept = {key: value for key, value in environment.items() if key.startswith(_KEPT)}
        self._ended, self._silent = None, 0.0
        self.pid = self._ray.get(self._actor.start.remote(list(command), kept), timeout=PATIENCE_SECONDS)

    def tell(self, done: Sequence[str]) -> None:
        """Tell the process which other tasks have done their work."""
        if self._actor is not None and done:
            self._actor.tell.remote(list(done))

    def ended(self) -> int | None:
        """Return what the process ended with, or None while it runs."""
        if self._actor is None or self._ended is not None or time.monotonic() < self._asked + ASK_SECONDS:
            return self._ended
        self._asked = time.monotonic()
        try:
            self._ended, self._silent, lines = self._ray.get(self._actor.status.remote(), timeout=PATIENCE_SECONDS)
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError) as error:
            say(f"[launch] {self.name}: {str(error).splitlines()[0]}")
            self._actor, self._ended = None, LOST
            return self._ended
        self._say(lines)
        return self._ended

    def _say(self, lines: list[str]) -> None:
        for line in lines:
            say(line)

    def silent_seconds(self) -> float:
        """Return how long the process has not shown that it is alive."""
        return self._silent

    def kill(self) -> None:
        """End the process by force, frozen or not."""
        self._end(0.0)

    def terminate(self) -> None:
        """Ask the process to end."""

    def wait(self, seconds: float) -> None:
        """Wait for the end, by force after so long."""
        self._end(seconds)

    def _end(self, seconds: float) -> None:
        actor, self._actor = self._actor, None
        if actor is None:
            return
        with contextlib.suppress(self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError):
            self._say(self._ray.get(actor.end.remote(seconds), timeout=PATIENCE_SECONDS))
        self._ended = LOST if self._ended is None else self._ended
        self._ray.kill(actor)
