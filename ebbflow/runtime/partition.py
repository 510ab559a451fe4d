"""A graph cut into parts, one per device.

Each part is a graph of its own with copies of its nodes, in the order they had, and nodes that send and receive what
crosses a border: each tensor once per device that wants it. A control edge that crosses a border becomes a tensor of
one number; constants are copied to wherever they are used. A tensor is sent as soon as it is there and received just
before its first use, so parts that keep their order never wait for each other in a circle. Knows nodes and device
names, of this task or of others; knows nothing of how parts run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.core.shape import Dims
from ebbflow.engines.devices import Device
from ebbflow.graph.graph import Graph
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.runtime.executor import PLACEHOLDERS
from ebbflow.runtime.rendezvous import Recv, Send

SAME_PROCESS = 1
"""The incarnation of a sender that can be no other than the one the receiver knows."""


class Part:
    """What one device runs: a graph, the tensors in it that are fed, and those (or operations) that are fetched."""

    def __init__(self, device: Device):
        self.device = device
        self.graph = Graph()
        self.feeds: list[SymbolicTensor] = []
        self.fed: list[int] = []  # the place of each among the feeds of the whole
        self.fetches: list[Any] = []
        self.fetched: list[int] = []  # the place of each among the fetches of the whole
        self.sends: list[Operation] = []
        self.stands_for: dict[Any, Any] = {}  # by tensor or node of the whole: the one that stands for it here

    def add(self, op: Op, name: str, inputs: Sequence[Any], attrs: dict[str, Any], origin: Operation) -> Operation:
        """Add a node; `origin` is the user's node that asked for it."""
        graph = self.graph
        node = Operation.make(graph, op, name, inputs, attrs, [], len(graph._nodes), origin._line)
        node._device = self.device.name
        graph._nodes.append(node)
        graph._by_name[name] = node
        return node

    def add_source(self, op: Op, name: str, attrs: dict[str, Any], like: Any) -> SymbolicTensor:
        """Add a node without inputs and return what it gives, which is like a tensor of the whole."""
        node = self.add(op, name, [], attrs, like.op)
        node._outputs = [SymbolicTensor(node, 0, like._dtype.base_dtype, like._dims)]
        node._outputs[0]._known = like._known
        return node._outputs[0]


def partition(
    nodes: Sequence[Operation],
    where: dict[Operation, Device],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    dims: Mapping[Any, Dims] = MappingProxyType({}),
) -> list[Part]:
    """Return the parts of a graph, in the order of their devices' names; nodes are in an order they can run in.

    `dims` are shapes of tensors where more is known than the graph says: what is received has them.
    """
    return _Cutter(nodes, where, feeds, dims).cut(fetches)


class _Cutter:
    def __init__(
        self,
        nodes: Sequence[Operation],
        where: dict[Operation, Device],
        feeds: Sequence[Any],
        dims: Mapping[Any, Dims],
    ):
        self.nodes, self.where, self.dims = nodes, where, dims
        self.feeds = {id(t): place for place, t in enumerate(feeds)}
        self.parts = {device: Part(device) for device in where.values()}
        self.wanted: dict[Any, list[Device]] = {}  # by tensor, or node to wait for: who else takes it
        self.routes: dict[Any, dict[str, Any]] = {}  # by tensor or node, and device: the way it comes
        self.added = 0

    def cut(self, fetches: Sequence[Any]) -> list[Part]:
        for node in self.nodes:
            self._note(node)
        for node in self.nodes:
            self._copy(self.parts[self.where[node]], node)
        for place, fetch in enumerate(fetches):
            maker = fetch if isinstance(fetch, Operation) else fetch.op
            part = self.parts[self.where[maker]] if maker in self.where else next(iter(self.parts.values()))
            part.fetches.append(self._inside(part, fetch))
            part.fetched.append(place)
        return sorted(self.parts.values(), key=lambda part: part.device.name)

    def _note(self, node: Operation) -> None:
        """Note what a node takes from other devices."""
        here = self.where[node]
        for source in (*node._inputs, *self._waits(node)):
            maker = source if isinstance(source, Operation) else source.op
            if id(source) not in self.feeds and (maker is source or maker.type != "Const"):
                takers = self.wanted.setdefault(source, [])
                if self.where[maker] != here and here not in takers:
                    takers.append(here)

    def _waits(self, node: Operation) -> list[Operation]:
        """Return the nodes that a node waits for without taking anything from them."""
        return [n for n in node.waits_for if n in self.where and n.type not in PLACEHOLDERS]

    def _copy(self, part: Part, node: Operation) -> None:
        """Add a copy of a node to its part, and send what others want of it."""
        inputs = [self._inside(part, t) for t in node._inputs]
        controls = [self._inside(part, n) for n in self._waits(node)]
        copy = part.add(node._op, node.name, inputs, node._attrs, node)
        copy._add_control_inputs(controls)
        copy._copy_of = node.original
        copy._outputs = [SymbolicTensor(copy, i, t._dtype, t._dims) for i, t in enumerate(node._outputs)]
        part.stands_for[node] = copy
        for mine, theirs in zip(copy._outputs, node._outputs, strict=True):
            mine._known = theirs._known
            if id(theirs) not in self.feeds:
                part.stands_for[theirs] = mine
                for goal in self.wanted.get(theirs, ()):
                    self._send(part, goal, theirs, mine)
        for goal in self.wanted.get(node, ()):
            self._signal(part, goal, node, copy)

    def _inside(self, part: Part, source: Any) -> Any:
        """Return what stands in a part for a tensor or node of the whole: made there, fed or received."""
        found = part.stands_for.get(source)
        if found is not None:
            return found
        if id(source) in self.feeds:
            found = self._fed(part, self.feeds[id(source)], source)
        elif type(source) is SymbolicTensor and source.op.type == "Const":
            found = part.add_source(source.op._op, source.op.name, source.op._attrs, source)
            found.op._copy_of = source.op.original
        else:
            found = self._receive(part, source)
        part.stands_for[source] = found
        return found

    def _fed(self, part: Part, place: int, tensor: Any) -> SymbolicTensor:
        attrs = {"dtype": tensor._dtype.base_dtype, "shape": tensor._dims}
        name = f"{tensor.op.name}/_fed_{tensor._value_index}_{place}"
        inside = part.add_source(registry["Placeholder"], name, attrs, tensor)
        inside._dtype = tensor._dtype
        part.feeds.append(inside)
        part.fed.append(place)
        return inside

    # --- across borders -----------------------------------------------------------------------------------------------

    def _send(self, part: Part, goal: Device, source: Any, inside: SymbolicTensor) -> None:
        """Send what stands for a tensor or node of the whole to another device, and note the way it goes."""
        maker = source if isinstance(source, Operation) else source.op
        route = self.routes[source, goal] = {
            "tensor_name": f"edge_{len(self.routes)}_{maker.name}",
            "send_device": part.device.name,
            "send_device_incarnation": SAME_PROCESS,
            "recv_device": goal.name,
            "client_terminated": False,
        }
        attrs = {"T": inside._dtype.base_dtype, **route}
        part.sends.append(part.add(Send, self._name(maker), [inside], attrs, maker))

    def _signal(self, part: Part, goal: Device, node: Operation, copy: Operation) -> None:
        """Tell another device that a node has run."""
        attrs = {"value": np.float32(0), "dtype": dtypes.float32}
        done = part.add(registry["Const"], self._name(node), [], attrs, node)
        done._add_control_inputs([copy])
        done._outputs = [SymbolicTensor(done, 0, dtypes.float32, ())]
        self._send(part, goal, node, done._outputs[0])
        part.sends[-1]._add_control_inputs([copy])

    def _receive(self, part: Part, source: Any) -> Any:
        """Receive a tensor, or the word that a node has run."""
        route = self.routes[source, part.device]
        if isinstance(source, Operation):
            node = part.add(Recv, self._name(source), [], {"tensor_type": dtypes.float32, **route}, source)
            node._outputs = [SymbolicTensor(node, 0, dtypes.float32, ())]
            return node
        attrs = {"tensor_type": source._dtype.base_dtype, **route}
        received = part.add_source(Recv, self._name(source.op), attrs, source)
        received._dims = self.dims.get(source, source._dims)
        return received

    def _name(self, node: Operation) -> str:
        self.added += 1
        return f"{node.name}/_{self.added}"
