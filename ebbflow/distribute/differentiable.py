"""Gradients of what replicas bring together.

A total is made of the values of all replicas, and all of them go on with it; so the gradient of a replica's value is
that of everybody's use of the total. Each replica takes its own gradient, and they meet in it as they met before:
gradients of sums are summed, those of means averaged, those of values one after the other summed and cut apart. Knows
the context that brings together; `replica.py` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.tensor import Tensor
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.eager.custom_gradient import custom_gradient
from ebbflow.ops.declare import raw


def reduced(replica: Any, op: ReduceOp, values: Sequence[Any], totals: Sequence[Any]) -> list[Any]:
    """Return the totals of values, as results whose gradients are brought together in the same way."""
    places = [i for i, value in enumerate(values) if _has_gradient(value)]
    if not places:
        return list(totals)

    @custom_gradient
    def passed_on(*given: Any) -> Any:
        def gradient(*grads: Any) -> list[Any]:
            return [*replica._all_reduce(op, list(grads)), *[None] * len(grads)]

        return list(given[len(places) :]), gradient

    made = passed_on(*[values[i] for i in places], *[totals[i] for i in places])
    result = list(totals)
    for i, total in zip(places, made, strict=True):
        result[i] = total
    return result


def gathered(replica: Any, value: Any, axis: int, whole: Any) -> Any:
    """Return the values of all replicas, as a result whose gradient comes back to each from all of them."""
    if not _has_gradient(value):
        return whole

    @custom_gradient
    def passed_on(value: Any, whole: Any) -> Any:
        def gradient(grad: Any) -> list[Any]:
            (total,) = replica._all_reduce(ReduceOp.SUM, [grad])
            own = raw.Shape(value)[axis]
            lengths = replica._all_gather(raw.ExpandDims(own, 0), 0)
            begin = raw.Sum(lengths[: replica.replica_id_in_sync_group], 0)
            return [raw.GatherV2(total, raw.Range(begin, begin + own, 1), axis), None]

        return whole, gradient

    return passed_on(value, whole)


def _has_gradient(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.dtype.is_floating or value.dtype.is_complex)
