"""Quotients and remainders: of integers by known ones, of floats as C computes them.

A divisor of 0 is an error, which the op's kernel tells, and -1 takes the smallest integer out of its range; so integers
are divided here where the divisor is known to be neither.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.engines.native import symbols
from ebbflow.engines.native.lowering import Lowering, Refused, lowers
from ebbflow.engines.native.text import TYPES
from ebbflow.engines.native.values import Held, Num

_C = {"f32": "fmodf", "f64": "fmod"}


def _whole(x: Num, y: Num, instruction: str) -> Num:
    return Num(x.body, x.kind, x.body(f"{instruction} {TYPES[x.kind]} {x.name}, {y.name}"))


def _rest(x: Num, y: Num) -> Num:
    """Return what is left, with the sign of x."""
    if not x.is_float:
        return _whole(x, y, "srem")
    t = TYPES[x.kind]
    return Num(x.body, x.kind, x.body(f"call {t} @{_C[x.kind]}({t} {x.name}, {t} {y.name})"))


def _other_sides(a: Num, b: Num) -> Num:
    """Return whether one is negative and the other is not."""
    return Num(a.body, "bool", a.body(f"xor i1 {(a < 0).name}, {(b < 0).name}"))


def _floor_mod(x: Num, y: Num) -> Num:
    left = _rest(x, y)
    some = left.compare("ne", 0)
    found = (some & _other_sides(left, y)).where(left + y, left)
    if not x.is_float:
        return found
    none = Num(x.body, x.kind, x._like(0)).call("copysign", y)  # a zero has the divisor's sign; by zero it is NaN
    return left.compare("eq", 0).where(none, y.compare("eq", 0).where(left, found))


def _floor_div(x: Num, y: Num) -> Num:
    left, quotient = _rest(x, y), _whole(x, y, "sdiv")
    return (left.compare("ne", 0) & _other_sides(left, y)).where(quotient - 1, quotient)


_FLOATS = {"FloorMod": _floor_mod, "Mod": _rest, "TruncateMod": _rest}
_INTEGERS = {
    **_FLOATS,
    "FloorDiv": _floor_div,
    "TruncateDiv": functools.partial(_whole, instruction="sdiv"),
    "Div": functools.partial(_whole, instruction="sdiv"),
}


@lowers(*_INTEGERS, where=lambda node: divides(node))
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    name = node.op.name
    if not divides(node):
        raise Refused("integers are divided by known ones, and remainders of floats are C's")
    if held[0].kind[0] == "f":
        return low.map(_FLOATS[name], *held, cost=40) if name in _FLOATS else low._elementwise(node, held)
    return low.map(_INTEGERS[name], *held, cost=20)  # type: ignore[arg-type]


def divides(node: Any) -> bool:
    """Return whether nothing can go wrong in a division."""
    by = node.inputs[1]
    if by.dtype.is_floating:
        return node.op.name not in _FLOATS or all(name in symbols.addresses() for name in _C.values())
    return by.known is not None and not np.isin(by.known, [0, -1]).any()
