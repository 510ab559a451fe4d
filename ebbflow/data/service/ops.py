"""The ops of a data service: a dataset made known to it, and the dataset that its workers give.

They stand in graphs, functions and other datasets as any op does. Knows pipes and how a service is read.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.cluster.endpoint import CONNECT_SECONDS
from ebbflow.cluster.methods import Peer
from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.data.calls import Element
from ebbflow.data.fingerprint import DatasetFingerprint
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.pipe import INFINITE, TYPED, UNKNOWN, dataset_op, made
from ebbflow.data.service.calls import text_array
from ebbflow.data.service.reading import Reader, rounds
from ebbflow.data.written_graphs import graph_of
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

POLICIES = ("OFF", "DYNAMIC", "FILE", "DATA", "FILE_OR_DATA", "HINT")
"""How workers share a dataset, each where its number says."""

DummyIterationCounter = op(
    "DummyIterationCounter() -> (handle:resource) | stateful",
    shape=scalar,
    kernel=lambda xp: boxed(None),
    gradient=FLAT,
    facts="copyable",
)
RegisterDatasetV2 = op(
    "RegisterDatasetV2(dataset:variant, address:string, protocol:string) -> (dataset_id:string) | "
    'external_state_policy: int; element_spec: string = ""; requested_dataset_id: string = ""; metadata: string = ""',
    shape=lambda dataset, address, protocol: (),
    gradient=FLAT,
)
DataServiceDatasetV4 = dataset_op(
    "DataServiceDatasetV4(dataset_id:string, processing_mode:string, address:string, protocol:string, job_name:string, "
    "consumer_index:int64, num_consumers:int64, max_outstanding_requests:int64, iteration_counter:resource) -> "
    f'(handle:variant) | task_refresh_interval_hint_ms: int = -1; {TYPED}; data_transfer_protocol: string = ""; '
    'target_workers: string = "AUTO"; uncompress: bool = false; uncompress_fn: func; '
    'cross_trainer_cache_options: string = "" | stateful'
)


def text_of(value: Any) -> str:
    """Return a string that came as bytes or in an array."""
    value = value.item() if isinstance(value, np.ndarray) else value
    return value.decode() if isinstance(value, bytes) else str(value)


def mode_bytes(policy: int) -> bytes:
    """Return how workers share, as a ProcessingModeDef."""
    return messages.message("tensorflow.data.ProcessingModeDef")(sharding_policy=policy).SerializeToString()


def trainer_bytes(trainer: str) -> bytes:
    """Return the id of a trainer, as CrossTrainerCacheOptions."""
    return messages.message("tensorflow.data.CrossTrainerCacheOptions")(trainer_id=trainer).SerializeToString()


def _read(kind: str, written: Any) -> Any:
    content = written if isinstance(written, bytes) else written.encode("latin-1")
    return messages.parse(messages.message(f"tensorflow.data.{kind}"), content, kind, errors.InvalidArgumentError)


@RegisterDatasetV2.kernel
def _(
    xp: Any, dataset: Any, address: Any, protocol: Any, *, external_state_policy: int, element_spec: Any,
    requested_dataset_id: Any,
) -> Any:  # fmt: skip
    spec = element_spec if isinstance(element_spec, bytes) else element_spec.encode("latin-1")
    wanted = text_of(requested_dataset_id) or None
    return boxed(register(dataset, text_of(address), ExternalStatePolicy(external_state_policy), spec, wanted).encode())


def register(dataset: Any, address: str, policy: ExternalStatePolicy, spec: bytes, wanted: str | None) -> str:
    """Have the dispatcher at an address know the dataset of a variant; return its id."""
    graph, fingerprint = graph_of(dataset, policy), str(int(DatasetFingerprint.kernel_fn(np, dataset)))
    peer = Peer(address)
    try:
        told, _ = peer.ask_patiently(
            CONNECT_SECONDS, "register", [text_array(graph, spec)], fingerprint=fingerprint, wanted=wanted
        )
    finally:
        peer.close()
    return str(told)


@DataServiceDatasetV4.kernel
def _(
    xp: Any, dataset_id: Any, processing_mode: Any, address: Any, protocol: Any, job_name: Any, consumer_index: Any,
    num_consumers: Any, max_outstanding_requests: Any, iteration_counter: Any, *, data_transfer_protocol: Any,
    target_workers: Any, cross_trainer_cache_options: Any,
) -> Any:  # fmt: skip
    name, mode = text_of(dataset_id), POLICIES[_read("ProcessingModeDef", processing_mode.item()).sharding_policy]
    job = text_of(job_name) or f"anonymous-{secrets.token_hex(8)}"
    consumer, consumers = int(consumer_index), int(num_consumers)
    asked = int(max_outstanding_requests)
    trainer = _read("CrossTrainerCacheOptions", cross_trainer_cache_options).trainer_id
    target, repetitions = text_of(target_workers), itertools.count()
    if consumers > 0 and target == "LOCAL":
        raise invalid("Coordinated reads require non-local workers, but `target_workers` is LOCAL")

    way = text_of(data_transfer_protocol)

    def start() -> Iterator[Element]:
        if way not in ("", "grpc", "local"):
            words = f"Protocol '{way}' is not available for the workers of {text_of(address)}: they have grpc and local"
            raise errors.NotFoundError(None, None, f"{words} (data_transfer_protocol)")
        peer = Peer(text_of(address))  # one for each iteration: the dispatcher knows by it who still reads
        iteration, _ = peer.ask_patiently(
            CONNECT_SECONDS, "iterate", dataset=name, mode=mode, job=job, target=target,
            repetition=0 if trainer else next(repetitions), consumers=max(consumers, 0),
        )  # fmt: skip
        if consumers > 0:
            return rounds(peer, iteration, consumer)
        return Reader(peer, iteration, asked if asked > 0 else 8, target, **({"trainer": trainer} if trainer else {}))

    return made(start, INFINITE if consumers > 0 else UNKNOWN)
