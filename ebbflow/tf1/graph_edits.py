"""Parts of a graph taken out, put in and exchanged: `tf.contrib.graph_editor`'s edits of views.

Built on `reroute_ts` and `swap_ts`, which change single edges. A view that is passed is changed with its graph: its
inputs are then those that its nodes take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core.typing import Nested
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.tf1.graph_copies import (
    placeholder_name,
    remove_control_inputs,
    reroute_ts,
    swap_ts,
)
from ebbflow.tf1.graph_views import (
    SubGraphView,
    get_consuming_ops,
    make_list_of_op,
    make_view,
    select_ops,
    select_ts,
)


class ControlOutputs:
    """Which nodes of a graph wait for which, at the time it is made or brought up to date."""

    def __init__(self, graph: Graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._waiting: dict[Any, list[Any]] = {}
        self.update()

    @property
    def graph(self) -> Graph:
        """The graph that is meant."""
        return self._graph

    def update(self) -> ControlOutputs:
        """Look at the graph again."""
        self._waiting.clear()
        for op in self._graph.get_operations():
            for awaited in op.control_inputs:
                self._waiting.setdefault(awaited, []).append(op)
        return self

    def get_all(self) -> dict[Any, list[Any]]:
        """Return the nodes that wait, by the node they wait for."""
        return self._waiting

    def get(self, op: Any) -> list[Any]:
        """Return the nodes that wait for one."""
        return self._waiting.get(op, [])


def check_cios(
    control_inputs: bool = False, control_outputs: ControlOutputs | None = None, control_ios: Any = None
) -> tuple[bool, Any]:
    """Return whether control inputs count, and the control outputs that do; `control_ios` says both at once."""
    if control_ios is not None:
        if not isinstance(control_ios, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_ios)}")
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        return True, control_ios
    if control_outputs is not None and not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    return control_inputs, control_outputs


# --- neighbours -------------------------------------------------------------------------------------------------------


def get_ops_ios(
    ops: Nested, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> list[Any]:
    """Return the nodes beside some: those that give what these take, and those that take what these give."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    listed = make_list_of_op(ops)
    beside = [t.op for op in listed for t in op.inputs]
    beside += [awaited for op in listed if control_inputs for awaited in op.control_inputs]
    beside += [taker for op in listed for taker in (get_consuming_ops(op.outputs) if op.outputs else [])]
    if control_outputs is not None:
        beside += [waiting for op in listed for waiting in control_outputs.get(op)]
    return list(dict.fromkeys(beside))


def get_within_boundary_ops(
    ops: Nested,
    seed_ops: Nested,
    boundary_ops: Nested = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Return the nodes among `ops` that are reached from `seed_ops`, in any direction, without crossing a boundary."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    allowed, border = set(make_list_of_op(ops)), set(make_list_of_op(boundary_ops))
    seeds = make_list_of_op(seed_ops)
    if border & set(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")
    reached, waiting = dict.fromkeys(seeds), list(seeds)
    while waiting:
        for op in get_ops_ios([waiting.pop(0)], control_inputs, control_outputs):
            if op in allowed and op not in reached:
                reached[op] = None
                if op not in border:
                    waiting.append(op)
    return [op for op in reached if inclusive or op not in border]


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Any], list[Any]]:
    """Return nodes and tensors: expressions that begin with "(?#ts)" find tensors, all others nodes."""
    marked = [isinstance(arg, (str, re.Pattern)) and _text(arg).startswith("(?#ts)") for arg in args]
    tensors = [arg for arg, mark in zip(args, marked, strict=True) if mark or _is_tensors(arg)]
    nodes = [arg for arg, mark in zip(args, marked, strict=True) if not mark and not _is_tensors(arg)]
    nothing: list[Any] = []
    return (
        select_ops(*nodes, **kwargs) if nodes else nothing,
        select_ts(*tensors, **kwargs) if tensors else nothing,
    )


def _text(expression: Any) -> str:
    return expression if isinstance(expression, str) else expression.pattern


def _is_tensors(arg: Any) -> bool:
    if isinstance(arg, (str, re.Pattern, Graph)):
        return False
    items = list(arg) if isinstance(arg, (list, tuple)) else [arg]
    return bool(items) and all(hasattr(item, "value_index") for item in items)


# --- inputs and outputs -----------------------------------------------------------------------------------------------


def _two_views(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    return first, second


def reroute_inputs(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Have the nodes of the second view take what the first one takes."""
    first, second = _two_views(sgv0, sgv1)
    reroute_ts(first.inputs, second.inputs, can_modify=second.ops)
    second._input_ts = first.inputs
    return first, second


def swap_inputs(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Have the nodes of each view take what the other one takes."""
    first, second = _two_views(sgv0, sgv1)
    swap_ts(first.inputs, second.inputs, can_modify=[*first.ops, *second.ops])
    first._input_ts, second._input_ts = second.inputs, first.inputs
    return first, second


def reroute_outputs(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Have what takes outputs of the second view take those of the first; nodes inside the views are left alone."""
    first, second = _two_views(sgv0, sgv1)
    reroute_ts(first.outputs, second.outputs, cannot_modify=[*first.ops, *second.ops])
    return first, second


def swap_outputs(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Have what takes outputs of one view take those of the other; nodes inside the views are left alone."""
    first, second = _two_views(sgv0, sgv1)
    swap_ts(first.outputs, second.outputs, cannot_modify=[*first.ops, *second.ops])
    return first, second


def reroute_ios(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Have the second view take what the first takes, and the first one's outputs stand for the second one's."""
    first, second = _two_views(sgv0, sgv1)
    reroute_outputs(first, second)
    return reroute_inputs(first, second)


def swap_ios(sgv0: Nested, sgv1: Nested) -> tuple[SubGraphView, SubGraphView]:
    """Exchange inputs and outputs of two views: each then stands where the other did."""
    first, second = _two_views(sgv0, sgv1)
    swap_outputs(first, second)
    return swap_inputs(first, second)


# --- taking out and putting in ----------------------------------------------------------------------------------------


def detach_control_inputs(sgv: Nested) -> None:
    """Have the nodes of a view wait for no node outside it."""
    view = make_view(sgv)
    inside = set(view.ops)
    for op in view.ops:
        outside = [awaited for awaited in op.control_inputs if awaited not in inside]
        if outside:
            remove_control_inputs(op, outside)


def detach_control_outputs(sgv: Nested, control_outputs: ControlOutputs) -> None:
    """Have no node outside a view wait for one in it."""
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    view = make_view(sgv)
    control_outputs.update()
    for op in view.ops:
        for waiting in control_outputs.get(op):
            if waiting not in view.ops:
                remove_control_inputs(waiting, op)


def detach_inputs(sgv: Nested, control_inputs: bool = False) -> tuple[SubGraphView, list[Any]]:
    """Have a view take placeholders; return the view and these."""
    view = make_view(sgv)
    stand_ins = _placeholders(view, view.inputs)
    if stand_ins:
        reroute_inputs(SubGraphView(passthrough_ts=stand_ins)._changed(input=stand_ins), view)
    if control_inputs:
        detach_control_inputs(view)
    return view, stand_ins


def detach_outputs(sgv: Nested, control_outputs: ControlOutputs | None = None) -> tuple[SubGraphView, list[Any]]:
    """Have whatever takes a view's outputs take placeholders; return the view and these."""
    view = make_view(sgv)
    taken = [t for t in view.outputs if t.consumers()]
    stand_ins = _placeholders(view, taken)
    if stand_ins:
        reroute_ts(stand_ins, taken, cannot_modify=view.ops)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, stand_ins


def _placeholders(view: SubGraphView, tensors: Iterable[Any]) -> list[Any]:
    if view.graph is None:
        return []
    with view.graph.as_default():
        return [placeholder(t.dtype.base_dtype, name=placeholder_name(t)) for t in tensors]


def detach(
    sgv: Nested, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[SubGraphView, list[Any], list[Any]]:
    """Take a view out of its graph: it takes placeholders, and so does what took its outputs. Return the view and both
    lists of placeholders."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    view, taken = detach_inputs(sgv, control_inputs)
    _, given = detach_outputs(view, control_outputs)
    return view, taken, given


def connect(sgv0: Nested, sgv1: Nested, disconnect_first: bool = False) -> tuple[SubGraphView, SubGraphView]:
    """Have the second view take the first one's outputs; `disconnect_first` has nothing else take them any more."""
    first, second = _two_views(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(first)
    passing = first.outputs
    reroute_inputs(SubGraphView(passthrough_ts=passing)._changed(input=passing), second)
    return first, second


def bypass(sgv: Nested) -> tuple[SubGraphView, list[Any]]:
    """Have whatever takes a view's outputs take its inputs instead; return the view and the placeholders it takes."""
    view = make_view(sgv)
    before = view.inputs
    view, stand_ins = detach_inputs(view)
    reroute_ts(before, view.outputs)
    return view, stand_ins


# --- small things -----------------------------------------------------------------------------------------------------


class ListView(tuple[Any, ...]):
    """A list that cannot be changed."""

    def __add__(self, other: Any) -> list[Any]:  # type: ignore[override]
        return [*self, *other]


def is_iterable(obj: object) -> bool:
    """Return whether something can be gone over."""
    return isinstance(obj, Iterable)


def get_unique_graph(tops: Nested, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """Return the one graph that all nodes, tensors or views are of."""
    if isinstance(tops, Graph):
        return tops
    items = list(tops) if isinstance(tops, (list, tuple, set)) else [tops]
    if check_types and not all(isinstance(item, check_types) for item in items):
        raise TypeError(f"Expected a type in {check_types}, got {[type(item) for item in items]}")
    graphs = list(dict.fromkeys(item.graph for item in items if item.graph is not None))
    if not graphs and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    if len(graphs) > 1:
        raise ValueError(f"Operation {items[-1]!r} does not belong to given graph")
    return graphs[0] if graphs else None


def check_graphs(*args: Any) -> None:
    """Refuse nodes, tensors or views that are not all of one graph."""
    get_unique_graph(list(args), none_if_empty=True)


def concatenate_unique(la: list[Any], lb: Iterable[Any]) -> list[Any]:
    """Put what a list does not have yet at its end, and return it."""
    la.extend(item for item in dict.fromkeys(lb) if item not in la)
    return la


def flatten_tree(tree: Nested, leaves: list[Any] | None = None) -> list[Any]:
    """Return what lists, tuples and dictionaries hold, one after the other."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for branch in tree:
            flatten_tree(branch, leaves)
    else:
        leaves.append(tree)
    return leaves


def scope_finalize(scope: str) -> str:
    """Return a scope with a slash at its end.

    >>> scope_finalize("foo/bar"), scope_finalize("")
    ('foo/bar/', '')
    """
    return f"{scope}/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """Return the scope that a name is in.

    >>> scope_dirname("foo/bar/op"), scope_dirname("op")
    ('foo/bar/', '')
    """
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """Return a name without the scope it is in.

    >>> scope_basename("foo/bar/op")
    'op'
    """
    return scope.rpartition("/")[2]


def input_tensors(ops: Nested) -> list[Any]:
    """Return what nodes take, each once."""
    return list(dict.fromkeys(t for op in make_list_of_op(ops) for t in op.inputs))


def output_tensors(ops: Nested) -> list[Any]:
    """Return what nodes give."""
    return [t for op in make_list_of_op(ops) for t in op.outputs]
