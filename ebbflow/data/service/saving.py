"""`distributed_save`: a dataset that the workers of a data service compute is written to a directory.

The dispatcher reads it as any client does, and writes what comes; `Dataset.load` finds it when it is whole. Knows how a
service is read and how datasets are saved.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from ebbflow.cluster.methods import Answer, Peer
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.errors import AlreadyExistsError, OpError
from ebbflow.core.op import op
from ebbflow.core.typing import Effect
from ebbflow.data import saved
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.service.distributing import COMPRESSIONS, service_address
from ebbflow.data.service.ops import register, text_of
from ebbflow.data.service.reading import Reader
from ebbflow.ops.declare import FLAT
from ebbflow.platform import logging

DistributedSave = op(
    'DistributedSave(dataset:variant, directory:string, address:string) -> () | metadata: string = "" | stateful',
    shape=lambda dataset, directory, address: [],
    gradient=FLAT,
)


@DistributedSave.kernel
def _(xp: Any, dataset: Any, directory: Any, address: Any) -> Any:
    where = text_of(address)
    name = register(dataset, where, ExternalStatePolicy.WARN, b"", None)
    peer = Peer(where)
    try:
        peer.ask("save", dataset=name, path=text_of(directory), address=where)
    finally:
        peer.close()
    return ()


def distributed_save(dataset: DatasetV2, path: str, data_service_address: str, compression: str = "AUTO") -> Effect:
    """Begin to write a dataset to a directory, by the workers of a data service; `Dataset.load(path, wait=True)` waits.

    In a graph, return the op that does so.
    """
    if not isinstance(data_service_address, (str, bytes)) or not data_service_address:
        raise ValueError(f"`data_service_address` must be a string that is not empty, got {data_service_address!r}")
    if compression not in COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {[*COMPRESSIONS]}.")
    saved.put_spec(os.fspath(path), dataset.element_spec)
    where = convert(service_address(data_service_address), dtypes.string)
    made = DistributedSave(dataset._variant_tensor, convert(os.fspath(path), dtypes.string), where)
    return None if context.executing_eagerly() else made


class Saves:
    """What a dispatcher writes to directories."""

    def __init__(self, iterate: Callable[[str, str], int]):
        self._iterate = iterate  # from a dataset and a job to an iteration
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def save(self, link: Any, arrays: Any, dataset: str, path: str, address: str) -> Answer:
        """Begin to write a dataset; the client's word for where this dispatcher is will do for it too."""
        with self._lock:
            if path in self._begun or saved.is_whole(path):
                raise AlreadyExistsError(None, None, f"tf.data snapshot at {path} is already started or completed")
            self._begun.add(path)
        iteration = self._iterate(dataset, f"save to {path}")
        threading.Thread(
            target=self._write, args=(iteration, path, address), name="ebbflow-data-save", daemon=True
        ).start()
        return None, ()

    def _write(self, iteration: int, path: str, address: str) -> None:
        try:
            saved.write_all(Reader(Peer(address), iteration, 8), path)
        except OpError as error:
            logging.error("the dataset that was to be saved at %s is not: %s", path, error)
            saved.put_error(path, error.message)
        finally:
            with self._lock:
                self._begun.discard(path)
