"""Labelled tensors from examples and feeds, from nets' functions, and reshapes that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.graph.placeholders import placeholder as plain_placeholder
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.activations import crelu_v1
from ebbflow.ops.nn.bias_softmax import log_softmax, softmax
from ebbflow.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v1,
    sparse_softmax_cross_entropy_with_logits_v1,
)
from ebbflow.ops.parsing import examples, features
from ebbflow.tf1.labeled.axes import Axes, Axis, as_axis
from ebbflow.tf1.labeled.operations import reshape
from ebbflow.tf1.labeled.tensors import (
    LabeledTensor,
    Tensors,
    convert_to_labeled_tensor,
    define_binary_op,
    define_unary_op,
)


class FixedLenFeature:
    """A feature of examples that has as many values as its axes have places."""

    def __init__(self, axes: Iterable[Any], dtype: DType, default_value: Any = None) -> None:
        self._axes, self._dtype, self._default_value = [as_axis(axis) for axis in axes], dtype, default_value

    axes = property(lambda self: self._axes, doc="The feature's axes.")
    dtype = property(lambda self: self._dtype, doc="The dtype of its values.")
    default_value = property(lambda self: self._default_value, doc="What stands where an example has none.")


def _plain(wanted: Mapping[str, FixedLenFeature]) -> dict[str, features.FixedLenFeature]:
    found = {}
    for name, feature in wanted.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        found[name] = features.FixedLenFeature(shape, feature.dtype, feature.default_value)
    return found


def _parsed(parse: Callable[..., Any], serialized: LabeledTensor, wanted: Any, *args: Any) -> dict[str, Any]:
    return parse(serialized.tensor, _plain(wanted), *args)


def parse_example(
    serialized: Tensors, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """Return the features of serialised examples; their axes stand behind those of the examples."""
    texts = convert_to_labeled_tensor(serialized)
    found = _parsed(examples.parse_example_v1, texts, features, name, example_names)
    front = list(texts.axes.values())
    return {key: LabeledTensor(value, [*front, *features[key].axes]) for key, value in found.items()}


def parse_single_example(
    serialized: Tensors, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, LabeledTensor]:
    """Return the features of one serialised example."""
    found = _parsed(
        examples.parse_single_example_v1, convert_to_labeled_tensor(serialized), features, name, example_names
    )
    return {key: LabeledTensor(value, features[key].axes) for key, value in found.items()}


def placeholder(dtype: DType, axes: Iterable[Any], name: str | None = None) -> LabeledTensor:
    """Return a tensor that is fed, of some axes; a name alone is an axis of unknown size."""
    with name_scope(name, "lt_placeholder", []) as scope:
        named = Axes([Axis(axis, None) if isinstance(axis, str) else axis for axis in axes])
        return LabeledTensor(plain_placeholder(dtype, [axis.size for axis in named.values()], name=scope), named)


class ReshapeCoder:
    """A reshape of some axes that can be undone: `decode` brings back the axes that `encode` was given."""

    def __init__(self, existing_axis_names: Iterable[str], new_axes: Iterable[Any], name: str | None = None) -> None:
        self._old_names, self._new_axes, self._name = list(existing_axis_names), list(new_axes), name
        self._old_axes: list[Axis] | None = None

    def encode(self, labeled_tensor: Tensors) -> LabeledTensor:
        """Return the tensor with the new axes."""
        with name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            tensor = convert_to_labeled_tensor(labeled_tensor)
            encoded = reshape(tensor, self._old_names, self._new_axes, name=scope)
            axes = [tensor.axes[name] for name in self._old_names]
            if self._old_axes not in (None, axes):
                raise ValueError(f"input axes {axes!r} do not match axes from previous method call {self._old_axes!r}")
            self._old_axes = axes
            return encoded

    def decode(self, labeled_tensor: Tensors) -> LabeledTensor:
        """Return a tensor of the new axes with the old ones."""
        if self._old_axes is None:
            raise ValueError("decode called before encode")
        with name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            names = [axis if isinstance(axis, str) else as_axis(axis).name for axis in self._new_axes]
            return reshape(convert_to_labeled_tensor(labeled_tensor), names, self._old_axes, name=scope)


def _flipped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loss of logits and labels in this order, as it was before TensorFlow 1."""
    return lambda logits, labels, name=None: function(labels=labels, logits=logits, name=name)


NETS = {
    "relu": define_unary_op("relu", raw.Relu),
    "relu6": define_unary_op("relu6", raw.Relu6),
    "crelu": define_unary_op("crelu", crelu_v1),
    "elu": define_unary_op("elu", raw.Elu),
    "softplus": define_unary_op("softplus", raw.Softplus),
    "l2_loss": define_unary_op("l2_loss", raw.L2Loss),
    "softmax": define_unary_op("softmax", softmax),
    "log_softmax": define_unary_op("log_softmax", log_softmax),
    "sigmoid_cross_entropy_with_logits": define_binary_op(
        "sigmoid_cross_entropy_with_logits", _flipped(sigmoid_cross_entropy_with_logits)
    ),
    "softmax_cross_entropy_with_logits": define_binary_op(
        "softmax_cross_entropy_with_logits", _flipped(softmax_cross_entropy_with_logits_v1)
    ),
    "sparse_softmax_cross_entropy_with_logits": define_binary_op(
        "sparse_softmax_cross_entropy_with_logits", _flipped(sparse_softmax_cross_entropy_with_logits_v1)
    ),
}
"""The functions of `tf.contrib.labeled_tensor.nn`."""


def __getattr__(name: str) -> Callable[..., LabeledTensor]:
    try:
        return NETS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
