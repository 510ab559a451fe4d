"""Variables that a function is traced for one by one, instead of by their types.

A trace serves all variables of one type. Not so where the function asks an argument for its name, nor where it also
uses a variable by itself (from its closure, say) that may come as an argument: inside, the two must be one, so that
what is assigned to one is read from the other and both have the same gradient. Knows what bodies capture; knows nothing
of how traces are kept.
"""

from __future__ import annotations

import weakref
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.functions.func_graph import FuncGraph


class ToldApart:
    """What the traces of one function have shown."""

    def __init__(self) -> None:
        self._all = False
        self._handles: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def __call__(self, handle: Any) -> bool:
        """Return whether the variable of this handle has a trace of its own."""
        if self._all or not self._handles:
            return self._all
        graph = context.current_graph() if context.graph_scopes else None
        if not isinstance(graph, FuncGraph) or not graph.stand_ins:
            return id(handle) in self._handles
        here = graph.stand_in(handle)
        return any(graph.stand_in(used) is here for used in list(self._handles.values()))

    def note(self, graph: FuncGraph) -> bool:
        """Take note of what a trace has used; return whether that is new."""
        used = [t for t in graph.external_captures if t.dtype is dtypes.resource] + [*graph.stood_for.values()]
        more = [handle for handle in used if id(handle) not in self._handles]
        self._handles.update({id(handle): handle for handle in more})
        new_names = graph.tells_variables_apart and not self._all
        self._all |= graph.tells_variables_apart
        return bool(more) or new_names
