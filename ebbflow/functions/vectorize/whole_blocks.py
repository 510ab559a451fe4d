"""A traced function of one row as a function of a block of rows, where that gives bit for bit the same.

Rows by rules (`vectorize.rules`) may be rounded otherwise than one by one: a sum of floats depends on the order, and
products on the library. A pipeline must give the same numbers however it is run, so here only ops are taken that
compute each number on its own, move numbers, or work on whole numbers, truth values and strings. Knows the rules;
knows nothing of datasets.
"""

from __future__ import annotations

from typing import Any

from ebbflow.compiler.options import EXACT
from ebbflow.core import dtypes
from ebbflow.eager.tape import stop_recording
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.functions.vectorize.bodies import bodies_of, needed_for, run_body
from ebbflow.functions.vectorize.rules import ROUNDING, RULES, NoRule, Rows, Stacked
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw


def stacked_body(body: FuncGraph, count: int) -> FuncGraph | str:
    """Return the function of blocks whose first `count` arguments have a row for each element, or why there is none.

    Further arguments are the same for all rows.
    """
    with body.changing:
        if not body.derived.stacked:
            body.derived.stacked = unfit(body, count) or _built(body, count)
        return body.derived.stacked


def unfit(body: FuncGraph, count: int) -> str | None:
    """Return what speaks against a function of blocks, as far as that can be seen without making it."""
    known = body.derived.stacked
    if known is None:
        known = body.derived.stacked = _unfit(body, count) or ""  # nothing, as far as can be seen
    return known if isinstance(known, str) and known else None


def _unfit(body: FuncGraph, count: int) -> str | None:
    if not count:
        return "a function of nothing"
    for tensor in body.inputs[:count]:
        if tensor._dims is None or tensor.dtype.base_dtype in (dtypes.variant, dtypes.resource):
            return f"{tensor.dtype.base_dtype.name} of unknown shape among its arguments"
    for tensor in body.outputs:
        if tensor.dtype.base_dtype in (dtypes.variant, dtypes.resource):
            return f"{tensor.dtype.base_dtype.name} among its results"
    return stateful(body) or rounded_otherwise(body)


def stateful(body: FuncGraph) -> str | None:
    """Return the first op in a body for which it matters when it runs, or which gives something besides tensors.

    One that may raise an error and else gives what it is given is no such: a block that fails is done row by row.
    """
    needed = needed_for(body)
    for node in body._nodes:
        if node.type == "Placeholder":
            continue
        inside = bodies_of(node)
        for called in inside:
            found = stateful(called)
            if found is not None:
                return found
        if not inside and node._op.keeps_state and not (node._op.facts.complains and node in needed):
            return node.type
        if any(t.dtype.base_dtype is dtypes.variant for t in node._outputs):
            return f"{node.type}, which gives a list"
    return None


def rounded_otherwise(body: FuncGraph) -> str | None:
    """Return the first op in a body that has no rule, or whose results may depend on how many rows there are."""
    for node in body._nodes:
        if node._inputs and node.type not in RULES and not node._op.facts.elementwise:
            return f"{node.type}, which has no rule for rows"
        inside = bodies_of(node)
        for called in inside:
            found = rounded_otherwise(called)
            if found is not None:
                return found
        if not inside and not _exact(node):
            return f"{node.type}, whose results may be rounded otherwise for many rows"
    return None


def _exact(node: Operation) -> bool:
    return node.type not in ROUNDING or not any(_rounds(t.dtype.base_dtype) for t in node._outputs)


def _rounds(dtype: Any) -> bool:
    return dtype.is_floating or dtype.is_complex


def _built(body: FuncGraph, count: int) -> FuncGraph | str:
    def refuse(reason: str) -> None:
        raise NoRule(reason)

    def whole(*tensors: Any) -> list[Any]:
        first = raw.StridedSlice(raw.Shape(tensors[0]), [0], [1], [1], shrink_axis_mask=1)
        rows = Rows(first, refuse)
        given = [Stacked(t) if i < count else t for i, t in enumerate(tensors)]
        return [rows.stack(x).value for x in run_body(body, given, rows)]

    arguments = [
        (t.dtype.base_dtype, (None, *(t._dims or ())) if i < count else t._dims, f"rows_{i}")
        for i, t in enumerate(body.inputs)
    ]
    try:
        with stop_recording():
            made = build(f"{body.name}_stacked", whole, None, arguments)
    except NoRule as reason:
        return str(reason)
    except (TypeError, ValueError) as error:  # a rule that does not fit these shapes
        return f"no rule fits: {str(error).partition(chr(10))[0]}"
    made.jit_compile = EXACT
    made.structured_outputs = None
    made.closed = True
    return made
