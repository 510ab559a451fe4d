"""Group work into regions that become machine code.

On small arrays a call of NumPy costs more than its arithmetic, on large ones each goes through memory once. A region is
a node of its own, like a cluster, whose attr `region` is the flow inside; here variables may be read and changed
inside. Large products and convolutions stay outside, with what their engine computes along with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.compiler.flow import Flow, Node, Value, is_loop, is_state, is_variable, standing_for
from ebbflow.compiler.list_borders import handed_over
from ebbflow.compiler.loops import LoopFlows, sized, with_loops
from ebbflow.compiler.passes.cluster import by_levels, cluster_of, connected, flow_of, levels_of, replaced
from ebbflow.compiler.passes.late_reads import read_late
from ebbflow.compiler.passes.prune import prune
from ebbflow.compiler.passes.recompute import recompute
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.core.shape import is_static
from ebbflow.engines import enabled
from ebbflow.engines.native import (  # noqa: F401  (rows: all are declared)
    all_lowerings,
    library,
    preconditions,
)
from ebbflow.engines.native.lowering import KINDS, LIMITS, OPS, SERIAL, Lowering, Refused
from ebbflow.engines.native.lowerings import convolution, elementwise
from ebbflow.engines.native.lowerings.updates import serves
from ebbflow.ops.state.variable_ops import handle_facts

_INTERFACE = "(inputs:Tin) -> (outputs:Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; region: func"
_RESULTS = lambda inputs, *, region: [v.dims for v in region.outputs]
NATIVE = op(f"_Native{_INTERFACE}", internal=True, shape=_RESULTS)
NATIVE_UPDATE = op(f"_NativeUpdate{_INTERFACE} | stateful", internal=True, shape=_RESULTS)
BOTH = (NATIVE, NATIVE_UPDATE)
"""A region; and one that changes variables."""

SMALL = 1 << 16
"""Elements of an array, at most, of what has code for one thread only."""

PRODUCT = 1 << 19
"""Multiplications of a matrix product, at most."""

PRODUCT_IN_A_LOOP = 1 << 23
"""And inside of a loop, which would come back to Python for it in every turn."""

LARGE = 1 << 18
"""Elements of a result that is worth a region of its own, if no other engine has threads for it."""

FAR = 1 << 20
"""Bytes of other regions' results from which on it is worth the while to compute them once more."""

MANY = 400
"""Nodes of a region, at most: compiling more takes seconds."""


def make_native(flow: Flow) -> Flow:
    """Return the flow with a node for each region of work that pays."""
    if not enabled.allowed("native") or not library.available():
        return flow
    flow, loops = sized(prune(flow))  # a region would do what folding has left for nobody
    fits, unseen = _fitting(flow, loops)
    fits |= _seen_before(flow, fits, unseen)
    if any(is_loop(n) for n in fits):
        made = _replaced(*_with_loops(flow, fits, loops))
        if made is not None:
            return made
    plain = {n for n in fits if not is_loop(n) and not n.op.facts.lists}
    return _replaced(flow, plain) or flow


def _with_loops(flow: Flow, fits: set[Node], loops: dict[Node, LoopFlows]) -> tuple[Flow, set[Node]]:
    """Return the flow with loops that carry what is known of them, and the nodes of it that fit."""
    noted = with_loops(flow, loops)
    return noted, {new for new, old in zip(noted.nodes, flow.nodes, strict=True) if old in fits}


def _replaced(flow: Flow, fits: set[Node]) -> Flow | None:
    """Return the flow with regions in the place of what fits; None where there is none, or a loop is refused."""
    if sum(not n.op.facts.free for n in fits) < 2 and not any(is_loop(n) for n in fits):
        return None
    levels = read_late(flow, fits, levels_of(flow, fits))
    if any(is_loop(n) for n in fits):
        flow, fits, levels = handed_over(flow, fits, levels)
    uses, fetched = flow.uses(), set(flow.outputs)
    groups = _with_updates_together([_with_its_variables(g) for g in connected(fits, levels, flow)], levels, flow)
    groups = [g for g in groups if _pays(g) and _keeps_to_itself(g, uses, fetched)]
    inside = {n for g in groups for n in g}
    if not groups or any(is_loop(n) and n not in inside for n in fits):
        return None
    if any(is_loop(n) for n in inside) and any(_refusal(g, uses, fetched) for g in groups):
        return None
    return replaced(*recompute(by_levels(flow, levels), groups, FAR), native_of)


def _with_updates_together(groups: list[list[Node]], levels: dict[Node, int], flow: Flow) -> list[list[Node]]:
    """Return the groups, with those made one that are no more than a variable's update, and of one level."""
    found: list[list[Node]] = []
    alone: dict[int, list[Node]] = {}
    for group in groups:
        if group and not _pays(group) and any(n.op.formula is not None for n in group):
            alone.setdefault(levels[group[0]], []).extend(group)
        else:
            found.append(group)
    position = {node: i for i, node in enumerate(flow.nodes)}
    return found + [sorted(group, key=position.__getitem__) for group in alone.values()]


def _expected(region: Flow) -> dict[Value, tuple[Any, Any]]:
    """Return dtypes and dims of the variables that a region will be given when it runs, as far as they are known."""
    found = {}
    for value in region.inputs:
        if is_state(value) and value.storage is None:
            is_reference = value.dtype._is_ref_dtype
            dtype, dims = (value.dtype.base_dtype, value.dims) if is_reference else handle_facts(value)
            if dtype is not None and is_static(dims):
                found[value] = dtype, dims
    return found


def _refusal(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> str | None:
    """Return why a region with a loop cannot be made: what is refused here may be taken by XLA."""
    if not any(is_loop(n) for n in group):
        return None
    region = flow_of(group, uses, fetched)
    try:
        Lowering(region, expected=_expected(region))
    except Refused as refused:
        return str(refused)
    return None


def _fitting(flow: Flow, loops: dict[Node, LoopFlows]) -> tuple[set[Node], set[Node]]:
    """Return the nodes that may be part of a region: all but heavy ones, and those that go with one before them.

    And those that look at values before anything is computed which may be computed in the same region.
    """
    fits: set[Node] = set()
    unseen: set[Node] = set()
    heavy: set[Node] = set()  # and what its engine takes along
    uses = flow.uses()
    for node in flow.nodes:
        goes_along = node.op.facts.finishes and len(uses[node.inputs[0]]) == 1
        if goes_along and node.inputs[0].node in heavy:
            heavy.add(node)
        elif node in loops:
            if _fits_whole(node, loops[node]):
                fits.add(node)
        elif _fits(node):
            given = all(_is_given(node.inputs[i], fits, uses) for i in preconditions.looked_at(node))
            (fits if given else unseen).add(node)
        elif node.op.facts.heavy:
            heavy.add(node)
    return fits, unseen


def _seen_before(flow: Flow, fits: set[Node], unseen: set[Node]) -> set[Node]:
    """Return those of some nodes that look only at what regions before their own give."""
    ordered = [n for n in flow.nodes if n in unseen]
    at = 0
    while at < len(ordered):
        node, levels = ordered[at], levels_of(flow, fits.union(ordered))
        if all(_lies_before(node.inputs[i], node, levels) for i in preconditions.looked_at(node)):
            at += 1
        else:  # it stays outside, and what follows it comes later
            del ordered[at]
    return set(ordered)


def _lies_before(value: Value, node: Node, levels: dict[Node, int]) -> bool:
    return value.known is not None or value.node is None or levels[value.node] < levels[node]


def _is_given(value: Value, fits: set[Node], uses: dict[Value, list[Node]]) -> bool:
    """Return whether a value that is looked at before anything is computed comes from outside, or nearly so."""
    node = value.node
    if value.known is not None or node not in fits:
        return True
    if not node.op.facts.light or len(uses[value]) > 1:
        return False
    taken = node.inputs[0]
    if node.op.name == "Reshape" and taken.node in fits and _long(value) != _long(taken):
        return False
    return all(_is_given(v, fits, uses) for v in node.inputs)


def _long(value: Value) -> list[int]:
    return [n for n in value.dims if n != 1]  # type: ignore[union-attr,misc]


def _fits_whole(node: Node, loop: LoopFlows) -> bool:
    """Return whether all of a loop can be part of a region."""
    step = loop.body
    if any(a.dtype is not b.dtype or a.dims != b.dims for a, b in zip(step.inputs, step.outputs, strict=True)):
        return False
    if not all(_is_list(v) or (v.is_static and v.dtype.name in KINDS) for v in (*node.inputs, *node.outputs)):
        return False
    return all(fits_inside(n) for flow in (loop.test, loop.body) for n in flow.nodes)


def fits_inside(node: Node) -> bool:
    """Return whether a node of a loop's function can be part of a region."""
    if "_loop" in node.attrs:
        return _fits_whole(node, node.attrs["_loop"])
    if "_choice" in node.attrs:
        choice = node.attrs["_choice"]
        flows, results = choice.flows, [*node.outputs, *[v for flow in choice.flows for v in flow.outputs]]
        given = [v for v in (*node.inputs, *results) if not _is_list(v)]
        static = all(v.is_static and v.dtype.name in KINDS for v in given)
        static = static and (choice.adds or not any(map(_is_list, results)))
        return static and all(fits_inside(n) for flow in flows for n in flow.nodes)
    return node.op.name == "Const" or _fits(node, PRODUCT_IN_A_LOOP)


def _fits(node: Node, product: int = PRODUCT) -> bool:
    name = node.op.name
    if name == "Const" or name in convolution.NAMES:  # these have a pass of their own
        return False
    lists = node.op.facts.lists
    values = [v for v in (*node.inputs, *node.outputs) if not is_state(v) and not (lists and _is_list(v))]
    if not all(v.is_static and v.dtype.base_dtype.name in KINDS for v in values):
        return False
    state = [v for v in node.inputs if is_state(v)]
    if state or node.stateful:
        known = name in OPS or (node.op.formula is not None and serves(node.op, node.attrs))
        return known and bool(state) and all(is_variable(v) or _is_updated(v) for v in state)
    if lists or name in OPS:
        if name in SERIAL and any(v.size > SMALL for v in values):
            return False
        in_a_loop = product == PRODUCT_IN_A_LOOP and name not in LIMITS  # there, counters may be indices
        return (
            name in OPS
            and (in_a_loop or preconditions.allows(node))
            and (not node.op.facts.heavy or _product(node) <= product)
        )
    kinds = [KINDS[v.dtype.base_dtype.name] for v in node.inputs]
    return bool(kinds) and elementwise.formula(name, node.attrs, kinds) is not None


def _is_list(value: Value) -> bool:
    return value.dtype is dtypes.variant


def _product(node: Node) -> int:
    a, out = node.inputs[0], node.outputs[0]
    inner = a.dims[-2 if node.attrs.get("transpose_a", node.attrs.get("adj_x")) else -1]  # type: ignore[index]
    return out.size * inner  # type: ignore[operator]


def _is_updated(value: Value) -> bool:
    """Return whether a reference is what an update of a variable gives: the variable."""
    return value.node is not None and value.dtype._is_ref_dtype and _fits(value.node)


def _keeps_to_itself(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> bool:
    """Return whether no list comes in, and nobody outside wants a variable or a list from inside."""
    inside = set(group)
    given = [v for n in group for v in n.outputs if is_state(v) or _is_list(v)]
    if any(_is_list(v) and v.node not in inside for n in group for v in n.inputs):
        return False
    return not any(v in fetched or any(u not in inside for u in uses.get(v, ())) for v in given)


def _with_its_variables(group: Sequence[Node]) -> list[Node]:
    """Return a group without the reading of variables that it does not change: these are read before it."""
    changed = {v for n in group if n.op.facts.reads != "whole" for v in n.inputs if is_state(v)}
    changed |= {v for n in group for v in n.outputs if is_state(v)}
    return [n for n in group if n.op.facts.reads != "whole" or n.inputs[0] in changed]


def _pays(group: Sequence[Node]) -> bool:
    if len(group) > MANY:
        return False
    if any(
        not n.op.facts.free and not n.op.preparers and v.size >= LARGE for n in group for v in n.outputs if v.is_static
    ):
        return True
    return sum(not n.op.facts.free for n in group) >= 2 or any(is_loop(n) for n in group)


def native_of(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> tuple[Node, list[Value]]:
    """Return the node of a region, and the values of its members that others take."""
    node, given = cluster_of(group, uses, fetched)
    kind = NATIVE_UPDATE if any(map(is_state, node.inputs)) else NATIVE
    for outside, inside in zip(node.inputs, node.attrs["region"].inputs, strict=True):
        inside.storage = outside.storage
    return standing_for(kind, node.inputs, node.attrs, node.origin, node.outputs), given
