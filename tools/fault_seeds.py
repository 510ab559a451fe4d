"""Training over processes that suffer what the tests of faults do to them, many times, each at another moment.

    python tools/fault_seeds.py --seeds 20                    # a table of all kinds
    python tools/fault_seeds.py --seeds 5 --only F1 F10       # of some
    python tools/fault_seeds.py --seeds 3 --only F3 --without adoption           # without a safeguard, which must fail
    python tools/fault_seeds.py --seeds 3 --only 'F2 twice' --without one_each

A seed chooses which task is hit, when, and how often. A run is good if the job ends, its weights are exact to the last
bit, and no more steps were done again than the kind of fault allows; a stall is the time from a fault to the next noted
step of each. What is not in step (F9) must not count a push twice. Jobs run one after the other, in a folder that is
removed. The program, and how its weights are known, is `tests/cluster/fault_program.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests.cluster.test_faults import CHECKPOINT_STEPS, Job, exact

STEPS = 100
PATIENCE = 240.0
TASKS = ("ps0", "ps1", "worker0", "worker1")


class Outcome(NamedTuple):
    """What became of one job."""

    good: bool
    hit: str
    redone: int
    stall: float
    why: str


class Run:
    """One job, and the means to hit it."""

    def __init__(self, folder: pathlib.Path, seed: int, without: str):
        self.folder, self.chance, self.without = folder, random.Random(seed), without
        self.hit: list[str] = []
        self.times: list[float] = []
        self.job: Any = None

    def start(self, kind: str = "sync", faults: str = "", *words: Any, **more: Any) -> None:
        """Start the job."""
        more.setdefault("steps", STEPS)
        self.job = Job(self.folder, kind, faults, "--restarts", 40, *words, without=self.without, **more)

    def moment(self, first: int = 5) -> None:
        """Wait until a step that the seed chooses is done, and a little longer."""
        self.job.wait_for_step(self.chance.randrange(first, STEPS - 20), PATIENCE)
        time.sleep(self.chance.random() * 0.05)

    def send(self, number: signal.Signals, *tasks: str) -> None:
        """Send a signal to tasks, all at once."""
        pids = self.job.pids()
        self.hit += tasks
        self.times.append(time.time())
        for task in tasks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[task], number)

    def stall(self) -> float:
        """Return the longest time from a fault to the next noted step."""
        noted = sorted(entry["time"] for entry in self.job.events("step"))
        waits = [next((at for at in noted if at > hit), hit) - hit for hit in self.times]
        return max(waits, default=0.0)

    def end(self, most_redone: int, in_step: bool = True, loose: int = 0, share: int = 1) -> Outcome:
        """Wait for the end of the job, and judge it."""
        try:
            step, w, b, _ = self.job.result(PATIENCE, in_step)
        except AssertionError as error:
            return Outcome(False, " ".join(self.hit), 0, 0.0, "\n".join(str(error).strip().splitlines()[-12:]))
        redone, why = self.job.redone(), ""
        if in_step and (share * w, share * b) != exact(step):
            why = f"weights {(w, b)}, and not {exact(step)}"
        elif not in_step and (abs(w - step) > loose or abs(b / 2 - step) > loose):
            why = f"{w} and {b / 2} pushes of {step} steps"
        elif redone > most_redone:
            why = f"{redone} steps done again"
        return Outcome(not why, " ".join(self.hit), redone, self.stall(), why)


def one_of(*tasks: str) -> Callable[[Run], Outcome]:
    """Kill one of some tasks."""

    def hit(run: Run) -> Outcome:
        run.start()
        run.moment()
        task = run.chance.choice(tasks)
        run.send(signal.SIGKILL, task)
        return run.end(CHECKPOINT_STEPS if task.startswith("ps") else 0)

    return hit


def several(run: Run) -> Outcome:
    """Kill several tasks at once."""
    run.start()
    run.moment()
    run.send(signal.SIGKILL, *run.chance.choice([("ps0", "ps1"), ("ps0", "worker0"), ("ps1", "worker0"), TASKS]))
    return run.end(CHECKPOINT_STEPS)


def one_after_the_other(run: Run) -> Outcome:
    """Kill some task again and again, each time when training has gone on."""
    run.start(steps=3 * STEPS)
    for _ in range(4):
        before = max((entry["step"] for entry in run.job.events("step")), default=0)
        run.job.wait_for_step(before + run.chance.randrange(1, 25), PATIENCE)
        run.send(signal.SIGKILL, run.chance.choice(TASKS))
        time.sleep(0.2)
    return run.end(CHECKPOINT_STEPS)


def between_two_servers(run: Run) -> Outcome:
    """The chief is killed when one server has taken a step and the other was not told."""
    run.start("sync", "chief:between")
    return run.end(0)


def given_twice(run: Run) -> Outcome:
    """A worker is killed when it has given a gradient, and gives it again."""
    run.start("sync", "worker1:twice")
    return run.end(CHECKPOINT_STEPS)


def all_and_a_shard(run: Run) -> Outcome:
    """Everything is killed, a shard of the newest checkpoint damaged, and the job started again."""
    run.start()
    run.moment(first=2 * CHECKPOINT_STEPS + 5)
    for pid in [run.job.process.pid, *run.job.pids().values()]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.job.process.communicate()
    saved = run.folder / "saved"
    newest = (saved / "checkpoint").read_text().split('"')[1]
    shard = run.chance.choice(sorted(saved.glob(f"{pathlib.Path(newest).name}.data-*")))
    run.hit.append(run.chance.choice([_cut, _flip, pathlib.Path.unlink])(shard) or "shard")
    run.start()
    return run.end(2 * CHECKPOINT_STEPS)


def _cut(shard: pathlib.Path) -> None:
    shard.write_bytes(shard.read_bytes()[:-1])


def _flip(shard: pathlib.Path) -> None:
    content = bytearray(shard.read_bytes())
    content[0] ^= 1
    shard.write_bytes(content)


def out_of_step(run: Run) -> Outcome:
    """Kill any task of workers that wait for nobody."""
    run.start("async")
    for _ in range(2):
        before = max((entry["step"] for entry in run.job.events("step")), default=0)
        run.job.wait_for_step(before + run.chance.randrange(1, 25), PATIENCE)
        run.send(signal.SIGKILL, run.chance.choice(TASKS))
        time.sleep(0.2)
    # A push may be cut off in the middle, one by each kill; while the chief is away nobody saves.
    return run.end(2 * STEPS, in_step=False, loose=4)


def frozen(run: Run) -> Outcome:
    """Stop a server for some seconds, and let it go on."""
    run.start()
    run.moment()
    task = run.chance.choice(("ps0", "ps1"))
    run.send(signal.SIGSTOP, task)
    time.sleep(run.chance.uniform(1.0, 10.0))
    run.send(signal.SIGCONT, task)
    return run.end(CHECKPOINT_STEPS)


def straggler(run: Run) -> Outcome:
    """The last of three workers is slow, and killed at some moment; two are needed, and wait for nobody."""
    run.start("backup", workers=3)
    run.moment()
    run.send(signal.SIGKILL, "worker2")
    outcome = run.end(0, share=2)
    tasks = [entry["task"] for entry in run.job.events("step")]
    slow = tasks.count("worker 2")
    return outcome if len(tasks) > 5 * slow else outcome._replace(good=False, why=f"{slow} of {len(tasks)} steps slow")


def full_disk(run: Run) -> Outcome:
    """A server can write no file for a while."""
    run.start("sync", "ps0:full", steps=60)
    return run.end(0)


KINDS: dict[str, Callable[[Run], Outcome]] = {
    "F1": one_of("ps0", "ps1"), "F2": one_of("worker1"), "F2 twice": given_twice, "F3": one_of("worker0"),
    "F4": one_after_the_other, "F5": several, "F7": between_two_servers, "F8 F15": all_and_a_shard,
    "F9": out_of_step, "F10": frozen, "F12": straggler, "F14": full_disk,
}  # fmt: skip


@contextlib.contextmanager
def job_of(seed: int, without: str) -> Iterator[Run]:
    """Give a run with a folder of its own, and leave nothing behind."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fault-seeds-"))
    run = Run(folder, seed, without)
    try:
        yield run
    finally:
        if run.job is not None and run.job.process.poll() is None:
            run.job.process.terminate()
            run.job.process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(KINDS))
    parser.add_argument("--without", default="", choices=["", "one_each", "adoption"])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a job that runs is ended, too
    bad = 0
    print("| | ended well | most steps done again | stall, median and longest, s |\n|---|---|---|---|", flush=True)
    for name in options.only:
        outcomes = []
        for seed in range(options.first, options.first + options.seeds):
            with job_of(seed, options.without) as run:
                outcomes.append(KINDS[name](run))
            if not outcomes[-1].good:
                print(f"{name} seed {seed}: {outcomes[-1].hit}: {outcomes[-1].why}", file=sys.stderr, flush=True)
        good = sum(one.good for one in outcomes)
        bad += len(outcomes) - good
        stalls, redone = [one.stall for one in outcomes], max(one.redone for one in outcomes)
        times = f"{statistics.median(stalls):.1f}, {max(stalls):.1f}" if any(stalls) else "-"
        print(f"| {name} | {good} of {len(outcomes)} | {redone} | {times} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
