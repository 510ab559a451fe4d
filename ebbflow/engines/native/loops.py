"""The machine code of loops written in Python (`core.loops`): made in the background when first asked for.

Knows how arrays are handed over. What the loops compute is theirs, what may be written in them `loop_text`'s.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import memory
from ebbflow.core.loops import Loop
from ebbflow.engines.native import loop_text
from ebbflow.engines.native.late_code import ADDRESS, SIZE, LateCode

_NUMBERS = {"int": SIZE, "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool}


class LoopCode:
    """The code of one loop: there as soon as it is made, once it was asked for."""

    def __init__(self, loop: Loop):
        kinds, result = loop_text.signature(loop.function)
        arguments = [_NUMBERS.get(kind, ADDRESS) for kind in kinds]
        code = LateCode(
            lambda: loop_text.text(loop), _NUMBERS.get(result), *arguments,
            symbols=_symbols, holds_lock=loop.makes_texts, wait=loop.waits,
        )  # fmt: skip
        self._code = code
        self._call: Callable[..., Any] | None = None

    def __call__(self) -> Callable[..., Any] | None:
        if self._call is None:
            function = self._code.function()
            if function is None:
                return None
            self._call = functools.partial(_called, function)
        return self._call


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*[memory.address(a) if isinstance(a, np.ndarray) else a for a in arguments])


def _symbols() -> dict[str, int]:
    python = ctypes.pythonapi
    names = ("PyBytes_FromStringAndSize", "Py_IncRef", "Py_DecRef")
    addresses = {name: ctypes.cast(getattr(python, name), ctypes.c_void_p).value or 0 for name in names}
    return {**addresses, "bytes": id(bytes)}


@functools.cache
def laid_out_as_expected() -> bool:
    """Return whether bytes objects look as the code takes for granted."""
    text = b"a text to be looked at"
    begin = id(text)
    return (
        ctypes.c_int64.from_address(begin + loop_text.SIZE).value == len(text)
        and ctypes.c_uint64.from_address(begin + loop_text.TYPE).value == id(bytes)
        and ctypes.string_at(begin + loop_text.BYTES, len(text)) == text
    )
