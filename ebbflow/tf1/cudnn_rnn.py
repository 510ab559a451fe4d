"""`tf.contrib.cudnn_rnn`: recurrent layers whose weights are one vector, and cells that compute the same step by step.

A layer keeps the vector as cuDNN does: the matrices of all layers, directions and gates, then all biases. Checkpoints
have the weights as the cells have them (`cudnn_params`), so that what a layer has learnt can be used by cells, and the
other way round. Steps are those of `dynamic_rnn`, on whatever device there is.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import DTypeLike, InitializerLike, Nested, ShapeLike
from ebbflow.graph.collections import GraphKeys, add_to_collection
from ebbflow.layers.base import InputSpec, Layer
from ebbflow.layers.rnn.blocks import LSTMBlockCell
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.cells import GRUCell
from ebbflow.layers.rnn.dynamic import dynamic_rnn
from ebbflow.ops.arrays.creation import identity, zeros
from ebbflow.ops.arrays.joining import concat, split, stack, unstack
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.dropout import dropout_v1
from ebbflow.state.functions import assign
from ebbflow.state.initializers import Constant, GlorotUniform, Zeros
from ebbflow.state.variable_scope import get_variable_scope
from ebbflow.tf1.cudnn_params import BIDIRECTION, UNIDIRECTION, Converter, ConverterGRU, ConverterLSTM, ConverterSimple

LINEAR, SKIP, AUTO = "linear_input", "skip_input", "auto_select"


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell of `CudnnLSTM`."""

    def __init__(self, num_units: int, reuse: bool | None = None):
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """The cell of `CudnnGRU`: its reset gate is applied behind the product with the state, which has a bias."""

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: InitializerLike | None = None):
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernels and biases."""
        depth, units = self._depth_of(inputs_shape), self._num_units
        self._gate_kernel, self._gate_bias = self._weights("gates", depth, 2 * units, Constant(1.0))
        self._of_input = self._weights("candidate/input_projection", depth - units, units, Zeros())
        self._of_state = self._weights("candidate/hidden_projection", 0, units, Zeros())
        self.built = True

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step."""
        gates = matmul(concat([inputs, state], 1), convert(self._gate_kernel))
        reset, update = split(raw.Sigmoid(gates + convert(self._gate_bias)), 2, axis=1)
        candidate = matmul(inputs, convert(self._of_input[0])) + convert(self._of_input[1])
        kept = matmul(state, convert(self._of_state[0])) + convert(self._of_state[1])
        output = (1 - update) * self._activation(candidate + reset * kept) + update * state
        return output, output


class _Step(RNNCell):
    """A step on inputs that are multiplied with their weights already."""

    def __init__(self, mode: str, units: int, kernel: Any, bias: Any):
        super().__init__()
        self._mode, self._units, self._kernel, self._bias = mode, units, kernel, bias

    state_size = property(
        lambda self: (self._units, self._units) if self._mode == "lstm" else self._units, doc="Units."
    )
    output_size = property(lambda self: self._units, doc="The number of units.")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        h, c = state if self._mode == "lstm" else (state, None)
        kept = matmul(h, self._kernel) + self._bias
        if self._mode == "gru":
            (rx, ux, nx), (rh, uh, nh) = split(inputs, 3, axis=1), split(kept, 3, axis=1)
            update = raw.Sigmoid(ux + uh)
            h = (1 - update) * raw.Tanh(nx + raw.Sigmoid(rx + rh) * nh) + update * h
            return h, h
        total = inputs + kept
        if self._mode == "lstm":
            i, f, new, o = split(total, 4, axis=1)
            c = raw.Sigmoid(f) * c + raw.Sigmoid(i) * raw.Tanh(new)
            h = raw.Sigmoid(o) * raw.Tanh(c)
            return h, (h, c)
        h = raw.Tanh(total) if self._mode == "rnn_tanh" else raw.Relu(total)
        return h, h


class CudnnRNN(Layer):
    """Several recurrent layers on top of each other, in one direction or both, with one vector of weights."""

    MODE: ClassVar[str]
    CONVERTER: ClassVar[type[Converter]]
    SAVEABLE: ClassVar[type[CudnnOpaqueParamsSaveable]]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        if direction not in (UNIDIRECTION, BIDIRECTION):
            raise ValueError(f"Invalid direction: {direction!r}, expect {UNIDIRECTION} or {BIDIRECTION}")
        if input_mode not in (LINEAR, SKIP, AUTO):
            raise ValueError(f"Invalid input_mode: {input_mode!r}, expect one of {LINEAR}, {SKIP}, {AUTO}")
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {kind}")
        self.num_layers, self.num_units, self.input_mode, self.direction = num_layers, num_units, input_mode, direction
        self._kind, self._dropout, self._seed = kind, dropout, seed
        self._initializers = (kernel_initializer or GlorotUniform(seed=seed), bias_initializer or Zeros())
        self._converter: Converter | None = None
        self.saveable: CudnnOpaqueParamsSaveable | None = None

    @property
    def rnn_mode(self) -> str:
        """What the steps are: `lstm`, `gru`, `rnn_tanh` or `rnn_relu`."""
        return self.MODE

    @property
    def num_dirs(self) -> int:
        """One direction or two."""
        return 1 if self.direction == UNIDIRECTION else 2

    @property
    def converter(self) -> Converter:
        """How weights lie in the vector."""
        if self._converter is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._converter

    @property
    def input_size(self) -> int:
        """How many numbers a step has."""
        return self.converter.input_size

    @property
    def canonical_weight_shapes(self) -> list[Any]:
        """The shapes of all matrices, in their order."""
        return self.converter.weight_shapes()

    @property
    def canonical_bias_shapes(self) -> list[Any]:
        """The shapes of all biases, in their order."""
        return self.converter.bias_shapes()

    def build(self, input_shape: Any) -> None:
        """Make the vector of weights."""
        shape = TensorShape(input_shape)
        if shape.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.rank}")
        size = shape.as_list()[2]
        if size is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        if self.input_mode == SKIP or (self.input_mode == AUTO and size == self.num_units):
            raise NotImplementedError(f"input_mode={self.input_mode!r} leaves products with inputs out; use {LINEAR!r}")
        self._converter = self.CONVERTER(self.num_layers, self.num_units, size, direction=self.direction)
        self.input_spec = InputSpec(ndim=3, axes={-1: size})
        self.kernel = self.add_variable("opaque_kernel", [self._converter.size()], initializer=self._start)
        self.built = True
        if not context.executing_eagerly() and get_variable_scope().reuse is not True:
            self.saveable = self.SAVEABLE(
                self.kernel, self.num_layers, self.num_units, size, direction=self.direction,
                scope=get_variable_scope(), name=f"{self.kernel.name.partition(':')[0]}_saveable",
            )  # fmt: skip
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)

    def _start(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        weights, biases = self.canonical_weight_shapes, self.canonical_bias_shapes
        of_weights, of_biases = self._initializers
        drawn = [of_weights(shape, dtype=self._kind) for shape in weights]
        return self.converter.joined(drawn, [of_biases(shape, dtype=self._kind) for shape in biases])

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """Return the shapes of the states, one or two of them."""
        one = [self.num_layers * self.num_dirs, batch_size, self.num_units]
        return (one, list(one)) if self.MODE == "lstm" else (one,)

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the outputs of all steps, [time, batch, units of all directions], and the last states."""
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        swap = (lambda x: x) if time_major else (lambda x: transpose(x, [1, 0, 2]))
        x = swap(convert(inputs, self._kind))
        if initial_state is None:
            initial_state = tuple(zeros(s, dtype=self._kind) for s in self.state_shape(shape_of(x)[1]))
        else:
            initial_state = tuple(swap(convert(state, self._kind)) for state in initial_state)
        outputs, states = self._layers(x, initial_state, sequence_lengths, training)
        return swap(outputs), tuple(swap(state) for state in states)

    def _layers(self, x: Any, states: tuple[Any, ...], lengths: Any, training: bool) -> tuple[Any, tuple[Any, ...]]:
        starts = list(zip(*(unstack(s, num=self.num_layers * self.num_dirs) for s in states), strict=True))
        weights = self.converter.by_layer(convert(self.kernel))
        ends: list[Any] = []
        for layer in range(self.num_layers):
            if layer and training and self._dropout:
                x = dropout_v1(x, rate=self._dropout, seed=self._seed)
            found = []
            for direction in range(self.num_dirs):
                at = layer * self.num_dirs + direction
                output, end = self._one(x, starts[at], weights[at], lengths, backwards=direction == 1)
                found.append(output)
                ends.append(end)
            x = concat(found, 2) if len(found) > 1 else found[0]
        return x, tuple(stack(list(parts)) for parts in zip(*ends, strict=True))

    def _one(self, x: Any, start: Any, weights: Any, lengths: Any, backwards: bool) -> tuple[Any, tuple[Any, ...]]:
        kernel_x, kernel_h, bias_x, bias_h = weights
        lengths = None if lengths is None else convert(lengths, dtypes.int32)
        turned = (lambda v: _reversed(v, lengths)) if backwards else (lambda v: v)
        projected = raw.BatchMatMulV2(turned(x), kernel_x) + bias_x
        cell = _Step(self.MODE, self.num_units, kernel_h, bias_h)
        state = tuple(start) if self.MODE == "lstm" else start[0]
        output, end = dynamic_rnn(cell, projected, lengths, state, time_major=True)
        return turned(output), tuple(end) if self.MODE == "lstm" else (end,)


def _reversed(x: Any, lengths: Any) -> Any:
    if lengths is None:
        return raw.ReverseV2(x, [0])
    return raw.ReverseSequence(x, lengths, seq_dim=0, batch_dim=1)


class CudnnOpaqueParamsSaveable(SaveableObject):
    """The weights of a layer as checkpoints keep them: under the names, and in the form, that cells have."""

    CONVERTER: ClassVar[type[Converter]]
    CELL: ClassVar[str]

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR,
        direction: str = UNIDIRECTION,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ):
        self._variable = opaque_params
        self.format_converter = self.CONVERTER(num_layers, num_units, input_size, direction=direction)
        weights, biases = self.format_converter.opaque_to_tf_canonical(convert(opaque_params))
        names = self._names(num_layers, direction)
        prefix = getattr(scope, "name", scope)
        specs = [
            SaveSpec(tensor, "", f"{prefix}/{own}" if prefix else own)
            for tensor, own in zip([*weights, *biases], names, strict=True)
        ]
        super().__init__(identity(convert(opaque_params)), specs, name)

    def _names(self, num_layers: int, direction: str) -> list[str]:
        if direction == UNIDIRECTION:
            places = [f"rnn/multi_rnn_cell/cell_{i}" for i in range(num_layers)]
        else:
            of_layer = "stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}"
            places = [of_layer.format(i, way) for i in range(num_layers) for way in ("fw", "bw")]
        parts = self.CONVERTER.PARTS
        return [f"{at}/{self.CELL}/{part}{kind}" for kind in ("kernel", "bias") for at in places for part in parts]

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Return the operation that puts weights of cells into the layer's vector."""
        opaque = self.format_converter.tf_canonical_to_opaque(restored_tensors)
        return assign(self._variable, opaque, validate_shape=False)


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Of an LSTM."""

    CONVERTER, CELL = ConverterLSTM, "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Of gated recurrent units."""

    CONVERTER, CELL = ConverterGRU, "cudnn_compatible_gru_cell"


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """Of plain units with tanh."""

    CONVERTER, CELL = ConverterSimple, "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnRNNTanhSaveable):
    """Of plain units with relu."""


class CudnnLSTM(CudnnRNN):
    """LSTM layers."""

    MODE, CONVERTER, SAVEABLE = "lstm", ConverterLSTM, CudnnLSTMSaveable


class CudnnGRU(CudnnRNN):
    """Layers of gated recurrent units."""

    MODE, CONVERTER, SAVEABLE = "gru", ConverterGRU, CudnnGRUSaveable


class CudnnRNNTanh(CudnnRNN):
    """Layers of plain units with tanh."""

    MODE, CONVERTER, SAVEABLE = "rnn_tanh", ConverterSimple, CudnnRNNTanhSaveable


class CudnnRNNRelu(CudnnRNN):
    """Layers of plain units with relu."""

    MODE, CONVERTER, SAVEABLE = "rnn_relu", ConverterSimple, CudnnRNNReluSaveable
