"""`while` and `for`: in Python on plain values, as one loop of the graph on tensors.

A loop that starts in Python and comes to depend on a tensor (by its condition, or by a `break`) goes on in the graph
from where it is; the iterations left of a Python `for` stand behind a condition each. How a loop becomes part of the
graph is written in `staged_loop`, what it can go over in `iteration`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ebbflow.core import context
from ebbflow.functions.autograph.conditionals import if_stmt
from ebbflow.functions.autograph.iteration import items_of
from ebbflow.functions.autograph.staged_loop import StagedLoop
from ebbflow.functions.autograph.state import UNDEFINED, State, Variable
from ebbflow.functions.autograph.unrolled import Turns
from ebbflow.functions.autograph.values import belongs_inside, is_staged, place_text
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.ops.declare import raw

LONGEST = 100
"""Iterations of a Python loop, of a length nobody knows, that are tried after a tensor has said that it may stop."""


def while_stmt(
    loop_test: Callable[[], Any],
    loop_body: Callable[[], Any],
    *,
    changes: str = "",
    maybe: str = "",
    mutates: str = "",
    drops: str = "",
    notes: str = "",
    fill: str = "",
    until: str = "",
    options: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Run `loop_body` while `loop_test` holds, and the variable named `until` does not."""
    graph = context.current_graph()
    if graph is None and not until:
        while loop_test():
            loop_body()
        return
    state = State([loop_test, loop_body], changes, maybe, mutates, drops, notes, fill)
    stop = _named(state, until)
    scratch = None if graph is None else FuncGraph("test", graph)
    turns = Turns()
    while True:
        stopped = stop is not None and stop.get()
        if not is_staged(stopped):
            if stopped:
                return
            holds = try_test(loop_test, scratch, state)
            if not is_staged(holds):
                if not holds:
                    return
                turns.begin()
                loop_body()
                turns.end()
                continue
        StagedLoop(state, loop_body, stop, options, test=loop_test).add()
        return


def try_test(test: Callable[[], Any], scratch: FuncGraph | None, state: State) -> Any:
    """Return what a test gives; where that is a tensor, no trace is left of having asked."""
    if scratch is None:
        return test()
    before = state.save()
    with context.scope(scratch):
        holds = test()
    if is_staged(holds):
        state.restore(before)
    elif any(belongs_inside(v.get(), scratch._around) for v in state.rebound if v.get() is not UNDEFINED):
        state.restore(before)
        holds = test()
    return holds


def for_stmt(
    iterated: Any,
    loop_body: Callable[[Any], Any],
    *,
    changes: str = "",
    maybe: str = "",
    mutates: str = "",
    drops: str = "",
    notes: str = "",
    fill: str = "",
    until: str = "",
    options: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Run `loop_body` with each item of `iterated`, until the variable named `until` holds."""
    items = items_of(iterated)
    if items is None and not until:
        turns = Turns()
        for item in iterated:
            loop_body(item)
            turns.end()
        return
    state = State([loop_body], changes, maybe, mutates, drops, notes, fill)
    stop = _named(state, until)
    if items is not None:
        StagedLoop(state, loop_body, stop, options, items=items).add()
        return
    assert stop is not None
    names = {"changes": changes, "maybe": maybe, "mutates": mutates, "drops": drops, "notes": notes, "fill": fill}
    _python_for(iterated, loop_body, stop, names)


def _python_for(iterated: Any, body: Any, stop: Variable, names: dict[str, str]) -> None:
    """A Python loop with `break`: once that depends on a tensor, the iterations left stand behind a condition."""
    guarded = 0
    for item in iterated:
        stopped = stop.get()
        if not is_staged(stopped):
            if stopped:
                return
            body(item)
            if stop.get() is True:
                return
            continue
        guarded += 1
        if guarded > LONGEST and not hasattr(iterated, "__len__"):
            raise NotImplementedError(
                "break and return statements which depend on a TF condition are not supported in Python for loops of "
                f"unknown length. Did you intend to make it a TF loop? (at {place_text(body.__code__)})"
            )
        once = FunctionType(body.__code__, body.__globals__, body.__name__, (item,), body.__closure__)
        if_stmt(raw.LogicalNot(stopped), once, **names)  # type: ignore[arg-type]


def _named(state: State, name: str) -> Variable | None:
    return next((v for v in state.rebound if v.name == name), None)


def loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> dict[str, Any]:
    """Return what `set_loop_options` said of a loop."""
    given = {
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "maximum_iterations": maximum_iterations,
        "shape_invariants": shape_invariants,
    }
    return {name: value for name, value in given.items() if value is not None}
