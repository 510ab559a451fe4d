"""The ops that run one of several functions: `If` by a condition, `Case` by an index, and their stateless forms.

What any branch uses from outside becomes an argument of all of them. How the choice is differentiated is the business
of `branch_gradient`; what users write is `cond`, `case` and `switch_case`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.functions.control_flow.references import read_inside
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.side_effects import waited_for
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.state.list_value import Nothing
from ebbflow.ops.state.storage import boxed

_IF = (
    "{}(cond:Tcond, input:list(Tin)) -> (output:list(Tout)) | Tcond: type; Tin: list(type) >= 0; "
    "Tout: list(type) >= 0; then_branch: func; else_branch: func; output_shapes: list(shape) = []{}"
)
If = op(_IF.format("If", " | stateful"))
StatelessIf = op(_IF.format("StatelessIf", ""))
_CASE = (
    "{}(branch_index:int32, input:list(Tin)) -> (output:list(Tout)) | Tin: list(type) >= 0; Tout: list(type) >= 0; "
    "branches: list(func) >= 1; output_shapes: list(shape) = []{}"
)
Case = op(_CASE.format("Case", " | stateful"))
StatelessCase = op(_CASE.format("StatelessCase", ""))

FakeParam = op(
    "FakeParam() -> (output:dtype) | dtype: type; shape: shape",
    shape=lambda *, shape: shape,
    gradient=FLAT,
)


@FakeParam.kernel
def _(xp: Any, *, dtype: Any, shape: Any) -> Any:
    if dtype is dtypes.variant:
        return boxed(Nothing())
    return np.zeros([0 if n is None else n for n in shape or ()], dtype.np)


def _shape(selector: Any, input: Any, *, output_shapes: Any, Tout: Any) -> list[Dims]:
    return list(output_shapes) if len(output_shapes) == len(Tout) else [None] * len(Tout)


def _choose_by_condition(
    xp: Any, cond: Any, input: Any, *, Tout: Any, then_branch: Any, else_branch: Any, run: Any
) -> Any:
    return (then_branch if truth(cond) else else_branch).run(run.session, input)[: len(Tout)]


def _choose_by_index(xp: Any, branch_index: Any, input: Any, *, Tout: Any, branches: Any, run: Any) -> Any:
    index = int(branch_index)
    chosen = branches[index if 0 <= index < len(branches) else -1]  # what has no branch gets the last one
    return chosen.run(run.session, input)[: len(Tout)]  # another thread may just be having it give more


def truth(value: np.ndarray) -> bool:
    """Return whether a condition holds: a scalar by its value, anything else by having elements."""
    return value.size > 0 if value.ndim else bool(value.item())


def _narrow(attrs: dict[str, Any], used: Sequence[int]) -> tuple[list[int], list[int], dict[str, Any]]:
    """Return the choice with only the used results; what goes in stays as it is."""
    shapes = attrs["output_shapes"]
    slim = {
        **attrs,
        "Tout": tuple(attrs["Tout"][i] for i in used),
        "output_shapes": tuple(shapes[i] for i in used) if shapes else (),
    }
    for name in ("then_branch", "else_branch"):
        if name in attrs:
            slim[name] = _giving(attrs[name], used)
    if "branches" in attrs:
        slim["branches"] = tuple(_giving(body, used) for body in attrs["branches"])
    return list(range(len(attrs["Tin"]) + 1)), list(used), slim


def _giving(body: FuncGraph, used: Sequence[int]) -> FuncGraph:
    less = body.with_outputs([body.outputs[i] for i in used])
    if used:
        less.effects = waited_for(less)
    return less


for _op, _kernel in (
    (If, _choose_by_condition),
    (StatelessIf, _choose_by_condition),
    (Case, _choose_by_index),
    (StatelessCase, _choose_by_index),
):
    _op.shape(_shape)
    _op.kernel(_kernel)
    _op.narrow = _narrow


def branches_of(node: Any) -> list[FuncGraph]:
    """Return the functions that a node chooses from."""
    attrs = node._attrs
    return list(attrs["branches"]) if "branches" in attrs else [attrs["then_branch"], attrs["else_branch"]]


def choose_node(selector: Any, bodies: Sequence[FuncGraph], by_index: bool, name: str | None = None) -> list[Any]:
    """Add the node that runs one of the bodies, by an index or a condition (the first if it holds)."""
    read_inside(bodies)
    captured = list({id(t): t for body in bodies for t in body.external_captures}.values())
    for body in bodies:
        body.inputs = [body.capture(t) for t in captured]
    stateful = any(n._op.keeps_state for body in bodies for n in body._nodes)
    attrs: dict[str, Any] = {
        "Tout": [t.dtype.base_dtype for t in bodies[0].outputs],
        "output_shapes": [_common([t._dims for t in ts]) for ts in zip(*[b.outputs for b in bodies], strict=True)],
    }
    if by_index:
        attrs["branches"] = bodies
        node = raw.Case if stateful else raw.StatelessCase
    else:
        attrs |= {"then_branch": bodies[0], "else_branch": bodies[1]}
        node = raw.If if stateful else raw.StatelessIf
    with context.current_graph().control_dependencies([n for body in bodies for n in body.outer_controls]):
        outputs = node(selector, captured, name=name, **attrs)
    return outputs if bodies[0].outputs else []  # without results it is the node


def _common(shapes: Sequence[Dims]) -> Dims:
    """Return what is true of all these shapes."""
    first = shapes[0]
    if first is None or any(s is None or len(s) != len(first) for s in shapes):
        return None
    return tuple(ns[0] if all(n == ns[0] for n in ns) else None for ns in zip(*shapes, strict=True))
