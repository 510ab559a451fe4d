"""Where the parts of a tensor lie on a mesh of devices: `Relayout` changes that, and no number.

How a tensor is divided is a text here, which only those understand who made the mesh (`distribute.mesh`).
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import elsewhere, errors
from ebbflow.core.op import op

Relayout = op(
    "Relayout(input:T) -> (output:T) | layout: string; T: type",
    shape=lambda input: input.dims,
    gradient=lambda call, grad: grad,
)


@Relayout.kernel
def _(xp, input, *, layout):
    if not elsewhere.relayouts:
        raise errors.FailedPreconditionError(
            None, None, f"Relayout to {layout!r}: this process has no mesh; make one with dtensor.create_mesh"
        )
    return elsewhere.relayouts[0](input, _text(layout))


def _text(layout: Any) -> str:
    return layout.decode() if isinstance(layout, bytes) else layout
