"""The user's own line: finding it cheaply, and keeping our frames out of tracebacks.

A frame belongs to the user when its file lies outside this package; of what Keras calls, the user's line is the one
that called Keras, or wrote the layer. Imported by rooms that create nodes or raise errors.
"""

from __future__ import annotations

import os
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

from ebbflow.core import context

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Line(NamedTuple):
    """A place in a user's file."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class LazyLine:
    """A place in a user's file, kept as code and offset: the line number is worked out when it is shown."""

    __slots__ = ("_code", "_offset")

    def __init__(self, code: CodeType, offset: int):
        self._code = code
        self._offset = offset

    def resolve(self) -> Line:
        """Return the place with its line number."""
        number = self._code.co_firstlineno
        for start, end, line in self._code.co_lines():
            if start <= self._offset < end and line is not None:
                number = line
        return Line(self._code.co_filename, number, self._code.co_name)

    def __str__(self) -> str:
        return str(self.resolve())


MOST_CODES = 10_000
"""So much code is remembered: a program may make code as it goes."""

user_codes: dict[int, CodeType] = {}
"""Code met before that is not this package's, by identity: hashing code would compare its contents."""


def outside(frame: FrameType) -> FrameType:
    """Return the frame itself or the first around it whose code is the user's, and remember that code."""
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    if len(user_codes) > MOST_CODES:
        user_codes.clear()
    user_codes[id(frame.f_code)] = frame.f_code
    return frame


BETWEEN = frozenset(["keras", "tf_keras", "tensorflow_estimator"])
"""Packages between us and the user: a line of theirs tells nobody where a program is wrong."""


_stands: dict[int, tuple[CodeType, bool, bool]] = {}
"""Of code met before, by identity: whether it is this package's, and whether it is that or of a package between.

Making a step of a Keras model asks this of some twenty frames for each of its nodes.
"""


def users(frame: FrameType) -> FrameType:
    """Return the frame itself or the first around it that is no library's that stands on this one."""
    nearest: FrameType | None = None
    found: FrameType | None = frame
    while found is not None:
        code = found.f_code
        known = _stands.get(id(code))
        if known is None:
            known = _known(found)
        _, ours, between = known
        if not between:
            return found
        if nearest is None and not ours:
            nearest = found
        last, found = found, found.f_back
    return nearest or last


def _known(frame: FrameType) -> tuple[CodeType, bool, bool]:
    """Find out where the code of a frame stands, and remember it."""
    if len(_stands) > MOST_CODES:
        _stands.clear()
    ours = is_ours(frame)
    between = ours or frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN
    found = _stands[id(frame.f_code)] = (frame.f_code, ours, between)
    return found


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame is this package's."""
    return frame.f_code.co_filename.startswith(PACKAGE)


def short(error: BaseException) -> BaseException:
    """Return `error` without the frames it has passed inside this package, ready to be raised again."""
    if context.full_traceback:
        return error
    error.__suppress_context__ = True
    return error.with_traceback(None)


def trimmed(error: BaseException) -> BaseException:
    """Return `error` with this package's frames taken out of its traceback, ready to be raised again."""
    if context.full_traceback:
        return error
    kept, trace = [], error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            kept.append(trace)
        trace = trace.tb_next
    chain: TracebackType | None = None
    for trace in reversed(kept):
        chain = TracebackType(chain, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
    error.__suppress_context__ = True
    return error.with_traceback(chain)
