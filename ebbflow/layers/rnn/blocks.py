"""Cells and layers that are one op: for a step (`LSTMBlockCell`, `GRUBlockCell`) or a sequence (`LSTMBlockFusedCell`).

They compute what LSTMCell and GRUCell compute, with variables of the same names and shapes. Fused layers take all steps
at once, time first, and adaptors make a fused layer of a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.layers.base import InputSpec, Layer, read
from ebbflow.layers.rnn.cell_base import LayerRNNCell
from ebbflow.layers.rnn.cells import LSTMStateTuple
from ebbflow.layers.rnn.dynamic import dynamic_rnn
from ebbflow.layers.rnn.fused_lstm import final_state, inside, longest
from ebbflow.layers.rnn.static import static_rnn
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import stack, unstack
from ebbflow.ops.arrays.reversing import reverse, reverse_sequence
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.state.initializers import Constant

if TYPE_CHECKING:
    from ebbflow.layers.rnn.cell_base import RNNCell


class _Peepholed:
    """What the LSTM's step and its fused layer share: variables, and what their ops are given for peepholes."""

    _kernel: Any
    _bias: Any

    def _settle(self, num_units: int, forget_bias: float, cell_clip: Any, use_peephole: bool) -> None:
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = cell_clip if cell_clip is not None else -1
        self._use_peephole = use_peephole

    def _make_variables(self, depth: int) -> None:
        units, add = self._num_units, self.add_variable  # type: ignore[attr-defined]
        self._kernel = add("kernel", [depth + units, units * 4])
        self._bias = add("bias", [units * 4], initializer=Constant(0.0))
        if self._use_peephole:
            self._w_i_diag, self._w_f_diag, self._w_o_diag = (add(f"w_{gate}_diag", [units]) for gate in "ifo")

    def _peepholes(self, dtype: Any) -> tuple[Any, Any, Any]:
        if self._use_peephole:
            return read(self._w_i_diag), read(self._w_f_diag), read(self._w_o_diag)
        return (zeros([self._num_units], dtype),) * 3

    def _attrs(self) -> dict[str, Any]:
        return {
            "forget_bias": float(self._forget_bias),
            "cell_clip": float(self._cell_clip),
            "use_peephole": self._use_peephole,
        }


class LSTMBlockCell(LayerRNNCell, _Peepholed):
    """A step of an LSTM as one op."""

    _settings = ("num_units", "forget_bias", "cell_clip", "use_peephole", "reuse")

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DTypeLike | None = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._settle(num_units, forget_bias, cell_clip, use_peephole)
        self.input_spec = InputSpec(ndim=2)

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units), doc="Units, twice.")
    output_size = property(lambda self: self._num_units, doc="The number of units.")

    def build(self, inputs_shape: Any) -> None:
        """Make kernel, bias and peepholes."""
        depth = TensorShape(inputs_shape).as_list()[1]
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        self._make_variables(depth)
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        cs_prev, h_prev = state
        found = raw.LSTMBlockCell(
            inputs,
            cs_prev,
            h_prev,
            read(self._kernel),
            *self._peepholes(inputs.dtype),
            read(self._bias),
            **self._attrs(),
        )
        return found.h, LSTMStateTuple(found.cs, found.h)


class LSTMBlockWrapper(Layer):
    """The base of fused LSTM layers: a subclass says `num_units` and runs all steps in `_call_cell`."""

    @property
    def num_units(self) -> int:
        """The number of units."""
        raise NotImplementedError(f"{type(self).__name__} must define the property num_units")

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _call_cell: memories and outputs of all steps")

    def call(
        self,
        inputs: Nested,
        initial_state: Nested = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
    ) -> Nested:
        """Return the outputs of all steps, and the state after each example's last."""
        is_list = isinstance(inputs, list)
        inputs = stack(inputs) if is_list else inputs
        time_len, batch_size, depth = inputs.shape.with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.shape}")
        batch_size = shape_of(inputs)[1] if batch_size is None else batch_size
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            start = zeros(stack([batch_size, self.num_units]), dtype)
            initial_state = start, start
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = convert(sequence_length)
        memories, outputs = self._call_cell(inputs, *initial_state, dtype, sequence_length)  # type: ignore[call-arg]
        state = [final_state(*pair, sequence_length) for pair in zip(initial_state, (memories, outputs), strict=True)]
        if sequence_length is not None:
            outputs = outputs * inside(outputs, sequence_length, dtype)
        return unstack(outputs, num=time_len) if is_list else outputs, LSTMStateTuple(*state)


class LSTMBlockFusedCell(LSTMBlockWrapper, _Peepholed):
    """An LSTM layer over a whole sequence as one op."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._settle(num_units, forget_bias, cell_clip, use_peephole)
        self.input_spec = InputSpec(ndim=3)

    num_units = property(lambda self: self._num_units, doc="The number of units.")

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel, bias and peepholes."""
        self._make_variables(TensorShape(input_shape).as_list()[2])
        self.built = True

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any = None,
        initial_output: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        found = raw.BlockLSTM(
            longest(inputs, sequence_length),
            inputs,
            initial_cell_state,
            initial_output,
            read(self._kernel),
            *self._peepholes(dtype),
            read(self._bias),
            **self._attrs(),
        )
        return found.cs, found.h


class GRUBlockCell(LayerRNNCell):
    """A step of a gated recurrent unit as one op."""

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    state_size = property(lambda self: self._cell_size, doc="The number of units.")
    output_size = property(lambda self: self._cell_size, doc="The number of units.")

    def build(self, input_shape: ShapeLike) -> None:
        """Make the weights of the gates and of the candidate."""
        depth, units = TensorShape(input_shape).as_list()[1], self._cell_size
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        gates, gate_bias, candidate, candidate_bias = self._names
        self._gate_kernel = self.add_variable(gates, [depth + units, units * 2])
        self._gate_bias = self.add_variable(gate_bias, [units * 2], initializer=Constant(1.0))
        self._candidate_kernel = self.add_variable(candidate, [depth + units, units])
        self._candidate_bias = self.add_variable(candidate_bias, [units], initializer=Constant(0.0))
        self.built = True

    def call(self, inputs: Nested, h_prev: Nested) -> Nested:
        """Take one step."""
        size = h_prev.shape.with_rank(2).as_list()[1]
        if size != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {size}")
        h = raw.GRUBlockCell(
            inputs,
            h_prev,
            read(self._gate_kernel),
            read(self._candidate_kernel),
            read(self._gate_bias),
            read(self._candidate_bias),
        ).h
        return h, h


class GRUBlockCellV2(GRUBlockCell):
    """A step of a gated recurrent unit as one op, with variables named as GRUCell's."""

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


# --- fused layers made of cells ---------------------------------------------------------------------------------------


class FusedRNNCell:
    """A layer that is given all steps at once, time first."""

    def __call__(
        self,
        inputs: Nested,
        initial_state: Nested = None,
        dtype: Any = None,
        sequence_length: AnyTensor = None,
        scope: Any = None,
    ) -> Nested:
        raise NotImplementedError(f"{type(self).__name__} must define __call__: outputs of all steps, and the state")


class FusedRNNCellAdaptor(FusedRNNCell):
    """A fused layer that runs a cell, in a loop or unrolled."""

    def __init__(self, cell: RNNCell, use_dynamic_rnn: bool = False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Nested,
        initial_state: Nested = None,
        dtype: Any = None,
        sequence_length: AnyTensor = None,
        scope: Any = None,
    ) -> Nested:
        is_list = isinstance(inputs, list)
        more = {"initial_state": initial_state, "dtype": dtype, "sequence_length": sequence_length, "scope": scope}
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(self._cell, stack(inputs) if is_list else inputs, time_major=True, **more)
            return unstack(outputs) if is_list else outputs, state
        outputs, state = static_rnn(self._cell, inputs if is_list else unstack(inputs), **more)
        return outputs if is_list else stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused layer that goes through time backwards."""

    def __init__(self, cell: FusedRNNCell):
        self._cell = cell

    def __call__(
        self,
        inputs: Nested,
        initial_state: Nested = None,
        dtype: Any = None,
        sequence_length: AnyTensor = None,
        scope: Any = None,
    ) -> Nested:
        outputs, state = self._cell(
            _backwards(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _backwards(outputs, sequence_length), state


def _backwards(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return list(reversed(steps))
    return reverse(steps, [0]) if lengths is None else reverse_sequence(steps, lengths, 0, 1)
