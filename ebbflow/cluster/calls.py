"""A function run at a task of a cluster, with variables that other tasks keep.

The body becomes a graph of a session: its nodes go to the task, what reads and updates variables to their homes, so a
step sends each home one message with all that it is to do. What is captured or given and has a value is fed; resources
are named by the op that gives their handle. A loop or choice that touches variables of other tasks runs whole at the
task, and asks their homes op by op. Knows bodies, homes and sessions; who decides what runs where is in `distribute`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ebbflow.cluster.remote_storage import CONNECT_SECONDS, Home, Kept, RemoteStorage, alone, session_with
from ebbflow.core import context, dtypes, errors
from ebbflow.core.device import merge, parse, to_string
from ebbflow.core.tensor import EagerTensor
from ebbflow.functions import side_effects
from ebbflow.functions.inlining import inline
from ebbflow.graph.graph import Graph
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import ELSEWHERE, held

Rebuild = Any
rebuild_dataset: list[Rebuild] = []
"""What makes a dataset of this process again in the graph that is open: the room of datasets fills it."""


class RemoteResource:
    """Something besides a variable that another task keeps: named by the op that gives its handle."""

    def __init__(self, home: Home, op: str, **attrs: Any):
        frozen = ((key, tuple(value) if isinstance(value, list) else value) for key, value in attrs.items())
        self.home, self.kept = home, Kept((op, tuple(frozen)))

    def __repr__(self) -> str:
        return f"<{self.kept[0]} {dict(self.kept[1]).get('shared_name')!r} at {self.home.address}>"


def kept_by(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return what names the resources among tensors: calls with other resources are other graphs."""
    return tuple(getattr(_resource(t), "kept", None) for t in tensors)


def _resource(tensor: Any) -> Any:
    is_handle = isinstance(tensor, EagerTensor) and tensor._dtype in (dtypes.resource, dtypes.variant)
    return held(tensor._array) if is_handle and tensor._array.ndim == 0 else None


class Traced(Protocol):
    """What a call takes of a traced function."""

    @property
    def graph(self) -> Any: ...

    @property
    def captured_inputs(self) -> Sequence[Any]: ...

    @property
    def name(self) -> bytes: ...

    def pack(self, tensors: Any) -> Any: ...


class Call:
    """A traced function, as it runs at one task."""

    def __init__(self, function: Traced, home: Home, tensors: Sequence[Any]):
        self.function, self.home = function, home
        self._task = parse(home.device_there)
        self._tasks: set[str] = set()  # others that nodes of the body ask for
        self.graph = Graph()
        self._handles: dict[Any, Any] = {}
        self._remote: dict[int, RemoteStorage] = {}
        self._same: dict[int, int] = {}
        self._feeds: list[Any] = []
        self._fed: list[int] = []  # which of the arguments and captures are fed
        body = function.graph
        with context.scope(self.graph), self.graph.name_scope(None), self.graph.device(home.device_there):
            given = [self._inside(i, t, inside) for i, (t, inside) in
                     enumerate(zip([*tensors, *function.captured_inputs], body.inputs, strict=True))]  # fmt: skip
        results = inline(self.graph, body, given, self._place)
        side_effects.put_in_order(self.graph, self._same)
        effects = [node for node in self.graph._nodes if side_effects.must_run(node)]
        self._count = len(results)
        self._fetches = [*results, *effects]
        self._session: Any = None
        self._run: Any = None
        for tensor in results:
            if tensor.dtype in (dtypes.resource, dtypes.variant):
                raise errors.InvalidArgumentError(
                    None, None, f"{function.name.decode()} returns a {tensor.dtype.name}, which cannot leave its task"
                )

    # --- building -----------------------------------------------------------------------------------------------------

    def _inside(self, place: int, tensor: Any, inside: Any) -> Any:
        resource = _resource(tensor)
        if resource is None:
            self._fed.append(place)
            self._feeds.append(raw.Placeholder(dtype=inside.dtype.base_dtype, shape=inside._dims))
            return self._feeds[-1]
        kept = getattr(resource, "kept", None)
        if kept is None:
            if tensor._dtype is dtypes.variant and rebuild_dataset:
                return rebuild_dataset[0](resource)
            raise errors.InvalidArgumentError(
                None, None, f"Failed copying input tensor from this process to {self.home.device}: {resource!r} "
                "belongs to the coordinator. Make it in the strategy's scope, or on the workers",
            )  # fmt: skip
        handle = self._handle(kept, resource.home.device_there)
        if resource.home is not self.home and isinstance(resource, RemoteStorage):
            self._remote[id(handle)] = resource
        return handle

    def _handle(self, kept: Any, device: str) -> Any:
        if (kept, device) not in self._handles:
            handle = kept.node()
            handle.op._device = device
            self._handles[kept, device] = handle
        return self._handles[kept, device]

    def _place(self, node: Operation, inputs: list[Any]) -> tuple[list[Any], str]:
        """Have a node run at the task, or where the variable is that it takes."""
        runs_a_body = any("func" in attr.kind for attr in node._op.signature.attrs.values())
        if any(id(t) in self._remote for t in inputs):
            if not runs_a_body:
                return inputs, ""
            inputs = [self._near(t) for t in inputs]
        asked = parse(node._device)
        here = parse(self.home.device)
        if asked.job in (None, "localhost") or (asked.job, asked.task or 0) == (here.job, here.task):
            asked = asked._replace(job=self._task.job, replica=self._task.replica, task=self._task.task)
        else:
            self._tasks.add(to_string(asked._replace(device_type=None, device_index=None)))
        return inputs, to_string(merge(self._task, asked))

    def _near(self, handle: Any) -> Any:
        """Return a handle at the task for a variable that is kept elsewhere."""
        storage = self._remote.get(id(handle))
        if storage is None:
            return handle
        attrs = {**dict(storage.kept[1]), "container": ELSEWHERE + storage.home.address}
        near = self._handle(Kept(("VarHandleOp", tuple(attrs.items()))), self.home.device_there)
        self._same[id(near)] = id(handle)
        return near

    # --- running ------------------------------------------------------------------------------------------------------

    def __call__(self, tensors: Sequence[Any], unwanted: Callable[[], bool] = lambda: False) -> Any:
        """Return the structured result for these arguments. Who closes this says before that it is `unwanted`."""
        if not self._fetches:
            return self.function.pack([])
        if self._run is None:
            kept = {parse(storage.home.device_there) for storage in self._remote.values()}
            others = {to_string(d._replace(device_type=None, device_index=None)) for d in kept} | self._tasks
            config = alone(CONNECT_SECONDS, *sorted(others))
            try:
                self._session = session_with(self.home.address, self.graph, config)
            except errors.DeadlineExceededError as error:  # a task is gone, rather than late
                raise errors.UnavailableError(None, None, error.message) from error
            self._run = self._session.make_callable(self._fetches, self._feeds)
        run = self._run
        if run is None or unwanted():  # closed while it was on its way
            raise errors.CancelledError(None, None, "The step was given up")
        values = [*tensors, *self.function.captured_inputs]
        results = run(*[values[i]._array for i in self._fed])[: self._count]
        types = [t.dtype.base_dtype for t in self._fetches[: self._count]]
        wrapped = [EagerTensor(np.asarray(r, t.np), t) for r, t in zip(results, types, strict=True)]
        return self.function.pack(wrapped)

    def close(self) -> None:
        """Stop what runs; the next call opens another session."""
        session, self._session, self._run = self._session, None, None
        if session is not None:
            session.close()
