"""Running a cluster: by NumPy at first, by XLA when that is compiled and quicker.

Compiling goes on in the background while the host answers, so nobody waits for it. Once it is done, both are timed on
the next runs and the quicker one stays. Where XLA refuses, or `determinism` is asked for, the host goes on alone.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from ebbflow.compiler.flow import Flow, Node
from ebbflow.compiler.options import repeats
from ebbflow.compiler.program import Program
from ebbflow.compiler.tiles import Tiles, fits
from ebbflow.engines.background import Worker

TRIALS = 6
"""So often each engine is timed before one is chosen."""

_worker = Worker("ebbflow-xla-compiler")
settle = _worker.settle
_all: weakref.WeakSet[Any] = weakref.WeakSet()


class Cluster:
    """A function from the arrays that go in to those that come out."""

    def __init__(self, region: Flow, bind: Callable[[Node], Callable[..., Any]], session: Any = None):
        self.region = region
        self.host: Callable[..., Any] = Tiles(region) if fits(region) else partial(_run, Program(region, bind))
        self.executable: Any = None
        self.refusal: str | None = None
        self._times: dict[str, list[float]] = {"host": [], "xla": []}
        self._chosen: Callable[..., Any] | None = None
        _all.add(self)
        if repeats(session):
            self._chosen = self.host
        else:
            _worker.add(self.compile)

    def __call__(self, *arrays: Any) -> Any:
        chosen = self._chosen
        if chosen is not None:
            return chosen(*arrays)
        if self.executable is None:
            return self.host(*arrays)
        return self._trial(arrays)

    def _trial(self, arrays: Any) -> Any:
        name = "xla" if len(self._times["xla"]) <= len(self._times["host"]) else "host"
        call = self.executable if name == "xla" else self.host
        start = time.perf_counter()
        results = call(*arrays)
        self._times[name].append(time.perf_counter() - start)
        if min(len(t) for t in self._times.values()) >= TRIALS:
            better = min(self._times["xla"]) <= min(self._times["host"])
            self._chosen = self.executable if better else self.host
        return results

    @property
    def engine(self) -> str:
        """Which engine serves now."""
        return "xla" if self._chosen is not None and self._chosen is self.executable else "host"

    def compile(self) -> None:
        """Compile the region for XLA; called by the worker."""
        # Loads jax, which takes a second: only here, behind the scenes.
        from ebbflow.engines.xla.executable import compile

        try:
            self.executable = compile(self.region)
        except Exception as error:  # the host serves on, and `explain` says why
            self.refusal = str(error)
            self._chosen = self.host


def _run(program: Program, *arrays: Any) -> Any:
    return program.run(arrays)


def _begin_again() -> None:
    """In a forked process, which has none of XLA's threads, go on by the host."""
    for cluster in _all:
        cluster._chosen = cluster.host


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
