"""Calls by name between processes, with arrays both ways: a server's methods, and the peer that calls them.

Streams, tokens, certificates and limits are those between the tasks of a cluster. A server answers each call in a
thread; a client asks over one link to an address, opened with the first call and again when it was lost. Knows links;
knows nothing of functions or datasets.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.cluster import transport, wire
from ebbflow.cluster.endpoint import CONNECT_SECONDS
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Steps
from ebbflow.core import errors

TRY_SECONDS = 0.05
"""How long a peer waits before it looks again for a server that is not there yet."""

Answer = tuple[Any, Sequence[np.ndarray]]
Method = Callable[..., Answer]


class Methods:
    """What stands behind the links of a server: methods by name, each of a link, arrays, and what the caller says."""

    def __init__(self, methods: Mapping[str, Method], what: str):
        self._methods, self._what = methods, what
        self._steps = Steps()  # not those of clients in the same process
        self._grpc: Any = None

    @property
    def begun(self) -> bool:
        """Whether anybody is served."""
        return self._grpc is not None

    def serve(self, address: str) -> int:
        """Serve at an address from now on; return the port."""
        self._grpc, port = transport.serve(address, lambda about: Link(self._steps, self), {})
        self._grpc.start()
        return port

    def stop(self) -> None:
        """Serve no longer, and cut off whoever is connected."""
        if self._grpc is not None:
            self._grpc.stop(None)

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
        error = errors.UnimplementedError(None, None, f"this server {self._what}, and runs no graphs")
        link.say(wire.said(wire.FAILURE, number, wire.error_content(error)))


class Peer:
    """A server that calls are made to; the link is opened with the first, and again when it was lost."""

    def __init__(self, address: str):
        self.address = address
        self._steps, self._lock = Steps(), threading.Lock()
        self._link: Link | None = None

    def link(self, seconds: float = CONNECT_SECONDS) -> Link:
        """Return a link that is open, after one attempt of so many seconds at most."""
        with self._lock:
            if self._link is None or self._link.error is not None:
                fresh = Link(self._steps)
                transport.connect(self.address, fresh, {}, seconds)
                self._link = fresh
            return self._link

    def reach(self, seconds: float | None) -> Link:
        """Return a link that is open, trying for so many seconds; for ever where None is said."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = CONNECT_SECONDS if end is None else end - time.monotonic()
            try:
                return self.link(max(0.01, min(CONNECT_SECONDS, left)))
            except errors.UnavailableError:
                if end is not None and time.monotonic() >= end:
                    raise
                time.sleep(TRY_SECONDS)

    def ask(
        self,
        method: str,
        arrays: Sequence[np.ndarray] = (),
        /,
        *,
        within: float | None = None,
        what: str = "",
        **said: Any,
    ) -> tuple[Any, list[np.ndarray]]:
        """Call a method of the server; return what it says, and its arrays."""
        tensors = {f"arg/{i}": array for i, array in enumerate(arrays)}
        label = what or f"{method} at {self.address}"
        with self.link().asked(method, [len(arrays), said], tensors, within, label) as (step, (told, count)):
            return told, [step.take(f"result/{i}") for i in range(count)]

    def ask_patiently(self, seconds: float, method: str, arrays: Sequence[np.ndarray] = (), /, **said: Any) -> Any:
        """`ask`, again and again while nobody answers at the address, for so many seconds."""
        end = time.monotonic() + seconds
        while True:
            self.reach(end - time.monotonic())
            try:
                return self.ask(method, arrays, **said)
            except errors.UnavailableError:
                if time.monotonic() >= end:
                    raise

    def close(self) -> None:
        """Close the link."""
        if self._link is not None:
            self._link.lose(errors.CancelledError(None, None, "the link was closed"))
