"""Sampling while data are read: `resample_at_rate` and its kin of `tf.contrib.training`.

Rows are repeated or dropped at random (`resample_at_rate`, `weighted_resample`), or accepted into batches by a
probability (`rejection_sample`) or so that classes come in given proportions (`stratified_sample`). The last two make
queues, whose runners must be started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.scopes import with_dependencies
from ebbflow.ops.arrays.indexing import gather, one_hot
from ebbflow.ops.arrays.padding import repeat
from ebbflow.ops.arrays.shaping import expand_dims, squeeze
from ebbflow.ops.checks.asserts import (
    Assert,
    assert_equal_v1,
    assert_less_equal_v1,
    assert_less_v1,
    assert_non_negative_v1,
    assert_positive_v1,
)
from ebbflow.ops.checks.printing import Print
from ebbflow.ops.checks.type_asserts import assert_integer_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.random.stateful import random_poisson_v1, random_uniform
from ebbflow.ops.reduce.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from ebbflow.state.functions import assign_add
from ebbflow.state.variable_scope import get_local_variable, variable_scope
from ebbflow.state.variables import VariableV1
from ebbflow.tf1.input_batches import batch, maybe_batch
from ebbflow.train.moving_averages import assign_moving_average

CLASS_START = 10
"""How often each class counts as seen before any was, so that proportions are never of nothing."""


def resample_at_rate(
    inputs: Sequence[Any],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """Return the inputs with each row repeated a random number of times, `rates` on average."""
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rate = raw.Reshape(convert(rates, name="rates"), [-1])
        counts = cast(random_poisson_v1(rate, [], rate.dtype, seed=seed), dtypes.int32)
        rows = repeat(raw.Range(0, raw.Shape(counts)[0], 1), counts)
        if not back_prop:
            rows = raw.StopGradient(rows)
        return [gather(x, rows) for x in inputs]


def weighted_resample(
    inputs: Sequence[Any],
    weights: TensorLike,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Return the inputs with rows repeated at rates proportional to `weights`, `overall_rate` on average, and the rate
    of each row that is given. What an average weight is, is learned as batches pass.
    """
    with name_scope(scope, "weighted_resample", list(inputs)) as inner:
        weights = convert(weights)
        with variable_scope(scope, "estimate_mean", list(inputs)):
            start = cast(0, weights.dtype)
            average = get_local_variable("estimated_mean", initializer=start, dtype=weights.dtype)
            mean = assign_moving_average(average, reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        given, *rows = resample_at_rate([rates, *inputs], rates, scope=inner, seed=seed)
        return rows, given


# --- batches of what is accepted --------------------------------------------------------------------------------------


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[Tensor]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Return batches of rows, each row accepted with the probability that `accept_prob_fn` gives for it."""
    with variable_scope(name, "rejection_sample", list(tensors)):
        row = [convert(x) for x in tensors]
        if enqueue_many:
            for x in row:
                x.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(row[0].shape[:1])
            row = _one_by_one(row, prebatch_threads, prebatch_capacity)
        probability = convert(accept_prob_fn(row))
        if runtime_checks:
            checks = [assert_less_equal_v1(0.0, probability), assert_less_equal_v1(probability, 1.0)]
            probability = _after(checks, probability)
        keep = raw.Less(random_uniform([]), probability)
        found = maybe_batch(row, keep_input=keep, batch_size=batch_size, num_threads=queue_threads)
        return [found] if isinstance(found, Tensor) else found


def stratified_sample(
    tensors: Sequence[Any],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: int,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Return batches of rows and their labels in which classes come in the proportions `target_probs`.

    `init_probs` are those of the data; where they are not given they are learned as rows pass.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        rows, labels = [convert(x) for x in tensors], convert(labels)
        wanted = convert(target_probs, dtypes.float32)
        if not enqueue_many:
            rows, labels = [expand_dims(x, 0) for x in rows], expand_dims(labels, 0)
        if init_probs is None:
            wanted.shape.assert_is_fully_defined()
            there = _seen_so_far(labels, wanted.shape.num_elements() or 0)
        else:
            there = convert(init_probs, dtypes.float32)
        rows, labels, there, wanted = _checked(rows, labels, there, wanted)
        accepted = _told_if_wasteful(_acceptance(there, wanted), there)
        *row, label = _one_by_one([*rows, labels], threads_per_queue, queue_capacity)
        keep = raw.Less(random_uniform([]), gather(accepted, label))
        found = maybe_batch([*row, label], keep_input=keep, batch_size=batch_size, num_threads=threads_per_queue)
        return found[:-1], found[-1]


def _one_by_one(rows: Sequence[Any], threads: int, capacity: int) -> list[Tensor]:
    """Return single rows of batches, by way of a queue."""
    found = batch(list(rows), batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True)
    return [squeeze(x, [0]) for x in ([found] if isinstance(found, Tensor) else found)]


def _seen_so_far(labels: Any, classes: int) -> Tensor:
    start = [CLASS_START] * classes
    counts = VariableV1(start, trainable=False, name="class_count", dtype=dtypes.int64)
    now = assign_add(counts, reduce_sum(one_hot(labels, classes, dtype=dtypes.int64), 0)) + 0
    return cast(now / reduce_sum(now), dtypes.float32)


def _checked(rows: list[Any], labels: Any, there: Any, wanted: Any) -> tuple[list[Any], Any, Any, Any]:
    """Return all of it behind checks: proportions that are such, labels and rows that belong together."""
    checked = []
    for share in (there, wanted):
        share.shape.assert_is_fully_defined()
        share.shape.assert_has_rank(1)
        total = reduce_sum(share)
        sums_to_one = [assert_less_v1(total, 1.0 + 1e-6), assert_less_v1(1.0 - 1e-6, total)]
        checked.append(_after([assert_non_negative_v1(share), *sums_to_one], share))
    there, wanted = checked
    classes = wanted.shape.num_elements()
    if there.shape.num_elements() != classes:
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    for x in rows:
        x.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(labels.shape[:1])
    count = raw.Shape(labels)[0]
    some = assert_positive_v1(count)
    rows = [_after([some, assert_equal_v1(raw.Shape(x)[0], count)], x) for x in rows]
    in_range = [assert_non_negative_v1(labels), assert_less_v1(labels, cast(classes, labels.dtype))]
    labels = _after([some, assert_integer_v1(labels), *in_range], labels)
    possible = reduce_all(raw.LogicalOr(raw.NotEqual(there, 0.0), raw.Equal(wanted, 0.0)))
    told = "All classes with zero initial probability must also have zero target probability: "
    return rows, labels, _after([Assert(possible, [told, there, wanted])], there), wanted


def _after(checks: Sequence[Any], value: Any) -> Any:
    return with_dependencies([c for c in checks if c is not None], value)


def _acceptance(there: Any, wanted: Any) -> Tensor:
    """Return with which probability to accept each class: as large as can be, in the proportions that are wanted."""
    ratios = wanted / there
    ratios = where(raw.IsNan(ratios), raw.ZerosLike(ratios), ratios)
    return ratios / reduce_max(ratios)


def _told_if_wasteful(accepted: Any, there: Any) -> Any:
    rejected = reduce_sum((1.0 - accepted) * there)
    message = "Proportion of examples rejected by sampler is high."
    loud = cond_v1(raw.Less(rejected, 0.5), lambda: accepted, lambda: Print(accepted, [accepted], message, first_n=10))
    return loud
