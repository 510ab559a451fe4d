"""One use of an op, as its gradient rule sees it.

`call.value`, `call.bias`, `call.output`, `call.data_format`: inputs, outputs and attrs under their declared names; a
list input or output is a list. Rules registered by users with `tf.RegisterGradient` find `inputs`, `outputs`,
`get_attr`, `type` and `name` as on a graph's Operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Call:
    """An op, its inputs and outputs (flat) and its attrs."""

    __slots__ = ("attrs", "inputs", "line", "node", "op", "outputs", "wanted")

    def __init__(
        self,
        op: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        attrs: dict[str, Any],
        line: Any = None,
        node: Any = None,
    ):
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.line = line
        self.node = node
        self.wanted: Sequence[bool] | None = None

    def wants(self, index: int) -> bool:
        """Return whether anybody will use the gradient of input `index`: a rule may skip the others' work."""
        return self.wanted is None or self.wanted[index]

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def name(self) -> str:
        return self.node.name if self.node is not None else self.op.name

    def get_attr(self, name: str) -> Any:
        """Return the attr's value."""
        if self.node is not None:
            return self.node.get_attr(name)
        if name not in self.attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return self.attrs[name]

    def __getattr__(self, name: str) -> Any:
        signature = self.op.signature
        for args, tensors in ((signature.inputs, self.inputs), (signature.outputs, self.outputs)):
            at = 0
            for arg in args:
                if arg.name == name:
                    return list(tensors[at : at + arg.count(self.attrs)]) if arg.is_list else tensors[at]
                at += arg.count(self.attrs) if arg.is_list else 1
        if name in self.attrs:
            return self.attrs[name]
        if self.node is not None and hasattr(self.node, name):
            return getattr(self.node, name)
        raise AttributeError(f"a call of {self.op.name} has no input, output or attr named {name!r}")

    def __repr__(self) -> str:
        return f"<call of {self.op.name}{f' at {self.line}' if self.line else ''}>"
