"""LSTMs over images: the gates are convolutions of the inputs and of the output before (`ConvLSTMCell`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Nested
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.cells import LSTMStateTuple
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.elementwise.unary import sigmoid, tanh
from ebbflow.ops.nn.conv import conv1d_v1, conv2d_v1, conv3d_v1
from ebbflow.state.initializers import Constant
from ebbflow.state.variable_scope import get_variable

if TYPE_CHECKING:
    from ebbflow.state.variable_scope import VariableScope


_CONVOLUTIONS: dict[int, Any] = {3: conv1d_v1, 4: conv2d_v1, 5: conv3d_v1}


class ConvLSTMCell(RNNCell):
    """An LSTM over lines, images or volumes."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ):
        super().__init__(name=name)
        input_shape = list(input_shape)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._input_shape = input_shape
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection

    @property
    def state_size(self) -> LSTMStateTuple:
        """The shape of the inputs, with the output's channels, twice."""
        size = TensorShape([*self._input_shape[:-1], self._output_channels])
        return LSTMStateTuple(size, size)

    @property
    def output_size(self) -> TensorShape:
        """The shape of the output."""
        more = self._input_shape[-1] if self._skip_connection else 0
        return TensorShape([*self._input_shape[:-1], self._output_channels + more])

    def call(self, inputs: Nested, state: Nested, scope: str | VariableScope | None = None) -> Nested:
        """Take one step."""
        memory, hidden = state
        gates = _convolved([inputs, hidden], self._kernel_shape, 4 * self._output_channels, self._use_bias)
        i, new, f, o = split(gates, 4, axis=self._conv_ndims + 1)
        memory = sigmoid(f + self._forget_bias) * memory + sigmoid(i) * tanh(new)
        output = tanh(memory) * sigmoid(o)
        if self._skip_connection:
            output = concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(memory, output)


def _convolved(args: list[Any], filter_size: list[int], channels: int, bias: bool) -> Any:
    """Return the convolution of arguments that are joined by their channels, with the scope's variables."""
    shapes = [x.shape.as_list() for x in args]
    rank, dtype = len(shapes[0]), args[0].dtype
    for shape in shapes:
        if len(shape) not in _CONVOLUTIONS:
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if len(shape) != rank:
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
    kernel = get_variable("kernel", [*filter_size, sum(shape[-1] for shape in shapes), channels], dtype=dtype)
    joined = args[0] if len(args) == 1 else concat(args, rank - 1)
    found = _CONVOLUTIONS[rank](joined, kernel, 1 if rank == 3 else [1] * rank, padding="SAME")
    return found + get_variable("biases", [channels], dtype=dtype, initializer=Constant(0.0)) if bias else found


class Conv1DLSTMCell(ConvLSTMCell):
    """An LSTM over lines."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """An LSTM over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """An LSTM over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
