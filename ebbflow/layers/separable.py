"""Separable convolutions: each channel convolved by itself, then the channels mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.typing import Activation, InitializerLike, Sizes
from ebbflow.layers.arguments import checked_function, initializer_named, op_format, with_channels
from ebbflow.layers.convolutional import Conv, function_of
from ebbflow.ops.arrays.shaping import expand_dims, squeeze
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.nn.depthwise import separable_conv2d_v1
from ebbflow.state.initializers import zeros_initializer


class SeparableConv(Conv):
    """outputs = activation(channels convolved one by one, then mixed + bias), over `rank` axes."""

    def __init__(
        self, *args: Any, depth_multiplier: int, depthwise: tuple[Any, ...], pointwise: tuple[Any, ...], **kwargs: Any
    ):
        super().__init__(*args, **kwargs)
        self.depth_multiplier = depth_multiplier
        for name, (initializer, regularizer, constraint) in (("depthwise", depthwise), ("pointwise", pointwise)):
            setattr(self, f"{name}_initializer", initializer_named(initializer))
            setattr(self, f"{name}_regularizer", checked_function(regularizer, "regularizer"))
            setattr(self, f"{name}_constraint", checked_function(constraint, "constraint"))

    def build(self, input_shape: Any) -> None:
        """Make both kernels and the bias."""
        channels = self._channels_in(input_shape)
        self.depthwise_kernel = self._add_kernel(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier]
        )
        mixed = [*([1] * self.rank), self.depth_multiplier * channels, self.filters]
        self.pointwise_kernel = self._add_kernel("pointwise_kernel", mixed)
        self._add_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Convolve each channel, mix, add, activate; lines are convolved as images one high."""
        outputs = self._convolve(self._padded(inputs))
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=op_format(self.data_format, 2))
        if self.rank == 1:
            outputs = squeeze(outputs, [self._height_axis])
        return outputs if self.activation is None else self.activation(outputs)

    @property
    def _height_axis(self) -> int:
        return 1 if self.data_format == "channels_last" else 2

    def _convolve(self, inputs: Any) -> Any:
        strides, rate = self.strides, self.dilation_rate
        kernels = [self.depthwise_kernel, self.pointwise_kernel]
        if self.rank == 1:
            inputs = expand_dims(inputs, self._height_axis)
            kernels = [expand_dims(kernel, 0) for kernel in kernels]
            strides, rate = strides * 2, (1, *rate)
        return separable_conv2d_v1(
            inputs,
            kernels[0],
            kernels[1],
            strides=with_channels(strides, self.data_format),
            padding=self._op_padding,
            rate=list(rate),
            data_format=op_format(self.data_format, 2),
        )


class SeparableConv1D(SeparableConv):
    """Separable convolution along lines."""

    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Sizes = 1,
        depth_multiplier: int = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike | None = None,
        pointwise_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        depthwise_regularizer: Callable[[Any], Any] | None = None,
        pointwise_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        depthwise_constraint: Callable[[Any], Any] | None = None,
        pointwise_constraint: Callable[[Any], Any] | None = None,
        bias_constraint: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            bias_initializer=bias_initializer, bias_regularizer=bias_regularizer, bias_constraint=bias_constraint,
            activity_regularizer=activity_regularizer, trainable=trainable, name=name,
            depth_multiplier=depth_multiplier,
            depthwise=(depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            pointwise=(pointwise_initializer, pointwise_regularizer, pointwise_constraint), **kwargs,
        )  # fmt: skip


class SeparableConv2D(SeparableConv):
    """Separable convolution over images."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Sizes = (1, 1),
        depth_multiplier: int = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: InitializerLike | None = None,
        pointwise_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        depthwise_regularizer: Callable[[Any], Any] | None = None,
        pointwise_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        depthwise_constraint: Callable[[Any], Any] | None = None,
        pointwise_constraint: Callable[[Any], Any] | None = None,
        bias_constraint: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            bias_initializer=bias_initializer, bias_regularizer=bias_regularizer, bias_constraint=bias_constraint,
            activity_regularizer=activity_regularizer, trainable=trainable, name=name,
            depth_multiplier=depth_multiplier,
            depthwise=(depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            pointwise=(pointwise_initializer, pointwise_regularizer, pointwise_constraint), **kwargs,
        )  # fmt: skip


separable_conv1d = function_of(SeparableConv1D, "separable_conv1d")
separable_conv2d = separable_convolution2d = function_of(SeparableConv2D, "separable_conv2d")
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
