"""`ebbflow launch`: a program of several processes, started, watched and started again.

Every task is a process that runs the same script; TF_CONFIG tells it which cluster it belongs to, and which task it is.
Their lines come out under the task's name. A task that fails is started again, with the number of its generation in
`EBBFLOW_GENERATION`, until the restarts are used up; when all workers are done the parameter servers are ended. No
process is left behind. Knows processes and the environment; knows nothing of graphs.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from ebbflow.cluster.security import TOKEN

GENERATION = "EBBFLOW_GENERATION"
POLL_SECONDS = 0.05
END_SECONDS = 5.0
"""How long a task may take to end when it is asked to."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `ebbflow launch` takes."""
    parser.add_argument("-n", type=int, metavar="N", help="so many workers, and no parameter servers")
    parser.add_argument("--ps", type=int, default=0, metavar="N", help="so many parameter servers")
    parser.add_argument("--workers", type=int, metavar="N", help="so many workers (default: 1); the first is the chief")
    parser.add_argument("--restarts", type=int, default=3, metavar="N", help="how often failed tasks start again")
    parser.add_argument("--tf", default="auto", choices=("auto", "1", "2"), help="as for `ebbflow run`")
    parser.add_argument("script", help="the program")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="the program's own arguments")


def launch(options: Any) -> int:
    """Run the program, and return what to exit with: 0, or what the first task that failed for good ended with."""
    workers = options.n if options.n is not None else options.workers if options.workers is not None else 1
    if workers < 1 or options.ps < 0 or (options.n is not None and (options.ps or options.workers is not None)):
        print("ebbflow launch: give -n, or --ps and --workers, and at least one worker", file=sys.stderr)
        return 2
    if not os.path.exists(options.script):
        print(f"ebbflow launch: there is no {options.script}", file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "ebbflow", "run", "--tf", options.tf, options.script, *options.args]
    return Supervisor(command, {"ps": options.ps, "worker": workers}, options.restarts).run()


class Supervisor:
    """Starts and watches the tasks of one program."""

    def __init__(self, command: Sequence[str], counts: dict[str, int], restarts: int):
        self._command, self._restarts_left, self.restarts = list(command), restarts, 0
        ports = iter(_free_ports(sum(counts.values())))
        self._cluster = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in counts.items() if n}
        self._token = os.environ.get(TOKEN) or secrets.token_hex(32)
        self._tasks = [_Task(job, i) for job, addresses in self._cluster.items() for i in range(len(addresses))]

    def run(self) -> int:
        """Start all tasks, and return when the workers are done or one has failed for good."""
        begun = time.monotonic()
        previous = signal.signal(signal.SIGTERM, _interrupted)  # whoever ends the supervisor ends all
        try:
            for task in self._tasks:
                self._start(task)
            code = self._watch()
        except KeyboardInterrupt:
            code = 130
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._end()
        counts = ", ".join(f"{len(addresses)} {job}" for job, addresses in self._cluster.items())
        seconds = time.monotonic() - begun
        _say(f"[launch] {counts}; chief: worker 0; restarts: {self.restarts}; {seconds:.1f} s; exit {code}")
        return code

    def _start(self, task: _Task) -> None:
        config = {"cluster": self._cluster, "task": {"type": task.job, "index": task.index}}
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps(config),
            TOKEN: self._token,
            GENERATION: str(task.generation),
            "PYTHONUNBUFFERED": "1",
        }
        task.start(self._command, environment)

    def _watch(self) -> int:
        """Return when all workers are done, or one task has failed for good."""
        while True:
            for task in self._tasks:
                code = task.ended()
                if code is None or (code == 0 and task.job == "worker"):
                    continue
                if self._restarts_left <= 0:
                    _say(f"[launch] {task.name} ended with {code}, and is not started again")
                    return code if code > 0 else 1
                self._restarts_left -= 1
                self.restarts += 1
                task.generation += 1
                _say(f"[launch] {task.name} ended with {code}: generation {task.generation} starts")
                self._start(task)
            if all(task.ended() == 0 for task in self._tasks if task.job == "worker"):
                return 0
            time.sleep(POLL_SECONDS)

    def _end(self) -> None:
        for task in self._tasks:
            task.terminate()
        end = time.monotonic() + END_SECONDS
        for task in self._tasks:
            task.wait(max(end - time.monotonic(), 0.0))


class _Task:
    """One process after another, for one task."""

    def __init__(self, job: str, index: int):
        self.job, self.index, self.name = job, index, f"{job} {index}"
        self.generation = 0
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def start(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        self._reader = threading.Thread(target=self._copy, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _copy(self, lines: Any) -> None:
        with lines:
            for line in lines:
                _say(f"[{self.name}] {line.rstrip()}")

    def ended(self) -> int | None:
        """Return what the process ended with, or None while it runs."""
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
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


def _say(line: str) -> None:
    with _speaking:
        print(line, flush=True)


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody has now; held together so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
