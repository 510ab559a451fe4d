"""Where a function is called: a trace that takes tensors of a graph serves calls in that graph alone, and one made in a
graph that is compiled whole (where programs may write other ops) serves calls in such graphs.

Knows contexts; the places themselves are parts of keys, and nothing asks more of them.
"""

from __future__ import annotations

import weakref
from typing import Any

from ebbflow.core import context
from ebbflow.functions.signature import Given
from ebbflow.trackable.save_context import in_save_context

FOR_A_FILE = "for a file"
"""The place of traces that are made while a model is saved."""


COMPILED = "in a graph that is compiled"
"""The place of traces that are made for XLA."""


def compiled_whole(graph: Any) -> bool:
    """Return whether a graph, or one around it, is compiled as a whole."""
    while graph is not None:
        if getattr(graph, "jit_compile", None) is True:
            return True
        graph = getattr(graph, "_around", None)
    return False


def place_of(given: Given) -> Any:
    """Return what stands for the graph that a call is made in: None where the outermost mode is eager."""
    if not context.graph_scopes:
        return None
    if in_save_context():
        return FOR_A_FILE
    around = _graph_around(given)
    if not compiled_whole(context.current_graph()):
        return around
    return COMPILED if around is None else (COMPILED, around)


def _graph_around(given: Given) -> Any:
    for graph in reversed(context.thread.scopes):
        if graph is None:
            return None
        if not graph.building_function:
            break
    else:
        if context.switches.eager_by_default:
            return None
        graph = context.default_graph()
        while graph.building_function and graph._around is not None:
            graph = graph._around
    ref = weakref.ref(graph, given.forget)
    given.refs.append(ref)
    return ref
