"""Where the parts of a graph that run on different devices meet: what one sends, another receives, by key.

A `Rendezvous` is an interface; the one here is for the threads of one process, and lives for one run of a partitioned
graph. Keys are TensorFlow's: sender, its incarnation, receiver, the name of the tensor, and the frame. A part that
fails aborts the meeting, so that nobody waits for what will never come; neither does anybody when all are waiting.
`_Send` and `_Recv` are the nodes that speak to it: to the meeting that the thread they run in takes part in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ebbflow.core import errors, stopping
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, unknown

_ROUTE = "tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string"

Send = op(
    f"_Send(tensor:T) -> () | T: type; {_ROUTE}; client_terminated: bool = false | stateful",
    internal=True,
    shape=lambda tensor: [],
    gradient=FLAT,
)
Recv = op(
    f"_Recv() -> (tensor:tensor_type) | tensor_type: type; {_ROUTE}; client_terminated: bool = false | stateful",
    internal=True,
    shape=unknown,
    gradient=FLAT,
)


@Send.kernel
def _(xp, tensor, *, tensor_name, send_device, send_device_incarnation, recv_device):
    current().send(key(send_device, send_device_incarnation, recv_device, tensor_name), tensor)
    return ()


@Recv.kernel
def _(xp, *, tensor_name, send_device, send_device_incarnation, recv_device):
    return current().receive(key(send_device, send_device_incarnation, recv_device, tensor_name))


@lru_cache(4096)
def key(sender: str, incarnation: int, receiver: str, tensor: str) -> str:
    """Return the key of a tensor on its way, as TensorFlow writes it.

    >>> key("/device:CPU:0", 1, "/device:CPU:1", "edge_4_c")
    '/device:CPU:0;0000000000000001;/device:CPU:1;edge_4_c;0:0'
    """
    return f"{sender};{incarnation:016x};{receiver};{tensor};0:0"


class Rendezvous:
    """What parts of a graph exchange values through, wherever they run."""

    def send(self, key: str, value: Any) -> None:
        """Leave a value for whoever receives this key. Never waits."""
        raise NotImplementedError(f"{type(self).__name__} must say how a value is sent")

    def receive(self, key: str) -> Any:
        """Return the value of a key, waiting for it; raise `Aborted` if it will not come."""
        raise NotImplementedError(f"{type(self).__name__} must say how a value is received")

    def abort(self, error: BaseException) -> None:
        """Let everybody know that a part has failed; the first error is the one that is told."""
        raise NotImplementedError(f"{type(self).__name__} must say how a run is given up")


class Aborted(BaseException):
    """A part stops because another has failed."""


class LocalRendezvous(Rendezvous):
    """A meeting of the threads of this process."""

    def __init__(self, parts: int, stop: stopping.Stop = stopping.NEVER):
        self._values: dict[str, Any] = {}
        self._change = threading.Condition()
        self._running = parts
        self._stop = stop
        self._awaited: list[str] = []
        self.error: BaseException | None = None

    def send(self, key: str, value: Any) -> None:
        with self._change:
            self._values[key] = value
            self._change.notify_all()

    def receive(self, key: str) -> Any:
        with self._change:
            if key not in self._values:
                self._awaited.append(key)
                self._give_up_if_stuck()
                try:
                    self._stop.wait_for(
                        self._change, lambda: key in self._values or self.error is not None, "Run call was cancelled"
                    )
                finally:
                    self._awaited.remove(key)
            if self.error is not None:
                raise Aborted
            return self._values.pop(key)

    def leave(self) -> None:
        """A part is done: it sends nothing more."""
        with self._change:
            self._running -= 1
            self._give_up_if_stuck()

    def _give_up_if_stuck(self) -> None:
        """Where everybody waits nobody is left to send."""
        waiting = [key for key in self._awaited if key not in self._values]
        if waiting and len(waiting) == self._running and self.error is None:
            self.error = errors.InternalError(None, None, f"parts of a graph wait for {waiting}, and none can go on")
            self._change.notify_all()

    def abort(self, error: BaseException) -> None:
        with self._change:
            if self.error is None:
                self.error = error
            self._change.notify_all()


# --- who meets where --------------------------------------------------------------------------------------------------


class _Here(threading.local):
    meeting: Rendezvous | None = None


_here = _Here()


def current() -> Rendezvous:
    """Return the meeting that this thread takes part in."""
    if _here.meeting is None:
        raise errors.FailedPreconditionError(None, None, "_Send and _Recv run only as parts of a partitioned graph")
    return _here.meeting


@contextmanager
def taking_part(meeting: Rendezvous) -> Iterator[None]:
    """Have what runs inside the block, in this thread, send to and receive from a meeting."""
    before, _here.meeting = _here.meeting, meeting
    try:
        yield
    finally:
        _here.meeting = before
