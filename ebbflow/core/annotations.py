"""Type annotations as extension types and dispatch read them: which kind one is, what stands inside, its short name.

Knows `typing` and today's spellings (`int | None`, `tuple[int, ...]`). Knows nothing of fields or of calls.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from typing import Any

from ebbflow.core.immutable_dict import ImmutableDict

NoneType = type(None)


def is_union(annotation: Any) -> bool:
    """Return whether an annotation means one of several types."""
    return isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union


def is_tuple(annotation: Any) -> bool:
    """Return whether an annotation says what a tuple holds."""
    return typing.get_origin(annotation) is tuple


def is_list(annotation: Any) -> bool:
    """Return whether an annotation says what a list or sequence holds."""
    return typing.get_origin(annotation) in (list, collections.abc.Sequence)


def is_mapping(annotation: Any) -> bool:
    """Return whether an annotation says what keys and values a mapping has."""
    return typing.get_origin(annotation) in (collections.abc.Mapping, ImmutableDict)


def is_forward_reference(annotation: Any) -> bool:
    """Return whether an annotation is the name of a class that may come later."""
    return isinstance(annotation, (str, typing.ForwardRef))


def arguments(annotation: Any) -> tuple[Any, ...]:
    """Return the types inside an annotation."""
    return typing.get_args(annotation)


def plain(annotation: Any) -> Any:
    """Return an annotation without what `Annotated` adds to it, here and inside."""
    if typing.get_origin(annotation) is typing.Annotated:
        return plain(annotation.__origin__)
    inside = typing.get_args(annotation)
    if not inside or typing.get_origin(annotation) is collections.abc.Callable:
        return annotation
    stripped = tuple(plain(part) for part in inside)
    if stripped == inside:
        return annotation
    if isinstance(annotation, types.UnionType):
        return typing.Union[stripped]  # noqa: UP007  (made from a tuple)
    return annotation.copy_with(stripped) if hasattr(annotation, "copy_with") else annotation.__origin__[stripped]


def shown(annotation: Any) -> str:
    """Return an annotation as messages name it: a class by its name in quotes, what is generic as it is written."""
    return repr(annotation.__name__) if isinstance(annotation, type) and not arguments(annotation) else repr(annotation)
