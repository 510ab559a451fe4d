"""Patterns in RE2's language, said in Python's.

TensorFlow matches with RE2: over characters of UTF-8, classes like `\\d` are ASCII, `$` is the end of the text, and
there are no look-arounds and no references back. Texts are decoded so that a byte which is no UTF-8 becomes a lone
surrogate, which no part of a pattern matches. Knows `re`; knows nothing of ops.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable

from ebbflow.ops.strings.scripts import SCRIPTS, script_ranges

BROKEN = "\udc80-\udcff"  # what bytes that are no UTF-8 are decoded to

CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": "\\t\\n\\f\\r "}
POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ", "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
PLAIN_ESCAPES = "afnrtv"
REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
MOST_REPEATS = 1000


class PatternError(ValueError):
    """A pattern that RE2 does not take."""


@functools.lru_cache(maxsize=500)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """Return RE2's pattern as one of Python's."""
    try:
        text = pattern.decode("utf-8")
    except UnicodeDecodeError:
        raise PatternError("invalid UTF-8") from None
    said = _Translation(text).whole()
    try:
        return re.compile(said)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from None


def decoded(text: bytes) -> str:
    """Return a text as characters."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return characters as the text they were."""
    return text.encode("utf-8", "surrogateescape")


class _Translation:
    """One walk over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0
        self.many = self.dot_all = self.lazy = False  # the flags m, s and U: what $, . and * mean

    def whole(self) -> str:
        said = self.sequence(inside=False)
        if self.at < len(self.pattern):
            raise PatternError(f"unexpected ): {self.pattern}")
        return said

    def take(self, count: int = 1) -> str:
        taken = self.pattern[self.at : self.at + count]
        self.at += count
        return taken

    def sequence(self, inside: bool) -> str:
        """Return what stands up to the end of the group."""
        flags = self.many, self.dot_all, self.lazy
        said: list[str] = []
        open_flags = 0
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            here = self.take()
            if here == "(" and (scoped := self.flags_alone()) is not None:
                said.append(scoped)
                open_flags += 1
            else:
                said.append(self.piece(here))
        self.many, self.dot_all, self.lazy = flags
        if inside and self.at >= len(self.pattern):
            raise PatternError(f"missing ): {self.pattern}")
        return "".join(said) + ")" * open_flags

    def flags_alone(self) -> str | None:
        """Return the opening of a group of Python's where flags stand alone, `(?i)`: they hold to the group's end."""
        match = re.compile(r"\?([a-zA-Z]*)(-([a-zA-Z]+))?\)").match(self.pattern, self.at)
        if match is None:
            return None
        self.at = match.end()
        return self.with_flags(match[1], match[3] or "", match[0])

    def with_flags(self, on: str, off: str, shown: str) -> str:
        if any(flag not in "imsU" for flag in on + off):
            raise PatternError(f"invalid perl operator: ({shown.rstrip(':)')}")
        for flag, value in [*((f, True) for f in on), *((f, False) for f in off)]:
            if flag == "m":
                self.many = value
            if flag == "s":
                self.dot_all = value
            if flag == "U":
                self.lazy = value
        kept, dropped = (re.sub("[sU]", "", flags) for flags in (on, off))
        return f"(?{kept}{'-' + dropped if dropped else ''}:"

    def piece(self, here: str) -> str:
        if here == "(":
            return self.group()
        if here == "[":
            return self.set()
        if here == ".":
            return f"[^{BROKEN}]" if self.dot_all else f"[^\\n{BROKEN}]"
        if here == "$":
            return "$" if self.many else "\\Z"
        if here == "\\":
            return self.escape()
        if here in "*+?{":
            return self.repetition(here)
        return here if here in "^|" else re.escape(here)

    def repetition(self, here: str) -> str:
        if here == "{":
            match = REPEAT.match(self.pattern, self.at - 1)
            if match is None:
                return "\\{"
            low, high = int(match[1]), int(match[3]) if match[3] else int(match[1])
            if max(low, high) > MOST_REPEATS or high < low:
                raise PatternError(f"invalid repetition size: {match[0]}")
            self.at = match.end()
            here = match[0]
        lazy = self.take() if self.pattern[self.at : self.at + 1] == "?" else ""
        said = here + ("" if lazy else "?") if self.lazy else here + lazy
        if self.pattern[self.at : self.at + 1] in ("*", "+", "?") and self.at < len(self.pattern):
            raise PatternError(f"bad repetition operator: {here}{lazy}{self.pattern[self.at]}")
        return said

    def group(self) -> str:
        rest = self.pattern[self.at :]
        flags = self.many, self.dot_all, self.lazy
        if named := re.match(r"\?P<([A-Za-z_]\w*)>", rest):
            self.take(len(named[0]))
            opening = f"(?P<{named[1]}>"
        elif scoped := re.match(r"\?([a-zA-Z]*)(-([a-zA-Z]+))?:", rest):
            self.take(len(scoped[0]))
            opening = self.with_flags(scoped[1], scoped[3] or "", scoped[0])
        elif rest.startswith("?"):
            raise PatternError(f"invalid perl operator: ({rest[:2]}")
        else:
            opening = "("
        inner = self.sequence(inside=True)
        self.many, self.dot_all, self.lazy = flags
        return opening + inner + self.take()

    def escape(self) -> str:
        """Return an escape outside of brackets."""
        here = self.pattern[self.at : self.at + 1]
        if here.lower() in CLASSES and here:
            self.take()
            kept = CLASSES[here.lower()]
            return f"[{kept}]" if here.islower() else f"[^{kept}{BROKEN}]"
        if here in ("b", "B") and here:
            return f"(?a:\\{self.take()})"
        if here in ("A", "z") and here:
            return {"A": "\\A", "z": "\\Z"}[self.take()]
        if here in ("p", "P") and here:
            kept, negated = self.property()
            return f"[^{kept}{BROKEN}]" if negated else f"[{kept}]"
        if here == "Q":
            self.take()
            literal, _, _ = self.pattern[self.at :].partition("\\E")
            self.take(len(literal) + 2)
            return re.escape(literal)
        return re.escape(self.character())

    def character(self) -> str:
        """Return the one character that an escape stands for; the backslash is behind us."""
        here = self.take()
        if not here:
            raise PatternError("trailing \\")
        if here in PLAIN_ESCAPES:
            return {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}[here]
        if here == "x":
            match = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.pattern, self.at)
            if match is None or int(match[1] or match[2], 16) > sys.maxunicode:
                raise PatternError("invalid escape sequence: \\x")
            self.at = match.end()
            return chr(int(match[1] or match[2], 16))
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, self.at - 1)
        if octal is not None:
            self.at = octal.end()
            return chr(int(octal[0], 8))
        if here.isalnum() and here.isascii():
            raise PatternError(f"invalid escape sequence: \\{here}")
        return here

    def set(self) -> str:
        """Return a set in brackets; the opening one is behind us."""
        negated = self.pattern.startswith("^", self.at)
        self.take(int(negated))
        said: list[str] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise PatternError(f"missing ]: {self.pattern}")
            said.append(self.set_piece())
            first = False
        self.take()
        return f"[^{''.join(said)}{BROKEN}]" if negated else f"[{''.join(said)}]"

    def set_piece(self) -> str:
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
        if posix is not None:
            if posix[2] not in POSIX:
                raise PatternError(f"invalid character class range: {posix[0]}")
            self.at = posix.end()
            return _all_but(POSIX[posix[2]]) if posix[1] else POSIX[posix[2]]
        here = self.pattern[self.at]
        follower = self.pattern[self.at + 1 : self.at + 2]
        if here == "\\" and follower and follower in "pP":
            self.take()
            kept, negated = self.property()
            return _all_but(kept) if negated else kept
        if here == "\\" and follower and follower.lower() in CLASSES:
            self.take(2)
            return CLASSES[follower.lower()] if follower.islower() else _all_but(CLASSES[follower.lower()])
        low = self.set_character()
        if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
            self.take()
            high = self.set_character()
            if high < low:
                raise PatternError(f"invalid character class range: {low}-{high}")
            return f"{_safe(low)}-{_safe(high)}"
        return _safe(low)

    def set_character(self) -> str:
        here = self.take()
        return self.character() if here == "\\" else here

    def property(self) -> tuple[str, bool]:
        """Return the ranges of `\\pN` or `\\p{Greek}` and whether all others are meant; the backslash is behind us."""
        negated = self.take() == "P"
        name = self.take()
        if name == "{":
            name, closed, _ = self.pattern[self.at :].partition("}")
            self.take(len(name) + 1)
            if not closed:
                raise PatternError("invalid character class range: \\p{")
        if name.startswith("^"):
            name, negated = name[1:], not negated
        if name == "Any":
            return "\\x00-\U0010ffff", negated
        return category(name), negated


def _safe(character: str) -> str:
    return f"\\{character}" if character in "\\]^-[&~|" else character


def _all_but(ranges: str) -> str:
    """Return the ranges of all characters that these leave out."""
    return _ranges(re.compile(f"[^{ranges}{BROKEN}]").fullmatch)


@functools.lru_cache(maxsize=100)
def category(name: str) -> str:
    """Return the characters of a general category (`L`, `Nd`) or of a script (`Greek`) as ranges for a set."""
    known = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"}
    known |= {"Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs"}
    if name in SCRIPTS:
        return "".join(f"{_safe(chr(low))}-{_safe(chr(high))}" for low, high in script_ranges(SCRIPTS[name]))
    if name not in known | {kind[0] for kind in known}:
        raise PatternError(f"invalid character class range: \\p{{{name}}}")
    return _ranges(lambda character: unicodedata.category(character).startswith(name))


def _ranges(holds: Callable[[str], object]) -> str:
    said, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and not 0xDC80 <= code <= 0xDCFF and bool(holds(chr(code)))
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            said.append(f"{_safe(chr(start))}-{_safe(chr(code - 1))}" if code - 1 > start else _safe(chr(start)))
            start = None
    return "".join(said)
