"""The other ends of the workers: processes that do one framework's work, and what they answered."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "GRPC_VERBOSITY": "ERROR"}
COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(Exception):
    """A worker could not do what it was asked."""


class Worker:
    """A framework in a process of its own, answering one question at a time."""

    def __init__(self, name: str, python: str, threads: int = 2, log: Any = subprocess.DEVNULL):
        self.name = name
        self._command = [python, "-m", "benchmarks.worker", name, str(threads)]
        self._env = {**os.environ, **QUIET, **{c: str(threads) for c in COUNTS}, "PYTHONPATH": str(ROOT)}
        self._env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
        self._env["BENCHMARKS_TF"] = name if name == "tensorflow" else "ebbflow"
        self._env["KERAS_BACKEND"] = name if name in ("jax", "torch") else "tensorflow"
        self._log = log
        self._start()

    def _start(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=self._log, text=True, env=self._env, cwd=ROOT
        )
        hello = self._read()
        self.version, self.forms, self.others = hello["version"], hello["forms"], hello["others"]

    @property
    def workloads(self) -> list[str]:
        return [*self.others, *self.forms]

    def ask(self, do: str, workload: str, **options: Any) -> dict[str, Any]:
        """Return the answer to one question, or raise WorkerError. A worker that died is started again for the next."""
        if self._process.poll() is not None:
            self._start()
        print(json.dumps({"do": do, "workload": workload, **options}), file=self._process.stdin, flush=True)
        found = self._read()
        if set(found) == {"failed"}:
            raise WorkerError(found["failed"])
        return found

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(f"the {self.name} worker stopped with status {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()


def ask_once(name: str, python: str, threads: int, do: str, workload: str, **options: Any) -> dict[str, Any] | None:
    """Return the answer of a process started for this question only, or None where it has no such workload."""
    worker = Worker(name, python, threads)
    try:
        return worker.ask(do, workload, **options) if workload in worker.workloads else None
    finally:
        worker.close()
