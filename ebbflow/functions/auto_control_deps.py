"""`tensorflow.python.framework.auto_control_deps`: effects in the order they were written, wherever nodes are added.

Functions keep that order anyway (`side_effects`). A block of a session's graph gets it by
`with AutomaticControlDependencies() as c:`; what `c.mark_as_return` gives waits for all effects of the block.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.identity import ObjectIdentitySet
from ebbflow.core.tensor import Tensor
from ebbflow.functions.side_effects import ordered
from ebbflow.ops.declare import raw

READ_ONLY_RESOURCE_INPUTS_ATTR = "_read_only_resource_inputs"
MUST_RUN_ORDER_INSENSITIVE_STATEFUL_OPS: frozenset[str] = frozenset()
"""Names of ops that have to run, but in any order: none, since every effect keeps its place. A program may add some."""


class AutomaticControlDependencies:
    """A block whose effects run, in order, before what is marked as its result."""

    def __init__(self) -> None:
        self.ops_which_must_run: set[Any] = set()
        self._returned: list[Any] = []
        self._independent: set[Any] = set()
        self._graph: Any = None
        self._first = 0

    def mark_as_return(self, tensor: Any) -> Any:
        """Return the value as what the block gives: it waits for the block's effects."""
        if tensor is None or context.executing_eagerly():
            return tensor
        return nest.map_structure(self._marked, tensor, expand_composites=True)

    def _marked(self, tensor: Any) -> Any:
        if not isinstance(tensor, Tensor):
            return tensor
        self._returned.append(raw.Identity(tensor))
        return self._returned[-1]

    def run_independently(self, op: Any) -> None:
        """Have an effect wait for no other, and none for it."""
        self._independent.add(op)

    def __enter__(self) -> AutomaticControlDependencies:
        if not context.executing_eagerly():
            self._graph = context.default_graph()
            self._first = len(self._graph._nodes)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None or self._graph is None:
            return
        returned = {tensor.op for tensor in self._returned}
        made = [node for node in self._graph._nodes[self._first :] if node not in returned]
        effects = ordered(made, independent=self._independent)
        read = {t.op for node in self._graph._nodes[self._first :] for t in node._inputs}
        self.ops_which_must_run.update(effects, (node for node in made if node in read and node._op.facts.reads))
        for node in returned:
            node._add_control_inputs([effect for effect in effects if effect is not node._inputs[0].op])


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose result waits for the effects of all that it adds to the graph."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as block:
            return block.mark_as_return(f(*args, **kwargs))

    return wrapper


def read_only_resource_positions(op: Any) -> list[int]:
    """Return which inputs of a node are resources that it only reads, as its attr says."""
    try:
        return sorted(op.get_attr(READ_ONLY_RESOURCE_INPUTS_ATTR))
    except ValueError:
        return [i for i, t in enumerate(op.inputs) if t.dtype == dtypes.resource] if op.type == "ReadVariableOp" else []


def get_read_write_resource_inputs(op: Any) -> tuple[ObjectIdentitySet, ObjectIdentitySet]:
    """Return the resources that a node only reads, and those that it may write."""
    places = set(read_only_resource_positions(op))
    given = [(i, t) for i, t in enumerate(op.inputs) if t.dtype == dtypes.resource]
    reads = ObjectIdentitySet(t for i, t in given if i in places)
    return reads, ObjectIdentitySet(t for i, t in given if t not in reads)
