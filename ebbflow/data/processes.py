"""Functions of elements in processes of their own: for maps in pure Python, which threads cannot run side by side.

Each process is forked off where the iteration starts, so it has the function and whatever that refers to. Arrays go
there and back through memory that both share and that has no name, so nothing is left behind however a process ends;
what does not fit goes through the pipe. A process ends when its pipe is closed, or when it finds that its parent is
gone. One that dies takes only its element with it, which is an error; the next call starts another. Knows processes and
arrays; knows nothing of pipes or datasets.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import util
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ebbflow.core import errors

ROOM = 1 << 26
"""Bytes of memory that a process shares with us, each way. What is not touched is not taken."""

LOOKS = 1.0
"""Seconds after which an idle process looks whether its parent is still there."""

_ours: weakref.WeakSet[Connection] = weakref.WeakSet()
"""Our ends of all pipes. A process forked off later closes its copies, or they would keep others from ending."""


def available() -> bool:
    """Return whether processes can be forked off here."""
    return "fork" in multiprocessing.get_all_start_methods()


class Processes:
    """A function that runs in several processes; called from as many threads as there are to be calls at once."""

    def __init__(self, call: Callable[[Any], Sequence[np.ndarray]], width: int):
        self._call = call
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(width):
            self._idle.put(None)
        self._all: weakref.WeakSet[_Worker] = weakref.WeakSet()

    def __call__(self, element: Any) -> Sequence[np.ndarray]:
        worker = self._idle.get()
        alive = False
        try:
            if worker is None:
                worker = _Worker(self._call)
                self._all.add(worker)
            result = worker.run(element)
            alive = True
        except _Raised as raised:
            alive = True
            raise raised.error from None
        finally:
            self._idle.put(worker if alive else None)
        return result

    def close(self) -> None:
        """Let all processes end."""
        for worker in list(self._all):
            worker.close()

    def __del__(self) -> None:
        self.close()


class _Exit:
    """Whether the program is ending, and what Python calls when it does."""

    begun = False
    looks: Any = None

    @classmethod
    def begin(cls) -> None:
        """Begin no further process: Python waits for those that there are once it has told them to end."""
        with _Worker._starting:
            cls.begun = True


def _must_go_on() -> None:
    """Refuse to begin a process when the program ends; see to it that this is known."""
    if _Exit.begun:
        raise errors.CancelledError(None, None, "the program is ending: `map` begins no further process")
    if _Exit.looks is None or not _Exit.looks.still_active():
        _Exit.looks = util.Finalize(None, _Exit.begin, exitpriority=100)  # before Python ends and joins processes


class _Raised(Exception):  # noqa: N818  (it carries one)
    """What the function raised in its process."""

    def __init__(self, error: BaseException):
        self.error = error


class _Worker:
    """One process, and our end of its pipe."""

    _starting = threading.Lock()
    _end: Any = None

    def __init__(self, call: Callable[[Any], Sequence[np.ndarray]]):
        self._there, self._back = mmap.mmap(-1, ROOM), mmap.mmap(-1, ROOM)
        context = multiprocessing.get_context("fork")
        with self._starting, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks where there are threads
            _must_go_on()
            self._end, theirs = context.Pipe()
            _ours.add(self._end)
            given = (call, theirs, self._there, self._back, os.getpid())
            self._process = context.Process(target=_serve, args=given, name="ebbflow-map", daemon=True)
            self._process.start()
            theirs.close()

    def run(self, element: Any) -> Sequence[np.ndarray]:
        """Return what the function gives for an element."""
        try:
            _send(self._end, self._there, ("call", tuple(element)))
            kind, value = _receive(self._end, self._back)
        except (EOFError, OSError):
            self._process.join(1.0)
            raise errors.AbortedError(
                None, None,
                f"The process that ran a function of `map` for this element ended (exit code {self._process.exitcode})",
            ) from None  # fmt: skip
        if kind == "error":
            raise _Raised(value)
        return value

    def close(self) -> None:
        """Let the process end, if one was begun."""
        if self._end is not None:
            self._end.close()

    def __del__(self) -> None:
        self.close()


# --- messages ---------------------------------------------------------------------------------------------------------


def _send(end: Connection, memory: mmap.mmap, value: Any) -> None:
    """Send a value: large arrays through memory, the rest through the pipe."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    places: list[Any] = []
    at = 0
    for buffer in buffers:
        content = buffer.raw()
        if at + content.nbytes <= ROOM:
            memory[at : at + content.nbytes] = content
            places.append((at, content.nbytes))
            at += content.nbytes
        else:
            places.append(bytes(content))
    end.send_bytes(pickle.dumps((head, places)))


def _receive(end: Connection, memory: mmap.mmap) -> Any:
    head, places = pickle.loads(end.recv_bytes())
    contents = [place if isinstance(place, bytes) else memory[place[0] : place[0] + place[1]] for place in places]
    return pickle.loads(head, buffers=contents)


def _serve(call: Callable[[Any], Any], end: Connection, there: mmap.mmap, back: mmap.mmap, parent: int) -> None:
    """Answer calls until the other end is closed or the parent is gone."""
    for other in list(_ours):
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for whoever is at the keyboard there is one program: the parent
    try:
        while True:
            while not end.poll(LOOKS):
                if os.getppid() != parent:
                    return
            _, element = _receive(end, there)
            _answer(end, back, call, element)
    except (EOFError, OSError):
        return


def _answer(end: Connection, back: mmap.mmap, call: Callable[[Any], Any], element: Any) -> None:
    try:
        answer: tuple[str, Any] = ("value", tuple([np.asarray(a, order="C") for a in call(element)]))
    except BaseException as error:
        answer = ("error", _portable(error))
    _send(end, back, answer)


def _portable(error: BaseException) -> BaseException:
    """Return an error that can go to another process and keeps its kind and words."""
    try:
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is type(error) and str(copy) == str(error):
            return error
    except Exception:  # whatever user's classes do when they are pickled
        pass
    text = "".join(traceback.format_exception(error))
    if isinstance(error, errors.OpError):
        return type(error)(None, None, error.message)  # type: ignore[call-arg]
    return errors.UnknownError(None, None, f"{type(error).__name__}: {error}\n{text}")
