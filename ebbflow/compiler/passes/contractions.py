"""Contractions of two arrays (`Einsum`) as products of matrices, which every engine knows.

The axes that both have and the result lacks are the inner ones; those that all three have number the matrices. What
stands in another order is transposed, in front of the product and behind it; such steps may vanish in what is around.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Node, Rewrite, Value, constant
from ebbflow.core import dtypes
from ebbflow.ops.linalg.einsum import REST, parse, roles


def as_product(node: Node, rewrite: Rewrite) -> Value | None:
    """Return the product that an Einsum of two arrays is; None where it is more than that."""
    values = node.inputs
    if len(values) != 2 or values[0].dtype not in (dtypes.float32, dtypes.float64):
        return None
    (ta, tb), out = parse(node.attrs["equation"])
    if any(REST in term or len(set(term)) < len(term) for term in (ta, tb, out)):
        return None
    batch, inner, rows, columns = roles(ta, tb, out)
    if not inner or not set(rows + columns) <= set(out) or not all(v.is_static and v.size for v in values):
        return None
    made = _Rewriting(node, rewrite)
    sizes: dict[str, int] = {}
    for term, value in zip((ta, tb), values, strict=True):
        sizes |= dict(zip(term, value.dims, strict=True))  # type: ignore[arg-type]
    left, adj_x = made.matrices(values[0], ta, sizes, batch, rows, inner)
    right, adj_y = made.matrices(values[1], tb, sizes, batch, inner, columns)
    if batch:
        product = made.call("BatchMatMulV2", [left, right], adj_x=adj_x, adj_y=adj_y)
    else:
        product = made.call("MatMul", [left, right], transpose_a=adj_x, transpose_b=adj_y)
    found = [*batch, *rows, *columns]
    return made.transposed(made.reshaped(product, [sizes[label] for label in found]), [found.index(t) for t in out])


class _Rewriting:
    """Nodes that are made for another."""

    def __init__(self, node: Node, rewrite: Rewrite):
        self.rewrite, self.origin, self.dtype = rewrite, node.origin, node.inputs[0].dtype

    def call(self, name: str, inputs: Sequence[Value], **attrs: Any) -> Value:
        return self.rewrite.call(name, inputs, {"T": self.dtype, **attrs}, self.origin)

    def matrices(
        self, value: Value, term: Sequence[str], sizes: dict[str, int], batch: Any, rows: Any, columns: Any
    ) -> tuple[Value, bool]:
        """Return an array as matrices, and whether they lie the other way round."""
        turned = [*term] == [*batch, *columns, *rows] != [*batch, *rows, *columns]
        first, second = (columns, rows) if turned else (rows, columns)
        value = self.transposed(value, [term.index(label) for label in (*batch, *first, *second)])
        shape = [math.prod(sizes[label] for label in group) for group in (first, second)]
        return self.reshaped(value, [*[sizes[label] for label in batch], *shape]), turned

    def transposed(self, value: Value, order: list[int]) -> Value:
        if order == sorted(order):
            return value
        return self.call("Transpose", [value, self._vector(order)], Tperm=dtypes.int32)

    def reshaped(self, value: Value, dims: list[int]) -> Value:
        if list(value.dims or ()) == dims:
            return value
        return self.call("Reshape", [value, self._vector(dims)], Tshape=dtypes.int32)

    def _vector(self, numbers: list[int]) -> Value:
        made = constant(np.array(numbers, np.int32), dtypes.int32, self.origin)
        return self.rewrite.add(made).outputs[0]
