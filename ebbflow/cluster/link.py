"""A link: one stream of messages each way, between this process and a server.

What is posted waits in a queue until the link is flushed or enough has come together; whoever writes to the stream
takes as many frames as fit in one message. What comes is handed on, by gRPC's own thread: tensors to their step,
answers to whoever asked, calls and runs to the task behind the link, in threads of their own. A link that is lost tells
all who count on it. Knows frames and steps; how the stream itself is made is `transport`'s.
"""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ebbflow.cluster import wire
from ebbflow.cluster.steps import Step, Steps
from ebbflow.cluster.threads import threads
from ebbflow.core import errors

EAGER_BYTES = 1 << 18
"""What is posted leaves without being flushed when this much has come together: a message takes as long as copying
about so many bytes does.
"""


class Link:
    """Both directions of a stream. As an iterator it gives the messages to be written."""

    def __init__(self, steps: Steps, task: Any = None):
        self.task = task  # what answers calls that come this way: None where this end only asks
        self.error: errors.OpError | None = None
        self.incarnation = ""  # of the process at the other end
        self.serving: dict[int, Callable[[], None]] = {}  # by step: how to stop what runs here for the other end
        self.when_lost: list[Callable[[], None]] = []
        self._steps = steps
        self._arrived: list[tuple[int, str, np.ndarray]] = []  # what one message brought, until it is handed on
        self._incoming = wire.Incoming(lambda *tensor: self._arrived.append(tensor))
        self._waiting: dict[int, Callable[[Any, bool], None]] = {}  # by number: who takes the answer
        self._lock = threading.RLock()
        self._queue: collections.deque[Any] = collections.deque()
        self._queued = 0
        self._ready = threading.Condition(threading.RLock())  # what is collected meanwhile, in this thread, may speak

    # --- writing ------------------------------------------------------------------------------------------------------

    def post(self, step: int, key: str, value: np.ndarray) -> None:
        """Send a tensor, soon."""
        first: Any = wire.packed(step, key, value)
        content: Any = b""
        if first is None:
            first, content = wire.first_frame(step, key, value)
        with self._ready:
            self._check()
            self._queue.append(first)
            self._queued += len(first) if first.__class__ is bytes else first.size
            if len(content) > wire.PIECE:
                self._queue.append(wire.further_frames(step, content))
            if self._queued >= EAGER_BYTES:
                self._ready.notify()

    def say(self, frame: wire.Frame) -> None:
        """Send a frame, now."""
        with self._ready:
            self._check()
            self._queue.append(frame)
            self._queued += frame.size
            self._ready.notify()

    def flush(self) -> None:
        """Let go what was posted."""
        with self._ready:
            self._ready.notify()

    def _check(self) -> None:
        if self.error is not None:
            raise wire.error_from(wire.error_content(self.error))  # one of its own for each who asks

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        """Return the next message to write, waiting for one."""
        pieces: list[Any] = []
        with self._ready:
            while not self._queue:
                if self.error is not None:
                    raise StopIteration
                self._ready.wait()
            size = 0
            while self._queue and size < wire.PIECE:
                if self._queue[0].__class__ is bytes:
                    pieces.append(self._queue.popleft())
                    size += len(pieces[-1])
                    continue
                frame = self._next_frame()
                if frame is not None:
                    pieces += frame.pieces()
                    size += frame.size
            self._queued = max(self._queued - size, 0)
        return b"".join(pieces)

    def _next_frame(self) -> wire.Frame | None:
        item = self._queue[0]
        if item.__class__ is not wire.Frame:
            frame = next(item, None)  # of a large tensor: one piece at a time
            if frame is not None:
                return frame
        self._queue.popleft()
        return item if item.__class__ is wire.Frame else None

    # --- asking -------------------------------------------------------------------------------------------------------

    def ask(self, method: str, content: Any, tensors: dict[str, np.ndarray], seconds: float | None) -> Any:
        """Have the task at the other end do something, and return its answer."""
        with self.asked(method, content, tensors, seconds, method) as (_, answer):
            return answer

    @contextlib.contextmanager
    def asked(
        self, method: str, content: Any, tensors: dict[str, np.ndarray], seconds: float | None, what: str
    ) -> Iterator[tuple[Step, Any]]:
        """Have the other end do something; give the answer, and the step that has the tensors which came with it."""
        step = self._steps.begin()
        answer: list[Any] = []

        def take(said: Any, failed: bool) -> None:
            if failed:
                step.abort(wire.error_from(said))
            answer.append(said)
            step.wake()

        try:
            self.expect(step.number, take)
            for key, value in tensors.items():
                self.post(step.number, key, value)
            self.say(wire.said(wire.CALL, step.number, [method, content]))
            step.wait_seconds(lambda: bool(answer), seconds, what)
            yield step, answer[0]
        finally:
            self.forget(step.number)
            self._steps.end(step)

    def expect(self, number: int, take: Callable[[Any, bool], None]) -> None:
        """Have `take(what is said, whether it is an error)` called when the other end is done with a step or call."""
        with self._lock:
            self._check()
            self._waiting[number] = take

    def forget(self, number: int) -> None:
        """Wait no longer for the end of a step or call."""
        with self._lock:
            self._waiting.pop(number, None)

    # --- reading ------------------------------------------------------------------------------------------------------

    def receive(self, message: bytes) -> errors.OpError | bool:
        """Hand on what one message says; return the error where it cannot be read, which `read` raises.

        gRPC's thread calls it before it wakes the one in `read`: whoever waits is woken one thread earlier.
        """
        try:
            for frame in wire.frames(message, self._incoming):
                self._take(frame)
            self._hand_on()
        except errors.OpError as error:
            return error
        except Exception as error:
            return wire.damaged(f"{type(error).__name__}: {error}")
        return True

    def read(self, received: Iterable[errors.OpError | bool], describe: Callable[[Exception], errors.OpError]) -> None:
        """Ask for what comes until the stream ends; `describe` makes an error of the stream one of ours."""
        try:
            for error_or_not in received:
                if error_or_not is not True:
                    raise error_or_not  # type: ignore[misc]
            error: errors.OpError = errors.UnavailableError(None, None, "the other end closed the stream")
        except errors.OpError as failed:
            error = failed
        except Exception as failed:  # gRPC's own
            error = describe(failed)
        self.lose(error)

    def _take(self, frame: wire.Frame) -> None:
        if frame.kind in (wire.DATA, wire.MORE):
            return self._incoming.take(frame)
        self._hand_on()  # whoever is called counts on what came before
        if frame.kind in (wire.ANSWER, wire.DONE, wire.FAILURE):
            with self._lock:
                take = self._waiting.pop(frame.number, None)
            if take is not None:
                take(frame.json() if frame.head else None, frame.kind == wire.FAILURE)
        elif frame.kind == wire.CANCEL:
            self._cancel(frame.number)
        elif self.task is None:
            raise wire.damaged("a call came to a process that serves none")
        elif frame.kind == wire.RUN:
            threads.start(self.task.run, self, frame.number, wire.run_content(frame))
        else:
            threads.start(self.task.answer, self, frame.number, frame.json())
        return None

    def _cancel(self, number: int) -> None:
        """Stop a step that runs here, or is about to: the thread that is to run it may not have come to it yet."""
        step = self._steps.join(number)
        if step is not None:
            step.abort(errors.CancelledError(None, None, "Run call was cancelled"))
        stop = self.serving.get(number)
        if stop is not None:
            stop()

    def _hand_on(self) -> None:
        """Give what has arrived to the steps it is for, so that each is woken once."""
        if self._arrived:
            self._steps.deliver(self._arrived)
            self._arrived.clear()

    # --- the end ------------------------------------------------------------------------------------------------------

    def lose(self, error: errors.OpError) -> None:
        """The stream has ended: nobody waits for it any longer."""
        with self._ready:
            if self.error is not None:
                return
            self.error = error
            self._queue.clear()
            self._ready.notify_all()
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        said = wire.error_content(error)
        for take in waiting:
            take(said, True)
        for stop in list(self.serving.values()):
            stop()
        for tell in list(self.when_lost):
            tell()
