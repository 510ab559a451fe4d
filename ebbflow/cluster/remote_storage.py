"""Variables that another task keeps, as this process sees them: whatever a kernel asks of one is done where it is.

A `Home` is a task that keeps resources for this process: it runs single ops on them, each as a graph of one node that
is made once. A `RemoteStorage` is a storage without a value, which sends every kernel that touches it to its home; so
only the rows that are gathered travel, and updates are made in one piece at the task. Knows sessions of one task; knows
nothing of the variables that people make.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ebbflow import messages
from ebbflow.cluster.peers import peer_at
from ebbflow.core import context, dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.op import Op
from ebbflow.core.shape import Dims
from ebbflow.graph.graph import Graph
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import ELSEWHERE, Storage, made_elsewhere
from ebbflow.runtime.session import Session

CONNECT_SECONDS = 20.0
"""How long a task may take to answer when the first op is sent to it."""

MOST_GRAPHS = 2000
"""How many single ops are remembered for one task; then it is begun anew."""

LOST = (errors.UnavailableError, errors.AbortedError, errors.CancelledError)
"""What an op ends with whose task is gone, or does not know the session any more."""


def alone(seconds: float = CONNECT_SECONDS, *others: str) -> Any:
    """Return the configuration of a session with one task, and with `others` by their devices."""
    config = messages.ConfigProto(allow_soft_placement=True, operation_timeout_in_ms=int(seconds * 1000))
    config.device_filters.extend(others or ["/job:no_other"])
    return config


def session_with(address: str, graph: Graph, config: Any) -> Session:
    """Open a session at a task. How long it may take to get there is limited; how long a run takes is not."""
    session = Session(f"grpc://{address}", graph, config)
    session._timeout = 0
    return session


class Home:
    """A task that keeps resources for this process."""

    def __init__(self, address: str, device: str = ""):
        self.address, self.device = address, device
        self.called = ""  # the task, as it calls itself, where that is not what it is called here
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._calls: dict[Any, Callable[..., Any]] = {}

    @property
    def device_there(self) -> str:
        """The device, as graphs name it that are sent to the task."""
        return f"{self.called}/device:CPU:0" if self.called else self.device

    def incarnation(self, seconds: float = 2.0) -> str:
        """Return which process serves there now; UnavailableError if none answers."""
        return peer_at(self.address, seconds).describe()["incarnation"]

    def run(self, op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Any:
        """Run one op there, on arrays of this process and resources of that one, and return what its kernel gives."""
        flat = [item for group in arrays for item in (group if group.__class__ in (list, tuple) else (group,))]
        kinds = tuple(_kind(array) for array in flat)
        key = (op.name, tuple(sorted((name, repr(value)) for name, value in attrs.items())), kinds)
        fed = [array for array, kind in zip(flat, kinds, strict=True) if kind.__class__ is not Kept]
        try:
            results = self._call(key, op, flat, kinds, attrs)(*fed)
        except LOST:
            self.close()
            raise
        results = [np.asarray(r) for r in results]
        return results[0] if op.signature.gives_one else results

    def _call(self, key: Any, op: Op, flat: list[Any], kinds: Any, attrs: dict[str, Any]) -> Callable[..., Any]:
        with self._lock:
            call = self._calls.get(key)
            if call is None:
                if len(self._calls) >= MOST_GRAPHS:
                    self._close()
                if self._session is None:
                    self._session = session_with(self.address, Graph(), alone())
                call = self._calls[key] = self._made(self._session, op, flat, kinds, attrs)
            return call

    def _made(self, session: Session, op: Op, flat: list[Any], kinds: Any, attrs: dict[str, Any]) -> Any:
        graph = session.graph
        with context.scope(graph), graph.name_scope(None):
            inputs = [raw.Placeholder(dtype=kind[0]) if kind.__class__ is not Kept else kind.node() for kind in kinds]
            feeds = [t for t, kind in zip(inputs, kinds, strict=True) if kind.__class__ is not Kept]
            settled = {name: value for name, value in attrs.items() if name in op.signature.attrs}
            grouped = op.signature.group_inputs(inputs, settled)
            node = graph._add(op, graph.unique_name(op.name), inputs, grouped, settled)
        if node._outputs:
            return session.make_callable(list(node._outputs), feeds)
        effect = session.make_callable(node, feeds)

        def call(*values: Any) -> list[Any]:
            effect(*values)
            return []

        return call

    def close(self) -> None:
        """Forget the session; the next op opens another."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        session, self._session = self._session, None
        self._calls.clear()
        if session is not None:
            session.close()


class Kept(tuple):
    """What names a resource at its task: the op that gives its handle, and that op's attrs, as pairs."""

    def node(self) -> Any:
        """Return its handle, in the graph that is open."""
        return getattr(raw, self[0])(**dict(self[1]))


def _kind(array: Any) -> Any:
    held = array.item() if isinstance(array, np.ndarray) and array.dtype == object and array.ndim == 0 else None
    kept = getattr(held, "kept", None)
    if kept is not None:
        return kept
    array = np.asarray(array)
    if array.dtype == object and held is not None and not isinstance(held, (bytes, str)):
        raise errors.InvalidArgumentError(
            None, None, f"{held!r} belongs to this process: an op on a variable of another task cannot take it"
        )
    return (dtypes.as_dtype(array.dtype) if array.dtype != object else dtypes.string,)


class RemoteStorage(Storage):
    """A variable that another task keeps."""

    __slots__ = ("home", "kept")

    is_elsewhere = True

    def __init__(self, home: Home, name: str, dtype: DType, dims: Dims, container: str = ""):
        super().__init__(name, dtype, dims)
        self.home = home
        attrs = (("container", container), ("shared_name", name), ("dtype", dtype), ("shape", dims))
        self.kept = Kept(("VarHandleOp", attrs))

    def _elsewhere(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RunElsewhere(self.home.run)

    read = is_set = present = _awaited = __enter__ = writable = assign = take = update = clear = _elsewhere

    def __exit__(self, *exc: Any) -> None:
        """Nothing was entered."""

    def __repr__(self) -> str:
        return f"<RemoteStorage of {self.name!r} at {self.home.address}>"


_homes: dict[str, Home] = {}
_lock = threading.Lock()


def home_at(address: str, device: str = "") -> Home:
    """Return the task at an address, as the one that keeps resources for this process."""
    with _lock:
        home = _homes.setdefault(address, Home(address, device))
        home.device = device or home.device  # as it is called now
        return home


def _stand_in(container: str, name: str, dtype: DType, dims: Dims) -> RemoteStorage:
    return RemoteStorage(home_at(container.removeprefix(ELSEWHERE)), name, dtype, dims)


made_elsewhere[:] = [_stand_in]
