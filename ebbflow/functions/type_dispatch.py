"""Which of several functions serves a call of a type: the narrowest whose type is wide enough.

`TypeDispatchTable` holds types in the order they came; `FunctionCache` functions by their types, apart for each context
(`FunctionContext`: where a function was traced). Knows function types only.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.functions.function_types import FunctionType


@dataclasses.dataclass(frozen=True)
class FunctionContext:
    """Where a function was traced: anything hashable, and what kind of scope it was."""

    context: Any = None
    scope_type: Any = None


class TypeDispatchTable:
    """Types of functions, in the order they were added."""

    def __init__(self) -> None:
        self._targets: OrderedDict[FunctionType, None] = OrderedDict()
        self._answers: dict[FunctionType, FunctionType] = {}  # what was asked before the last change

    @property
    def targets(self) -> Iterable[FunctionType]:
        """All types."""
        return self._targets.keys()

    def add_target(self, target: FunctionType) -> None:
        """Add a type; one that is there keeps its place."""
        self._targets[target] = None
        self._answers.clear()

    def delete(self, target: FunctionType) -> None:
        """Take a type out, if it is there."""
        self._targets.pop(target, None)
        self._answers.clear()

    def clear(self) -> None:
        """Take out all types."""
        self._targets.clear()
        self._answers.clear()

    def dispatch(self, request: FunctionType) -> FunctionType | None:
        """Return the first narrowest type that serves a call of type `request`, or None."""
        if request in self._targets:
            return request
        found = self._answers.get(request)
        if found is None:
            for target in self._targets:
                if request.is_supertype_of(target) and (found is None or target.is_supertype_of(found)):
                    found = target
            if found is not None:
                self._answers[request] = found
        return found

    def try_generalizing_function_type(self, target: FunctionType) -> FunctionType:
        """Return a type that serves `target` and those of the table it has something in common with."""
        wider = target
        for other in self._targets:
            wider = wider.most_specific_common_subtype([other]) or wider
        return wider


class FunctionCache:
    """Functions (which say their `function_type`) by type, apart for each context."""

    def __init__(self) -> None:
        self._functions: dict[tuple[Any, FunctionType], Any] = {}
        self._tables: dict[Any, TypeDispatchTable] = {}
        self.makers: dict[Any, Any] = {}
        """What makes the functions, for whoever keeps more than the functions here."""

    def lookup(self, function_type: FunctionType, context: Any = None) -> Any:
        """Return the function that serves a call of a type, or None."""
        table = self._tables.get(context or FunctionContext())
        found = None if table is None else table.dispatch(function_type)
        return None if found is None else self._functions[context or FunctionContext(), found]

    def add(self, fn: Any, context: Any = None) -> None:
        """Keep a function under its type."""
        where = context or FunctionContext()
        self._functions[where, fn.function_type] = fn
        self._tables.setdefault(where, TypeDispatchTable()).add_target(fn.function_type)

    def delete(self, function_type: FunctionType, context: Any = None) -> bool:
        """Let go of the function of a type, and return whether there was one."""
        where = context or FunctionContext()
        if self._functions.pop((where, function_type), None) is None:
            return False
        self._tables[where].delete(function_type)
        return True

    def generalize(self, context: Any, function_type: FunctionType) -> FunctionType:
        """Return a type that serves this one and what is kept and like it."""
        table = self._tables.get(context)
        return function_type if table is None else table.try_generalizing_function_type(function_type)

    def clear(self) -> None:
        """Let go of all functions."""
        self._functions.clear()
        self._tables.clear()
        self.makers.clear()

    def values(self) -> Sequence[Any]:
        """Return all functions."""
        return list(self._functions.values())

    def __len__(self) -> int:
        return len(self._functions)
