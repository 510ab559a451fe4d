"""Where the program stands: eager or building a graph, which tapes listen, which device is asked for.

Every op call asks this module one question, "is anything unusual going on?", and the answer must cost a few
nanoseconds: `graph_scopes` and `recorders` are plain module integers counting, over all threads, how many graph scopes
and recorders are open. Only when one is non-zero is the thread's own state looked up. Knows no graph and no tape
classes: a graph is any object with `call`, a recorder as `core/recorder.py` has it. Imported by everybody.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import forks, shape

graph_scopes = 0
"""Open graph scopes in all threads, plus one while graphs are the process default. Zero: every op runs eagerly."""

recorders = 0
"""Open tapes and forward accumulators in all threads. Zero: no op is recorded."""

EAGER = None
"""The entry on a thread's scope stack that stands for "run ops at once"."""


class Switches:
    """Behaviours that differ between the TF 1 and TF 2 doors; process-wide, as in TensorFlow."""

    def __init__(self) -> None:
        self.eager_by_default = True
        self.resource_variables = True
        self.tensor_equality = True
        self.control_flow_v2 = True
        self.v2_behavior = True
        self.tf1 = False  # the TF 1 door: 1.15's op types and manners, beyond what TF 2's compat.v1 keeps


switches = Switches()

full_traceback = bool(os.environ.get("EBBFLOW_FULL_TRACEBACK"))


class _Thread(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.recorders: list[Any] = []
        self.devices: list[Any] = []
        self.sessions: list[Any] = []


thread = _Thread()
_lock = forks.lock()
_default_graph: list[Callable[[], Any]] = []


def provide_default_graph(make: Callable[[], Any]) -> None:
    """Let the graph room say how to get the process-wide default graph."""
    _default_graph[:] = [make]


def default_graph() -> Any:
    """Return the graph that `tf.get_default_graph()` names in this thread, whatever the mode."""
    for scope in reversed(thread.scopes):
        if scope is not EAGER:
            return scope
    return _default_graph[0]()


def default_graph_has_nodes() -> bool:
    """Return whether anything was added to the process-wide default graph."""
    return bool(_default_graph) and bool(_default_graph[0]().get_operations())


def current_graph() -> Any:
    """Return the graph that ops are added to, or None where they run at once."""
    if thread.scopes:
        return thread.scopes[-1]
    return None if switches.eager_by_default else _default_graph[0]()


def executing_eagerly() -> bool:
    """Return whether an op called here runs at once.

    >>> executing_eagerly()
    True
    """
    return not graph_scopes or current_graph() is None


def eager_outside_functions() -> bool:
    """Return whether ops run at once here, or would outside the function that is being traced."""
    if not graph_scopes:
        return True
    for graph in reversed(thread.scopes):
        if graph is None or not graph.building_function:
            return graph is None
    return switches.eager_by_default


def count_scopes(change: int) -> None:
    """Note that a scope has opened (+1) or closed (-1) somewhere in which ops are not just run here."""
    global graph_scopes
    with _lock:
        graph_scopes += change


def count_recorders(change: int) -> None:
    """Note that a recorder has opened (+1) or closed (-1) somewhere."""
    global recorders
    with _lock:
        recorders += change


@contextlib.contextmanager
def scope(graph: Any) -> Iterator[Any]:
    """Send ops to `graph` (or run them at once for EAGER) inside the block."""
    count_scopes(1)
    stack = thread.scopes
    depth = len(stack)
    stack.append(graph)
    try:
        yield graph
    finally:
        ends = len(stack) == depth + 1 and _as_first(stack[-1]) is _as_first(graph)
        if not ends:
            raise AssertionError(
                "Nesting violated for default stack: scopes of graphs must be closed in the order they were opened"
            )
        stack.pop()
        count_scopes(-1)


def _as_first(graph: Any) -> Any:
    """Return a graph, or that in whose place it came when the default graph was reset."""
    return getattr(graph, "stands_for", None) or graph


def eager_scope() -> contextlib.AbstractContextManager[Any]:
    """Run ops at once inside the block, even where a graph is being built around it."""
    return scope(EAGER)


def set_eager_default(eager: bool) -> None:
    """Make eager execution (or graphs) what a program gets when it opens no scope."""
    if eager != switches.eager_by_default:
        switches.eager_by_default = eager
        count_scopes(-1 if eager else 1)


def _set_behavior(v2: bool) -> None:
    set_eager_default(v2)
    switches.resource_variables = switches.tensor_equality = switches.control_flow_v2 = switches.v2_behavior = v2
    if v2:
        shape.enable_v2_tensorshape()
    else:
        shape.disable_v2_tensorshape()


def enter_v1() -> None:
    """Take on TF 1's manners for the whole process: graphs by default, reference variables, `Dimension`s; 1.15's,
    in all.
    """
    disable_v2()
    switches.tf1 = True
    shape.use_tf1_manners(True)


def disable_v2() -> None:
    """Give up TF 2's manners for TF 1's, as far as TF 2 itself can (`disable_v2_behavior`)."""
    _set_behavior(False)


def enter_v2() -> None:
    """Take on TF 2's manners for the whole process: eager by default, resource variables, plain-int shapes."""
    _set_behavior(True)
    switches.tf1 = False
    shape.use_tf1_manners(False)
