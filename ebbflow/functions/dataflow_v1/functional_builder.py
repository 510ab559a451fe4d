"""Building functional graphs from items that are not: the graphs, their bodies, and what goes into which.

An item is added to the graph it belongs to: that of its loop, under its condition, no further in than it must be.
Choices and loops are added when all that their bodies take from outside is there. Depth of graphs is no limit, only
that of nesting. Knows items that are understood (`low_level`, `choices`) and functional nodes; how a plain item
becomes a node is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.common_dims import common_dims
from ebbflow.functions.control_flow.branch_op import choose_node
from ebbflow.functions.control_flow.while_op import loop_node
from ebbflow.functions.dataflow_v1.low_level import Frame, Item, condition_of, is_loop_switch, understand
from ebbflow.functions.dataflow_v1.merge_groups import (
    Choice,
    chained,
    choices,
    or_nothing,
    reached,
    share,
    sources_of,
    waits_of_switches,
)
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw

Emit = Callable[[Item, list[Any], Any], list[Any]]
"""Adds an item that is no control flow to a graph, given its inputs there; gives its outputs."""


class _Scope:
    """A graph being built: for one frame, and under a condition."""

    def __init__(self, graph: Any, frame: Frame | None, condition: frozenset[Any], parent: _Scope | None):
        self.graph, self.frame, self.condition, self.parent = graph, frame, condition, parent
        self.values: dict[tuple[Item, int], Any] = {}
        self.nodes: dict[Item, Any] = {}  # who to wait for

    def holds(self, item: Item, index: int | None) -> bool:
        """Return whether something belongs here, or further out."""
        if item.kind == "Exit":
            return item.frame.parent is self.frame and item.condition <= self.condition  # type: ignore[union-attr]
        condition = item.condition if index is None else condition_of((item, index))
        return item.frame is self.frame and condition <= self.condition


class Builder:
    """Turns items into nodes, in the graphs they belong to."""

    def __init__(self, items: Sequence[Item], graph: Any, emit: Emit, wanted: Iterable[tuple[Item, int | None]] = ()):
        self._emit = emit
        self._merged: dict[tuple[Item, int | None], Item] = {}  # for what runs under a condition: it, or nothing
        self.root = _Scope(graph, None, frozenset(), None)
        self.order = self._with_merges(chained(understand(items)), wanted)
        self._groups = choices(self.order)
        share(dict.fromkeys(self._groups.values()))
        self._place = {item: number for number, item in enumerate(self.order)}
        self._waits = waits_of_switches(self.order)

    def _with_merges(self, order: Sequence[Item], wanted: Iterable[Any]) -> list[Item]:
        """Return the items with merges for those that run under a condition which others, who do not, wait for."""
        extended: list[Item] = []
        for item in order:
            if item.op == "ControlTrigger":
                item.controls = [self._at_least_nothing(c, None, item.condition, extended) for c in item.controls]
            extended.append(item)
        for item, index in wanted:
            self._at_least_nothing(item, index, frozenset(), extended)
        return extended

    def _at_least_nothing(self, item: Item, index: int | None, wherever: frozenset[Any], order: list[Item]) -> Item:
        condition = item.condition if index is None else condition_of((item, index))
        if item.kind == "Exit" or condition <= wherever:
            return item
        if (item, index) not in self._merged:
            added = or_nothing(item, index, condition - wherever)
            order.extend(added)
            self._merged[item, index] = added[-1]
        return self._merged[item, index]

    def fetched(self, key: tuple[Item, int | None]) -> Any:
        """Return what an item became: a tensor, or an operation."""
        item, index = key
        if item.frame is not None and item.kind != "Exit":
            raise errors.InvalidArgumentError(
                None, None, f"'{item.name}' is inside the loop '{item.frame.name}' and has no one value to fetch"
            )
        if not self.root.holds(item, index):
            if key not in self._merged:
                added = or_nothing(item, index, item.condition if index is None else condition_of((item, index)))
                alone = choices(added)
                share(dict.fromkeys(alone.values()))
                self._groups.update(alone)
                self._merged[key] = added[-1]
            merged = self._merged[key]
            self.ensure(self.root, [(merged, 0)])
            return self.root.nodes[merged] if index is None else self.root.values[merged, 0]
        self.ensure(self.root, [key])
        return self.root.nodes[item] if index is None else self.root.values[item, index]

    # --- what depends on what -----------------------------------------------------------------------------------------

    def _home(self, scope: _Scope, item: Item, index: int | None) -> _Scope:
        """Return the scope that something belongs to: the outermost around `scope` that holds it."""
        found, here = scope, scope
        while here.parent is not None:
            here = here.parent
            if here.holds(item, index):
                found = here
        return found

    def ensure(self, scope: _Scope, keys: Iterable[tuple[Item, int | None]]) -> None:
        """Have all of `keys`, and all they need, be there."""
        stack = [(self._home(scope, *key), *key) for key in keys]
        entered: set[Any] = set()
        while stack:
            here, item, index = top = stack[-1]
            if self._done(*top):
                stack.pop()
                continue
            waiting = [d for d in self._needs(here, item, index) if not self._done(*d)]
            if not waiting:
                self._add(here, item, index)
                if not self._done(*top):
                    raise self._no_output(here, item, index)
                continue
            if top in entered:
                raise errors.InvalidArgumentError(
                    None, None, f"Graph is invalid, contains a cycle through node '{item.name}'"
                )
            entered.add(top)
            stack.extend(waiting)

    def _no_output(self, scope: _Scope, item: Item, index: int | None) -> ValueError:
        """Return the error for an edge from an output that a node does not have."""
        taker = next((other.name for other in self.order if (item, index) in other.inputs), item.name)
        count = sum(source is item for source, _ in scope.values)
        return ValueError(
            f"Node '{taker}': Connecting to invalid output {index} of source node {item.name} which has {count} "
            "outputs."
        )

    def _done(self, scope: _Scope, item: Item, index: int | None) -> bool:
        return item in scope.nodes if index is None else (item, index) in scope.values

    def _needs(self, scope: _Scope, item: Item, index: int | None) -> list[Any]:
        """Return what must be there first."""
        keys: list[tuple[Item, int | None]]
        if item.kind == "Exit":
            keys = [k for e in item.frame.enters for k in [*e.inputs, *[(c, None) for c in e.controls]]]  # type: ignore[union-attr]
            return [(self._home(scope, *k), *k) for k in keys]
        if item in self._groups:
            return self._needs_of_group(scope, self._groups[item])
        if item.kind == "Enter":
            return []  # what enters is there before the loop is built
        keys = [*_taken(item, index), *[(c, None) for c in item.controls]]
        return [(self._home(scope, *k), *k) for k in keys]

    def _needs_of_group(self, scope: _Scope, group: Choice) -> list[Any]:
        """Return what the branches of a choice take from outside, and what decides it."""
        found: dict[Any, None] = {(self._home(scope, *group.predicate), *group.predicate): None}
        for control in self._waited_for(scope, group):
            found[self._home(scope, control, None), control, None] = None
        lenders = {lender for borrowed in group.borrows.values() for lender in borrowed.values()}
        for lender in lenders:
            found[scope, lender.merges[0], 0] = None
        borrowed = {item for items in group.borrows.values() for item in items}
        stack: list[Any] = [*group.targets(True), *group.targets(False)]
        seen = set(stack)
        while stack:
            item, index = stack.pop()
            if item in borrowed:
                continue
            if scope.holds(item, index) or any(s.holds(item, index) for s in _around(scope)):
                found[self._home(scope, item, index), item, index] = None
                continue
            for key in [*sources_of(item), *[(c, None) for c in item.controls]]:
                if key not in seen:
                    seen.add(key)
                    stack.append(key)
        return list(found)

    def _waited_for(self, scope: _Scope, group: Choice) -> list[Item]:
        """Return what the switches of a choice wait for, and so the choice has to."""
        found = [c for c in self._waits.get((group.predicate, scope.frame), ()) if c.condition <= group.condition]
        merges = set(group.merges)
        return [c for c in found if c not in merges and not reached(c, merges, self._place)]

    # --- adding -------------------------------------------------------------------------------------------------------

    def _add(self, scope: _Scope, item: Item, index: int | None) -> None:
        """Add what stands for an item to its scope; all it needs is there."""
        if item.kind == "Exit":
            self._add_loop(scope, item.frame)  # type: ignore[arg-type]
        elif item in self._groups:
            self._add_choice(scope, self._groups[item])
        elif item.kind in ("Switch", "Enter", "Merge"):
            self._pass_on(scope, item, index)
        else:
            inputs = [self._value(scope, t) for t in item.inputs]
            with context.scope(scope.graph), self._after(scope, item):
                own = item.op in ("done", "missing")
                outputs = _stand_in(item, scope.graph) if own else self._emit(item, inputs, scope.graph)
            self._set(scope, item, outputs)

    def _set(self, scope: _Scope, item: Item, outputs: Sequence[Any]) -> None:
        first = outputs[0]
        scope.nodes[item] = first if isinstance(first, Operation) else first.op
        for i, output in enumerate(outputs):
            if not isinstance(output, Operation):
                scope.values[item, i] = output

    def _value(self, scope: _Scope, tensor: tuple[Item, int]) -> Any:
        """Return a tensor as one of the scope's graph."""
        found = self._home(scope, *tensor).values[tensor]
        return scope.graph.take(found)

    def _after(self, scope: _Scope, item: Item) -> Any:
        waits = [self._home(scope, c, None).nodes[c] for c in item.controls]
        return scope.graph.control_dependencies([n for n in waits if n is not None])

    def _pass_on(self, scope: _Scope, item: Item, index: int | None) -> None:
        """Where the way is known, a switch (or a merge, or an entrance) gives what it takes."""
        source = item.inputs[0]
        if item.kind == "Merge":
            source = min(item.inputs, key=lambda t: len(condition_of(t)))
        if item.kind == "Enter":
            assert scope.parent is not None
            outside = _outside_frame(scope)
            value = scope.graph.take(self._home(outside, *source).values[source])
        else:
            value = self._value(scope, source)
        if item.kind == "Merge":
            with context.scope(scope.graph):
                scope.values[item, 1] = scope.graph.constant(
                    np.array(item.inputs.index(source) if item.number is None else item.number, np.int32),
                    dtypes.int32,
                    "value_index",
                )
        scope.nodes[item] = value.op
        scope.values[item, 0 if index is None else index] = value

    def _add_choice(self, scope: _Scope, group: Choice) -> None:
        predicate = self._value(scope, group.predicate)
        bodies: Any = []
        for way in (True, False):
            body = FuncGraph(f"{group.merges[0].name.replace('/', '_')}_{'true' if way else 'false'}", scope.graph)
            branch = _Scope(body, scope.frame, scope.condition | {(group.predicate, way)}, scope)
            for item, lender in group.borrows[way].items():
                branch.nodes[item] = None  # it ran when the earlier choice did
                branch.values |= {k: v for k, v in lender.handed_out[way].items() if k[0] is item}
            targets = group.targets(way)
            self.ensure(branch, [*targets, *group.handed_out[way]])
            with context.scope(body):
                values = [self._value(branch, t) for t in targets]
                numbers = [self._number(branch, *taken) for taken in zip(targets, group.inputs_taken(way), strict=True)]
                more = [self._value(branch, t) for t in group.handed_out[way]]
            body.outputs = [*values, *numbers]
            bodies.append((body, more))
        bodies = _with_more(bodies)
        waits = [self._home(scope, c, None).nodes[c] for c in self._waited_for(scope, group)]
        with context.scope(scope.graph), scope.graph.control_dependencies(waits):
            outputs = choose_node(predicate, bodies, by_index=False, name=f"{group.merges[0].name}/If/")
            count = len(group.merges)
            for merge, value, number in zip(group.merges, outputs[:count], outputs[count : 2 * count], strict=True):
                named = _named(scope, value, merge)
                self._set(scope, merge, [named, number])
        beyond = iter(outputs[2 * count :])
        for way in (True, False):
            group.handed_out[way] = {key: next(beyond) for key in group.handed_out[way]}

    def _number(self, branch: _Scope, target: tuple[Item, int], position: int) -> Any:
        """Return which input of a merge a branch takes; a chain of choices says it itself."""
        if target[0].number is not None and target[0].kind == "Merge":
            return self._value(branch, (target[0], 1))
        return _int(branch.graph, position)

    def _add_loop(self, scope: _Scope, frame: Frame) -> None:
        if frame.test is None:
            if frame.variables:
                raise errors.InvalidArgumentError(None, None, f"the loop '{frame.name}' has no condition to end it")
            inner = _Scope(scope.graph, frame, frozenset(), scope)
            for leaving in frame.exits:
                self.ensure(inner, leaving.inputs)
                self._set(scope, leaving, [_named(scope, self._value(inner, leaving.inputs[0]), leaving)])
            return
        entering = [next(t for t in m.inputs if t[0].kind != "NextIteration") for m in frame.variables]
        first = [self._value(scope, enter.inputs[0]) for enter, _ in entering]
        controls = [c for enter in frame.enters for c in enter.controls]
        outputs = self._loop(scope, frame, first, [self._home(scope, c, None).nodes[c] for c in controls])
        after = self._after_loop(scope, frame, outputs[2:])
        for leaving in frame.exits:
            self.ensure(after, leaving.inputs)
            self._set(scope, leaving, [_named(scope, self._value(after, leaving.inputs[0]), leaving)])

    def _after_loop(self, scope: _Scope, frame: Frame, outputs: list[Any]) -> _Scope:
        """Return where the last values of a loop are known: what stands between them and the exits runs once, there."""
        after = _Scope(scope.graph, frame, frozenset(), scope)
        for item in self.order:
            if item.frame is frame and is_loop_switch(item) and item.inputs[0][0] in frame.variables:
                value = outputs[frame.variables.index(item.inputs[0][0])]
                after.values[item, 0] = value
                after.nodes[item] = value.op
        return after

    def _loop(self, scope: _Scope, frame: Frame, first: list[Any], waits: list[Any]) -> list[Any]:
        """Add the node of a loop; where an iteration changes a shape, less is said of that shape."""
        dims: list[Any] = [t._dims for t in first]
        with context.scope(scope.graph):
            start = [_int(scope.graph, 0), _int(scope.graph, -1)]
        for _ in range(16):
            test, body = (self._body(scope, frame, first, dims, name) for name in ("cond", "body"))
            after = [t._dims for t in body.outputs[2:]]
            wider = [common_dims(a, b) for a, b in zip(dims, after, strict=True)]
            if wider == dims:
                break
            dims = wider
        with context.scope(scope.graph), scope.graph.control_dependencies(waits):
            name = f"{frame.exits[0].name}/While/"
            return loop_node([*start, *first], [(), (), *dims], test, body, name=name)

    def _body(self, scope: _Scope, frame: Frame, first: list[Any], dims: list[Any], which: str) -> FuncGraph:
        """Return the condition or the body of a loop as a function of its variables."""
        graph = FuncGraph(f"{frame.name.replace('/', '_')}_{which}", scope.graph)
        counter, limit = (graph.argument(dtypes.int32, (), n) for n in ("loop_counter", "maximum_iterations"))
        arguments = [graph.argument(t.dtype.base_dtype, d, "variable") for t, d in zip(first, dims, strict=True)]
        graph.inputs = [counter, limit, *arguments]
        inside = _Scope(graph, frame, frozenset(), scope)
        for merge, argument in zip(frame.variables, arguments, strict=True):
            self._set(inside, merge, [argument])
        for item in self.order:
            if item.frame is frame and is_loop_switch(item) and item.inputs[0][0] in frame.variables:
                value = arguments[frame.variables.index(item.inputs[0][0])]
                inside.values[item, 1] = value
                inside.nodes[item] = value.op
        if which == "cond":
            targets = list(frame.test.inputs)  # type: ignore[union-attr]
        else:
            rounds = [next(s for s, _ in m.inputs if s.kind == "NextIteration") for m in frame.variables]
            targets = [r.inputs[0] for r in rounds]
            self.ensure(inside, [(c, None) for r in rounds for c in r.controls])
        self.ensure(inside, targets)
        found = [self._value(inside, t) for t in targets]
        if which == "cond":
            graph.outputs = found
            return graph
        with context.scope(graph):
            graph.outputs = [counter + 1, limit, *found]  # type: ignore[list-item]
        return graph


# --- pieces -----------------------------------------------------------------------------------------------------------


def _with_more(bodies: list[tuple[FuncGraph, list[Any]]]) -> list[FuncGraph]:
    """Return branches that also give what they hand to later choices; each stands in for what the other hands out."""
    for number, (body, _) in enumerate(bodies):
        with context.scope(body):
            for other, (_, more) in enumerate(bodies):
                for tensor in more:
                    own = other == number
                    body.outputs.append(
                        tensor if own else raw.FakeParam(dtype=tensor.dtype.base_dtype, shape=tensor._dims)
                    )
    return [body for body, _ in bodies]


def _taken(item: Item, index: int | None) -> list[tuple[Item, int]]:
    """Return which inputs an item needs to give an output: of a switch whose way is known, the data alone."""
    if item.kind == "Switch":
        return item.inputs[:1]
    if item.kind == "Merge":
        return [min(item.inputs, key=lambda t: len(condition_of(t)))]
    return item.inputs


def _around(scope: _Scope) -> Iterable[_Scope]:
    while scope.parent is not None:
        scope = scope.parent
        yield scope


def _outside_frame(scope: _Scope) -> _Scope:
    """Return the innermost scope outside the loop that a scope is in."""
    return next(s for s in _around(scope) if s.frame is not scope.frame)


def _int(graph: Any, value: int) -> Any:
    return graph.constant(np.array(value, np.int32), dtypes.int32)


def _named(scope: _Scope, value: Any, item: Item) -> Any:
    """Return a value under the name of the item it stands for."""
    with context.scope(scope.graph):
        return raw.Identity(value, name=f"{item.name}/")


# --- what runs only under a condition, asked for by itself ------------------------------------------------------------


def _stand_in(item: Item, graph: Any) -> list[Any]:
    """Return what is given in place of something that did not run; a tensor that is missed is an error."""
    if item.op == "done" or not item.attrs:
        return [graph.constant(np.array(item.op == "done"), dtypes.bool)]
    said = graph.constant(np.array(b"Retval[0] does not have value", object), dtypes.string)
    failed = raw.Assert(graph.constant(np.array(False), dtypes.bool), [said])
    with graph.control_dependencies([failed]):
        return [raw.FakeParam(dtype=item.attrs["dtype"], shape=item.attrs["shape"])]
