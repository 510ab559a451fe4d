"""The servers of a data service, and what is said about them when they are made."""

from __future__ import annotations

import abc
import atexit
import sys
import threading
import weakref
from collections.abc import Sequence
from typing import NamedTuple

from ebbflow.core import errors
from ebbflow.data.service.dispatcher import Dispatcher
from ebbflow.data.service.worker import Worker


class DispatcherConfig(NamedTuple):
    """What a dispatcher is told."""

    port: int = 0
    protocol: str | None = None
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Sequence[str] | None = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0


class WorkerConfig(NamedTuple):
    """What a worker is told."""

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = None
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None


PATIENCE_MS = 60 * 60 * 1000
"""How long a worker waits for its dispatcher unless told otherwise."""


_alive: weakref.WeakSet[_Server] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for server in list(_alive):
        server.stop()


class _Server(abc.ABC):
    """What serves until it is stopped or dropped."""

    def __init__(self) -> None:
        self._address = ""
        self._begun, self._stopped = False, threading.Event()
        _alive.add(self)

    def start(self) -> None:
        """Begin to serve; a server that does already goes on."""
        if self._stopped.is_set():
            raise RuntimeError("Server cannot be started after it has been stopped")
        if not self._begun:
            self._begin()
            self._begun = True

    def join(self) -> None:
        """Wait until the server has stopped."""
        while not self._stopped.wait(3600.0):  # in pieces, so that Ctrl-C comes through everywhere
            pass

    def stop(self) -> None:
        """Serve no longer, and cut off whoever is connected."""
        if not self._stopped.is_set():
            self._stopped.set()
            if self._begun:
                self._end()

    _stop = stop

    def __del__(self) -> None:
        if hasattr(self, "_stopped") and not sys.is_finalizing():  # gRPC would wait for threads that are gone
            self.stop()

    @abc.abstractmethod
    def _begin(self) -> None: ...

    @abc.abstractmethod
    def _end(self) -> None: ...


def _check_protocol(protocol: str | None) -> None:
    if protocol not in (None, "grpc"):
        raise errors.InvalidArgumentError(None, None, f"a data service speaks grpc, got protocol = {protocol!r}")


class DispatchServer(_Server):
    """Knows the datasets and the workers of a data service.

    >>> import ebbflow as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> address = dispatcher.target.split("://")[1]
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    >>> numbers = tf.data.Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
    >>> [int(x) for x in numbers]
    [0, 1, 2]
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True):
        super().__init__()
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError("Cannot enable fault tolerant mode without configuring a work dir.")
        _check_protocol(config.protocol)
        self._config = config
        kept = config.work_dir if config.fault_tolerant_mode else None
        self._dispatcher = Dispatcher(
            config.worker_addresses or (), kept, config.job_gc_timeout_ms, config.worker_timeout_ms
        )
        if start:
            self.start()

    def _begin(self) -> None:
        port = self._dispatcher.service.serve(f"localhost:{self._config.port}")
        self._address = f"localhost:{port}"

    def _end(self) -> None:
        self._dispatcher.service.stop()

    @property
    def target(self) -> str:
        """What `distribute` takes: `protocol://address`."""
        return f"grpc://{self._address}"

    def _num_workers(self) -> int:
        return self._dispatcher.worker_count


class WorkerServer(_Server):
    """Runs datasets of a data service."""

    def __init__(self, config: WorkerConfig, start: bool = True):
        super().__init__()
        if not config.dispatcher_address:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        _check_protocol(config.protocol)
        self._config = config
        self._worker = Worker(config.dispatcher_address, config.heartbeat_interval_ms)
        if start:
            self.start()

    def _begin(self) -> None:
        asked = self._config.worker_address or ""
        host = asked.rpartition(":")[0] or "localhost"
        port = self._worker.service.serve(f"{host}:{self._config.port}")
        self._address = asked.replace("%port%", str(port)) if asked else f"{host}:{port}"
        self._worker.address = self._address
        patience = self._config.dispatcher_timeout_ms
        try:
            self._worker.join((PATIENCE_MS if patience is None else patience) / 1000)
        except errors.OpError as error:
            self._worker.stop()
            if isinstance(error, errors.FailedPreconditionError):  # it is not among those that the dispatcher waits for
                raise RuntimeError(error.message) from None
            raise

    def _end(self) -> None:
        self._worker.stop()

    def _num_tasks(self) -> int:
        return self._worker.task_count
