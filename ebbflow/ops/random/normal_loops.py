"""Pairs of normal numbers from pairs of random words, as a loop that may become machine code (`core.loops`).

Step by step what `distributions.normals` does with arrays, so the bits are the same: the logarithm, the sine and the
cosine are the C library's in single precision, computed in double precision.
"""

from __future__ import annotations

import math

from ebbflow.core.loops import F32, F64, U32, bits_of, f32, f64, loop, of_bits, rint, sqrt

SMALLEST = 1e-7
"""What a uniform number is raised to before its logarithm is taken."""
LOG_TERMS = L1, L2, L3 = [
    float.fromhex(text) for text in ("-0x1.ffffef20a4123p-2", "0x1.5575b0be00b6ap-2", "-0x1.00ea348b88334p-2")
]
LOG_ORIGIN = 0x3F330000
"""The bits of 0.69921875, where what is near 1 begins."""
SINE_TERMS = S1, S2, S3 = [
    float.fromhex(t) for t in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")
]
COSINE_TERMS = C1, C2, C3, C4 = [
    float.fromhex(t)
    for t in ("-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5", "-0x1.6c087e89a359dp-10", "0x1.99343027bf8c3p-16")
]
LN2, UNIT, TURN, QUARTERS, QUARTER = math.log(2), 2.0**-23, 2 * math.pi * 2.0**-23, 2 / math.pi, math.pi / 2
FRACTION = 0x7FFFFF


def normal_pair(first: int, second: int, reciprocals: F64, logarithms: F64, out: F32, i: int) -> None:
    """Make the pair number `i` of two words."""
    u = max(f32(first & FRACTION) * f32(UNIT), f32(SMALLEST))
    bits = bits_of(u)
    from_origin = bits - LOG_ORIGIN
    k = from_origin >> 23
    nearest = (from_origin >> 19) & 15
    r = f64(of_bits(bits - (k << 23))) * reciprocals[nearest] - 1.0
    square = r * r
    tail = ((L2 * r + L1) + L3 * square) * square
    radius = sqrt(f32(-2.0) * f32(tail + (r + (logarithms[nearest] + f64(k) * LN2))))
    x = f64(f32(f64(second & FRACTION) * TURN))
    quarters = rint(x * QUARTERS)
    x = x - quarters * QUARTER
    x2 = x * x
    x4 = x2 * x2
    sine = f32((S3 * x2 + S2) * x4 * x + (x + x * x2 * S1))
    cosine = f32((C4 * x2 + C3) * (x4 * x2) + ((1.0 + C1 * x2) + x4 * C2))
    quarter = int(quarters)
    odd = quarter & 1
    out[2 * i] = (cosine if odd == 1 else sine) * (-radius if (quarter & 2) == 2 else radius)
    out[2 * i + 1] = (sine if odd == 1 else cosine) * (-radius if ((quarter + 1) & 2) == 2 else radius)


@loop
def pairs_of_normals(words: U32, out: F32, reciprocals: F64, logarithms: F64, n: int) -> None:
    """Make two normal numbers of each two words."""
    for i in range(n):
        normal_pair(words[2 * i], words[2 * i + 1], reciprocals, logarithms, out, i)
