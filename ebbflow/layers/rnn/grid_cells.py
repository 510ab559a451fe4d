"""`tf.contrib.grid_rnn`: cells on a grid, whose state goes on along several axes at once.

Along each axis a cell of its own (or one that all share) takes the outputs of all axes and the memory of its axis. An
input takes the place of the state along its axis. Axes of priority come last and see what the others gave; one without
recurrence is a layer with an activation. Knows cells, variables and layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ebbflow.core.shape import dimension_value
from ebbflow.core.typing import Nested
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.state.contrib_initializers import xavier_initializer
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope


class _Axes(NamedTuple):
    """Which axes do what, by number."""

    inputs: list[int]
    outputs: list[int]
    recurrent: list[int]
    first: list[int]
    priority: list[int]


def _numbers(given: int | Iterable[int] | None) -> list[int]:
    return [] if given is None else [given] if isinstance(given, int) else sorted(set(given))


def _axes(count: int, inputs: Any, outputs: Any, priority: Any, layers: Any) -> _Axes:
    chosen = [_numbers(given) for given in (inputs, outputs, priority, layers)]
    for numbers in chosen:
        if any(not 0 <= n < count for n in numbers):
            raise ValueError(f"Invalid dims: {numbers}. Must be in [0, {count})")
    takes, gives, last, plain = chosen
    recurrent = [i for i in range(count) if i not in plain]
    return _Axes(takes, gives, recurrent, [i for i in range(count) if i not in last], last)


class GridRNNCell(RNNCell):
    """A cell on a grid of `num_dims` axes."""

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: int | Iterable[int] | None = None,
        output_dims: int | Iterable[int] | None = None,
        priority_dims: int | Iterable[int] | None = None,
        non_recurrent_dims: int | Iterable[int] | None = None,
        tied: bool = False,
        cell_fn: Callable[[int], Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._units, self._count, self._tied = num_units, num_dims, tied
        self._axes = _axes(num_dims, input_dims, output_dims, priority_dims, non_recurrent_dims)
        self._activation = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = cell_fn or (lambda units: LSTMCell(units, state_is_tuple=state_is_tuple))
        self._cells = [make(num_units)] * num_dims if tied else [make(num_units) for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def output_size(self) -> Nested:
        """The size of each output, or of all of them together."""
        sizes = tuple(self._cells[0].output_size for _ in self._axes.outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Nested:
        """The sizes of the states along the recurrent axes, or of all of them together."""
        if self._state_is_tuple:
            return tuple(self._cells[0].state_size for _ in self._axes.recurrent)
        return self._total_size * len(self._axes.recurrent)

    @property
    def _total_size(self) -> int:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    @property
    def _remembers(self) -> bool:
        """Whether a cell's state is a memory beside its output, as an LSTM's is."""
        return self._total_size > self._units

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Nested:
        memories, outputs = self._taken(state)
        step = _Step(self, memories, outputs)
        with variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, outputs)
            step.along(self._axes.first, True)
            step.along(self._axes.priority, False)
            return self._outputs(step, inputs), self._states(step, inputs)

    def _taken(self, state: Any) -> tuple[list[Any], list[Any]]:
        """Return the memory and the output along each axis, None where there is none."""
        memories: list[Any] = [None] * self._count
        outputs: list[Any] = [None] * self._count
        axes = self._axes.recurrent
        if self._state_is_tuple:
            if len(state) != len(axes):
                raise ValueError(f"Expected state as a tuple of {len(axes)} element")
            parts = state
        else:
            parts = split(state, len(axes), 1) if axes else []
            if self._remembers:
                parts = [split(part, [self._units, self._total_size - self._units], 1) for part in parts]
        for axis, part in zip(axes, parts, strict=True):
            if self._remembers:
                memories[axis], outputs[axis] = part
            else:
                outputs[axis] = part
        return memories, outputs

    def _project(self, inputs: Any, memories: list[Any], outputs: list[Any]) -> None:
        """Put projections of the inputs in the place of the states along their axes."""
        axes = self._axes.inputs
        if inputs is None or not axes or not dimension_value(inputs.shape[1]):
            return
        for axis, part in zip(axes, split(inputs, len(axes), 1), strict=True):
            shape = [dimension_value(part.shape[1]), self._units]
            outputs[axis] = matmul(part, get_variable(f"project_m_{axis}", shape, dtype=inputs.dtype))
            if self._remembers:
                memories[axis] = matmul(part, get_variable(f"project_c_{axis}", shape, dtype=inputs.dtype))

    def _outputs(self, step: _Step, inputs: Any) -> Any:
        found = tuple(step.given[axis] for axis in self._axes.outputs)
        if self._output_is_tuple:
            return found
        return concat(list(found), 1) if found else zeros([0, 0], inputs.dtype)

    def _states(self, step: _Step, inputs: Any) -> Any:
        found = tuple(step.states[axis] for axis in self._axes.recurrent)
        if self._state_is_tuple:
            return found
        parts = [part for state in found for part in (state if self._remembers else [state])]
        return concat(parts, 1) if parts else zeros([0, 0], inputs.dtype)


class _Step:
    """One step of a grid under way: what came in, and what has come out along each axis so far."""

    def __init__(self, cell: GridRNNCell, memories: list[Any], outputs: list[Any]):
        self._cell, self._memories, self._outputs = cell, memories, outputs
        self.given: list[Any] = [None] * cell._count
        self.states: list[Any] = [None] * cell._count

    def along(self, axes: list[int], first: bool) -> None:
        """Step along some axes, all of which see the same."""
        if not axes:
            return
        *others, last = [old if new is None else new for old, new in zip(self._outputs, self.given, strict=True)]
        seen = concat(others, 1) if others else zeros([dimension_value(last.shape[0]), 0], last.dtype)
        for axis in axes:
            kind = "recurrent" if axis in self._cell._axes.recurrent else "non_recurrent"
            with variable_scope(kind if self._cell._tied else f"{kind}/cell_{axis}"):
                if self._cell._tied and not (first and axis == axes[0]):
                    get_variable_scope().reuse_variables()
                if kind == "non_recurrent":
                    self.given[axis] = self._layer(concat([seen, last], 1) if others else last)
                else:
                    memory = self._memories[axis]
                    state = last if memory is None else (memory, last)
                    self.given[axis], self.states[axis] = self._cell._cells[axis](seen, state)

    def _layer(self, x: Any) -> Any:
        scope, units = get_variable_scope(), self._cell._units
        with variable_scope("fully_connected"):
            weights = get_variable(
                "weights", [dimension_value(x.shape[1]), units], x.dtype, scope.initializer or xavier_initializer(),
                scope.regularizer,
            )  # fmt: skip
            bias = get_variable("biases", [units], x.dtype, Zeros())
        return self._cell._activation(raw.BiasAdd(matmul(x, weights), bias))


def _named(title: str, axes: int, cell: Callable[..., Any], text: str, options: dict[str, Any]) -> type[GridRNNCell]:
    """Return the class of grids of so many axes and cells of a kind, whose first axis takes, gives and comes last."""
    tied = {"tied": False, "non_recurrent_fn": None} if axes > 1 else {}
    order = ("num_units", *tied, *options, "state_is_tuple", "output_is_tuple")
    defaults = {**tied, **options, "state_is_tuple": True, "output_is_tuple": True}

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**defaults, **dict(zip(order, args, strict=False)), **kwargs}
        unknown = set(given) - set(order)
        if unknown or "num_units" not in given or len(args) > len(order):
            raise TypeError(f"{title} takes {', '.join(order)}; got {args} and {kwargs}")
        own = {name: given[name] for name in options}
        layer = given.get("non_recurrent_fn")
        GridRNNCell.__init__(
            self, given["num_units"], axes, 0, 0, 0, None if layer is None else 0, given.get("tied", False),
            lambda units: cell(units, **own), layer, given["state_is_tuple"], given["output_is_tuple"],
        )  # fmt: skip

    return type(title, (GridRNNCell,), {"__init__": init, "__doc__": text, "__module__": __name__})


_LSTM = {"use_peepholes": False, "forget_bias": 1.0}
Grid1BasicRNNCell = _named("Grid1BasicRNNCell", 1, BasicRNNCell, "A plain cell along one axis.", {})
Grid2BasicRNNCell = _named("Grid2BasicRNNCell", 2, BasicRNNCell, "Plain cells along two axes.", {})
Grid1BasicLSTMCell = _named("Grid1BasicLSTMCell", 1, BasicLSTMCell, "An LSTM along one axis.", {"forget_bias": 1})
Grid2BasicLSTMCell = _named("Grid2BasicLSTMCell", 2, BasicLSTMCell, "LSTMs along two axes.", {"forget_bias": 1})
Grid1LSTMCell = _named("Grid1LSTMCell", 1, LSTMCell, "An LSTM, maybe with peepholes, along one axis.", _LSTM)
Grid2LSTMCell = _named("Grid2LSTMCell", 2, LSTMCell, "LSTMs, maybe with peepholes, along two axes.", _LSTM)
Grid3LSTMCell = _named("Grid3LSTMCell", 3, LSTMCell, "LSTMs, maybe with peepholes, along three axes.", _LSTM)
Grid2GRUCell = _named("Grid2GRUCell", 2, GRUCell, "GRUs along two axes.", {})
