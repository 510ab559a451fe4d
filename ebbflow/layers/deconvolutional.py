"""Transposed convolutions: layers that spread each value over a window, the other way round than `convolutional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import context
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Activation, InitializerLike, Sizes
from ebbflow.layers.arguments import op_format, spread_length, with_channels
from ebbflow.layers.convolutional import Conv, function_of
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.nn.conv import conv2d_transpose_v1, conv3d_transpose_v1
from ebbflow.state.initializers import zeros_initializer


class ConvTranspose(Conv):
    """outputs = activation(transposed convolution of the inputs with a kernel + bias), over `rank` axes."""

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        shape = TensorShape(input_shape)
        if shape.rank != self.rank + 2:
            raise ValueError(f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}")
        channels = self._channels_in(shape)
        self.kernel = self._add_kernel("kernel", [*self.kernel_size, self.filters, channels])
        self._add_bias()
        self.built = True

    def _convolve(self, inputs: Any) -> Any:
        full = shape_of(inputs)
        batch, first = full[0], 1 if self.data_format == "channels_last" else 2
        lengths = [full[first + i] for i in range(self.rank)]
        settings = zip(lengths, self.kernel_size, self.strides, strict=True)
        space = [spread_length(length, size, self.padding, stride) for length, size, stride in settings]
        sizes = stack([batch, *space, self.filters] if first == 1 else [batch, self.filters, *space])
        if self.rank == 2 and not context.executing_eagerly():
            sizes[0]  # TensorFlow asks for the batch size once more, which leaves a node
        transposed = {2: conv2d_transpose_v1, 3: conv3d_transpose_v1}[self.rank]
        outputs = transposed(
            inputs,
            self.kernel,
            sizes,
            with_channels(self.strides, self.data_format),
            padding=self.padding.upper(),
            data_format=op_format(self.data_format, self.rank),
        )
        if not context.executing_eagerly():
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of what comes out for inputs of this shape."""
        dims = TensorShape(input_shape).as_list()
        first, channel = (1, -1) if self.data_format == "channels_last" else (2, 1)
        for axis, (size, stride) in enumerate(zip(self.kernel_size, self.strides, strict=True), first):
            dims[axis] = spread_length(dims[axis], size, self.padding, stride)
        dims[channel] = self.filters
        return TensorShape(dims)


class Conv2DTranspose(ConvTranspose):
    """Transposed convolution over images."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
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
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip


class Conv3DTranspose(ConvTranspose):
    """Transposed convolution over volumes."""

    rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
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
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip


conv2d_transpose = convolution2d_transpose = deconvolution2d = deconv2d = function_of(
    Conv2DTranspose, "conv2d_transpose"
)
conv3d_transpose = convolution3d_transpose = deconvolution3d = deconv3d = function_of(
    Conv3DTranspose, "conv3d_transpose"
)
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
