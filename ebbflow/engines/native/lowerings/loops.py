"""Loops, and the lists that go through them.

A loop's variables live in memory from turn to turn; a turn computes all of them before it changes one. What does not
change is taken from outside, and steps that only look at such memory are taken in front of the loop. A list is memory
for all elements it will ever have, and a number that says how many there are: lists are handed from one op to the next,
so that each is written in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ebbflow.engines.native.alarms import FULL, inside, raise_where, widened
from ebbflow.engines.native.lowering import KINDS, Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.lowerings.structure import known, reshaped
from ebbflow.engines.native.nest_steps import Step
from ebbflow.engines.native.schedule import merged
from ebbflow.engines.native.text import Body
from ebbflow.engines.native.values import Buffer, Dims, Held, Memory, size_of

MANY = 1_000_000
"""A loop whose turns cannot be counted is taken to have this many."""

PATIENCE = 1 << 26
"""Work, in additions, that is done before a loop looks whether it should end: a few to a hundred milliseconds."""


class Turns(Step):
    """Steps that are repeated for as long as others say so."""

    def __init__(self, tests: list[Step], flag: Held, steps: list[Step], turns: int | None, about: int | None = None):
        """`about` says, of turns that cannot be counted, but come to an end, how many they may be."""
        self.dims = ()
        self.tests, self.flag, self.steps, self.turns = tests, flag, steps, turns
        self.expected = about if turns is None else turns
        self.reads = {m: 0 for s in (*tests, *steps) for m in s.reads} | dict.fromkeys(flag.reads, 0)
        self.writes = {m: 0 for s in (*tests, *steps) for m in s.writes}
        # How often it turns may not be known: then it is long, and lets others run meanwhile.
        self.work = sum(s.work for s in (*tests, *steps)) * (self.expected if self.expected is not None else MANY)
        self.heeds = turns is None or self.work >= PATIENCE  # whether it looks if it should end

    def whole(self, body: Body) -> None:
        self.write(body, lambda body, step: step.whole(body), self.heeds)

    def write(self, body: Body, one: Callable[[Body, Step], None], heeds: bool) -> None:
        """Write the loop; `one` writes a step of it."""
        with body.turns() as turn:
            if heeds:
                others = [s.work for s in (*self.tests, *self.steps) if not (isinstance(s, Turns) and s.heeds)]
                turn.heed(max(sum(others), 1), PATIENCE)
            for step in self.tests:
                one(body, step)
                body.forget()
            turn.go_on(self.flag.load(body, [0] * len(self.flag.dims)))
            for step in self.steps:
                one(body, step)
                body.forget()


@lowers("StatelessWhile")
def _(low: Lowering, node: Any, held: list[Any]) -> list[Any]:
    loop = node.attrs.get("_loop")
    if loop is None:
        raise Refused("the loop's functions are not known")
    test, step = loop.test, loop.body
    carried = [i for i, v in enumerate(step.outputs) if v is not step.inputs[i]]
    state = list(held)
    for i, value in enumerate(held):
        if i not in carried:
            state[i] = value if isinstance(value, List) or value.cost <= 1 else low.in_memory(value)
        elif isinstance(value, List):
            state[i] = value.entering(low, loop, i, alone=low.uses(node.inputs[i]) == 1)
        else:
            state[i] = low.write(low.room(value.kind, value.dims), value)
    low.ranges |= loop.ranges_within(node, low.ranges)
    tests, (flag,) = low.inside(test, state)
    steps, results = low.inside(step, state)
    lists = [i for i in carried if isinstance(state[i], List)]
    steps += changes(low, {i: (state[i], results[i]) for i in carried if i not in lists})
    for i in lists:
        steps += _grown(low, state[i], results[i])
    before, steps = parted(merged(steps))
    low.steps += before
    low.keep_in_registers([*tests, *steps])
    low.steps.append(Turns(merged(tests), flag, steps, loop.turns))
    return [s.left(loop.turns) if isinstance(s, List) else s for s in state]


class Choice(Step):
    """Steps of which some are taken where a flag holds, and others where it does not."""

    def __init__(self, flag: Buffer, branches: Sequence[list[Step]]):
        self.dims = ()
        self.flag, self.branches = flag, branches
        steps = [s for branch in branches for s in branch]
        self.reads = {m: 0 for s in steps for m in s.reads} | dict.fromkeys(flag.reads, 0)
        self.writes = {m: 0 for s in steps for m in s.writes}
        self.work = max(sum(s.work for s in branch) for branch in branches)

    def whole(self, body: Body) -> None:
        flag = self.flag.load(body, [0] * len(self.flag.dims))
        for holds, branch in zip((flag, body(f"xor i1 {flag}, true")), self.branches, strict=True):
            with body.when(holds):
                for step in branch:
                    step.whole(body)
                    body.forget()


@lowers("FakeParam")
def _(low: Lowering, node: Any, held: list[Any]) -> Held:
    return low.full(0, kind_of(node.outputs[0]), tuple(node.outputs[0].dims))


@lowers("StatelessIf", where=lambda node: "_choice" in node.attrs)
def _(low: Lowering, node: Any, held: list[Any]) -> list[Any]:
    choice = node.attrs["_choice"]
    low.ranges |= choice.ranges_within(node, low.ranges)
    flag = low.write(low.room("bool", ()), held[0])
    results: list[Any] = [
        None if v.dtype.name == "variant" else low.room(kind_of(v), tuple(v.dims)) for v in node.outputs
    ]
    branches = []
    for flow in choice.flows:
        steps, found = low.inside(flow, held[1:])
        with low.apart() as last:
            for i, value in enumerate(found):
                if isinstance(value, List):
                    results[i] = _as_long(results[i], value)
                else:
                    low.write(results[i], value)
        branches.append(merged([*steps, *last]))
    low.steps.append(Choice(flag, branches))
    return results


def _as_long(one: Any, other: List) -> List:
    """Return a list that both branches of a choice give: it is written in place, and as long whichever is taken."""
    if one is not None and (
        one.memory is not other.memory or (one.by, one.most, one.least) != (other.by, other.most, other.least)
    ):
        raise Refused("a choice between lists")
    return other


def changes(low: Lowering, pairs: dict[int, tuple[Buffer, Held]]) -> list[Step]:
    """Return the steps that give variables their new values: all are computed before one is written."""
    with low.apart() as steps:
        ready = {i: low.write(low.room(old.kind, old.dims), new) for i, (old, new) in pairs.items()}
        for i, (old, _) in pairs.items():
            low.write(old, ready[i])
    return steps


def parted(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Return the steps that are the same in every turn, and the others."""
    before: list[Step] = []
    inside = list(steps)
    while True:
        changing = {m for s in inside for m in s.writes}
        once = [s for s in inside if not any(m in changing for m in s.reads) and _alone(s, inside)]
        if not once:
            return before, inside
        before += once
        inside = [s for s in inside if s not in once]


def _alone(step: Step, others: Sequence[Step]) -> bool:
    return not any(m in o.writes for o in others if o is not step for m in step.writes)


# --- lists ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class List:
    """A list of arrays of one shape: memory, and how many there are, known or in memory."""

    of: str
    element: Any
    length: int  # at the beginning of the loop, where it is in one
    memory: Memory | None = None
    count: Buffer | None = None
    by: int = 0  # by how many it has grown in this turn
    most: int = 0  # by how many a turn may let it grow
    least: int = 0  # by how many it was shorter, at one time in this turn
    limit: Held | None = None  # how many it has room for, if it is as long as it comes

    cost = 0
    dims = ()
    kind = "list"

    @property
    def is_open(self) -> bool:
        return self.limit is not None

    def now(self, low: Lowering) -> Held:
        """Return how many there are."""
        assert self.count is not None
        return low.map(lambda n: n + self.by, self.count)

    @property
    def reads(self) -> dict[Memory, int]:
        return {}

    def moved(self, by: int) -> List:
        if self.count is None:
            return replace(self, length=self.length + by)
        most = max(self.most, self.by + by) if self.is_open else self.most
        return replace(self, by=self.by + by, most=most, least=min(self.least, self.by + by))

    def entering(self, low: Lowering, loop: Any, i: int, alone: bool) -> List:
        """Return the list as a loop sees it: with room for what it may add, and a count that changes.

        Where somebody else has the list too, the loop gets one of its own.
        """
        if loop.turns is None or self.count is not None:
            raise Refused("lists go through loops that can be counted beforehand")
        grows = max(loop.growth.get(i, 0), 0)
        room = self.holding(loop.elements.get(i)).roomy(low, self.length + grows * loop.turns, alone)
        count = low.write(low.room("i64", ()), low.full(self.length, "i64", ()))
        return replace(room, count=count, most=grows)

    def holding(self, element: Dims | None) -> List:
        """Return the list, whose elements are known to be of a shape."""
        if self.element is None and element is not None:
            return replace(self, element=element)
        if self.element is None or (element is not None and element != self.element):
            raise Refused("lists are lowered where their elements are of one shape, which is known")
        return self

    def roomy(self, low: Lowering, capacity: int, alone: bool = True) -> List:
        """Return the list with room for that many."""
        if self.memory is not None and self.memory.dims[0] >= capacity and alone:
            return self
        memory = low.room(self.of, (capacity, *self.element), is_list=True).memory
        part = (self.length, *self.element)
        if self.length:  # what was never set is zero
            before = low.full(0, self.of, part) if self.memory is None else Buffer(self.memory, part)
            low.write(Buffer(memory, part), before)
        return replace(self, memory=memory)

    def with_memory(self, low: Lowering) -> List:
        """Return the list, with memory for what is in it."""
        return self if self.memory is not None else self.holding(None).roomy(low, self.length)

    def left(self, turns: int) -> List:
        """Return the list behind a loop of that many turns."""
        return replace(self, length=self.length + self.by * turns, count=None, by=0, most=0)

    def item(self, by: int) -> Buffer:
        """Return the place of the element that many behind the end."""
        whole = Buffer(self.memory, (self.memory.dims[0], *self.element))  # type: ignore[arg-type, union-attr]
        size = size_of(self.element)
        if self.count is None:
            return whole.viewed(self.element, whole.strides[1:], (self.length + by) * size)
        return whole.indexed(self.count, (self.by + by) * size)

    def at(self, low: Lowering, index: Held) -> Buffer:
        """Return the place of an element."""
        whole = Buffer(self.memory, (self.memory.dims[0], *self.element))  # type: ignore[arg-type, union-attr]
        if self.is_open:
            index = inside(low, index, self.now(low))
        return whole.indexed(index, 0)

    def lengthen(self, low: Lowering, index: Held) -> None:
        """Have the list be one longer where an index is the one behind its end; raise the alarm where there is no room.

        What is in the new place is written next.
        """
        assert self.limit is not None and self.count is not None
        given = (widened(low, index), self.now(low), self.limit)
        full = low.map(lambda i, n, most: i.compare("eq", n) & ~(n < most), *given, kind="bool")
        raise_where(low, full, FULL)
        longer = low.map(lambda i, n, most: i.compare("eq", n) & (n < most), *given, kind="bool")
        low.write(self.count, low.map(lambda more, n: more.where(n + 1, n), longer, self.count, kind="i64"))


@lowers("TensorListLength")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    if not held[0].is_open:
        raise Refused("lists whose length is known have no code for it")
    return low.map(lambda n: cast(n, "i32"), held[0].now(low), kind="i32")


@lowers("TensorListResize")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    found = held[0]
    if not found.is_open:
        raise Refused("lists are lowered that are pushed to and popped from")
    _linear(low, node)
    length = inside(low, held[1], low.map(lambda n: n + 1, found.now(low)))  # what is not there would be zeros
    low.write(found.count, low.map(lambda n: n - found.by, length))
    return found.moved(0)


def _grown(low: Lowering, before: List, after: Any) -> list[Step]:
    """Return the step that counts what a turn has added to a list."""
    if not isinstance(after, List) or after.count is not before.count:
        raise Refused("a list that goes through a loop is pushed to, or popped from")
    before.by, by = after.by, after.by
    count = before.count
    assert count is not None
    with low.apart() as steps:
        if by:
            low.write(count, low.map(lambda n: n + by, count))
    return steps


def _linear(low: Lowering, node: Any) -> None:
    """Have what was read from a list before be kept: it is about to change."""
    if low.left(node.inputs[0]):
        raise Refused("a list that is changed is not used afterwards")
    memory = low.held(node.inputs[0]).memory  # type: ignore[union-attr]
    if low.uses(node.inputs[0]) > 1 and memory is not None:
        low.before_writing(memory)


@lowers("EmptyTensorList", "TensorListReserve")
def _(low: Lowering, node: Any, held: list[Held]) -> Any:
    element, kind = known(node, 0), _of(node)
    dims = None if element.ndim != 1 or (element < 0).any() else tuple(int(n) for n in element)
    return List(kind, dims, 0 if node.op.name == "EmptyTensorList" else int(known(node, 1)))


def _of(node: Any) -> str:
    kind = KINDS.get(node.attrs["element_dtype"].name)
    if kind is None:
        raise Refused(f"{node.attrs['element_dtype'].name} has no native form")
    return kind


@lowers("TensorListFromTensor")
def _(low: Lowering, node: Any, held: list[Held]) -> Any:
    tensor = held[0]
    made = List(tensor.kind, tensor.dims[1:], tensor.dims[0]).roomy(low, tensor.dims[0])
    low.write(Buffer(made.memory, tensor.dims), tensor)  # type: ignore[arg-type]
    return made


@lowers("TensorListPushBack")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    _linear(low, node)
    found, item = held[0].holding(held[1].dims), held[1]
    if found.count is None:
        found = found.roomy(low, found.length + 1)
    elif not found.is_open and (found.by < 0 or found.by + 1 > found.most):
        raise Refused("a list that is popped from and pushed to in one turn")
    low.write(found.item(0), item)
    return found.moved(1)


@lowers("TensorListPopBack")
def _(low: Lowering, node: Any, held: list[Any]) -> list[Any]:
    _linear(low, node)
    found = held[0]
    if found.count is None and not found.length:
        raise Refused("the list is empty")
    return [found.moved(-1), found.item(-1)]


@lowers("TensorListGetItem")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    _in_range(low, node, held[0])
    return held[0].with_memory(low).at(low, held[1])


@lowers("TensorListSetItem", "_TensorListAddItem")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    _linear(low, node)
    found, index, item = held
    if found.is_open and node.attrs.get("resize_if_index_out_of_bounds"):
        found.lengthen(low, index)
    _in_range(low, node, found)
    found = found.holding(item.dims).with_memory(low)
    place = found.at(low, index)
    low.write(place, item if node.op.name == "TensorListSetItem" else low.map(lambda was, x: was + x, place, item))
    return found.moved(0)


def _in_range(low: Lowering, node: Any, found: List) -> None:
    value = node.inputs[1]
    if found.is_open:
        return
    if value.known is not None:
        low_, high = int(value.known.min()), int(value.known.max())
    elif value in low.ranges:
        low_, high = low.ranges[value]
    else:
        raise Refused("an index that is known only when it runs")
    if not 0 <= low_ <= high < found.length:
        raise Refused("an index out of range is an error, which the kernel tells")


@lowers("TensorListStack", "TensorListConcatV2")
def _(low: Lowering, node: Any, held: list[Any]) -> Any:
    found = held[0]
    if found.count is not None:
        raise Refused("how long a list is, is known only when it runs")
    found = found.with_memory(low)
    rows = Buffer(found.memory, (found.length, *found.element))
    if node.op.name == "TensorListStack":
        return rows
    whole = reshaped(low, rows, (found.length * found.element[0], *found.element[1:]))
    lengths = low.constant(np.full(found.length, found.element[0], np.int64), "i64")
    return [whole, lengths]
