"""Patterns as tables: which state follows on which ASCII letter, for loops that match many texts.

A pattern's parts become the edges of an automaton that may be in several states at once, and sets of those become the
states of one that is in a single one. Patterns with word boundaries, flags or many states are left to `re`, and so are
texts with letters beyond ASCII. Knows what `re` makes of a pattern; knows nothing of ops.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from typing import Any, NamedTuple

import numpy as np

MOST_EDGES, MOST_STATES = 400, 100
ASCII = 128
ALL = (1 << ASCII) - 1
START, END = "start", "end"
"""Edges that are gone along without a letter: at the start and at the end of a text only."""

sre: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


class Table(NamedTuple):
    """An automaton: the state after state s and letter c is `follows[s * 128 + c]`; 0 leads nowhere, 1 is the first."""

    follows: np.ndarray
    accepts: np.ndarray


class _UnservedError(Exception):
    """A pattern that is left to `re`."""


@functools.lru_cache(maxsize=100)
def table(pattern: re.Pattern[str]) -> Table | None:
    """Return the table of a pattern that whole texts are compared with; None where it is left to `re`.

    >>> found = table(re.compile("a[bc]*"))
    >>> state = found.follows[1 * 128 + ord("a")]
    >>> int(found.accepts[1]), int(found.accepts[state])
    (0, 1)
    """
    net = _Net()
    try:
        if pattern.flags & ~re.UNICODE:
            raise _UnservedError
        last = net.sequence(sre.parse(pattern.pattern), 0)
        return _determined(net, last)
    except _UnservedError:
        return None


class _Net:
    """Edges between places: each has what it is gone along by (a set of letters, nothing, START or END) and a place."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[Any, int]]] = [[]]
        self.count = 0

    def place(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, begin: int, by: Any, end: int) -> int:
        self.count += 1
        if self.count > MOST_EDGES:
            raise _UnservedError
        self.edges[begin].append((by, end))
        return end

    def sequence(self, items: Any, begin: int) -> int:
        """Add the edges of parts that follow each other, and return the place behind them."""
        for kind, value in items:
            add = getattr(self, f"add_{str(kind).lower()}", None)
            if add is None:
                raise _UnservedError
            begin = add(begin, value)
        return begin

    def add_literal(self, begin: int, letter: int) -> int:
        return self.edge(begin, 1 << letter if letter < ASCII else 0, self.place())

    def add_not_literal(self, begin: int, letter: int) -> int:
        return self.edge(begin, ALL & ~(1 << letter) if letter < ASCII else ALL, self.place())

    def add_any(self, begin: int, value: None) -> int:
        return self.edge(begin, ALL & ~(1 << ord("\n")), self.place())

    def add_in(self, begin: int, members: Any) -> int:
        return self.edge(begin, _set_of(members), self.place())

    def add_at(self, begin: int, where: Any) -> int:
        known = {sre.AT_BEGINNING: START, sre.AT_BEGINNING_STRING: START, sre.AT_END_STRING: END}
        if where not in known:
            raise _UnservedError
        return self.edge(begin, known[where], self.place())

    def add_branch(self, begin: int, value: Any) -> int:
        end = self.place()
        for branch in value[1]:
            self.edge(self.sequence(branch, self.edge(begin, None, self.place())), None, end)
        return end

    def add_subpattern(self, begin: int, value: Any) -> int:
        _, on, off, inner = value
        if on or off:
            raise _UnservedError
        return self.sequence(inner, begin)

    def add_max_repeat(self, begin: int, value: Any) -> int:
        least, most, inner = value
        for _ in range(least):
            begin = self.sequence(inner, begin)
        if most is sre.MAXREPEAT:
            around = self.edge(begin, None, self.place())
            self.edge(self.sequence(inner, around), None, around)
            return self.edge(around, None, self.place())
        end = self.place()
        for _ in range(most - least):
            self.edge(begin, None, end)
            begin = self.sequence(inner, begin)
        return self.edge(begin, None, end)

    add_min_repeat = add_max_repeat

    def reached(self, places: frozenset[int], start: bool = False, end: bool = False) -> frozenset[int]:
        """Return where one is without a further letter."""
        found, waiting = set(places), list(places)
        while waiting:
            for by, to in self.edges[waiting.pop()]:
                if (by is None or (by == START and start) or (by == END and end)) and to not in found:
                    found.add(to)
                    waiting.append(to)
        return frozenset(found)


def _set_of(members: Any) -> int:
    letters, negated = 0, False
    for kind, value in members:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            letters |= 1 << value if value < ASCII else 0
        elif kind is sre.RANGE:
            low, high = value
            letters |= sum(1 << letter for letter in range(low, min(high + 1, ASCII)))
        else:
            raise _UnservedError
    return ALL & ~letters if negated else letters


def _determined(net: _Net, last: int) -> Table:
    """Return the automaton whose states are sets of places."""
    sets = {by for edges in net.edges for by, _ in edges if isinstance(by, int)}
    alike: dict[tuple[bool, ...], list[int]] = {}  # letters that no part of the pattern tells apart
    for letter in range(ASCII):
        alike.setdefault(tuple(bool(s >> letter & 1) for s in sets), []).append(letter)
    first = net.reached(frozenset([0]), start=True)
    states = {frozenset(): 0, first: 1}
    rows = [np.zeros(ASCII, np.int32)]
    waiting = [first]
    for state in waiting:
        row = np.zeros(ASCII, np.int32)
        for letters in alike.values():
            by_letter = frozenset(
                to for p in state for by, to in net.edges[p] if isinstance(by, int) and by >> letters[0] & 1
            )
            next_state = net.reached(by_letter)
            if next_state not in states:
                states[next_state] = len(states)
                waiting.append(next_state)
                if len(states) > MOST_STATES:
                    raise _UnservedError
            row[letters] = states[next_state]
        rows.append(row)
    # One that an empty text is in at its start is at its end as well.
    accepts = [last in net.reached(state, start=state is first, end=True) for state in states]
    return Table(np.concatenate(rows), np.array(accepts, np.uint8))
