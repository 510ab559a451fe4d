"""This process among others: the tasks it serves, the links it has, the steps that go on in it.

There is one for the process. Tasks served in one process meet without any network. Knows addresses and links; knows
nothing of graphs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ebbflow.cluster import transport
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Steps
from ebbflow.core import errors

CONNECT_SECONDS = 5.0
"""How long one attempt to reach another task may take."""


class Endpoint:
    """What a process has to do with others."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.tasks: dict[str, Any] = {}  # those served here, by address
        self._links: dict[str, Link] = {}  # opened from here, by address
        self._roads: dict[str, Link] = {}  # opened by others, by the addresses they serve
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    def link(self, address: str, seconds: float = CONNECT_SECONDS) -> Link:
        """Return the link to a server, opening it where there is none."""
        with self._lock:
            opening = self._opening.setdefault(address, threading.Lock())
        with opening:
            link = self._links.get(address)
            if link is None or link.error is not None:
                link = Link(self.steps)
                about = {"ebbflow-serves": ",".join(self.tasks)}
                link.incarnation = transport.connect(address, link, about, seconds).get("ebbflow-incarnation", "")
                self._links[address] = link
            return link

    def accept(self, task: Any, about: Mapping[str, str]) -> Link:
        """Return a link for a stream that another process has opened to a task of this one."""
        link = Link(self.steps, task)
        for address in filter(None, about.get("ebbflow-serves", "").split(",")):
            self._roads[address] = link
        return link

    def road(self, address: str) -> Link | None:
        """Return a link by which tensors get to a task; None where it is served in this process."""
        if address in self.tasks:
            return None
        for links in (self._links, self._roads):
            link = links.get(address)
            if link is not None and link.error is None:
                return link
        return self.link(address)

    def remove(self, task: Any) -> None:
        """Serve a task no longer."""
        for address in [a for a, t in self.tasks.items() if t is task]:
            del self.tasks[address]

    def drop(self, address: str) -> None:
        """Close the link to a server, if there is one."""
        link = self._links.pop(address, None)
        if link is not None:
            link.lose(errors.CancelledError(None, None, "the link was closed"))


here = Endpoint()
