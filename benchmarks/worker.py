"""A framework in a process of its own, answering questions one line at a time.

    {"do": "time", "workload": NAME, "seconds": S, "clock": CLOCK}    the best time per unit, and the form that had it
    {"do": "check", "workload": NAME, "form": FORM}   what three calls on tiny sizes return
    {"do": "first" | "first_warm" | "cold" | "cached" | "memory" | "growth", ...}   a process that has done nothing yet

Knows the problems and one framework; the other side is `workers.py`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.problems import PROBLEMS
from benchmarks.work import Work, load

WARM = 14
"""Runs before the clock: some compile after a dozen only."""

SETTLED = 7
"""Steps in a row that tell how quick they are now."""

AS_QUICK = 1.1
"""Steps that take this much longer than at the end are as quick."""

CLOSE_CALL = 1.5
"""Forms slower than the best by more than this factor are not timed again."""


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""What passes outside, or what all threads of this process were given: the fairer one where others keep cores busy."""


def best_time(work: Work, seconds: float, clock: str = "wall") -> float:
    """Return the least time per unit, in seconds, over batches that fill about `seconds`."""
    return least_time(work.run, seconds, seconds / 20, CLOCKS[clock]) / work.units


def least_time(
    run: Callable[[], Any], seconds: float, batch_seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the least time of a call in `seconds`, over batches of about `batch_seconds`, or of one call."""
    start = time.perf_counter()
    run()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, min(20_000, int(batch_seconds / once)))
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = clock()
        for _ in range(batch):
            run()
        best = min(best, (clock() - start) / batch)
        if time.perf_counter() > end:
            return best


def warm_up(run: Callable[[], Any], seconds: float = 10.0) -> None:
    """Run a dozen times, or for so long: some compile, or remember, what comes by again."""
    end = time.perf_counter() + seconds
    for _ in range(WARM):
        run()
        if time.perf_counter() > end:
            return


def flatten(value: Any) -> Iterator[list]:
    """Yield each array of a result as nested lists."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flatten(item)
    else:
        yield np.asarray(value.detach() if hasattr(value, "detach") else value, np.float64).tolist()


class Bench:
    """The workloads of one framework, each prepared when first asked for."""

    def __init__(self, framework: str, threads: int):
        self.module = load(framework)
        self.module.configure(threads)
        self._prepared: dict[str, dict[str, Work]] = {}
        self._times: dict[str, dict[str, float]] = {}
        self._failures: dict[str, list[str]] = {}

    def hello(self) -> dict[str, Any]:
        problems = {name: self.module.forms(name) for name in PROBLEMS}
        return {
            "version": self.module.VERSION,
            "forms": {name: found for name, found in problems.items() if found},
            "others": list(self.module.WORKLOADS),
        }

    def answer(self, do: str, workload: str, **options: Any) -> dict[str, Any]:
        return getattr(self, f"_{do}")(workload, **options)

    def _time(self, workload: str, seconds: float, clock: str = "wall") -> dict[str, Any]:
        works = self._ready(workload)
        times = self._times.setdefault(workload, {})
        for form, work in works.items():
            if times.get(form, 0.0) <= CLOSE_CALL * min(times.values(), default=0.0):
                found = best_time(work, seconds, clock)
                times[form] = min(found, times.get(form, found))
        failed = self._failures.get(workload, [])
        if not times:
            return {"failed": "; ".join(failed)}
        form = min(times, key=times.__getitem__)
        return {"seconds": times[form], "form": form, "all": times, "failed": failed}

    def _ready(self, workload: str) -> dict[str, Work]:
        """Return the workload's forms that work, built and warm."""
        if workload not in self._prepared:
            if workload in self.module.WORKLOADS:
                works = {"": self.module.WORKLOADS[workload]()}
                warm_up(works[""].run)
                getattr(self.module, "settle", lambda: None)()
            else:
                works = {form: w for form in self.module.forms(workload) if (w := self._attempt(workload, form))}
            self._prepared[workload] = works
        return self._prepared[workload]

    def _attempt(self, workload: str, form: str) -> Work | None:
        try:
            work = self.module.build(workload, form)
            for _ in range(WARM):
                work.run()
            getattr(self.module, "settle", lambda: None)()
            return work
        except Exception as error:  # whatever a framework cannot do is reported beside the table, not fatal
            self._failures.setdefault(workload, []).append(f"{form}: {type(error).__name__}: {error}"[:300])
            return None

    def _check(self, workload: str, form: str) -> dict[str, Any]:
        work = self.module.build(workload, form, tiny=True)
        return {"results": [list(flatten(work.results(work.run()))) for _ in range(3)]}

    def _first(self, workload: str) -> dict[str, Any]:
        """Return the time from arrays in hand to the first result; of other work, that of its first run."""
        module, ready = self.module, None
        if workload in module.WORKLOADS:
            ready = module.WORKLOADS[workload]()
        start = time.perf_counter()
        (ready or module.build(workload, module.forms(workload)[0])).run()
        return {"seconds": time.perf_counter() - start}

    def _first_warm(self, workload: str) -> dict[str, Any]:
        """Return the same in a process that has done the like: the problem on tiny sizes, a dozen times."""
        warm = self.module.build(workload, self.module.forms(workload)[0], tiny=True)
        for _ in range(WARM):
            warm.run()
        getattr(self.module, "settle", lambda: None)()
        return self._first(workload)

    def _cold(self, workload: str, seconds: float) -> dict[str, Any]:
        """Return how steps become quick where no process has left anything for this one on disk."""
        with tempfile.TemporaryDirectory() as folder:
            os.environ["EBBFLOW_CACHE"] = folder
            return self._cached(workload, seconds)

    def _cached(self, workload: str, seconds: float) -> dict[str, Any]:
        """Return the times of the first step (with all that it takes to make it), of the tenth, and of those at the
        end of so many seconds, and after how long steps were as quick as those.
        """
        start = time.perf_counter()
        run = self.module.build(workload, self.module.forms(workload)[0]).run
        ends = [start]
        while ends[-1] < start + seconds or len(ends) < 3 * SETTLED:
            run()
            ends.append(time.perf_counter())
        times = np.diff(ends)
        steady = float(np.median(times[-SETTLED:]))
        usual = np.array([np.median(times[i : i + SETTLED]) for i in range(len(times) - SETTLED + 1)])
        reached = int(np.argmax(usual <= AS_QUICK * steady))
        return {"first": times[0], "tenth": times[9], "steady": steady, "after": ends[reached + 1] - start}

    def _memory(self, workload: str) -> dict[str, Any]:
        """Return what the process takes at its peak, and how much of that came with the work.

        The work is first done on tiny sizes: some frameworks load their libraries at import, others when first used.
        """
        form = self.module.forms(workload)[0]
        warm = self.module.build(workload, form, tiny=True)
        for _ in range(4):
            warm.run()
        before = memory("VmRSS")
        work = self.module.build(workload, form)
        for _ in range(4):
            work.run()
        peak = memory("VmHWM")
        return {"peak": peak, "grown": peak - before}

    def _growth(self, workload: str, times: int, warm: int = 100) -> dict[str, Any]:
        """Return by how much the process grows over so many calls, once it is warm."""
        run = self.module.WORKLOADS[workload]().run
        for _ in range(warm):
            run()
        gc.collect()
        before = memory("VmRSS")
        for _ in range(times):
            run()
        gc.collect()
        return {"grown": memory("VmRSS") - before}


def memory(field: str) -> int:
    """Return a line of Linux's status of this process, in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


def use_cores(count: int) -> None:
    """Leave this process only so many cores: what counts cores itself then sees as many as the others."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def main(framework: str, threads: int, answer_to: Callable[[dict], None]) -> None:
    use_cores(threads)
    bench = Bench(framework, threads)
    answer_to(bench.hello())
    for line in sys.stdin:
        try:
            answer_to(bench.answer(**json.loads(line)))
        except Exception as error:
            answer_to({"failed": f"{type(error).__name__}: {error}"[:300]})


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")  # libraries that print do not disturb the conversation
    os.dup2(2, 1)
    main(sys.argv[1], int(sys.argv[2]), lambda found: print(json.dumps(found), file=answers, flush=True))
