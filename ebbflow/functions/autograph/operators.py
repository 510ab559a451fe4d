"""The statements that converted code calls, in the form TensorFlow gives them: `tf.autograph`'s operators by hand.

There a statement is told how to read and set all variables it may change (`get_state`, `set_state`), and their names.
Programs that write staged code without conversion call these; converted functions call the ones of `ag`, which find
the variables themselves. Both make the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.typing import Nested
from ebbflow.functions.autograph import logic
from ebbflow.functions.autograph.conditionals import Choice
from ebbflow.functions.autograph.iteration import items_of
from ebbflow.functions.autograph.logic import not_
from ebbflow.functions.autograph.loops import try_test
from ebbflow.functions.autograph.staged_loop import StagedLoop
from ebbflow.functions.autograph.state import UNDEFINED, State
from ebbflow.functions.autograph.unrolled import Turns
from ebbflow.functions.autograph.values import condition, is_staged
from ebbflow.functions.func_graph import FuncGraph


class Undefined:
    """The value of a variable that has none yet; any use of it is refused by its name."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name

    def read(self) -> Nested:
        """Refuse to give a value."""
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return self.symbol_name

    def __getattribute__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, name)
        except AttributeError:
            return self

    def __getitem__(self, i: Any) -> Undefined:
        return self


class _Slot:
    """One of the variables that a statement was told of."""

    def __init__(self, name: str, number: int, get_state: Callable[[], Any], set_state: Callable[[Any], Any]):
        self.name, self._number, self._all, self._set_all = name, number, get_state, set_state

    def get(self) -> Any:
        value = self._all()[self._number]
        return UNDEFINED if isinstance(value, Undefined) else value

    def set(self, value: Any) -> None:
        values = list(self._all())
        values[self._number] = Undefined(self.name) if value is UNDEFINED else value
        self._set_all(tuple(values))


class _GivenState(State):
    """All that a statement may change, read and set by functions it was given; the first `count` are handed on."""

    def __init__(self, names: Sequence[str], get_state: Any, set_state: Any, count: int | None = None):
        self._get_state, self._set_state = get_state, set_state
        slots: Any = [_Slot(name, i, get_state, set_state) for i, name in enumerate(names)][:count]
        self.changes, self.rebound = slots, slots
        self.maybe, self.fill, self.own, self.containers = [], [], [], []

    def save(self) -> list[Any]:
        return [self._get_state(), []]

    def restore(self, saved: list[Any]) -> None:
        self._set_state(saved[0])


class _GivenLoop(StagedLoop):
    """A loop whose variables must all be there before it, or be tensors after one turn."""

    def add(self) -> None:
        for variable in self.state.rebound:
            if variable.get() is None:
                raise ValueError(self._located(f"'{variable.name}' is not allowed to be None before the loop"))
        super().add()

    def _rehearse(self, waiting: Sequence[Any]) -> None:
        try:
            super()._rehearse(waiting)
        except Exception as error:
            names = ", ".join(f"'{v.name}'" for v in waiting)
            raise ValueError(
                self._located(
                    f"{names} must be defined before the loop; tried to define it from one turn, but: {error}"
                )
            ) from error

    def _learn_variable(self, variable: Any, value: Any) -> None:
        super()._learn_variable(variable, value)
        if variable in self.left:
            what = (
                "it has no value after one turn" if value is UNDEFINED else f"unsupported type {type(value).__name__}"
            )
            raise ValueError(f"'{variable.name}' must be defined before the loop; tried to define it, but: {what}")


class _Stop:
    """What ends a `for` early, seen as the variable that says so."""

    def __init__(self, extra_test: Callable[[], Any]):
        self._extra_test = extra_test

    def get(self) -> Any:
        return not_(self._extra_test())


def for_stmt(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get_state: Callable[[], Any] | None,
    set_state: Callable[[Any], Any] | None,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """Run `body` with each item of `iter_`, as long as `extra_test` holds."""
    items = items_of(iter_)
    if items is None:
        _python_for(iter_, extra_test, body)
        return
    stop: Any = None if extra_test is None else _Stop(extra_test)
    state = _GivenState(symbol_names, get_state, set_state)
    _GivenLoop(state, body, stop, lambda: _loop_options(opts), items=items).add()


def _python_for(items: Any, extra_test: Callable[[], Any] | None, body: Callable[[Any], Any]) -> None:
    if extra_test is not None and not extra_test():
        return
    turns = Turns()
    for item in items:
        turns.begin()
        body(item)
        turns.end()
        if extra_test is not None and not extra_test():
            return


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get_state: Callable[[], Any] | None,
    set_state: Callable[[Any], Any] | None,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """Run `body` while `test` holds."""
    graph = context.current_graph()
    state = None if get_state is None else _GivenState(symbol_names, get_state, set_state)
    scratch = None if graph is None or state is None else FuncGraph("test", graph)
    turns = Turns()
    while True:
        holds = try_test(test, scratch, state)  # type: ignore[arg-type]
        if is_staged(holds):
            _GivenLoop(state, body, None, lambda: _loop_options(opts), test=test).add()  # type: ignore[arg-type]
            return
        if not holds:
            return
        turns.begin()
        body()
        turns.end()


def _loop_options(opts: dict[str, Any]) -> dict[str, Any]:
    known = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")
    return {name: value for name, value in opts.items() if name in known and value is not None}


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], Any] | None,
    set_state: Callable[[Any], Any] | None,
    symbol_names: Sequence[str],
    nouts: int,
) -> None:
    """Run `body` or `orelse` by `cond`; the first `nouts` variables are handed on where that is a tensor."""
    if not is_staged(cond):
        if cond:
            body()
        else:
            orelse()
        return
    state = _GivenState(symbol_names, get_state, set_state, nouts)
    Choice(condition(cond, "if statement"), state, body.__code__).make(body, orelse)


# --- expressions ------------------------------------------------------------------------------------------------------


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Nested:
    """Return `a() and b()`; `b` is called only where it matters.

    >>> and_(lambda: 0, lambda: 1 / 0)
    0
    """
    return logic.and_(a(), b)


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Nested:
    """Return `a() or b()`; `b` is called only where it matters.

    >>> or_(lambda: 1, lambda: 1 / 0)
    1
    """
    return logic.or_(a(), b)


def eq(a: Any, b: Any) -> Nested:
    """Return `a == b`, of tensors element by element."""
    return a == b


def not_eq(a: Any, b: Any) -> Nested:
    """Return `a != b`, of tensors element by element."""
    return not_(eq(a, b))
