"""Whether conversion is on where the program stands, for functions of the library that call functions of the user's.

`tf.map_fn` and its kin convert what they are given inside a converted function, and leave it as it is inside one that
is not. Who traces a function says which it is; outside of any, nobody has said.
"""

from __future__ import annotations

import enum
import threading
from typing import Any

from ebbflow.functions.autograph.convert import converted


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
    """Return what was last said where the program stands.

    >>> control_status_ctx().status
    <Status.UNSPECIFIED: 0>
    """
    return _thread.stack[-1] if _thread.stack else ControlStatusCtx(Status.UNSPECIFIED)


def conversion(on: bool) -> ControlStatusCtx:
    """Have functions that the library is given converted, or not, inside a `with` block."""
    return ControlStatusCtx(Status.ENABLED if on else Status.DISABLED)


def converted_where_on(function: Any, by_default: bool = False, asked: bool = False, status: Any = None) -> Any:
    """Return a function converted where conversion is on."""
    status = control_status_ctx().status if status is None else status
    on = by_default if status is Status.UNSPECIFIED else status is Status.ENABLED
    return converted(function, asked) if on else function
