"""Masked layers in the manner of `tf.contrib.layers` (`tf.contrib.model_pruning`): `masked_conv2d` and its kin.

Imported when one of its functions is asked for: they take part in the argument scopes of the package `tf_slim`.
"""

from __future__ import annotations

import importlib
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.doors import slim_package
from ebbflow.ops.elementwise.activations import relu
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import variable_scope
from ebbflow.tf1.pruning.layers import MaskedConv2D, MaskedFullyConnected

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
    inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=relu,
    normalizer_fn=None, normalizer_params=None, weights_initializer=_xavier,
    weights_regularizer=None, biases_initializer=_zeros, biases_regularizer=None, reuse=None,
    variables_collections=None, outputs_collections=None, trainable=True, scope=None,
):  # fmt: skip
    """Return images convolved with a masked kernel."""
    settings = dict(locals())
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with _scope(scope, "Conv", inputs, reuse) as opened:
        inputs = convert(inputs)
        if inputs.shape.rank != 4:
            raise ValueError(f"Convolution not supported for input with rank {inputs.shape.rank}")
        layer = MaskedConv2D(
            num_outputs, kernel_size, stride, padding,
            "channels_first" if data_format == "NCHW" else "channels_last", rate, None,
            **_common(settings, opened, inputs),
        )  # fmt: skip
        return _applied(layer, inputs, opened, settings)


@_slim.add_arg_scope
def masked_fully_connected(
    inputs, num_outputs, activation_fn=relu, normalizer_fn=None, normalizer_params=None,
    weights_initializer=_xavier, weights_regularizer=None, biases_initializer=_zeros,
    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None, trainable=True,
    scope=None,
):  # fmt: skip
    """Return rows times a masked matrix."""
    settings = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int, got {num_outputs!r}.")
    with _scope(scope, "fully_connected", inputs, reuse) as opened:
        inputs = convert(inputs)
        layer = MaskedFullyConnected(num_outputs, None, **_common(settings, opened, inputs))
        return _applied(layer, inputs, opened, settings)


masked_conv2d = masked_convolution
