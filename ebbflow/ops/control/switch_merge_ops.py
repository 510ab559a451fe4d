"""The low-level ops that TensorFlow 1 graphs express choices and loops with.

`Switch` sends a value one of two ways and `Merge` takes the one that came; `Enter`, `NextIteration` and `Exit` carry
values into a loop, round it and out of it. In a graph they are made functional before it runs
(`functions.functionalize`); the kernels here serve a single op called by itself, where a way not taken gives an empty
tensor. Knows nothing of graphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, UNDEFINED, same
from ebbflow.ops.sizes import invalid


def _switch_shape(data: Any, pred: Any) -> list[Dims]:
    return [data.dims, data.dims]


def _switch(xp: Any, data: Any, pred: Any) -> tuple[Any, Any]:
    if pred.ndim:
        raise invalid(f"The second input must be a scalar, but it has shape {list(pred.shape)}")
    nothing = np.zeros([0], data.dtype)
    return (nothing, data) if pred else (data, nothing)


def _merge_shape(inputs: Any) -> list[Dims]:
    dims = inputs[0].dims
    for other in inputs[1:]:
        if dims is None or other.dims is None or len(dims) != len(other.dims):
            return [None, ()]
        dims = tuple(m if m == n else None for m, n in zip(dims, other.dims, strict=True))
    return [dims, ()]


def _merge(xp: Any, inputs: Any) -> tuple[Any, Any]:
    return inputs[0], np.array(0, np.int32)


_ROUTES = {"shape": _switch_shape, "kernel": _switch, "gradient": UNDEFINED}
Switch = op("Switch(data:T, pred:bool) -> (output_false:T, output_true:T) | T: type", **_ROUTES)
RefSwitch = op(
    "RefSwitch(data:Ref(T), pred:bool) -> (output_false:Ref(T), output_true:Ref(T)) | T: type | "
    "allows_uninitialized_input",
    **_ROUTES,
)
_JOINS = {"shape": _merge_shape, "kernel": _merge, "gradient": UNDEFINED}
Merge = op("Merge(inputs:N*T) -> (output:T, value_index:int32) | T: type; N: int >= 1", **_JOINS)
RefMerge = op("RefMerge(inputs:Ref(N*T)) -> (output:Ref(T), value_index:int32) | T: type; N: int >= 1", **_JOINS)

RefIdentity = op(
    "RefIdentity(input:Ref(T)) -> (output:Ref(T)) | T: type | allows_uninitialized_input",
    shape=same,
    kernel=lambda xp, input: input,
    gradient=UNDEFINED,
)
RefSelect = op(
    "RefSelect(index:int32, inputs:Ref(N*T)) -> (output:Ref(T)) | T: type; N: int >= 1",
    shape=lambda index, inputs: inputs[0].dims if len({x.dims for x in inputs}) == 1 else None,
    gradient=UNDEFINED,
)


@RefSelect.kernel
def _(xp, index, inputs):
    if index.ndim or not 0 <= index < len(inputs):
        raise invalid(f"Index must be in the range [0, {len(inputs)}) but got {index}")
    return inputs[int(index)]


def _enter_shape(data: Any, *, is_constant: bool) -> Dims:
    return data.dims if is_constant else None  # a loop variable may change its shape


_ENTER = (
    "{}(data:{}) -> (output:{}) | T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"
)
_THROUGH = {"shape": same, "kernel": lambda xp, data: data, "gradient": UNDEFINED}
_IN = {**_THROUGH, "shape": _enter_shape}
Enter = op(_ENTER.format("Enter", "T", "T"), **_IN)
RefEnter = op(_ENTER.format("RefEnter", "Ref(T)", "Ref(T)"), **_IN)
Exit = op("Exit(data:T) -> (output:T) | T: type", **_THROUGH)
RefExit = op("RefExit(data:Ref(T)) -> (output:Ref(T)) | T: type", **_THROUGH)
NextIteration = op("NextIteration(data:T) -> (output:T) | T: type", **_THROUGH)
RefNextIteration = op("RefNextIteration(data:Ref(T)) -> (output:Ref(T)) | T: type", **_THROUGH)
LoopCond = op("LoopCond(input:bool) -> (output:bool)", shape=same, kernel=lambda xp, input: input, gradient=FLAT)
Abort = op('Abort() -> () | error_msg: string = ""; exit_without_error: bool = false', shape=lambda: [], gradient=FLAT)


@Abort.kernel
def _(xp, *, error_msg, exit_without_error):
    if not exit_without_error:
        raise errors.AbortedError(None, None, error_msg or "Abort_op intentional failure")
    return ()
