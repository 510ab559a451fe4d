"""One task of a launched program: its process, its lines, and whether it is alive.

The supervisor's side starts a process, copies its lines under the task's name, and ends it. The task's side
(`stay_with_supervisor`, called by `ebbflow run`) shows now and then that it is alive, and ends with its supervisor: a
program whose supervisor was killed is not left behind. The sign of life is the time of a file that has no name, so no
file is left behind either, whoever is killed. Knows processes and files; knows nothing of clusters.
"""

from __future__ import annotations

import collections
import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.cluster import departed
from ebbflow.cluster.departed import ALIVE

SUPERVISOR = "EBBFLOW_SUPERVISOR"
BEAT_SECONDS = 0.5
START_SECONDS = 30.0
"""How long a task may take to show that it is alive when it is started, beyond what it may be silent later."""

END_SECONDS = 5.0
"""How long a task may take to end when it is asked to."""

ORPHANED = 125
"""What a task exits with whose supervisor is gone."""


class TaskProcess:
    """One process after another, for one task."""

    def __init__(self, job: str, index: int, out: Callable[[str], None] | None = None, address: str = ""):
        self.job, self.index, self.name = job, index, f"{job} {index}"
        self.generation = 0
        self._out, self._address = out, address
        self.last_lines: collections.deque[str] = collections.deque(maxlen=20)
        self._alive = tempfile.TemporaryFile()  # noqa: SIM115 (as long as this task is known)
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int:
        return 0 if self._process is None else self._process.pid

    def place(self) -> str:
        """Return where the task is to serve."""
        return self._address

    def start(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Start the next process."""
        sign = self._alive.fileno()
        first = time.time() + START_SECONDS  # the process sets it back as soon as it can
        os.utime(sign, (first, first))
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env={**environment, SUPERVISOR: str(os.getpid()), ALIVE: str(sign)}, pass_fds=(sign,),
        )  # fmt: skip
        self._reader = threading.Thread(target=self._copy, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _copy(self, lines: Any) -> None:
        with lines:
            for line in lines:
                self.last_lines.append(line.rstrip())
                (self._out or say)(f"[{self.name}] {line.rstrip()}")

    def ended(self) -> int | None:
        """Return what the process ended with, or None while it runs."""
        return None if self._process is None else self._process.poll()

    def silent_seconds(self) -> float:
        """Return how long the process has not shown that it is alive."""
        return time.time() - os.fstat(self._alive.fileno()).st_mtime

    def tell(self, done: Sequence[str]) -> None:
        """Tell the process which other tasks have done their work, and will not be there any more."""
        departed.tell(self._alive.fileno(), done)

    def kill(self) -> None:
        """End the process by force, frozen or not."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def terminate(self) -> None:
        """Ask the process to end."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait for the end, by force after so long."""
        if self._process is None:
            return
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._reader is not None:
            self._reader.join(END_SECONDS)


_speaking = threading.Lock()


def say(line: str) -> None:
    """Print a line of a task or of the supervisor whole."""
    with _speaking:
        print(line, flush=True)


def stay_with_supervisor() -> None:
    """In a task: show that it is alive, and end when its supervisor is gone. Elsewhere: nothing."""
    supervisor, alive = os.environ.get(SUPERVISOR, ""), os.environ.get(ALIVE, "")
    if supervisor.isdigit() and os.getppid() == int(supervisor) and alive.isdigit():
        ids = int(supervisor), int(alive)
        threading.Thread(target=_beat, args=ids, daemon=True, name="ebbflow-supervised").start()


def _beat(supervisor: int, alive: int) -> None:
    while os.getppid() == supervisor:
        with contextlib.suppress(OSError):  # a program may close what it has not opened
            os.utime(alive)
        time.sleep(BEAT_SECONDS)
    os._exit(ORPHANED)
