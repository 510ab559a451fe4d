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
results. Where the other way rounds otherwise it is a `waiting_loop`: its first call waits for the code. Arguments must
be arrays whose elements lie one behind the other, of the dtypes that were said; nobody checks indices. What may be
written is listed in `engines.native.loop_text`. Knows nothing of engines: one may offer to make code ("loop code" of
`core.offers`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ebbflow.core.offers import quicker

F16: TypeAlias = Any
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
sqrt, floor, rint, ceil = math.sqrt, math.floor, np.rint, math.ceil
exp, log, log1p, sin, cos, pow, lgamma = math.exp, math.log, math.log1p, math.sin, math.cos, math.pow, math.lgamma
fmod = math.fmod
"""These are the C library's, of 64 bits."""
v_atan2, v_cos, v_erfc, v_exp, v_expm1 = np.arctan2, np.cos, math.erfc, np.exp, np.expm1
v_log, v_log1p, v_pow, v_sin, v_tanh = np.log, np.log1p, np.power, np.sin, np.tanh
"""Functions of floats of either size that do not keep a loop from becoming vector instructions."""


class Loop:
    """A function of arrays and numbers that may become machine code."""

    def __init__(self, function: Callable[..., Any], makes_texts: bool = False, waits: bool = False):
        self.function = function
        self.makes_texts = makes_texts
        self.waits = waits
        self.reads_texts = bool({"Texts", "Text"} & set(map(str, function.__annotations__.values())))
        self.__doc__ = function.__doc__
        self.state: Any = None  # the engine's
        self.spent = 0  # elements that were computed without the code

    def code(self) -> Callable[..., Any] | None:
        """Return the function as machine code, None where it is not there (yet)."""
        code: Callable[..., Any] | None = quicker("loop code", self)
        return code

    def worth(self, size: int, many: int = 1 << 30) -> Callable[..., Any] | None:
        """Return the code for `many` elements; for fewer, once so much was computed without it that making it pays."""
        if size < many and self.spent < PAYS:
            self.spent += size + CALL
            return None
        return self.code()


PAYS, CALL = 1 << 15, 1 << 9
"""Elements that pay for making code, and how many a call counts for by itself."""


def loop(function: Callable[..., Any]) -> Loop:
    """Say that a function may become machine code."""
    return Loop(function)


def waiting_loop(function: Callable[..., Any]) -> Loop:
    """Say that a function is to become machine code before it is first used: nothing else gives its last bits."""
    return Loop(function, waits=True)


def text_loop(function: Callable[..., Any]) -> Loop:
    """Say that a function may become machine code, and makes texts: it holds Python's lock."""
    return Loop(function, makes_texts=True)


def elements(function: Callable[..., Any], array: str = "F32", result: str = "", waits: bool = False) -> Loop:
    """Return the loop that computes a function of single numbers for the elements `begin` to `end` of arrays.

    `array` is what the arrays are of, and the one to write into (`result` where that is another). The loop's arguments
    are the arrays, `out`, `begin` and `end`.
    """
    names = list(inspect.signature(function).parameters)
    head = ", ".join([*[f"{name}: {array}" for name in names], f"out: {result or array}", "begin: int", "end: int"])
    call = ", ".join(f"{name}[i]" for name in names)
    source = f"def walk({head}) -> None:\n    for i in range(begin, end):\n        out[i] = function({call})\n"
    space = {"function": function, **globals()}
    exec(source, space)  # a text of ours
    walk: Any = space["walk"]
    walk.source = source
    return Loop(walk, waits=waits)


def bits_of(x: Single) -> int:
    """Return the bits of a number of 32 bits as an integer with a sign."""
    return int(np.float32(x).view(np.int32))


def of_bits(bits: int) -> Single:
    """Return the number of 32 bits that has these."""
    return np.int64(bits).astype(np.int32).view(np.float32)


# --- what only machine code can do ------------------------------------------------------------------------------------


def new_text(size: int) -> Text:
    """Make a text, whose bytes are to be written before anybody sees it."""
    raise TypeError("only machine code makes texts in place")


def is_missing(text: Text) -> bool:
    """Say whether there was no memory for a text."""
    return text is None


def is_text(text: Text) -> bool:
    """Say whether an object is bytes, and nothing that only behaves like them."""
    return type(text) is bytes


def kept(text: Text) -> Text:
    """Return a text that is there already, as one more that somebody holds: to be stored or returned, not dropped."""
    return text


def all_texts(texts: Texts, n: int) -> bool:
    """Say whether the objects of an array are bytes, and nothing that only behaves like them."""
    return all(type(text) is bytes for text in texts[:n])


def copy_text(to: Text, at: int, text: Text, begin: int, count: int) -> None:
    """Copy bytes of a text into a new one."""
    raise TypeError("only machine code writes into texts")
