"""`switch`, `merge`, `enter`, `exit`: the ways of values through choices and loops, as TensorFlow 1 has them.

Thin forms of the ops of these names, for tensors, references and what is made of several tensors. What graphs built
with them mean is the business of `functionalize`, which importing this brings along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import DTypeLike
from ebbflow.functions.dataflow_v1 import functionalize  # noqa: F401  (has the runtime make such graphs functional)
from ebbflow.functions.trace_places import compiled_whole
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw


def switch(data: Any, pred: Any, dtype: DTypeLike | None = None, name: str | None = None) -> tuple[Any, Any]:
    """Return `data` as (what it is if `pred` is false, what it is if `pred` is true)."""
    if isinstance(data, CompositeTensor):
        ways = [switch(part, pred, name=name) for part in nest.flatten(data, expand_composites=True)]
        false, true = ([way[side] for way in ways] for side in (0, 1))
        return nest.pack_sequence_as(data, false, True), nest.pack_sequence_as(data, true, True)
    data = convert(data, None if dtype is None else as_dtype(dtype), name="data")
    found = (raw.RefSwitch if _is_reference(data) else raw.Switch)(data, pred, name=name or "Switch")
    return found.output_false, found.output_true


def switch_ref_or_tensor(data: Any, pred: Any, name: str | None = "Switch") -> tuple[Any, Any]:
    """Return the two ways of a tensor or a variable, which stays one."""
    return switch(_reference_of(data), pred, name=name)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Return what stands for `data` inside the loop called `frame_name`."""

    def one(part: Any) -> Any:
        part = _reference_of(part) if use_ref else convert(part)
        op = raw.RefEnter if use_ref and _is_reference(part) else raw.Enter
        inside = op(
            part, frame_name=frame_name, is_constant=is_constant, parallel_iterations=parallel_iterations, name=name
        )
        if use_input_shape:
            inside.set_shape(part.shape)
        return inside

    return _each(one, data)


def exit(data: Any, name: str | None = None) -> Any:
    """Return `data` as it is after the loop that it is in."""
    return _each(lambda part: (raw.RefExit if _is_reference(part) else raw.Exit)(convert(part), name=name), data)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """Return `data` as it is in the next turn of the loop that it is in."""
    return _each(
        lambda part: (raw.RefNextIteration if _is_reference(part) else raw.NextIteration)(convert(part), name=name),
        data,
    )


def identity_of_any(data: Any, name: str | None = None) -> Any:
    """Return the same value anew, of a tensor, of a variable, which stays one, or of something made of several."""

    def one(part: Any) -> Any:
        part = _reference_of(part)
        return (raw.RefIdentity if _is_reference(part) else raw.Identity)(part, name=name)

    return _each(one, data)


def _each(function: Callable[[Any], Any], data: Any) -> Any:
    if not isinstance(data, CompositeTensor):
        return function(data)
    parts = [function(part) for part in nest.flatten(data, expand_composites=True)]
    return nest.pack_sequence_as(data, parts, expand_composites=True)


def _reference_of(data: Any) -> Any:
    handle = getattr(data, "_tape_handle", None)
    return handle if handle is not None and _is_reference(handle) else convert(data)


def _is_reference(data: Any) -> bool:
    return type(data) is SymbolicTensor and data.dtype._is_ref_dtype


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
    return compiled_whole(graph)


def get_enclosing_xla_context() -> Any:
    """Return the graph being built if it, or one around it, is compiled as a whole; None elsewhere."""
    graph = context.current_graph()
    return graph if in_xla_context(graph) else None
