"""Arithmetic that writes LLVM instructions: `x * y + 1` on `Scalar`s is a mul and an add in the current block.

Nothing here branches, so that a loop around it can be made a loop over vectors. No instruction carries fast-math
flags: sums are done in the order written, which the functions built on this rely on. Knows llvmlite and numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir

F32, F64 = ir.FloatType(), ir.DoubleType()
TYPES = {"f32": F32, "f64": F64}
BITS = {F32: ir.IntType(32), F64: ir.IntType(64)}
MANTISSA = {F32: 23, F64: 52}  # bits after the leading one
BIAS = {F32: 127, F64: 1023}
LDEXP = "ebb.ldexp"  # the mark of a module that may use it


class Scalar:
    """One number, known when the code runs. Integers and floats; plain Python numbers become constants beside it."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder, self.value = builder, value

    @property
    def type(self) -> ir.Type:
        return self.value.type

    @property
    def is_float(self) -> bool:
        return self.type in (F32, F64)

    def like(self, number: Scalar | float) -> Scalar:
        """Return the number as a constant of this one's type."""
        return number if isinstance(number, Scalar) else Scalar(self.builder, ir.Constant(self.type, number))

    def _make(self, instruction: str, *operands: Scalar | float) -> Scalar:
        return Scalar(self.builder, getattr(self.builder, instruction)(*(self.like(o).value for o in operands)))

    def __add__(self, other):
        return self._make("fadd" if self.is_float else "add", self, other)

    def __radd__(self, other):
        return self.like(other) + self

    def __sub__(self, other):
        return self._make("fsub" if self.is_float else "sub", self, other)

    def __rsub__(self, other):
        return self.like(other) - self

    def __mul__(self, other):
        return self._make("fmul" if self.is_float else "mul", self, other)

    def __rmul__(self, other):
        return self.like(other) * self

    def __truediv__(self, other):
        return self._make("fdiv", self, other)

    def __rtruediv__(self, other):
        return self.like(other) / self

    def __neg__(self):
        return self._make("fneg", self)

    def __and__(self, other):
        return self._make("and_", self, other)

    def __or__(self, other):
        return self._make("or_", self, other)

    def __xor__(self, other):
        return self._make("xor", self, other)

    def __invert__(self):
        return self._make("not_", self)

    def __lshift__(self, other):
        return self._make("shl", self, other)

    def __rshift__(self, other):
        return self._make("ashr", self, other)

    def _compare(self, sign: str, other: Scalar | float) -> Scalar:
        compare = self.builder.fcmp_ordered if self.is_float else self.builder.icmp_signed
        return Scalar(self.builder, compare(sign, self.value, self.like(other).value))

    def __lt__(self, other):
        return self._compare("<", other)

    def __le__(self, other):
        return self._compare("<=", other)

    def __gt__(self, other):
        return self._compare(">", other)

    def __ge__(self, other):
        return self._compare(">=", other)

    def equals(self, other: Scalar | float) -> Scalar:
        """Return whether both are the same number; a method, so that `==` goes on comparing objects."""
        return self._compare("==", other)

    def differs(self, other: Scalar | float) -> Scalar:
        """Return whether both are numbers, and not the same."""
        return self._compare("!=", other)

    def _call(self, name: str, *operands: Scalar | float) -> Scalar:
        kind = ir.FunctionType(self.type, [self.type] * len(operands))
        intrinsic = self.builder.module.declare_intrinsic(name, [self.type], kind)
        return Scalar(self.builder, self.builder.call(intrinsic, [self.like(o).value for o in operands]))

    def fma(self, factor: Scalar | float, term: Scalar | float) -> Scalar:
        """Return self · factor + term, rounded once."""
        return self._call("llvm.fma", self, factor, term)

    def abs(self) -> Scalar:
        return self._call("llvm.fabs", self)

    def sqrt(self) -> Scalar:
        return self._call("llvm.sqrt", self)

    def rint(self) -> Scalar:
        return self._call("llvm.rint", self)

    def with_sign_of(self, other: Scalar) -> Scalar:
        return self._call("llvm.copysign", self, other)

    def at_least(self, low: Scalar | float) -> Scalar:
        """Return the larger; a NaN stays one."""
        return (self < low).choose(low, self)

    def at_most(self, high: Scalar | float) -> Scalar:
        """Return the smaller; a NaN stays one."""
        return (self > high).choose(high, self)

    def choose(self, yes: Scalar | float, no: Scalar | float) -> Scalar:
        """Return `yes` where this condition holds, else `no`. One of the two is a Scalar."""
        typed = yes if isinstance(yes, Scalar) else no
        chosen = self.builder.select(self.value, typed.like(yes).value, typed.like(no).value)  # type: ignore[union-attr]
        return Scalar(self.builder, chosen)

    def bits(self) -> Scalar:
        """Return the float's bits as an integer."""
        return Scalar(self.builder, self.builder.bitcast(self.value, BITS[self.type]))

    def float_of_bits(self) -> Scalar:
        kind = F32 if self.type.width == 32 else F64
        return Scalar(self.builder, self.builder.bitcast(self.value, kind))

    def to_float(self, kind: ir.Type) -> Scalar:
        """Return the integer, or float of the other kind, as a float of this kind."""
        if not self.is_float:
            return Scalar(self.builder, self.builder.sitofp(self.value, kind))
        if self.type == kind:
            return self
        convert = self.builder.fpext if kind == F64 else self.builder.fptrunc
        return Scalar(self.builder, convert(self.value, kind))

    def to_int(self, kind: ir.IntType) -> Scalar:
        """Return the integer with the width of `kind`."""
        if self.type.width == kind.width:
            return self
        convert = self.builder.trunc if kind.width < self.type.width else self.builder.sext
        return Scalar(self.builder, convert(self.value, kind))

    def polynomial(self, coefficients: Sequence[float]) -> Scalar:
        """Return the polynomial, lowest power first, by Horner's rule."""
        result = self.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = result.fma(self, coefficient)
        return result

    def round_to_int(self) -> tuple[Scalar, Scalar]:
        """Return the nearest whole number, as a float and as an integer. For |x| < 2^21 (float32) or 2^50.

        Added to a number so large that its last bit is worth 1, x is rounded by the addition, and its integer stands
        in the last bits: two instructions, no conversions.
        """
        shift = 1.5 * 2.0 ** MANTISSA[self.type]
        shifted = self + shift
        return shifted - shift, shifted.bits() - self.like(shift).bits()

    @property
    def nan(self) -> Scalar:
        return self.like(math.nan)


def power_of_two(n: Scalar, kind: ir.Type) -> Scalar:
    """Return 2ⁿ as a float of this kind, for an n that such a float can have."""
    return ((n + BIAS[kind]) << MANTISSA[kind]).float_of_bits()


def times_power_of_two(x: Scalar, n: Scalar) -> Scalar:
    """Return x · 2ⁿ, in two steps: it may be too large or too small for a float, and so may 2ⁿ."""
    module = x.builder.module
    if LDEXP not in module.namedmetadata:
        half = n >> 1
        return x * power_of_two(half, x.type) * power_of_two(n - half, x.type)
    count = ir.IntType(32)
    ldexp = module.declare_intrinsic("llvm.ldexp", [x.type, count], ir.FunctionType(x.type, [x.type, count]))
    return Scalar(x.builder, x.builder.call(ldexp, [x.value, n.to_int(count).value]))


def allow_ldexp(module: ir.Module) -> None:
    """Have functions yet to be put into the module scale by LLVM's ldexp: one instruction of AVX-512, else a call."""
    if LDEXP not in module.namedmetadata:
        module.add_named_metadata(LDEXP)
