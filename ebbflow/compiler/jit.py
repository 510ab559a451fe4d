"""Flows compiled whole by XLA: what `jit_compile=True` asks for.

Either everything in the flow can be lowered, variables included, or an error names each node that cannot and the user's
line that made it. `outside` tells the same for `jit_compile="auto"`, where such nodes simply stay on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.compiler.flow import Flow
from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known
from ebbflow.engines import enabled
from ebbflow.engines.xla import library
from ebbflow.engines.xla.refusal import Refusal, unsupported, why_not


class Jitted:
    """A compiled flow; it is run like a Program. `device` is jax's; None is the host."""

    def __init__(self, flow: Flow, fed: Sequence[Any], name: str, device: Any = None):
        library.need_threads()
        if not library.available() or not enabled.allowed("xla"):
            raise errors.UnimplementedError(
                None,
                None,
                f"jit_compile=True on '{name}' needs XLA: pip install 'ebbflow[xla]', or leave jit_compile out",
            )
        # What compiles is loaded when something is to be compiled.
        from ebbflow.engines.xla.executable import compile

        refused = [Refusal(reason, node.op.name, node) for node, reason in outside(flow, traced=True)]
        if refused:
            raise unsupported(refused, name)
        handles = [fed[i] for i, v in enumerate(flow.inputs) if v.dtype is dtypes.resource]
        try:
            self._executable = compile(flow, handles, device=device)
        except Refusal as refusal:
            raise unsupported([refusal], name) from None
        self.flow = flow
        self.handles: tuple[tuple[int, Any], ...] = ()
        self.shared = tuple(range(len(flow.outputs)))
        self.memory = 0

    def run(self, fed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fetched values."""
        return tuple(self._executable(*fed))

    def traced(self, fed: Sequence[Any], trace: list[Any]) -> tuple[Any, ...]:
        """Return the fetched values; inside XLA there are no nodes to time."""
        return self.run(fed)

    @property
    def source(self) -> str:
        """What XLA made of it."""
        return self._executable.text


def outside(flow: Flow, traced: bool = False) -> list[tuple[Any, str]]:
    """Return the nodes that XLA cannot take, each with the reason in words; see `why_not`."""
    found = []
    for node in flow.nodes:
        if node.op.name in ("Const", "_Cluster"):
            continue
        knowns = [Known(v.dims, v.dtype, v) for v in node.inputs]
        reason = why_not(node.op, node.attrs, knowns, state=True, traced=traced)
        if reason is not None:
            found.append((node, reason))
    return found
