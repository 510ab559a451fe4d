"""The dispatcher of a data service: which datasets there are, who reads them, and which workers run them.

An iteration is one reading of a dataset by all clients that share a job; its number is what clients and workers name it
by. Where workers are to share the source, the dispatcher deals out the numbers of its elements. A worker is forgotten
with the link it came by. Knows datasets as bytes; runs none.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.cluster.link import Link
from ebbflow.core import errors
from ebbflow.data.service.calls import Answer, Service, text_array
from ebbflow.ops.sizes import invalid

FIRST_ID = 1000
DYNAMIC, STATIC = "DYNAMIC", ("FILE", "DATA", "FILE_OR_DATA", "HINT")

KEPT = 4096
"""Iterations that are remembered."""


class Dispatcher:
    """What a dispatcher knows."""

    def __init__(self, worker_addresses: Sequence[str] = ()):
        self._fixed = list(worker_addresses)
        self._workers: dict[str, Link] = {}  # by address, in the order they came
        self._datasets: dict[str, tuple[bytes, bytes]] = {}  # graph and spec, by id
        self._ids: dict[tuple[str, bytes], str] = {}  # by fingerprint and spec
        self._jobs: dict[tuple[str, int], dict[str, Any]] = {}
        self._iterations: dict[int, dict[str, Any]] = {}
        self._dealt: dict[tuple[int, int, int], int] = {}  # by iteration, source and repetition: the next number
        self._lock = threading.Lock()
        self.service = Service(
            {
                "join": self._join,
                "register": self._register,
                "dataset": self._dataset,
                "iterate": self._iterate,
                "workers": lambda link, arrays: (list(self._workers), ()),
                "describe": self._describe,
                "deal": self._deal,
            }
        )

    @property
    def worker_count(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    # --- workers ------------------------------------------------------------------------------------------------------

    def _join(self, link: Link, arrays: Any, address: str) -> Answer:
        if self._fixed and address not in self._fixed:
            raise errors.FailedPreconditionError(
                None, None, f"the worker at {address} is none of the dispatcher's worker_addresses {self._fixed}"
            )
        with self._lock:
            self._workers[address] = link
        link.when_lost.append(lambda: self._leave(address, link))
        return None, ()

    def _leave(self, address: str, link: Link) -> None:
        with self._lock:
            if self._workers.get(address) is link:
                del self._workers[address]

    # --- datasets -----------------------------------------------------------------------------------------------------

    def _register(self, link: Link, arrays: Sequence[np.ndarray], fingerprint: str, wanted: str | None) -> Answer:
        graph, spec = arrays[0].tolist()
        with self._lock:
            name = wanted or self._ids.get((fingerprint, spec)) or str(FIRST_ID + len(self._datasets))
            known = self._datasets.get(name)
            if known is not None and known[1] != spec:
                raise invalid(f"Datasets with the same ID should have the same structure, got two for {name!r}")
            self._datasets[name] = known or (graph, spec)
            self._ids.setdefault((fingerprint, spec), name)
        return name, ()

    def _found(self, name: str) -> tuple[bytes, bytes]:
        if name not in self._datasets:
            raise errors.NotFoundError(None, None, f"Dataset id {name} not found: it was not registered here")
        return self._datasets[name]

    def _dataset(self, link: Link, arrays: Any, name: str) -> Answer:
        return None, (text_array(*self._found(name)),)

    # --- iterations ---------------------------------------------------------------------------------------------------

    def _iterate(
        self, link: Link, arrays: Any, dataset: str, mode: str, job: str, repetition: int, consumers: int
    ) -> Answer:
        self._found(dataset)
        if mode in STATIC and not self._fixed:
            raise invalid(f"Static sharding policy {mode} requires worker_addresses in the dispatcher's config")
        asked = {"dataset": dataset, "mode": mode, "consumers": consumers}
        with self._lock:
            key = (job, repetition)
            if key not in self._jobs:
                number = len(self._jobs) + FIRST_ID
                self._jobs[key] = {"number": number, **asked}
                self._iterations[number] = asked
                self._forget()
            known = self._jobs[key]
        for name, value in asked.items():
            if known[name] != value:
                raise invalid(
                    f"Tried to create job {job!r} with {name} {value!r}, but there is one with {name} {known[name]!r}"
                )
        return known["number"], ()

    def _forget(self) -> None:
        for number in list(self._iterations)[:-KEPT]:
            del self._iterations[number]
            for key in [k for k in self._dealt if k[0] == number]:
                del self._dealt[key]

    def _describe(self, link: Link, arrays: Any, iteration: int, address: str) -> Answer:
        known = self._iterations.get(iteration)
        if known is None:
            raise errors.NotFoundError(None, None, f"iteration {iteration} is not known at the dispatcher")
        place = self._fixed.index(address) if address in self._fixed else 0
        told = {**known, "place": place, "places": max(1, len(self._fixed))}
        return told, (text_array(self._found(known["dataset"])[0]),)

    def _deal(self, link: Link, arrays: Any, iteration: int, source: int, repetition: int, count: int) -> Answer:
        key = (iteration, source, repetition)
        with self._lock:
            first = self._dealt.get(key, 0)
            self._dealt[key] = first + count
        return first, ()
