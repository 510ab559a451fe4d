"""Code so simple that it may as well be run when its result is not needed.

`a and b` on tensors must not compute `b` where `a` fails, because `b` may have effects, cost much or not be valid.
Where `b` only compares, adds and multiplies variables and constants, none of that is so, and one node says it all.
"""

from __future__ import annotations

import dis
import functools
from types import CodeType

HARMLESS = frozenset(
    """
    RESUME NOP CACHE PRECALL COPY_FREE_VARS MAKE_CELL NOT_TAKEN
    LOAD_CONST LOAD_SMALL_INT LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW LOAD_FAST_LOAD_FAST
    LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_DEREF LOAD_CLOSURE LOAD_GLOBAL LOAD_NAME
    COMPARE_OP UNARY_NEGATIVE BINARY_ADD BINARY_SUBTRACT BINARY_MULTIPLY RETURN_VALUE RETURN_CONST
    """.split()  # noqa: SIM905
)
HARMLESS_BINARY = frozenset(["+", "-", "*"])


@functools.lru_cache(maxsize=4096)
def is_effortless(code: CodeType) -> bool:
    """Return whether code does no more than compare, add, subtract and multiply.

    >>> is_effortless((lambda x: x + 1 < 3).__code__), is_effortless((lambda x: x[0]).__code__)
    (True, False)
    """
    for instruction in dis.get_instructions(code):
        if instruction.opname == "BINARY_OP":
            if instruction.argrepr not in HARMLESS_BINARY:
                return False
        elif instruction.opname not in HARMLESS:
            return False
    return True
