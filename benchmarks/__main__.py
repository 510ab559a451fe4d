"""Prints the table: workload × framework, interleaved rounds, best of rounds.

Knows how to start a framework's worker and how to read its answers; the workloads themselves are in `work/`.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import platform
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {"tensorflow": ["tensorflow"], "jax": ["jax"], "torch": ["torch==2.13.0", "numpy"]}


class Worker:
    """A framework in a process of its own, answering one question at a time."""

    def __init__(self, name: str, python: str):
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(HERE.parent)}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            cwd=HERE.parent,
        )
        hello = self._read()
        self.version, self.names = hello["version"], hello["names"]

    def ask(self, workload: str, seconds: float) -> float:
        """Return the best time per call, in microseconds, that the worker found in about this many seconds."""
        print(json.dumps([workload, seconds]), file=self._process.stdin, flush=True)
        return self._read()["us"]

    def _read(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the {self.name} worker stopped")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(20)


def make_peers(folder: pathlib.Path) -> None:
    for name, packages in PEERS.items():
        target = folder / name
        if not target.exists():
            venv.create(target, with_pip=True)
            subprocess.run([target / "bin" / "pip", "install", "--quiet", *packages], check=True)


def find_python(folder: pathlib.Path, name: str) -> str | None:
    python = folder / name / "bin" / "python"
    return str(python) if python.exists() else None


def measure(workers: list[Worker], workloads: list[str], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    best: dict[str, dict[str, float]] = {w: {} for w in workloads}
    for _ in range(rounds):
        for workload in workloads:
            for worker in workers:
                if workload in worker.names:
                    found = worker.ask(workload, seconds)
                    best[workload][worker.name] = min(found, best[workload].get(worker.name, found))
    return best


def show(us: float | None) -> str:
    if us is None:
        return "–"
    return f"{us:.2f} µs" if us < 100 else f"{us:.0f} µs" if us < 10_000 else f"{us / 1000:.1f} ms"


def table(best: dict[str, dict[str, float]], names: list[str]) -> str:
    rows = [["workload", *names, "ratio"]]
    for workload, times in best.items():
        peers = [t for n, t in times.items() if n not in ("ebbflow", "numpy")]
        ratio = f"{times['ebbflow'] / min(peers):.2f}" if peers and "ebbflow" in times else "–"
        rows.append([workload, *[show(times.get(n)) for n in names], ratio])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ebbflow beside its peers")
    parser.add_argument(
        "--peers", type=pathlib.Path, default=HERE / ".peers", help="folder with one environment per peer"
    )
    parser.add_argument("--make-peers", action="store_true", help="make those environments first")
    parser.add_argument("--only", default="*", help="pattern of workloads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="per workload, framework and round")
    parser.add_argument("--write", action="store_true", help="keep the table in RESULTS.md")
    options = parser.parse_args()
    if options.make_peers:
        make_peers(options.peers)
    workers = [Worker("numpy", sys.executable), Worker("ebbflow", sys.executable)]
    for name in PEERS:
        python = find_python(options.peers, name)
        if python is not None:
            workers.append(Worker(name, python))
    workloads = [w for w in workers[1].names if fnmatch.fnmatch(w, options.only)]
    best = measure(workers, workloads, options.rounds, options.seconds)
    text = table(best, [w.name for w in workers])
    versions = ", ".join(f"{w.name} {w.version}" for w in workers)
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    head = f"{datetime.date.today()}, {machine}: {versions}"
    print(head + "\n\n" + text)
    if options.write:
        (HERE / "RESULTS.md").write_text(f"# Results\n\n`python -m benchmarks --write`: {head}\n\n{text}\n")
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    main()
