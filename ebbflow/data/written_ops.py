"""Ops that graphs written by TensorFlow hold around their datasets, and that the classes of this room do not make.

Some only tune or measure, and hand on what they are given; some hold what we keep elsewhere (an iterator with what
deletes it, the seeds of a shuffled dataset); the rest are others in another form.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.data import iterator_ops, mapping, selecting
from ebbflow.data.pipe import NOTED, TYPED, Element, dataset_op, made, pipe_of
from ebbflow.data.random_words import Seeds, seeds_of
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed, held

# --- what only tunes or measures --------------------------------------------------------------------------------------

MaxIntraOpParallelismDataset = dataset_op(
    f"MaxIntraOpParallelismDataset(input_dataset:variant, max_intra_op_parallelism:int64) -> (handle:variant) | {TYPED}"
)
PrivateThreadPoolDataset = dataset_op(
    f"PrivateThreadPoolDataset(input_dataset:variant, num_threads:int64) -> (handle:variant) | {TYPED}"
)
NonSerializableDataset = dataset_op(f"NonSerializableDataset(input_dataset:variant) -> (handle:variant) | {TYPED}")
FinalizeDataset = dataset_op(
    f"FinalizeDataset(input_dataset:variant) -> (handle:variant) | has_captured_ref: bool = false; {TYPED}"
)
for _declared in (MaxIntraOpParallelismDataset, PrivateThreadPoolDataset, FinalizeDataset):
    _declared.kernel(lambda xp, input_dataset, *wishes: input_dataset)


def passing_on(input_dataset: np.ndarray) -> np.ndarray:
    """Return a stage that changes nothing: a pipe of its own, so that others see it."""
    source = pipe_of(input_dataset)
    return made(source.start, source.size, source, source.rows, source.by_column)


NonSerializableDataset.kernel(lambda xp, input_dataset: passing_on(input_dataset))

WrapDatasetVariant = dataset_op("WrapDatasetVariant(input_handle:variant) -> (output_handle:variant)")
UnwrapDatasetVariant = dataset_op("UnwrapDatasetVariant(input_handle:variant) -> (output_handle:variant)")
for _declared in (WrapDatasetVariant, UnwrapDatasetVariant):
    _declared.kernel(lambda xp, input_handle: input_handle)

SleepDataset = dataset_op(
    f"SleepDataset(input_dataset:variant, sleep_microseconds:int64) -> (handle:variant) | {TYPED}"
)


@SleepDataset.kernel
def _(xp: Any, input_dataset: Any, sleep_microseconds: Any) -> Any:
    source, seconds = pipe_of(input_dataset), max(0, int(sleep_microseconds)) / 1e6

    def start() -> Iterator[Element]:
        return map(_slept, source.start(), itertools.repeat(seconds))

    return made(start, source.size, source, source.rows)


def _slept(element: Element, seconds: float) -> Element:
    time.sleep(seconds)
    return element


# --- iterators, with what deletes them --------------------------------------------------------------------------------

AnonymousIterator = op(
    f"AnonymousIterator() -> (handle:resource) | {TYPED} | stateful",
    shape=scalar,
    kernel=iterator_ops.AnonymousIteratorV3.kernel_fn,
    gradient=FLAT,
)
AnonymousIteratorV2 = op(
    f"AnonymousIteratorV2() -> (handle:resource, deleter:variant) | {TYPED} | stateful",
    shape=lambda **attrs: [(), ()],
    gradient=FLAT,
)


@AnonymousIteratorV2.kernel
def _(xp: Any, *, output_types: Any, output_shapes: Any) -> Any:
    make = iterator_ops.AnonymousIteratorV3.kernel_fn
    return make(xp, output_types=output_types, output_shapes=output_shapes), boxed(None)


DeleteIterator = op(
    "DeleteIterator(handle:resource, deleter:variant) -> () | stateful", shape=lambda handle, deleter: [], gradient=FLAT
)
DeleteSeedGenerator = op(
    "DeleteSeedGenerator(handle:resource, deleter:variant) -> () | stateful",
    shape=lambda handle, deleter: [],
    gradient=FLAT,
)
for _deleting in (DeleteIterator, DeleteSeedGenerator):
    _deleting.kernel(lambda xp, handle, deleter: ())  # it goes when nobody holds it


# --- seeds ------------------------------------------------------------------------------------------------------------

AnonymousSeedGenerator = op(
    "AnonymousSeedGenerator(seed:int64, seed2:int64, reshuffle:bool) -> (handle:resource, deleter:variant) | stateful",
    shape=lambda *given: [(), ()],
    gradient=FLAT,
)
ShuffleDatasetV2 = dataset_op(
    "ShuffleDatasetV2(input_dataset:variant, buffer_size:int64, seed_generator:resource) -> (handle:variant) | "
    f"{NOTED} | stateful"
)
ShuffleAndRepeatDatasetV2 = dataset_op(
    "ShuffleAndRepeatDatasetV2(input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64, count:int64, "
    f"seed_generator:resource) -> (handle:variant) | reshuffle_each_iteration: bool = true; {NOTED} | stateful"
)


@AnonymousSeedGenerator.kernel
def _(xp: Any, seed: Any, seed2: Any, reshuffle: Any) -> Any:
    return boxed(seeds_of(int(seed), int(seed2), bool(reshuffle))), boxed(None)


@ShuffleDatasetV2.kernel
def _(xp: Any, input_dataset: Any, buffer_size: Any, seed_generator: Any) -> Any:
    seeds = held(seed_generator)
    if not isinstance(seeds, Seeds):
        raise invalid(f"seed_generator is not of a generator of seeds, but of {type(seeds).__name__}")
    return selecting.in_random_order(pipe_of(input_dataset), int(buffer_size), seeds)


@ShuffleAndRepeatDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any, seed_generator: Any,
    *, reshuffle_each_iteration: Any,
) -> Any:  # fmt: skip
    given = (input_dataset, buffer_size, seed, seed2, count)
    return selecting.ShuffleAndRepeatDataset.kernel_fn(xp, *given, reshuffle_each_iteration=reshuffle_each_iteration)


# --- others in another form -------------------------------------------------------------------------------------------

_ARGS = "input_dataset:variant, other_arguments:list(Targuments)"
_SURE = 'deterministic: string = "default"; Targuments: list(type) >= 0; '
ParallelFilterDataset = dataset_op(
    f"ParallelFilterDataset({_ARGS}, num_parallel_calls:int64) -> (handle:variant) | predicate: func; {_SURE}{NOTED}"
)
LegacyParallelInterleaveDatasetV2 = dataset_op(
    f"LegacyParallelInterleaveDatasetV2({_ARGS}, cycle_length:int64, block_length:int64, buffer_output_elements:int64, "
    f"prefetch_input_elements:int64) -> (handle:variant) | f: func; {_SURE}{NOTED}"
)


@ParallelFilterDataset.kernel
def _(xp: Any, input_dataset: Any, other_arguments: Any, num_parallel_calls: Any, *, predicate: Any, run: Any) -> Any:
    return mapping.FilterDataset.kernel_fn(xp, input_dataset, other_arguments, predicate=predicate, run=run)


@LegacyParallelInterleaveDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle: Any, block: Any, output: Any, inputs: Any,
    *, f: Any, deterministic: Any, run: Any,
) -> Any:  # fmt: skip
    given = (input_dataset, other_arguments, cycle, block, output, inputs, np.asarray(cycle))
    return mapping.ParallelInterleaveDatasetV4.kernel_fn(xp, *given, f=f, deterministic=deterministic, run=run)
