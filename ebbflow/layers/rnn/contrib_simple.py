"""Small cells of `tf.contrib.rnn`: one gate, no gate, or units that see only themselves.

Knows cells; knows no loop over time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.typing import DTypeLike, InitializerLike, Nested, ShapeLike
from ebbflow.layers.arguments import activation_named, initializer_named
from ebbflow.layers.base import InputSpec, read
from ebbflow.layers.rnn.cell_base import BIAS, KERNEL, LayerRNNCell, RNNCell
from ebbflow.layers.rnn.cells import LSTMStateTuple
from ebbflow.layers.rnn.contrib import columns_of
from ebbflow.layers.rnn.projections import Linear
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.elementwise.binary import add, add_tf1, multiply
from ebbflow.ops.elementwise.unary import sigmoid, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.state.initializers import Constant, RandomUniform, Zeros
from ebbflow.state.variable_scope import get_variable_scope, variable_scope


class _OneSize:
    """State and output both have as many columns as there are units."""

    _num_units: int
    state_size = property(lambda self: self._num_units, doc="The number of units.")
    output_size = property(lambda self: self._num_units, doc="The number of units.")


class UGRNNCell(_OneSize, RNNCell):
    """A cell with one gate: how much of the state is kept, and how much is new."""

    def __init__(
        self,
        num_units: int,
        initializer: InitializerLike | None = None,
        forget_bias: float = 1.0,
        activation: Callable[..., Any] = tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear: Any = None

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        columns_of(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = concat([inputs, state], 1)
            self._linear = self._linear or Linear(joined, 2 * self._num_units, True)
            gate, new = split(self._linear(joined), 2, axis=1)
            new = self._activation(new)
            gate = sigmoid(gate + self._forget_bias)
            output = gate * state + (1.0 - gate) * new
        return output, output


class IntersectionRNNCell(_OneSize, RNNCell):
    """A cell with a gate for what goes on in time and another for what goes up to the next layer."""

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: InitializerLike | None = None,
        forget_bias: float = 1.0,
        y_activation: Callable[..., Any] = relu,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._linear_in: Any = None
        self._linear: Any = None

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        units, size = self._num_units, columns_of(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if size != units:
                if not self._num_input_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                        "to num_units at cell init."
                    )
                with variable_scope("in_projection"):
                    self._linear_in = self._linear_in or Linear(inputs, units, True)
                    inputs = self._linear_in(inputs)
            joined = concat([inputs, state], 1)
            self._linear = self._linear or Linear(joined, 4 * units, True)
            gate_h, h, gate_y, y = split(self._linear(joined), 4, axis=1)
            gate_h, gate_y = sigmoid(gate_h + self._forget_bias), sigmoid(gate_y + self._forget_bias)
            new_state = gate_h * state + (1.0 - gate_h) * tanh(h)
            output = gate_y * inputs + (1.0 - gate_y) * self._y_activation(y)
        return output, new_state


class _Independent(_OneSize, LayerRNNCell):
    """A cell that is made as layers are."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tanh

    def _add_own(self, name: str, width: int) -> Any:
        """Make the weights with which units see themselves."""
        return self.add_variable(name, shape=[1, width], initializer=RandomUniform(-1, 1))


class SRUCell(_Independent):
    """The simple recurrent unit: what it multiplies does not depend on the step before."""

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._kernel = self.add_variable(KERNEL, shape=[depth, 4 * units])
        self._bias = self.add_variable(BIAS, shape=[2 * units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        new, f, r, through = split(matmul(inputs, read(self._kernel)), 4, axis=1)
        f, r = split(sigmoid(bias_add(concat([f, r], 1), read(self._bias))), 2, axis=1)
        c = f * state + (1.0 - f) * new
        return r * self._activation(c) + (1.0 - r) * through, c


class IndRNNCell(_Independent):
    """A plain cell whose units see only themselves."""

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make the weights of inputs and of the units' own states, and the bias."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._kernel_w = self.add_variable(f"{KERNEL}_w", shape=[depth, units])
        self._kernel_u = self._add_own(f"{KERNEL}_u", units)
        self._bias = self.add_variable(BIAS, shape=[units], initializer=Zeros())
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        gates = matmul(inputs, read(self._kernel_w)) + state * read(self._kernel_u)
        output = self._activation(bias_add(gates, read(self._bias)))
        return output, output


class IndyGRUCell(_Independent):
    """A gated unit whose units see only themselves."""

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make the weights of the gates and of the candidate."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._gates = self._weights("gates", f"{KERNEL}_w", depth, 2 * units, Constant(1.0))
        self._candidate = self._weights("candidate", KERNEL, depth, units, Zeros())
        self.built = True

    def _weights(self, part: str, kernel: str, depth: int, width: int, bias: Any) -> tuple[Any, Any, Any]:
        start = self._kernel_initializer
        of_inputs = self.add_variable(f"{part}/{kernel}", shape=[depth, width], initializer=start)
        own = self._add_own(f"{part}/{KERNEL}_u", width)
        bias = bias if self._bias_initializer is None else self._bias_initializer
        return of_inputs, own, self.add_variable(f"{part}/{BIAS}", shape=[width], initializer=bias)

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        kernel, own, bias = map(read, self._gates)
        gates = matmul(inputs, kernel) + raw.Tile(state, [1, 2]) * own
        reset, update = split(sigmoid(bias_add(gates, bias)), 2, axis=1)
        kernel, own, bias = map(read, self._candidate)
        candidate = matmul(inputs, kernel) + reset * state * own
        output = update * state + (1 - update) * self._activation(bias_add(candidate, bias))
        return output, output


class IndyLSTMCell(_Independent):
    """An LSTM whose units see only themselves."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units), doc="Units, twice.")

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make the weights of inputs and of the units' own states, and the bias."""
        depth, width = self._depth_of(inputs_shape), 4 * self._num_units
        self._kernel_w = self.add_variable(f"{KERNEL}_w", shape=[depth, width], initializer=self._kernel_initializer)
        self._kernel_u = self._add_own(f"{KERNEL}_u", width)
        bias = Zeros() if self._bias_initializer is None else self._bias_initializer
        self._bias = self.add_variable(BIAS, shape=[width], initializer=bias)
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        plus = add_tf1 if context.switches.tf1 else add
        one = constant(1, dtypes.int32)
        c, h = state
        gates = matmul(inputs, read(self._kernel_w)) + raw.Tile(h, [1, 4]) * read(self._kernel_u)
        i, j, f, o = split(bias_add(gates, read(self._bias)), 4, axis=one)
        kept = multiply(c, sigmoid(plus(f, constant(self._forget_bias, f.dtype))))
        new_c = plus(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)


class _ByName(_OneSize, LayerRNNCell):
    """A cell that takes its activation and initializers by name too."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = self._num_units = units
        self.activation = activation_named(activation) or (lambda x: x)
        self.kernel_initializer = initializer_named(kernel_initializer)
        self.bias_initializer = initializer_named(bias_initializer)


class MinimalRNNCell(_ByName):
    """A cell with one gate over inputs that are mapped beforehand."""

    def build(self, inputs_shape: Any) -> None:
        """Make kernel and bias."""
        depth, units = self._depth_of(inputs_shape), self.units
        self.kernel = self.add_weight(KERNEL, [depth + 2 * units, units], initializer=self.kernel_initializer)
        self.bias = self.add_weight(BIAS, [units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Take one step."""
        forward, recurrent = split(read(self.kernel), [columns_of(inputs), 2 * self.units], axis=0)
        new = self.activation(matmul(inputs, forward))
        gate = sigmoid(bias_add(matmul(concat([new, state], 1), recurrent), read(self.bias)))
        output = gate * state + (1 - gate) * new
        return output, output


class CFNCell(_ByName):
    """The chaos-free network: without inputs its state goes to zero."""

    def build(self, inputs_shape: Any) -> None:
        """Make the weights of inputs and state, and the bias."""
        depth, units, start = self._depth_of(inputs_shape), self.units, self.kernel_initializer
        self.kernel = self.add_weight(KERNEL, [depth, 3 * units], initializer=start)
        self.recurrent_kernel = self.add_weight(f"recurrent_{KERNEL}", [units, 2 * units], initializer=start)
        self.bias = self.add_weight(BIAS, [2 * units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Take one step."""
        columns_of(inputs)
        gates, new = split(read(self.kernel), [2 * self.units, self.units], axis=1)
        both = matmul(state, read(self.recurrent_kernel)) + matmul(inputs, gates)
        theta, eta = split(sigmoid(bias_add(both, read(self.bias))), 2, axis=1)
        output = theta * self.activation(state) + (1 - eta) * self.activation(matmul(inputs, new))
        return output, output
