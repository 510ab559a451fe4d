"""Cases for quantisation as if, and there and back."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import D, L, V, bad, case, op

FLOAT = ("float32",)
WIDE = ("float32", "float64", "float16", "bfloat16")


def cases() -> Iterator[dict]:
    ranges = [
        {},
        {"min": -1.0, "max": 1.0},
        {"min": 0.0, "max": 3.0, "num_bits": 4},
        {"narrow_range": True, "num_bits": 5},
    ]
    wrong = [{"min": 1.0, "max": 1.0}, {"num_bits": 1}, {"num_bits": 17}]
    rows = [case(inputs=D("3 4", -8, 8), **r) for r in ranges] + [
        case(inputs=D("0 2")),
        case(inputs=D("5"), min=2.0, max=5.0),
    ]
    yield from op("FakeQuantWithMinMaxArgs", FLOAT, *rows, *[bad(inputs=D("2"), **w) for w in wrong])
    rows = [case(gradients=D("3 4"), inputs=D("3 4", -8, 8), **r, no_grad=True) for r in ranges]
    rows += [bad(gradients=D("3"), inputs=D("4"))]
    yield from op("FakeQuantWithMinMaxArgsGradient", FLOAT, *rows)
    bits = [{}, {"num_bits": 3}, {"narrow_range": True}]
    low, high = L("float32", -1.5), L("float32", 1.0)
    rows = [case(inputs=D("3 4"), min=low, max=high, **b) for b in bits]
    rows += [case(inputs=D("3 4"), min=L("float32", 0.0), max=L("float32", 0.0))]
    rows += [case(inputs=D("3 4"), min=L("float32", a), max=L("float32", b)) for a, b in ((0.5, 1.5), (-2.0, -0.5))]
    rows += [bad(inputs=D("3"), min=L("float32", [-1.0]), max=high), bad(inputs=D("3"), min=low, max=high, num_bits=1)]
    yield from op("FakeQuantWithMinMaxVars", FLOAT, *rows)
    rows = [case(gradients=D("3 4"), inputs=D("3 4"), min=low, max=high, **b, no_grad=True) for b in bits]
    rows += [bad(gradients=D("3"), inputs=D("4"), min=low, max=high)]
    yield from op("FakeQuantWithMinMaxVarsGradient", FLOAT, *rows)
    lows, highs = L("float32", [-1.5, 0.0, -1.0]), L("float32", [1.0, 1.5, 0.0])
    rows = [case(inputs=D(d), min=lows, max=highs, **b) for d in ("3", "2 3", "2 2 2 3") for b in bits]
    rows += [bad(inputs=D("2 4"), min=lows, max=highs), bad(inputs=D("2 3"), min=low, max=high)]
    yield from op("FakeQuantWithMinMaxVarsPerChannel", FLOAT, *rows)
    rows = [case(gradients=D("2 3"), inputs=D("2 3"), min=lows, max=highs, **b, no_grad=True) for b in bits]
    rows += [bad(gradients=D("2 3"), inputs=D("2 4"), min=lows, max=highs)]
    yield from op("FakeQuantWithMinMaxVarsPerChannelGradient", FLOAT, *rows)
    yield from both_ways()


def both_ways() -> Iterator[dict]:
    more = [
        {},
        {"signed_input": False},
        {"num_bits": 4},
        {"narrow_range": True},
        {"round_mode": "HALF_UP", "num_bits": 3},
    ]
    one = {"input_min": V(-1.0), "input_max": V(1.5)}
    each = {"input_min": V([-1.0, -0.5, 0.0]), "input_max": V([1.0, 2.0, 1.5])}
    for name in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
        rows = [case(input=D("2 3"), **one, range_given=g, **m) for g in (False, True) for m in more]
        rows += [
            case(input=D("2 3"), **each, range_given=True, axis=1),
            case(input=D("2 3"), **each, axis=1, no_grad=True),
        ]
        rows += [bad(input=D("2 3"), input_min=V(2.0), input_max=V(1.0), range_given=True)]
        rows += [bad(input=D("2 3"), **one, num_bits=99), bad(input=D("2 3"), **one, axis=5)]
        yield from op(name, WIDE if name.endswith("2") else ("float32", "float64"), *rows)
    bits = {"num_bits": L("int32", 8)}
    rows = [case(input=D("2 3"), **one, **bits), case(input=D("2 3"), **one, num_bits=L("int32", 4), range_given=False)]
    rows += [case(input=D("2 3"), **each, **bits, axis=1), bad(input=D("2 3"), **one, num_bits=L("int32", 99))]
    yield from op("QuantizeAndDequantizeV3", ("float32", "float64"), *rows)
    rows = [case(gradients=D("2 3"), input=D("2 3"), **one, no_grad=True)]
    rows += [case(gradients=D("2 3"), input=D("2 3"), **each, axis=1, no_grad=True)]
    rows += [bad(gradients=D("2 3"), input=D("3 3"), **one)]
    yield from op("QuantizeAndDequantizeV4Grad", ("float32", "float64"), *rows)
