"""Whether a value is of the type that an annotation says, for choosing among functions by the types of arguments.

A match counts for a choice only where some argument is of a class that choices are made for (`dispatchable`): extension
types, ragged and sparse tensors, and classes that were registered. Knows annotations; knows nothing of functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ebbflow.core import annotations as says
from ebbflow.core.composite import CompositeTensor

NO_MATCH, MATCH, MATCH_DISPATCHABLE = 0, 1, 2

Class = TypeVar("Class", bound=type)
_dispatchable: list[type] = [CompositeTensor]


def register_dispatchable_type(cls: Class) -> Class:
    """Let functions be chosen by arguments of this class; a decorator."""
    if cls not in _dispatchable:
        _dispatchable.append(cls)
        make_type_checker.cache_clear()
    return cls


class TypeChecker:
    """Says of a value whether it is of one type; `check` gives one of the three answers."""

    def __init__(self, annotation: Any, check: Callable[[Any], int]) -> None:
        self.annotation = annotation
        self.check = check

    def __repr__(self) -> str:
        return f"<TypeChecker of {self.annotation}>"


@functools.cache
def make_type_checker(annotation: Any) -> TypeChecker:
    """Return the checker of an annotation: a class, a union, or a list of what has a checker."""
    if says.is_union(annotation):
        options = [make_type_checker(part).check for part in says.arguments(annotation)]
        return TypeChecker(annotation, lambda value: max(option(value) for option in options))
    if says.is_list(annotation):
        (inside,) = says.arguments(annotation)
        item = make_type_checker(inside).check
        return TypeChecker(annotation, lambda value: _check_list(value, item))
    if annotation is None:
        annotation = says.NoneType
    if isinstance(annotation, type) and not says.arguments(annotation):
        cls: Any = annotation
        answer = MATCH_DISPATCHABLE if issubclass(cls, tuple(_dispatchable)) else MATCH
        return TypeChecker(cls, lambda value: answer if isinstance(value, cls) else NO_MATCH)
    raise ValueError(f"Type annotation {annotation} is not currently supported by dispatch.")


def _check_list(value: Any, item: Callable[[Any], int]) -> int:
    if not isinstance(value, (list, tuple)) or not value:
        return NO_MATCH
    answers = [item(part) for part in value]
    return NO_MATCH if NO_MATCH in answers else max(answers)
