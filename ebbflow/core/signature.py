"""Op interfaces as text: one line says an op's inputs, outputs, attributes and flags.

    BiasAdd(value:T, bias:T) -> (output:T) | T: numbers; data_format: string in [NHWC,NCHW] = NHWC

The form is the one TensorFlow's own interfaces are listed in, so a declaration can be compared with them word for word.
`N*T` is a list of N tensors of type T, `list(T)` a list typed by the type-list attr T, `Ref(T)` a reference. Behind the
last bar stand flags (`stateful`, `commutative`, `aggregate`). `GROUPS` are short names for lists of types.

A call has its tensors flat (a node's inputs) or grouped (a kernel's arguments, a list where a list is declared). How
one becomes the other is known here and nowhere else.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType

_NUMBERS = (
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
    "uint16,complex128,half,uint32,uint64"
)

GROUPS = {
    "numbers": _NUMBERS,
    "reals": "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64",
    "floats": "bfloat16,half,float,double",
    "floats_complex": "bfloat16,half,float,double,complex64,complex128",
    "integers": "int8,int16,int32,int64,uint8,uint16,uint32,uint64",
    "complexes": "complex64,complex128",
    "quantized": "qint8,quint8,qint32,qint16,quint16",
    "index": "int32,int64",
}


@dataclass(frozen=True)
class Arg:
    """One declared input or output."""

    name: str
    type: DType | None  # a fixed type, or None when an attr says it
    type_attr: str | None  # the attr that says the type (of each, for a list)
    number_attr: str | None  # the attr that counts the tensors of a list of one type
    is_type_list: bool  # typed one by one by a list(type) attr
    is_ref: bool

    @functools.cached_property
    def is_list(self) -> bool:
        return self.is_type_list or self.number_attr is not None

    def count(self, attrs: Mapping[str, Any]) -> int:
        """Return how many tensors the argument stands for in a call with these attrs."""
        if self.number_attr is not None:
            return attrs[self.number_attr]
        return len(attrs[self.type_attr]) if self.is_type_list else 1  # type: ignore[index]

    def types(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Return the type of each tensor that the argument stands for."""
        if self.is_type_list:
            return list(attrs[self.type_attr])  # type: ignore[index]
        dtype = self.type if self.type is not None else attrs[self.type_attr]  # type: ignore[index]
        return [dtype] * attrs[self.number_attr] if self.number_attr is not None else [dtype]


@dataclass(frozen=True)
class Attr:
    """One declared attribute."""

    name: str
    kind: str  # int, float, bool, string, type, shape, tensor, func, or list(one of these)
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None
    default: Any = None
    has_default: bool = False


@dataclass(frozen=True)
class Signature:
    """An op's whole interface."""

    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, Attr]
    flags: frozenset[str]
    inferred: frozenset[str] = field(default_factory=frozenset)  # attrs that the inputs decide

    @functools.cached_property
    def takes_lists(self) -> bool:
        """Whether an input is a list: flat and grouped inputs then differ."""
        return any(arg.is_list for arg in self.inputs)

    @functools.cached_property
    def functions(self) -> frozenset[str]:
        """The attrs that are functions."""
        return frozenset(name for name, attr in self.attrs.items() if attr.kind == "func")

    @functools.cached_property
    def holds_functions(self) -> bool:
        """Whether an attr is a function, or a list of them."""
        return any("func" in attr.kind for attr in self.attrs.values())

    @functools.cached_property
    def gives_one(self) -> bool:
        """Whether the result is one tensor, not a list or several: kernels and shape rules then give it bare."""
        return len(self.outputs) == 1 and not self.outputs[0].is_list

    @functools.cached_property
    def gives_lists_among(self) -> bool:
        """Whether there are several results and some are lists: flat and grouped results then differ."""
        return len(self.outputs) > 1 and any(arg.is_list for arg in self.outputs)

    def input_types(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Return the type of each input tensor of a call with these attrs."""
        if self.takes_lists:
            return [dtype for arg in self.inputs for dtype in arg.types(attrs)]
        return [arg.type or attrs[arg.type_attr] for arg in self.inputs]  # type: ignore[index]

    def each_input(self, attrs: Mapping[str, Any]) -> Sequence[Arg]:
        """Return for each input tensor of a call, in order, the argument it belongs to."""
        return [arg for arg in self.inputs for _ in range(arg.count(attrs))] if self.takes_lists else self.inputs

    def group_inputs(self, values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
        """Return one value per input tensor as the op takes them: lists where it declares lists."""
        return _group(self.inputs, values, attrs) if self.takes_lists else list(values)

    def group_outputs(self, values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
        """Return one value per output tensor as the op declares them."""
        return _group(self.outputs, values, attrs)

    def flat_results(self, results: Any) -> Sequence[Any]:
        """Return what a kernel gave as a sequence with one item per output tensor."""
        if self.gives_one:
            return (results,)
        if self.gives_lists_among:
            pairs = zip(results, self.outputs, strict=True)
            return [item for result, arg in pairs for item in (result if arg.is_list else (result,))]
        return results if self.outputs else ()

    def flat_dims(self, dims: Any) -> list[Any]:
        """Return what a shape rule gave as a list with the dims of each output tensor: lists it gives flat already."""
        if self.gives_one:
            return [dims]
        return list(dims) if self.outputs else []


def _group(args: Sequence[Arg], values: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    grouped: list[Any] = []
    at = 0
    for arg in args:
        if arg.is_list:
            count = arg.count(attrs)
            grouped.append(list(values[at : at + count]))
            at += count
        else:
            grouped.append(values[at])
            at += 1
    return grouped


_HEAD = re.compile(r"\s*(\w+)\s*\((.*?)\)\s*->\s*\((.*?)\)\s*$")
_ATTR = re.compile(r"(\w+)\s*:\s*(list\(\w+\)|\w+)(?:\s+in\s+\[(.*?)\])?(?:\s*>=\s*(-?\d+))?(?:\s*=\s*(.*))?$", re.S)
_KINDS = ("int", "float", "bool", "string", "type", "shape", "tensor", "func")


def parse(text: str) -> Signature:
    """Return the Signature that `text` spells out."""
    head, *rest = (part.strip() for part in re.split(r"\s\|\s", text))
    # A list input's "(T)" would end the argument list too early for a plain match: hide it first.
    found = _HEAD.match(re.sub(r"(list|Ref)\(([\w*]+)\)", r"\1<\2>", head))
    if not found:
        raise ValueError(f"not an op signature: {text!r}")
    attrs: dict[str, Attr] = {}
    flags: frozenset[str] = frozenset()
    for part in rest:
        if ":" in part:
            attrs = {a.name: a for a in map(_parse_attr, re.split(r";\s*", part))}
        else:
            flags = frozenset(part.split())
    inputs = tuple(_parse_arg(a, attrs) for a in _split(found[2]))
    outputs = tuple(_parse_arg(a, attrs) for a in _split(found[3]))
    inferred = frozenset(x for a in inputs for x in (a.type_attr, a.number_attr) if x)
    return Signature(found[1], inputs, outputs, attrs, flags, inferred)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _parse_arg(text: str, attrs: dict[str, Attr]) -> Arg:
    name, _, kind = (part.strip() for part in text.partition(":"))
    is_ref = kind.startswith("Ref<")
    if is_ref:
        kind = kind[4:-1]
    number = None
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
    if kind.startswith("list<"):
        return Arg(name, None, kind[5:-1], None, True, is_ref)
    if kind in attrs:
        return Arg(name, None, kind, number, attrs[kind].kind == "list(type)", is_ref)
    return Arg(name, _type(kind), None, number, False, is_ref)


def _parse_attr(text: str) -> Attr:
    found = _ATTR.match(text.strip())
    if not found:
        raise ValueError(f"not an attribute: {text!r}")
    name, kind, allowed, minimum, default = found.groups()
    if kind in GROUPS:
        kind, allowed = "type", GROUPS[kind]
    base = kind[5:-1] if kind.startswith("list(") else kind
    if base not in _KINDS:
        raise ValueError(f"unknown kind of attribute in {text!r}")
    choices = tuple(_literal(base, item) for item in _split(_expand(allowed))) if allowed is not None else None
    return Attr(
        name,
        kind,
        choices,
        int(minimum) if minimum is not None else None,
        _default(kind, base, default.strip()) if default is not None else None,
        default is not None,
    )


def _expand(allowed: str) -> str:
    return ",".join(GROUPS.get(item, item) for item in _split(allowed))


def _default(kind: str, base: str, text: str) -> Any:
    if kind == base:
        return _literal(base, text)
    return tuple(_literal(base, item) for item in _items(text[1:-1]))


def _items(text: str) -> list[str]:
    """Split on commas that are outside brackets: "[],[1]" is two items."""
    return [item for item in re.findall(r"\[[^\]]*\]|[^,]+", text) if item.strip()]


def _literal(kind: str, text: str) -> Any:
    text = text.strip()
    if kind == "string":
        return ast.literal_eval(text) if text.startswith('"') else text
    if kind == "bool":
        return text == "true"
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "type":
        return _type(text)
    if kind == "shape":
        return None if text == "?" else tuple(int(n) for n in _split(text[1:-1]))
    return text


def _type(name: str) -> DType:
    return dtypes.as_dtype(name)
