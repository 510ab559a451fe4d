"""Groups of processes that bring values together: sums, all values, one member's value for all.

Members are the servers of some tasks. A group forms when each member has heard from every other, of the same
generation; from then on what they say to each other goes over links. A large sum goes round a ring in pieces, each
added up by the members in one order, so all get the same bits; a small one is sent by everybody to everybody. When a
member is lost the group is broken for good: whoever waits, or comes later, gets `UnavailableError`. Knows links and
arrays; what it is used for is the business of strategies.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.cluster.endpoint import here
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Step
from ebbflow.core import errors, stopping
from ebbflow.ops.control.collectives import provide_groups
from ebbflow.platform import logging

FORM_SECONDS = 600.0
"""How long a group waits for its members."""

SMALL = 1 << 15
"""Bytes up to which a sum is everybody's own: fewer rounds are worth more than fewer bytes."""

SEGMENT = 1 << 22
"""Bytes of a ring's piece that are added while the next ones are on their way."""

LEAVE_SECONDS = 5.0
_MERGES: dict[str, Any] = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


class CollectiveGroup:
    """Some processes, as one of them sees them."""

    def __init__(self, addresses: Sequence[str], rank: int, name: str, seconds: float = FORM_SECONDS):
        self.addresses, self.rank, self.size = list(addresses), rank, len(addresses)
        self._name = name
        self.number = int.from_bytes(
            hashlib.blake2b("\0".join([name, *addresses]).encode(), digest_size=8).digest(), "big"
        )
        self.members: dict[int, str] = {}  # by rank: the incarnation that belongs to this group
        self.formed = False
        self._calls: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()
        self._links: dict[int, Link] = {}
        self._told: dict[int, Callable[[], None]] = {}  # by rank: what a lost link calls
        self._step: Step | None = None
        if self.size > 1:
            self._join(seconds)

    # --- forming ------------------------------------------------------------------------------------------------------

    def _join(self, seconds: float) -> None:
        """Wait until every member has answered that it is in this group, and counts this process in."""
        step = here.steps.join(self.number)
        if step is None:
            raise errors.AlreadyExistsError(None, None, f"this process has left the group {self._name!r}")
        step.claimed = True
        self._step = step
        groups[self.number] = self
        end = time.monotonic() + seconds
        reminder = time.monotonic() + 10.0
        while True:
            missing = [rank for rank in range(self.size) if rank != self.rank and not self._reached(rank)]
            if not missing:
                break
            if time.monotonic() > end:
                names = ", ".join(f"{rank} at {self.addresses[rank]}" for rank in missing)
                groups.pop(self.number, None)
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    f"workers {names} did not come within {seconds:.0f} seconds: is each of them running, at the "
                    "address that the TF_CONFIG of all workers has for it, and from the same start of the job?",
                )
            if time.monotonic() > reminder:
                logging.info("waiting for members %s of the group of %d", missing, self.size)
                reminder += 10.0
            time.sleep(0.05)
        self.formed = True
        for rank, link in self._links.items():
            self._told[rank] = functools.partial(self._lost, rank)
            link.when_lost.append(self._told[rank])
            if link.error is not None:
                self._lost(rank)

    def _reached(self, rank: int) -> bool:
        """Return whether a member is in this group and knows that this process is."""
        link = self._links.get(rank)
        if link is not None and link.error is None:
            return True
        try:
            link = here.link(self.addresses[rank], 1.0)
            content = {"group": self.number, "rank": self.rank, "incarnation": _incarnation()}
            self.members[rank] = link.ask("join", content, {}, 5.0)
            self._links[rank] = link
            return True
        except (errors.UnavailableError, errors.AbortedError, errors.DeadlineExceededError):
            return False  # not there yet, or still in the generation before

    def admit(self, rank: int, incarnation: str) -> str:
        """Another member asks to be counted in: return the incarnation of this one."""
        with self._lock:
            known = self.members.get(rank)
            if self.formed and known is not None and known != incarnation:
                raise errors.AbortedError(
                    None, None, f"member {self.rank} is in the group with an earlier process of member {rank}"
                )
            self.members[rank] = incarnation
        return _incarnation()

    def _lost(self, rank: int) -> None:
        link = self._links[rank]
        why = "" if link.error is None else f": {link.error.message}"
        where = self.addresses[rank]
        if self._step is not None:
            self._step.abort(errors.UnavailableError(None, None, f"worker {rank} at {where} is lost{why}"))

    def leave(self) -> None:
        """Make sure that all members have what was sent to them, and take part no longer."""
        groups.pop(self.number, None)
        for rank, link in self._links.items():
            with contextlib.suppress(KeyError, ValueError):
                link.when_lost.remove(self._told.pop(rank))  # a link outlives the group
            if link.error is None:
                try:
                    link.ask("describe", {}, {}, LEAVE_SECONDS)  # answered after all that was sent before it
                except errors.OpError:
                    continue  # it is gone, and needs nothing any more
        if self._step is not None:
            self._step.abort(errors.CancelledError(None, None, "this process has left the group"))
            here.steps.end(self._step)

    # --- speaking -----------------------------------------------------------------------------------------------------

    def _numbered(self, call: str) -> str:
        """Return a call with how often it was made: calls of one name are matched in their order."""
        with self._lock:
            self._calls[call] += 1
            return f"{call}/{self._calls[call]}"

    def _send(self, rank: int, key: str, value: np.ndarray) -> None:
        link = self._links[rank]
        link.post(self.number, f"{key}/{self.rank}", value)
        link.flush()

    def _receive(self, rank: int, key: str, wait: Callable[[str], Any]) -> np.ndarray:
        return wait(f"{key}/{rank}")

    def _waiting(self, stop: stopping.Stop, seconds: float) -> Callable[[str], Any]:
        """Return how to wait for a value: as long as the run may go on, and so many seconds (0: as it takes)."""
        step, end = self._step, time.monotonic() + seconds if seconds else None
        assert step is not None

        def wait(key: str) -> Any:
            return step.await_value(key, stop, end)

        return wait

    def _others(self) -> Iterator[int]:
        """Give the other members, beginning with the next one, so that not all send to the same one first."""
        return ((self.rank + i) % self.size for i in range(1, self.size))

    # --- what members do together -------------------------------------------------------------------------------------

    def all_reduce(self, call: str, array: np.ndarray, merge: str, stop: Any, seconds: float) -> np.ndarray:
        """Return the sum (or product, least, greatest) of what all members bring."""
        if self.size == 1:
            return array
        key, wait = self._numbered(call), self._waiting(stop, seconds)
        flat = np.ascontiguousarray(array).reshape(-1)
        small = flat.nbytes <= SMALL or flat.size < self.size
        total = (self._exchanged if small else self._around)(key, flat, _MERGES[merge], wait)
        return total.reshape(array.shape)

    def _exchanged(self, key: str, flat: np.ndarray, merge: Any, wait: Any) -> np.ndarray:
        for rank in self._others():
            self._send(rank, key, flat)
        parts = [flat if rank == self.rank else self._matching(rank, key, flat, wait) for rank in range(self.size)]
        total = merge(parts[0], parts[1])
        for part in parts[2:]:
            merge(total, part, out=total)
        return total

    def _matching(self, rank: int, key: str, own: np.ndarray, wait: Any) -> np.ndarray:
        value = self._receive(rank, key, wait)
        if value.shape != own.shape or value.dtype != own.dtype:
            raise errors.InvalidArgumentError(
                None, None, f"{key}: worker {rank} brings {value.size} elements of {value.dtype.name}, "
                f"worker {self.rank} {own.size} of {own.dtype.name}",
            )  # fmt: skip
        return value

    def _around(self, key: str, flat: np.ndarray, merge: Any, wait: Any) -> np.ndarray:
        """A ring: each piece is added up on its way round, and goes round once more when it is complete."""
        n, after, before = self.size, (self.rank + 1) % self.size, (self.rank - 1) % self.size
        total = np.empty_like(flat)
        ends = [flat.size * i // n for i in range(n + 1)]
        most = max(SEGMENT // flat.itemsize, 1)

        def segments(piece: int) -> list[slice]:
            first, last = ends[piece % n], ends[piece % n + 1]
            return [slice(at, min(at + most, last)) for at in range(first, last, most)]

        for i, part in enumerate(segments(self.rank)):
            self._send(after, f"{key}/0.{i}", flat[part])
        for turn in range(2 * n - 2):
            for i, part in enumerate(segments(self.rank - turn - 1)):
                value = self._matching(before, f"{key}/{turn}.{i}", flat[part], wait)
                if turn < n - 1:
                    merge(value, flat[part], out=value)
                if turn >= n - 2:
                    total[part] = value
                if turn < 2 * n - 3:
                    self._send(after, f"{key}/{turn + 1}.{i}", value)
        return total

    def all_gather(self, call: str, array: np.ndarray, stop: Any, seconds: float) -> list[np.ndarray]:
        """Return what every member brings, in their order."""
        return self._dealt(call, [array] * self.size, stop, seconds)

    def all_to_all(self, call: str, parts: list[np.ndarray], stop: Any, seconds: float) -> list[np.ndarray]:
        """Give each member its part, and return what they have for this one."""
        return self._dealt(call, parts, stop, seconds)

    def _dealt(self, call: str, parts: Sequence[np.ndarray], stop: Any, seconds: float) -> list[np.ndarray]:
        if self.size == 1:
            return list(parts)
        key, wait = self._numbered(call), self._waiting(stop, seconds)
        for rank in self._others():
            self._send(rank, key, parts[rank])
        return [parts[i] if i == self.rank else self._receive(i, key, wait) for i in range(self.size)]

    def broadcast(self, call: str, array: np.ndarray | None, stop: Any, seconds: float) -> np.ndarray:
        """Return what the first member brings; the others bring nothing."""
        key, wait = self._numbered(call), self._waiting(stop, seconds)
        if (array is not None) != (self.rank == 0):
            raise errors.InvalidArgumentError(None, None, f"{call}: the first member sends, the others receive")
        if array is None:
            return self._receive(0, key, wait)
        for rank in self._others():
            self._send(rank, key, array)
        return array


groups: dict[int, CollectiveGroup] = {}
"""Those that this process is in, by number."""

_by_key: dict[int, CollectiveGroup] = {}


def _incarnation() -> str:
    return next((task.incarnation for task in here.tasks.values()), "")


def admitted(group: int, rank: int, incarnation: str) -> str:
    """Answer a member that wants to be counted in."""
    found = groups.get(group)
    if found is None:
        raise errors.AbortedError(None, None, "this process is in no such group, or not yet")
    return found.admit(rank, incarnation)


def register(key: int, group: CollectiveGroup) -> None:
    """Let ops find a group by its key."""
    _by_key[key] = group
    provide_groups(_by_key.get)


@atexit.register
def _leave_all() -> None:
    for group in list(groups.values()):
        group.leave()
