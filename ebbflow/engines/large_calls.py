"""Which costly functions of large arrays (from `declare.LARGE` elements on) are machine code in single calls.

NumPy computes `tanh` and its kin on one core, an element in a few nanoseconds. From a size on that pays for it, an
eager call is given to a loop over vectors instead (`native.large_loops`). Numbers agree to a few ulps. Images are
resized by code (`native.resize`), rows added to rows that indices name (`native.row_sums`) and random words made
(`native.random_words`), in eager calls and in Programs, to the same bits, so NumPy answers until that code is made;
small arrays stay with it. So are the loops that kernels have written themselves (`core.loops`).

Importing this gives the ops their large form (`Op.large_fn`) and offers the rest (`core.offers`). It is part of every
start, so what makes and runs code is loaded by the first large array.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.loops import Loop
from ebbflow.core.offers import ways
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.engines import enabled

FUNCTIONS = {
    "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh",
    "Cos": "cos", "Cosh": "cosh", "Elu": "elu",
    "Erf": "erf", "Erfc": "erfc", "Exp": "exp", "Expm1": "expm1", "Log": "log",
    "Log1p": "log1p", "Selu": "selu",
    "Sigmoid": "sigmoid", "Sin": "sin", "Sinh": "sinh", "Softplus": "softplus", "Tan": "tan",
    "Tanh": "tanh",
}  # fmt: skip
"""Ops, and the function of ours (`arithmetic.functions`) that computes them."""


def large_form(name: str, dtype: Any, plain: Callable[[Any], Any]) -> Callable[[Any], Any] | None:
    """Return a kernel of one large array by the function `name`, and by `plain` where there is no code for it."""
    if dtype is dtypes.float16 or dtype is dtypes.complex64:
        from ebbflow.ops.elementwise.element_loops import other_form  # for those who have large arrays

        return other_form(name, dtype, plain)
    if (dtype is not dtypes.float32 and dtype is not dtypes.float64) or not enabled.allowed("native"):
        return None
    function: Any = None

    def kernel(x: Any) -> Any:
        nonlocal function
        if function is None:
            from ebbflow.engines.native.large_loops import LargeFunction  # loads threads, and in time LLVM

            function = LargeFunction(name, dtype)
        result = function(x)
        return plain(x) if result is None else result

    return kernel


def _attach(name: str, op: Op) -> None:
    op.large_fn = partial(large_form, name)


IMAGES = 1 << 11
"""Numbers of a resized batch of images from which on machine code makes it."""


def resized(images: Any, down: Any, across: Any) -> Any:
    """Return images resized by machine code; None where that would not pay, or is not there."""
    if len(images) * len(down.places) * len(across.places) * images.shape[3] < IMAGES or not enabled.allowed("native"):
        return None
    resize = _resize(images.dtype)
    return None if resize is None else resize(images, down, across)


@cache
def _resize(kind: Any) -> Any:
    from ebbflow.engines.native.resize import KINDS, Resize  # loads threads, and in time LLVM

    return Resize(kind) if kind in KINDS else None


ROWS = 1 << 9
"""Numbers of rows to be added from which on machine code adds them."""


def rows_added(rows: Any, at: Any, updates: Any, ufunc: Any) -> bool:
    """Add to (or subtract from) rows by machine code; return whether that was done."""
    if updates.size < ROWS or updates.dtype != rows.dtype or not enabled.allowed("native"):
        return False
    add = _row_sums(rows.dtype, at.dtype, ufunc)
    lie_plain = all(a.flags.c_contiguous and a.flags.aligned for a in (rows, at, updates)) and rows.flags.writeable
    if add is None or not lie_plain or updates.shape != (at.size, *rows.shape[1:]):
        return False
    done: bool = add(rows, at, updates)
    return done


@cache
def _row_sums(kind: Any, index: Any, ufunc: Any) -> Any:
    from ebbflow.engines.native.row_sums import FLOATS, INDICES, INSTRUCTIONS, RowSums  # loads threads, in time LLVM

    served = kind in FLOATS and index in INDICES and ufunc in INSTRUCTIONS
    return RowSums(kind, index, INSTRUCTIONS[ufunc]) if served else None


def random_words(key: int, low: int, high: int, count: int) -> Any:
    """Return blocks of random words by machine code; None where that is not there."""
    return _words()(key, low, high, count) if enabled.allowed("native") else None


def random_fractions(key: int, low: int, high: int, count: int) -> Any:
    """Return blocks of random float32 from [0, 1) by machine code; None where that is not there."""
    return _words(fractions=True)(key, low, high, count) if enabled.allowed("native") else None


@cache
def _words(fractions: bool = False) -> Any:
    from ebbflow.engines.native.random_words import Words  # loads threads, and in time LLVM

    return Words(fractions)


def loop_code(loop: Loop) -> Callable[..., Any] | None:
    """Return the machine code of a loop that a kernel has written in Python; None where it is not there."""
    if loop.state is None:
        if not enabled.allowed("native"):
            return None
        from ebbflow.engines.native.loops import LoopCode, laid_out_as_expected  # loads threads, and in time LLVM

        loop.state = LoopCode(loop) if laid_out_as_expected() or not loop.reads_texts else _nothing
    return loop.state()


def _nothing() -> None:
    return None


ways |= {
    "resize bilinear": resized,
    "fold rows": rows_added,
    "random words": random_words,
    "random fractions": random_fractions,
    "loop code": loop_code,
}
for _op, _function in FUNCTIONS.items():
    registry.when_declared(_op, partial(_attach, _function))
