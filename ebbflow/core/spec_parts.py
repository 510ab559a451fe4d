"""What types of values are made of, compared part by part: shapes, dtypes, other types, structures of them.

A `TypeSpec` says by `_serialize` what it is made of; whether two are equal, compatible, one narrower than the other,
and what both have in common follows from their parts. Knows structures and the questions that parts answer themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


class Unlike(Exception):  # noqa: N818  (says what was found, is no error of anybody's)
    """Two parts have nothing in common."""


def key(part: Any) -> Any:
    """Return what equal parts, and only equal ones, have in common; it can be hashed."""
    if isinstance(part, (np.ndarray, np.generic)):
        return ("array", str(part.dtype), part.shape, _hashable(part.tolist()))
    if hasattr(part, "_dims") and hasattr(part, "rank"):
        return ("shape", part._dims)
    if isinstance(part, Mapping):
        return (dict, *((name, key(value)) for name, value in sorted(part.items(), key=lambda item: repr(item[0]))))
    if isinstance(part, (list, tuple)):
        return (_kind(part), *map(key, part))
    return part if getattr(part, "__hash__", None) is not None else repr(part)


def _hashable(numbers: Any) -> Any:
    return tuple(map(_hashable, numbers)) if isinstance(numbers, list) else numbers


def _kind(part: Any) -> Any:
    """Return what sequences of one form have in common: named tuples go by name and fields, lists are tuples."""
    fields = getattr(part, "_fields", None)
    return "sequence" if fields is None else (type(part).__name__, tuple(fields))


def same_form(a: Any, b: Any) -> bool:
    """Return whether two parts are structures of one form, or neither is a structure."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return isinstance(a, Mapping) and isinstance(b, Mapping) and set(a) == set(b)
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        both = isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))
        return both and len(a) == len(b) and _kind(a) == _kind(b)
    return True


def _children(part: Any) -> list[Any] | None:
    if isinstance(part, Mapping):
        return [part[name] for name in sorted(part, key=repr)]
    return list(part) if isinstance(part, (list, tuple)) else None


def holds(question: Callable[[Any, Any], bool], a: Any, b: Any) -> bool:
    """Return whether a question is answered with yes for all parts of two structures of one form."""
    if not same_form(a, b):
        return False
    inside = _children(a)
    if inside is None:
        return question(a, b)
    return all(holds(question, x, y) for x, y in zip(inside, _children(b) or (), strict=True))


def compatible(a: Any, b: Any) -> bool:
    """Return whether what two types are made of can be the same."""
    return holds(lambda x, y: x.is_compatible_with(y) if hasattr(x, "is_compatible_with") else key(x) == key(y), a, b)


def narrower(a: Any, b: Any) -> bool:
    """Return whether what one type is made of is as narrow as the other, or narrower."""
    return holds(lambda x, y: x.is_subtype_of(y) if hasattr(x, "is_subtype_of") else key(x) == key(y), a, b)


def common(part: Any, others: Sequence[Any]) -> Any:
    """Return what a part and others have in common; raise Unlike where that is nothing."""
    if not all(same_form(part, other) for other in others):
        raise Unlike
    if isinstance(part, Mapping):
        return {name: common(value, [other[name] for other in others]) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        found = [common(value, [other[i] for other in others]) for i, value in enumerate(part)]
        return type(part)(*found) if hasattr(part, "_fields") else type(part)(found)
    if hasattr(part, "most_specific_common_supertype"):
        wider = part.most_specific_common_supertype(others)
        if wider is None:
            raise Unlike
        return wider
    if any(type(other) is not type(part) or key(other) != key(part) for other in others):
        raise Unlike
    return part


def mapped(function: Callable[[Any], Any], part: Any) -> Any:
    """Return a part with every leaf of it replaced by what a function gives."""
    if isinstance(part, Mapping):
        return {name: mapped(function, value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        found = [mapped(function, value) for value in part]
        return type(part)(*found) if hasattr(part, "_fields") else tuple(found)
    return function(part)
