"""`if` on a tensor: both branches are traced, and what they leave in the user's variables is chosen between.

On anything else the statement is Python's. Each branch starts from the variables as they were; a variable that ends up
the same Python value in both stays that, one with tensors (or numbers) becomes an output of the node. Expressions
(`a if c else b`, `and`, `or`) are branches without variables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.functions.autograph.lists import StagedList, common_kind
from ebbflow.functions.autograph.state import UNDEFINED, State, Variable, contents, refill
from ebbflow.functions.autograph.values import (
    belongs_inside,
    condition,
    could_be_tensor,
    is_staged,
    kind_text,
    origin_text,
    place_text,
    same_plain,
)
from ebbflow.functions.control_flow.branch_op import choose_node
from ebbflow.functions.control_flow.cond import handed_out
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.ops.declare import raw

NAMES = ("main", "else")
RESULT = "the return value"


def if_stmt(
    test: Any,
    if_body: Callable[[], Any],
    else_body: Callable[[], Any] | None = None,
    *,
    changes: str = "",
    maybe: str = "",
    mutates: str = "",
    drops: str = "",
    notes: str = "",
    fill: str = "",
) -> Any:
    """Run one of two branches by `test`; return what it returns.

    >>> if_stmt(2 > 1, lambda: "then", lambda: "else")
    'then'
    """
    if not is_staged(test):
        if test:
            return if_body()
        return None if else_body is None else else_body()
    state = State([f for f in (if_body, else_body) if f is not None], changes, maybe, mutates, drops, notes, fill)
    return Choice(condition(test, "if statement"), state, if_body.__code__).make(if_body, else_body)


def if_exp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return what `body` gives where `test` holds, else what `orelse` gives.

    >>> if_exp([], lambda: 1, lambda: 2)
    2
    """
    if not is_staged(test):
        return body() if test else orelse()
    choice = Choice(condition(test, "conditional expression"), State([body, orelse]), body.__code__)
    choice.result = "the conditional expression"
    return choice.make(body, orelse)


class Outcome:
    """What a branch leaves behind: what it returns, and the values of the variables it may change."""

    def __init__(self, state: State, result: Any, graph: Any, before: list[Any]):
        self.result = result
        self.values = [v.get() for v in state.rebound]
        self.held = [contents(v.get()) for v in state.containers]
        self.differs = [
            state.differs(variable, now, was, graph)
            for variable, now, (_, was) in zip(state.containers, self.held, before[1], strict=False)
        ]


class Choice:
    """One `if` being added to a graph."""

    def __init__(self, test: Any, state: State, code: Any):
        self.test, self.state, self.code = test, state, code
        self.graph = context.current_graph()
        self.result = RESULT
        self.outputs: list[list[Any]] = [[], []]

    def make(self, if_body: Callable[[], Any], else_body: Callable[[], Any] | None) -> Any:
        """Add the node; leave the user's variables as they are after the statement, and return its result."""
        graph = self.graph
        before = self.state.save()
        try:
            with graph.name_scope("cond") as scope:
                traced = [self._trace(scope, which, fn, before) for which, fn in enumerate((if_body, else_body))]
                bodies, outcomes = [body for body, _ in traced], [outcome for _, outcome in traced]
                hand_on = self._merge(bodies, outcomes)
                for body, outputs in zip(bodies, self.outputs, strict=True):
                    body.outputs = body.structured_outputs = outputs
                chosen = handed_out(graph, choose_node(self.test, bodies, by_index=False, name=scope))
        except RecursionError as error:
            raise _endless(error, self.code) from None
        except BaseException:
            self.state.restore(before)
            raise
        return hand_on(chosen)

    def _trace(self, scope: str, which: int, function: Any, before: list[Any]) -> tuple[FuncGraph, Outcome]:
        found: list[Outcome] = []

        def branch() -> None:
            result = None if function is None else function()
            found.append(Outcome(self.state, result, self.graph, before))

        body = build(f"{scope.replace('/', '_')}{('true', 'false')[which]}", branch, self.graph)
        self.state.restore(before)
        for variable, held, differs in zip(self.state.containers, found[0].held, found[0].differs, strict=True):
            if not differs:
                refill(variable.get(), held)  # what Python notes down while it traces stays noted down
        return body, found[0]

    # --- what comes out -----------------------------------------------------------------------------------------------

    def _merge(self, bodies: Sequence[FuncGraph], outcomes: Sequence[Outcome]) -> Callable[[list[Any]], Any]:
        """Decide what is handed on, and return the function that does it once the node is there."""
        state, steps = self.state, []
        for variable, *values in zip(state.rebound, *[o.values for o in outcomes], strict=True):
            steps.append((variable.set, self._variable(variable, values, bodies)))
        for i, variable in enumerate(state.containers):
            if any(o.differs[i] for o in outcomes):
                steps.append(self._container(variable, [o.held[i] for o in outcomes], bodies))
        give = self._returned([o.result for o in outcomes], bodies)

        def hand_on(chosen: list[Any]) -> Any:
            for put, make in steps:
                put(make(chosen))
            return give(chosen)

        return hand_on

    def _variable(self, variable: Variable, values: list[Any], bodies: Sequence[FuncGraph]) -> Any:
        undefined = [value is UNDEFINED for value in values]
        if all(undefined):
            return lambda chosen: UNDEFINED
        if any(undefined):
            which = undefined.index(True)
            if variable in self.state.maybe:
                return lambda chosen: UNDEFINED
            if variable not in self.state.fill:
                raise ValueError(
                    self._located(f"'{variable.name}' must also be initialized in the {NAMES[which]} branch")
                )
            with context.scope(bodies[which]):
                values[which] = nest.map_structure(stand_in, values[1 - which], expand_composites=True)
        return self._structure(variable.name, values, bodies)

    def _container(self, variable: Variable, held: list[Any], bodies: Sequence[FuncGraph]) -> tuple[Any, Any]:
        """A list or dictionary that changes in place; a list of two lengths becomes one that the graph knows."""
        container = variable.get()
        dynamic = any(isinstance(h, StagedList) for h in held) or (
            isinstance(container, list) and _lengths_differ(held)
        )
        kind = common_kind(held) if dynamic and all(_of_tensors(h) for h in held) else None
        if kind is None:
            return functools.partial(refill, container), self._structure(variable.name, held, bodies)
        staged = []
        for body, one in zip(bodies, held, strict=True):
            with context.scope(body):
                staged.append(
                    StagedList(one.handle, *kind) if isinstance(one, StagedList) else StagedList.of(one, *kind)
                )
        make = self._structure(variable.name, staged, bodies)
        return (functools.partial(refill, container) if isinstance(container, StagedList) else variable.set), make

    def _returned(self, results: list[Any], bodies: Sequence[FuncGraph]) -> Any:
        if self.result is RESULT and (results[0] is None) != (results[1] is None):
            which = 0 if results[0] is None else 1
            raise ValueError(
                self._located(
                    f"the {NAMES[which]} branch must also have a return statement. It returns None, and the "
                    f"{NAMES[1 - which]} branch {kind_text(results[1 - which])}: a value that is returned from one "
                    "branch must be returned from all"
                )
            )
        return self._structure(self.result, results, bodies)

    def _structure(self, name: str, values: Sequence[Any], bodies: Sequence[FuncGraph]) -> Any:
        """Add the tensors of one value to the outputs; return how to make the value from what was chosen."""
        label = name if name is self.result else f"'{name}'"
        for which, value in enumerate(values):
            if value is None and values[1 - which] is not None:
                raise ValueError(self._located(f"{label} is None at the end of the {NAMES[which]} branch."))
        try:
            nest.assert_same_structure(*values, expand_composites=True)  # type: ignore[misc]
        except (ValueError, TypeError) as error:
            raise TypeError(
                self._located(f"{label} must have the same nested structure in the main and else branches:\n\n{error}")
            ) from None
        leaves = zip(*[nest.flatten(value, expand_composites=True) for value in values], strict=True)
        makers = [self._leaf(name, label, pair, bodies) for pair in leaves]
        return lambda chosen: nest.pack_sequence_as(values[0], [m(chosen) for m in makers], expand_composites=True)

    def _leaf(self, name: str, label: str, pair: Sequence[Any], bodies: Sequence[FuncGraph]) -> Any:
        main, other = pair
        if same_plain(main, other) and not belongs_inside(main, self.graph):
            return lambda chosen: main
        if not all(could_be_tensor(leaf) for leaf in pair):
            raise TypeError(
                self._located(
                    f"{label} must be tensors (or become them) in both branches of a condition on a tensor, but it is "
                    f"{kind_text(main)} in the main branch and {kind_text(other)} in the else branch"
                )
            )
        tensors = []
        for body, leaf in zip(bodies, pair, strict=True):
            with context.scope(body):
                tensors.append(convert(leaf))
        a, b = tensors
        if a.dtype.base_dtype is not b.dtype.base_dtype:
            made = origin_text(name, main) if isinstance(main, Tensor) else origin_text(name, other)
            raise TypeError(
                self._located(
                    f"{label} has dtype {a.dtype.name} in the main branch, but dtype {b.dtype.name} in the else branch"
                )
                + made
            )
        index = len(self.outputs[0])
        for outputs, tensor in zip(self.outputs, tensors, strict=True):
            outputs.append(tensor)
        return lambda chosen: chosen[index]

    def _located(self, message: str) -> str:
        return f"{message}\n  condition at {place_text(self.code)}"


def _lengths_differ(held: Sequence[Any]) -> bool:
    return len({len(one) for one in held}) > 1


def _of_tensors(held: Any) -> bool:
    return isinstance(held, StagedList) or all(could_be_tensor(item) for item in held)


def stand_in(like: Any) -> Any:
    """Return a tensor of the current graph that stands where none was set, and that nobody will look at."""
    if not could_be_tensor(like):
        return like
    tensor = like if isinstance(like, Tensor) else convert(like)
    return raw.FakeParam(dtype=tensor.dtype.base_dtype, shape=tensor._dims)


def _endless(error: RecursionError, code: Any) -> RecursionError:
    if "never ends" in str(error):
        return error
    return RecursionError(
        f"tracing never ends: under the condition at {place_text(code)}, which is on a tensor, `{code.co_name}` comes "
        "to call itself again, and a graph holds both branches. Write the recursion as a loop, or let it depend on a "
        "Python value"
    )
