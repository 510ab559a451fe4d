"""`tf.train.Server`: one task of a cluster, served from this process.

A server binds to the host that the cluster names for its task, never to all interfaces. It is started once, and serves
until the process ends. Knows specs, tasks and the transport.
"""

from __future__ import annotations

import threading
from typing import Any

from ebbflow import messages
from ebbflow.cluster import transport
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.cluster.task import Task
from ebbflow.core import errors
from ebbflow.core.typing import Message


class Server:
    """One task of a cluster.

    >>> server = Server.create_local_server()
    >>> server.target.startswith("grpc://localhost:")
    True
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ):
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        cluster = ClusterSpec(self._server_def.cluster)
        job, index = self._server_def.job_name, self._server_def.task_index
        address = cluster.task_address(job, index)
        name = f"/job:{job}/replica:{self._server_def.replica}/task:{index}"
        self._task = Task(name, cluster, self._server_def.default_session_config)
        greeting = {"ebbflow-incarnation": self._task.incarnation}
        self._grpc, port = transport.serve(address, lambda about: here.accept(self._task, about), greeting)
        self._address = f"{address.rpartition(':')[0]}:{port}"
        self._started = False
        self._stopped = threading.Event()
        if start:
            self.start()

    def start(self) -> None:
        """Begin to serve; a server that does already goes on."""
        if self._stopped.is_set():
            raise errors.UnimplementedError(None, None, "a server that was stopped is not started again: make another")
        if not self._started:
            self._started = True
            here.tasks[self._address] = self._task
            self._grpc.start()

    def join(self) -> None:
        """Wait until the server has stopped, which it does with the process."""
        while not self._stopped.wait(3600.0):  # in pieces, so that Ctrl-C comes through everywhere
            pass

    def _stop(self) -> None:
        """Serve no longer, and cut off whoever is connected."""
        self._stopped.set()
        here.remove(self._task)
        self._task.reset([])
        self._grpc.stop(None)

    def __del__(self) -> None:
        if getattr(self, "_grpc", None) is not None and not self._stopped.is_set():
            self._stop()

    @property
    def server_def(self) -> Message:
        """What this server was made from, as a ServerDef message."""
        return self._server_def

    @property
    def target(self) -> str:
        """What `tf.compat.v1.Session` takes to run on this server's cluster."""
        return f"grpc://{self._address}"

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Return a server that is a cluster of one, at a free port of this machine."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def _server_def(given: Any, job: str | None, task: int | None, protocol: str | None, config: Any) -> Any:
    """Return the ServerDef that the arguments of a server say, each of them with the last word on what it says."""
    made = messages.ServerDef()
    if getattr(getattr(given, "DESCRIPTOR", None), "name", "") == "ServerDef":
        made.MergeFromString(given.SerializeToString())
    else:
        made.cluster.MergeFrom(_cluster_of(given).as_cluster_def())
    made.job_name = job if job is not None else made.job_name or _only_job(made)
    if task is not None:
        made.task_index = task
    elif not made.task_index and not (hasattr(given, "task_index")):
        made.task_index = _only_task(made)
    made.protocol = protocol or made.protocol or "grpc"
    if made.protocol != "grpc":
        raise errors.NotFoundError(
            None, None, f"No server factory registered for the given ServerDef: protocol {made.protocol!r}, use 'grpc'"
        )
    if config is not None:
        made.default_session_config.MergeFromString(config.SerializeToString())
    return made


def _cluster_of(given: Any) -> ClusterSpec:
    try:
        return ClusterSpec(given)
    except TypeError:
        raise TypeError(
            "Invalid `server_or_cluster_def`: it is a ServerDef, a ClusterDef, a ClusterSpec or a dictionary from jobs "
            f"to addresses, got {type(given).__name__}"
        ) from None


def _only_job(made: Any) -> str:
    if len(made.cluster.job) != 1:
        raise ValueError("Must specify an explicit `job_name`: the cluster has several jobs, or none")
    return made.cluster.job[0].name


def _only_task(made: Any) -> int:
    tasks: Any = next((job.tasks for job in made.cluster.job if job.name == made.job_name), {})
    if len(tasks) != 1:
        raise ValueError(f"Must specify an explicit `task_index`: job {made.job_name!r} has {len(tasks)} tasks")
    return next(iter(tasks))
