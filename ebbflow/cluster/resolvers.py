"""`tf.distribute.cluster_resolver`: who is in a cluster, told by whoever started the job.

A resolver answers the ClusterSpec, which task this process is, and the address of a task. TF_CONFIG, SLURM's variables
and Kubernetes' pods are read when asked, so a job that has changed is seen as it is. Knows no servers; a session only
tells what devices a task has.
"""

from __future__ import annotations

import enum
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core import context, errors
from ebbflow.core.device import is_compatible
from ebbflow.core.typing import Message
from ebbflow.engines import devices as engine_devices
from ebbflow.runtime.session import Session


def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """Return a task's address as a session wants it.

    >>> format_master_url("10.0.0.1:2222", "grpc"), format_master_url("10.0.0.1:2222")
    ('grpc://10.0.0.1:2222', '10.0.0.1:2222')
    """
    return f"{rpc_layer}://{master}" if rpc_layer else master


class ClusterResolver:
    """Says who is in a cluster. A class of your own gives `cluster_spec` and `master`."""

    task_type: str | None = None
    task_id: int | None = None

    @property
    def environment(self) -> str:
        """Where the job runs: "google", or "" for anywhere else."""
        return ""

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs and the addresses of their tasks."""
        raise NotImplementedError(f"{type(self).__name__}.cluster_spec: a ClusterResolver has to say who is there")

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return what a session connects to: the address of a task, by default of this one."""
        raise NotImplementedError(f"{type(self).__name__}.master: a ClusterResolver has to say where sessions go")

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> Mapping[str, int]:
        """Return how many devices of each kind a task has besides its CPUs: eagerly, those that this process sees."""
        if context.executing_eagerly():
            found: Iterable[Any] = engine_devices.list_logical_devices()
        else:
            with Session(self.master(task_type, task_id), config=config_proto) as session:
                found = session.list_devices()
        named = task_type is not None and task_id is not None
        wanted = f"/job:{task_type}/task:{task_id}" if named else ""
        kinds = Counter(device.device_type for device in found if is_compatible(wanted, device.name))
        return {kind: count for kind, count in kinds.items() if kind != "CPU"}

    def _address(self, task_type: str | None, task_id: int | None, rpc_layer: str | None) -> str:
        address = self.cluster_spec().task_address(task_type, task_id)  # type: ignore[arg-type]
        return format_master_url(address, rpc_layer)


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows itself.

    >>> resolver = SimpleClusterResolver(ClusterSpec({"worker": ["a:1", "b:2"]}), task_type="worker", task_id=1)
    >>> resolver.master("worker", 0, rpc_layer="grpc"), resolver.task_id
    ('grpc://a:1', 1)
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec must be a `tf.train.ClusterSpec`, not {type(cluster_spec).__name__}")
        if not isinstance(master, str):
            raise TypeError(f"master must be a str, not {type(master).__name__}")
        self._cluster_spec, self._master, self._environment = cluster_spec, master, environment
        self._accelerators = num_accelerators
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    @property
    def environment(self) -> str:
        """Where the job runs."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs and the addresses of their tasks."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task; where none is named, of the master that was given."""
        layer = rpc_layer or self.rpc_layer
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, layer)
        return format_master_url(self._master, layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> Mapping[str, int]:
        """Return how many devices of each kind a task has, as was given."""
        return {} if self._accelerators is None else self._accelerators


class UnionResolver(ClusterResolver):
    """Several resolvers together: the first that says which task this is, is heard; all say who is there.

    >>> parts = [SimpleClusterResolver(ClusterSpec(job)) for job in ({"ps": ["a:1"]}, {"worker": ["b:2"]})]
    >>> UnionResolver(*parts).cluster_spec().as_dict() == {"ps": ["a:1"], "worker": ["b:2"]}
    True
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any):
        unknown = set(kwargs) - {"rpc_layer", "task_type", "task_id"}
        if unknown:
            raise ValueError(f"Unexpected kwargs provided {sorted(unknown)}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(f"All arguments must be a sub-class of `ClusterResolver`, not {resolver!r}")
        self._resolvers = args
        self.rpc_layer = kwargs.get("rpc_layer", getattr(args[0], "rpc_layer", None))
        self.task_type = kwargs.get("task_type", args[0].task_type)
        self.task_id = kwargs.get("task_id", args[0].task_id)

    @property
    def environment(self) -> str:
        """Where the job runs, as the first says."""
        return self._resolvers[0].environment

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs of all. Where two know one job, lists are joined, and tasks by number must be the same."""
        merged: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged[job] = tasks if job not in merged else _united(job, merged[job], tasks)
        return ClusterSpec(merged)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task; where none is named, what the first resolver says."""
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> Mapping[str, int]:
        """Return what the first resolver says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _united(job: str, one: Any, other: Any) -> Any:
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    first, second = (dict(enumerate(t)) if isinstance(t, list) else dict(t) for t in (one, other))
    for task in first.keys() & second.keys():
        if first[task] != second[task]:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {job!r} has two tasks {task}")
    return first | second


class TFConfigClusterResolver(ClusterResolver):
    """What the environment variable TF_CONFIG says, as cloud services and `ebbflow launch` set it."""

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._task_type, self._task_id, self._rpc_layer, self._environment = task_type, task_id, rpc_layer, environment

    @property
    def task_type(self) -> str | None:
        """The job that this process is of."""
        kind = _config().get("task", {}).get("type") if self._task_type is None else self._task_type
        return None if kind is None else str(kind)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """Which task of its job this process is."""
        index = _config().get("task", {}).get("index") if self._task_id is None else self._task_id
        return None if index is None else int(index)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str | None:  # type: ignore[override]
        """Where the job runs, as was given."""
        return self._environment

    @property
    def rpc_layer(self) -> str | None:
        """What goes before addresses."""
        return _config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> Mapping[str, int]:
        """Return how many devices of each kind a task has besides its CPUs, by default this one."""
        kind = self.task_type if task_type is None else task_type
        return super().num_accelerators(kind, self.task_id if task_id is None else task_id, config_proto)

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs of TF_CONFIG; none where it is not set."""
        return ClusterSpec(_config().get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this one; "" where there is no cluster."""
        given = _config().get("session_master")
        if given is not None:
            return given
        spec = self.cluster_spec()
        if not spec.jobs or (len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1):
            return ""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            raise ValueError("TF_CONFIG names a cluster but no task of it: master() needs a task_type and a task_id")
        return self._address(kind, number, rpc_layer or self.rpc_layer)


def _config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG", "{}") or "{}"
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.InvalidArgumentError(None, None, f"TF_CONFIG is not JSON: {error}: {text[:200]!r}") from None
    if not isinstance(found, dict):
        raise errors.InvalidArgumentError(None, None, f"TF_CONFIG must be an object with a cluster, not {text[:200]!r}")
    return found


# --- SLURM ------------------------------------------------------------------------------------------------------------


def expand_hostlist(hostlist: str) -> list[str]:
    """Return the names that SLURM's short form means.

    >>> expand_hostlist("n[1-2],m5,o[03-04,7]x")
    ['n1', 'n2', 'm5', 'o03x', 'o04x', 'o7x']
    """
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", hostlist):
        before, bracket, rest = part.partition("[")
        if not bracket:
            names.append(part)
            continue
        numbers, _, after = rest.partition("]")
        for span in numbers.split(","):
            names += [before + number + tail for number in _span(span) for tail in expand_hostlist(after) or [""]]
    return names


def _span(text: str) -> list[str]:
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise ValueError(f"{text!r} is not a number or a range of numbers of a host list")
    return [str(number).zfill(len(first)) for number in range(int(first), int(last or first) + 1)]


def expand_tasks_per_node(tasks_per_node: str) -> list[int]:
    """Return the number of tasks on each node that SLURM's short form means.

    >>> expand_tasks_per_node("3(x2),2,1")
    [3, 3, 2, 1]
    """
    counts: list[int] = []
    for part in tasks_per_node.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if match is None:
            raise ValueError(f"{part!r} is not a number of tasks per node, such as 2 or 2(x3)")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a SLURM job step, in the order of its nodes. `jobs` says how many tasks each job has (default: all
    are workers); GPUs of a node are given to its tasks in turn through CUDA_VISIBLE_DEVICES.
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | list[int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ):
        self._rank = int(_slurm("PROCID"))
        nodes = expand_hostlist(_slurm("STEP_NODELIST"))
        self._per_node = self._tasks_on(nodes, tasks_per_node)
        total = sum(self._per_node.values())
        self._jobs = dict(jobs or {"worker": total})
        if sum(self._jobs.values()) != total:
            raise RuntimeError(f"The jobs {self._jobs} have {sum(self._jobs.values())} tasks, the job step has {total}")
        self._port_base, self.rpc_layer = port_base, rpc_layer
        self._gpus_per_node = _visible_gpus() if gpus_per_node is None else gpus_per_node
        shared = self._gpus_per_node // max(*self._per_node.values(), 1)
        self._gpus_per_task = shared if gpus_per_task is None else gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        for node, count in self._per_node.items():
            if count * self._gpus_per_task > self._gpus_per_node:
                raise RuntimeError(
                    f"Requested more GPUs per node than available: {node} has {self._gpus_per_node}, its {count} tasks "
                    f"ask for {self._gpus_per_task} each"
                )

    @staticmethod
    def _tasks_on(nodes: list[str], wanted: Any) -> dict[str, int]:
        if wanted is None:
            counts = expand_tasks_per_node(_slurm("STEP_TASKS_PER_NODE"))
        elif isinstance(wanted, Mapping):
            return dict(wanted)
        else:
            counts = [wanted] * len(nodes) if isinstance(wanted, int) else list(wanted)
        if len(counts) != len(nodes):
            raise RuntimeError(f"SLURM names {len(nodes)} nodes ({nodes}) and tasks for {len(counts)} ({counts})")
        return dict(zip(nodes, counts, strict=True))

    def _tasks(self) -> Iterator[tuple[str, int, str, int]]:
        """Yield the job, number and address of each task, and its place on its node."""
        places = [(node, place) for node, count in self._per_node.items() for place in range(count)]
        numbers = [(job, number) for job, count in self._jobs.items() for number in range(count)]
        for (node, place), (job, number) in zip(places, numbers, strict=True):
            yield job, number, f"{node}:{self._port_base + place}", place

    def cluster_spec(self) -> ClusterSpec:
        """Return the jobs and the addresses of their tasks; this process gets the GPUs that are its own."""
        spec: dict[str, list[str]] = {}
        for rank, (job, number, address, place) in enumerate(self._tasks()):
            spec.setdefault(job, []).append(address)
            if rank == self._rank:
                self.task_type, self.task_id = job, number
                if self._auto_set_gpu and self._gpus_per_task:
                    start = place * self._gpus_per_task
                    own = range(
                        start, min(start + self._gpus_per_task, self._gpus_per_node or start + self._gpus_per_task)
                    )
                    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, own))
        return ClusterSpec(spec)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Return the job and the number of this task."""
        if self.task_type is None:
            self.cluster_spec()
        return self.task_type, self.task_id

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this one."""
        own_type, own_id = self.get_task_info()
        kind, number = (own_type if task_type is None else task_type), (own_id if task_id is None else task_id)
        return self._address(kind, number, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> Mapping[str, int]:
        """Return the GPUs of a task."""
        return {"GPU": self._gpus_per_task}


def _visible_gpus() -> int:
    """Return the number of GPUs of this node: those that SLURM shows, or those that there are."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (
        len(engine_devices.list_physical_devices("GPU")) if shown is None else len([n for n in shown.split(",") if n])
    )


def _slurm(name: str) -> str:
    for variable in (f"SLURM_{name}", f"SLURM_{name.removeprefix('STEP_')}", f"SLURM_JOB_{name.removeprefix('STEP_')}"):
        if variable in os.environ:
            return os.environ[variable]
    raise RuntimeError(f"SLURM_{name} is not in the environment: start the program by srun")


# --- Kubernetes -------------------------------------------------------------------------------------------------------


class KubernetesExecutableLocation(enum.Enum):
    """Whether the program runs in the cluster it asks about."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(ClusterResolver):
    """The running pods with some labels: `{"worker": ["job-name=mnist"]}`. Needs the package `kubernetes`."""

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, list[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: KubernetesExecutableLocation = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ):
        self._client = _kubernetes(executable_location) if override_client is None else override_client
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self.rpc_layer = tf_server_port, rpc_layer
        self.task_type, self.task_id = None, None

    def cluster_spec(self) -> ClusterSpec:
        """Return the pods of each job, in the order of their names."""
        spec: dict[str, list[str]] = {}
        for job, labels in self._labels.items():
            addresses: list[str] = []
            for label in labels:
                pods = self._client.list_pod_for_all_namespaces(label_selector=label).items
                for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                    addresses.append(f"{pod.status.host_ip}:{self._port}")
            spec[job] = addresses
        return ClusterSpec(spec)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this one; where that is not known, ""."""
        kind, number = task_type or self.task_type, task_id if task_id is not None else self.task_id
        if kind is None or number is None:
            return ""
        return self._address(kind, number, rpc_layer or self.rpc_layer)


def _kubernetes(location: KubernetesExecutableLocation) -> Any:
    if not isinstance(location, KubernetesExecutableLocation):
        raise ValueError(f"executable_location must be a KubernetesExecutableLocation, not {location!r}")
    try:
        from kubernetes import client, config  # seldom installed, and only needed by who asks a cluster
    except ImportError:
        raise ImportError(
            "KubernetesClusterResolver asks the cluster through the package kubernetes, which is not installed: "
            "pip install kubernetes, or give override_client",
            name="kubernetes",
        ) from None
    if location is KubernetesExecutableLocation.WITHIN_CLUSTER:
        config.load_incluster_config()
    else:
        config.load_kube_config()
    return client.CoreV1Api()


# --- Google's machines ------------------------------------------------------------------------------------------------


class GCEClusterResolver(ClusterResolver):
    """The running machines of an instance group, as one job. Needs `google-api-python-client`, or a `service`."""

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ):
        self._place = {"project": project, "zone": zone}
        self._group, self._port, self._job = instance_group, port, task_type
        self.task_id, self.rpc_layer = task_id, rpc_layer
        self._service = _compute(credentials) if service is None else service

    @property
    def task_type(self) -> str | None:
        """The job of this task, and of all machines of the group."""
        return self._job

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self) -> ClusterSpec:
        """Return the machines, in the order of their names, under the type of this task."""
        groups, machines = self._service.instanceGroups(), self._service.instances()
        asked = groups.listInstances(
            **self._place, instanceGroup=self._group, body={"instanceState": "RUNNING"}, orderBy="name"
        )
        addresses: list[str] = []
        while asked is not None:
            answer = asked.execute()
            for item in answer.get("items", ()):
                name = item["instance"].rpartition("/")[2]
                found = machines.get(**self._place, instance=name).execute()
                addresses.append(f"{found['networkInterfaces'][0]['networkIP']}:{self._port}")
            asked = groups.listInstances_next(previous_request=asked, previous_response=answer)
        return ClusterSpec({self._job: sorted(addresses)})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Return the address of a task, by default of this one; where that is not known, ""."""
        kind, number = (
            task_type if task_type is not None else self.task_type,
            self.task_id if task_id is None else task_id,
        )
        if kind is None or number is None:
            return ""
        return self._address(kind, number, rpc_layer or self.rpc_layer)


def _compute(credentials: Any) -> Any:
    try:
        from googleapiclient import discovery  # seldom installed, and only needed by who asks Google
    except ImportError:
        raise ImportError(
            "GCEClusterResolver asks Google through google-api-python-client, which is not installed: "
            "pip install google-api-python-client, or give service",
            name="googleapiclient",
        ) from None
    own = {} if credentials in (None, "default") else {"credentials": credentials}
    return discovery.build("compute", "v1", **own)
