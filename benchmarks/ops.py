"""Every op beside TensorFlow's, called eagerly: `python -m benchmarks.ops [--tensorflow PYTHON] [--only ...]`.

A call of `op_calls.py` is timed on about 10, 10,000 and a million elements. Ebbflow and TensorFlow are each in a
process of their own and asked by turns, a few milliseconds each, in several rounds; the least time of all counts, so
that other work on the machine falls on neither. Before the clock both have made the call a hundred times (or for a
second), as a loop would, and what is compiled in the background meanwhile is there.
The ratio is ours by TensorFlow's: below 1 we are ahead. --write keeps the table in benchmarks/OPS.md; with --times FILE
it may be measured in parts.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import math
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import environments
from benchmarks.op_calls import SIZES, calls, ready, sizes_of
from benchmarks.worker import CLOCKS, least_time
from benchmarks.workers import COUNTS, QUIET, ROOT

WARM, WARM_AGAIN = 100, 5
BATCH = 3e-4
"""Seconds of calls between two looks at the clock."""

RESULTS = ROOT / "benchmarks" / "OPS.md"
ALLOWED = {10: 1.0, 10_000: 1.0, 1_000_000: 1.5}
"""The ratio that each size should not exceed."""

Times = dict[tuple[str, int], dict[str, float]]
"""The least seconds of each framework, by call and number of elements."""


# --- one framework's process -----------------------------------------------------------------------------------------


def warm(run: Callable[[], Any], count: int) -> None:
    """Make a call some times, or for a second."""
    end = time.perf_counter() + 1.0
    for _ in range(count):
        run()
        if time.perf_counter() > end:
            break


def settled(framework: str) -> None:
    """Wait for what Ebbflow compiles in the background: a program that goes on calling has it soon."""
    if framework == "ebbflow":
        late_code = importlib.import_module("ebbflow.engines.native.late_code")
        late_code.settle()


def serve(framework: str) -> None:
    """Answer questions of the form {"call", "n", "seconds", "clock"}, a line each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tf = __import__(framework)
    prepared: dict[tuple[str, int], Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        key = question["call"], question["n"]
        try:
            if key not in prepared:
                prepared.clear()  # one at a time: a million strings are not kept for later
                prepared[key] = ready(tf, *key)
                warm(prepared[key], WARM)
                settled(framework)
                warm(prepared[key], WARM_AGAIN)
            found = {"seconds": least_time(prepared[key], question["seconds"], BATCH, CLOCKS[question["clock"]])}
        except Exception as error:
            found = {"failed": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(found), file=answers, flush=True)


# --- the other side --------------------------------------------------------------------------------------------------


class Framework:
    """A framework in its process."""

    def __init__(self, name: str, python: str, threads: int):
        env = {**os.environ, **QUIET, **{c: str(threads) for c in COUNTS}, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.ops", "--serve", name],
            stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env, cwd=ROOT,
        )  # fmt: skip

    def ask(self, call: str, n: int, seconds: float, clock: str) -> dict[str, Any]:
        question = {"call": call, "n": n, "seconds": seconds, "clock": clock}
        print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failed": f"the process stopped with status {self._process.wait()}"}

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)


def measure(
    frameworks: list[Framework], asked: Iterable[tuple[str, int]], rounds: int, seconds: float, clock: str
) -> tuple[Times, list[str]]:
    """Return the least times, and what could not be run."""
    times: Times = {}
    failures: list[str] = []
    for call, n in asked:
        for _ in range(rounds):
            for framework in frameworks:
                found = framework.ask(call, n, seconds, clock)
                if "failed" in found:
                    failures.append(f"{call} of {n} on {framework.name}: {found['failed']}")
                    break
                row = times.setdefault((call, n), {})
                row[framework.name] = min(found["seconds"], row.get(framework.name, math.inf))
            else:
                continue
            break
        print(f"\r{call[:60]:60} {n:8}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return times, failures


def together(times: Times, path: pathlib.Path | None) -> Times:
    """Return times with those that a file has of other calls and sizes, and keep them all in it."""
    if path is None:
        return times
    kept = json.loads(path.read_text()) if path.exists() else []
    merged = {(call, n): row for call, n, row in kept} | times
    path.write_text(json.dumps([[*key, row] for key, row in merged.items()]))
    return merged


def ratio(row: dict[str, float]) -> float | None:
    return row["ebbflow"] / row["tensorflow"] if {"ebbflow", "tensorflow"} <= set(row) else None


def excess(times: Times) -> list[tuple[float, str, int]]:
    """Return the calls with a ratio, by how much it is above what its size is allowed, the worst first."""
    rated = [(value / ALLOWED[n], call, n) for (call, n), row in times.items() if (value := ratio(row)) is not None]
    return sorted(rated, reverse=True)


def shown(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def markdown(times: Times, failures: list[str]) -> str:
    """Return the page: how many are ahead, the worst twenty, then every call."""
    rated = excess(times)
    lines = ["# Ops beside TensorFlow's, called eagerly", "", "`python -m benchmarks.ops --write`; see `ops.py`.", ""]
    for n in SIZES:
        ratios = sorted(value * ALLOWED[n] for value, _, size in rated if size == n)
        if ratios:
            behind = sum(r > ALLOWED[n] for r in ratios)
            middle = ratios[len(ratios) // 2]
            lines.append(
                f"- {n:,} elements: {len(ratios)} calls, median ratio {middle:.2f}, {behind} above {ALLOWED[n]}"
            )
    lines += [
        "",
        "The worst twenty, by how far above what is allowed (1 up to 10,000 elements, then 1.5):",
        "",
    ]
    lines += ["| call | elements | ebbflow | tensorflow | ratio |", "|---|---|---|---|---|"]
    for _, call, n in rated[:20]:
        row = times[call, n]
        cells = f"{shown(row['ebbflow'])} | {shown(row['tensorflow'])} | {ratio(row):.2f}"
        lines.append(f"| `{call.replace('|', ' ')}` | {n:,} | {cells} |")
    lines += ["", "| call | group | " + " | ".join(f"{n:,}" for n in SIZES) + " |", "|---|---|" + "---|" * len(SIZES)]
    for call, group in calls().items():
        found = [ratio(times.get((call, n), {})) for n in SIZES]
        if any(value is not None for value in found):
            cells = " | ".join("–" if value is None else f"{value:.2f}" for value in found)
            lines.append(f"| `{call}` | {group} | {cells} |")
    return "\n".join([*lines, *([""] if failures else []), *(f"Not run: {text}" for text in failures), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--tensorflow", help="a Python with TensorFlow (default: the peers of `python -m benchmarks`)")
    parser.add_argument("--peers", type=pathlib.Path, default=ROOT / "benchmarks" / ".peers")
    parser.add_argument("--only", default="*", help="patterns of calls, separated by blanks")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.02, help="for a call, a framework and a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--clock", choices=sorted(CLOCKS), default="wall", help="cpu: of all threads, where others keep cores busy"
    )
    parser.add_argument("--times", type=pathlib.Path, help="keep times here, so that a table is measured in parts")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    python = options.tensorflow or environments.python(options.peers, "tensorflow")
    if python is None:
        parser.error("no TensorFlow: name a Python that has it (--tensorflow), or see benchmarks/README.md for --peers")
    patterns = options.only.split()
    asked = [
        (call, n)
        for call, group in calls().items()
        if any(fnmatch.fnmatchcase(call, p) for p in patterns)
        for n in sizes_of(group)
        if n in options.sizes
    ]
    frameworks = [
        Framework("ebbflow", sys.executable, options.threads),
        Framework("tensorflow", python, options.threads),
    ]
    times, failures = measure(frameworks, asked, options.rounds, options.seconds, options.clock)
    page = markdown(together(times, options.times), failures)
    for framework in frameworks:
        framework.close()
    print(page)
    if options.write:
        RESULTS.write_text(page)


if __name__ == "__main__":
    main()
