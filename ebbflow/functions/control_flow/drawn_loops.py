"""Loops that are given the random numbers of all their turns, in the place of drawing them.

    while …: x = f(x, RandomUniform(shape))     =>     while …: x = f(x, drawn[i]); i += 1

A loop that draws keeps state, and so runs turn by turn; one that is given what was drawn is like any other.
`compiler/passes/draws.py` knows how many turns there are, and draws in front of the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import Op
from ebbflow.core.shape import Dims
from ebbflow.functions.control_flow.loop_edits import copy_node
from ebbflow.functions.control_flow.value_loops import as_it_was, copied
from ebbflow.functions.control_flow.while_op import StatelessWhile, While
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.ops.declare import raw


def with_draws(attrs: dict[str, Any], drawn: Sequence[tuple[Any, Dims]]) -> tuple[Op, dict[str, Any]]:
    """Return the loop that takes a counter and, for each node that draws, the numbers of all turns; `Op.with_draws`.

    `drawn` has the nodes of the body and the shapes of what they draw in all turns.
    """
    attrs = as_it_was(attrs)
    more = [(dtypes.int32, ()), *[(node._outputs[0]._dtype, dims) for node, dims in drawn]]
    nodes = [node for node, _ in drawn]
    functions = {"cond": _given(attrs["cond"], more, nodes), "body": _given(attrs["body"], more, nodes, hands_on=True)}
    shapes = attrs["output_shapes"] or [t._dims for t in attrs["body"].inputs]
    types = (*attrs["T"], *[dtype for dtype, _ in more])
    stateful = any(n._op.keeps_state for function in functions.values() for n in function._nodes)
    new = {**attrs, **functions, "T": types, "output_shapes": (*shapes, *[dims for _, dims in more])}
    return While if stateful else StatelessWhile, new


def _given(
    graph: FuncGraph, more: Sequence[tuple[Any, Dims]], nodes: Sequence[Any], hands_on: bool = False
) -> FuncGraph:
    """Return the function with arguments for a counter and for what its nodes drew, which a body hands on."""
    count = len(graph.inputs)
    arguments = [*[(t.dtype, t._dims, "argument") for t in graph.inputs], *[(*fact, "drawn") for fact in more]]

    def made(*values: Any) -> list[Any]:
        counter, *drawn = values[count:]
        rows = dict(zip(map(id, nodes), drawn, strict=True))

        def copy(node: Any, inputs: list[Any]) -> list[Any]:
            if id(node) in rows:
                return [raw.GatherV2(rows[id(node)], counter, 0)]
            return copy_node(node, inputs)

        results = copied(graph, values[:count], copy)
        return [*results, raw.AddV2(counter, np.array(1, np.int32)), *drawn] if hands_on else results

    return build(f"{graph.name}_of_draws", made, None, arguments)
