"""Which device each node runs on.

Asked for are a name, maybe partial (`tf.device`), and company: nodes that must be where another is, by `colocate_with`
or because they share a variable. Nodes that must stay together form a group with one device. What is asked for must be
there, or, with soft placement, something like it in the same task. Groups that ask for nothing follow their data: they
go where most bytes of their inputs are, among devices of the preferred type; what has no inputs yet goes where the one
that takes it is; what keeps state stays on the first device, so that it is found there again. Knows nodes and device
names, of this task or of others; knows nothing of how nodes run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes, errors
from ebbflow.core.device import Parts, matches, parse, to_string
from ebbflow.engines.devices import Device
from ebbflow.graph.symbolic import Operation

_PREFERRED = {"GPU": 0, "CPU": 1}
"""Types in the order they are chosen where nothing is asked for; the others only where they are asked for."""

Able = Callable[[Device, Operation], bool]


def place(
    nodes: Sequence[Operation],
    fed: set[int],
    devices: Sequence[Device],
    soft: bool,
    able: Able,
    default: Device | None = None,
    here_only: bool = False,
) -> dict[Operation, Device]:
    """Return the device of each node; nodes are in an order they can run in, `able` says what a device can run, and
    `default` is where nodes go that ask for nothing. With `here_only` all devices are of one task, whatever nodes say.
    """
    return _Placer(nodes, fed, devices, soft, able, default, here_only).run()


class _Group:
    """Nodes that share a device: who they are, what they ask for, what would do, and what is decided."""

    def __init__(self, node: Operation):
        self.members = [node]
        self.asked = Parts()
        self.asker = node
        self.fit: list[Device] | None = None
        self.device: Device | None = None


class _Placer:
    def __init__(
        self,
        nodes: Sequence[Operation],
        fed: set[int],
        devices: Sequence[Device],
        soft: bool,
        able: Able,
        default: Device | None,
        here_only: bool,
    ) -> None:
        self.nodes, self.fed, self.devices, self.soft, self.able = nodes, fed, devices, soft, able
        self.default, self.here_only = default, here_only
        self.groups: dict[Operation, _Group] = {}
        self.users: dict[Operation, list[Operation]] = {}

    def run(self) -> dict[Operation, Device]:
        for node in self.nodes:
            for tensor in node._inputs:
                if id(tensor) not in self.fed:
                    self.users.setdefault(tensor.op, []).append(node)
        self._gather()
        groups = {id(g): g for g in self.groups.values()}.values()
        for group in sorted(groups, key=lambda g: not any(node._inputs for node in g.members)):  # refusals name work
            self._settle(group)
        for node in self.nodes:
            self._follow_inputs(node)
        found = {node: self._follow_user(node) for node in reversed(self.nodes)}
        return {node: found[node] for node in self.nodes}

    # --- who must stay together ---------------------------------------------------------------------------------------

    def _gather(self) -> None:
        """Find the groups; a node to be with may itself not be needed, and still say where that is."""
        waiting = list(reversed(self.nodes))
        while waiting:
            node = waiting.pop()
            if node in self.groups:
                continue
            self.groups[node] = _Group(node)
            waiting += company(node)
        for node in list(self.groups):
            for other in (*company(node), *(t.op for t in shared_state(node, self.fed))):
                if other in self.groups:
                    self._unite(self.groups[other], self.groups[node])

    def _unite(self, one: _Group, other: _Group) -> None:
        if one is other:
            return
        larger, smaller = (one, other) if len(one.members) >= len(other.members) else (other, one)
        larger.members += smaller.members
        for member in smaller.members:
            self.groups[member] = larger

    # --- what is asked for --------------------------------------------------------------------------------------------

    def _settle(self, group: _Group) -> None:
        """Find the devices that a group may have that asks for one."""
        group.members.sort(key=lambda node: node._id)
        for member in group.members:
            self._merge(group, member)
        if group.asked == Parts():
            return
        for wanted in self._wishes(group.asked):
            there = [d for d in self.devices if matches(wanted, d.name)]
            group.fit = [d for d in there if all(self.able(d, n) for n in group.members)]
            if group.fit:
                return
        raise self._refusal(group)

    def _wishes(self, asked: Parts) -> list[Parts]:
        """Return what would do: what is asked for, and softly, others of the type, or anything in the task."""
        if not self.soft:
            return [asked]
        return [asked, asked._replace(device_index=None), asked._replace(device_type=None, device_index=None)]

    def _merge(self, group: _Group, member: Operation) -> None:
        asked = parse(member._device)
        if self.here_only:
            asked = asked._replace(job=None, replica=None, task=None)
        for field, value in asked._asdict().items():
            held = getattr(group.asked, field)
            if value is None or held == value:
                continue
            if held is None:
                group.asked = group.asked._replace(**{field: value})
                group.asker = member
            elif not self.soft and not shared_state(member, self.fed):  # state stays where it is, whoever uses it
                raise _cannot_join(member, group.asker, field, asked)

    def _refusal(self, group: _Group) -> errors.InvalidArgumentError:
        node, asked = group.asker, to_string(group.asked)
        if any(matches(group.asked, d.name) for d in self.devices):
            kind = group.asked.device_type
            there = [d for d in self.devices if matches(group.asked, d.name)]
            node = next((n for n in group.members if not any(self.able(d, n) for d in there)), node)
            why = (
                f"Could not satisfy explicit device specification '{asked}' because no supported kernel for {kind} "
                "devices is available."
            )
        else:
            known = ", ".join(d.name for d in self.devices)
            why = (
                f"{{{{node {node.name}}}}} was explicitly assigned to {asked} but available devices are [ {known} ]. "
                "Make sure the device specification refers to a valid device."
            )
        return _error(node, f"Cannot assign a device for operation {node.name}: {why}")

    # --- what is left open --------------------------------------------------------------------------------------------

    def _candidates(self, group: _Group) -> list[Device]:
        """Return the devices of the preferred type that a group may go to."""
        if group.fit is None:
            group.fit = [d for d in self.devices if all(self.able(d, n) for n in group.members)]
            if self.default in group.fit:
                group.fit = [self.default]
        ranks = [_PREFERRED.get(d.device_type, len(_PREFERRED)) for d in group.fit]
        return [d for d, rank in zip(group.fit, ranks, strict=True) if rank == min(ranks)]

    def _follow_inputs(self, node: Operation) -> None:
        """Place a node where most of what it takes is."""
        group = self.groups[node]
        if group.device is not None:
            return
        candidates = self._candidates(group)
        if len(candidates) == 1 or any(n._op.keeps_state for n in group.members):
            group.device = candidates[0]
            return
        weights: dict[Device, int] = {}
        for tensor in node._inputs:
            maker = None if id(tensor) in self.fed else self.groups[tensor.op].device
            if maker is not None:
                weights[maker] = weights.get(maker, 0) + size(tensor)
        here = {d: w for d, w in weights.items() if d in candidates}
        if here:
            group.device = max(here, key=here.__getitem__)  # of equals the first
        elif weights:
            group.device = candidates[0]

    def _follow_user(self, node: Operation) -> Device:
        """Place a node that nothing led anywhere where the one node is that takes what it gives."""
        group = self.groups[node]
        if group.device is None:
            candidates = self._candidates(group)
            homes = [d for d in {self.groups[user].device for user in self.users.get(node, ())} if d in candidates]
            group.device = homes[0] if len(homes) == 1 else candidates[0]
        return group.device


def company(node: Operation) -> list[Operation]:
    """Return the nodes that a node says it must be with, as far as they are in its graph."""
    found = []
    for group in node._attrs.get("_class", ()):
        text = group.decode() if isinstance(group, bytes) else group
        other = node.graph._by_name.get(text.removeprefix("loc:@"))
        if other is not None and other is not node:
            found.append(other)
    return found


def shared_state(node: Operation, fed: set[int]) -> list[Any]:
    """Return the inputs of a node that are variables or other resources: it must be where they are.

    A node that runs a function is not held: what is inside finds its place by itself.
    """
    if any("func" in attr.kind for attr in node._op.signature.attrs.values()):
        return []
    found = [t for t in node._inputs if t._dtype is dtypes.resource and id(t) not in fed]
    args = node._op.signature.inputs
    if node.type == "Identity" or any(arg.is_ref for arg in args):  # a variable is read where it is, at its turn
        found += [t for t in node._inputs if t._dtype._is_ref_dtype and id(t) not in fed]
    return found


def size(tensor: Any) -> int:
    """Return the bytes of a tensor, a dimension that is not known counted as one; at least one."""
    dims = tensor._dims or ()
    return max(math.prod(1 if n is None else n for n in dims) * tensor.dtype.base_dtype.np.itemsize, 1)


# --- errors -----------------------------------------------------------------------------------------------------------

_PLURALS = {"job": "jobs", "replica": "replicas", "task": "tasks", "device_type": "types", "device_index": "ids"}


def _cannot_join(node: Operation, other: Operation, field: str, asked: Parts) -> errors.InvalidArgumentError:
    theirs, mine = to_string(parse(other._device)), to_string(asked)
    return _error(
        node,
        f"Cannot colocate nodes {{{{colocation_node {node.name}}}}} and {{{{colocation_node {other.name}}}}}: "
        f"Cannot merge devices with incompatible {_PLURALS[field]}: '{theirs}' and '{mine}'",
    )


def _error(node: Operation, message: str) -> errors.InvalidArgumentError:
    defined = f" (defined at {node.line})" if node.line is not None else ""
    return errors.InvalidArgumentError(node.node_def, node, f"{message}\n\t [[{{{{node {node.name}}}}}]]{defined}")
