"""Python 2 source in words that Python 3 parses: every statement stays in its line.

Only what Python 3 cannot read is changed, and Python 3's own parser checks the rest. What needs a tree (a tuple among
parameters, a place that an exception is put into) leaves a name behind that says it, for `meaning`. Knows text only.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ebbflow.doors.python2.tokens import CLOSING, OPENING, Token, indentations, statements, tokens

PRINT, EXEC, RAISED = "__py2_print__", "__py2_exec__", "__py2_raised__"
PLACE = re.compile(r"__py2_place_([0-9a-f]+)__")
"""A name that stands for a target of another form, whose text it holds."""

LATER_WORDS = frozenset(("async", "await", "nonlocal"))
"""Names until they became words of the language."""


class Edit(NamedTuple):
    """Text from `start` to `end` is to be `text`."""

    start: int
    end: int
    text: str


def place_name(text: str) -> str:
    """Return a name that stands for a target, such as `(a, (b, c))`.

    >>> place_of(place_name("(a, b)"))
    '(a, b)'
    """
    return f"__py2_place_{text.encode().hex()}__"


def place_of(name: str) -> str | None:
    """Return the target that a name stands for, if it is such a name."""
    match = PLACE.fullmatch(name)
    return bytes.fromhex(match.group(1)).decode() if match else None


def edits(text: str, features: frozenset[str] = frozenset()) -> list[Edit]:
    """Return what must be changed, in order. `features` are those that the file imports from `__future__`."""
    found = list(tokens(text))
    made: list[Edit] = []
    for space in indentations(found):
        if "\t" in space.text and "\n" not in space.text:
            made.append(Edit(space.start, space.end, space.text.replace("\f", "").expandtabs(8)))
    for statement in statements(found):
        made += _statement(text, statement, features)
    return sorted(made)


def renamed_words(text: str) -> list[Edit]:
    """Return the edits that a file needs whose only fault is that it uses later words as names."""
    return sorted(e for s in statements(list(tokens(text))) for e in _later_words(s))


def applied(text: str, changes: Sequence[Edit]) -> str:
    """Return a text with edits made; lines stay the lines they were."""
    pieces, end = [], 0
    for edit in changes:
        if edit.start < end:
            continue  # inside what another has changed
        lost = text.count("\n", edit.start, edit.end) - edit.text.count("\n")
        pieces += [text[end : edit.start], edit.text, "\n" * lost]
        end = edit.end
    return "".join([*pieces, text[end:]])


# --- statements -------------------------------------------------------------------------------------------------------


def _statement(text: str, words: list[Token], features: frozenset[str]) -> Iterator[Edit]:
    first = words[0].text
    if first == "print" and "print_function" not in features:
        yield from _print(words)
    elif first == "exec":
        yield from _exec(words)
    elif first == "raise":
        yield from _raise(words)
    elif first == "except":
        yield from _except(text, words)
    yield from _parameters(text, words)
    yield from _loops_over_tuples(words)
    yield from _backquotes(words)
    yield from _later_words(words)
    for word, follows in itertools.zip_longest(words, words[1:]):
        if word.text == "<>":
            yield Edit(word.start, word.end, "!=")
        elif word.kind == "number":
            yield from _number(word, follows is not None and follows.start == word.end)
        elif word.kind == "string":
            yield from _string(word, "unicode_literals" in features)


def _print(words: list[Token]) -> Iterator[Edit]:
    """`print >>file, a, b,` is a call: the file, whether a new line follows, and what is to be printed."""
    word, rest = words[0], words[1:]
    if rest and (rest[0].text in ("=", ".", ",") or (rest[0].text.endswith("=") and rest[0].kind == "op")):
        return  # no print statement
    goes_on = bool(rest) and rest[-1].text == ","
    rest = rest[:-1] if goes_on else rest
    head = f"{PRINT}(None, {not goes_on}"
    if rest and rest[0].text == ">>":
        comma = next((token for token in rest if token.text == "," and token.depth == 0), None)
        yield Edit(word.start, rest[0].end, f"{PRINT}(")
        if comma:
            yield Edit(comma.start, comma.end, f", {not goes_on},")
        yield Edit(rest[-1].end, words[-1].end, ")" if comma else f", {not goes_on})")
        return
    yield Edit(word.start, word.end, head + ("," if rest else ""))
    end = rest[-1].end if rest else word.end
    yield Edit(end, words[-1].end, ")")


def _exec(words: list[Token]) -> Iterator[Edit]:
    word, rest = words[0], words[1:]
    if not rest or rest[0].text in ("=", ".", ","):
        return
    if rest[0].text == "(" and _closing(rest, 0) == len(rest) - 1:  # a tuple, or what reads as a call
        yield Edit(word.start, word.end, EXEC)
        return
    yield Edit(word.start, word.end, f"{EXEC}(")
    for token in rest:
        if token.text == "in" and token.depth == 0:
            yield Edit(token.start, token.end, ",")
            break
    yield Edit(rest[-1].end, rest[-1].end, ")")


def _raise(words: list[Token]) -> Iterator[Edit]:
    if any(token.text == "," and token.depth == 0 for token in words):
        yield Edit(words[0].end, words[1].start, f" {RAISED}(")
        yield Edit(words[-1].end, words[-1].end, ")")


def _except(text: str, words: list[Token]) -> Iterator[Edit]:
    comma = next((at for at, token in enumerate(words) if token.text == "," and token.depth == 0), None)
    if comma is None or words[-1].text != ":" or comma + 2 > len(words) - 1:
        return
    target = words[comma + 1 : -1]
    name = target[0].text
    if len(target) > 1 or target[0].kind != "name":
        name = place_name(text[target[0].start : target[-1].end])
    yield Edit(words[comma].start, target[-1].end, f" as {name}")


def _parameters(text: str, words: list[Token]) -> Iterator[Edit]:
    """Put names in the place of tuples among the parameters of functions."""
    for at, word in enumerate(words):
        if word.kind != "name" or word.text not in ("def", "lambda"):
            continue
        if word.text == "def":
            if at or len(words) < 3 or words[2].text != "(":
                continue
            begin, depth = 3, 1
        else:
            begin, depth = at + 1, word.depth
        expected, skip = True, -1
        for here in range(begin, len(words)):
            token = words[here]
            if here <= skip:
                continue
            if token.depth < depth or (token.depth == depth and token.text == ":"):
                break
            if expected and token.text == "(" and token.depth == depth:
                skip = _closing(words, here)
                yield Edit(token.start, words[skip].end, place_name(text[token.start : words[skip].end]))
            expected = token.depth == depth and token.text in (",", "*", "**")


def _loops_over_tuples(words: list[Token]) -> Iterator[Edit]:
    """`[x for x in 1, 2]` wants brackets around what it goes over."""
    for at, word in enumerate(words):
        if word.text != "in" or word.kind != "name" or not word.depth or at + 1 >= len(words):
            continue
        back = next((t for t in reversed(words[:at]) if t.depth == word.depth and t.text in ("for", "in", "if")), None)
        opening = next((t for t in reversed(words[:at]) if t.depth == word.depth - 1 and t.text in OPENING), None)
        if back is None or back.text != "for" or opening is None or opening.text != "[" or opening.start > back.start:
            continue
        over: list[Token] = []
        for token in words[at + 1 :]:
            if token.depth < word.depth or (token.depth == word.depth and token.text in ("for", "if")):
                break
            over.append(token)
        if over and any(t.text == "," and t.depth == word.depth for t in over):
            yield Edit(over[0].start, over[0].start, "(")
            yield Edit(over[-1].end, over[-1].end, ")")


def _backquotes(words: list[Token]) -> Iterator[Edit]:
    open_at: list[int] = []
    for word in words:
        if word.text == "`" and word.kind == "op":
            closes = bool(open_at) and open_at[-1] == word.depth
            yield Edit(word.start, word.end, "))" if closes else "repr((")
            open_at.pop() if closes else open_at.append(word.depth)


def _later_words(words: list[Token]) -> Iterator[Edit]:
    """Give another name to what is called by a later word of the language."""
    for at, word in enumerate(words):
        if word.text not in LATER_WORDS or word.kind != "name":
            continue
        follows = words[at + 1] if at + 1 < len(words) else None
        as_word = follows is not None and (follows.kind in ("name", "string", "number") and follows.text not in _AFTER)
        if not as_word:
            yield Edit(word.start, word.end, word.text + "_")


_AFTER = frozenset(["and", "or", "not", "in", "is", "if", "else", "for", "as", "import"])


def _number(word: Token, touches: bool) -> Iterator[Edit]:
    """Write a number as today; a letter that is gone leaves a space before what followed at once (`7L.real`)."""
    text = word.text.rstrip("lL") if word.text[-1] in "lL" else word.text
    if len(text) > 1 and text.isdigit() and text[0] == "0":
        text = "0o" + (text.lstrip("0") or "0")
    if text != word.text:
        yield Edit(word.start, word.end, text + " " * (touches and word.text[-1] in "lL"))


_ESCAPE = re.compile(r"(\\\\)|\\([uUN])")
_POINT = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})")


def _string(word: Token, unicode_literals: bool) -> Iterator[Edit]:
    """Texts that are not unicode know no `\\u`; raw ones that are know nothing else."""
    prefix = word.text[: len(word.text) - len(word.text.lstrip("uUbBrR"))]
    kind, body = prefix.lower(), word.text[len(prefix) :]
    if kind == "ur":
        made = _POINT.sub(lambda match: match.group(1) + chr(int(match.group(2), 16)), body)
        yield Edit(word.start, word.end, "r" + made)
    elif kind == "" and not unicode_literals and "\\" in body:
        made = _ESCAPE.sub(lambda match: match.group(1) or "\\\\" + match.group(2), body)
        if made != body:
            yield Edit(word.start, word.end, made)


def _closing(words: Sequence[Token], at: int) -> int:
    """Return where the bracket that opens at `at` closes."""
    depth = words[at].depth
    for here in range(at + 1, len(words)):
        if words[here].depth == depth and words[here].text in CLOSING:
            return here
    return len(words) - 1


# --- where things stood -----------------------------------------------------------------------------------------------


class Columns:
    """Where in its line something of the changed text stood before; columns count bytes, as in Python's trees."""

    def __init__(self, text: str, changes: Sequence[Edit]) -> None:
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lines: dict[int, list[tuple[int, int, int, int]]] = {}
        moved: dict[int, int] = {}
        for edit in changes:
            line = bisect.bisect_right(starts, edit.start)
            begin = starts[line - 1]
            if "\n" in edit.text or "\n" in text[edit.start : edit.end]:
                continue  # what follows on its last line is left where it is
            old = len(text[begin : edit.start].encode()), len(text[begin : edit.end].encode())
            new = old[0] + moved.get(line, 0)
            size = len(edit.text.encode())
            self._lines.setdefault(line, []).append((new, new + size, *old))
            moved[line] = new + size - old[1]

    def before(self, line: int, column: int, ends: bool = False) -> int:
        """Return where a column was."""
        shift = 0
        for new_start, new_end, old_start, old_end in self._lines.get(line, ()):
            if column >= new_end and not (column == new_end == new_start and not ends):
                shift = old_end - new_end
            elif column > new_start or (column == new_start and not ends):
                return old_end if ends else old_start
            else:
                break
        return column + shift
