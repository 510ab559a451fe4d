"""The functions of mathematics as LLVM code that a loop over vectors can be made of.

LLVM turns a loop over elements into vector instructions unless its body calls a library, which all of libm does for
it. `function` puts one of ours into a module instead: straight-line code without branches or calls, always inlined.
Processors without a fused multiply-add would call a library for it: there these functions are right, but slow.

Errors are at most 2 units of the last place, but 3 for sinh, the inverse functions and float64's sin and cos, 4 for
tan and erfc (tests/engines/native/test_arithmetic.py measures them). Zeros keep their signs, infinities and NaN go
where C's functions send them, results below the normal numbers are rounded to what there is. With AVX-512,
`allow_ldexp` first makes exp and its kin shorter. Knows llvmlite.
"""

from __future__ import annotations

from llvmlite import ir

from ebbflow.engines.native.arithmetic import exponential, power, trigonometry
from ebbflow.engines.native.scalar import TYPES, Scalar, allow_ldexp

__all__ = ["BINARY", "NAMES", "UNARY", "allow_ldexp", "function"]

_ALL = (*exponential.FUNCTIONS, *trigonometry.FUNCTIONS, *power.FUNCTIONS)
UNARY = {fn.__name__: fn for fn in _ALL if fn.__code__.co_argcount == 1}
BINARY = {fn.__name__: fn for fn in _ALL if fn.__code__.co_argcount == 2}
NAMES = {kind: frozenset(UNARY) | frozenset(BINARY) for kind in TYPES}


def function(module: ir.Module, name: str, kind: str) -> ir.Function:
    """Return the function of this name (an op's, in lower case) for "f32" or "f64", put into the module once."""
    full = f"ebb.{name}.{kind}"
    if full in module.globals:
        return module.globals[full]
    body, count = (UNARY[name], 1) if name in UNARY else (BINARY[name], 2)
    made = ir.Function(module, ir.FunctionType(TYPES[kind], [TYPES[kind]] * count), full)
    made.linkage = "internal"
    made.attributes.add("alwaysinline")
    made.attributes.add("nounwind")
    builder = ir.IRBuilder(made.append_basic_block())
    builder.ret(body(*(Scalar(builder, argument) for argument in made.args)).value)
    return made
