"""Mutexes as ops: a lock that graphs and eager code share.

`MutexLock` waits until the lock is free and gives a variant that holds it; consuming that variant, or letting go of it,
lets the next one in. Knows locks and nothing of what runs while one is held; `state.critical_section` puts the two
together.
"""

from __future__ import annotations

import threading

from ebbflow.core import stopping
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import ANONYMOUS, find_or_make


class Mutex:
    """A lock as a resource."""

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.Lock()


class HeldLock:
    """The lock, held: released when it is consumed or forgotten."""

    def __init__(self, mutex: Mutex, stop: stopping.Stop):
        self._mutex: Mutex | None = None
        if not mutex.lock.acquire(blocking=False):
            stop.acquire(mutex.lock, "Lock acquisition cancelled.")
        self._mutex = mutex

    def release(self) -> None:
        """Let the next one in."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.lock.release()

    def __del__(self) -> None:
        self.release()


MutexV2 = op(
    'MutexV2() -> (resource:resource) | container: string = ""; shared_name: string = "" | stateful',
    shape=scalar,
    gradient=FLAT,
)


@MutexV2.kernel
def _(xp, *, container, shared_name, run):
    name = shared_name or (run.node.name if run.node is not None else "")
    if not name or name == ANONYMOUS:
        return boxed(Mutex("anonymous"))
    return boxed(find_or_make((container, name, "mutex"), run, lambda: Mutex(name)))


MutexLock = op(
    "MutexLock(mutex:resource) -> (mutex_lock:variant) | stateful",
    facts="waits",
    shape=scalar,
    gradient=FLAT,
)


@MutexLock.kernel
def _(xp, mutex, *, run):
    return boxed(HeldLock(held(mutex), stopping.current(run.session)))


ConsumeMutexLock = op(
    "ConsumeMutexLock(mutex_lock:variant) -> () | stateful",
    shape=lambda mutex_lock: [],
    kernel=lambda xp, mutex_lock: held(mutex_lock).release() or (),
    gradient=FLAT,
)
