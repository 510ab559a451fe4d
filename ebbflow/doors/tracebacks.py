"""Tracebacks that show the program's lines and not Ebbflow's.

Knows exceptions and where Ebbflow's files are. EBBFLOW_FULL_TRACEBACK=1 shows everything.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from types import TracebackType
from typing import Any

from ebbflow.api import suggest, views
from ebbflow.core import context
from ebbflow.doors.program import PACKAGE, within
from ebbflow.doors.python2.constructs import hint_for

HIDDEN = ("<frozen importlib", "<frozen runpy", "<frozen zipimport")
STANDARD = sysconfig.get_path("stdlib")
START = os.path.join(PACKAGE, "doors", "run.py")


def install(door: str) -> None:
    """Print the errors nobody catches without Ebbflow's own frames; `door` is the view the program looks at."""

    def print_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        tidy(error)
        sys.__excepthook__(kind, error, error.__traceback__)
        hint = hint_for(error) if isinstance(error, SyntaxError) else missing_module_hint(error, door)
        if hint:
            print(f"ebbflow: {hint}", file=sys.stderr)

    def print_in_thread(args: Any) -> None:
        if args.exc_value is not None:
            tidy(args.exc_value)
        value = args.exc_value
        threading.__excepthook__(
            threading.ExceptHookArgs((args.exc_type, value, value.__traceback__ if value else None, args.thread))
        )

    sys.excepthook = print_exception
    threading.excepthook = print_in_thread


def tidy(error: BaseException) -> None:
    """Take our own frames out of an error's traceback and of those behind it, unless all are to be shown."""
    if context.full_traceback:
        return
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = users_part(one)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def users_part(error: BaseException) -> TracebackType | None:
    """Return an error's traceback without our frames; the whole of it if there would be nothing left.

    A syntax error of the script itself never has a frame of its own, so for one nothing is right.
    """
    kept: list[TracebackType] = []
    step, inside = error.__traceback__, False
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file == START:
            kept.clear()  # whatever called `ebbflow run`
        ours = within(file, PACKAGE)
        inside = ours or (inside and (file.startswith(HIDDEN) or _is_pythons(file)))
        if not inside and not file.startswith(HIDDEN):
            kept.append(step)
        step = step.tb_next
    if not kept:
        return None if isinstance(error, SyntaxError) else error.__traceback__
    rest: TracebackType | None = None
    for step in reversed(kept):
        rest = TracebackType(rest, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return rest


def _is_pythons(file: str) -> bool:
    """Return whether a file is of Python itself: where we called it, its frames say no more than ours."""
    return within(file, STANDARD) and "site-packages" not in file


def missing_module_hint(error: BaseException, door: str) -> str:
    """Return what was probably meant by a `tensorflow` name that could not be imported."""
    if not isinstance(error, ImportError) or (error.name or "").split(".")[0] != "tensorflow":
        return ""
    path = (error.name or "").partition(".")[2]
    wanted = getattr(error, "name_from", None)  # Python 3.12 on: the name of `from x import name`
    if wanted is None and "cannot import name '" in str(error):
        wanted = str(error).split("'")[1]
    dotted = ".".join(filter(None, [path, wanted]))
    return suggest.advice(*views.locate(door, dotted)) if dotted else ""
