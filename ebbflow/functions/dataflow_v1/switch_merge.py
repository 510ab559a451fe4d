"""`switch` and `merge`: the two ways of a value, as TensorFlow 1's own modules call them.

Thin forms of the ops `Switch` and `Merge`. What graphs built with them mean is the business of `functionalize`, which
importing this brings along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import DTypeLike
from ebbflow.functions.dataflow_v1 import functionalize  # noqa: F401  (has the runtime make such graphs functional)
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw


def switch(data: Any, pred: Any, dtype: DTypeLike | None = None, name: str | None = None) -> tuple[Any, Any]:
    """Return `data` as (what it is if `pred` is false, what it is if `pred` is true)."""
    data = convert(data, None if dtype is None else as_dtype(dtype), name="data")
    reference = type(data) is SymbolicTensor and data.dtype._is_ref_dtype
    found = (raw.RefSwitch if reference else raw.Switch)(data, pred, name=name or "Switch")
    return found.output_false, found.output_true


def merge(inputs: Sequence[Any], name: str | None = None) -> Any:
    """Return the input that is there, and its number."""
    if any(x is None for x in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    if any(isinstance(x, IndexedSlices) for x in inputs):
        rows = [x if isinstance(x, IndexedSlices) else None for x in inputs]
        if None in rows:
            raise TypeError("merge takes tensors or IndexedSlices, not both: make them tensors first")
        values, number = merge([r.values for r in rows], name)  # type: ignore[union-attr]
        indices, _ = merge([r.indices for r in rows])  # type: ignore[union-attr]
        shapes = [r.dense_shape for r in rows]  # type: ignore[union-attr]
        shape = merge(shapes)[0] if all(s is not None for s in shapes) else None
        return IndexedSlices(values, indices, shape), number
    return raw.Merge([convert(x) for x in inputs], name=name or "Merge")


def in_xla_context(graph: Any) -> bool:
    """Return whether a graph, or one around it, is compiled as a whole."""
    while graph is not None:
        if getattr(graph, "jit_compile", None):
            return True
        graph = getattr(graph, "_around", None)
    return False


def get_enclosing_xla_context() -> Any:
    """Return the graph being built if it, or one around it, is compiled as a whole; None elsewhere."""
    graph = context.current_graph()
    return graph if in_xla_context(graph) else None
