"""What is asked of a graph: transforms and their parameters, as text, and the ends of the graph.

    fold_constants(ignore_errors=true) remove_nodes(op=Identity, op=CheckNumerics)

A parameter may come several times, and its value may stand in quotes. Knows text; knows nothing of graphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ebbflow.ops.sizes import invalid

_NAME = re.compile(r"[A-Za-z0-9_]+")
_VALUE = re.compile(r"[A-Za-z0-9_\-./]+")
_QUOTED = re.compile(r'"([^"]*)"')

FLAGS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Request:
    """One transform that is asked for, of a graph between `inputs` and `outputs` (names of nodes)."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ends(self) -> frozenset[str]:
        """The nodes whose names stay."""
        return frozenset(self.inputs + self.outputs)

    def one(self, name: str, default: str) -> str:
        """Return the value of a parameter that may come once."""
        values = self.params.get(name, [default])
        if len(values) > 1:
            raise invalid(f"Expected a single '{name}' parameter, but found {len(values)} occurrences")
        return values[0]

    def number(self, name: str, default: int) -> int:
        """Return the value of a parameter that is a whole number."""
        text = self.one(name, str(default))
        try:
            return int(text)
        except ValueError:
            raise invalid(f"Couldn't interpret the {name} argument as a number:{text}") from None

    def flag(self, name: str, default: bool = False) -> bool:
        """Return the value of a parameter that is true or false."""
        text = self.one(name, str(default).lower())
        if text not in FLAGS:
            expected = "(expected true, false, 0 or 1)"
            raise invalid(f"Couldn't interpret the {name} argument as a boolean:{text} {expected}")
        return FLAGS[text]

    def needed(self, *names: str, says: str) -> list[str]:
        """Return the values of parameters that must come once each."""
        if any(len(self.params.get(name, ())) != 1 for name in names):
            raise invalid(says)
        return [self.params[name][0] for name in names]


def parse(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """Return the names of the transforms that a text asks for, each with its parameters.

    >>> parse('remove_device remove_nodes(op=Identity, op="Add")')
    [('remove_device', {}), ('remove_nodes', {'op': ['Identity', 'Add']})]
    """
    scanner = _Scanner(text)
    found = []
    while not scanner.ended:
        name = scanner.take(_NAME, "transform name")
        params: dict[str, list[str]] = {}
        if scanner.skip("("):
            while not scanner.ended and not scanner.skip(")"):
                key = scanner.take(_NAME, "parameter name")
                scanner.expect("=")
                params.setdefault(key, []).append(scanner.value())
                scanner.skip(",")
        found.append((name, params))
    return found


def joined(texts: Sequence[str | bytes]) -> str:
    """Return several texts as one."""
    return " ".join(text.decode() if isinstance(text, bytes) else text for text in texts)


class _Scanner:
    """A text, read from the left."""

    def __init__(self, text: str):
        self._rest = text.lstrip()

    @property
    def ended(self) -> bool:
        return not self._rest

    def take(self, pattern: re.Pattern[str], what: str) -> str:
        """Return what stands next, which must match a pattern."""
        found = pattern.match(self._rest)
        if found is None:
            raise invalid(f"Looking for {what}, but found {self._rest}")
        self._rest = self._rest[found.end() :].lstrip()
        return found.group(found.lastindex or 0)

    def value(self) -> str:
        """Return the value of a parameter."""
        return self.take(_QUOTED if self._rest.startswith('"') else _VALUE, "parameter value")

    def skip(self, sign: str) -> bool:
        """Go past a sign if it stands next; return whether it did."""
        if not self._rest.startswith(sign):
            return False
        self._rest = self._rest[len(sign) :].lstrip()
        return True

    def expect(self, sign: str) -> None:
        """Go past a sign that must stand next."""
        if not self.skip(sign):
            raise invalid(f"Looking for {sign}, but found {self._rest}")
