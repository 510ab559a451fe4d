"""Have convolutions that need fewer multiplications than oneDNN takes computed by machine code of our own.

A convolution, with what was fused into it, becomes a region of one node: oneDNN computes it until the code is there.
"""

from __future__ import annotations

from ebbflow.compiler.flow import Flow
from ebbflow.compiler.passes.cluster import replaced
from ebbflow.compiler.passes.native import native_of
from ebbflow.engines import enabled
from ebbflow.engines.native import library
from ebbflow.engines.native.lowerings import convolution


def take_convolutions(flow: Flow) -> Flow:
    """Return the flow with regions in the place of convolutions that the native engine is quicker at."""
    found = [n for n in flow.nodes if n.op.name in convolution.NAMES]
    if not found or not enabled.allowed("native") or not library.available():
        return flow
    groups = [[node] for node in found if convolution.serves(node)]
    return replaced(flow, groups, native_of) if groups else flow
