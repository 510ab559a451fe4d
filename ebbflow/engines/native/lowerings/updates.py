"""Variables that a region reads and changes: their arrays are arguments, written in place.

An optimizer's rule is the very formula of its op, called once with `Cell`s in the place of arrays: what it does to them
becomes the body of a loop. A formula that asks what a number is cannot be written down that way, and stays with NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.engines.native.lowering import Lowering, Refused, lowers
from ebbflow.engines.native.lowerings.elementwise import larger, sign_of, smaller
from ebbflow.engines.native.nest_steps import Update
from ebbflow.engines.native.text import Body, Index
from ebbflow.engines.native.values import Buffer, Held, Num, aligned, size_of

_UFUNCS: dict[Any, Any] = {
    np.sqrt: lambda x: x.call("sqrt"),
    np.square: lambda x: x * x,
    np.maximum: larger,
    np.minimum: smaller,
    np.absolute: lambda x: x.call("fabs"),
    np.sign: sign_of,
    np.exp: lambda x: x.function("exp"),
    np.power: lambda x, y: x.function("pow", y),
    np.negative: lambda x: -x,
    np.add: lambda x, y: x + y,
    np.subtract: lambda x, y: x - y,
    np.multiply: lambda x, y: x * y,
    np.divide: lambda x, y: x / y,
}


class Cell(Num):
    """One element of an array that a formula is given: operators in place change it."""

    __slots__ = ()

    def _with(self, instruction: str, other: Any, swapped: bool = False) -> Cell:
        return Cell.of(super()._with(instruction, other, swapped))

    def __neg__(self) -> Cell:
        return Cell.of(super().__neg__())

    @classmethod
    def of(cls, number: Num) -> Cell:
        """Return a number as one that NumPy's functions take, too."""
        return cls(number.body, number.kind, number.name)

    def compare(self, how: str, other: Any) -> Num:
        raise Refused("the formula asks what a number is")

    def __eq__(self, other: object) -> bool:
        raise Refused("the formula asks what a number is")

    __hash__ = object.__hash__

    def _become(self, other: Num) -> Cell:
        self.name = other.name
        return self

    def __iadd__(self, other: Any) -> Cell:
        return self._become(self + other)

    def __isub__(self, other: Any) -> Cell:
        return self._become(self - other)

    def __imul__(self, other: Any) -> Cell:
        return self._become(self * other)

    def __setitem__(self, where: Any, value: Num) -> None:
        self._become(value)

    def __bool__(self) -> bool:
        raise Refused("the formula asks what a number is")

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, out: Any = None, **options: Any) -> Any:
        formula = _UFUNCS.get(ufunc)
        if formula is None or method != "__call__" or options:
            raise Refused(f"the formula uses {ufunc.__name__}")
        plain = [g if isinstance(g, Num) else Num(self.body, self.kind, self._like(g)) for g in given]
        numbers = [Num(g.body, g.kind, g.name) for g in plain]
        number = formula(*numbers)
        return Cell.of(number) if out is None else out[0]._become(number)


@lowers("ReadVariableOp", "_ReadReference")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    return held[0]


@lowers("AssignAddVariableOp", "AssignAdd")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    return _assigned(low, node, held, lambda old, change: old + change)


@lowers("AssignSubVariableOp", "AssignSub")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    return _assigned(low, node, held, lambda old, change: old - change)


@lowers("AssignVariableOp")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    return _assigned(low, node, held)


def _assigned(low: Lowering, node: Any, held: list[Held], change: Callable[..., Num] | None = None) -> list[Held]:
    variable, value = held
    assert isinstance(variable, Buffer)
    if value.dims != variable.dims:
        raise Refused("a variable is assigned a value of another shape")
    if change is not None:
        value = low.map(change, variable, value)
    low.before_writing(variable.memory)
    low.write(variable, _apart(low, value, [variable]))
    return [variable] if node.outputs else []


def serves(op: Any, attrs: dict[str, Any]) -> bool:
    """Return whether an optimizer's rule can be written down."""
    return _written_down(op, tuple(attrs[name] for name in op.kernel_attrs))


@functools.cache
def _written_down(op: Any, options: tuple[Any, ...]) -> bool:
    form, formula = op.formula
    body = Body()
    cells = [Cell(body, "f32", f"%{name}") for name in form.state]
    numbers = {name: Cell(body, "f32", f"%{name}") for name in form.numbers}
    try:
        formula(*cells, **numbers, **dict(zip(op.kernel_attrs, options, strict=True)))
    except (Refused, AttributeError, TypeError):  # what is no number has none of an array's methods
        return False
    return True


@lowers("_Update")
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    """Lower an optimizer's step."""
    form, formula = node.op.formula
    count = len(form.state)
    state, given = held[:count], dict(zip(form.numbers, held[count:], strict=True))
    shape = state[0].dims
    if any(s.dims != shape for s in (*state, given[form.grad])) or any(h.kind != state[0].kind for h in held):
        raise Refused("the inputs of an update do not match")
    given = {n: _apart(low, h, state) for n, h in given.items()}
    numbers = {n: low.in_memory(h) if h.cost > 1 and n != form.grad else h for n, h in given.items()}
    if not size_of(shape):
        return [state[0]] if node.outputs else []
    for slot in state:
        low.before_writing(slot.memory)  # type: ignore[union-attr]
    options = {name: node.attrs[name] for name in node.op.kernel_attrs}

    def at(body: Body, index: list[Index]) -> None:
        cells = [Cell(body, s.kind, s.load(body, index)) for s in state]
        loaded = {n: Cell(body, h.kind, h.load(body, aligned(index, h.dims))) for n, h in numbers.items()}
        formula(*cells, **loaded, **options)
        for slot, cell in zip(state, cells, strict=True):
            slot.store(body, index, cell.name)  # type: ignore[union-attr]

    flat = all(h.flat for h in (*state, given[form.grad]))
    low.steps.append(Update(shape, flat, [*state, *numbers.values()], state, at))  # type: ignore[arg-type]
    return [state[0]] if node.outputs else []


def _apart(low: Lowering, held: Held, state: Sequence[Held]) -> Held:
    """Return an array that may be read while variables are written: in other memory, where it looks all over theirs."""
    full = len(held.dims)
    if all(held.reads.get(memory, full) == full for slot in state for memory in slot.reads):
        return held
    return low.write(low.room(held.kind, held.dims), held)
