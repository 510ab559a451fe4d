"""A piece of machine code that is made in the background when it is first asked for.

Single calls that are worth code of their own (large loops, resizing, sums of rows) have something else to answer with
until it is there: they ask a `LateCode` for its function, and go the other way where there is none. Where the other way
rounds otherwise, or nothing may differ from one call to the next (`config.wishes.deterministic`), the first one waits:
what a program computes must not depend on how long compiling takes. Knows LLVM's library and nothing of what the code
does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ebbflow.engines.background import Worker
from ebbflow.platform import config

ADDRESS, SIZE = ctypes.c_void_p, ctypes.c_int64

_worker = Worker("ebbflow-late-code")
settle = _worker.settle


class LateCode:
    """A C function `entry`: the text of its code is asked for with the first call for it."""

    def __init__(
        self,
        text: Callable[[], str],
        result: Any,
        *arguments: Any,
        wait: bool = False,
        symbols: Callable[[], dict[str, int]] = dict,
        holds_lock: bool = False,
    ):
        """`symbols` says where what the code does not define lies; `holds_lock` keeps Python's lock during calls."""
        self._text = text
        self._wait = wait
        self._symbols = symbols
        self._kind = (ctypes.PYFUNCTYPE if holds_lock else ctypes.CFUNCTYPE)(result, *arguments)
        self._asked = False
        self._function: Callable[..., Any] | None = None

    def function(self) -> Callable[..., Any] | None:
        """Return the function, or None while it is being made, and where there is no LLVM."""
        if not self._asked:
            if self._wait or config.wishes.deterministic:
                self._make()  # a second thread that asks meanwhile makes one more, and nobody waits for a lock
                self._asked = True
            else:
                self._asked = True
                _worker.add(self._make)
        return self._function

    def _make(self) -> None:
        from ebbflow.engines.native import library  # LLVM takes fifty milliseconds to load

        if library.available():
            code = library.Code(self._text(), self._symbols())
            function: Any = self._kind(code.entry)
            function.code = code  # which lives as long as the function
            self._function = function
