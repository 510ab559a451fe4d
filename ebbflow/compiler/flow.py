"""The compiler's own picture of what is to be computed: values, and the nodes that make them.

A `Flow` is a straight line: nodes in the order they run, each taking values that were there before it. The order of
nodes that keep state is part of its meaning; all others may stand anywhere behind what they take. There are no control
edges: where the order matters, it is the order in the list. Passes take a Flow and return another: once made, neither
nodes nor values change, so a flow may share nodes with the one it was made from. A node that is to take other values is
made anew (`Substitution`), and so is all that takes what it gives. Knows ops and graph nodes (as the origin of its
own); knows nothing of sessions or arrays, constants excepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow_text import text_of
from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.core.shape import Dims
from ebbflow.ops.state.storage import Storage, is_reference

READ = op(
    "_ReadReference(ref:T) -> (value:T) | T: type | stateful",
    "reads=whole free",
    internal=True,
    shape=lambda ref: ref.dims,
    kernel=lambda xp, ref: ref.item().read() if is_reference(ref) else ref,
)
"""A reference variable is read where its value is used: the node that says so."""


class Held(NamedTuple):
    """What is known of everything that was put into a list: its dims, and the numbers if they are few and the same."""

    dims: Dims
    numbers: tuple[int, ...] | None = None


NOTHING = Held((-1,))
"""An empty list's."""

ANYTHING = Held(None)


class Value:
    """An argument of a flow, or one result of a node."""

    __slots__ = ("dims", "dtype", "held", "index", "known", "node", "partly", "storage", "tensor")

    def __init__(self, node: Node | None, index: int, dtype: DType, dims: Dims, tensor: Any = None):
        self.node = node
        self.index = index
        self.dtype = dtype
        self.dims = dims
        self.known: np.ndarray | None = None
        self.partly: tuple[np.ndarray, np.ndarray] | None = None  # elements, and which of them are known
        self.storage: Storage | None = None  # of a variable's handle that is fed, where it is always the same
        self.tensor = tensor
        self.held = ANYTHING

    @property
    def op(self) -> Any:
        """The graph's node that this comes from: shape rules follow handles of variables through it."""
        return None if self.tensor is None else self.tensor.op

    @property
    def is_static(self) -> bool:
        return self.dims is not None and None not in self.dims

    @property
    def size(self) -> int:
        """The number of elements of a value of known shape."""
        total = 1
        for n in self.dims:  # type: ignore[union-attr]
            total *= n  # type: ignore[operator]
        return total

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.np.itemsize

    def constant_value(self) -> np.ndarray | None:
        return self.known

    def constant_dims(self) -> Dims:
        if self.known is not None:
            return tuple(None if n < 0 else int(n) for n in self.known.reshape(-1))
        if self.partly is not None:
            pairs = zip(*self.partly, strict=True)
            return tuple(int(n) if is_known and n >= 0 else None for n, is_known in pairs) if self.dims else None
        return None if self.dims is None or not self.dims or self.dims[0] is None else (None,) * self.dims[0]

    def __repr__(self) -> str:
        shape = "?" if self.dims is None else ",".join("?" if n is None else str(n) for n in self.dims)
        return f"{self.node.name if self.node else 'argument'}:{self.index} {self.dtype.name}[{shape}]"


def is_state(value: Value) -> bool:
    """Return whether a value is a variable (or another resource), not what is in it."""
    return value.dtype is dtypes.resource or value.dtype._is_ref_dtype


def is_loop(node: Node) -> bool:
    """Return whether a node is a loop that may be compiled as a whole: one without effects."""
    return node.op.facts.loop and not node.stateful


def is_variable(value: Value) -> bool:
    """Return whether a value is a variable that is the same in every run."""
    return value.storage is not None or (value.node is not None and value.node.op.facts.variable)


class Node:
    """One op at work: what it takes and what it gives; `origin` is the graph's node it stands for.

    `turn` tells the turns of unrolled loops apart: 0 is outside of all.
    """

    __slots__ = ("attrs", "inputs", "op", "origin", "outputs", "turn")

    def __init__(self, op: Op, inputs: Sequence[Value], attrs: dict[str, Any], origin: Any):
        self.op = op
        self.inputs = list(inputs)
        self.attrs = attrs
        self.origin = origin
        self.outputs: list[Value] = []
        self.turn = 0

    @property
    def name(self) -> str:
        return self.origin.name if self.origin is not None else self.op.name

    @property
    def stateful(self) -> bool:
        """Whether the order in which the node runs matters, or what it gives may differ from run to run."""
        return self.op.keeps_state

    @property
    def acts(self) -> bool:
        """Whether it matters that the node runs: it keeps state, and does more than read or name a variable."""
        facts = self.op.facts
        return self.op.keeps_state and not facts.variable and not facts.reads

    def grouped(self, items: Sequence[Any]) -> list[Any]:
        """Return one item per input as the op's kernel and rules take them: lists where it declares lists."""
        return self.op.signature.group_inputs(items, self.attrs)

    def taking(self, inputs: Sequence[Value], attrs: dict[str, Any] | None = None) -> Node:
        """Return the node with other inputs (and attrs), and with results of its own, like these."""
        node = Node(self.op, inputs, self.attrs if attrs is None else attrs, self.origin)
        node.turn = self.turn
        for value in self.outputs:
            like = Value(node, value.index, value.dtype, value.dims, value.tensor)
            like.known, like.held = value.known, value.held
            node.outputs.append(like)
        return node

    def infer(self) -> list[Dims]:
        """Return what the shape rule says of the outputs."""
        if self.op.shape_fn is None:
            return [None] * len(self.outputs)
        knowns = self.grouped([Known(v.dims, v.dtype, v) for v in self.inputs])
        return self.op.signature.flat_dims(self.op.infer(knowns, self.attrs))

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.name}>"


class Flow:
    """What is fed, the nodes in order, what is fetched."""

    def __init__(self, inputs: list[Value], nodes: list[Node], outputs: list[Value], roots: Iterable[Node] = ()):
        self.inputs = inputs
        self.nodes = nodes
        self.outputs = outputs
        self.roots = set(roots)  # stateless nodes to be run though nobody takes what they give

    def uses(self) -> dict[Value, list[Node]]:
        """Return who takes each value."""
        found: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in node.inputs:
                found.setdefault(value, []).append(node)
        return found

    def __str__(self) -> str:
        return text_of(self)


# --- making nodes -----------------------------------------------------------------------------------------------------


def make(op: Op, inputs: Sequence[Value], attrs: dict[str, Any], origin: Any) -> Node:
    """Return a node with its outputs typed and shaped by the op's rules."""
    node = Node(op, inputs, attrs, origin)
    types = op.flat_output_types(attrs)
    node.outputs = [Value(node, i, t, None) for i, t in enumerate(types)]
    for value, dims in zip(node.outputs, node.infer(), strict=True):
        value.dims = dims
    return node


def standing_for(op: Op, inputs: Sequence[Value], attrs: dict[str, Any], origin: Any, given: Sequence[Value]) -> Node:
    """Return a node that gives what others gave: values like `given`, in their place."""
    node = Node(op, inputs, attrs, origin)
    node.outputs = [Value(node, i, v.dtype, v.dims, v.tensor) for i, v in enumerate(given)]
    for value, like in zip(node.outputs, given, strict=True):
        value.held = like.held
    return node


def copied(nodes: Sequence[Node]) -> tuple[list[Node], dict[Value, Value]]:
    """Return the nodes once more, each taking what the copies before it give, and for each old result the new one."""
    instead: dict[Value, Value] = {}
    made = []
    for node in nodes:
        copy = node.taking([instead.get(v, v) for v in node.inputs])
        instead.update(zip(node.outputs, copy.outputs, strict=True))
        made.append(copy)
    return made, instead


def constant(array: np.ndarray, dtype: DType, origin: Any) -> Node:
    """Return a Const node."""
    node = Node(registry["Const"], [], {"value": array, "dtype": dtype}, origin)
    value = Value(node, 0, dtype, array.shape)
    value.known = array
    node.outputs = [value]
    return node


# --- rewriting --------------------------------------------------------------------------------------------------------


class Substitution:
    """Values that stand for others, and the nodes that had to be made anew because they take such values."""

    def __init__(self, instead: dict[Value, Value] | None = None):
        self._instead: dict[Value, Value] = dict(instead or ())
        self.renewed: dict[Node, Node] = {}

    def put(self, old: Sequence[Value], new: Sequence[Value]) -> None:
        """Have new values stand for old ones."""
        instead = self._instead
        for before, after in zip(old, new, strict=True):
            if before is not after:
                instead[before] = after

    def value(self, value: Value) -> Value:
        """Return what stands for a value: itself, if nothing does."""
        instead = self._instead
        while value in instead:
            value = instead[value]
        return value

    def values(self, values: Sequence[Value]) -> list[Value]:
        instead = self._instead
        return [self.value(v) if v in instead else v for v in values]

    def node(self, node: Node) -> Node:
        """Return the node as it is now: itself, if it takes nothing that was replaced."""
        if self._instead.keys().isdisjoint(node.inputs):
            return node
        renewed = self.renewed[node] = node.taking(self.values(node.inputs))
        self.put(node.outputs, renewed.outputs)
        return renewed

    def flow(self, flow: Flow, nodes: Iterable[Node]) -> Flow:
        """Return the flow with these nodes (or what they become, in order) in the place of its own."""
        nodes = [self.node(node) for node in nodes]
        return Flow(flow.inputs, nodes, self.values(flow.outputs), map(self.now, flow.roots))

    def now(self, node: Node) -> Node:
        """Return what a node of the old flow has become."""
        while node in self.renewed:
            node = self.renewed[node]
        return node


class Rewrite:
    """One walk over a flow, front to back, that may put other values in the place of a node's results."""

    def __init__(self, flow: Flow):
        self.flow = flow
        self.nodes: list[Node] = []
        self.original: Node = None  # type: ignore[assignment]  # the node that is visited, as it was before this walk

    def call(self, name: str, inputs: Sequence[Value], attrs: dict[str, Any], origin: Any) -> Value:
        """Add a node and return its first output."""
        return self.add(make(registry[name], inputs, attrs, origin)).outputs[0]

    def constant(self, array: np.ndarray, like: Value, origin: Any) -> Value:
        return self.add(constant(array, like.dtype, origin)).outputs[0]

    def add(self, node: Node) -> Node:
        node.turn = self.original.turn
        self.nodes.append(node)
        return node

    def run(self, visit: Callable[[Node, Rewrite], Sequence[Value] | None]) -> Flow:
        """Visit every node; values returned for its outputs take their place (None: the node stays as it is)."""
        flow, substitution = self.flow, Substitution()
        gone = set()
        for original in flow.nodes:
            self.original = original
            node = substitution.node(original)
            values = visit(node, self)
            if values is None:
                self.nodes.append(node)
            else:
                gone.add(original)
                substitution.put(node.outputs, values)
        roots = [substitution.now(root) for root in flow.roots if root not in gone]
        return Flow(flow.inputs, self.nodes, substitution.values(flow.outputs), roots)


class Failed(Exception):  # noqa: N818 (it carries an error, it is not one to show)
    """A node of a Program failed: `error` is what its kernel raised, `values` what it was given."""

    def __init__(self, node: Any, error: BaseException, values: list[Any]):
        super().__init__(str(error))
        self.node, self.error, self.values = node, error, values
