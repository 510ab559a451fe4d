"""What people call: a graph changed in place for training with, or evaluation of, quantisation.

Variables for the ranges are added to the global ones. Gradients must come afterwards, so that they go through the new
nodes; a graph that has an optimizer's updates already is refused.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core.registry import homes
from ebbflow.core.typing import Message
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.ops.state import optimizer_updates
from ebbflow.tf1.quantize.folding import fold_fused
from ebbflow.tf1.quantize.layers import Quantisation, quantize
from ebbflow.tf1.quantize.unfused import fold_unfused

_UPDATES = optimizer_updates.__name__.partition(".")[2]


def create_training_graph(input_graph: Message | None = None, quant_delay: int | None = 0) -> None:
    """Change a graph so that it trains with quantisation, from step `quant_delay` on."""
    _create(input_graph, Quantisation(is_training=True, quant_delay=quant_delay))


def create_eval_graph(input_graph: Message | None = None) -> None:
    """Change a graph so that it evaluates what was trained with quantisation."""
    _create(input_graph, Quantisation(is_training=False))


def experimental_create_training_graph(
    input_graph: Message | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Change a graph, or what is in one scope of it, so that it trains with quantisation.

    From step `freeze_bn_delay` on the moving averages of batch normalisation stay as they are, and are what is used.
    """
    how = Quantisation(True, weight_bits, activation_bits, symmetric, quant_delay, scope=scope)
    _create(input_graph, how, freeze_bn_delay)


def experimental_create_eval_graph(
    input_graph: Message | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """Change a graph, or what is in one scope of it, so that it evaluates what was trained with quantisation."""
    _create(input_graph, Quantisation(False, weight_bits, activation_bits, symmetric, quant_delay, scope=scope))


def _create(graph: Any, how: Quantisation, freeze_delay: int | None = None) -> None:
    graph = get_default_graph() if graph is None else graph
    trained = sorted({op.type for op in graph.get_operations() if homes().get(op.type) == _UPDATES})
    if trained:
        raise ValueError(
            f"Training op found in graph, exiting {trained}: quantize a graph before its gradients are made"
        )
    with graph.as_default():
        fold_batch_norms(graph, how.is_training, freeze_delay)
        quantize(graph, how)


def fold_batch_norms(graph: Any, is_training: bool, freeze_batch_norm_delay: int | None = None) -> None:
    """Fold batch normalisation into the layers in front of it."""
    fold_fused(graph, freeze_batch_norm_delay)
    fold_unfused(graph, is_training, freeze_batch_norm_delay)


def quantize_layers(
    graph: Any,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: Any = GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Put fake quantisation behind the weights and activations of a graph whose normalisation is folded."""
    options = (weight_bits, activation_bits, symmetric, quant_delay, ema_decay, vars_collection, scope)
    quantize(graph, Quantisation(is_training, *options))
