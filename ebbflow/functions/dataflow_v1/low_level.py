"""What the low-level control flow nodes of a graph mean: in which loop each node stands, and under which conditions it
runs.

Works on `Item`s, a plain form of nodes that graphs and GraphDefs alike can be brought to. A node inside a loop belongs
to the frame that its `Enter` nodes name; a node behind a `Switch` runs only if the switch's predicate comes out its
way, and a `Merge` of both ways runs regardless. Knows nothing of how graphs are built or run; `functionalize` does
that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ebbflow.compiler.passes.common import attrs_key
from ebbflow.core import errors
from ebbflow.core.registry import registry

_KINDS = ("Switch", "Merge", "Enter", "Exit", "NextIteration")
LOW_LEVEL = frozenset(["LoopCond", *_KINDS, *[f"Ref{kind}" for kind in _KINDS]])

Tensor = tuple["Item", int]
"""An output of an item: which item, and which of its outputs."""


@dataclass(eq=False, slots=True)
class Item:
    """A node: its op, its inputs and control inputs, and whatever it stands for."""

    name: str
    op: str
    inputs: list[Any] = field(default_factory=list)  # of Tensor
    controls: list[Item] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    origin: Any = None
    frame: Frame | None = None
    condition: frozenset[Any] = frozenset()
    number: int | None = None  # of a link in a chain of choices: which input of the merge it gives

    @property
    def kind(self) -> str:
        """The op without the `Ref` in front of it."""
        return self.op.removeprefix("Ref") if self.op in LOW_LEVEL else self.op

    def __repr__(self) -> str:
        return f"<{self.op} {self.name}>"


@dataclass(eq=False)
class Frame:
    """A loop: what enters it, its variables and what leaves it."""

    name: str
    parent: Frame | None
    enters: list[Item] = field(default_factory=list)
    variables: list[Item] = field(default_factory=list)  # merges of what enters and what goes round
    exits: list[Item] = field(default_factory=list)
    test: Item | None = None  # the LoopCond
    condition: frozenset[Any] = frozenset()

    def __repr__(self) -> str:
        return f"<frame {self.name}>"


def understand(items: Sequence[Item]) -> list[Item]:
    """Find the frame and the condition of every item; return the items, each after all it depends on."""
    _check_inputs(items)
    _agree_on_predicates(items)
    _find_frames(items)
    order = in_order(items)
    for _ in range(2):  # what the conditions of loops imply is known only when all that enters them is
        for item in order:
            item.condition = frozenset()
            _find_condition(item)
    return order


def _check_inputs(items: Sequence[Item]) -> None:
    """Refuse control flow nodes that lack inputs: a file may have them so."""
    for item in items:
        wanted = (2 if item.kind == "Switch" else 1) if item.op in LOW_LEVEL else 0
        if len(item.inputs) < wanted or (wanted and item.kind != "Merge" and len(item.inputs) > wanted):
            raise ValueError(f"Node '{item.name}' ({item.op}) has {len(item.inputs)} inputs, it takes {wanted}")


def _agree_on_predicates(items: Sequence[Item]) -> None:
    """Have switches whose predicates are computed alike ask the same one: what stands behind them goes together.

    p = Equal n 0; q = Equal n 0; a = Switch x p; b = Switch y q   =>   a = Switch x p; b = Switch y p
    """
    first: dict[Any, Tensor] = {}
    for item in items:
        if item.kind == "Switch" and not is_loop_switch(item):
            predicate = item.inputs[1]
            item.inputs = [item.inputs[0], first.setdefault(_meaning(predicate), predicate)]


def _meaning(tensor: Tensor, depth: int = 4) -> Any:
    """Return what is equal for tensors that hold the same value since they are computed alike; itself, at worst."""
    item, index = tensor
    pure = item.op in registry.names() and not registry[item.op].keeps_state
    if not pure or not depth or not (item.inputs or item.op == "Const") or item.op in LOW_LEVEL:
        return tensor
    inputs = tuple([_meaning(source, depth - 1) for source in item.inputs])
    return item.op, index, inputs, tuple(item.controls), attrs_key(item.attrs)


def is_loop_variable(item: Item) -> bool:
    """Return whether an item joins what enters a loop with what goes round it."""
    return item.kind == "Merge" and any(source.kind == "NextIteration" for source, _ in item.inputs)


def is_loop_switch(item: Item) -> bool:
    """Return whether an item ends a loop: it sends values back into the body or out."""
    return item.kind == "Switch" and item.inputs[1][0].kind == "LoopCond"


# --- frames -----------------------------------------------------------------------------------------------------------


def _find_frames(items: Sequence[Item]) -> None:
    """Follow values from where they enter a loop to where they leave it."""
    users: dict[Item, list[Item]] = {item: [] for item in items}
    waiting = {}
    for item in items:
        before = forward_edges(item)
        waiting[item] = len(before)
        for other in before:
            users[other].append(item)
    frames: dict[tuple[Frame | None, str], Frame] = {}
    ready = [item for item in items if not waiting[item]]
    done = 0
    while ready:
        item = ready.pop()
        done += 1
        _place(item, frames)
        for user in users[item]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if done != len(items):
        stuck = next(item for item in items if waiting[item])
        raise errors.InvalidArgumentError(None, None, f"Graph is invalid, contains a cycle through node '{stuck.name}'")


def forward_edges(item: Item) -> list[Item]:
    """Return what an item depends on, without the edges that go round a loop."""
    sources = [source for source, _ in item.inputs]
    if item.op in LOW_LEVEL and item.kind == "Merge":
        sources = [s for s in sources if s.kind != "NextIteration"]
    return list(dict.fromkeys(sources + item.controls)) if len(sources) > 1 or item.controls else sources


def whole_past(item: Item) -> list[Item]:
    """Return what an item depends on; what leaves a loop depends on all that enters it."""
    return forward_edges(item) + (item.frame.enters if item.kind == "Exit" and item.frame else [])


def _place(item: Item, frames: dict[tuple[Frame | None, str], Frame]) -> None:
    around = _innermost(_output_frame(source) for source in forward_edges(item))
    if item.kind == "Enter":
        name = item.attrs["frame_name"]
        item.frame = frames.setdefault((around, name), Frame(name, around))
        item.frame.enters.append(item)
        return
    item.frame = around
    if item.kind == "Exit" or is_loop_variable(item) or item.kind == "LoopCond":
        if around is None:
            raise errors.InvalidArgumentError(
                None, None, f"Invalid {item.kind} op '{item.name}': Cannot find a corresponding Enter op."
            )
        if item.kind == "LoopCond":
            if around.test is not None:
                raise errors.InvalidArgumentError(None, None, f"the loop '{around.name}' has two conditions")
            around.test = item
        else:
            (around.exits if item.kind == "Exit" else around.variables).append(item)


def _output_frame(item: Item) -> Frame | None:
    return item.frame.parent if item.kind == "Exit" and item.frame is not None else item.frame


def _innermost(frames: Iterable[Frame | None]) -> Frame | None:
    """Return the frame that lies inside all others; a control edge may come from further out."""
    found: Frame | None = None
    for frame in frames:
        if frame is not None and (found is None or _inside(frame, found)):
            found = frame
        elif frame is not None and not _inside(found, frame):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"a node takes values from two loops, '{frame.name}' and '{found.name}'",  # type: ignore[union-attr]
            )
    return found


def _inside(inner: Frame | None, outer: Frame) -> bool:
    while inner is not None:
        if inner is outer:
            return True
        inner = inner.parent
    return False


# --- order ------------------------------------------------------------------------------------------------------------


def in_order(items: Sequence[Item]) -> list[Item]:
    """Return the items, each after all it depends on; what leaves a loop depends on all that enters it."""
    if _is_ordered(items):
        return list(items)
    order: list[Item] = []
    state: dict[Item, int] = {}
    for start in items:
        if state.get(start) == 2:
            continue
        stack = [start]
        while stack:
            item = stack[-1]
            if state.get(item) == 2:
                stack.pop()
                continue
            before = whole_past(item)
            pending = [b for b in before if state.get(b) != 2]
            if not pending or state.get(item) == 1:
                if pending:
                    raise errors.InvalidArgumentError(
                        None, None, f"Graph is invalid, contains a cycle through node '{item.name}'"
                    )
                state[item] = 2
                order.append(item)
                stack.pop()
            else:
                state[item] = 1
                stack.extend(pending)
    return order


def _is_ordered(items: Sequence[Item]) -> bool:
    """Return whether every item comes after all it depends on already, as most writers of graphs have it."""
    seen: set[Item] = set()
    for item in items:
        if item.kind == "Exit" or not seen.issuperset(forward_edges(item)):
            return False
        seen.add(item)
    return True


# --- conditions -------------------------------------------------------------------------------------------------------
#
# A condition is a set of (predicate, way) pairs that must all hold, seen from the frame a node stands in: that a loop
# goes on, and that the loop runs at all, are no part of it.


def _find_condition(item: Item) -> None:
    if is_loop_variable(item):
        return
    if item.kind == "Enter":
        assert item.frame is not None
        item.frame.condition |= _all_of(item)
        return
    if item.kind == "Exit":
        assert item.frame is not None
        item.condition = item.frame.condition
        return
    if item.op == "ControlTrigger":
        return  # runs whether what it waits for runs or not
    if item.kind == "Merge":
        item.condition = _either([condition_of(tensor) for tensor in item.inputs])
        return
    item.condition = _all_of(item)


def _all_of(item: Item) -> frozenset[Any]:
    found: frozenset[Any] = frozenset()
    for tensor in item.inputs:
        if _output_frame(tensor[0]) is item.frame or item.kind == "Enter":
            found |= condition_of(tensor)
    for control in item.controls:
        if _output_frame(control) is item.frame or item.kind == "Enter":
            found |= control.condition
    return found


def condition_of(tensor: Tensor) -> frozenset[Any]:
    """Return under which condition a tensor is there."""
    item, index = tensor
    if item.kind == "Switch" and not is_loop_switch(item):
        literal = (decider(item.inputs[1]), bool(index))
        return item.condition if _implied(literal, item.frame) else item.condition | {literal}
    return item.condition


def decider(tensor: Tensor) -> Tensor:
    """Return the tensor whose value a predicate is: `cond/pred_id` and what enters a loop only repeat it."""
    while (tensor[0].op == "Identity" or tensor[0].kind == "Enter") and tensor[0].inputs:
        tensor = tensor[0].inputs[0]
    return tensor


def _implied(literal: Any, frame: Frame | None) -> bool:
    """Return whether something holds whenever a loop runs."""
    while frame is not None:
        if literal in frame.condition:
            return True
        frame = frame.parent
    return False


def _either(conditions: Sequence[frozenset[Any]]) -> frozenset[Any]:
    """Return under which condition one of several values is there."""
    left = list(dict.fromkeys(conditions))
    while len(left) > 1:
        pair = next(((a, b) for a in left for b in left if a is not b and _opposite(a, b) is not None), None)
        if pair is not None:
            joined = pair[0] & pair[1]
        else:
            pair = next(((a, b) for a in left for b in left if a is not b and a <= b), None)
            if pair is None:
                return frozenset.intersection(*conditions)  # of several predicates: one after the other is asked
            joined = pair[0]
        left = [c for c in left if c not in pair]
        left = list(dict.fromkeys([*left, joined]))
    return left[0]


def _opposite(a: frozenset[Any], b: frozenset[Any]) -> Any:
    """Return the predicate that two conditions, otherwise equal, want to come out differently."""
    only_a, only_b = a - b, b - a
    if len(only_a) == 1 and len(only_b) == 1:
        (p, x), (q, y) = next(iter(only_a)), next(iter(only_b))
        if p == q and x != y:
            return p
    return None
