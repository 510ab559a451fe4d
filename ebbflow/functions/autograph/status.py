"""Whether conversion is on where the program stands, for functions of the library that call functions of the user's.

`tf.map_fn` and its kin convert what they are given where a converted function calls them, and leave it as it is
elsewhere. Who calls is told by the frames on the stack; a `with` block can say otherwise.
"""

from __future__ import annotations

import enum
import sys
import threading
from typing import Any

from ebbflow.core.source import outside
from ebbflow.functions.autograph.convert import converted, has_been_converted
from ebbflow.graph.symbolic import refusal_hints


class Status(enum.Enum):
    """What has been said about conversion."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


_thread = _Thread()


class ControlStatusCtx:
    """`with ControlStatusCtx(Status.DISABLED):` functions that the library is given stay as they are inside."""

    def __init__(self, status: Status, options: Any = None):
        self.status = status
        self.options = options

    def __enter__(self) -> ControlStatusCtx:
        _thread.stack.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _thread.stack.pop()


def control_status_ctx() -> ControlStatusCtx:
    """Return what was last said where the program stands; where nothing was, who calls decides.

    >>> control_status_ctx().status
    <Status.UNSPECIFIED: 0>
    """
    if _thread.stack:
        return _thread.stack[-1]
    caller = outside(sys._getframe(1)).f_code
    return ControlStatusCtx(Status.ENABLED if has_been_converted(caller) else Status.UNSPECIFIED)


def conversion(on: bool) -> ControlStatusCtx:
    """Have functions that the library is given converted, or not, inside a `with` block."""
    return ControlStatusCtx(Status.ENABLED if on else Status.DISABLED)


def converted_where_on(function: Any, by_default: bool = False, asked: bool = False, status: Any = None) -> Any:
    """Return a function converted where conversion is on."""
    status = control_status_ctx().status if status is None else status
    on = by_default if status is Status.UNSPECIFIED else status is Status.ENABLED
    return converted(function, asked) if on else function


def _hint() -> str:
    """Return what conversion had to do with a tensor's use as a Python value, where the program said anything of it."""
    status = _thread.stack[-1].status if _thread.stack else Status.UNSPECIFIED
    if status is Status.ENABLED:
        return " AutoGraph did convert this function: it may be using an unsupported feature."
    if status is Status.DISABLED:
        return " AutoGraph did not convert this function: it is off here, or the source code may not be visible to it."
    return ""


refusal_hints.append(_hint)
