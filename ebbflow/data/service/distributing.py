"""`distribute`, `register_dataset`, `from_dataset_id`: datasets that a data service runs.

A dataset travels as the ops that make it again, its elements' type beside it. Knows datasets and how they are read.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.cluster.endpoint import CONNECT_SECONDS
from ebbflow.cluster.methods import Peer
from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.pipe import INFINITE, pipe_of
from ebbflow.data.service import ops
from ebbflow.data.traced import trace
from ebbflow.io import structures
from ebbflow.ops.declare import raw

COMPRESSIONS = ("AUTO", None, "SNAPPY")
TARGETS = ("AUTO", "ANY", "LOCAL")


class ShardingPolicy(enum.IntEnum):
    """How workers share a dataset."""

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class CrossTrainerCache:
    """Trainers that share what workers have made: each is known by an id."""

    def __init__(self, trainer_id: str):
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


_MODES = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}


def _policy(mode: Any) -> ShardingPolicy:
    found = mode if isinstance(mode, ShardingPolicy) else _MODES.get(mode) if isinstance(mode, str) else None
    if found is None:
        raise ValueError(
            "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
            f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {mode!r}.'
        )
    return found


def service_address(service: Any) -> str:
    """Return the address of a service that is given as `[protocol://]address`, or as both in a tuple."""
    if isinstance(service, tuple) and len(service) == 2 and all(isinstance(part, str) for part in service):
        service = "://".join(service)
    if isinstance(service, bytes):
        service = service.decode()
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    protocol, found, address = service.rpartition("://")
    if found and protocol != "grpc":
        raise errors.NotFoundError(
            None, None, f"No credentials factory has been registered for protocol {protocol}: service = {service!r}, "
            "a data service speaks grpc",
        )  # fmt: skip
    return address


def _check(job_name: Any, compression: Any, target_workers: Any, consumer_index: Any, num_consumers: Any) -> None:
    if job_name is not None:
        if not isinstance(job_name, (str, bytes)):
            raise ValueError(
                f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
            )
        if not job_name:
            raise ValueError("`job_name` must not be empty")
    if compression not in COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {[*COMPRESSIONS]}.")
    if target_workers not in TARGETS:
        raise ValueError(f"Invalid `target_workers` argument: {target_workers}. Must be one of {[*TARGETS]}.")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. "
            f"consumer_index={consumer_index}, num_consumers={num_consumers}"
        )
    if num_consumers is not None and job_name is None:
        raise ValueError(f"`job_name` must be set when setting `num_consumers`. num_consumers={num_consumers}")


def register_dataset(
    service: str, dataset: DatasetV2, compression: str | None = "AUTO", dataset_id: str | None = None
) -> Tensor:
    """Have a service know a dataset; return the id by which `from_dataset_id` finds it."""
    _check(None, compression, "AUTO", None, None)
    policy = dataset.options().experimental_external_state_policy or ExternalStatePolicy.WARN
    spec = structures.encode_structure(dataset.element_spec).SerializeToString()
    return ops.RegisterDatasetV2(
        dataset._variant_tensor, convert(service_address(service)), convert("grpc"), external_state_policy=policy.value,
        element_spec=spec, requested_dataset_id=dataset_id or "",
    )  # fmt: skip


def _spec_at(service: str, name: Tensor) -> Nested:
    if not isinstance(name, EagerTensor):
        raise ValueError("`element_spec` must be given where `dataset_id` has no value yet: in a graph or a function")
    peer = Peer(service_address(service))
    try:
        _, arrays = peer.ask_patiently(CONNECT_SECONDS, "dataset", name=ops.text_of(name.numpy()))
    finally:
        peer.close()
    return structures.decode_proto(messages.StructuredValue.FromString(arrays[0][1]))


def from_dataset_id(
    processing_mode: ShardingPolicy | str,
    service: str,
    dataset_id: TensorLike,
    element_spec: Nested = None,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> DatasetV2:
    """Return the dataset that a service knows by an id, as its workers give it. Datasets share no job."""
    mode = _policy(processing_mode)
    _check(job_name, "AUTO", target_workers, consumer_index, num_consumers)
    number = isinstance(dataset_id, (int, np.integer))
    known = convert(str(dataset_id) if number else dataset_id, dtypes.string, name="dataset_id")
    spec = _spec_at(service, known) if element_spec is None else element_spec
    job = "" if job_name is None else raw.StringJoin([convert("dataset_id="), known, convert(job_name)], separator="/")
    return _as_given(
        mode, service, known, spec, job, (consumer_index, num_consumers, max_outstanding_requests),
        data_transfer_protocol, cross_trainer_cache, target_workers,
    )  # fmt: skip


def _as_given(
    mode: ShardingPolicy,
    service: str,
    known: Tensor,
    spec: Nested,
    job: TensorLike,
    counts: tuple[int | None, ...],
    data_transfer_protocol: str | None,
    cross_trainer_cache: CrossTrainerCache | None,
    target_workers: str,
) -> DatasetV2:
    """Return the dataset of an id as the workers of a service give it to those who share a job."""
    numbers = [convert(-1 if x is None else x, dtypes.int64) for x in counts]
    read = trace(lambda compressed: compressed, [TensorSpec([], dtypes.variant)], "uncompress")
    return DatasetV2._make(
        ops.DataServiceDatasetV4, known, convert(ops.mode_bytes(mode)), convert(service_address(service)),
        convert("grpc"), convert(job), *numbers, ops.DummyIterationCounter(), spec=spec,
        kind="_DataServiceDatasetV2",
        data_transfer_protocol=data_transfer_protocol or "", target_workers=target_workers, uncompress_fn=read,
        cross_trainer_cache_options=ops.trainer_bytes(cross_trainer_cache.trainer_id) if cross_trainer_cache else b"",
    )  # fmt: skip


def distribute(
    processing_mode: ShardingPolicy | str,
    service: str,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str | None = "AUTO",
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Callable[[DatasetV2], DatasetV2]:
    """Return a transformation: everything before it is run by the workers of a service."""
    mode = _policy(processing_mode)
    _check(job_name, compression, target_workers, consumer_index, num_consumers)

    def apply(dataset: DatasetV2) -> DatasetV2:
        held = dataset._variant_tensor
        finite = isinstance(held, EagerTensor) and pipe_of(held._array).size != INFINITE
        if cross_trainer_cache is not None and finite:
            raise errors.InvalidArgumentError(
                None, None, "Cross-trainer caching requires the input dataset to be infinite: `repeat` it"
            )
        found = register_dataset(service, dataset, compression)
        return _as_given(
            mode, service, found, dataset.element_spec, job_name or "",
            (consumer_index, num_consumers, max_outstanding_requests), data_transfer_protocol, cross_trainer_cache,
            target_workers,
        )  # fmt: skip

    return apply


def distribute_refreshed(
    processing_mode: ShardingPolicy | str,
    service: str,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    task_refresh_interval_hint_ms: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str | None = "AUTO",
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Callable[[DatasetV2], DatasetV2]:
    """`distribute`, as TensorFlow's own tests call it: how often workers are looked for is no wish here."""
    return distribute(
        processing_mode, service, job_name, consumer_index, num_consumers, max_outstanding_requests,
        data_transfer_protocol, compression, cross_trainer_cache, target_workers,
    )  # fmt: skip
