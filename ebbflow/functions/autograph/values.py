"""Values as branches and loops see them: which are tensors of a graph, which could be, and how to speak of them.

A condition or an iterated value decides by `is_staged` whether a statement runs in Python or becomes part of the graph.
Knows tensors and graphs, nothing of statements.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dims, dims_str
from ebbflow.core.tensor import EagerTensor, Tensor, is_tensor
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor

PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def is_staged(value: Any) -> bool:
    """Return whether a value is a tensor (or variable) whose value nobody knows while the graph is built."""
    kind = value.__class__
    if kind is SymbolicTensor:
        return True
    if kind is bool or value is None or kind is EagerTensor or not context.graph_scopes:
        return type(value) is SymbolicTensor
    if isinstance(value, CompositeTensor) or not is_tensor(value):
        return False
    return type(value) is SymbolicTensor or not (isinstance(value, EagerTensor) or context.executing_eagerly())


def is_staged_ragged(value: Any) -> bool:
    """Return whether a value is a ragged tensor in a graph: even where it is eager, its rows are nodes there."""
    return isinstance(value, RaggedTensor) and not context.executing_eagerly()


def could_be_tensor(leaf: Any) -> bool:
    """Return whether a leaf of a structure is a tensor, or a number, text or array that can become one."""
    return isinstance(leaf, (Tensor, *PLAIN)) or (is_tensor(leaf) and not isinstance(leaf, CompositeTensor))


def belongs_inside(structure: Any, graph: Any) -> bool:
    """Return whether a structure holds tensors that `graph` cannot use: of a branch or body traced inside it."""
    around = set()
    while graph is not None:
        around.add(id(graph))
        graph = getattr(graph, "_around", None)
    leaves = nest.flatten(structure, expand_composites=True)
    return any(type(leaf) is SymbolicTensor and id(leaf.graph) not in around for leaf in leaves)


def same_plain(a: Any, b: Any) -> bool:
    """Return whether two values are one object, or equal Python numbers or texts."""
    if a is b:
        return True
    return type(a) is type(b) and type(a) in (bool, int, float, str, bytes) and a == b


def condition(value: Any, statement: str) -> Any:
    """Return a staged condition as a scalar; raise where it is no boolean, or has not one element."""
    tensor = convert(value)
    dims = tensor._dims
    if dims == () and tensor.dtype.base_dtype is dtypes.bool:
        return tensor
    if tensor.dtype.base_dtype is not dtypes.bool or not (dims is None or all(n in (1, None) for n in dims)):
        raise ValueError(
            f"condition of {statement} expected to be `tf.bool` scalar, got {tensor}; to use as boolean Tensor, use "
            "`tf.cast`; to check for None, use `is not None`"
        )
    return raw.Reshape(tensor, np.zeros(0, np.int32))


# --- words ------------------------------------------------------------------------------------------------------------


def shape_text(dims: Dims) -> str:
    """Return a shape as messages show it."""
    return dims_str(dims)


def kind_text(value: Any) -> str:
    """Return what a value is, in a few words: its dtype and shape, or its Python type."""
    if isinstance(value, Tensor):
        return f"{value.dtype.name} of shape {dims_str(value._dims)}"
    return f"Python {type(value).__name__}" if isinstance(value, PLAIN) else type(value).__name__


def place_text(code: CodeType) -> str:
    """Return where a statement stands in the user's file; its functions begin at its line."""
    return f"{code.co_filename}:{code.co_firstlineno}"


def origin_text(name: str, value: Any) -> str:
    """Return which line of the user's made a tensor, where that is known."""
    line = value.op.line if type(value) is SymbolicTensor else None
    return "" if line is None else f"\n  '{name}' was made by {value.op.type} at {line}"
