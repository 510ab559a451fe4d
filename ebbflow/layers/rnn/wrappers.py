"""Cells that add something to another cell: dropout, a residual connection, a device, a highway.

A wrapper has no scope of its own: the variables of the cell inside are named as they would be without it. Knows cells;
knows no particular one, but for the memory of an LSTM, which dropout leaves alone.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import DTypeLike, Nested, TensorLike
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.graph.scopes import device_scope
from ebbflow.layers.rnn.cell_base import RNNCell, assert_like_rnncell
from ebbflow.layers.rnn.cells import LSTMStateTuple
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.elementwise.binary import div
from ebbflow.ops.elementwise.unary import floor, sigmoid
from ebbflow.ops.nn.bias_softmax import xw_plus_b
from ebbflow.ops.nn.dropout import dropout, dropout_tf1
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.state.initializers import Constant
from ebbflow.state.variable_scope import get_variable


class CellWrapper(RNNCell):
    """A cell that calls another and does something to what goes in or comes out."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    _cell = property(lambda self: self.cell, doc="The cell inside, by its older name.")
    wrapped_cell = property(lambda self: self.cell, doc="The cell inside.")
    state_size = property(lambda self: self.cell.state_size, doc="The size of the cell's state.")
    output_size = property(lambda self: self.cell.output_size, doc="The size of the cell's output.")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return self._call_wrapped_cell(inputs, state, self.cell.__call__, scope=scope)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Take one step, with the cell's own `call`."""
        return self._call_wrapped_cell(inputs, state, self.cell.call, **kwargs)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any) -> Any:
        return cell_call_fn(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments to make such a wrapper with, the cell among them."""
        return {**super().get_config(), "cell": self.cell}


# --- dropout ----------------------------------------------------------------------------------------------------------


def _all_but_memory(substate: Any) -> Any:
    """Say which parts of a state dropout is for: all but the memory of an LSTM."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


class DropoutWrapper(CellWrapper):
    """Drops inputs, state or outputs of a cell at random; with `variational_recurrent` the same ones at every step."""

    _settings = (
        "input_keep_prob",
        "output_keep_prob",
        "state_keep_prob",
        "variational_recurrent",
        "input_size",
        "seed",
    )

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: TensorLike = 1.0,
        variational_recurrent: bool = False,
        input_size: object = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _all_but_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._draw_noise(dtype)

    def _draw_noise(self, dtype: Any) -> None:
        """Draw once what decides, at every step, which elements are dropped."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _drops(self._input_keep_prob):
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                    "provided"
                )
            sizes = {"input": self._input_size, **sizes}

        def noise(which: str, number: int, size: Any) -> Any:
            shape = concat([[1], TensorShape(size).as_list()], 0)  # the same for all examples of a batch
            return random_uniform(shape, seed=self._gen_seed(which, number), dtype=dtype)

        for which, size in sizes.items():
            self._noise[which] = _numbered_map(size, lambda i, s, which=which: noise(which, i, s), size)

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        """Return the seed for one of the things that are dropped, so that each has numbers of its own."""
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any) -> Any:
        if _drops(self._input_keep_prob):
            inputs = self._dropout("input", inputs, self._input_keep_prob)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        if _drops(self._state_keep_prob):
            chosen = nest.get_traverse_shallow_structure(self._dropout_state_filter, new_state)
            new_state = self._dropout("state", new_state, self._state_keep_prob, chosen)
        if _drops(self._output_keep_prob):
            output = self._dropout("output", output, self._output_keep_prob)
        return output, new_state

    def _dropout(self, which: str, values: Any, keep_prob: Any, chosen: Any = None) -> Any:
        """Drop elements of values; of a state, only of the parts that are chosen."""
        chosen = values if chosen is None else chosen

        def dropped(number: int, choice: Any, value: Any, noise: Any = None) -> Any:
            if choice is False:
                return value
            if self._variational_recurrent:
                return _kept(value, noise, keep_prob)
            drop = dropout_tf1 if context.switches.tf1 else dropout
            return drop(value, rate=1.0 - keep_prob, seed=self._gen_seed(which, number))

        if self._variational_recurrent:
            return _numbered_map(chosen, dropped, chosen, values, self._noise[which])
        return _numbered_map(chosen, dropped, chosen, values)


def _kept(value: Any, noise: Any, keep_prob: Any) -> Any:
    """Return a value with the elements zero where the noise says so."""
    kept = floor(keep_prob + noise)
    result = div(value, keep_prob) * kept
    if not context.executing_eagerly():
        result.set_shape(value.shape)
    return result


def _probability(given: Any, name: str) -> Any:
    """Return a probability of keeping as a float, or as a tensor where it is not known yet."""
    tensor = convert(given)
    known = tensor.constant_value()
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {int(known)}")
    return float(known)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, numbers.Real) or keep_prob < 1


def _numbered_map(shallow: Any, function: Callable[..., Any], *structures: Any) -> Any:
    """Return `function(number, …)` of the parts of structures, each down to where `shallow` ends."""
    numbers_of_parts = iter(range(len(nest.flatten(shallow)) + 1))
    return nest.map_structure_up_to(shallow, lambda *parts: function(next(numbers_of_parts), *parts), *structures)


# --- residual, device, highway ----------------------------------------------------------------------------------------


class ResidualWrapper(CellWrapper):
    """Adds a cell's inputs to its outputs."""

    _settings = ("residual_fn",)

    def __init__(self, cell: RNNCell, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any) -> Any:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sum)(inputs, outputs), new_state


def _sum(inputs: Any, outputs: Any) -> Any:
    _check_alike(inputs, outputs)
    return nest.map_structure(lambda a, b: a + b, inputs, outputs)


def _check_alike(inputs: Any, outputs: Any) -> None:
    nest.assert_same_structure(inputs, outputs)
    nest.map_structure(lambda a, b: a.shape.assert_is_compatible_with(b.shape), inputs, outputs)


class DeviceWrapper(CellWrapper):
    """Runs a cell on a device."""

    _settings = ("device",)

    def __init__(self, cell: RNNCell, device: str | Callable[..., Any], **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Nested:
        """Return a state of zeros, on the device."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]), device_scope(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any) -> Any:
        with device_scope(self._device):
            return cell_call_fn(inputs, state, **kwargs)


class HighwayWrapper(RNNCell):
    """Lets a gate of its own choose between a cell's inputs and its outputs."""

    def __init__(
        self,
        cell: RNNCell,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ):
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    state_size = property(lambda self: self._cell.state_size, doc="The size of the cell's state.")
    output_size = property(lambda self: self._cell.output_size, doc="The size of the cell's output.")

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Nested:
        """Return a state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Nested:
        outputs, new_state = self._cell(inputs, state, scope=scope)
        _check_alike(inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state

    def _highway(self, given: Any, found: Any) -> Any:
        size = given.shape.as_list()[1]
        carry = self._gate("carry", given, size, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", given, size, -self._carry_bias_init)
        return given * carry + found * transform

    def _gate(self, name: str, given: Any, size: int, bias: float) -> Any:
        weights = get_variable(f"{name}_w", [size, size])
        return sigmoid(xw_plus_b(given, weights, get_variable(f"{name}_b", [size], initializer=Constant(bias))))


class CompiledWrapper(CellWrapper):
    """A cell that TensorFlow would have compiled; here the graph it is in is compiled as a whole."""

    def __init__(self, cell: RNNCell, compile_stateful: bool = False):
        super().__init__(cell)
        self._compile_stateful = compile_stateful
