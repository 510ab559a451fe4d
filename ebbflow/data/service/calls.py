"""What dispatchers, workers and their clients say to each other: calls by name, with arrays both ways.

Streams, tokens, certificates and limits are those between the tasks of a cluster (`cluster/`). A server answers each
call in a thread; a client asks over one link to an address. Knows links; knows nothing of datasets.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.cluster import transport, wire
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Steps
from ebbflow.core import errors
from ebbflow.data.element_records import array_of, record_of

CONNECT_SECONDS = 5.0
"""How long one attempt to reach a server may take."""

Answer = tuple[Any, Sequence[np.ndarray]]
Method = Callable[..., Answer]


class Service:
    """What stands behind the links of a server: methods by name, each of a link, arrays, and what the caller says."""

    def __init__(self, methods: Mapping[str, Method]):
        self._methods, self._steps = methods, Steps()  # not those of clients in the same process
        self.grpc: Any = None

    def serve(self, address: str) -> int:
        """Serve at an address from now on; return the port."""
        self.grpc, port = transport.serve(address, lambda about: Link(self._steps, self), {})
        self.grpc.start()
        return port

    def stop(self) -> None:
        """Serve no longer, and cut off whoever is connected."""
        if self.grpc is not None:
            self.grpc.stop(None)

    def answer(self, link: Link, number: int, content: Any) -> None:
        """Do what a call asks for, and say how it went."""
        step = self._steps.join(number)
        if step is None:
            return
        try:
            name, (count, said) = content
            if name not in self._methods:
                raise wire.damaged(f"there is no call {name!r}")
            given = [step.take(f"arg/{i}") for i in range(count)]
            told, arrays = self._methods[name](link, given, **said)
            for i, array in enumerate(arrays):
                link.post(number, f"result/{i}", array)
            link.say(wire.said(wire.ANSWER, number, [told, len(arrays)]))
        except Exception as error:
            with contextlib.suppress(errors.OpError):  # whoever asked is gone
                link.say(wire.said(wire.FAILURE, number, wire.error_content(error)))
        finally:
            self._steps.end(step)

    def run(self, link: Link, number: int, content: Any) -> None:
        """Refuse what only a task of a cluster can do."""
        error = errors.UnimplementedError(None, None, "this server gives elements of datasets, and runs no graphs")
        link.say(wire.said(wire.FAILURE, number, wire.error_content(error)))


class Peer:
    """A server that calls are made to; the link is opened with the first, and again when it was lost."""

    def __init__(self, address: str):
        self.address = address
        self._steps, self._lock = Steps(), threading.Lock()
        self._link: Link | None = None

    def link(self, seconds: float = CONNECT_SECONDS) -> Link:
        """Return a link that is open, after so many seconds at most."""
        with self._lock:
            if self._link is None or self._link.error is not None:
                fresh = Link(self._steps)
                transport.connect(self.address, fresh, {}, seconds)
                self._link = fresh
            return self._link

    def ask(self, method: str, arrays: Sequence[np.ndarray] = (), **said: Any) -> tuple[Any, list[np.ndarray]]:
        """Call a method of the server; return what it says, and its arrays."""
        tensors = {f"arg/{i}": array for i, array in enumerate(arrays)}
        with self.link().asked(method, [len(arrays), said], tensors, None, method) as (step, (told, count)):
            return told, [step.take(f"result/{i}") for i in range(count)]

    def ask_patiently(self, seconds: float, method: str, arrays: Sequence[np.ndarray] = (), **said: Any) -> Any:
        """`ask`, again and again while nobody answers at the address, for so many seconds."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.link(max(0.05, min(CONNECT_SECONDS, end - time.monotonic())))
                return self.ask(method, arrays, **said)
            except errors.UnavailableError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.05)

    def close(self) -> None:
        """Close the link."""
        if self._link is not None:
            self._link.lose(errors.CancelledError(None, None, "the link was closed"))


def text_array(*texts: bytes) -> np.ndarray:
    """Return byte strings as an array that travels."""
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


# --- elements ---------------------------------------------------------------------------------------------------------


def packed(elements: Sequence[Sequence[np.ndarray]]) -> tuple[list[list[int]], list[np.ndarray]]:
    """Return elements as arrays that travel, and which of their parts had to be written as records."""
    arrays: list[np.ndarray] = []
    written = []
    for element in elements:
        records = [int(_is_record(part)) for part in element]
        arrays += [text_array(record_of(p)) if r else p for p, r in zip(element, records, strict=True)]
        written.append(records)
    return written, arrays


def _is_record(part: np.ndarray) -> bool:
    return part.dtype == object and part.size > 0 and not isinstance(part.reshape(-1)[0], (bytes, str))


def unpacked(written: Sequence[Sequence[int]], arrays: Sequence[np.ndarray]) -> list[tuple[np.ndarray, ...]]:
    """Return the elements that were `packed`."""
    parts = iter(arrays)
    return [
        tuple([array_of(next(parts)[0], "an element") if is_record else next(parts) for is_record in element])
        for element in written
    ]
