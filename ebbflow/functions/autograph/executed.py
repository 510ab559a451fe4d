"""Looking for the text that was given to `exec` or `compile`, which Python does not keep.

Nearly always whoever executes a text still knows it: as a constant, in a variable, or by the name of the file it was
read from. So the functions that are running, and the module of the function, are asked for what they know; what is
found are guesses, to be proven by compiling them (`source`). A text that was proven is kept for the other functions in
it. Knows frames and texts, nothing of syntax.
"""

from __future__ import annotations

import itertools
import os
import sys
import textwrap
from collections import deque
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

from ebbflow.core.source import PACKAGE

LARGEST = 1 << 20
"""Characters of a text that is looked at."""
MOST = 10_000
"""Values of one place that are looked at."""

_proven: deque[str] = deque(maxlen=16)


def keep(text: str) -> None:
    """Remember a text that has been proven to be what some function was made of."""
    if text not in _proven:
        _proven.append(text)


def texts(function: FunctionType) -> Iterator[str]:
    """Yield texts that a function may have been made of."""
    code = function.__code__
    yield from list(_proven)
    tried: set[str] = set()
    for value in _known(function):
        text = _text(value)
        if text is None or text in tried or not _mentions(text, code):
            continue
        tried.add(text)
        yield text
        for other in (textwrap.dedent(text), text.lstrip(), text.strip(), textwrap.dedent(text).strip()):
            if other not in tried:
                tried.add(other)
                yield other


def _mentions(text: str, code: CodeType) -> bool:
    return ("lambda" if code.co_name == "<lambda>" else f"def {code.co_name}") in text


def _text(value: Any) -> str | None:
    """Return a value as a text: itself, or what is in the file it names."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace") if len(value) <= LARGEST else ""
    if not isinstance(value, str) or not 0 < len(value) <= LARGEST:
        return None
    return _file(value) if value.endswith(".py") and "\n" not in value else value


def _file(path: str) -> str | None:
    try:
        if os.path.getsize(path) > LARGEST:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


# --- who knows what ---------------------------------------------------------------------------------------------------


def _known(function: FunctionType) -> Iterator[Any]:
    """Yield what those know who are running, the innermost first, and what the function's module knows."""
    seen: set[int] = set()
    for frame in _users_frames():
        yield from _constants(frame.f_code)
        for names in (frame.f_locals, frame.f_globals):
            if id(names) not in seen:
                seen.add(id(names))
                yield from _inside(names)
    yield from _inside(function.__globals__)


def _users_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            yield frame
        frame = frame.f_back


def _constants(code: CodeType) -> Iterator[Any]:
    yield from (c for c in code.co_consts if isinstance(c, (str, bytes)))


def _inside(names: Any) -> Iterator[Any]:
    """Yield the texts among some values, and those that lists, tuples, dictionaries and `self` hold."""
    values = list(itertools.islice(names.values(), MOST))
    holders = [v for v in values if isinstance(v, (list, tuple, dict))]
    if hasattr(names.get("self"), "__dict__"):
        holders.append(vars(names["self"]))
    yield from values
    for holder in holders:
        yield from itertools.islice(holder.values() if isinstance(holder, dict) else holder, MOST)
