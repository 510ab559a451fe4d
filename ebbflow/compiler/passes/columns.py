"""Multiply only with the columns whose products are used.

The gradient of `concat([x, h]) @ w` is taken apart again into one by `x` and one by `h`; where only one of them is
asked for, half the product is nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value
from ebbflow.core import dtypes

ROWS = 8
"""Rows of a product from which on the columns of its right side are worth being picked."""


def take_columns(flow: Flow) -> Flow:
    """Return the flow with products as wide as what is used of them.

    a, b = Split(MatMul(x, w)); return b     =>     MatMul(x, w[:, n:])
    """
    uses = flow.uses()
    fetched = set(flow.outputs)

    def visit(node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        used = [i for i, v in enumerate(rewrite.original.outputs) if v in uses or v in fetched]
        at = _WHOLE.get(node.op.name)
        if len(used) != 1 or at is None:
            return None
        product, span = _span(node, at, used[0])
        whole = rewrite.original.inputs[at]
        if product is None or span is None or len(uses[whole]) != 1 or whole in fetched:
            return None
        part = _narrowed(product, *span, rewrite)
        return [part if i == used[0] else v for i, v in enumerate(node.outputs)]

    return Rewrite(flow).run(visit)


_WHOLE = {"Split": 1, "SplitV": 0, "Slice": 0}
"""Which input ops take parts of."""


def _span(node: Node, at: int, used: int) -> tuple[Node | None, tuple[int, int] | None]:
    """Return the product that a node takes a part of, and which columns: where they begin and how many there are."""
    name, known = node.op.name, [v.known for v in node.inputs]
    if any(k is None for i, k in enumerate(known) if i != at):
        return None, None
    whole, part = node.inputs[at], node.outputs[used]
    product = whole.node
    if product is None or product.op.name != "MatMul" or not whole.is_static or not part.is_static:
        return None, None
    rows, columns = whole.dims  # type: ignore[misc]
    wide = part.dims[1]  # type: ignore[index]
    if part.dims[0] != rows or wide == columns or rows < ROWS or not wide:  # type: ignore[index, operator]
        return None, None
    if name == "Slice":
        return product, (int(known[1][1]), wide)  # type: ignore[index]
    sizes = known[1] if name == "SplitV" else np.full(len(node.outputs), wide)
    return product, (int(sizes[:used].sum()), wide)  # type: ignore[index]


def _narrowed(product: Node, begin: int, wide: int, rewrite: Rewrite) -> Value:
    """Return the product with some of the columns."""
    left, right = product.inputs
    turned = product.attrs["transpose_b"]
    start, size = [0, begin], [right.dims[1 if turned else 0], wide]  # type: ignore[index]
    if turned:
        start, size = start[::-1], size[::-1]
    like = Value(None, 0, dtypes.int32, (2,))
    where = [rewrite.constant(np.array(n, np.int32), like, product.origin) for n in (start, size)]
    part = rewrite.call("Slice", [right, *where], {"T": right.dtype, "Index": dtypes.int32}, product.origin)
    return rewrite.call("MatMul", [left, part], product.attrs, product.origin)
