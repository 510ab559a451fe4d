"""Nodes that round a tensor as quantisation would, with variables for the range they round in.

The range of weights is what was seen last, that of activations a moving average. In a graph for evaluation the range is
only read. Also the count of steps that delays wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import get_default_graph
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import maximum, minimum
from ebbflow.ops.quantization.fake import (
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_per_channel,
)
from ebbflow.ops.reduce.reductions import reduce_max, reduce_min
from ebbflow.state.base import VariableAggregation
from ebbflow.state.functions import assign, assign_add
from ebbflow.state.initializers import Constant, Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.train.moving_averages import assign_moving_average


def fixed_quantize(inputs: Any, init_min: float = -6.0, init_max: float = 6.0, scope: Any = None) -> Any:
    """Return `inputs` rounded in a range that stays."""
    with name_scope(scope, "FixedQuantize", [inputs]):
        return raw.FakeQuantWithMinMaxArgs(inputs, min=init_min, max=init_max)


def last_value_quantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: Any = None,
    name_prefix: str = "LastValueQuant",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Return `inputs` rounded in the range of the values that were seen last."""

    def follow(variable: Any, seen: Any, end: str) -> Any:
        return assign(variable, seen, name=f"Assign{end}Last")

    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        span = _Range(inputs, per_channel, init_min, init_max, vars_collection)
        return span.round(follow if is_training else None, num_bits, narrow_range, symmetric)


def moving_average_quantize(
    inputs: Any,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: Any = GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Return `inputs` rounded in a range that follows theirs slowly."""

    def follow(variable: Any, seen: Any, end: str) -> Any:
        return assign_moving_average(variable, seen, ema_decay, name=f"Assign{end}Ema")

    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        span = _Range(inputs, per_channel, init_min, init_max, vars_collection)
        return span.round(follow if is_training else None, num_bits, narrow_range, symmetric)


class _Range:
    """The variables `min` and `max` of one tensor, in the variable scope that is open."""

    def __init__(self, inputs: Any, per_channel: bool, low: float, high: float, collection: Any):
        self.inputs = inputs
        self.per_channel = per_channel
        rank = inputs.shape.rank
        if per_channel and rank not in (1, 2, 4):
            raise ValueError(f"inputs must have rank 1, 2 or 4 to be quantized per channel, got shape {inputs.shape}")
        shape = [inputs.shape[-1]] if per_channel else []
        collections = [collection] if collection else []
        collections.append(GraphKeys.GLOBAL_VARIABLES)
        self.low, self.high = (
            get_variable(
                name,
                shape=shape,
                initializer=Constant(start),
                collections=list(collections),
                trainable=False,
                aggregation=VariableAggregation.MEAN,
            )
            for name, start in (("min", low), ("max", high))
        )

    def round(self, follow: Callable[..., Any] | None, num_bits: int, narrow_range: bool, symmetric: bool) -> Tensor:
        """Return the inputs rounded; the range moves first, as `follow` says, or stays where that is None."""
        low, high = self.low, self.high
        if follow is not None:
            seen_low, seen_high = self._seen(num_bits, narrow_range, symmetric)
            low, high = follow(low, seen_low, "Min"), follow(high, seen_high, "Max")
        fake = fake_quant_with_min_max_vars_per_channel if self.per_channel else fake_quant_with_min_max_vars
        return fake(self.inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)

    def _seen(self, num_bits: int, narrow_range: bool, symmetric: bool) -> tuple[Any, Any]:
        """Return the ends of the inputs' range, with zero between them, or as far apart on both sides."""
        low = high = self.inputs
        rank = self.inputs.shape.rank
        if not self.per_channel or rank > 1:
            axes = list(range(rank - 1)) if self.per_channel else None
            low = reduce_min(self.inputs, axis=axes, name="BatchMin")
            high = reduce_max(self.inputs, axis=axes, name="BatchMax")
        if not symmetric:
            return minimum(low, 0.0), maximum(high, 0.0)
        steps = 1 << num_bits
        ratio = -1 if narrow_range else -(steps - 2) / steps  # without `narrow_range` there is one more step below zero
        return minimum(low, high / ratio), maximum(high, low * ratio)


STEP = "fake_quantization_step"


def quantization_step() -> Any:
    """Return the number of the step, which counts up once each time the graph runs."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        count = get_variable(
            STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(f"{count.op.name}/"):
            return identity(assign_add(count, 1))
