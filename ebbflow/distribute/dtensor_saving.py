"""Saving tensors on a mesh by their names, and what a program of `tf.experimental.dtensor` asks about its processes.

Files are those of `tf.compat.v1.train.Saver`, and hold tensors whole: a mesh of any shape can take them. A mesh lies in
one process, which is therefore the only client there is; names of jobs are read from the variables of the environment
that TensorFlow reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.distribute.dtensor import DVariable, fetch_layout, is_dtensor, relayout
from ebbflow.distribute.mesh import Mesh, client_id, num_clients
from ebbflow.ops.declare import raw
from ebbflow.state.base import Variable

# --- by name ----------------------------------------------------------------------------------------------------------


def sharded_save(
    mesh: Mesh,
    file_prefix: str | Tensor,
    tensor_names: Sequence[str] | Tensor,
    shape_and_slices: Sequence[str] | Tensor,
    tensors: Sequence[Tensor | Variable],
) -> None:
    """Write tensors to a checkpoint, each by its name and as the part of a larger one that its slice says."""
    _check_mesh("sharded_save", mesh)
    whole = [convert(tensor.numpy()) if is_dtensor(tensor) else convert(tensor) for tensor in tensors]
    raw.SaveV2(file_prefix, convert(tensor_names, dtypes.string), convert(shape_and_slices, dtypes.string), whole)


def name_based_save(
    mesh: Mesh, checkpoint_prefix: str | Tensor, name_tensor_dict: Mapping[str, Tensor | Variable]
) -> None:
    """Write tensors on a mesh to a checkpoint, by name."""
    _check_names("name_based_save", mesh, name_tensor_dict)
    names = list(name_tensor_dict)
    sharded_save(mesh, checkpoint_prefix, names, [""] * len(names), list(name_tensor_dict.values()))


def name_based_restore(
    mesh: Mesh, checkpoint_prefix: str, name_tensor_dict: Mapping[str, Tensor | Variable]
) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint that have these names, each in the layout of the tensor given for it."""
    _check_names("name_based_restore", mesh, name_tensor_dict)
    names = list(name_tensor_dict)
    types = [tensor.dtype for tensor in name_tensor_dict.values()]
    found = raw.RestoreV2(checkpoint_prefix, convert(names, dtypes.string), [""] * len(names), dtypes=types)
    result = {}
    for name, value in zip(names, found, strict=True):
        wanted = name_tensor_dict[name]
        if not wanted.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"name_based_restore: {name!r} has the shape {value.shape} in the file, not {wanted.shape}"
            )
        result[name] = relayout(value, fetch_layout(wanted))
    return result


def _check_names(what: str, mesh: Mesh, name_tensor_dict: Mapping[str, Any]) -> None:
    _check_mesh(what, mesh)
    if not name_tensor_dict:
        raise ValueError(f"{what}: name_tensor_dict has no tensor")
    for name, tensor in name_tensor_dict.items():
        if not is_dtensor(tensor):
            raise ValueError(f"{what}: {name!r} is not on a mesh: {tensor!r}")


def _check_mesh(what: str, mesh: Any) -> None:
    if not isinstance(mesh, Mesh):
        raise ValueError(f"{what}: mesh must be a dtensor.Mesh, got {type(mesh).__name__}")


def enable_save_as_bf16(variables: Sequence[Variable]) -> None:
    """Have checkpoints hold variables of float32 on a mesh as bfloat16, at half the size."""
    for variable in variables:
        if isinstance(variable, DVariable):
            variable.save_as_bf16 = True


# --- processes --------------------------------------------------------------------------------------------------------


def job_name() -> str:
    """Return the name of the job that all processes of a program belong to."""
    return os.environ.get("DTENSOR_JOB_NAME", "localhost" if num_clients() == 1 else "worker")


def full_job_name(task_id: int | None = None) -> str:
    """Return the name of this process, or of another one."""
    task = client_id() if task_id is None else task_id
    if num_clients() == 1 and task != 0:
        raise ValueError(f"Unexpected task ID {task} in local runs")
    return f"{job_name()}/replica:0/task:{task}"


def jobs() -> list[str]:
    """Return the addresses of all processes, as DTENSOR_JOBS has them."""
    told = os.environ.get("DTENSOR_JOBS")
    return [] if told is None else told.split(",")


def heartbeat_enabled() -> bool:
    """Return whether processes are to watch each other."""
    return os.environ.get("DTENSOR_ENABLE_HEARTBEAT", "true").lower() in ("true", "1")
