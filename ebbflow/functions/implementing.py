"""Functions that say which op they implement (`experimental_implements`): converters put that op in place of a call.

So that nothing but the arguments goes into a call, these are tensors whatever was given (numbers, lists, variables'
values), and the body may not use anything from outside. Knows values and graphs of functions.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.functions.func_graph import FuncGraph


def as_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments of which each is one tensor (or a spec of one)."""
    return tuple(_tensor(arg) for arg in args), {name: _tensor(arg) for name, arg in kwargs.items()}


def _tensor(value: Any) -> Any:
    return value if value is None or isinstance(value, (TypeSpec, CompositeTensor)) else convert(value)


def note_attributes(graph: FuncGraph, attributes: dict[str, Any]) -> None:
    """Have a body say its function's attributes where it is written; one that implements an op is closed in itself."""
    graph.attributes = {name: _as_call(value) if name == "_implements" else value for name, value in attributes.items()}
    if "_implements" in attributes and graph.external_captures:
        names = ", ".join(repr(getattr(t, "name", t)) for t in graph.external_captures)
        raise AssertionError(
            f"a function that implements {attributes['_implements']!r} may use nothing but its arguments, but "
            f"'{graph.name}' uses {names} from outside; variables are always captured: give their values as arguments"
        )


def _as_call(implements: str) -> Any:
    """Return the name of an op as it is; one with attrs, given as the text of a NameAttrList, as that message."""
    if not implements.lstrip().startswith("name:"):
        return implements
    from google.protobuf import text_format

    return messages.AttrValue(func=text_format.Parse(implements, messages.NameAttrList()))
