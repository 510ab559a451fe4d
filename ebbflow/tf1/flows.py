"""Bijectors of `tf.contrib.distributions` that learn: flows whose shifts and scales a network says, batch norm undone.

Both flows are `y = x * exp(log_scale) + shift`, where the network sees only what comes earlier in an event: all entries
before one (`MaskedAutoregressiveFlow`), or a first part of them (`RealNVP`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Activation, Array, DTypeLike, InitializerLike, TensorLike
from ebbflow.distributions.bijectors.base import Bijector
from ebbflow.functions.control_flow.while_loop import while_loop_v1
from ebbflow.layers.core import Dense, dense
from ebbflow.layers.normalization import BatchNormalization as NormalizationLayer
from ebbflow.ops.arrays.joining import concat, split, unstack
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.nn.normalization import moments
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.initializers import GlorotNormal
from ebbflow.state.template import make_template
from ebbflow.state.variable_scope import get_variable_scope, variable_scope

INCLUSIVE, EXCLUSIVE = "inclusive", "exclusive"
LEAST_GAMMA = 1e-6


def _depth(x: Any) -> int:
    """Return how long an event is."""
    depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return int(depth)


def _there(x: Any, shift: Any, log_scale: Any) -> Any:
    stretched = x if log_scale is None else x * raw.Exp(log_scale)
    return stretched if shift is None else stretched + shift


def _back(y: Any, shift: Any, log_scale: Any) -> Any:
    moved = y if shift is None else y - shift
    return moved if log_scale is None else moved * raw.Exp(-log_scale)


def _stretch(of: Any, log_scale: Any) -> Any:
    return convert(0.0, of.dtype) if log_scale is None else reduce_sum(log_scale, axis=-1)


class RealNVP(Bijector):
    """Moves and stretches the last entries of an event by what a function says of its first `num_masked`."""

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError(f"num_masked must be a positive integer. Got {num_masked}.")
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            name=name or "real_nvp",
        )  # fmt: skip
        self._num_masked, self._said_of = num_masked, shift_and_log_scale_fn

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """Return the first entries, the last ones, and how those are moved and stretched."""
        depth, count = _depth(x), self._num_masked
        if count >= depth:
            raise ValueError(f"Number of masked units must be smaller than the event size: {count} of {depth}.")
        return x[:, :count], x[:, count:], *self._said_of(x[:, :count], depth - count)

    def _forward(self, x: Any) -> Any:
        kept, changed, shift, log_scale = self._parts(x)
        return concat([kept, _there(changed, shift, log_scale)], -1)

    def _inverse(self, y: Any) -> Any:
        kept, changed, shift, log_scale = self._parts(y)
        return concat([kept, _back(changed, shift, log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return _stretch(x, self._parts(x)[3])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -_stretch(y, self._parts(y)[3])


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Activation = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Return a function that says shifts and log scales by dense layers; its variables are shared between calls."""

    def said(x: Any, output_units: int) -> tuple[Any, Any]:
        for units in hidden_layers:
            x = dense(x, units, activation, *args, **kwargs)
        x = dense(x, (1 if shift_only else 2) * output_units, None, *args, **kwargs)
        if shift_only:
            return x, None
        shift, log_scale = split(x, 2, axis=-1)
        return shift, log_scale

    with name_scope(name or "real_nvp_default_template"):
        return make_template("real_nvp_default_template", said)


class MaskedAutoregressiveFlow(Bijector):
    """Moves and stretches each entry of an event by what a function says of those before it.

    The way back takes one call of the function; the way there one for each entry, in a loop.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )  # fmt: skip
        self._said_of, self._unroll_loop = shift_and_log_scale_fn, unroll_loop

    def _forward(self, x: Any) -> Any:
        count = dimension_value(x.shape.with_rank_at_least(1)[-1])
        y = raw.ZerosLike(x)
        if self._unroll_loop:
            if count is None:
                raise ValueError(f"unroll_loop=True needs an x whose last dimension is known, got shape {x.shape}.")
            for _ in range(int(count)):
                y = _there(x, *self._said_of(y))
            return y
        self._said_of(y)  # variables are made outside the loop

        def step(index: Any, y: Any) -> tuple[Any, Any]:
            with variable_scope(get_variable_scope()) as scope:
                if scope.caching_device is None:
                    scope.set_caching_device(lambda op: op.device)
                return index + 1, _there(x, *self._said_of(y))

        size = shape(x)[-1]
        return while_loop_v1(lambda index, _: index < size, step, (0, y), maximum_iterations=count)[1]

    def _inverse(self, y: Any) -> Any:
        return _back(y, *self._said_of(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -_stretch(y, self._said_of(y)[1])


def block_mask(
    num_blocks: int, n_in: int, n_out: int, mask_type: str = EXCLUSIVE, dtype: DTypeLike = dtypes.float32
) -> Array:
    """Return ones where outputs of a block may see inputs: those of blocks before it, and its own where inclusive."""
    of_input = np.arange(n_in) // max(n_in // num_blocks, 1)
    of_output = np.arange(n_out) // max(n_out // num_blocks, 1)
    seen = of_output[:, None] >= of_input[None, :] + (mask_type == EXCLUSIVE)
    return (seen & (of_input < num_blocks)).astype(dtypes.as_dtype(dtype).as_numpy_dtype)


def masked_dense(
    inputs: Tensor,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: InitializerLike | None = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """Return a dense layer's output whose blocks see the inputs' blocks up to their own, or before it."""
    if num_blocks is None:
        raise ValueError("masked_dense needs num_blocks, the number of parts that inputs and outputs have; got None")
    mask = block_mask(num_blocks, _depth(inputs), units, EXCLUSIVE if exclusive else INCLUSIVE).T
    initializer: Any = kernel_initializer or GlorotNormal()

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name or "masked_dense"):
        said: dict[str, Any] = {"kernel_initializer": masked, "kernel_constraint": lambda kernel: mask * kernel}
        said |= {"name": name, "dtype": inputs.dtype.base_dtype, "_scope": name, "_reuse": reuse}
        make: Any = Dense
        return make(units, *args, **said, **kwargs).apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Activation = relu,
    log_scale_min_clip: TensorLike = -5.0,
    log_scale_max_clip: TensorLike = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Return a function that says shifts and log scales by masked dense layers, which share variables between calls."""

    def said(x: Any) -> tuple[Any, Any]:
        depth, sizes = _depth(x), x.shape.as_list() if x.shape.is_fully_defined() else shape(x)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
        x = masked_dense(x, (1 if shift_only else 2) * depth, depth, False, *args, activation=None, **kwargs)
        if shift_only:
            return reshape(x, sizes), None
        shift, log_scale = unstack(reshape(x, concat([sizes, [2]], 0)), num=2, axis=-1)
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:  # gradients as if nothing were clipped
            clipped = log_scale + raw.StopGradient(clipped - log_scale)
        return shift, clipped

    name = name or "masked_autoregressive_default_template"
    with name_scope(name):
        return make_template(name, said)


class BatchNormalization(Bijector):
    """Undoes batch normalization: the way back normalizes by the batch, the way there restores by what was kept."""

    def __init__(
        self,
        batchnorm_layer: NormalizationLayer | None = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        layer = batchnorm_layer or NormalizationLayer(gamma_constraint=lambda gamma: relu(gamma) + LEAST_GAMMA)
        if not isinstance(layer, NormalizationLayer):
            raise ValueError(f"batchnorm_layer must be an instance of BatchNormalization layer. Got {layer!r}.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm: Any = layer
        self._training = training
        axes = 1 if isinstance(layer.axis, int) else len(layer.axis)
        super().__init__(forward_min_event_ndims=axes, validate_args=validate_args, name=name)

    def _built(self, x: Any) -> list[int]:
        """Build the layer where nobody has; return the sizes of `x`."""
        if not x.shape.is_fully_defined():
            raise ValueError(f"Input must have shape known at graph construction. Got {x.shape}.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        return x.shape.as_list()

    def _forward(self, x: Any) -> Any:
        sizes, layer = self._built(x), self.batchnorm
        axes = [axis % len(sizes) for axis in layer.axis]
        wide = [size if i in axes else 1 for i, size in enumerate(sizes)]
        rescale = raw.Sqrt(reshape(layer.moving_variance, wide) + layer.epsilon)
        if layer.scale:
            rescale = rescale / reshape(layer.gamma, wide)
        shift = reshape(layer.moving_mean, wide)
        if layer.center:
            shift = shift - reshape(layer.beta, wide) * rescale
        return x * rescale + shift

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        self._built(x)
        return -self._stretch_back(self.batchnorm.moving_variance)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        sizes, variance = self._built(y), self.batchnorm.moving_variance
        if self._training:
            axes = [axis % len(sizes) for axis in self.batchnorm.axis]
            _, variance = moments(y, [i for i in range(len(sizes)) if i not in axes], keepdims=True)
        return self._stretch_back(variance)

    def _stretch_back(self, variance: Any) -> Any:
        layer = self.batchnorm
        of_gamma = reduce_sum(raw.Log(layer.gamma)) if layer.scale else 0.0
        return of_gamma - 0.5 * reduce_sum(raw.Log(variance + layer.epsilon))
