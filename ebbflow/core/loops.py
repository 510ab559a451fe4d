"""Loops in a few words of Python that an engine may turn into machine code.

Where NumPy has no call for some work (texts one by one, boxes that suppress each other, a search with a beam), a kernel
has its loop written as a plain function over arrays, its types said by annotations, and asks for its code:

    @loop
    def total(x: F32, n: int) -> float:
        sum = 0.0
        for i in range(n):
            sum += f64(x[i])
        return sum

    code = total.code()
    answer = code(x, len(x)) if code else float(x.sum(dtype="f8"))

Code is not there on the first call, or ever where no engine makes it, so a kernel has another way, with the same
results. Arguments must be arrays whose elements lie one behind the other, of the dtypes that were said; nobody checks
indices. What may be written is listed in `engines.native.loop_text`. Knows nothing of engines: one may offer to make
code ("loop code" of `core.offers`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ebbflow.core.offers import quicker

F32: TypeAlias = Any
F64: TypeAlias = Any
I32: TypeAlias = Any
I64: TypeAlias = Any
U8: TypeAlias = Any
U32: TypeAlias = Any
U64: TypeAlias = Any
Texts: TypeAlias = Any
"""What the elements of an array are; those of `Texts` are bytes objects."""
Text: TypeAlias = Any
Word: TypeAlias = Any
Single: TypeAlias = Any
"""Kinds of single values beside `int`, `float` and `bool`: bytes, 64 bits without a sign, 32 bits with a point."""

f32: Any = np.float32
f64: Any = float
u64: Any = np.uint64
sqrt, exp, log1p = math.sqrt, math.exp, math.log1p


class Loop:
    """A function of arrays and numbers that may become machine code."""

    def __init__(self, function: Callable[..., Any], makes_texts: bool = False):
        self.function = function
        self.makes_texts = makes_texts
        self.reads_texts = bool({"Texts", "Text"} & set(map(str, function.__annotations__.values())))
        self.__doc__ = function.__doc__
        self.state: Any = None  # the engine's

    def code(self) -> Callable[..., Any] | None:
        """Return the function as machine code, None where it is not there (yet)."""
        code: Callable[..., Any] | None = quicker("loop code", self)
        return code


def loop(function: Callable[..., Any]) -> Loop:
    """Say that a function may become machine code."""
    return Loop(function)


def text_loop(function: Callable[..., Any]) -> Loop:
    """Say that a function may become machine code, and makes texts: it holds Python's lock."""
    return Loop(function, makes_texts=True)


# --- what only machine code can do ------------------------------------------------------------------------------------


def new_text(size: int) -> Text:
    """Make a text, whose bytes are to be written before anybody sees it."""
    raise TypeError("only machine code makes texts in place")


def is_missing(text: Text) -> bool:
    """Say whether there was no memory for a text."""
    return text is None


def all_texts(texts: Texts, n: int) -> bool:
    """Say whether the objects of an array are bytes, and nothing that only behaves like them."""
    return all(type(text) is bytes for text in texts[:n])


def copy_text(to: Text, at: int, text: Text, begin: int, count: int) -> None:
    """Copy bytes of a text into a new one."""
    raise TypeError("only machine code writes into texts")
