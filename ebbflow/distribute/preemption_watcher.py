"""`tf.distribute.experimental.PreemptionWatcher`: whether a task of the cluster was taken away.

A thread asks the tasks of the cluster that this process is connected to who they are. One that is gone, or that another
process has taken the place of, was preempted: the watcher has a message from then on. A program that fails looks at it
to know whether it should connect again. Knows homes; what a program does about it is its own business.
"""

from __future__ import annotations

import threading
import time
import weakref

from ebbflow.cluster.connection import connected
from ebbflow.cluster.remote_storage import Home
from ebbflow.core import errors
from ebbflow.platform import logging

WATCH_SECONDS = 0.5
"""How long the watcher waits between two rounds of questions."""


class PreemptionWatcher:
    """Notices that a task is gone. To be made after the program has connected to its cluster."""

    def __init__(self) -> None:
        self._message: str | None = None
        self._tasks: dict[Home, str] = {}
        self._ended = threading.Event()
        if not connected:
            logging.warning("PreemptionWatcher: the program is connected to no cluster, so there is nothing to watch")
            return
        cluster = connected[0]
        homes = [home for job in cluster.spec.jobs for home in cluster.homes(job)]
        self._tasks = {home: home.incarnation() for home in homes}
        watch = threading.Thread(
            target=_watch, args=(weakref.ref(self), self._ended), daemon=True, name="ebbflow-preemption-watcher"
        )
        watch.start()
        weakref.finalize(self, self._ended.set).atexit = False

    @property
    def preemption_message(self) -> str | None:
        """Which task is gone; None as long as all are there."""
        return self._message

    def block_until_worker_exit(self) -> None:
        """Wait until the tasks that are being taken away have ended."""
        while self._message is not None and not self._lost():
            time.sleep(WATCH_SECONDS)

    def _lost(self) -> str:
        """Return what is to be said of a task that is not what it was; nothing if all are."""
        for home, incarnation in self._tasks.items():
            try:
                now = home.incarnation()
            except errors.OpError as error:
                return f"{home.device} at {home.address} is gone: {error.message}"
            if now != incarnation:
                return f"{home.device} at {home.address} was started again"
        return ""

    def _look(self) -> bool:
        """Look once, and return whether there is something to say."""
        lost = self._lost()
        if lost:
            self._message = lost
            logging.warning("a preemption: %s", lost)
        return bool(lost)


def _watch(watcher: weakref.ref[PreemptionWatcher], ended: threading.Event) -> None:
    """Look now and then, as long as somebody has the watcher."""
    while not ended.wait(WATCH_SECONDS):
        one = watcher()
        if one is None or one._look():
            return
        del one
