"""Critical sections: pieces of a program of which one at a time runs, in graphs and eagerly (`tf.CriticalSection`)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message, Nested
from ebbflow.graph import scopes
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw

EXECUTIONS = "critical_section_executions"
"""The collection in which a graph keeps what its critical sections do."""
_running = threading.local()


class Execution(NamedTuple):
    """One use of a critical section in a graph: its lock, and the handles of the resources it touches."""

    op: Any
    handle: Any
    resources: list[Any]
    exclusive: bool


class CriticalSection:
    """A lock: functions that it executes never run at the same time."""

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Message | None = None,
        import_scope: str | None = None,
    ):
        if critical_section_def is not None:
            raise ValueError("a CriticalSection from a message is made again with its shared_name instead")
        with name_scope(name, "CriticalSection") as scope, init_scope():
            self._name = scope.rstrip("/")
            container = "" if context.executing_eagerly() else context.default_graph()._container
            shared_name = shared_name if shared_name is not None or context.executing_eagerly() else scope
            self._shared = (container, shared_name) if shared_name else None
            self._handle = raw.MutexV2(shared_name=shared_name or "", container=container, name=scope or None)

    @property
    def name(self) -> str:
        return self._handle.op.name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Nested:
        """Return what `fn()` gives, computed while no other function is executed by this critical section."""
        if context.executing_eagerly():
            with self._entered(_running.__dict__.setdefault("sections", [])):
                lock = raw.MutexLock(self._handle)
                try:
                    return nest.map_structure(_value, fn())
                finally:
                    raw.ConsumeMutexLock(lock)
        with name_scope(name, "critical_section_execute"):
            return self._execute(fn, exclusive_resource_access)

    def _execute(self, fn: Callable[[], Any], exclusive: bool) -> Any:
        graph = context.current_graph()
        with self._entered(graph._stack("critical_sections")):
            lock = raw.MutexLock(self._handle)
            before = len(graph._nodes)
            with graph.control_dependencies([lock]):
                result = nest.map_structure(_value, fn())
        made = graph._nodes[before:]
        self._refuse_sharing(graph, made, exclusive)
        graph.add_to_collection(EXECUTIONS, Execution(lock.op, self._handle, _resources(made), exclusive))
        self._lock_late(lock, made)
        flat = nest.flatten(result, expand_composites=True)
        done = [_same(item) for item in flat if item is not None]
        with graph.control_dependencies(done):
            released = raw.ConsumeMutexLock(lock)
            together = scopes.tuple(flat) if done else flat
        with graph.control_dependencies([released]):
            outputs = [item if item is None else _same(item) for item in together]
        return nest.pack_sequence_as(result, outputs, expand_composites=True) if nest.is_nested(result) else outputs[0]

    def _lock_late(self, lock: Any, made: list[Any]) -> None:
        """Have the lock taken only when everything that comes from outside is there."""
        inside = {node._id for node in made}
        outside = {t.op._id: t.op for node in made for t in node._inputs if t.op._id not in inside}
        outside.pop(lock.op._id, None)
        if outside:
            with context.current_graph().control_dependencies(None):
                ready = scopes.group(*outside.values())
            lock.op._add_control_input(ready)

    @contextlib.contextmanager
    def _entered(self, running: list[Any]) -> Iterator[None]:
        """Note that this section runs, where it does not run already: it would wait for itself."""
        if any(other is self or (self._shared and other._shared == self._shared) for other in running):
            raise ValueError(
                f"Attempting to lock a CriticalSection (signature={self._name}) in which we are already running. "
                "This is illegal and would cause deadlocks."
            )
        running.append(self)
        try:
            yield
        finally:
            running.pop()

    def _refuse_sharing(self, graph: Any, made: list[Any], exclusive: bool) -> None:
        """Refuse to touch what another critical section has to itself."""
        touched = {id(handle) for handle in _resources(made)}
        for other in graph.get_collection(EXECUTIONS):
            if other.handle is self._handle or not (exclusive or other.exclusive):
                continue
            shared = [handle.name for handle in other.resources if id(handle) in touched]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock (CriticalSection: "
                    f"{self._handle}) or "
                    f"lock '{other.op.name}' (CriticalSection: {other.handle}) requested exclusive resource access "
                    "of this "
                    "resource.  Did you mean to call execute with keyword argument exclusive_resource_access=False?"
                )


def _value(item: Any) -> Any:
    """Return a function's result as a tensor; operations stay what they are."""
    return item if item is None or isinstance(item, Tensor) or hasattr(item, "_control_inputs") else convert(item)


def _same(item: Any) -> Any:
    return raw.Identity(item) if isinstance(item, Tensor) else scopes.group(item)


def _resources(nodes: list[Any]) -> list[Any]:
    found = {id(t): t for node in nodes for t in node._inputs if t.dtype is dtypes.resource or t.dtype._is_ref_dtype}
    return list(found.values())
