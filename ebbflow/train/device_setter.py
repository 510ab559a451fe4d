"""Where the variables of a replicated program go: to the parameter servers, in turn or by a rule.

`replica_device_setter` gives a function for `tf.device`: variables are put on servers, all else on the worker. Knows
device names and nothing of servers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.device import DeviceSpec
from ebbflow.core.shape import TensorShape
from ebbflow.graph.symbolic import Operation

STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DecisionTreeResource",
)
"""The types of nodes that hold what is trained."""


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: object = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """Return a device function that puts variables on `ps_tasks` servers in turn, or None where there are none."""
    if cluster is not None:
        tasks = tasks_of(cluster)
        job = DeviceSpec.from_string(ps_device).job
        if job not in tasks or tasks[job] is None:
            return None
        ps_tasks = len(tasks[job])
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = RoundRobinStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    held = STANDARD_PS_OPS if ps_ops is None else tuple(ps_ops)

    def choose(op: Any) -> str:
        if not merge_devices and op.device:
            return op.device
        asked = DeviceSpec.from_string(op.device or "")
        kind = op.type if isinstance(op, Operation) else op.op
        if not ps_device or kind not in held:
            return DeviceSpec.from_string(worker_device or "").make_merged_spec(asked).to_string()
        server = DeviceSpec.from_string(ps_device)
        if server.job and (not asked.job or asked.job == server.job):
            server = server.replace(task=ps_strategy(op))
        return server.make_merged_spec(asked).to_string()

    return choose


def tasks_of(cluster: Any) -> dict[str, Any]:
    """Return the addresses of a cluster's tasks by job: of a ClusterSpec, a ClusterDef, or a dictionary."""
    if hasattr(cluster, "as_dict"):
        return cluster.as_dict()
    if hasattr(cluster, "DESCRIPTOR") and cluster.DESCRIPTOR.name == "ClusterDef":
        return {job.name: [job.tasks[i] for i in sorted(job.tasks)] for job in cluster.job}
    if isinstance(cluster, dict):
        return {job: list(tasks.values()) if isinstance(tasks, dict) else list(tasks) for job, tasks in cluster.items()}
    raise TypeError(f"a cluster is a ClusterSpec, a ClusterDef or a dictionary, got {type(cluster).__name__}")


# --- strategies -------------------------------------------------------------------------------------------------------


class RoundRobinStrategy:
    """One server after the other."""

    def __init__(self, num_tasks: int):
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, unused_op: Any) -> int:
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


class RandomStrategy:
    """A server by chance, the same ones for the same seed."""

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        if num_ps_tasks <= 0:
            raise ValueError(f"num_ps_tasks must be > 0; got {num_ps_tasks}.")
        self._num_tasks = num_ps_tasks
        self._drawn = np.random.RandomState(seed)

    def __call__(self, op: Any) -> int:
        return int(self._drawn.randint(0, self._num_tasks))


class GreedyLoadBalancingStrategy:
    """The server that has least to carry so far, by `load_fn(op)`."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]):
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = [0.0] * num_tasks

    def __call__(self, op: Any) -> int:
        task = min(range(self._num_tasks), key=self._ps_loads.__getitem__)
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Operation) -> int:
    """Return how many bytes a variable takes."""
    if not op._op.facts.variable:
        raise ValueError(f"Expected a variable op, got {op.type}")
    size = op.get_attr("dtype").size
    shape = TensorShape(op.get_attr("shape"))
    if not shape.is_fully_defined():
        raise ValueError(f"the size of variable {op.name} is not known: its shape is {shape}")
    return (shape.num_elements() or 0) * size
