"""The variables of a user's function that a rewritten statement may change, reached by their cells.

A branch or loop body is a closure over the function's variables. Here they are read, set and put back from outside: by
the cell a closure holds for a name, in the globals, or, for a path such as `self.x`, by attribute. A variable without a
value is UNDEFINED, and setting it to that takes its value away. Lists and dictionaries that are changed in place are
looked at by their contents. Knows closures and values; what is done with them is for `conditionals` and `loops`.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Sequence
from types import CellType, CodeType
from typing import Any

from ebbflow.core import nest
from ebbflow.functions.autograph.lists import StagedList
from ebbflow.functions.autograph.values import belongs_inside, could_be_tensor


class _Undefined:
    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Any = _Undefined()


class Variable:
    """A variable of the user's: a name, or a path of attributes."""

    __slots__ = ("_cell", "_globals", "_steps", "name")

    def __init__(self, name: str, cells: dict[str, CellType], namespace: dict[str, Any]):
        self.name = name
        base, *self._steps = name.split(".")
        self._cell = cells.get(base)
        self._globals = namespace

    def get(self) -> Any:
        """Return the value, UNDEFINED where there is none."""
        try:
            value = self._cell.cell_contents if self._cell is not None else self._globals[self._base]
            for step in self._steps:
                value = getattr(value, step)
        except (ValueError, KeyError, AttributeError):
            return UNDEFINED
        return value

    def set(self, value: Any) -> None:
        """Give the variable a value, or take it away."""
        if self._steps:
            self._set_attribute(value)
        elif self._cell is None:
            if value is UNDEFINED:
                self._globals.pop(self._base, None)
            else:
                self._globals[self._base] = value
        elif value is not UNDEFINED:
            self._cell.cell_contents = value
        elif self.get() is not UNDEFINED:
            del self._cell.cell_contents

    def _set_attribute(self, value: Any) -> None:
        before = self.get()
        if before is value:
            return  # a property, or an object that takes note of assignments, is left in peace
        owner = self._cell.cell_contents if self._cell is not None else self._globals[self._base]
        for step in self._steps[:-1]:
            owner = getattr(owner, step)
        if value is UNDEFINED:
            delattr(owner, self._steps[-1])
        else:
            setattr(owner, self._steps[-1], value)

    @property
    def _base(self) -> str:
        return self.name.partition(".")[0]


class State:
    """All that the functions of one statement may change."""

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        changes: str = "",
        maybe: str = "",
        mutates: str = "",
        drops: str = "",
        notes: str = "",
        fill: str = "",
    ):
        cells: dict[str, CellType] = {}
        for function in functions:
            cells.update(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        namespace = functions[0].__globals__

        def variables(names: str) -> list[Variable]:
            return [Variable(name, cells, namespace) for name in names.split(", ")] if names else []

        self.changes = variables(changes)
        self.maybe = variables(maybe)
        self.fill = variables(fill)
        self.own, self._dropped, foreign = (
            [v for v in variables(names) if is_container(v.get())] for names in (mutates, drops, notes)
        )
        self.containers = [*self.own, *foreign]
        self.rebound = [*self.changes, *self.maybe, *self.fill]
        stored = frozenset().union(*[stores(function.__code__) for function in functions])
        named = {v.name for v in self.rebound}
        others = [Variable(name, cells, namespace) for name in sorted(stored & cells.keys()) if name not in named]
        self._all = [*self.rebound, *others]

    def save(self) -> list[Any]:
        """Return the values of all variables, and what the containers hold."""
        changed = [*self.containers, *self._dropped]
        return [[v.get() for v in self._all], [(v.get(), contents(v.get())) for v in changed]]

    def restore(self, saved: list[Any]) -> None:
        """Give everything the value that it had."""
        for variable, value in zip(self._all, saved[0], strict=True):
            variable.set(value)
        for variable, (container, held) in zip([*self.containers, *self._dropped], saved[1], strict=True):
            variable.set(container)
            refill(container, held)

    def differs(self, variable: Variable, now: Any, was: Any, graph: Any) -> bool:
        """Return whether what a container holds now must be handed on.

        What comes from outside is for Python to take notes in, unless tensors of the graph get into it.
        """
        if isinstance(now, StagedList) or belongs_inside(now, graph):
            return True
        if variable not in self.own:
            return False
        before, after = nest.flatten(was), nest.flatten(now)
        changed = len(before) != len(after) or any(a is not b for a, b in zip(before, after, strict=True))
        return changed and all(could_be_tensor(leaf) for leaf in after)


@functools.lru_cache(maxsize=4096)
def stores(code: CodeType) -> frozenset[str]:
    """Return the names of a closure's variables that its code, or code inside it, sets or deletes."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= stores(constant)
    return frozenset(found)


# --- containers -------------------------------------------------------------------------------------------------------


def is_container(value: Any) -> bool:
    """Return whether a value is changed in place, and its contents can be handed on."""
    return isinstance(value, (list, dict, StagedList))


def contents(container: Any) -> Any:
    """Return what a container holds, as a value of its own."""
    if isinstance(container, StagedList):
        return container.copy()
    return list(container) if isinstance(container, list) else dict(container)


def refill(container: Any, held: Any) -> None:
    """Make a container hold just this."""
    if isinstance(container, StagedList):
        container.handle = held.handle
    elif isinstance(container, list):
        if len(container) != len(held) or any(a is not b for a, b in zip(container, held, strict=True)):
            container[:] = held
    elif container.keys() != held.keys() or any(container[key] is not held[key] for key in held):
        container.clear()
        container.update(held)
