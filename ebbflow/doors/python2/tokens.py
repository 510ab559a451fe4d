"""Python 2 source as tokens, and as statements of tokens. Knows no grammar beyond where a statement ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_STRING = r"""
    (?:[uU][rR]?|[bB][rR]?|[rR])?
    (?: '{3} (?:[^\\]|\\.)*? '{3} | "{3} (?:[^\\]|\\.)*? "{3} | ' (?:[^\\\n']|\\.)* ' | " (?:[^\\\n"]|\\.)* " )
"""
_NUMBER = r"""
    0[xX][0-9a-fA-F]+[lL]? | 0[oO][0-7]+[lL]? | 0[bB][01]+[lL]?
    | (?: [0-9]+\.[0-9]* | \.[0-9]+ | [0-9]+ ) (?:[eE][+-]?[0-9]+)? [jJlL]?
"""
_TOKEN = re.compile(
    rf"""
    (?P<space>  (?: [ \t\f] | \\\r?\n )+ )
    | (?P<comment> \#[^\r\n]* )
    | (?P<newline> \r?\n | \r )
    | (?P<string> {_STRING} )
    | (?P<number> {_NUMBER} )
    | (?P<name> [A-Za-z_][A-Za-z_0-9]* )
    | (?P<op> <> | \*\*=? | //=? | >>=? | <<=? | [-+*/%&|^=<>!]=? | [()\[\]{{}},:;.`@~] )
    """,
    re.VERBOSE | re.DOTALL,
)
COMPOUND = frozenset(["if", "elif", "else", "while", "for", "try", "except", "finally", "with", "def", "class"])
"""Words that begin a statement which ends with a colon."""

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """A piece of the text, from `start` to `end`; `depth` counts the brackets around it."""

    kind: str
    text: str
    start: int
    end: int
    depth: int


class UnknownTextError(Exception):
    """The text has something that is no token of Python 2."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def tokens(text: str) -> Iterator[Token]:
    """Yield all tokens, spaces and comments too.

    >>> [t.text for t in tokens("print 0777L<>`x`") if t.kind != "space"]
    ['print', '0777L', '<>', '`', 'x', '`']
    """
    place, depth = 0, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise UnknownTextError(place)
        kind, word = match.lastgroup or "", match.group()
        depth -= word in CLOSING
        yield Token(kind, word, place, match.end(), depth)
        depth += word in OPENING
        place = match.end()


def statements(found: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each simple statement, and of each head of a compound one with its colon."""
    current: list[Token] = []
    lambdas = 0
    for token in found:
        if token.kind in ("space", "comment") or (token.kind == "newline" and token.depth > 0):
            continue
        ends = token.kind == "newline" or (token.text == ";" and token.depth == 0)
        if not ends:
            current.append(token)
            if token.depth == 0 and token.text == "lambda":
                lambdas += 1
            elif token.depth == 0 and token.text == ":" and lambdas:
                lambdas -= 1
            elif token.depth == 0 and token.text == ":":
                ends = current[0].text in COMPOUND
        if ends:
            if current:
                yield current
            current, lambdas = [], 0
    if current:
        yield current


def indentations(found: list[Token]) -> Iterator[Token]:
    """Yield the spaces that a statement's line begins with."""
    fresh = True
    for token in found:
        if fresh and token.kind == "space":
            yield token
        fresh = token.kind == "newline" and token.depth == 0
