"""Convolution layers of one, two and three dimensions, and the functions that make and call them.

`Conv` does the work for any number of axes; its subclasses say how many, and have TensorFlow's signatures. The other
way round is in `deconvolutional`, one channel at a time in `separable`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Activation, InitializerLike, Sizes
from ebbflow.layers.arguments import (
    activation_named,
    checked_function,
    data_format_named,
    initializer_named,
    op_format,
    padding_named,
    sizes_of,
    window_length,
)
from ebbflow.layers.base import InputSpec, Layer, read
from ebbflow.ops.arrays.padding import pad
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.nn import conv
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.state.initializers import zeros_initializer


class Conv(Layer):
    """outputs = activation(convolution of the inputs with a kernel + bias), over `rank` axes."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.filters = int(filters)
        self.kernel_size = sizes_of(kernel_size, self.rank, "kernel_size")
        self.strides = sizes_of(strides, self.rank, "strides")
        self.padding = padding_named(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = data_format_named(data_format)
        self.dilation_rate = sizes_of(dilation_rate, self.rank, "dilation_rate")
        self.activation = activation_named(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_named(kernel_initializer)
        self.bias_initializer = initializer_named(bias_initializer)
        self.kernel_regularizer = checked_function(kernel_regularizer, "regularizer")
        self.bias_regularizer = checked_function(bias_regularizer, "regularizer")
        self.kernel_constraint = checked_function(kernel_constraint, "constraint")
        self.bias_constraint = checked_function(bias_constraint, "constraint")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    # --- variables ----------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        channels = self._channels_in(input_shape)
        self.kernel = self._add_kernel("kernel", [*self.kernel_size, channels, self.filters])
        self._add_bias()
        if not context.executing_eagerly():  # TensorFlow leaves these nodes in the graph, used or not
            convert(np.array(self.dilation_rate, np.int32), name="dilation_rate")
            if self.padding == "same" and any(rate != 1 for rate in self.dilation_rate):
                convert(np.array(self.kernel.shape.as_list(), np.int32), name="filter_shape")
        self.built = True

    def _channels_in(self, input_shape: Any) -> int:
        """Return the number of the input's channels, which is asked of inputs from now on."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels = TensorShape(input_shape).as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _add_kernel(self, name: str, shape: list[int]) -> Any:
        """Make a kernel with the initializer, regularizer and constraint of its name."""
        return self.add_weight(
            name,
            shape=shape,
            initializer=getattr(self, f"{name.removesuffix('_kernel')}_initializer"),
            regularizer=getattr(self, f"{name.removesuffix('_kernel')}_regularizer"),
            constraint=getattr(self, f"{name.removesuffix('_kernel')}_constraint"),
        )

    def _add_bias(self) -> None:
        self.bias: Any = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.filters],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    # --- calling ------------------------------------------------------------------------------------------------------

    def call(self, inputs: Any) -> Any:
        """Convolve, add, activate."""
        outputs = self._convolve(self._padded(inputs))
        if self.use_bias:
            if self.rank == 1 and self.data_format == "channels_first":
                outputs = outputs + reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = bias_add(outputs, read(self.bias), data_format=op_format(self.data_format, 2))
        return outputs if self.activation is None else self.activation(outputs)

    def _padded(self, inputs: Any) -> Any:
        """Return lines with as much before them as the kernel looks back, where the padding is causal."""
        if self.padding != "causal":
            return inputs
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        last = self.data_format == "channels_last"
        return pad(inputs, [[0, 0], before, [0, 0]] if last else [[0, 0], [0, 0], before])

    @property
    def _op_padding(self) -> str:
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _convolve(self, inputs: Any) -> Any:
        layout = op_format(self.data_format, self.rank)

        def op(x: Any, padding: str, rates: Any, name: str | None) -> Any:
            function = {1: conv.conv1d, 2: conv.conv2d, 3: conv.conv3d}[self.rank]
            return function(x, read(self.kernel), list(self.strides), padding, layout, rates, name)

        rates = list(self.dilation_rate)
        if all(rate == 1 for rate in rates):
            return op(inputs, self._op_padding, None, None)
        if any(stride != 1 for stride in self.strides):
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if conv.splits(inputs, convert(self.kernel), self._op_padding, layout):
            dims = tuple(self.kernel.shape.as_list())
            return conv.through_batches(inputs, dims, self._op_padding, rates, layout, op, None)
        return op(inputs, self._op_padding, rates, None)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of what comes out for inputs of this shape."""
        dims = TensorShape(input_shape).as_list()
        first, channel = (1, -1) if self.data_format == "channels_last" else (2, 1)
        settings = zip(self.kernel_size, self.strides, self.dilation_rate, strict=True)
        for axis, (size, stride, rate) in enumerate(settings, first):
            dims[axis] = window_length(dims[axis], size, self.padding, stride, rate)
        dims[channel] = self.filters
        return TensorShape(dims)


class Conv1D(Conv):
    """Convolution along lines."""

    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Sizes = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        kernel_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        kernel_constraint: Callable[[Any], Any] | None = None,
        bias_constraint: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip


class Conv2D(Conv):
    """Convolution over images."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Sizes = (1, 1),
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        kernel_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        kernel_constraint: Callable[[Any], Any] | None = None,
        bias_constraint: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip


class Conv3D(Conv):
    """Convolution over volumes."""

    rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Sizes = (1, 1, 1),
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        kernel_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        kernel_constraint: Callable[[Any], Any] | None = None,
        bias_constraint: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip


# --- functions --------------------------------------------------------------------------------------------------------


def function_of(kind: type[Layer], function_name: str, example: str = "") -> Callable[..., Any]:
    """Return the function that makes a layer of this kind and calls it: inputs first, `reuse` last.

    >>> list(inspect.signature(function_of(Conv1D, "conv1d")).parameters)[:3]
    ['inputs', 'filters', 'kernel_size']
    """
    own = [p for p in inspect.signature(kind).parameters.values() if p.kind is not p.VAR_KEYWORD]
    anywhere = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = inspect.Parameter("inputs", anywhere, annotation="TensorLike")
    last = inspect.Parameter("reuse", anywhere, default=None, annotation="bool | None")
    signature = inspect.Signature([first, *own, last], return_annotation="Tensor")

    def make_and_call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        return kind(**given, _scope=given.get("name"), _reuse=reuse).apply(inputs)

    make_and_call.__name__ = make_and_call.__qualname__ = function_name
    make_and_call.__doc__ = f"Return the inputs through a new (or reused) {kind.__name__} layer.\n\n{example}".rstrip()
    make_and_call.__signature__ = signature  # type: ignore[attr-defined]
    make_and_call.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()} | {"return": "Tensor"}
    return make_and_call


conv1d = convolution1d = function_of(Conv1D, "conv1d")
conv2d = convolution2d = function_of(
    Conv2D,
    "conv2d",
    """>>> import ebbflow as tf
>>> with tf.Graph().as_default():
...     conv2d(tf.zeros([1, 8, 8, 3]), filters=4, kernel_size=3, padding="same").shape.as_list()
[1, 8, 8, 4]
""",
)
conv3d = convolution3d = function_of(Conv3D, "conv3d")
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
