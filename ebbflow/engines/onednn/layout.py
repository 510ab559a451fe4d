"""The same elements in another order: a transposition that uses all CPUs."""

from __future__ import annotations

from ebbflow.engines.onednn.binding import seen
from ebbflow.engines.onednn.chain import Chain, Plan, moving, need, planner
from ebbflow.engines.onednn.conv import Dims


@planner
def transpose(dims: Dims, perm: Dims) -> Plan:
    """Plan `out = x.transpose(perm)`, written out: call(x, out)."""
    need(sorted(perm) == list(range(len(dims))) and 0 < len(dims) <= 6 and min(dims) > 0)
    out = tuple(dims[i] for i in perm)
    chain = Chain(2 * moving(dims))
    back = sorted(range(len(perm)), key=perm.__getitem__)
    chain.reorder(chain.reads(0, dims), seen(dims), chain.writes(1, out), seen(out, back))
    return Plan(chain, (out,))
