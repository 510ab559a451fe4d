"""The cells of `tf.nn.rnn_cell`: plain, gated and long short-term memory units, and stacks of cells.

Names of scopes, variables and nodes are TensorFlow 1.15's (`basic_lstm_cell/kernel`, `gru_cell/gates/bias`,
`multi_rnn_cell/cell_0/…`), so that old checkpoints fit. Knows the formulas of cells; knows no loop over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core import context, dtypes, nest
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import Activation, DTypeLike, InitializerLike, Nested, ShapeLike, TensorLike
from ebbflow.layers.arguments import activation_named, initializer_named
from ebbflow.layers.base import InputSpec, Layer, read
from ebbflow.layers.rnn.cell_base import BIAS, KERNEL, LayerRNNCell, RNNCell, check_dtype, check_inputs
from ebbflow.ops.arrays.creation import constant, identity
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.elementwise.binary import add, add_tf1, multiply
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.elementwise.unary import sigmoid, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.platform import logging
from ebbflow.state.initializers import Constant, Zeros
from ebbflow.state.partitioners import fixed_size_partitioner
from ebbflow.state.variable_scope import variable_scope
from ebbflow.trackable.base import Trackable, no_automatic_dependency_tracking_scope

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType


def activation_of(given: Any) -> Any:
    """Return a cell's activation: a function, given as one or by its name, or tanh."""
    return (activation_named(given) or identity) if given else tanh


class BasicRNNCell(LayerRNNCell):
    """output = state = activation([inputs, state] · kernel + bias)."""

    _settings = ("num_units", "activation", "reuse")

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)

    state_size = property(lambda self: self._num_units, doc="The number of units.")
    output_size = property(lambda self: self._num_units, doc="The number of units.")

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._kernel = self.add_variable(KERNEL, shape=[depth + units, units])
        self._bias = self.add_variable(BIAS, shape=[units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        check_inputs(inputs, state)
        gates = matmul(concat([inputs, state], 1), read(self._kernel))
        output = self._activation(bias_add(gates, read(self._bias)))
        return output, output


class GRUCell(LayerRNNCell):
    """The gated recurrent unit: a reset gate for what is read, an update gate for what is kept."""

    _settings = ("num_units", "activation", "reuse", "kernel_initializer", "bias_initializer")

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation_of(activation)
        self._kernel_initializer = initializer_named(kernel_initializer)
        self._bias_initializer = initializer_named(bias_initializer)

    state_size = property(lambda self: self._num_units, doc="The number of units.")
    output_size = property(lambda self: self._num_units, doc="The number of units.")

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernels and biases of the gates and of the candidate."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._gate_kernel, self._gate_bias = self._weights("gates", depth, 2 * units, Constant(1.0))
        self._candidate_kernel, self._candidate_bias = self._weights("candidate", depth, units, Zeros())
        self.built = True

    def _weights(self, part: str, depth: int, width: int, bias: Any) -> tuple[Any, Any]:
        shape = [depth + self._num_units, width]
        kernel = self.add_variable(f"{part}/{KERNEL}", shape=shape, initializer=self._kernel_initializer)
        initializer = bias if self._bias_initializer is None else self._bias_initializer
        return kernel, self.add_variable(f"{part}/{BIAS}", shape=[width], initializer=initializer)

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        check_inputs(inputs, state)
        gates = matmul(concat([inputs, state], 1), read(self._gate_kernel))
        reset, update = split(sigmoid(bias_add(gates, read(self._gate_bias))), 2, axis=1)
        kept = reset * state
        candidate = matmul(concat([inputs, kept], 1), read(self._candidate_kernel))
        candidate = self._activation(bias_add(candidate, read(self._candidate_bias)))
        output = update * state + (1 - update) * candidate
        return output, output


class LSTMStateTuple(NamedTuple("LSTMStateTuple", [("c", Any), ("h", Any)])):
    """The state of an LSTM: memory `c` and output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The dtype of both."""
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


def warn_of_one_state(cell: Any, state_is_tuple: bool) -> None:
    """Log what TensorFlow says of a state that is one tensor."""
    if not state_is_tuple:
        logging.warn(
            "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", cell
        )


class BasicLSTMCell(LayerRNNCell):
    """Long short-term memory without peepholes, clipping or projection."""

    _settings = ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse")

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(dtype)
        warn_of_one_state(self, state_is_tuple)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Nested:
        """The number of units, twice."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    output_size = property(lambda self: self._num_units, doc="The number of units.")

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernel and bias: one matrix for input gate, new input, forget gate and output gate."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._kernel = self.add_variable(KERNEL, shape=[depth + units, 4 * units])
        self._bias = self.add_variable(BIAS, shape=[4 * units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        check_inputs(inputs, state)
        plus = add_tf1 if context.switches.tf1 else add
        one = constant(1, dtypes.int32)
        c, h = state if self._state_is_tuple else split(state, 2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), read(self._kernel)), read(self._bias))
        i, j, f, o = split(gates, 4, axis=one)
        forget_bias = constant(self._forget_bias, f.dtype)
        kept = multiply(c, sigmoid(plus(f, forget_bias)))
        new_c = plus(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)


class LSTMCell(LayerRNNCell):
    """Long short-term memory with peepholes, clipping and a projection, where asked for."""

    _w_i_diag: Any
    _w_f_diag: Any
    _w_o_diag: Any

    _settings = (
        "num_units",
        "use_peepholes",
        "cell_clip",
        "initializer",
        "num_proj",
        "proj_clip",
        "num_unit_shards",
        "num_proj_shards",
        "forget_bias",
        "state_is_tuple",
        "activation",
        "reuse",
    )

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(dtype)
        warn_of_one_state(self, state_is_tuple)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated and will be removed in Jan "
                "2017.  Use a variable scope with a partitioner instead.",
                self,
            )
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer_named(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Nested:
        """The number of units, and the size of the output."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._num_proj or self._num_units, doc="The size of the projection, or units.")

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernel and bias, and the weights of peepholes and of the projection where there are such."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        outputs = units if self._num_proj is None else self._num_proj
        self._kernel = self._matrix(KERNEL, [depth + outputs, 4 * units], self._num_unit_shards)
        self._bias = self.add_variable(BIAS, shape=[4 * units], initializer=Zeros())
        if self._use_peepholes:
            for gate in "fio":
                weights = self.add_variable(f"w_{gate}_diag", shape=[units], initializer=self._initializer)
                setattr(self, f"_w_{gate}_diag", weights)
        if self._num_proj is not None:
            self._proj_kernel = self._matrix(f"projection/{KERNEL}", [units, self._num_proj], self._num_proj_shards)
        self.built = True

    def _matrix(self, name: str, shape: list[int], shards: int | None) -> Any:
        partitioner = None if shards is None else fixed_size_partitioner(shards)
        return self.add_variable(name, shape=shape, initializer=self._initializer, partitioner=partitioner)

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        check_inputs(inputs, state)
        c_prev, m_prev = state if self._state_is_tuple else self._parts_of(state)
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = bias_add(matmul(concat([inputs, m_prev], 1), read(self._kernel)), read(self._bias))
        i, j, f, o = split(gates, 4, axis=1)
        peep = self._use_peepholes
        forget = f + self._forget_bias
        forget = sigmoid(forget + read(self._w_f_diag) * c_prev if peep else forget) * c_prev
        c = forget + sigmoid(i + read(self._w_i_diag) * c_prev if peep else i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = sigmoid(o + read(self._w_o_diag) * c if peep else o) * self._activation(c)
        if self._num_proj is not None:
            m = matmul(m, read(self._proj_kernel))
            if self._proj_clip is not None:
                m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1)

    def _parts_of(self, state: Any) -> tuple[Any, Any]:
        units = self._num_units
        return slice_(state, [0, 0], [-1, units]), slice_(state, [0, units], [-1, self.output_size])


class MultiRNNCell(RNNCell):
    """Cells one upon the other: each takes the output of the one below as its input."""

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            logging.log_first_n(
                logging.WARN,
                "At least two cells provided to MultiRNNCell are the same object and will share weights.",
                1,
            )
        for number, cell in enumerate(cells):  # the names that checkpoints have
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{number}")
        with no_automatic_dependency_tracking_scope(self):
            self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_sequence(c.state_size) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                f"{[c.state_size for c in cells]}"
            )

    @property
    def state_size(self) -> Nested:
        """The sizes of the cells' states."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Nested:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Nested:
        """Return a state of zeros for each cell."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        """The cells' variables that are trained."""
        if not self.trainable:
            return []
        return [w for cell in self._cells if isinstance(cell, Layer) for w in cell.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The cells' variables that are not trained."""
        cells = [cell for cell in self._cells if isinstance(cell, Layer)]
        frozen = [] if self.trainable else [w for cell in cells for w in cell.trainable_weights]
        return frozen + [w for cell in cells for w in cell.non_trainable_weights]

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step with each cell."""
        if self._state_is_tuple and not nest.is_sequence(state):
            raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
        outputs, states, at = inputs, [], 0
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    current = state[number]
                else:
                    current = slice_(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                outputs, new_state = cell(outputs, current)
                states.append(new_state)
        return outputs, tuple(states) if self._state_is_tuple else concat(states, 1)
