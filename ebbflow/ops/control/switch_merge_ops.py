"""The low-level ops that TensorFlow 1 graphs express choices and loops with.

`Switch` sends a value one of two ways and `Merge` takes the one that came; `Enter`, `NextIteration` and `Exit` carry
values into a loop, round it and out of it. In a graph they are made functional before it runs
(`functions.functionalize`); the kernels here serve a single op called by itself, where a way not taken gives an empty
tensor. Knows of graphs only what gradients ask: which Switch a value has come through.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.common_dims import common_dims
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.declare import FLAT, UNDEFINED, dense, raw, same
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
        dims = common_dims(dims, other.dims)
    return [dims, ()]


def _merge(xp: Any, inputs: Any) -> tuple[Any, Any]:
    return inputs[0], np.array(0, np.int32)


def _switch_gradient(call: Any, grad_false: Any, grad_true: Any) -> tuple[Any, Any]:
    """What came back the way that was taken: nothing where that is not the way that was asked about."""
    if isinstance(call.pred, EagerTensor):
        return (grad_true if call.pred._array else grad_false), None
    sides = [raw.Switch(dense(grad), call.pred)[side] for side, grad in enumerate((grad_false, grad_true))]
    return raw.Merge(sides).output, None


def _merge_gradient(call: Any, grad: Any, _: Any) -> Any:
    """Each input's gradient goes back the way that the input came: what was not taken gets none."""
    if isinstance(grad, EagerTensor):
        return [grad, *[None] * (len(call.inputs) - 1)]
    return [_back(grad, value, call.value_index, place) for place, value in enumerate(call.inputs)]


def _back(grad: Any, value: Any, taken: Any, place: int) -> Any:
    if value.op.type in _LOOPS:
        raise LookupError(f"No gradient defined for the loop of '{value.op.name}'. Write it with tf.while_loop")
    way = _way_of(value)
    if way is None:
        return raw.Switch(grad, raw.Equal(taken, place)).output_true
    pred, side = way
    return raw.Switch(grad, pred)[side]


def _way_of(value: Any) -> tuple[Any, int] | None:
    """Return the predicate that a value depends on, and whether it is there where that holds; None if on none.

    A choice that is made and ended on the way there is passed over: what is in front of its own Switch comes next.
    """
    pending, seen = deque([value]), set()
    while pending:
        tensor = pending.popleft()
        node = tensor.op
        if node in seen:
            continue
        seen.add(node)
        if node.type in ("Switch", "RefSwitch"):
            return node.inputs[1], tensor.value_index
        if node.type in ("Merge", "RefMerge"):
            inner = _way_of(node.inputs[0])
            pending.extend(() if inner is None else (inner[0], *_data_of(node, inner[0])))
        else:
            pending.extend(node.inputs)
    return None


def _data_of(merge: Any, pred: Any) -> list[Any]:
    """Return what comes to a choice from in front of it: what goes through the Switches of its predicate."""
    pending, seen, found = deque(merge.inputs), set(), []
    while pending:
        node = pending.popleft().op
        if node in seen:
            continue
        seen.add(node)
        if node.type in ("Switch", "RefSwitch") and node.inputs[1] is pred:
            found.append(node.inputs[0])
        else:
            pending.extend(node.inputs)
    return found


_LOOPS = frozenset(("Enter", "RefEnter", "NextIteration", "RefNextIteration"))
_ROUTES: dict[str, Any] = {"shape": _switch_shape, "kernel": _switch, "gradient": _switch_gradient}
Switch = op("Switch(data:T, pred:bool) -> (output_false:T, output_true:T) | T: type", **_ROUTES)
RefSwitch = op(
    "RefSwitch(data:Ref(T), pred:bool) -> (output_false:Ref(T), output_true:Ref(T)) | T: type | "
    "allows_uninitialized_input",
    **_ROUTES,
)
_JOINS: dict[str, Any] = {"shape": _merge_shape, "kernel": _merge, "gradient": _merge_gradient}
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
