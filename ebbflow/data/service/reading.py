"""Reading from a data service: elements of all its workers, as they come, or round by round.

One thread asks each worker, and puts what it gets where the iterator takes it. Threads know only that place; when the
iterator is dropped they end at their next element. Workers that come later are asked too; one that is lost is left out,
if there are others, and asked again when it comes back. Knows calls; knows nothing of structures.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.cluster.endpoint import CONNECT_SECONDS
from ebbflow.cluster.methods import Peer
from ebbflow.core import errors
from ebbflow.data.calls import Element
from ebbflow.data.running import Bunched
from ebbflow.data.service.calls import unpacked
from ebbflow.data.service.worker import here

LOOK_SECONDS = 0.5
"""How often a reader looks for workers that have come since."""

PATIENCE = 0.05
"""Seconds between two looks at whether somebody still waits."""


RETURN_SECONDS = CONNECT_SECONDS
"""How long a reader that has lost all workers waits for one to come back."""


class Meeting:
    """Where threads leave what they were given."""

    def __init__(self, room: int):
        self.items: queue.Queue[tuple[str, Any, Any]] = queue.Queue(room)
        self.closed = False

    def put(self, kind: str, address: str, value: Any = None) -> bool:
        """Leave something; return whether anybody still wants more."""
        while not self.closed:
            try:
                self.items.put((kind, address, value), timeout=PATIENCE)
                return True
            except queue.Full:
                continue
        return False


def _keep_asking(address: str, meeting: Meeting, ask: Callable[[Peer], list[Element]]) -> None:
    peer = Peer(address)
    try:
        while True:
            try:
                found = ask(peer)
            except errors.UnavailableError as error:
                meeting.put("lost", address, error)
                return
            except Exception as error:  # of the dataset: what comes after it may be fine
                if not meeting.put("error", address, error):
                    return
                continue
            if not meeting.put("values" if found else "end", address, found) or not found:
                return
    finally:
        peer.close()


def begin(address: str, iteration: int) -> None:
    """Have a worker begin with its share; what is wrong with it, it says to whoever asks for elements."""
    peer = Peer(address)
    with contextlib.suppress(errors.OpError):
        peer.ask("begin", iteration=iteration)
    peer.close()


class Reader(Bunched):
    """The elements of an iteration, from all workers."""

    def __init__(self, dispatcher: Peer, iteration: int, room: int, target: str = "AUTO", **said: Any):
        super().__init__()
        self._dispatcher, self._meeting = dispatcher, Meeting(room)
        self._iteration, self._only_here = iteration, target == "LOCAL"
        self._ask = lambda peer: unpacked(*peer.ask("element", iteration=iteration, **said))
        self._asked: dict[str, bool] = {}  # by address: whether it has more to give
        self._lost: Exception | None = None  # why the last one was, if nobody came since
        self._alone = 0.0  # since when there is nobody
        self._looked = 0.0
        for address in self._workers():
            begin(address, iteration)

    def _workers(self) -> list[str]:
        """Return the addresses of those to be asked."""
        found = self._dispatcher.ask_patiently(CONNECT_SECONDS, "workers", iteration=self._iteration)[0]
        return [address for address in found if address in here] if self._only_here else found

    def _look(self) -> None:
        """Ask those workers that are not asked yet."""
        self._looked = time.monotonic()
        found = self._workers()
        if self._only_here and not found and not self._asked:
            raise errors.InvalidArgumentError(
                None, None, "Local reads require local tf.data workers, but no local worker is found."
            )
        for address in found:
            if address not in self._asked:
                self._asked[address] = True
                given = (address, self._meeting, self._ask)
                threading.Thread(target=_keep_asking, args=given, name="ebbflow-data-service", daemon=True).start()

    def _more(self) -> list[Element]:
        while True:
            if time.monotonic() - self._looked > LOOK_SECONDS or not (self._lost or any(self._asked.values())):
                self._look()
            if self._asked and not any(self._asked.values()):
                return []
            if self._lost and not self._asked and time.monotonic() - self._alone > RETURN_SECONDS:
                raise self._lost
            try:
                kind, address, value = self._meeting.items.get(timeout=PATIENCE)
            except queue.Empty:
                continue
            if kind == "values":
                self._lost = None
                return value
            if kind == "error":
                raise value
            if kind == "end":
                self._asked[address] = False
                continue
            self._asked.pop(address, None)  # it may come back
            self._lost, self._alone = value, self._alone if self._lost else time.monotonic()

    def __del__(self) -> None:
        self._meeting.closed = True
        self._dispatcher.close()  # which is how the dispatcher knows


def rounds(dispatcher: Peer, iteration: int, consumer: int) -> Iterator[Element]:
    """Yield a consumer's element of each round; workers take turns."""
    addresses: list[str] = []
    while not addresses:
        addresses = sorted(dispatcher.ask("workers", iteration=iteration)[0])
        if not addresses:
            time.sleep(PATIENCE)
    peers, number = [Peer(address) for address in addresses], 0
    try:
        while True:
            turn, place = divmod(number, len(peers))
            found = unpacked(*peers[place].ask("element", iteration=iteration, round=turn, consumer=consumer))
            if not found:
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "Encountered end of sequence on a round-robin read iterator: the dataset must be infinite",
                )
            yield found[0]
            number += 1
    finally:
        for peer in peers:
            peer.close()
