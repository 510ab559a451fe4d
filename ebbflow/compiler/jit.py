"""Flows compiled whole by XLA: what `jit_compile=True` asks for.

Either everything in the flow can be lowered, variables included, or an error names each node that cannot and the user's
line that made it. Where code can be made only for a value that comes in (the shape of a `tf.reshape`), it is made for
each that does. `outside` tells the same for `jit_compile="auto"`, where such nodes simply stay on the host.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow
from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known
from ebbflow.core.shape import is_static
from ebbflow.engines import enabled
from ebbflow.engines.xla import library
from ebbflow.engines.xla.refusal import Refusal, UnknownValueError, runs_beside, unsupported, why_not

MOST_VALUES = 64
"""For so many values of its arguments a function's code is kept, where it differs with them."""
MOST_NUMBERS = 64
"""Whole numbers in an argument that may decide shapes."""


def whole(flow: Flow, fed: Sequence[Any], name: str, device: Any = None) -> Jitted | None:
    """Return a flow compiled whole, or raise an error that names what stands in the way.

    Where all of that is what TensorFlow's XLA takes there is no error, but None: on the host it runs beside code.
    """
    refused = [Refusal(reason, node.op.name, node) for node, reason in outside(flow, traced=True)]
    if not refused:
        try:
            return Jitted(flow, fed, name, device)
        except Refusal as refusal:
            refused = [refusal]
    if device is None and all(_beside(refusal.node) for refusal in refused):
        return None
    raise unsupported(refused, name)


def _beside(node: Any) -> bool:
    """Return whether a node, of the flow or of a function that it calls, may run beside what is compiled."""
    return node is not None and runs_beside(getattr(node, "_op", None) or node.op, node.attrs)


class Jitted:
    """A compiled flow; it is run like a Program. `device` is jax's; None is the host. A Refusal says why not."""

    def __init__(self, flow: Flow, fed: Sequence[Any], name: str, device: Any = None):
        library.need_threads()
        if not library.available() or not enabled.allowed("xla"):
            raise errors.UnimplementedError(
                None,
                None,
                f"jit_compile=True on '{name}' needs XLA: pip install 'ebbflow[xla]', or leave jit_compile out",
            )
        self.flow, self._name, self._device = flow, name, device
        self._decided: tuple[int, ...] = ()  # inputs whose values code is made for
        self._executables: dict[Any, Any] = {}
        self._executable = self._compiled(fed)
        self.handles: tuple[tuple[int, Any], ...] = ()
        self.shared = tuple(range(len(flow.outputs)))
        self.memory = 0

    def _compiled(self, fed: Sequence[Any]) -> Any:
        """Return the executable for these arguments; it learns on the way which of their values must be known.

        Raise a Refusal where there can be none.
        """
        # What compiles is loaded when something is to be compiled.
        from ebbflow.engines.xla.executable import compile

        flow = self.flow
        handles = [fed[i] for i, v in enumerate(flow.inputs) if v.dtype is dtypes.resource]
        while True:
            try:
                made = compile(
                    flow, handles, device=self._device, decided={i: np.asarray(fed[i]) for i in self._decided}
                )
                break
            except UnknownValueError as refusal:
                more = [i for i in _inputs_behind(flow, refusal) if i not in self._decided]
                if not more:
                    raise
                self._decided += tuple(more)
        if self._decided:
            while len(self._executables) >= MOST_VALUES:
                self._executables.pop(next(iter(self._executables)), None)
            self._executables[self._values(fed)] = made
        return made

    def _values(self, fed: Sequence[Any]) -> tuple[bytes, ...]:
        return tuple([np.asarray(fed[i]).tobytes() for i in self._decided])

    def run(self, fed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fetched values."""
        if not self._decided:
            return tuple(self._executable(*fed))
        try:
            executable = self._executables.get(self._values(fed)) or self._compiled(fed)
        except Refusal as refusal:
            raise unsupported([refusal], self._name) from None
        return tuple(executable(*fed))

    def traced(self, fed: Sequence[Any], trace: list[Any]) -> tuple[Any, ...]:
        """Return the fetched values; inside XLA there are no nodes to time."""
        return self.run(fed)

    @property
    def source(self) -> str:
        """What XLA made of it."""
        return self._executable.text


def _inputs_behind(flow: Flow, refusal: UnknownValueError) -> list[int]:
    """Return which inputs of a flow decide the value that a node of it needs: small ones of whole numbers."""
    node, places = refusal.node, {id(v): i for i, v in enumerate(flow.inputs)}
    if node not in flow.nodes:  # of a loop's body: what it takes may differ from turn to turn
        return []
    names = [arg.name for arg in node.op.signature.each_input(node.attrs)]
    waiting = [v for name, v in zip(names, node.inputs, strict=True) if refusal.argument in ("", name)]
    found: dict[int, None] = {}
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or value.known is not None:
            continue
        seen.add(id(value))
        if id(value) in places:
            dtype = value.dtype.base_dtype
            if (dtype.is_integer or dtype.is_bool) and is_static(value.dims) and math.prod(value.dims) <= MOST_NUMBERS:
                found[places[id(value)]] = None
        elif value.node is not None:
            waiting += value.node.inputs
    return list(found)


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
