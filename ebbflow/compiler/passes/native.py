"""Group small work into regions that become machine code.

On small arrays a call of NumPy costs more than its arithmetic. A region is a node of its own, like a cluster, whose
attr `region` is the flow inside; here variables may be read and changed inside. What is large stays outside: engines
that use all cores do better there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.compiler.flow import HANDLES, Flow, Node, Value
from ebbflow.compiler.passes.cluster import cluster_of, connected, levels_of, replaced
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.engines import choice
from ebbflow.engines.native import elementwise, library
from ebbflow.engines.native import kernel as _rows  # noqa: F401  (with all rows of OPS)
from ebbflow.engines.native.lowering import KINDS, OPS
from ebbflow.engines.native.updates import READS

_INTERFACE = "(inputs:Tin) -> (outputs:Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; region: func"
_RESULTS = lambda inputs, *, region: [v.dims for v in region.outputs]
NATIVE = op(f"_Native{_INTERFACE}", internal=True, shape=_RESULTS)
NATIVE_UPDATE = op(f"_NativeUpdate{_INTERFACE} | stateful", internal=True, shape=_RESULTS)
BOTH = (NATIVE, NATIVE_UPDATE)
"""A region of small work; and one that changes variables."""

PRODUCT = 1 << 19
"""Multiplications of a matrix product, at most."""

MANY = 400
"""Nodes of a region, at most: compiling more takes seconds."""

_FREE = frozenset(
    [
        "Identity",
        "Reshape",
        "ExpandDims",
        "Squeeze",
        "StopGradient",
        "ZerosLike",
        "OnesLike",
        "Fill",
        "BroadcastTo",
        *READS,
    ]
)
"""What costs NumPy nothing, or next to nothing."""

_HEAVY = ("Conv", "MatMul", "BatchMatMul", "Depthwise", "FusedBatchNorm")
_FOLLOWS = frozenset(["BiasAdd", "AddV2", "Add", "Relu", "Relu6", "Tanh", "Sigmoid", "Elu"])
"""What an engine computes along with the product before it."""


def make_native(flow: Flow) -> Flow:
    """Return the flow with a node for each region of small work that pays."""
    if not choice.allowed("native") or not library.available():
        return flow
    fits = _fitting(flow)
    if sum(n.op.name not in _FREE for n in fits) < 2:
        return flow
    uses, fetched = flow.uses(), set(flow.outputs)
    levels = levels_of(flow, fits)
    groups = [_with_its_variables(g) for g in connected(fits, levels, flow)]
    groups = [g for g in groups if _pays(g) and _keeps_its_references(g, uses, fetched)]
    if not groups:
        return flow
    ordered = sorted(flow.nodes, key=levels.__getitem__)  # stable: what keeps state stays in order
    return replaced(Flow(flow.inputs, ordered, flow.outputs, flow.roots), groups, _native_of)


def _fitting(flow: Flow) -> set[Node]:
    """Return the nodes that may be part of a region: small ones, but for those that go with a heavy one before them."""
    fits: set[Node] = set()
    heavy: set[Node] = set()  # and what its engine takes along
    for node in flow.nodes:
        maker = node.inputs[0].node if node.op.name in _FOLLOWS else None
        if maker in heavy:
            heavy.add(node)
        elif _fits(node):
            fits.add(node)
        elif node.op.name.startswith(_HEAVY):
            heavy.add(node)
    return fits


def _fits(node: Node) -> bool:
    name = node.op.name
    if name == "Const":
        return False
    values = [v for v in (*node.inputs, *node.outputs) if not _is_state(v)]
    if not all(v.is_static and v.dtype.base_dtype.name in KINDS for v in values):
        return False
    state = [v for v in node.inputs if _is_state(v)]
    if state or node.stateful:
        known = name in OPS or "formula" in node.op.facts
        return known and bool(state) and all(_is_variable(v) or _is_updated(v) for v in state)
    if name in OPS:
        return "MatMul" not in name or _product(node) <= PRODUCT
    kinds = [KINDS[v.dtype.base_dtype.name] for v in node.inputs]
    return bool(kinds) and elementwise.row(name, node.attrs, kinds) is not None


def _product(node: Node) -> int:
    a, out = node.inputs[0], node.outputs[0]
    inner = a.dims[-2 if node.attrs.get("transpose_a", node.attrs.get("adj_x")) else -1]  # type: ignore[index]
    return out.size * inner  # type: ignore[operator]


def _is_state(value: Value) -> bool:
    return value.dtype is dtypes.resource or value.dtype._is_ref_dtype


def _is_variable(value: Value) -> bool:
    return value.storage is not None or (value.node is not None and value.node.op.name in HANDLES)


def _is_updated(value: Value) -> bool:
    """Return whether a reference is what an update of a variable gives: the variable."""
    return value.node is not None and value.dtype._is_ref_dtype and _fits(value.node)


def _keeps_its_references(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> bool:
    """Return whether nobody outside wants a variable from inside."""
    inside = set(group)
    given = [v for n in group for v in n.outputs if _is_state(v)]
    return not any(v in fetched or any(u not in inside for u in uses.get(v, ())) for v in given)


def _with_its_variables(group: Sequence[Node]) -> list[Node]:
    """Return a group without the reading of variables that it does not change: these are read before it."""
    changed = {v for n in group if n.op.name not in READS for v in n.inputs if _is_state(v)}
    changed |= {v for n in group for v in n.outputs if _is_state(v)}
    return [n for n in group if n.op.name not in READS or n.inputs[0] in changed]


def _pays(group: Sequence[Node]) -> bool:
    return sum(n.op.name not in _FREE for n in group) >= 2 and len(group) <= MANY


def _native_of(group: Sequence[Node], uses: dict[Value, list[Node]], fetched: set[Value]) -> tuple[Node, list[Value]]:
    node, given = cluster_of(group, uses, fetched)
    attrs: dict[str, Any] = dict(node.attrs)
    node.op, node.attrs = NATIVE_UPDATE if any(map(_is_state, node.inputs)) else NATIVE, attrs
    for outside, inside in zip(node.inputs, attrs["region"].inputs, strict=True):
        inside.storage = outside.storage
    return node, given
