"""Ops that match and replace by patterns (`patterns` says how they are read)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, same
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import as_bytes, each, one_text
from ebbflow.ops.strings.automata import table
from ebbflow.ops.strings.patterns import PatternError, compiled, decoded, encoded
from ebbflow.ops.strings.text_loops import FEW, UNSURE, looked_at, matches

RegexFullMatch = op("RegexFullMatch(input:string, pattern:string) -> (output:bool)", shape=same, gradient=FLAT)
StaticRegexFullMatch = op(
    "StaticRegexFullMatch(input:string) -> (output:bool) | pattern: string", shape=same, gradient=FLAT
)
RegexReplace = op(
    "RegexReplace(input:string, pattern:string, rewrite:string) -> (output:string) | replace_global: bool = true",
    shape=same,
    gradient=FLAT,
)
StaticRegexReplace = op(
    "StaticRegexReplace(input:string) -> (output:string)"
    " | pattern: string; rewrite: string; replace_global: bool = true",
    shape=same,
    gradient=FLAT,
)


def _pattern(text: bytes) -> re.Pattern[str]:
    try:
        return compiled(text)
    except PatternError as error:
        raise invalid(f"Invalid pattern: {text.decode('utf-8', 'replace')}, error: {error}") from None


def _matched(input: np.ndarray, pattern: bytes) -> np.ndarray:
    found = _pattern(pattern)
    known = table(found) if input.size >= FEW else None
    out = np.empty(input.shape, np.uint8)
    if known is not None and looked_at(matches, input, out, *known):
        unsure = np.flatnonzero(out == UNSURE)
        flat, texts = out.reshape(-1), input.reshape(-1)
        flat[unsure] = _one_by_one(found, texts[unsure].tolist())
        return out.view(bool)
    return _one_by_one(found, input.reshape(-1).tolist()).reshape(input.shape)


def _one_by_one(pattern: re.Pattern[str], texts: list[bytes]) -> np.ndarray:
    match = pattern.fullmatch
    return np.fromiter((match(decoded(t)) is not None for t in texts), bool, len(texts))


@RegexFullMatch.kernel
def _(xp, input, pattern):
    return _matched(input, one_text(pattern, "Pattern"))


@StaticRegexFullMatch.kernel
def _(xp, input, *, pattern):
    return _matched(input, as_bytes(pattern))


@RegexReplace.kernel
def _(xp, input, pattern, rewrite, *, replace_global):
    return each(_replacer(one_text(pattern, "Pattern"), one_text(rewrite, "Rewrite"), replace_global), input)


@StaticRegexReplace.kernel
def _(xp, input, *, pattern, rewrite, replace_global):
    return each(_replacer(as_bytes(pattern), as_bytes(rewrite), replace_global), input)


def _replacer(pattern: bytes, rewrite: bytes, everywhere: bool) -> Callable[[bytes], bytes]:
    """Return the function that replaces in one text."""
    if pattern.isalnum() and b"\\" not in rewrite:  # no regular expression
        return lambda text: text.replace(pattern, rewrite, -1 if everywhere else 1)
    found = _pattern(pattern)
    parts, valid = _rewrite_parts(decoded(rewrite))
    if any(isinstance(part, int) and part > found.groups for part in parts) or not (valid or everywhere):
        return lambda text: text  # a rewrite that cannot be done leaves the text as it is
    if len(parts) <= 1 and not any(isinstance(part, int) for part in parts):
        constant = parts[0] if parts else ""
        replacement: Callable[[Any], str] = lambda match: constant
    else:
        replacement = lambda match: "".join(
            (match[part] or "") if isinstance(part, int) else part for part in parts
        )  # fmt: skip
    if not everywhere:
        return lambda text: encoded(found.sub(replacement, decoded(text), count=1))
    if found.match("") is None and not _may_be_empty(found):
        return lambda text: encoded(found.sub(replacement, decoded(text)))
    return lambda text: encoded(_replace_all(found, replacement, decoded(text)))


def _may_be_empty(found: re.Pattern[str]) -> bool:
    """Return whether a pattern could match nothing somewhere; assertions may hold only inside a text."""
    return found.fullmatch("") is not None or any(
        sign in found.pattern for sign in ("*", "?", "|", "\\", "^", "$", "{0")
    )


def _replace_all(found: re.Pattern[str], replacement: Callable[[Any], str], text: str) -> str:
    """Replace as RE2 does: nothing that is matched right behind the match before counts where it is empty."""
    done: list[str] = []
    at = end = 0
    last = -1
    while at <= len(text) and (match := found.search(text, at)) is not None:
        if match.start() == match.end() == last:
            at += 1
            continue
        done += [text[end : match.start()], replacement(match)]
        at = end = last = match.end()
    return "".join([*done, text[end:]])


def _rewrite_parts(rewrite: str) -> tuple[list[Any], bool]:
    """Return the literals and group numbers of a rewrite, and whether all its escapes are valid ones."""
    parts: list[Any] = []
    literal, at = "", 0
    while at < len(rewrite):
        here = rewrite[at]
        if here != "\\":
            literal += here
            at += 1
            continue
        follower = rewrite[at + 1 : at + 2]
        if follower.isdigit() and follower.isascii():
            parts += [literal, int(follower)] if literal else [int(follower)]
            literal = ""
        elif follower == "\\":
            literal += "\\"
        else:
            return ([*parts, literal] if literal else parts), False
        at += 2
    return ([*parts, literal] if literal else parts), True
