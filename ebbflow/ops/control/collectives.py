"""Collective ops: each of several processes brings a tensor, and all get the sum, all tensors, or one member's.

An op names its group by a key; `cluster.collectives` makes groups and says here which there are (`provide_groups`). A
group of one needs no other process. Knows arrays and an interface of a group; knows nothing of how members speak.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ebbflow.core import errors, stopping
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, raw
from ebbflow.ops.sizes import invalid, lengths


class Group(Protocol):
    """The processes that meet, as one of them sees them; `call` names, in all members, what belongs together."""

    size: int

    def all_reduce(self, call: str, array: np.ndarray, merge: str, stop: Any, seconds: float) -> np.ndarray: ...

    def all_gather(self, call: str, array: np.ndarray, stop: Any, seconds: float) -> list[np.ndarray]: ...

    def broadcast(self, call: str, array: np.ndarray | None, stop: Any, seconds: float) -> np.ndarray: ...

    def all_to_all(self, call: str, parts: list[np.ndarray], stop: Any, seconds: float) -> list[np.ndarray]: ...


_groups: list[Callable[[int], Group | None]] = []


def provide_groups(find: Callable[[int], Group | None]) -> None:
    """Say how the group with a key is found."""
    _groups[:] = [find]


class _Alone:
    """A group of one: whatever is brought is the result."""

    size = 1

    def all_reduce(self, call: str, array: np.ndarray, merge: str, stop: Any, seconds: float) -> np.ndarray:
        return array

    def all_gather(self, call: str, array: np.ndarray, stop: Any, seconds: float) -> list[np.ndarray]:
        return [array]

    def broadcast(self, call: str, array: np.ndarray | None, stop: Any, seconds: float) -> np.ndarray:
        if array is None:
            raise invalid("a group of one has nobody to receive a broadcast from")
        return array

    def all_to_all(self, call: str, parts: list[np.ndarray], stop: Any, seconds: float) -> list[np.ndarray]:
        return parts


def _group(size: Any, key: Any) -> Group:
    size, key = int(size), int(key)
    group = _groups[0](key) if _groups else None
    if group is None and size == 1:
        return _Alone()
    if group is None:
        raise errors.FailedPreconditionError(
            None, None, f"group_key = {key}: this process belongs to no such group of {size}; "
            "tf.distribute.MultiWorkerMirroredStrategy makes one of the workers that TF_CONFIG names",
        )  # fmt: skip
    if group.size != size:
        raise invalid(f"group_size = {size}, but the group with group_key = {key} has {group.size} members")
    return group


def _reduced(array: Any, size: Any, key: Any, instance: Any, merge: str, final: str, seconds: float, run: Any) -> Any:
    group = _group(size, key)
    total = group.all_reduce(f"reduce/{int(instance)}", array, merge.lower(), stopping.current(run.session), seconds)
    if final == "Div":
        total = total // group.size if total.dtype.kind in "iu" else total / total.dtype.type(group.size)
    return total


def _gathered(array: Any, size: Any, key: Any, instance: Any, seconds: float, run: Any) -> np.ndarray:
    if not array.ndim:
        raise invalid("input is a scalar: members' tensors are put together along their first axis")
    group = _group(size, key)
    parts = group.all_gather(f"gather/{int(instance)}", array, stopping.current(run.session), seconds)
    if any(part.shape[1:] != array.shape[1:] for part in parts):
        raise invalid(f"members brought tensors of the shapes {[list(part.shape) for part in parts]}")
    return np.concatenate(parts) if len(parts) > 1 else array


def _broadcast(array: Any, size: Any, key: Any, instance: Any, seconds: float, run: Any) -> np.ndarray:
    call = f"broadcast/{int(instance)}"
    return _group(size, key).broadcast(call, array, stopping.current(run.session), seconds)


def _checked(data: np.ndarray, dims: Any, dtype: Any) -> np.ndarray:
    if tuple(data.shape) != tuple(int(n) for n in dims) or data.dtype != dtype.np:
        raise invalid(f"{dtype.name}{list(dims)} is awaited, {data.dtype.name}{list(data.shape)} was sent")
    return data


_REDUCED = "T: type in [bfloat16,float,half,double,int32,int64]"
_GATHERED = "T: type in [float,half,double,int32,int64]"
_SENT = "T: type in [bool,float,half,double,int32,int64]"
_KEYS = "group_size:int32, group_key:int32, instance_key:int32"
_TOKENS = "ordering_token:Nordering_token*resource"
_ATTR_KEYS = "group_size: int; group_key: int; instance_key: int"
_HOW = 'communication_hint: string = "auto"; timeout_seconds: float = 0.0'
_STATELESS = "is_stateless: bool = false; Nordering_token: int >= 0 = 0"
_MERGED = 'merge_op: string in ["Min","Max","Mul","Add"]; final_op: string in ["Id","Div"]'


def _as_input(value: Any, *others: Any) -> Any:
    return value.dims


def _rows_unknown(value: Any, *others: Any) -> Any:
    return None if value.dims is None else (None, *value.dims[1:])


CollectiveReduceV2 = op(
    f"CollectiveReduceV2(input:T, {_KEYS}, {_TOKENS}) -> (data:T) | {_REDUCED}; {_MERGED}; {_HOW}; {_STATELESS}; "
    "max_subdivs_per_device: int = -1 | stateful",
    facts="waits",
    shape=_as_input,
)


@CollectiveReduceV2.kernel
def _(xp, input, group_size, group_key, instance_key, ordering_token, *, merge_op, final_op, timeout_seconds, run):
    return _reduced(input, group_size, group_key, instance_key, merge_op, final_op, timeout_seconds, run)


@CollectiveReduceV2.gradient
def _(call, grad):
    if call.merge_op != "Add":
        raise errors.UnimplementedError(None, None, f"CollectiveReduceV2 has a gradient for Add, not {call.merge_op}")
    keys = call.group_size, call.group_key, call.instance_key
    total = raw.CollectiveReduceV2(grad, *keys, [], merge_op="Add", final_op=call.final_op,
                                   timeout_seconds=call.timeout_seconds)  # fmt: skip
    return total, *[None] * (len(call.inputs) - 1)


CollectiveReduce = op(
    f"CollectiveReduce(input:T) -> (data:T) | {_REDUCED}; {_ATTR_KEYS}; {_MERGED}; subdiv_offsets: list(int); "
    f"wait_for: list(int) = []; {_HOW} | stateful",
    facts="waits",
    shape=_as_input,
    gradient=FLAT,
)


@CollectiveReduce.kernel
def _(xp, input, *, group_size, group_key, instance_key, merge_op, final_op, timeout_seconds, run):
    return _reduced(input, group_size, group_key, instance_key, merge_op, final_op, timeout_seconds, run)


CollectiveGatherV2 = op(
    f"CollectiveGatherV2(input:T, {_KEYS}, {_TOKENS}) -> (data:T) | {_GATHERED}; {_HOW}; {_STATELESS} | stateful",
    facts="waits",
    shape=_rows_unknown,
    gradient=FLAT,
)


@CollectiveGatherV2.kernel
def _(xp, input, group_size, group_key, instance_key, ordering_token, *, timeout_seconds, run):
    return _gathered(input, group_size, group_key, instance_key, timeout_seconds, run)


CollectiveGather = op(
    f"CollectiveGather(input:T) -> (data:T) | {_GATHERED}; {_ATTR_KEYS}; shape: shape; {_HOW} | stateful",
    facts="waits",
    shape=_rows_unknown,
    gradient=FLAT,
)


@CollectiveGather.kernel
def _(xp, input, *, group_size, group_key, instance_key, timeout_seconds, run):
    return _gathered(input, group_size, group_key, instance_key, timeout_seconds, run)


CollectiveBcastSendV2 = op(
    f"CollectiveBcastSendV2(input:T, {_KEYS}) -> (data:T) | {_SENT}; {_HOW} | stateful",
    facts="waits",
    shape=_as_input,
    gradient=FLAT,
)


@CollectiveBcastSendV2.kernel
def _(xp, input, group_size, group_key, instance_key, *, timeout_seconds, run):
    return _broadcast(input, group_size, group_key, instance_key, timeout_seconds, run)


CollectiveBcastSend = op(
    f"CollectiveBcastSend(input:T) -> (data:T) | {_SENT}; {_ATTR_KEYS}; shape: shape; {_HOW} | stateful",
    facts="waits",
    shape=_as_input,
    gradient=FLAT,
)


@CollectiveBcastSend.kernel
def _(xp, input, *, group_size, group_key, instance_key, timeout_seconds, run):
    return _broadcast(input, group_size, group_key, instance_key, timeout_seconds, run)


CollectiveBcastRecvV2 = op(
    f"CollectiveBcastRecvV2({_KEYS}, shape:Tshape) -> (data:T) | {_SENT}; Tshape: type in [int32,int64] = int32; "
    f"{_HOW} | stateful",
    facts="waits sizes=shape",
    gradient=FLAT,
)


@CollectiveBcastRecvV2.shape
def _(group_size, group_key, instance_key, shape):
    return lengths(shape, "shape")


@CollectiveBcastRecvV2.kernel
def _(xp, group_size, group_key, instance_key, shape, *, T, timeout_seconds, run):
    return _checked(_broadcast(None, group_size, group_key, instance_key, timeout_seconds, run), shape, T)


CollectiveBcastRecv = op(
    f"CollectiveBcastRecv() -> (data:T) | {_SENT}; {_ATTR_KEYS}; shape: shape; {_HOW} | stateful",
    facts="waits",
    shape=lambda *, shape: shape,
    gradient=FLAT,
)


@CollectiveBcastRecv.kernel
def _(xp, *, T, group_size, group_key, instance_key, shape, timeout_seconds, run):
    return _checked(_broadcast(None, group_size, group_key, instance_key, timeout_seconds, run), shape, T)


CollectiveAllToAllV2 = op(
    f"CollectiveAllToAllV2(input:T, {_KEYS}, {_TOKENS}) -> (data:T) | {_REDUCED}; {_HOW}; {_STATELESS} | stateful",
    facts="waits",
    shape=_as_input,
    gradient=FLAT,
)


@CollectiveAllToAllV2.kernel
def _(xp, input, group_size, group_key, instance_key, ordering_token, *, timeout_seconds, run):
    group = _group(group_size, group_key)
    if not input.ndim or input.shape[0] % group.size:
        raise invalid(f"input of shape {list(input.shape)} has no {group.size} equal parts along its first axis")
    call = f"all_to_all/{int(instance_key)}"
    parts = group.all_to_all(call, np.split(input, group.size), stopping.current(run.session), timeout_seconds)
    return np.concatenate(parts)
