"""Masked layers in the manner of `tf.contrib.layers` (`tf.contrib.model_pruning`): `masked_conv2d` and its kin.

Imported when one of its functions is asked for: they take part in the argument scopes of the package `tf_slim`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.doors import slim_package
from ebbflow.ops.elementwise.activations import relu
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import variable_scope
from ebbflow.tf1.pruning.layers import MaskedConv2D, MaskedFullyConnected

Ints = int | Sequence[int]
Function = Callable[..., Any]

_slim = slim_package.slim()
_layers, _utils = (importlib.import_module(f"tf_slim.layers.{name}") for name in ("layers", "utils"))
_xavier, _zeros = _slim.xavier_initializer(), Zeros()


def _applied(layer: Any, inputs: Any, scope: Any, settings: dict[str, Any]) -> Any:
    """Return a layer's output, normalised and activated, with its variables in the collections that are asked for."""
    outputs = layer.apply(inputs)
    collections = settings["variables_collections"]
    _layers._add_variable_to_collections(layer.unmasked_kernel, collections, "weights")
    if layer.use_bias:
        _layers._add_variable_to_collections(layer.bias, collections, "biases")
    if settings["normalizer_fn"] is not None:
        outputs = settings["normalizer_fn"](outputs, **(settings["normalizer_params"] or {}))
    if settings["activation_fn"] is not None:
        outputs = settings["activation_fn"](outputs)
    return _utils.collect_named_outputs(settings["outputs_collections"], scope.name, outputs)


def _scope(scope: Any, default: str, inputs: Any, reuse: Any) -> Any:
    names = _layers._build_variable_getter({"bias": "biases", "kernel": "weights"})
    return variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=names)


def _common(settings: dict[str, Any], scope: Any, inputs: Any) -> dict[str, Any]:
    """Return what both kinds of layers are made with."""
    plain = not settings["normalizer_fn"] and settings["biases_initializer"]
    return dict(
        use_bias=bool(plain), kernel_initializer=settings["weights_initializer"],
        bias_initializer=settings["biases_initializer"], kernel_regularizer=settings["weights_regularizer"],
        bias_regularizer=settings["biases_regularizer"], trainable=settings["trainable"], name=scope.name,
        dtype=inputs.dtype.base_dtype, _scope=scope, _reuse=settings["reuse"],
    )  # fmt: skip


@_slim.add_arg_scope
def masked_convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Ints,
    stride: Ints = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Ints = 1,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Function | None = _xavier,
    weights_regularizer: Function | None = None,
    biases_initializer: Function | None = _zeros,
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: object = None,
    outputs_collections: object = None,
    trainable: bool = True,
    scope: object = None,
) -> Tensor:
    """Return images convolved with a masked kernel."""
    settings = dict(locals())
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with _scope(scope, "Conv", inputs, reuse) as opened:
        images = convert(inputs)
        if images.shape.rank != 4:
            raise ValueError(f"Convolution not supported for input with rank {images.shape.rank}")
        layer = MaskedConv2D(
            num_outputs, kernel_size, stride, padding,
            "channels_first" if data_format == "NCHW" else "channels_last", rate, None,
            **_common(settings, opened, images),
        )  # fmt: skip
        return _applied(layer, images, opened, settings)


@_slim.add_arg_scope
def masked_fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Function | None = _xavier,
    weights_regularizer: Function | None = None,
    biases_initializer: Function | None = _zeros,
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: object = None,
    outputs_collections: object = None,
    trainable: bool = True,
    scope: object = None,
) -> Tensor:
    """Return rows times a masked matrix."""
    settings = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int, got {num_outputs!r}.")
    with _scope(scope, "fully_connected", inputs, reuse) as opened:
        rows = convert(inputs)
        layer = MaskedFullyConnected(num_outputs, None, **_common(settings, opened, rows))
        return _applied(layer, rows, opened, settings)


masked_conv2d = masked_convolution
