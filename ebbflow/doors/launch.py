"""`ebbflow launch`: a program of several processes, started, watched and started again.

Every task is a process that runs the same script; TF_CONFIG tells it which cluster it belongs to, and which task it is.
Their lines come out under the task's name. With parameter servers, a task that fails is started again by itself;
workers alone (`-n`) speak to each other all the time, so when one fails all are ended and started again together. Each
start has the number of its generation in `EBBFLOW_GENERATION`. A task that is frozen counts as failed. When all workers
are done the parameter servers are ended; no process is left behind. Knows processes and the environment; knows nothing
of graphs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.cluster.ports import free_ports
from ebbflow.cluster.security import TOKEN
from ebbflow.doors import ray_tasks
from ebbflow.doors.task_process import END_SECONDS, TaskProcess, say

GENERATION = "EBBFLOW_GENERATION"
EVENTS = "EBBFLOW_EVENTS"
POLL_SECONDS = 0.02
CHAOS_SECONDS = (0.8, 2.0)
"""Between two processes that `--chaos` kills."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `ebbflow launch` takes."""
    parser.add_argument("-n", type=int, metavar="N", help="so many workers, and no parameter servers")
    parser.add_argument("--ps", type=int, default=0, metavar="N", help="so many parameter servers")
    parser.add_argument("--workers", type=int, metavar="N", help="so many workers (default: 1); the first is the chief")
    parser.add_argument("--restarts", type=int, default=3, metavar="N", help="how often failed tasks start again")
    frozen = "a task that shows no life for so long is killed and started again (default: 60)"
    parser.add_argument("--frozen", type=float, default=60.0, metavar="SECONDS", help=frozen)
    parser.add_argument("--events", metavar="FILE", help="write what happens to tasks here, a line of JSON each")
    parser.add_argument("--chaos", type=int, metavar="SEED", help="kill tasks at random, to see the program recover")
    parser.add_argument("--kills", type=int, default=5, metavar="N", help="how many tasks --chaos kills (default: 5)")
    ray = "start tasks on a Ray cluster: its address, `auto`, or `local` for one on this machine; needs ebbflow[ray]"
    parser.add_argument("--ray", metavar="ADDRESS", help=ray)
    calm = "how long --chaos leaves the tasks alone at first (default: 1)"
    parser.add_argument("--calm", type=float, default=1.0, metavar="SECONDS", help=calm)
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
    chaos = None if options.chaos is None else Chaos(options.chaos, options.kills, options.calm)
    restarts = options.restarts + (0 if chaos is None else options.kills)
    together = options.n is not None and workers > 1
    counts = {"ps": options.ps, "worker": workers}
    if options.ray is None:
        return Supervisor(command, counts, restarts, together, options.frozen, chaos).run(options.events)
    ray_tasks.connect(options.ray)
    try:
        make = lambda job, index, address: ray_tasks.RayTask(job, index)
        return Supervisor(command, counts, restarts, together, options.frozen, chaos, make).run(options.events)
    finally:
        ray_tasks.disconnect()


class Chaos:
    """Which task is killed when: the same for the same seed."""

    def __init__(self, seed: int, kills: int, calm: float):
        self._random, self._left = random.Random(seed), kills
        self._next = time.monotonic() + calm

    def victim(self, tasks: Sequence[TaskProcess]) -> TaskProcess | None:
        """Return a task that is to be killed now, if any."""
        if self._left <= 0 or time.monotonic() < self._next:
            return None
        self._left -= 1
        self._next = time.monotonic() + self._random.uniform(*CHAOS_SECONDS)
        return self._random.choice(list(tasks))


class Supervisor:
    """Starts and watches the tasks of one program."""

    def __init__(
        self, command: Sequence[str], counts: dict[str, int], restarts: int, together: bool = False,
        frozen: float = 60.0, chaos: Chaos | None = None, make: Callable[[str, int, str], Any] | None = None,
    ):  # fmt: skip
        self._command, self._restarts_left, self.restarts = list(command), restarts, 0
        self._together, self._frozen, self._chaos = together, frozen, chaos
        ports = iter(free_ports(sum(counts.values())))
        make = make or (lambda job, index, address: TaskProcess(job, index, address=address))
        self._token = os.environ.get(TOKEN) or secrets.token_hex(32)
        self._tasks = [make(job, i, f"localhost:{next(ports)}") for job, count in counts.items()
                       for i in range(count)]  # fmt: skip
        self._cluster = self._places()
        self._chief = next(task for task in self._tasks if task.job == "worker")
        self._events: Any = None
        self._told: list[str] = []  # the workers that the others know to be done

    def run(self, events: str | None = None) -> int:
        """Start all tasks, and return when the workers are done or one has failed for good."""
        begun = time.monotonic()
        self._events = None if events is None else os.path.abspath(events)
        previous = signal.signal(signal.SIGTERM, _interrupted)  # whoever ends the supervisor ends all
        try:
            for task in self._tasks:
                self._start(task)
            code = self._watch()
        except KeyboardInterrupt:
            code = 130
        finally:
            signal.signal(signal.SIGTERM, previous)
            self._end(self._tasks)
        counts = ", ".join(f"{len(addresses)} {job}" for job, addresses in self._cluster.items())
        seconds = time.monotonic() - begun
        say(f"[launch] {counts}; chief: worker 0; restarts: {self.restarts}; {seconds:.1f} s; exit {code}")
        return code

    def _places(self) -> dict[str, list[str]]:
        """Return where the tasks serve."""
        places: dict[str, list[str]] = {}
        for task in self._tasks:
            places.setdefault(task.job, []).append(task.place())
        return places

    def _start(self, task: TaskProcess) -> None:
        config = {"cluster": self._cluster, "task": {"type": task.job, "index": task.index}}
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps(config),
            TOKEN: self._token,
            GENERATION: str(task.generation),
            "PYTHONUNBUFFERED": "1",
        }
        if self._events is not None:
            environment[EVENTS] = self._events
        task.start(self._command, environment)
        task.tell(self._told)
        self._note("start", task)

    def _note(self, event: str, task: TaskProcess, **more: Any) -> None:
        if self._events is not None:
            said = {"time": time.time(), "task": task.name, "event": event, "generation": task.generation, **more}
            with open(self._events, "a") as file:
                file.write(json.dumps(said) + "\n")

    def _watch(self) -> int:
        """Return when all workers are done, or one task has failed for good."""
        while True:
            victim = None if self._chaos is None else self._chaos.victim(self._tasks)
            if victim is not None and victim.ended() is None:
                self._note("kill", victim)
                victim.kill()
                victim.wait(END_SECONDS)
            for task in self._tasks:
                if task.ended() is None and task.silent_seconds() > self._frozen:
                    say(f"[launch] {task.name} shows no life for {self._frozen:g} s: it is killed")
                    task.kill()
                    task.wait(END_SECONDS)
                code = task.ended()
                if code is None or self._done(task):
                    continue
                if not self._again(task, code):
                    return code if code > 0 else 1
                break
            workers = [task for task in self._tasks if task.job == "worker"]
            self._tell_who_is_done(workers)
            if all(self._done(task) for task in workers):
                for task in workers:
                    if task.ended() != 0:
                        say(f"[launch] {task.name} ended with {task.ended()} when the chief was done")
                return 0
            time.sleep(POLL_SECONDS)

    def _tell_who_is_done(self, workers: Sequence[TaskProcess]) -> None:
        """Have tasks know which workers have ended well: sessions wait for those no longer."""
        done = [task.name for task in workers if task.ended() == 0]
        if done != self._told and not self._together:
            self._told = done
            for task in self._tasks:
                if task.ended() is None:
                    task.tell(done)

    def _done(self, task: TaskProcess) -> bool:
        """Return whether a worker has ended and is not needed again: it was done, or the chief is and nobody waits."""
        if task.job != "worker" or task.ended() is None:
            return False
        return task.ended() == 0 or (not self._together and self._chief.ended() == 0)

    def _again(self, task: TaskProcess, code: int) -> bool:
        """Start a failed task again, or all of them where they belong together; False where that is no use."""
        self._note("end", task, code=code)
        if self._restarts_left <= 0:
            say(f"[launch] {task.name} ended with {code}, and is not started again")
            return False
        self._restarts_left -= 1
        self.restarts += 1
        starting = [task]
        before, self._cluster = self._cluster, self._places()
        if self._together or self._cluster != before:  # the others wait for what will never come
            starting = self._tasks
            self._end([other for other in self._tasks if other is not task], 1.0)
        self._cluster = self._places()
        for each in starting:
            each.generation += 1
        whom = "all" if len(starting) > 1 else ""
        say(f"[launch] {task.name} ended with {code}: generation {task.generation} starts {whom}".rstrip())
        for each in starting:
            self._start(each)
        return True

    def _end(self, tasks: Sequence[TaskProcess], seconds: float = END_SECONDS) -> None:
        for task in tasks:
            task.terminate()
        end = time.monotonic() + seconds
        for task in tasks:
            task.wait(max(end - time.monotonic(), 0.0))


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt
