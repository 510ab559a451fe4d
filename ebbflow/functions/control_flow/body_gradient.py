"""The gradient of a body, be it a branch or the turn of a loop: a graph that takes tensors of the forward body.

Asked for one, it finds a way to have it, once: how is for the kind of node to say (`resolve`). Other tensors are
captured as in any function.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.symbolic import SymbolicTensor

_INTEGERS = (dtypes.int32, dtypes.int64)


def made_of_numbers(tensor: Any) -> bool:
    """Return whether a tensor is an index, or the like, put together from numbers: they are kept in its place."""
    return tensor.op.type == "Pack" and tensor.dtype in _INTEGERS and len(tensor._dims) == 1


class BodyGradient(FuncGraph):
    """A graph with the gradient of `forward`, the body of `node`."""

    def __init__(self, node: Any, forward: FuncGraph, outer: Any):
        self._node = node
        self._forward = forward
        self.forward_graph = forward.base
        super().__init__(f"{forward.name}_grad", outer)
        self._resolved: dict[int, tuple[Any, Any]] = {}

    def resolve(self, tensor: Any) -> Any:
        """Return a tensor of this graph with the value of one of the forward body."""
        raise NotImplementedError(f"{type(self).__name__} must say how it comes by a tensor of the forward body")

    def made_again(self, tensor: Any) -> Any:
        """Return what the node that made a tensor of the forward body makes here."""
        node = tensor.op
        taken = node._op.signature.group_inputs([self.take(t) for t in node._inputs], node._attrs)
        return node._op(*taken, **{k: node._attrs[k] for k in node._op.kernel_attrs})

    def is_forward(self, tensor: Any) -> bool:
        """Return whether a tensor is one of the forward body."""
        return type(tensor) is SymbolicTensor and tensor.graph is self._forward.base

    def capture(self, tensor: Any, name: str | None = None) -> Any:
        """Return the tensor inside that stands for one outside."""
        if not self.is_forward(tensor):
            return super().capture(tensor, name)
        found = self._resolved.get(id(tensor))
        if found is None:
            with context.scope(self), self.control_dependencies(None), self.name_scope(None):
                found = self._resolved[id(tensor)] = (tensor, self.resolve(tensor))
        return found[1]
