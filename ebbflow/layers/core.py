"""Dense, Dropout, Flatten, and the functions that make and call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Activation, InitializerLike, Nested, ShapeLike, TensorLike
from ebbflow.layers.arguments import activation_named, checked_function, data_format_named, initializer_named
from ebbflow.layers.base import InputSpec, Layer, read
from ebbflow.layers.smart_cond import smart_cond
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.linalg.einsum import tensordot, tensordot_tf1
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.nn.dropout import dropout_tf1, dropout_v1
from ebbflow.state.initializers import zeros_initializer


class Dense(Layer):
    """outputs = activation(inputs · kernel + bias)."""

    def __init__(
        self,
        units: int,
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        kernel_regularizer: Callable[..., Any] | None = None,
        bias_regularizer: Callable[..., Any] | None = None,
        activity_regularizer: Callable[..., Any] | None = None,
        kernel_constraint: Callable[..., Any] | None = None,
        bias_constraint: Callable[..., Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        if self.units < 0:
            raise ValueError(f"units must not be negative, got {units}")
        self.activation = activation_named(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer_named(kernel_initializer)
        self.bias_initializer = initializer_named(bias_initializer)
        self.kernel_regularizer = checked_function(kernel_regularizer, "regularizer")
        self.bias_regularizer = checked_function(bias_regularizer, "regularizer")
        self.kernel_constraint = checked_function(kernel_constraint, "constraint")
        self.bias_constraint = checked_function(bias_constraint, "constraint")
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        dtype = self._dtype or dtypes.float32
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        dims = TensorShape(input_shape).as_list()
        if dims[-1] is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: dims[-1]})
        self.kernel = self.add_weight(
            "kernel",
            shape=[dims[-1], self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Nested) -> Tensor:
        """Multiply, add, activate."""
        rank = len(inputs.shape)
        if rank > 2:
            product = tensordot_tf1 if context.switches.tf1 else tensordot
            outputs = product(inputs, read(self.kernel), [[rank - 1], [0]])
            if not context.executing_eagerly():
                outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            outputs = raw.MatMul(cast(inputs, self._dtype or inputs.dtype), read(self.kernel))
        if self.use_bias:
            outputs = bias_add(outputs, read(self.bias))
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Return the input's shape with `units` last."""
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {shape}")
        return TensorShape([*shape.as_list()[:-1], self.units])


class Dropout(Layer):
    """Sets a fraction `rate` of the inputs to zero while training, and scales the rest up."""

    def __init__(
        self,
        rate: TensorLike = 0.5,
        noise_shape: ShapeLike = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape: Any = noise_shape
        self.seed = seed
        self.supports_masking = True

    def call(self, inputs: Nested, training: TensorLike = False) -> Tensor:
        """Drop, while training."""

        def dropped() -> Any:
            drop = dropout_tf1 if context.switches.tf1 else dropout_v1
            return drop(inputs, noise_shape=self._noise_for(inputs), seed=self.seed, rate=self.rate)

        return smart_cond(training, dropped, lambda: raw.Identity(inputs))

    def _noise_for(self, inputs: Any) -> Any:
        """Return the shape to draw for: where it says None, the input's."""
        if self.noise_shape is None:
            return None
        full = shape_of(inputs)
        return convert([full[i] if n is None else n for i, n in enumerate(self.noise_shape)])

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """Return the input's shape."""
        return input_shape


class Flatten(Layer):
    """Makes each example of a batch one vector."""

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = data_format_named(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Nested) -> Tensor:
        """Reshape to [batch, everything else]."""
        dims = inputs.shape.as_list()
        if self.data_format == "channels_first" and len(dims) > 1:
            inputs = transpose(inputs, [0, *range(2, len(dims)), 1])
        if not context.executing_eagerly():
            outputs = reshape(inputs, (dims[0] or shape_of(inputs)[0], -1))
            outputs.set_shape(self.compute_output_shape(inputs.shape))
            return outputs
        rest = 1
        for n in dims[1:]:
            rest *= n
        return raw.Reshape(inputs, [dims[0], rest])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Return [batch, product of the rest]."""
        batch, *others = TensorShape(input_shape).as_list()
        rest: int | None = 1
        for n in others:
            rest = None if n is None or rest is None else rest * n
        return TensorShape([batch, rest])


def dense(
    inputs: Nested,
    units: int,
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
    reuse: bool | None = None,
) -> Tensor:
    """Return activation(inputs · kernel + bias), with new variables (or reused ones).

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     dense(tf.ones([2, 3]), 4).shape
    TensorShape([2, 4])
    """
    layer = Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)


def dropout(
    inputs: Nested,
    rate: TensorLike = 0.5,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    training: TensorLike = False,
    name: str | None = None,
) -> Tensor:
    """Return the inputs with a fraction `rate` set to zero while `training`.

    >>> dropout([[1.0, 2.0]]).numpy().tolist()  # not training
    [[1.0, 2.0]]
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


def flatten(inputs: Nested, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """Return each example of the batch as one vector.

    >>> import numpy as np
    >>> flatten(np.zeros([2, 3, 4])).shape
    TensorShape([2, 12])
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)


FullyConnected = Dense
fully_connected = dense
