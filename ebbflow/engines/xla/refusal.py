"""Why something cannot be compiled, in words.

`why_not` is asked before anything is traced, about one op with what is known of its inputs; a `Refusal` is raised while
tracing, where more is known. `unsupported` makes of refusals the error that a program sees which asked for
`jit_compile=True`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes, errors
from ebbflow.engines.xla.rules import Rule, lost, rule_for

_TYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4
"""
LOWERED_TYPES = frozenset(getattr(dtypes, name) for name in _TYPES.split())
_NO_WORK = ("Const", "Placeholder", "NoOp")
"""What a body has besides computations."""


class Refusal(Exception):  # noqa: N818  (no error until somebody insists)
    """Raised while tracing: `node` cannot be compiled."""

    def __init__(self, reason: str, op: str = "", node: Any = None):
        super().__init__(reason)
        self.reason = reason
        self.op = op
        self.node = node

    def __str__(self) -> str:
        return f"{self.op}: {self.reason}" if self.op else self.reason


class UnknownValueError(Refusal):
    """Raised while tracing: `node` needs the value of an input (named `argument`, or any of them) to be compiled."""

    def __init__(self, reason: str, op: str = "", argument: str = ""):
        super().__init__(reason, op)
        self.argument = argument


def why_not(
    op: Any,
    attrs: dict[str, Any],
    knowns: Sequence[Any],
    *,
    state: bool = False,
    strict: bool = False,
    traced: bool = False,
) -> str | None:
    """Return why a node cannot be compiled, or None where it can.

    `knowns` are flat, one per input tensor: dims, dtype and, where decided already, value. `state` lets variables in;
    `strict` keeps out ops whose kernel finds errors in values that the compiled form would let pass; with `traced`,
    shapes and values are not asked about: the trace, which follows loops and lists, will know them or refuse.
    """
    rule = rule_for(op)
    if rule is None:
        if op.facts.data_dependent:
            return "the shape of what it gives depends on the values it takes"
        return "keeps state" if op.stateful else "has no lowering to XLA"
    if rule.state and not state:
        return "keeps state: it reads or changes a variable"
    bodies = _bodies(op, attrs)
    return (
        _wrong_types(op, attrs, knowns, rule)
        or (None if traced else _unknown(op, attrs, knowns, rule))
        or (_unheard(rule, attrs) if strict else None)
        or _in_bodies(bodies, state, strict)
    )


def runs_beside(op: Any, attrs: dict[str, Any]) -> bool:
    """Return whether TensorFlow's XLA takes what here stands in the way: an op, or those in functions that it calls."""
    if op.facts.beside:
        return True
    inside = [node for body in _bodies(op, attrs) for node in body_nodes(body) if rule_for(node._op) is None]
    missing = [node for node in inside if node._op.name not in _NO_WORK]
    return bool(missing) and all(runs_beside(node._op, node._attrs) for node in missing)


def _bodies(op: Any, attrs: dict[str, Any]) -> list[Any]:
    called = [attrs[name] for name, attr in op.signature.attrs.items() if "func" in attr.kind]
    return [body for found in called for body in (found if isinstance(found, (list, tuple)) else [found])]


def _unheard(rule: Rule, attrs: dict[str, Any]) -> str | None:
    complaint = lost(rule, attrs)
    return None if complaint is None else f"would not be checked any more: {complaint}"


def _wrong_types(op: Any, attrs: dict[str, Any], knowns: Sequence[Any], rule: Rule) -> str | None:
    allowed = LOWERED_TYPES
    if rule.state:
        allowed = allowed | {dtypes.resource}
    if rule.variants:
        allowed = allowed | {dtypes.variant, dtypes.resource}
    for known in knowns:
        if known.dtype is not None and known.dtype.base_dtype not in allowed:
            return f"takes a tensor of type {known.dtype.base_dtype.name}"
    for dtype in op.flat_output_types(attrs):
        if dtype.base_dtype not in allowed:
            return f"gives a tensor of type {dtype.base_dtype.name}"
    return None


def _unknown(op: Any, attrs: dict[str, Any], knowns: Sequence[Any], rule: Rule) -> str | None:
    for arg, known in zip(op.signature.each_input(attrs), knowns, strict=True):
        name = arg.name
        if known.dtype in (dtypes.resource, dtypes.variant):
            continue
        if known.dims is None or None in known.dims:
            shape = "any shape" if known.dims is None else f"shape {['?' if n is None else n for n in known.dims]}"
            return f"{name} may have {shape.replace(chr(39), '')}: compiling needs to know it"
        if name in rule.needs and known.value is None:
            return f"the value of {name} is known only when it runs"
    return None


def _in_bodies(bodies: Sequence[Any], state: bool, strict: bool) -> str | None:
    """Return what stands in the way in a function that the op calls; shapes inside are for the trace to find out."""
    for body in bodies:
        for node in body_nodes(body):
            op = node._op
            rule = rule_for(op)
            if op.name in _NO_WORK:
                continue
            reason = None
            if rule is None:
                reason = why_not(op, node._attrs, [])
            elif rule.state and not state:
                reason = "keeps state: it reads or changes a variable"
            elif strict:
                reason = _unheard(rule, node._attrs)
            if reason is not None:
                return f"calls {getattr(body, 'name', 'a function')}, where {op.name} '{node.name}' {reason}"
    return None


def is_drawn(node: Any) -> bool:
    """Return whether a node gives random numbers that depend on nothing in the region: the host can draw them."""
    op = getattr(node, "_op", None) or node.op
    return op.facts.random and all(value.constant_value() is not None for value in node.inputs)


def body_nodes(graph: Any) -> list[Any]:
    """Return the nodes of a function that are to be run: what its results need, and what has effects."""
    return needed(graph.outputs, graph.inputs, [node for node in graph._nodes if _acts(node)])


def _acts(node: Any) -> bool:
    """Return whether a node is to be run though nobody takes what it gives."""
    facts = node._op.facts
    return node._op.stateful and not (facts.random or facts.reads or facts.variable)


def needed(outputs: Sequence[Any], inputs: Sequence[Any], nodes: Sequence[Any] = ()) -> list[Any]:
    """Return the nodes of a graph that tensors (and nodes) need, in the order they were made."""
    found: dict[int, Any] = {}
    given = {id(t) for t in inputs}
    stack = [*nodes, *[t.op for t in outputs if id(t) not in given]]
    while stack:
        node = stack.pop()
        if id(node) in found:
            continue
        found[id(node)] = node
        stack += [t.op for t in node._inputs if id(t) not in given]
    return sorted(found.values(), key=lambda node: node._id)


def unsupported(refusals: Sequence[Refusal], function: str) -> errors.InvalidArgumentError:
    """Return the error for a function that was to be compiled whole and cannot be."""
    shown = ", ".join(f"{r.op or '?'} ({r.reason})" for r in refusals)
    lines = "".join(_place(r) for r in refusals)
    first = refusals[0].node
    return errors.InvalidArgumentError(
        None, first, f"Detected unsupported operations when trying to compile graph {function} on XLA: {shown}{lines}"
    )


def _place(refusal: Refusal) -> str:
    node = getattr(refusal.node, "origin", refusal.node)
    if node is None:
        return ""
    line = getattr(node, "line", None)
    return f"\n\t [[{{{{node {node.name}}}}}]]" + (f" (defined at {line})" if line is not None else "")
