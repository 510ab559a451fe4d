"""Relatives of the LSTM and of the gated unit, from `tf.contrib.rnn`.

With normalised gates, coupled gates, gates in groups, gates that open by time, or found by search. Names of variables
are TensorFlow's. Most make their variables in `call`, in the scope that is open. Knows cells; knows no loop over time.
"""

from __future__ import annotations

import math
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Activation, InitializerLike, Nested, ShapeLike, TensorLike
from ebbflow.graph.collections import GraphKeys, add_to_collection, get_collection
from ebbflow.layers.base import read
from ebbflow.layers.rnn.cell_base import LayerRNNCell, RNNCell
from ebbflow.layers.rnn.cells import LSTMStateTuple, warn_of_one_state
from ebbflow.layers.rnn.projections import Linear
from ebbflow.ops.arrays.creation import stop_gradient
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.elementwise.binary import floormod
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.elementwise.unary import exp, sigmoid, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.norms import l2_normalize
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.nn.dropout import dropout_tf1, dropout_v1
from ebbflow.ops.nn.normalization import batch_normalization, moments_v1
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.platform import logging
from ebbflow.state.initializers import Constant, RandomUniform, Zeros
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope


def columns_of(inputs: Any) -> int:
    """Return how many columns a matrix has, which must be known."""
    columns = inputs.shape.with_rank(2).as_list()[1]
    if columns is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return columns


def sharded_variable(name: str, shape: list[int], dtype: Any, num_shards: int) -> Any:
    """Return a matrix that is kept in several variables, by rows, joined."""
    if num_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    size, more = divmod(shape[0], num_shards)
    shards = [get_variable(f"{name}_{i}", [size + (i < more), *shape[1:]], dtype=dtype) for i in range(num_shards)]
    if len(shards) == 1:
        return shards[0]
    if context.executing_eagerly():
        return concat(shards, 0)
    full = f"{get_variable_scope().name}/{name}/concat:0"
    for joined in get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if joined.name == full and joined.graph is context.current_graph():
            return joined
    joined = concat(shards, 0, name=f"{name}/concat")
    add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


def normalized(x: Any, scope: str, gain: float, shift: float, dtype: Any = dtypes.float32) -> Any:
    """Return each row with mean 0 and variance 1, then scaled and shifted by variables `gamma` and `beta`."""
    size = [x.shape.as_list()[-1]]
    with variable_scope(scope):
        gamma = get_variable("gamma", shape=size, initializer=Constant(gain), dtype=dtype)
        beta = get_variable("beta", shape=size, initializer=Constant(shift), dtype=dtype)
        mean, variance = moments_v1(x, [1], keep_dims=True)
        epsilon = 1e-3 if x.dtype is dtypes.float16 else 1e-12
        return batch_normalization(x, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon)


class _Gated(RNNCell):
    """The parts of an LSTM that its relatives share: sizes, the memory, and what is read from it."""

    _num_units: int
    _num_proj: int | None = None
    _proj_clip: Any = None
    _cell_clip: Any = None
    _forget_bias: Any = 1.0
    _use_peepholes = False
    _state_is_tuple = True
    _activation: Any = staticmethod(tanh)

    @property
    def state_size(self) -> Any:
        """The number of units, and the size of the output."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units."""
        return self._num_proj or self._num_units

    def _diagonals(self, dtype: Any, names: str = "w_{}_diag", gates: str = "fio") -> dict[str, Any]:
        """Return the weights of the peepholes (nothing, where there are none)."""
        if not self._use_peepholes:
            return {}
        return {g: get_variable(names.format(g), shape=[self._num_units], dtype=dtype) for g in gates}

    def _seen(self, gate: Any, diagonals: dict[str, Any], name: str, memory: Any) -> Any:
        """Return what goes into a gate, with what it sees of the memory."""
        return gate + diagonals[name] * memory if diagonals else gate

    def _clipped(self, value: Any, limit: Any) -> Any:
        return value if limit is None else clip_by_value(value, -limit, limit)


class LayerNormBasicLSTMCell(_Gated):
    """An LSTM whose gates and memory are normalised, with dropout of the new input."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: object = None,
        activation: Activation = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: TensorLike = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Any, scope: str, dtype: Any) -> Any:
        return normalized(x, scope, self._norm_gain, self._norm_shift, dtype) if self._layer_norm else x

    def call(self, inputs: Nested, state: Nested) -> Any:
        """Take one step."""
        c, h = state
        joined = concat([inputs, h], 1)
        dtype, width = joined.dtype, 4 * self._num_units
        gates = matmul(joined, get_variable("kernel", [joined.shape.as_list()[-1], width], dtype=dtype))
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [width], dtype=dtype))
        names = ("input", "transform", "forget", "output")
        parts = zip(split(gates, 4, axis=1), names, strict=True)
        i, j, f, o = [self._norm(gate, name, dtype) for gate, name in parts]
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            drop = dropout_tf1 if context.switches.tf1 else dropout_v1
            new = drop(new, self._keep_prob, seed=self._seed)
        memory = self._norm(c * sigmoid(f + self._forget_bias) + sigmoid(i) * new, "state", dtype)
        output = self._activation(memory) * sigmoid(o)
        return output, LSTMStateTuple(memory, output)


class LayerNormLSTMCell(_Gated):
    """An LSTM with peepholes, clipping and projection, whose gates and memory may be normalised."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        forget_bias: float = 1.0,
        activation: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tanh
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _norm(self, x: Any, scope: str) -> Any:
        return normalized(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Any:
        """Take one step."""
        c_prev, m_prev = state
        columns_of(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = [inputs, m_prev]
            gates = Linear(joined, 4 * self._num_units, True)
            product = matmul(concat(joined, 1), gates._weights) if self._layer_norm else gates(joined)
            names = ("input", "transform", "forget", "output")
            i, j, f, o = [self._norm(g, n) for g, n in zip(split(product, 4, axis=1), names, strict=True)]
            peep = self._diagonals(inputs.dtype)
            kept = sigmoid(self._seen(f + self._forget_bias, peep, "f", c_prev)) * c_prev
            c = kept + sigmoid(self._seen(i, peep, "i", c_prev)) * self._activation(j)
            c = self._clipped(self._norm(c, "state"), self._cell_clip)
            m = sigmoid(self._seen(o, peep, "o", c)) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    m = Linear(m, self._num_proj, False)(m)
                m = self._clipped(m, self._proj_clip)
        return m, LSTMStateTuple(c, m)


class CoupledInputForgetGateLSTMCell(_Gated):
    """An LSTM that takes in as much as it forgets."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ):
        super().__init__(_reuse=reuse)
        warn_of_one_state(self, state_is_tuple)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    _norm: Any = LayerNormLSTMCell._norm

    def call(self, inputs: Nested, state: Nested) -> Any:
        """Take one step."""
        units, outputs, dtype = self._num_units, self.output_size, inputs.dtype
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev, m_prev = slice_(state, [0, 0], [-1, units]), slice_(state, [0, units], [-1, outputs])
        kernel = sharded_variable("W", [columns_of(inputs) + outputs, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[3 * units], initializer=Zeros(), dtype=dtype)
        gates = matmul(concat([inputs, m_prev], 1), kernel)
        gates = gates if self._layer_norm else bias_add(gates, bias)
        names = ("transform", "forget", "output")
        j, f, o = [self._norm(g, n) for g, n in zip(split(gates, 3, axis=1), names, strict=True)]
        peep = self._diagonals(dtype, "W_{}_diag", "FO")
        forget = sigmoid(self._seen(f + self._forget_bias, peep, "F", c_prev))
        c = self._norm(forget * c_prev + (1 - forget) * self._activation(j), "state")
        m = sigmoid(self._seen(o, peep, "O", c)) * self._activation(c)
        if self._num_proj is not None:
            m = matmul(m, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            m = self._clipped(m, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1)


class GLSTMCell(_Gated):
    """An LSTM whose units stand in groups that see only their part of the inputs."""

    def __init__(
        self,
        num_units: int,
        initializer: InitializerLike | None = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        for name, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._number_of_groups = number_of_groups
        self._forget_bias = forget_bias
        self._activation = activation
        self._linears: list[Any] = [None] * number_of_groups
        self._projection: Any = None

    def call(self, inputs: Nested, state: Nested) -> Any:
        """Take one step."""
        c_prev, m_prev = state
        size, groups, dtype = inputs.shape.as_list()[1], self._number_of_groups, inputs.dtype
        if size is None:
            raise ValueError("input size must be statically known")
        if size % groups:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups ({groups})")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            pairs = zip(split(inputs, groups, axis=1), split(m_prev, groups, axis=1), strict=True)
            parts = [self._group(number, concat(list(pair), 1)) for number, pair in enumerate(pairs)]
            i, j, f, o = [
                bias_add(concat(list(of), 1), get_variable(f"bias_{n}", [self._num_units], dtype, Constant(0.0)))
                for n, of in zip("ijfo", zip(*parts, strict=True), strict=True)
            ]
        c = sigmoid(f + self._forget_bias) * c_prev + sigmoid(i) * tanh(j)
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                self._projection = self._projection or Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)

    def _group(self, number: int, joined: Any) -> list[Any]:
        with variable_scope(f"group{number}"):
            if self._linears[number] is None:
                width = 4 * self._num_units // self._number_of_groups
                self._linears[number] = Linear(joined, width, False)
            return split(self._linears[number](joined), 4, axis=1)


class WeightNormLSTMCell(_Gated):
    """An LSTM whose weights have columns of a learnt length."""

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: Any = None,
        forget_bias: float = 1,
        activation: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse, name="wn_lstm_cell")
        self._num_units = num_units
        self._norm = norm
        self._initializer = initializer
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._activation = activation or tanh
        self._forget_bias = forget_bias

    def _linear(self, args: list[Any], width: int, bias: bool) -> Any:
        sizes, dtype = [columns_of(x) for x in args], args[0].dtype
        weights: Any = get_variable("kernel", [sum(sizes), width], dtype=dtype)
        if self._norm:
            blocks = split(weights, sizes, axis=0) if len(sizes) > 1 else [weights]
            lengths = [get_variable(f"norm_{i}", [width], dtype=dtype) for i in range(len(sizes))]
            scaled = [l2_normalize(block, axis=0) * g for block, g in zip(blocks, lengths, strict=True)]
            weights = concat(scaled, 0)
        product = matmul(concat(args, 1) if len(args) > 1 else args[0], weights)
        return bias_add(product, get_variable("bias", [width], dtype, Constant(0.0))) if bias else product

    def call(self, inputs: Any, state: Any) -> Any:
        """Take one step."""
        c, h = state
        with variable_scope("wn_lstm_cell", initializer=self._initializer):
            i, j, f, o = split(self._linear([inputs, h], 4 * self._num_units, True), 4, axis=1)
            peep = self._diagonals(inputs.dtype)
            kept = c * sigmoid(self._seen(f + self._forget_bias, peep, "f", c))
            memory = kept + sigmoid(self._seen(i, peep, "i", c)) * self._activation(j)
            memory = self._clipped(memory, self._cell_clip)
            output = sigmoid(self._seen(o, peep, "o", memory)) * self._activation(memory)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    output = self._linear([output], self._num_proj, False)
                output = self._clipped(output, self._proj_clip)
        return output, LSTMStateTuple(memory, output)


class PhasedLSTMCell(_Gated):
    """An LSTM whose units open by a rhythm of their own; its inputs are the time of each example, and the features."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._linears: dict[str, Any] = {}

    def _linear(self, scope: str, args: list[Any], width: int) -> Any:
        with variable_scope(scope):
            if scope not in self._linears:
                self._linears[scope] = Linear(args, width, True)
            return self._linears[scope](args)

    def call(self, inputs: Nested, state: Nested) -> Any:
        """Take one step."""
        (c_prev, h_prev), (time, x), units = state, inputs, self._num_units
        peep = self._use_peepholes
        gates = sigmoid(self._linear("mask_gates", [x, h_prev, c_prev] if peep else [x, h_prev], 2 * units))
        take, keep = split(gates, 2, axis=1)
        new_c = c_prev * keep + take * tanh(self._linear("new_input", [x, h_prev], units))
        out = sigmoid(self._linear("output_gate", [x, h_prev, new_c] if peep else [x, h_prev], units))
        new_h = tanh(new_c) * out
        k = self._openness(time)
        new_c, new_h = k * new_c + (1 - k) * c_prev, k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Any) -> Any:
        """Return how far each unit is open at a time: rising, falling, then closed but for a leak."""
        low, high = math.log(self._period_init_min), math.log(self._period_init_max)

        def periods(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
            return exp(random_uniform(shape, low, high, dtype))

        shape = [self._num_units]
        period = get_variable("period", shape, initializer=periods)
        start = period.numpy() if context.executing_eagerly() else period.initial_value
        phase = get_variable("phase", shape, initializer=RandomUniform(0.0, start))
        ratio_on = get_variable(
            "ratio_on", shape, initializer=Constant(self._ratio_on), trainable=self._trainable_ratio_on
        )
        shifted, length = time - cast(phase, time.dtype), cast(period, time.dtype)
        within = stop_gradient(floormod(shifted, length) - shifted) + shifted
        cycle = cast(within / length, dtypes.float32)
        rising = 2 * cycle / ratio_on
        k = where_v1(cycle < ratio_on, 2 - rising, self._leak * cycle)
        return where_v1(cycle < 0.5 * ratio_on, rising, k)


class NASCell(LayerRNNCell):
    """The cell that a search over architectures found."""

    _BASE = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    state_size = _Gated.state_size
    output_size: Any = _Gated.output_size
    _state_is_tuple = True

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make the weights of inputs and outputs, the bias, and the projection."""
        depth = TensorShape(inputs_shape).with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        width = self._BASE * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = self.add_variable("kernel", [depth, width])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[width], initializer=Zeros())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Any:
        """Take one step."""
        c_prev, m_prev = state
        own = matmul(m_prev, read(self.recurrent_kernel))
        own = bias_add(own, read(self.bias)) if self._use_bias else own
        m, x = split(own, self._BASE, axis=1), split(matmul(inputs, read(self.kernel)), self._BASE, axis=1)
        first = tanh(sigmoid(x[0] + m[0]) * relu(x[1] + m[1]))
        second = tanh(sigmoid(x[2] + m[2]) + relu(x[3] * m[3]))
        third = tanh(tanh(x[4] + m[4]) * sigmoid(x[5] + m[5]))
        fourth = sigmoid(tanh(x[6] + m[6]) + sigmoid(x[7] + m[7]))
        new_c = tanh(first + c_prev) * second
        new_m = tanh(new_c * tanh(third + fourth))
        if self._num_proj is not None:
            new_m = matmul(new_m, read(self.projection_weights))
        return new_m, LSTMStateTuple(new_c, new_m)
