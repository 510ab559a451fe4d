"""What the tasks of a cluster hold already, and whether a chief may go on with it.

A chief that starts again while the parameter servers live need not restore a checkpoint: nothing was lost. What they
hold has a name, its epoch, which the chief gives it when it has restored or initialized; tasks that were started since
have none, and while it is replaced it has one that says so. Sessions that count on an epoch are refused when another
has begun, so a worker that slept through a restore gives no gradient of weights that are gone. Whoever keeps state in
more than one place (`SyncReplicasOptimizer`) looks whether it is whole before it is taken over, and forgets what is of
another before workers may use what was restored. Knows sessions and clusters; knows nothing of checkpoints.
"""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from ebbflow.core.device import parse
from ebbflow.graph.collections import GraphKeys

REPLACED = "replaced"
"""The epoch of what a chief is just replacing."""

_keepers: weakref.WeakKeyDictionary[Any, list[Keeper]] = weakref.WeakKeyDictionary()


class Keeper(Protocol):
    """Who keeps something in the tasks beside the variables of a graph."""

    def settle(self, session: Any) -> bool:
        """Return whether all of it belongs to the state that is about to be taken over, or was made so."""

    def start_anew(self, session: Any) -> None:
        """Forget what belongs to another state than the one that was just restored or initialized."""


def add_keeper(graph: Any, keeper: Keeper) -> None:
    """Have somebody asked before the state of a graph is taken over, and told when it was replaced."""
    _keepers.setdefault(graph, []).append(keeper)


class LiveState:
    """What the tasks of a session's cluster hold of a graph's variables; of a session without a cluster: nothing."""

    def __init__(self, session: Any, folder: str | None):
        self._session = session
        self._cluster: Any = getattr(session, "cluster", None)
        self._folder = "" if folder is None else os.path.abspath(folder)
        self._tasks = [] if self._cluster is None else self._keepers()

    def _keepers(self) -> list[str]:
        """Return the names of the tasks that keep variables which all workers share."""
        places = [parse(v.device) for v in self._session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)]
        names = {self._cluster.master if place.job is None else f"/job:{place.job}/replica:0/task:{place.task or 0}"
                 for place in places}  # fmt: skip
        return sorted(name for name in names if name in self._cluster.peers)

    def heed(self) -> bool:
        """Have runs refused once the state is replaced; return whether it is not being replaced now."""
        return not self._tasks or REPLACED not in self._cluster.heed_epochs(self._tasks)

    def adopt(self, ready: Callable[[], bool]) -> bool:
        """Return whether the state is whole and of this folder's training, so that it can be gone on with."""
        if not self._tasks or not self._folder:
            return False
        epochs = set(self._cluster.heed_epochs(self._tasks))
        if len(epochs) != 1 or epochs.pop().partition(" ")[2] != self._folder:
            return False
        return ready() and all(keeper.settle(self._session) for keeper in _keepers.get(self._session.graph, ()))

    def replace(self) -> None:
        """The state is about to be restored or initialized."""
        if self._tasks:
            self._cluster.begin_epoch(self._tasks, REPLACED)

    def begin(self) -> None:
        """The state is whole: workers may use it, once nothing of another is left."""
        if self._tasks:
            for keeper in _keepers.get(self._session.graph, ()):
                keeper.start_anew(self._session)
            self._cluster.begin_epoch(self._tasks, f"{secrets.token_hex(8)} {self._folder}")
