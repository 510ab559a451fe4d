"""How values of several replicas, or along an axis, become one."""

from __future__ import annotations

import enum
from typing import Any

from ebbflow.state.base import VariableAggregation


class ReduceOp(enum.Enum):
    """Sum or mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """Return what a variable's aggregation means for values."""
        known = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in known:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to `tf.distribute.ReduceOp`"
            )
        return known[aggregation]


def reduce_op_named(reduce_op: Any) -> ReduceOp:
    """Return a ReduceOp from one, or from its name in any letters.

    >>> reduce_op_named("sum")
    <ReduceOp.SUM: 'SUM'>
    """
    if isinstance(reduce_op, ReduceOp):
        return reduce_op
    if not isinstance(reduce_op, str):
        raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {reduce_op!r}")
    if reduce_op.upper() not in ReduceOp.__members__:
        raise ValueError(f"{reduce_op!r} is not a valid ReduceOp: it is SUM or MEAN")
    return ReduceOp[reduce_op.upper()]
