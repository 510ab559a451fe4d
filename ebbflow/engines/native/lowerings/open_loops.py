"""Loops with lists as long as they come: how many turns there are is known when it runs.

The memory of the lists is given, with how much room there is in each. In front of every turn the code looks whether the
turn has what it needs; a place in a list that is not there is replaced by one that is. Both are told in the end: then
what was computed is nothing, and somebody else does it, or there is more room the next time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.engines.native.alarms import ABSENT, FULL, raise_where
from ebbflow.engines.native.lowering import Lowering, Refused, lowers
from ebbflow.engines.native.lowerings.loops import List, Turns, changes, parted
from ebbflow.engines.native.nest_steps import Step
from ebbflow.engines.native.schedule import merged
from ebbflow.engines.native.values import Buffer, Held, Num

TURNS = 64
"""Turns that a loop over lists is taken to have."""


@lowers("_OpenLoop")
def _(low: Lowering, node: Any, held: list[Any]) -> list[Any]:
    # Inputs: variables, and for each list how long it is and may become. Outputs: what changes, and an answer: the
    # alarm, and how long each list has become. The plan (`compiler.open_loops`) says which variable is where.
    loop, plan = node.attrs["loop"], node.attrs["plan"]
    sizes = held[-1]
    alarm = low.alarm = low.write(low.room("i64", ()), low.full(0, "i64", ()))
    state: list[Any] = [held[plan.taken[i]] if i in plan.taken else alarm for i in range(len(loop.body.inputs))]
    for place, i in enumerate(plan.lists):
        memory = (low.target(node.outputs[plan.given[i]]) if i in plan.given else state[i]).memory
        memory.is_list = True
        count = low.write(low.room("i64", ()), _number(sizes, 2 * place))
        limit = _number(sizes, 2 * place + 1)
        state[i] = List(memory.kind, memory.dims[1:], 0, memory, count, limit=limit)
    carried = [i for i in plan.carried if i not in plan.lists]
    for i in carried:
        state[i] = low.write(low.room(state[i].kind, state[i].dims), state[i])
    tests, (flag,) = low.inside(loop.test, state)
    steps, results = low.inside(loop.body, state)
    steps += changes(low, {i: (state[i], results[i]) for i in carried})
    for i in plan.lists:
        steps += _counted(low, state[i], results[i])
    tests += _looks(low, flag, [results[i] for i in plan.lists])
    low.alarm = None
    before, steps = parted(merged(steps))
    low.steps += before
    low.keep_in_registers([*tests, *steps])
    go_on = low.map(lambda flag, alarm: flag & alarm.compare("eq", 0), flag, alarm)
    ends = any(results[i].most > 0 or results[i].least < 0 for i in plan.lists)  # when a list is full, or empty
    low.steps.append(Turns(merged(tests), go_on, steps, None, TURNS if ends else None))
    return [*[_given(low, node, state[i], plan.given[i]) for i in plan.given], _answer(low, node, state, plan, alarm)]


def _number(numbers: Buffer, place: int) -> Buffer:
    return numbers.viewed((), (), place)


def _given(low: Lowering, node: Any, held: Any, place: int) -> Held:
    return low.target(node.outputs[place]) if isinstance(held, List) else held


def _answer(low: Lowering, node: Any, state: list[Any], plan: Any, alarm: Buffer) -> Buffer:
    answer = low.target(node.outputs[-1])
    for place, value in enumerate((alarm, *[state[i].count for i in plan.lists])):
        low.write(_number(answer, place), value)
    return answer


def _counted(low: Lowering, before: List, after: Any) -> list[Step]:
    """Return the step that counts what a turn adds to a list."""
    if not isinstance(after, List) or after.count is not before.count:
        raise Refused("a list that goes through a loop stays the list that it is")
    with low.apart() as steps:
        if after.by:
            low.write(after.count, low.map(lambda n: n + after.by, after.count))  # type: ignore[arg-type]
    return steps


def _looks(low: Lowering, flag: Held, lists: list[List]) -> list[Step]:
    """Return the steps that look, in front of a turn, whether lists have what it takes and room for what it adds."""
    with low.apart() as steps:
        for found in lists:
            count, limit = found.count, found.limit
            assert count is not None and limit is not None
            if found.most > 0:
                raise_where(low, low.map(_lacks(found.most), flag, count, limit, kind="bool"), FULL)
            if found.least < 0:
                raise_where(low, low.map(_lacks(found.least), flag, count, kind="bool"), ABSENT)
    return steps


def _lacks(by: int) -> Callable[..., Num]:
    """Return what says, where there is one more turn, that a list would become too long, or shorter than nothing."""
    if by > 0:
        return lambda more, count, limit: more & (limit < count + by)
    return lambda more, count: more & (count + by < 0)
