"""Integers as rows of bits: and, or, exclusive or, not, shifts, counting ones.

A shift by a negative number of bits, or by more than the type has, is taken to the nearest that makes sense, as
TensorFlow's kernels do. No gradient flows through any of these.
"""

from __future__ import annotations

from typing import Any

from ebbflow.ops.declare import FLAT, binary, quick_binary, quick_unary, unary


def _shift(name: str) -> Any:
    def kernel(xp: Any, x: Any, y: Any) -> Any:
        bits = x.dtype.itemsize * 8
        return getattr(xp, name)(x, xp.clip(y, 0, bits - 1).astype(x.dtype))

    return kernel


def _count_ones(xp: Any, x: Any) -> Any:
    words = x.view(f"u{x.dtype.itemsize}")
    if hasattr(xp, "bitwise_count"):
        return xp.bitwise_count(words)
    count = xp.zeros(words.shape, "uint8")
    for bit in range(x.dtype.itemsize * 8):
        count = count + ((words >> words.dtype.type(bit)) & words.dtype.type(1)).astype("uint8")
    return count


BitwiseAnd = binary("BitwiseAnd", "bitwise_and", FLAT, FLAT, types="integers", flags="commutative")
BitwiseOr = binary("BitwiseOr", "bitwise_or", FLAT, FLAT, types="integers", flags="commutative")
BitwiseXor = binary("BitwiseXor", "bitwise_xor", FLAT, FLAT, types="integers", flags="commutative")
LeftShift = binary("LeftShift", _shift("left_shift"), FLAT, FLAT, types="integers")
RightShift = binary("RightShift", _shift("right_shift"), FLAT, FLAT, types="integers")
Invert = unary("Invert", "invert", FLAT, types="integers")
PopulationCount = unary("PopulationCount", _count_ones, FLAT, types="integers", result="uint8")

bitwise_and = quick_binary(BitwiseAnd, "bitwise_and", "Return the bits set in both `x` and `y`.")
bitwise_or = quick_binary(BitwiseOr, "bitwise_or", "Return the bits set in `x` or `y`.")
bitwise_xor = quick_binary(BitwiseXor, "bitwise_xor", "Return the bits set in one of `x` and `y` alone.")
left_shift = quick_binary(LeftShift, "left_shift", "Return `x` with its bits `y` places up.")
right_shift = quick_binary(RightShift, "right_shift", "Return `x` with its bits `y` places down, the sign kept.")
invert = quick_unary(Invert, "invert", "Return the bits not set in `x`.")
population_count = quick_unary(PopulationCount, "population_count", "Return how many bits are set in `x`.")
