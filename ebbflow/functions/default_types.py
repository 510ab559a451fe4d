"""`tensorflow.core.function.trace_type.default_types`: trace types as programs make them by hand.

What tracing itself finds are the types of `trace_types`: here are the calls that put such types together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core.spec import TensorSpec
from ebbflow.functions.trace_types import Container, Literal, Weakref

__all__ = ["TENSOR", "Attrs", "Dict", "List", "Literal", "NamedTuple", "Tuple", "Weakref"]

TENSOR: Callable[..., Any] = TensorSpec


def List(*components: Any) -> Container:
    """Return the type of a list whose elements have these types.

    >>> List(Literal(1), Literal("a"))
    List[Literal[1], Literal['a']]
    """
    return Container([None] * len(components), components)


def Tuple(*components: Any) -> Container:
    """Return the type of a tuple whose elements have these types."""
    return Container((None,) * len(components), components)


def Dict(mapping: Mapping[Any, Any], placeholder_type: type | None = None) -> Container:
    """Return the type of a dictionary whose values have these types."""
    form = (placeholder_type or dict)(dict.fromkeys(mapping))
    held = Container(form, [None] * len(mapping))
    return Container(form, [mapping[key] for key in held.keys])


class NamedTuple:
    """The types of named tuples."""

    @classmethod
    def from_type_and_attributes(cls, named_tuple_type: Any, attributes: Sequence[Any]) -> Container:
        """Return the type of a named tuple whose fields have these types."""
        return Container(named_tuple_type(*[None] * len(attributes)), attributes)


class Attrs:
    """The types of attrs classes."""

    @classmethod
    def from_type_and_attributes(cls, attrs_type: Any, attributes: Sequence[Any]) -> Container:
        """Return the type of an attrs class whose fields have these types."""
        return Container(attrs_type(*[None] * len(attributes)), attributes)
