"""`tf.config.experimental_connect_to_cluster`, and `with tf.device("/job:worker/task:1")` around work done at once.

Once a process is connected to a cluster, ops called in such a block run at the task, one by one; variables made there
are kept there; a function called there runs there as a whole, and one whose body names tasks runs on those. Values come
back to this process, and are sent again where they are needed. What is kept here (a table, an iterator) stays here, and
so does the work on it. Knows homes, calls and who is connected; knows nothing of strategies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.cluster.calls import Call, kept_by
from ebbflow.cluster.connection import connect, connected
from ebbflow.cluster.peers import peer_at
from ebbflow.cluster.remote_storage import LOST, Home, home_at
from ebbflow.cluster.resolvers import ClusterResolver
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core import elsewhere, errors
from ebbflow.core.device import Parts, parse
from ebbflow.core.tensor import EagerTensor
from ebbflow.distribute.remote_variable import RemoteVariable
from ebbflow.eager import placing

ANSWER_SECONDS = 2.0
"""How long a server may take to answer when a process connects to it."""

MOST_CALLS = 100
"""How many calls of one body are remembered, which differ in the resources they are given."""


class TaskPlace:
    """A task where ops are run, variables made and functions called."""

    def __init__(self, home: Home):
        self.home, self.device = home, home.device
        self.new_variable = functools.partial(RemoteVariable, home)

    def run(self, op: Any, arrays: list[Any], attrs: dict[str, Any]) -> Any:
        """Run one op at the task."""
        return self.home.run(op, arrays, attrs)


def place_of(asked: Parts) -> TaskPlace | None:
    """Return the task that a device name means, if it is another one of the cluster that this process belongs to."""
    if not connected or asked.job in (None, "localhost"):
        return None
    cluster = connected[0]
    task = asked.task or 0
    if (asked.job, task) == (cluster.job, cluster.task):
        return None
    homes = {parse(home.device).task: home for home in cluster.homes(asked.job or "")}
    return TaskPlace(homes[task]) if task in homes else None


def body_runner(body: Any, device: Any) -> Callable[[Sequence[Any]], list[Any]] | None:
    """Return what runs a function's body, if it is called in the block of a task or names one; None: it runs here."""
    names = [device.name] if device is not None else [node._device for node in body._nodes if "/job:" in node._device]
    place = next(filter(None, (place_of(parse(name)) for name in names)), None)
    return None if place is None else _BodyAt(body, place.home)


class _BodyAt:
    """A function's body, as it runs at a task: from values to values."""

    captured_inputs: tuple[Any, ...] = ()  # they are among the values

    def __init__(self, body: Any, home: Home):
        self.graph, self._home = body, home
        self.name = body.name.encode()
        self._calls: dict[Any, Call] = {}

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        inputs = zip(values, self.graph.inputs, strict=True)
        tensors = [EagerTensor(value, inside.dtype.base_dtype) for value, inside in inputs]
        key = kept_by(tensors)
        if key not in self._calls and len(self._calls) >= MOST_CALLS:
            self._calls.pop(next(iter(self._calls))).close()
        call = self._calls.get(key) or self._calls.setdefault(key, Call(self, self._home, tensors))
        try:
            return call(tensors)
        except LOST:
            self._calls.pop(key, None)
            call.close()
            raise

    def pack(self, tensors: Sequence[EagerTensor]) -> list[Any]:
        """Return the values of results."""
        return [t._array for t in tensors]


def _offer_places() -> None:
    """Have `tf.device` and functions ask here for names of tasks."""
    placing.places[:] = [place_of]
    elsewhere.body_runners[:] = [body_runner]


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Have this process give work to the tasks of a cluster.

    Strategies find the tasks through it, and `tf.device` takes their names: ops, variables and functions in the block
    of a task are run and kept there.
    """
    given = cluster_spec_or_resolver
    if isinstance(given, ClusterResolver):
        spec = given.cluster_spec()
        if job_name == "localhost" and given.task_type is not None:
            job_name, task_index = given.task_type, given.task_id or 0
    elif isinstance(given, (ClusterSpec, dict)):
        spec = ClusterSpec(given)
    else:
        raise ValueError(f"`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, got {given!r}")
    if protocol not in (None, "grpc"):
        raise ValueError(f"protocol = {protocol!r}: tasks of a cluster speak 'grpc'")
    connect(spec, job_name, task_index)
    _offer_places()


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Have this process give work to servers at some addresses, which become the tasks of one job."""
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host or ())
    if not hosts:
        raise ValueError("Must provide at least one remote_host")
    spec = ClusterSpec({job_name: [host.removeprefix("grpc://") for host in hosts]})
    for i in spec.task_indices(job_name):
        address = spec.task_address(job_name, i)
        try:
            home_at(address).called = peer_at(address, ANSWER_SECONDS).describe()["name"]
        except errors.UnavailableError as error:
            raise errors.UnavailableError(
                None, None, f"/job:{job_name}/task:{i} at {address}: {error.message}"
            ) from None
    connect(spec)
    _offer_places()
