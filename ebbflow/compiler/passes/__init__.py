"""Passes: small functions from Flow to Flow, in the order they run.

Every pass can be left out by name; with EBBFLOW_CHECK=1 in the environment each one's result is verified, and an error
names the pass at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ebbflow.compiler.flow import Flow
from ebbflow.compiler.options import FOR_THE_HOST, checking
from ebbflow.compiler.passes.broadcasts import sink_broadcasts
from ebbflow.compiler.passes.cluster import cluster, cluster_all
from ebbflow.compiler.passes.columns import take_columns
from ebbflow.compiler.passes.common import share_common
from ebbflow.compiler.passes.cross_entropy import scale_entropies
from ebbflow.compiler.passes.draws import draw_before_loops
from ebbflow.compiler.passes.fold import fold_constants
from ebbflow.compiler.passes.fuse import fuse
from ebbflow.compiler.passes.invariants import take_invariants
from ebbflow.compiler.passes.layout import keep_channels_last
from ebbflow.compiler.passes.narrow import narrow_bodies
from ebbflow.compiler.passes.native import make_native
from ebbflow.compiler.passes.parallel import run_side_by_side
from ebbflow.compiler.passes.prune import prune
from ebbflow.compiler.passes.reads import read_before_loops
from ebbflow.compiler.passes.rematerialise import rematerialise
from ebbflow.compiler.passes.siblings import batch_siblings
from ebbflow.compiler.passes.simplify import simplify
from ebbflow.compiler.passes.verify import picture, verify, verify_unchanged
from ebbflow.compiler.passes.winograd import take_convolutions

PASSES: dict[str, Callable[[Flow], Flow]] = {
    "prune": prune,
    "narrow": narrow_bodies,
    "draws": draw_before_loops,
    "reads": read_before_loops,
    "invariants": take_invariants,
    "fold": fold_constants,
    "simplify": simplify,
    "columns": take_columns,
    "broadcasts": sink_broadcasts,
    "common": share_common,
    "layout": keep_channels_last,  # before everything that looks at what stands next to a convolution
    "native": make_native,
    "siblings": batch_siblings,
    "entropy": scale_entropies,
    "fuse": fuse,
    "winograd": take_convolutions,
    "cluster": cluster,
    "parallel": run_side_by_side,  # what is left: clusters use all cores by themselves
}


def optimise(
    flow: Flow, without: Collection[str] = (), greedy: bool = False, memory: tuple[int, str] | None = None
) -> Flow:
    """Return the flow after all passes but those named; `greedy` gives XLA all that it can take.

    `memory` says how many bytes values may take at once, and the scope of nodes for which they are computed again.
    """
    check = checking()
    without = {*without, *FOR_THE_HOST} if greedy else without
    if memory is not None:  # regions and clusters would hide what could be computed again
        without = {*without, "native", *(() if greedy else ("cluster",))}
    for name, transform in PASSES.items():
        if name not in without:
            flow = _run(name, cluster_all if greedy and name == "cluster" else transform, flow, check)
    flow = prune(flow)
    if memory is not None:  # last, and on what is left: any pass behind it would share again what is there twice
        flow = _run("rematerialise", lambda flow: rematerialise(flow, *memory), flow, check)
    return flow


def _run(name: str, transform: Callable[[Flow], Flow], flow: Flow, check: bool) -> Flow:
    """Return what a pass makes of a flow; `check` looks whether that is well made, and what it was given unchanged."""
    if not check:
        return transform(flow)
    before = picture(flow)
    result = transform(flow)
    verify_unchanged(flow, before, name)
    verify(result, name)
    return result
