"""What groups compute again: from values that stand before them, also where those change places themselves."""

from __future__ import annotations

from ebbflow.compiler.flow_parser import parse
from ebbflow.compiler.passes.cluster import by_levels
from ebbflow.compiler.passes.recompute import recompute
from ebbflow.compiler.passes.verify import verify

LATE = """x: float32[64, 64]; axes: int32[1] = [0]
a = Exp(x)
b = Tanh(a)
p = MatMul(b, b)
g = Neg(p)
k = Mul(a, b)
v = Sum(k, axes)
w = Sub(x, v)
u = Exp(w)
y = AddN([g, w, u])
return y"""
GROUPS = ("ab", "kvwu", "gy")
"""The last begins before what it computes again can be, and the second computes again too: `v` is another node then."""


def test_what_is_computed_again_takes_what_other_groups_give():
    flow = parse(LATE)
    by_name = dict(zip(["axes", "a", "b", "p", "g", "k", "v", "w", "u", "y"], flow.nodes, strict=True))
    groups = [[by_name[name] for name in group] for group in GROUPS]
    levels = {node: 1 for node in flow.nodes} | {n: 2 * i for i, group in enumerate(groups) for n in group}
    levels[by_name["axes"]] = 0
    made, grown = recompute(by_levels(flow, levels), groups)
    verify(made, "recompute")
    assert [[n.op.name for n in group] for group in grown] == [
        ["Exp", "Tanh"],
        ["Exp", "Tanh", "Mul", "Sum", "Sub", "Exp"],
        ["Sub", "Exp", "Neg", "AddN"],
    ]
