"""Prints the table: workload × framework, interleaved rounds, best of rounds.

Knows how to ask the workers and what to ask for; the problems are in `problems.py`, the work on them in `work/`.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import fnmatch
import os
import pathlib
import platform
import sys
from collections.abc import Iterable

from benchmarks import check, environments
from benchmarks.problems import PROBLEMS
from benchmarks.table import FLOOR, Row, markdown
from benchmarks.work import load
from benchmarks.workers import Worker, WorkerError, ask_once

HERE = pathlib.Path(__file__).resolve().parent

# What only a process that has done nothing else can tell: row, question, workload, field of the answer, unit, options.
ONCE = (
    ("resnet50_first_step", "first", "resnet50_step", "seconds", "seconds", {}),
    ("resnet50_first_step_warm", "first_warm", "resnet50_step", "seconds", "seconds", {}),
    ("keras_first_fit_step", "first", "keras_fit_of_one_step", "seconds", "seconds", {}),
    *[
        (f"transformer_{field}_{do}", do, "transformer_step", key, "seconds", {"seconds": 8})
        for do in ("cold", "cached")
        for field, key in (("first_step", "first"), ("tenth_step", "tenth"), ("full_speed_after", "after"))
    ],
    ("conv_stack_peak_memory", "memory", "conv_stack_step", "peak", "bytes", {}),
    ("conv_stack_own_memory", "memory", "conv_stack_step", "grown", "bytes", {}),
    ("transformer_peak_memory", "memory", "transformer_step", "peak", "bytes", {}),
    ("transformer_own_memory", "memory", "transformer_step", "grown", "bytes", {}),
    ("memory_left_by_1000_traces", "growth", "trace_dying_closure", "grown", "bytes", {"times": 1000}),
    ("memory_left_by_100_epochs", "growth", "data_arrays", "grown", "bytes", {"times": 100, "warm": 10}),
    ("memory_left_by_1000_predicts", "growth", "keras_predict_one_row", "grown", "bytes", {"times": 1000}),
    (
        "memory_left_by_100_keras_models",
        "growth",
        "keras_model_built_and_dropped",
        "grown",
        "bytes",
        {"times": 100, "warm": 20},
    ),
)


Failed = tuple[str, str, str]
"""A framework, a workload, and what went wrong."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def wanted(names: Iterable[str], patterns: str) -> list[str]:
    return [n for n in names if any(fnmatch.fnmatch(n, p) for p in patterns.split(","))]


def measure(workers: list[Worker], names: list[str], chosen: argparse.Namespace, failures: set[Failed]) -> list[Row]:
    """Ask every worker for every workload, in rounds, so that a busy moment does not fall on one of them alone."""
    rows = {name: Row(name) for name in names}
    for turn in range(chosen.rounds):
        for name in names:
            for worker in workers:
                if name not in worker.workloads:
                    continue
                say(f"round {turn + 1}/{chosen.rounds}: {name} on {worker.name}")
                try:
                    found = worker.ask("time", name, seconds=chosen.seconds, clock=chosen.clock)
                except WorkerError as failure:
                    failures.add((worker.name, name, str(failure)))
                    continue
                rows[name].add(worker.name, found["seconds"], found["form"])
                failures |= {(worker.name, name, text) for text in found["failed"]}
    return list(rows.values())


def measure_once(
    pythons: dict[str, str], names: list[str], rounds: int, threads: int, failures: set[Failed]
) -> list[Row]:
    """Ask processes made for the purpose; those that answer two rows at once are asked once for both."""
    chosen = [entry for entry in ONCE if entry[0] in names]
    rows = {entry[0]: Row(entry[0], unit=entry[4]) for entry in chosen}
    questions = {(do, workload): options for _, do, workload, _, _, options in chosen}
    for turn in range(rounds):
        for (do, workload), options in questions.items():
            for framework, python in pythons.items():
                say(f"round {turn + 1}/{rounds}: {do} of {workload} on {framework}")
                try:
                    found = ask_once(framework, python, threads, do, workload, **options)
                except WorkerError as failure:
                    failures.add((framework, f"{do} of {workload}", str(failure)))
                    continue
                for name, d, w, field, *_ in chosen:
                    if found and (d, w) == (do, workload):
                        rows[name].add(framework, found[field])
    return list(rows.values())


def grouped(failures: set[Failed]) -> list[str]:
    """Return a line for each thing that went wrong, with the workloads it went wrong on."""
    found: dict[tuple[str, str], list[str]] = {}
    for framework, workload, text in sorted(failures):
        found.setdefault((framework, text), []).append(workload)
    return [f"Not run on {framework}: {', '.join(names)}: {text}" for (framework, text), names in found.items()]


def set_limits(rows: list[Row], workers: list[Worker], seconds: float) -> str:
    """Give each row the time that this machine cannot undercut; return what the machine can do."""
    gemm, times = PROBLEMS["gemm"], []
    for worker in workers:
        with contextlib.suppress(WorkerError):
            times.append(worker.ask("time", "gemm", seconds=seconds)["seconds"])
    speed = gemm.flops(**gemm.sizes) / min(times)
    bandwidth = 1 / workers[0].ask("time", "memory_byte", seconds=seconds)["seconds"]
    for row in rows:
        if row.name in PROBLEMS:
            row.limit = PROBLEMS[row.name].limit(speed, bandwidth)
    return f"best matrix product {speed / 1e9:.0f} GFLOP/s, memory {bandwidth / 1e9:.1f} GB/s"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ebbflow beside its peers")
    add = parser.add_argument
    add("--peers", type=pathlib.Path, default=HERE / ".peers", help="folder with one environment a peer")
    add("--make-peers", type=pathlib.Path, metavar="DIR", help="make those environments in DIR first, and use them")
    add("--only", default="*", help="workloads, as patterns with commas between")
    add("--rounds", type=int, default=5)
    add("--seconds", type=float, default=0.5, help="for each workload, framework and round")
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: what all threads of a process took together")
    add("--threads", type=int, default=2, help="for each framework")
    add("--list", action="store_true", help="print the names of the workloads")
    add("--check", action="store_true", help="compare the answers on tiny sizes instead of the times")
    add("--write", action="store_true", help="keep the table in RESULTS.md, of processor time in RESULTS_CPU.md")
    return parser.parse_args()


def run_check(workers: list[Worker], patterns: str) -> bool:
    lines = list(check.differences(workers, wanted(PROBLEMS, patterns)))
    print("\n".join(lines))
    return all(line.startswith("agrees") for line in lines)


def run_table(workers: list[Worker], pythons: dict[str, str], chosen: argparse.Namespace) -> None:
    failures: set[Failed] = set()
    names = wanted(workers[1].workloads, chosen.only)
    rows = measure(workers, names, chosen, failures)
    machine = set_limits(rows, workers, chosen.seconds)
    others = {name: python for name, python in pythons.items() if name != FLOOR}
    once = wanted([entry[0] for entry in ONCE], chosen.only)
    rows += measure_once(others, once, min(chosen.rounds, 3), chosen.threads, failures)
    versions = ", ".join(f"{w.name} {w.version}" for w in workers)
    head = (
        f"{datetime.date.today()}, {chosen.threads} threads on {os.cpu_count()} cores ({platform.machine()}), "
        f"{machine}, Python {platform.python_version()}: {versions}"
    )
    text = "\n\n".join([head, markdown(rows, list(pythons)), *grouped(failures)])
    print(text)
    if chosen.write:
        flags = f"--rounds {chosen.rounds} --seconds {chosen.seconds:g}"
        flags += f" --clock {chosen.clock} --threads {chosen.threads}" if chosen.clock != "wall" else ""
        flags += f" --only '{chosen.only}'" if chosen.only != "*" else ""
        page = "RESULTS.md" if chosen.clock == "wall" else "RESULTS_CPU.md"
        (HERE / page).write_text(f"# Results\n\n`python -m benchmarks {flags} --write`: {text}\n")


def main() -> None:
    chosen = options()
    if chosen.make_peers:
        environments.make(chosen.make_peers)
        chosen.peers = chosen.make_peers
    pythons = environments.all_pythons(chosen.peers)
    if chosen.list:
        print("\n".join([*load("ebbflow").WORKLOADS, *PROBLEMS, *[entry[0] for entry in ONCE]]))
        return
    workers = [Worker(name, python, chosen.threads) for name, python in pythons.items()]
    try:
        if chosen.check:
            sys.exit(0 if run_check(workers, chosen.only) else 1)
        run_table(workers, pythons, chosen)
    finally:
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main()
