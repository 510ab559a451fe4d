"""What models of `tf.contrib.learn` are served through: functions that make placeholders and the features from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.parsing.examples import parse_example_v1


class InputFnOps(NamedTuple):
    """Features, labels, and the tensors that are fed when a model is served."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Return an input function that takes serialized examples, and parses them as `feature_spec` says."""

    def receive() -> InputFnOps:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example_v1(examples, feature_spec), None, {"examples": examples})

    return receive


def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Return an input function that takes each feature by a placeholder, of another batch size."""

    def receive() -> InputFnOps:
        found = {}
        for name, tensor in features.items():
            dims = tensor.shape.as_list()
            found[name] = placeholder(tensor.dtype, [default_batch_size, *dims[1:]], name=tensor.op.name)
        return InputFnOps(found, None, found)

    return receive
