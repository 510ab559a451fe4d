"""Fake quantisation behind the weights and activations of a graph's layers.

A layer is a convolution or a product with weights, its bias or folded normalisation, perhaps a sum with a shortcut, and
an activation. Weights are rounded in front of their users, activations behind the last node that an inference engine
computes in one go. Sums and products of what is rounded already are rounded too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.declare import raw
from ebbflow.tf1.graph_copies import reroute_ts
from ebbflow.tf1.quantize.fake import last_value_quantize, moving_average_quantize, quantization_step
from ebbflow.tf1.quantize.patterns import ANY, Match, OneOf, Pattern, matches
from ebbflow.tf1.quantize.unfused import NOT_OF_THE_NETWORK

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADD = "Add|AddV2"
_RELUS = ("Relu", "Relu6")
_ACTIVATIONS = ("Relu", "Relu6", "Identity")
_FAKE = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
_SUMS = ("Add", "AddV2", "Mul")
_PASSES_ON = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")


@dataclass
class Quantisation:
    """How to quantize a graph."""

    is_training: bool
    weight_bits: int = 8
    activation_bits: int = 8
    symmetric: bool = False
    quant_delay: int | None = None
    ema_decay: float = 0.999
    collection: Any = GraphKeys.GLOBAL_VARIABLES
    scope: str | None = None


class Inserter:
    """Puts rounding behind nodes of a graph; who takes a node's results is as it was in the beginning."""

    def __init__(self, graph: Any, how: Quantisation):
        self.graph = graph
        self.how = how
        self.users: dict[Any, dict[Any, None]] = {}
        for op in graph.get_operations():
            if not op.name.startswith(NOT_OF_THE_NETWORK):
                for tensor in op.inputs:
                    self.users.setdefault(tensor.op, {})[op] = None

    def weights(self, context: str, op: Any) -> None:
        """Round weights."""
        how = self.how
        users = list(self.users.get(op, ()))
        if how.scope and not all(user.name.startswith(how.scope) for user in users):
            return
        self._insert(last_value_quantize, context, "weights_quant", op, users, how.weight_bits, narrow_range=True)

    def activation(self, context: str, name: str, op: Any, users_in_scope: bool = False, **options: Any) -> None:
        """Round what a node gives."""
        how = self.how
        users = list(self.users.get(op, ()))
        if how.scope and not op.name.startswith(how.scope):
            return
        if how.scope and users_in_scope and not all(user.name.startswith(how.scope) for user in users):
            return
        options = {"ema_decay": how.ema_decay, **options}
        self._insert(moving_average_quantize, context, name, op, users, how.activation_bits, **options)

    def _insert(
        self, quantize: Any, context: str, name: str, op: Any, users: list[Any], bits: int, **options: Any
    ) -> None:
        how, inputs = self.how, op.outputs[0]
        prefix = f"{context}/{name}" if context else name
        open_scope = self.graph.get_name_scope()
        if open_scope:
            prefix = prefix.removeprefix(f"{open_scope}/")
        if _is_rounded(inputs):
            return
        options = {"symmetric": how.symmetric, **options}
        rounded = quantize(
            inputs,
            vars_collection=how.collection,
            name_prefix=prefix,
            is_training=how.is_training,
            num_bits=bits,
            **options,
        )
        if how.quant_delay and how.quant_delay > 0:
            begun = raw.GreaterEqual(quantization_step(), how.quant_delay, name=f"{prefix}/activate_quant")
            rounded = cond_v1(begun, lambda: rounded, lambda: inputs, name=f"{prefix}/delayed_quant")
        if users and reroute_ts([rounded], [inputs], can_modify=users) < len(users):
            raise ValueError(f"No inputs quantized for ops: [{', '.join(user.name for user in users)}]")


def _is_rounded(tensor: Any) -> bool:
    """Return whether fake quantisation follows, maybe behind nodes that only pass values on."""
    waiting = list(tensor.consumers())
    while waiting:
        op = waiting.pop()
        if op.type in _FAKE:
            return True
        if op.type in ("Reshape", "Identity"):
            waiting += [user for output in op.outputs for user in output.consumers()]
    return False


def quantize(graph: Any, how: Quantisation) -> None:
    """Put fake quantisation into a graph."""
    if how.scope and not how.scope.endswith("/"):
        how.scope += "/"
    insert, done = Inserter(graph, how), set()
    for found in _layers(graph):
        context = _scope_of(found.layer.name)
        if found.weights is not None:
            insert.weights(context, found.weights.op)
        outer = _scope_of(context) if found.bypass is not None else context
        if found.activation is not None:
            insert.activation(outer, "act_quant", found.activation, init_min=0.0)
            done.add(found.activation)
        if found.bypass is not None:
            insert.activation(context, "conv_quant", found.bias_add, users_in_scope=True)
            done.add(found.bias_add)
            if not any(user.type in _ACTIVATIONS for user in insert.users.get(found.bypass, ())):
                insert.activation(outer, "add_quant", found.bypass, users_in_scope=True)
                done.add(found.bypass)
        last = found.post_bypass
        if last is not None and not any(user.type in _RELUS for user in insert.users.get(last, ())):
            insert.activation(_scope_of(last.name), "post_activation_bypass_quant", last)
            done.add(last)
    insert = Inserter(graph, how)
    for op in list(graph.get_operations()):
        if _sums_rounded(op, done):
            insert.activation(op.name, f"activation_{op.type}_quant", op, symmetric=False)


def _scope_of(name: str) -> str:
    return name.rpartition("/")[0]


def _sums_rounded(op: Any, done: set[Any]) -> bool:
    """Return whether a node adds or multiplies what is rounded, and its result is not the input of a relu alone."""
    if op in done or op.type not in _SUMS:
        return False
    users = op.outputs[0].consumers()
    if len(users) == 1 and users[0].type in _RELUS:
        return False
    for tensor in op.inputs:
        source = tensor.op
        while source.type in _PASSES_ON:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or source.name.find("delayed_quant/Merge") > 0:
            return True
        if source.type in _SUMS and any(_sums_rounded(inner.op, done) for inner in source.inputs):
            return True
    return False


# --- where they are ---------------------------------------------------------------------------------------------------


@dataclass
class Layer:
    """The nodes of one layer that matter to quantisation."""

    layer: Any
    weights: Any
    activation: Any
    bypass: Any = None
    bias_add: Any = None
    post_bypass: Any = None


_VARIABLE = Pattern("Variable|VariableV2")
_PART = Pattern("Identity", _VARIABLE)
_WEIGHTS = OneOf(
    Pattern("Identity", OneOf(_PART, Pattern("ConcatV2", _PART, ANY, ANY), _VARIABLE), name="read"),
    Pattern("ReadVariableOp", name="resource"),
    Pattern("Mul", name="folded"),
)
_LAYER = Pattern(_LAYERS, ANY, _WEIGHTS, name="layer", ordered=False)
_OUT = OneOf(Pattern("BatchToSpaceND", _LAYER, ANY, ANY), _LAYER)
_SEPARABLE = Pattern(_LAYERS, _OUT, ANY, ordered=False)
_CORRECTED = Pattern(_ADD, Pattern("Mul", ANY, _OUT, ordered=False), ANY, ordered=False)
_FOLDED_BIAS = Pattern(_ADD, _CORRECTED, ANY, name="folded_bias", ordered=False)
_UPDATED = Pattern("Identity", _FOLDED_BIAS)
_BIAS = Pattern(f"{_ADD}|BiasAdd", _OUT, ANY, name="bias", ordered=False)
_BYPASS = Pattern(_ADD, OneOf(_BIAS, _FOLDED_BIAS, _UPDATED), ANY, name="bypass", ordered=False)
_ACTIVATION = Pattern("|".join(_ACTIVATIONS), OneOf(_BIAS, _FOLDED_BIAS, _UPDATED, _BYPASS, _LAYER), name="activation")
_POST_BYPASS = Pattern(_ADD, ANY, _ACTIVATION, name="post_bypass", ordered=False)


def _layers(graph: Any) -> Iterator[Layer]:
    """Return the layers, the largest of what fits each: first those with a sum behind the activation."""
    found: dict[Any, Layer] = {}
    for pattern, describe in (
        (_POST_BYPASS, _whole),
        (_ACTIVATION, _whole),
        (OneOf(_BIAS, _FOLDED_BIAS), lambda m: _plain(m, m.op("bias", "folded_bias"))),
        (_SEPARABLE, lambda m: _plain(m, m.op("layer"))),
    ):
        for match in matches(pattern, graph):
            layer = match.op("layer")
            if layer not in found and not (pattern is _ACTIVATION and _feeds_statistics(match.op("activation"))):
                found[layer] = describe(match)
    return iter(found.values())


def _whole(match: Match) -> Layer:
    parts = _plain(match, match.op("activation"))
    parts.bypass, parts.post_bypass = match.op("bypass"), match.op("post_bypass")
    parts.bias_add = match.op("bias", "folded_bias")
    return parts


def _plain(match: Match, last: Any) -> Layer:
    return Layer(match.op("layer"), _weights(match), last)


def _weights(match: Match) -> Any:
    return match.tensor("read", "resource", "folded")


def _feeds_statistics(activation: Any) -> bool:
    """Return whether an Identity only hands a layer's result to the normalisation that was folded away."""
    users = activation.outputs[0].consumers()
    return activation.type == "Identity" and len(users) == 1 and users[0].type in ("FusedBatchNorm", "FusedBatchNormV3")
