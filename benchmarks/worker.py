"""Answers for one framework: reads [workload, seconds] lines, prints the best time per call.

A workload is a function that prepares and returns what is to be timed: a callable, or (callable, number of units in
one call).
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable


def best_time(run: Callable[[], object], units: int, seconds: float) -> float:
    """Return the least time per unit, in microseconds, over batches that fill about `seconds`."""
    run()
    start = time.perf_counter()
    run()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, min(20_000, int(seconds / 20 / once)))
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        now = time.perf_counter()
        best = min(best, (now - start) / batch)
        if now > end:
            return best / units * 1e6


def main() -> None:
    module = importlib.import_module(f"benchmarks.work.{sys.argv[1]}_work")
    names = [n for n in vars(module) if not n.startswith("_") and getattr(vars(module)[n], "is_workload", False)]
    print(json.dumps({"version": module.VERSION, "names": names}), flush=True)
    prepared: dict[str, tuple[Callable[[], object], int]] = {}
    for line in sys.stdin:
        workload, seconds = json.loads(line)
        if workload not in prepared:
            made = getattr(module, workload)()
            prepared[workload] = made if isinstance(made, tuple) else (made, 1)
        run, units = prepared[workload]
        print(json.dumps({"us": best_time(run, units, seconds)}), flush=True)


if __name__ == "__main__":
    main()
