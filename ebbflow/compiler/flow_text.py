"""Flows as text, for people and for tests: `flow_parser.parse` reads it back.

It is written in the grammar of Python. Annotated names are what is fed; a literal is a constant; a node is a call with
its inputs (a list where the op takes one), then its attrs as far as the inputs and the defaults do not say them; `run`
names nodes that are to run though nobody takes what they give. A flow inside a node (a region) is a function before it.

    x: float32[4, None]
    two: float32[()] = 2.0
    y: float32[4, None] = Mul(x, two)
    return y

What Python has no literal for (a function, a plan of an engine) is left out, and so is what begins with an underscore.
Knows nodes and values by their fields only, so that `flow` can import it.
"""

from __future__ import annotations

import keyword
import re
from typing import Any

import numpy as np

from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims

MOST_NUMBERS = 1024
"""Constants of more elements are written `...`, unless all elements are the same."""

OPAQUE = object()


def text_of(flow: Any, numbered: bool = False) -> str:
    """Return a flow as text; `numbered` calls values v0, v1, … in order, so that flows that are alike have one text."""
    return "\n".join(_Writer(numbered).lines(flow))


class _Writer:
    def __init__(self, numbered: bool):
        self._numbered = numbered
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._regions = 0

    def lines(self, flow: Any) -> list[str]:
        """Return the statements of a flow."""
        return [*self._inputs(flow), *self._body(flow)]

    def _inputs(self, flow: Any) -> list[str]:
        wishes = ["x" if v.op is None else v.op.name for v in flow.inputs]
        return [f"{self._name(v, n)}: {type_text(v.dtype, v.dims)}" for v, n in zip(flow.inputs, wishes, strict=True)]

    def _body(self, flow: Any) -> list[str]:
        lines = [line for node in flow.nodes for line in self._node(node)]
        lines += [f"run({self._name(n.outputs[0], n.name)})" for n in flow.nodes if n in flow.roots and n.outputs]
        return [*lines, f"return {', '.join(self._names[v] for v in flow.outputs)}".rstrip()]

    def _node(self, node: Any) -> list[str]:
        if node.op.name == "Const":
            value, array = node.outputs[0], np.asarray(node.attrs["value"])
            return [f"{self._name(value, node.name)}: {type_text(value.dtype, array.shape)} = {_array_text(array)}"]
        before, call = self._call(node)
        names = [self._name(v, node.name) for v in node.outputs]
        if not names:
            return [*before, call]
        if len(names) == 1:
            value = node.outputs[0]
            return [*before, f"{names[0]}: {type_text(value.dtype, value.dims)} = {call}"]
        shapes = [f"{name}: {type_text(v.dtype, v.dims)}" for name, v in zip(names, node.outputs, strict=True)]
        return [*before, f"{', '.join(names)} = {call}", *shapes]

    def _call(self, node: Any) -> tuple[list[str], str]:
        signature, before = node.op.signature, []
        arguments = []
        for group in signature.group_inputs([self._names[v] for v in node.inputs], node.attrs):
            arguments.append(f"[{', '.join(group)}]" if isinstance(group, list) else group)
        for name, value in node.attrs.items():
            attr = signature.attrs.get(name)
            if name in signature.inferred or name.startswith("_") or (attr and attr.has_default and _is(value, attr)):
                continue
            if is_region(value):
                lines, value_text = self._region(value)
                before += lines
            elif isinstance(value, tuple) and value and all(map(is_region, value)):
                parts = [self._region(part) for part in value]
                before += [line for lines, _ in parts for line in lines]
                value_text = f"[{', '.join(name for _, name in parts)}]"
            else:
                value_text = literal_text(value)
            if value_text is not OPAQUE:
                arguments.append(f"{name}={value_text}")
        return before, f"{node.op.name}({', '.join(arguments)})"

    def _region(self, flow: Any) -> tuple[list[str], Any]:
        """Return a flow inside a node as a function, and its name."""
        name = f"region{self._regions}"
        self._regions += 1
        outside, self._names = self._names, {}  # constants may be shared, but each function says its own
        lines = [f"def {name}({', '.join(self._inputs(flow))}):", *[f"    {line}" for line in self._body(flow)]]
        self._names = outside
        return lines, name

    def _name(self, value: Any, wish: str) -> str:
        """Return the name of a value: its node's, as far as it can be one."""
        if value not in self._names:
            clean = re.sub(r"\W", "_", wish)
            clean = f"{clean}_" if keyword.iskeyword(clean) or clean == "run" or not clean[:1].isidentifier() else clean
            name, number = clean if clean[:1].isidentifier() else f"v{clean}", 1
            if self._numbered:
                name = f"v{len(self._used)}"
            while name in self._used:
                name = f"{clean}_{number}"
                number += 1
            self._used.add(name)
            self._names[value] = name
        return self._names[value]


def is_region(value: Any) -> bool:
    """Return whether an attr's value is a flow."""
    return hasattr(value, "nodes") and hasattr(value, "roots")


def _is(value: Any, attr: Any) -> bool:
    try:
        return bool(value == attr.default)
    except ValueError:  # arrays
        return False


def type_text(dtype: DType, dims: Dims) -> str:
    """Return a dtype with dims: float32[4, None]; float32[()] is one number, float32 of any shape."""
    if dims is None:
        return dtype.name
    return f"{dtype.name}[{', '.join(map(str, dims)) if dims else '()'}]"


def literal_text(value: Any) -> Any:
    """Return an attr's value as text, or OPAQUE where there is none for it."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.ndarray):
        return OPAQUE
    if isinstance(value, dict):
        items = {key: literal_text(item) for key, item in value.items() if not str(key).startswith("_")}
        return f"dict({', '.join(f'{key}={text}' for key, text in items.items() if text is not OPAQUE)})"
    if isinstance(value, (tuple, list)):
        parts = [literal_text(item) for item in value]
        return OPAQUE if any(part is OPAQUE for part in parts) else f"[{', '.join(parts)}]"
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    return OPAQUE


def _array_text(array: np.ndarray) -> str:
    plain = array if array.dtype.kind in "biufcOSU" else array.astype(np.float64)
    if plain.size > 1 and plain.dtype.kind in "biuf" and (plain == plain.flat[0]).all() and not _mixed_zeros(plain):
        return repr(plain.flat[0].item())
    if plain.size > MOST_NUMBERS:
        return "..."
    return repr(plain.tolist())


def _mixed_zeros(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" and array.flat[0] == 0 and bool(np.signbit(array).any() != np.signbit(array).all())
