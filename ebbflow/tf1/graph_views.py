"""Parts of a graph: `tf.contrib.graph_editor`'s views, selections by name, and walks along edges.

A view is a set of nodes with the tensors that enter and leave it, in an order that can be changed. Knows graphs;
`graph_copies` makes new nodes from views.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from ebbflow.core.typing import Nested, TensorLike
from ebbflow.graph.graph import Graph
from ebbflow.graph.symbolic import Operation, SymbolicTensor


def make_list_of_op(
    ops: Nested, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Any]:
    """Return nodes as a list: one, several, or all of a graph (tensors left out where `ignore_ts`)."""
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    listed = list(ops) if isinstance(ops, Iterable) and type(ops) is not SymbolicTensor else [ops]
    if ignore_ts:
        listed = [op for op in listed if type(op) is not SymbolicTensor]
    return _of_kind(listed, Operation, check_graph)


def make_list_of_t(
    ts: Nested, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Any]:
    """Return tensors as a list: one, several, or all of a graph (nodes left out where `ignore_ops`)."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    listed = [ts] if type(ts) is SymbolicTensor or isinstance(ts, Operation) else list(ts)
    if ignore_ops:
        listed = [t for t in listed if not isinstance(t, Operation)]
    return _of_kind(listed, SymbolicTensor, check_graph)


def _of_kind(items: list[Any], kind: Any, check_graph: bool) -> list[Any]:
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"Expected a {kind.__name__.replace('SymbolicTensor', 'Tensor')}, got {item!r}")
        if check_graph and item.graph is not items[0].graph:
            raise ValueError(f"Operation {item.name} does not belong to given graph")
    return items


def get_tensors(graph: Graph) -> list[Any]:
    """Return all tensors of a graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [t for node in graph.get_operations() for t in node.outputs]


def get_generating_ops(ts: Nested) -> list[Any]:
    """Return the nodes that give these tensors."""
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Nested) -> list[Any]:
    """Return the nodes that take these tensors, each once."""
    return list(dict.fromkeys(op for t in make_list_of_t(ts, allow_graph=False) for op in t.consumers()))


def can_be_regex(obj: object) -> bool:
    """Return whether something is a regular expression: text, or a compiled one."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Nested) -> re.Pattern[str]:
    """Return a regular expression, compiled.

    >>> make_regex("a+").pattern
    'a+'
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


# --- choosing by name -------------------------------------------------------------------------------------------------


def filter_ops(ops: Nested, positive_filter: Nested) -> list[Any]:
    """Return the nodes of which `positive_filter` is true (all, where it is True)."""
    listed = make_list_of_op(ops)
    return listed if positive_filter is True else [op for op in listed if positive_filter(op)]


def filter_ops_from_regex(ops: Nested, regex: str) -> list[Any]:
    """Return the nodes whose names have a match of a regular expression in them."""
    return filter_ops(ops, lambda op: re.search(regex, op.name) is not None)


def filter_ts(ops: Nested, positive_filter: Nested) -> list[Any]:
    """Return the outputs of nodes of which `positive_filter` is true (all, where it is True)."""
    tensors = [t for op in make_list_of_op(ops) for t in op.outputs]
    return tensors if positive_filter is True else [t for t in tensors if positive_filter(t)]


def filter_ts_from_regex(ops: Nested, regex: str) -> list[Any]:
    """Return the outputs of nodes whose names have a match of a regular expression in them."""
    return filter_ts(ops, lambda t: re.search(regex, t.name) is not None)


def _selected(args: Sequence[Any], kwargs: dict[str, Any], find: Callable[..., list[Any]], take: Any) -> list[Any]:
    graph, only = kwargs.pop("graph", None), kwargs.pop("positive_filter", None)
    marked = kwargs.pop("restrict_ops_regex", False) or kwargs.pop("restrict_ts_regex", False)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {', '.join(sorted(kwargs))}")
    if only is not None and graph is None:
        raise ValueError("a graph keyword argument is required if positive_filter is set")
    if not args and graph is not None:
        args = (".*",)
    found: dict[Any, None] = {}
    for arg in args:
        if isinstance(arg, (str, re.Pattern)):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            text = arg if isinstance(arg, str) else arg.pattern
            named = text.startswith(("(?#ops)", "(?#ts)"))
            found.update(dict.fromkeys(find(graph, arg) if named or not marked else []))
        else:
            found.update(dict.fromkeys(take(arg)))
    return [item for item in found if only is None or only(item)]


def select_ops(*args: Any, **kwargs: Any) -> list[Any]:
    """Return nodes: those given, and those of `graph` whose names a given regular expression finds."""
    take = lambda arg: make_list_of_op(arg, ignore_ts=kwargs.get("restrict_ops_regex", False))
    return _selected(args, kwargs, filter_ops_from_regex, take)


def select_ts(*args: Any, **kwargs: Any) -> list[Any]:
    """Return tensors: those given, and those of `graph` whose names a given regular expression finds."""
    return _selected(args, kwargs, filter_ts_from_regex, make_list_of_t)


def get_name_scope_ops(ops: Nested, scope: str) -> list[Any]:
    """Return the nodes below a name scope, and the one of that name."""
    scope = scope.rstrip("/")
    return [op for op in make_list_of_op(ops) if op.name == scope or op.name.startswith(f"{scope}/")]


# --- walks ------------------------------------------------------------------------------------------------------------


def _walk(
    seeds: Any, inclusive: bool, within_ops: Any, within_ops_fn: Any, stop_at_ts: Any, steps: Callable[[Any, Any], Any]
) -> list[Any]:
    stops = frozenset(make_list_of_t(stop_at_ts)) if stop_at_ts else frozenset()
    inside = None if within_ops is None else frozenset(make_list_of_op(within_ops, allow_graph=False))

    def allowed(op: Any) -> bool:
        return (inside is None or op in inside) and (within_ops_fn is None or within_ops_fn(op))

    begin = [op for op in seeds if allowed(op)]
    found, waiting = dict.fromkeys(begin), list(begin)
    while waiting:
        for op in steps(waiting.pop(0), stops):
            if op not in found and allowed(op):
                found[op] = None
                waiting.append(op)
    return list(found) if inclusive else [op for op in found if op not in begin]


def get_forward_walk_ops(
    seed_ops: Nested, inclusive: bool = True, within_ops: Nested = None,
    within_ops_fn: Callable[..., Any] | None = None,
    stop_at_ts: Nested = (),
    control_outputs: Nested = None,
) -> list[Any]:  # fmt: skip
    """Return the nodes that depend on `seed_ops` (or on tensors: on what takes them)."""
    listed = list(seed_ops) if isinstance(seed_ops, (list, tuple, set, frozenset)) else [seed_ops]
    if listed and type(listed[0]) is SymbolicTensor:
        listed = get_consuming_ops(listed)
    else:
        listed = make_list_of_op(seed_ops, allow_graph=False)

    def steps(op: Any, stops: Collection[Any]) -> Iterator[Any]:
        for t in op.outputs:
            if t not in stops:
                yield from t.consumers()
        if control_outputs:
            yield from op._control_outputs

    return _walk(listed, inclusive, within_ops, within_ops_fn, stop_at_ts, steps)


def get_backward_walk_ops(
    seed_ops: Nested, inclusive: bool = True, within_ops: Nested = None,
    within_ops_fn: Callable[..., Any] | None = None,
    stop_at_ts: Nested = (),
    control_inputs: bool = False,
) -> list[Any]:  # fmt: skip
    """Return the nodes that `seed_ops` (or the nodes that give these tensors) depend on."""
    listed = list(seed_ops) if isinstance(seed_ops, (list, tuple, set, frozenset)) else [seed_ops]
    if listed and type(listed[0]) is SymbolicTensor:
        listed = get_generating_ops(listed)
    else:
        listed = make_list_of_op(seed_ops, allow_graph=False)

    def steps(op: Any, stops: Collection[Any]) -> Iterator[Any]:
        for t in op.inputs:
            if t not in stops:
                yield t.op
        if control_inputs:
            yield from op.control_inputs

    return _walk(listed, inclusive, within_ops, within_ops_fn, stop_at_ts, steps)


def get_walks_intersection_ops(
    forward_seed_ops: Nested, backward_seed_ops: Nested, forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Nested = None, within_ops_fn: Callable[..., Any] | None = None, control_inputs: bool = False,
    control_outputs: Nested = None,
    control_ios: Nested = None,
) -> list[Any]:  # fmt: skip
    """Return the nodes between: those that depend on the first and that the second depend on."""
    controls = bool(control_inputs or control_ios)
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs or control_ios
    )
    backward = frozenset(
        get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=controls)
    )
    return [op for op in forward if op in backward]


def get_walks_union_ops(
    forward_seed_ops: Nested, backward_seed_ops: Nested, forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Nested = None, within_ops_fn: Callable[..., Any] | None = None, control_inputs: bool = False,
    control_outputs: Nested = None,
    control_ios: Nested = None,
) -> list[Any]:  # fmt: skip
    """Return the nodes that depend on the first, and those that the second depend on."""
    controls = bool(control_inputs or control_ios)
    inside = (within_ops, within_ops_fn)
    after = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, *inside, control_outputs=control_outputs or control_ios
    )
    before = get_backward_walk_ops(backward_seed_ops, backward_inclusive, *inside, control_inputs=controls)
    return list(dict.fromkeys([*after, *before]))


# --- views ------------------------------------------------------------------------------------------------------------


def compute_boundary_ts(ops: Nested) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the tensors that enter a set of nodes, that leave it, and that stay inside."""
    listed = make_list_of_op(ops)
    inside = frozenset(listed)
    inputs = dict.fromkeys(t for op in listed for t in op.inputs if t.op not in inside)
    given = [t for op in listed for t in op.outputs]
    outputs = [t for t in given if not t.consumers() or not inside.issuperset(t.consumers())]
    return list(inputs), outputs, [t for t in given if not inside.isdisjoint(t.consumers())]


class SubGraphView:
    """A part of a graph: nodes, the tensors that enter, and the tensors that leave (and those that only pass)."""

    def __init__(self, inside_ops: Nested = (), passthrough_ts: Nested = ()):
        self._ops = make_list_of_op(inside_ops)
        passing = make_list_of_t(passthrough_ts)
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        self._passthrough_ts = [t for t in passing if t not in inputs and t not in outputs]
        self._input_ts = [*inputs, *self._passthrough_ts]
        self._output_ts = [*outputs, *self._passthrough_ts]
        self._graph = self._ops[0].graph if self._ops else passing[0].graph if passing else None

    @property
    def graph(self) -> Graph | None:
        return self._graph

    @property
    def ops(self) -> list[Any]:
        return list(self._ops)

    @property
    def inputs(self) -> list[Any]:
        return list(self._input_ts)

    @property
    def outputs(self) -> list[Any]:
        return list(self._output_ts)

    @property
    def passthroughs(self) -> list[Any]:
        return list(self._passthrough_ts)

    def op(self, op_id: int) -> Any:
        """Return a node by its number."""
        return self._ops[op_id]

    def _changed(self, **parts: list[Any]) -> SubGraphView:
        other = object.__new__(SubGraphView)
        other.__dict__ = {**self.__dict__, **{f"_{name}_ts": ts for name, ts in parts.items()}}
        return other

    def _chosen(self, tensors: list[Any], wanted: Any) -> list[Any]:
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        chosen = [tensors[w] if isinstance(w, int) else w for w in wanted]
        for t in chosen:
            if t not in tensors:
                raise ValueError(f"{t!r} is not at the border of this view, which has {tensors}")
        return chosen

    def remap_inputs(self, new_input_indices: Nested) -> SubGraphView:
        """Return a view with these of the inputs, in this order."""
        return self._changed(input=self._chosen(self._input_ts, new_input_indices))

    def remap_outputs(self, new_output_indices: Nested) -> SubGraphView:
        """Return a view with these of the outputs, in this order."""
        return self._changed(output=self._chosen(self._output_ts, new_output_indices))

    def remap(self, new_input_indices: Nested = None, new_output_indices: Nested = None) -> SubGraphView:
        """Return a view with inputs and outputs chosen and put in order."""
        view = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return view if new_output_indices is None else view.remap_outputs(new_output_indices)

    def find_op_by_name(self, op_name: str) -> Operation:
        """Return the node of that name."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise AttributeError(f"{op_name} not found in {self}")

    def consumers(self) -> list[Any]:
        """Return the nodes outside that take an output."""
        return [op for op in get_consuming_ops(self._output_ts) if op not in self._ops]

    def is_passthrough(self, t: TensorLike) -> bool:
        return t in self._passthrough_ts

    def __len__(self) -> int:
        return len(self._ops)

    def __bool__(self) -> bool:
        return self._graph is not None

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        names = {part: [t.name for t in getattr(self, part)] for part in ("ops", "inputs", "outputs")}
        return "\n".join(["SubGraphView:", *(f"** {part}: {', '.join(found)}" for part, found in names.items())])


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Return a view of nodes and tensors: those given, those of views given, those that expressions find in `graph`."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    ops: dict[Any, None] = {}
    passing: list[Any] = []
    for arg in args:
        for item in arg if isinstance(arg, (list, tuple, set)) else [arg]:
            if isinstance(item, SubGraphView):
                ops.update(dict.fromkeys(item.ops))
            elif type(item) is SymbolicTensor:
                passing.append(item)
            elif isinstance(item, (str, re.Pattern)):
                ops.update(dict.fromkeys(select_ops(item, **kwargs)))
            else:
                ops.update(dict.fromkeys(make_list_of_op(item)))
    return SubGraphView(list(ops), passing)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """Return the view of the nodes below a name scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))
