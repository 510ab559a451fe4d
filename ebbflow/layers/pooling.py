"""Pooling layers: the largest, or the mean, of each window of lines, images and volumes.

A kind of pooling is a row: the number of axes and the op; classes and functions are made from the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Sizes, TensorLike
from ebbflow.layers.arguments import (
    data_format_named,
    op_format,
    padding_named,
    sizes_of,
    window_length,
    with_channels,
)
from ebbflow.layers.base import InputSpec, Layer
from ebbflow.ops.arrays.shaping import expand_dims, squeeze, transpose
from ebbflow.ops.declare import raw


class Pooling(Layer):
    """One value for each window; `_rank` says over how many axes, `_op` which."""

    _rank = 2
    _op = ""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes_of(pool_size, self._rank, "pool_size")
        self.strides = sizes_of(pool_size if strides is None else strides, self._rank, "strides")
        self.padding = padding_named(padding)
        self.data_format = data_format_named(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs: Any) -> Any:
        """Pool; lines are pooled as images one wide."""
        if self._rank == 1:
            axis = 2 if self.data_format == "channels_last" else 3
            pooled = self._pool(expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1))
            return squeeze(pooled, axis)
        if self._rank == 3 and self.data_format == "channels_first":  # TensorFlow pools volumes with channels last
            inputs = transpose(inputs, (0, 2, 3, 4, 1))
            return transpose(self._pool(inputs, self.pool_size, self.strides), (0, 4, 1, 2, 3))
        return self._pool(inputs, self.pool_size, self.strides)

    def _pool(self, inputs: Any, size: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        data_format = "channels_last" if self._rank == 3 else self.data_format
        return getattr(raw, self._op)(
            inputs,
            ksize=with_channels(size, data_format),
            strides=with_channels(strides, data_format),
            padding=self.padding.upper(),
            data_format=op_format(data_format, len(size)),
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of what comes out for inputs of this shape."""
        dims = TensorShape(input_shape).as_list()
        first = 1 if self.data_format == "channels_last" else 2
        for i in range(self._rank):
            dims[first + i] = window_length(dims[first + i], self.pool_size[i], self.padding, self.strides[i])
        return TensorShape(dims)


class MaxPooling1D(Pooling):
    """The largest of each stretch."""

    _rank, _op = 1, "MaxPool"


class MaxPooling2D(Pooling):
    """The largest of each window."""

    _rank, _op = 2, "MaxPool"


class MaxPooling3D(Pooling):
    """The largest of each block."""

    _rank, _op = 3, "MaxPool3D"


class AveragePooling1D(Pooling):
    """The mean of each stretch."""

    _rank, _op = 1, "AvgPool"


class AveragePooling2D(Pooling):
    """The mean of each window."""

    _rank, _op = 2, "AvgPool"


class AveragePooling3D(Pooling):
    """The mean of each block."""

    _rank, _op = 3, "AvgPool3D"


def _function(kind: type[Pooling], function_name: str) -> Callable[..., Any]:
    """Return the function that makes and calls a layer of this kind."""

    def pool(
        inputs: TensorLike,
        pool_size: Sizes,
        strides: Sizes,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
    ) -> Tensor:
        return kind(pool_size, strides, padding, data_format, name=name).apply(inputs)

    pool.__name__ = pool.__qualname__ = function_name
    pool.__doc__ = f"Return {str(kind.__doc__)[0].lower()}{str(kind.__doc__)[1:]}"
    return pool


max_pooling1d = _function(MaxPooling1D, "max_pooling1d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
max_pooling3d = _function(MaxPooling3D, "max_pooling3d")
average_pooling1d = _function(AveragePooling1D, "average_pooling1d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
average_pooling3d = _function(AveragePooling3D, "average_pooling3d")

MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
max_pool2d, avg_pool2d = max_pooling2d, average_pooling2d
