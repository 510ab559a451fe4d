"""Ops of datasets that only older graphs have: each is one of the others in another form.

TensorFlow 1.15 and the first 2.x wrote them; the classes of this room do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.data import batching, iterator_ops, mapping
from ebbflow.data.pipe import NOTED, TYPED, dataset_op
from ebbflow.ops.declare import FLAT, scalar

_ARGS = "input_dataset:variant, other_arguments:list(Targuments)"
_MORE = "f: func; Targuments: list(type) >= 0; "
_TURNS = "cycle_length:int64, block_length:int64"

# --- what only tunes --------------------------------------------------------------------------------------------------

OptimizeDataset = dataset_op(
    f"OptimizeDataset(input_dataset:variant, optimizations:string) -> (handle:variant) | {TYPED}; "
    "optimization_configs: list(string) = []"
)
OptimizeDatasetV2 = dataset_op(
    "OptimizeDatasetV2(input_dataset:variant, optimizations_enabled:string, optimizations_disabled:string, "
    f"optimizations_default:string) -> (handle:variant) | {TYPED}; optimization_configs: list(string) = []"
)
ModelDataset = dataset_op(
    "ModelDataset(input_dataset:variant) -> (handle:variant) | algorithm: int = 0; cpu_budget: int = 0; "
    f"ram_budget: int = 0; {TYPED}"
)
for _declared in (OptimizeDataset, OptimizeDatasetV2, ModelDataset):
    _declared.kernel(lambda xp, input_dataset, *wishes: input_dataset)


# --- batches ----------------------------------------------------------------------------------------------------------

BatchDataset = dataset_op(f"BatchDataset(input_dataset:variant, batch_size:int64) -> (handle:variant) | {NOTED}")
PaddedBatchDataset = dataset_op(
    "PaddedBatchDataset(input_dataset:variant, batch_size:int64, padded_shapes:N*int64, "
    "padding_values:list(Toutput_types)) -> (handle:variant) | Toutput_types: list(type) >= 1; output_shapes: "
    'list(shape) >= 1; N: int >= 1; metadata: string = ""'
)
MapAndBatchDataset = dataset_op(
    f"MapAndBatchDataset({_ARGS}, batch_size:int64, num_parallel_calls:int64, drop_remainder:bool) -> (handle:variant) "
    f'| {_MORE}{TYPED}; preserve_cardinality: bool = false; metadata: string = ""'
)
_NOT_DROPPED = np.array(False)


@BatchDataset.kernel
def _(xp: Any, input_dataset: Any, batch_size: Any) -> Any:
    return batching.BatchDatasetV2.kernel_fn(xp, input_dataset, batch_size, _NOT_DROPPED)


@PaddedBatchDataset.kernel
def _(xp: Any, input_dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any) -> Any:
    given = (input_dataset, batch_size, padded_shapes, padding_values, _NOT_DROPPED)
    return batching.PaddedBatchDatasetV2.kernel_fn(xp, *given)


@MapAndBatchDataset.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, batch_size: Any, num_parallel_calls: Any, drop_remainder: Any,
    *, f: Any, run: Any,
) -> Any:  # fmt: skip
    mapped = mapping.ParallelMapDatasetV2.kernel_fn(
        xp, input_dataset, other_arguments, num_parallel_calls, f=f, deterministic="default", run=run
    )
    return batching.BatchDatasetV2.kernel_fn(xp, mapped, batch_size, drop_remainder)


# --- side by side -----------------------------------------------------------------------------------------------------

ParallelMapDataset = dataset_op(
    f"ParallelMapDataset({_ARGS}, num_parallel_calls:int32) -> (handle:variant) | {_MORE}{TYPED}; "
    "use_inter_op_parallelism: bool = true; sloppy: bool = false; preserve_cardinality: bool = false; "
    'metadata: string = ""'
)
ParallelInterleaveDataset = dataset_op(
    f"ParallelInterleaveDataset({_ARGS}, {_TURNS}, sloppy:bool, buffer_output_elements:int64, "
    f"prefetch_input_elements:int64) -> (handle:variant) | {_MORE}{NOTED}"
)
ParallelInterleaveDatasetV2 = dataset_op(
    f"ParallelInterleaveDatasetV2({_ARGS}, {_TURNS}, num_parallel_calls:int64) -> (handle:variant) | {_MORE}{TYPED}; "
    'sloppy: bool = false; metadata: string = ""'
)
ParallelInterleaveDatasetV3 = dataset_op(
    f"ParallelInterleaveDatasetV3({_ARGS}, {_TURNS}, num_parallel_calls:int64) -> (handle:variant) | f: func; "
    f'deterministic: string = "default"; Targuments: list(type) >= 0; {NOTED}'
)
_LEFT_TO_US = np.array(-1)


@ParallelMapDataset.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, num_parallel_calls: Any, *, f: Any, sloppy: Any, run: Any
) -> Any:
    order = "false" if sloppy else "default"
    return mapping.ParallelMapDatasetV2.kernel_fn(
        xp, input_dataset, other_arguments, num_parallel_calls, f=f, deterministic=order, run=run
    )


@ParallelInterleaveDatasetV3.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle: Any, block: Any, calls: Any, *, f: Any,
    deterministic: Any, run: Any,
) -> Any:  # fmt: skip
    given = (input_dataset, other_arguments, cycle, block, _LEFT_TO_US, _LEFT_TO_US, calls)
    return mapping.ParallelInterleaveDatasetV4.kernel_fn(xp, *given, f=f, deterministic=deterministic, run=run)


@ParallelInterleaveDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle: Any, block: Any, calls: Any, *, f: Any, sloppy: Any,
    run: Any,
) -> Any:  # fmt: skip
    given = (input_dataset, other_arguments, cycle, block, _LEFT_TO_US, _LEFT_TO_US, calls)
    return mapping.ParallelInterleaveDatasetV4.kernel_fn(xp, *given, f=f, deterministic=_order(sloppy), run=run)


def _order(sloppy: Any) -> str:
    """Return the later ops' word for whether elements keep their order."""
    return "false" if sloppy else "default"


@ParallelInterleaveDataset.kernel
def _(
    xp: Any, input_dataset: Any, other_arguments: Any, cycle: Any, block: Any, sloppy: Any, output: Any, inputs: Any,
    *, f: Any, run: Any,
) -> Any:  # fmt: skip
    given = (input_dataset, other_arguments, cycle, block, output, inputs, cycle)
    return mapping.ParallelInterleaveDatasetV4.kernel_fn(xp, *given, f=f, deterministic=_order(sloppy), run=run)


# --- iterators --------------------------------------------------------------------------------------------------------

Iterator = op(
    f"Iterator() -> (handle:resource) | shared_name: string; container: string; {TYPED} | stateful",
    shape=scalar,
    gradient=FLAT,
    kernel=iterator_ops.IteratorV2.kernel_fn,
)
IteratorFromStringHandle = op(
    "IteratorFromStringHandle(string_handle:string) -> (resource_handle:resource) | output_types: list(type) >= 0 = "
    "[]; output_shapes: list(shape) >= 0 = [] | stateful",
    shape=scalar,
    gradient=FLAT,
    kernel=iterator_ops.IteratorFromStringHandleV2.kernel_fn,
)
