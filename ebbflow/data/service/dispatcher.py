"""The dispatcher of a data service: which datasets there are, who reads them, and which workers run them.

An iteration is one reading of a dataset by all clients that share a job; its number is what clients and workers name it
by. Where workers are to share the source, the dispatcher deals out the numbers of its elements. A worker is forgotten
with the link it came by, and so is whoever reads; an iteration that nobody has read for a while is over. With a
directory, what is known is written there and outlives the dispatcher. Knows datasets as bytes; runs none.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.cluster.link import Link
from ebbflow.cluster.methods import Answer, Methods
from ebbflow.core import errors
from ebbflow.data.service.calls import ABOUT, text_array
from ebbflow.data.service.saving import Saves
from ebbflow.ops.sizes import invalid

FIRST_ID = 1000
DYNAMIC, STATIC = "DYNAMIC", ("FILE", "DATA", "FILE_OR_DATA", "HINT")

KEPT = 4096
"""Iterations that are remembered."""

UNREAD_MS = 5 * 60 * 1000
"""How long an iteration is kept that nobody reads, unless told otherwise."""


class Journal:
    """Lines of JSON in a file, read again by whoever begins with the same directory."""

    def __init__(self, folder: str, apply: Callable[..., None]):
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "dispatcher.journal")
        whole = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                whole = file.read()
            whole = whole[: whole.rfind(b"\n") + 1]  # a line that was being written is not counted on
            for line in whole.splitlines():
                apply(*json.loads(line))
        self._file = open(path, "r+b" if os.path.exists(path) else "wb")  # noqa: SIM115  (as long as the dispatcher)
        self._file.seek(len(whole))
        self._file.truncate()

    def write(self, entry: Any) -> None:
        """Add a line."""
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()


def _as_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _as_bytes(text: str) -> bytes:
    return base64.b64decode(text)


def _fits(asked: str, address: str) -> bool:
    """Return whether a worker's address is the one asked for, which may leave the port open.

    >>> [_fits(asked, "host:80") for asked in ("host:80", "host", "host:%port%", "host:81", "host:http", "other")]
    [True, True, True, False, False, False]
    """
    host, _, port = asked.partition(":")
    is_open = not port or (port.startswith("%") and port.endswith("%"))
    return asked == address or (is_open and host == address.rpartition(":")[0])


class Dispatcher:
    """What a dispatcher knows."""

    def __init__(
        self, worker_addresses: Sequence[str] = (), work_dir: str | None = None, unread_ms: int | None = None,
        silent_ms: int | None = None,
    ):  # fmt: skip
        self._fixed = list(worker_addresses)
        self._unread = (UNREAD_MS if unread_ms is None else unread_ms) / 1000
        self._silent = None if silent_ms is None else silent_ms / 1000  # after which a worker counts as gone
        self._heard: dict[str, float] = {}  # by the address of a worker: when it last said that it is there
        self._readers: dict[int, set[Link]] = {}  # by iteration
        self._left: dict[int, float] = {}  # by iteration that had readers: when the last of them went
        self._workers: dict[str, Link] = {}  # by address, in the order they came
        self._places: dict[str, int] = {}  # by address: which of the configured workers it is
        self._datasets: dict[str, tuple[bytes, bytes]] = {}  # graph and spec, by id
        self._ids: dict[tuple[str, bytes], str] = {}  # by fingerprint and spec
        self._jobs: dict[tuple[str, int], dict[str, Any]] = {}
        self._iterations: dict[int, dict[str, Any]] = {}
        self._numbered = FIRST_ID - 1
        self._dealt: dict[tuple[int, int, int], int] = {}  # by iteration, source and repetition: the next number
        self._answered: dict[tuple[int, int], dict[str, list[int]]] = {}  # by iteration and source: to whom, what last
        self._lock = threading.Lock()
        self._journal = None if work_dir is None else Journal(work_dir, self._apply)
        self.service = Methods(
            {
                "join": self._join,
                "register": self._register,
                "dataset": self._dataset,
                "iterate": self._iterate,
                "workers": self._for_reader,
                "alive": self._alive,
                "describe": self._describe,
                "deal": self._deal,
                "save": Saves(self._to_be_saved).save,
            },
            ABOUT,
        )

    @property
    def worker_count(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    # --- what is known, and lasts -------------------------------------------------------------------------------------

    def _note(self, *entry: Any) -> None:
        """Know something from now on; a dispatcher that begins anew with the same directory will know it too."""
        if self._journal is not None:
            self._journal.write(entry)
        self._apply(*entry)

    def _apply(self, kind: str, *values: Any) -> None:
        if kind == "dataset":
            name, fingerprint, graph, spec = values
            self._datasets.setdefault(name, (_as_bytes(graph), _as_bytes(spec)))
            self._ids.setdefault((fingerprint, _as_bytes(spec)), name)
        elif kind == "iteration":
            job, repetition, number, asked = values
            self._jobs[job, repetition] = {"number": number, **asked}
            self._iterations[number] = asked
            self._numbered = max(self._numbered, number)
            self._forget()
        elif kind == "place":
            self._places[values[0]] = values[1]
        elif kind == "over":
            number = values[0]
            self._iterations.pop(number, None)
            for key in [k for k, known in self._jobs.items() if known["number"] == number]:
                del self._jobs[key]
        else:
            number, source, repetition, first, count, asked = values
            self._dealt[number, source, repetition] = first + count
            self._answered[number, source] = {**self._answered.get((number, source), {}), asked[0]: [asked[1], first]}

    # --- workers ------------------------------------------------------------------------------------------------------

    def _join(self, link: Link, arrays: Any, address: str) -> Answer:
        with self._lock:
            if self._fixed:
                self._place(address)
            self._workers[address] = link
            self._heard[address] = time.monotonic()
        link.when_lost.append(lambda: self._leave(address, link))
        return None, ()

    def _place(self, address: str) -> None:
        """Give a worker its place among the configured ones: that of its address, or a free one of its host."""
        if address in self._places:
            return
        fitting = [i for i, asked in enumerate(self._fixed) if _fits(asked, address)]
        if not fitting:
            raise errors.FailedPreconditionError(
                None, None, f"The worker's address is not configured: {address} is none of the dispatcher's "
                f"worker_addresses {self._fixed}",
            )  # fmt: skip
        used = set(self._places.values())
        running = {place for known, place in self._places.items() if known in self._workers}
        free = [i for i in fitting if i not in used] or [i for i in fitting if i not in running]
        if not free:
            raise errors.FailedPreconditionError(
                None, None, f"The worker at {address} has no place: other workers are already running at the "
                f"configured host, worker_addresses = {self._fixed}",
            )  # fmt: skip
        self._note("place", address, free[0])

    def _leave(self, address: str, link: Link) -> None:
        with self._lock:
            if self._workers.get(address) is link:
                del self._workers[address]

    def _alive(self, link: Link, arrays: Any, address: str, iterations: Sequence[int]) -> Answer:
        """Hear from a worker; tell it which of the iterations that it runs are over."""
        with self._lock:
            self._heard[address] = now = time.monotonic()
            for number in [n for n, left in self._left.items() if now - left >= self._unread]:
                if self._iterations.get(number, {}).get("mode") != DYNAMIC:  # that one is to be read to its end
                    self._note("over", number)
                del self._left[number]
            return [number for number in iterations if number not in self._iterations], ()

    # --- who reads ----------------------------------------------------------------------------------------------------

    def _for_reader(self, link: Link, arrays: Any, iteration: int) -> Answer:
        """Return where the workers are, and remember that somebody reads."""
        with self._lock:
            self._read_by(iteration, link)
            silent = time.monotonic() - (self._silent or 0)
            return [a for a in self._workers if self._silent is None or self._heard[a] >= silent], ()

    def _read_by(self, iteration: int, link: Link) -> None:
        readers = self._readers.setdefault(iteration, set())
        self._left.pop(iteration, None)
        if link not in readers:
            readers.add(link)
            link.when_lost.append(lambda: self._read_no_more(iteration, link))

    def _read_no_more(self, iteration: int, link: Link) -> None:
        with self._lock:
            readers = self._readers.get(iteration, set())
            readers.discard(link)
            if not readers:
                self._readers.pop(iteration, None)
                self._left[iteration] = time.monotonic()

    # --- datasets -----------------------------------------------------------------------------------------------------

    def _register(self, link: Link, arrays: Sequence[np.ndarray], fingerprint: str, wanted: str | None) -> Answer:
        graph, spec = arrays[0].tolist()
        with self._lock:
            name = wanted or self._ids.get((fingerprint, spec)) or str(FIRST_ID + len(self._datasets))
            known = self._datasets.get(name)
            if known is not None and known[1] != spec:
                raise invalid(f"Datasets with the same ID should have the same structure, got two for {name!r}")
            if known is None or (fingerprint, spec) not in self._ids:
                self._note("dataset", name, fingerprint, *map(_as_text, known or (graph, spec)))
        return name, ()

    def _found(self, name: str) -> tuple[bytes, bytes]:
        if name not in self._datasets:
            raise errors.NotFoundError(None, None, f"Dataset id {name} not found: it was not registered here")
        return self._datasets[name]

    def _dataset(self, link: Link, arrays: Any, name: str) -> Answer:
        return None, (text_array(*self._found(name)),)

    # --- iterations ---------------------------------------------------------------------------------------------------

    def _iterate(
        self, link: Link, arrays: Any, dataset: str, mode: str, job: str, repetition: int, consumers: int, target: str
    ) -> Answer:
        self._found(dataset)
        if mode in STATIC and not self._fixed:
            raise invalid(
                f"Static sharding policy <{mode}> requires local tf.data workers, or worker_addresses in the "
                "dispatcher's config"
            )
        asked = {"mode": mode, "consumers": consumers, "target workers": target}
        with self._lock:
            known = self._job(dataset, job, repetition, asked)
            for name, value in asked.items():
                if known[name] != value:
                    raise invalid(
                        f"Tried to create job {job!r} with {name} <{value}>, but found an existing job with different "
                        f"parameters: Existing {name}: <{known[name]}>"
                    )
            self._read_by(known["number"], link)
        return known["number"], ()

    def _job(self, dataset: str, job: str, repetition: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Return what is known of a repetition of a job, which begins here if there is none."""
        if (job, repetition) not in self._jobs:
            self._numbered += 1
            self._note("iteration", job, repetition, self._numbered, {**asked, "dataset": dataset})
        return self._jobs[job, repetition]

    def _to_be_saved(self, dataset: str, job: str) -> int:
        with self._lock:
            asked = {"mode": DYNAMIC, "consumers": 0, "target workers": "ANY"}
            number: int = self._job(dataset, job, self._numbered, asked)["number"]
            return number

    def _forget(self) -> None:
        for number in list(self._iterations)[:-KEPT]:
            del self._iterations[number]
            dealt: tuple[dict[Any, Any], ...] = (self._dealt, self._answered)
            for known in dealt:
                for key in [k for k in known if k[0] == number]:
                    del known[key]

    def _describe(self, link: Link, arrays: Any, iteration: int, address: str) -> Answer:
        known = self._iterations.get(iteration)
        if known is None:
            raise errors.NotFoundError(None, None, f"iteration {iteration} is not known at the dispatcher")
        told = {**known, "place": self._places.get(address, 0), "places": max(1, len(self._fixed))}
        return told, (text_array(self._found(known["dataset"])[0]),)

    def _deal(
        self, link: Link, arrays: Any, iteration: int, source: int, repetition: int, count: int, asked: list[Any]
    ) -> Answer:
        """Deal out numbers; who asks again (the same address, the same turn) has not heard, and gets the same ones."""
        key = (iteration, source, repetition)
        with self._lock:
            turn, first = self._answered.get((iteration, source), {}).get(asked[0], (None, 0))
            if turn != asked[1]:
                first = self._dealt.get(key, 0)
                self._note("dealt", *key, first, count, asked)
        return first, ()
