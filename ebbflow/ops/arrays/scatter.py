"""Putting elements where indices say: scatter_nd and the tensor_scatter family.

An index tuple is the last axis of `indices`; what it names is a slice of the result. Every op makes its result anew
and none writes into an input. Imports `indexing` for the checks of indices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Op, op
from ebbflow.core.shape import Dims, is_compatible
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import filled, zeros_like
from ebbflow.ops.arrays.indexing import ignores, outside
from ebbflow.ops.declare import dense, raw, show
from ebbflow.ops.sizes import invalid, lengths, product, room_for, shape_of

_POLICY = 'bad_indices_policy: string = ""'


def _check_static(target: Dims, indices: Dims, updates: Dims) -> None:
    """Refuse shapes that cannot match, as far as they are known."""
    if indices is None or updates is None:
        return
    lead = len(indices) - 1
    if lead < 0:
        raise errors.StaticShapeError(f"indices must be at least a vector, got shape {show(indices)}")
    if not is_compatible(indices[:-1], updates[:lead]):
        raise errors.StaticShapeError(
            f"Dimensions [0,{lead}) of indices[shape={show(indices)}] = {show(indices[:-1])} must match dimensions "
            f"[0,{lead}) of updates[shape={show(updates)}] = {show(updates[:lead])}"
        )
    if target is not None and 0 in target and product(indices[:-1]) and product(updates):
        raise errors.StaticShapeError("Indices and updates specified for empty input")
    if target is None or indices[-1] is None:
        return
    depth = indices[-1]
    if depth > len(target) or not is_compatible(target[depth:], updates[lead:]):
        raise errors.StaticShapeError(
            f"Dimensions [{depth},{len(target)}) of input[shape={show(target)}] = {show(target[depth:])} must match "
            f"dimensions [{lead},{len(updates)}) of updates[shape={show(updates)}] = {show(updates[lead:])}"
        )


def _check_rank(indices: Any, updates: Any) -> None:
    """Refuse a single index tuple: TensorFlow takes tuples as rows of at least a matrix."""
    if indices.ndim < 2 and (indices.size or updates.size):
        counts = [x.shape[0] if x.ndim else 0 for x in (indices, updates)]
        raise invalid(
            f"Dimensions [0,1) of indices[shape={show(indices.shape)}] = {counts[0]} must match dimensions [0,1) of "
            f"updates[shape={show(updates.shape)}] = {counts[1]}"
        )


def _checked(target: Any, indices: Any, updates: Any, policy: str) -> tuple[Any, Any]:
    """Return the indices as one array per axis, and the updates: the bad ones left out where they are ignored."""
    depth, lead = indices.shape[-1], indices.ndim - 1
    bad = outside(np, indices, target.shape[:depth])
    if bad.any():
        if not ignores(policy):
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            raise invalid(
                f"indices[{','.join(map(str, at))}] = [{', '.join(map(str, indices[at].tolist()))}] "
                f"does not index into shape {show(target.shape)}"
            )
        indices, updates = indices[~bad], updates[~bad]
        lead = 1
    return tuple(indices[..., i] for i in range(depth)), updates.reshape(*indices.shape[:lead], *target.shape[depth:])


def scattered(xp: Any, target: Any, indices: Any, updates: Any, how: str, policy: str = "") -> Any:
    """Return `target`, an array of our own, with `updates` set, added, subtracted, minimised or maximised in."""
    if indices.ndim and not math.prod(target.shape) and math.prod(indices.shape[:-1]) and math.prod(updates.shape):
        raise invalid(f"Indices and updates specified for empty output.  indices shape: {show(indices.shape)}")
    if xp is not np:  # nothing can be refused on an accelerator: what is outside is dropped
        bad = outside(xp, indices, target.shape[: indices.shape[-1]])[..., None]
        gone = xp.where(bad, xp.array(target.shape[: indices.shape[-1]]), indices)
        places = tuple(gone[..., i] for i in range(indices.shape[-1]))
        return getattr(target.at[places], how)(updates, mode="drop")
    if not indices.shape[-1]:
        return target if xp.size(updates) == 0 and target.size == 0 else _over_all(target, updates, how)
    places, updates = _checked(target, indices, updates, policy)
    if how in ("min", "max") and updates.dtype.kind not in "iub":
        updates = np.where(
            np.isnan(updates), updates.dtype.type(np.inf if how == "min" else -np.inf), updates
        )  # NaN loses
    if how == "set":
        target[places] = updates
    elif target.dtype.hasobject:
        for at, text in zip(zip(*(p.reshape(-1) for p in places), strict=True), updates.reshape(-1), strict=True):
            target[at] += text
    else:
        _UFUNCS[how].at(target, places, updates)
    return target


def _over_all(target: Any, updates: Any, how: str) -> Any:
    """An empty index tuple names the whole target: the updates come over it one after the other."""
    for part in updates.reshape(-1, *target.shape):
        target = part if how == "set" else _UFUNCS[how](target, part)
    return target


_UFUNCS = {"add": np.add, "subtract": np.subtract, "min": np.minimum, "max": np.maximum}

# --- onto nothing -----------------------------------------------------------------------------------------------------

ScatterNd = op(
    "ScatterNd(indices:Tindices, updates:T, shape:Tindices) -> (output:T)"
    f" | T: type; Tindices: type in [int16,int32,int64]; {_POLICY}",
    "sizes=shape in_range=indices one_core=6",
)


@ScatterNd.shape
def _(indices, updates, shape):
    wanted = lengths(shape, "shape")
    _check_static(wanted, indices.dims, updates.dims)
    return wanted


@ScatterNd.kernel
def _(xp, indices, updates, shape, *, T, bad_indices_policy):
    dims = tuple(shape.tolist())
    if shape.ndim != 1 or not indices.ndim:
        raise ValueError("indices must be at least a vector and shape a vector")
    room_for(dims, updates.dtype.itemsize)
    if not dims and math.prod(updates.shape):
        raise invalid("Indices and updates specified for empty output shape")
    _check_static(dims, indices.shape, updates.shape)
    _check_rank(indices, updates)
    target = filled(dims, b"" if T is dtypes.string else 0, T) if xp is np else xp.zeros(dims, updates.dtype)
    return scattered(xp, target, indices, updates, "add", bad_indices_policy)


@ScatterNd.gradient
def _(call, grad):
    return None, raw.GatherNd(grad, call.indices, bad_indices_policy=call.bad_indices_policy), None


# --- onto a tensor ----------------------------------------------------------------------------------------------------


def _tensor_scatter(
    name: str, how: str, gradient: Callable[..., Any], types: str = "type", index: str = "index", facts: str = ""
) -> Op:
    """Declare an op that scatters updates onto its first input."""
    first = "input" if name.startswith("ScatterNd") else "tensor"
    declared = op(
        f"{name}({first}:T, indices:Tindices, updates:T) -> (output:T) | T: {types}; Tindices: {index}; {_POLICY}",
        f"in_range=indices {facts}",
    )

    def rule(tensor: Any, indices: Any, updates: Any) -> Dims:
        _check_static(tensor.dims, indices.dims, updates.dims)
        return tensor.dims

    def kernel(xp: Any, tensor: Any, indices: Any, updates: Any, *, bad_indices_policy: str) -> Any:
        (_check_dimensions if first == "input" else _check_shapes)(tensor, indices, updates)
        _check_rank(indices, updates)
        return scattered(xp, xp.array(tensor), indices, updates, how, bad_indices_policy)

    declared.shape(rule)
    declared.kernel(kernel)
    declared.gradient(gradient)
    return declared


def _check_dimensions(tensor: Any, indices: Any, updates: Any) -> None:
    """Refuse what `_check_shapes` refuses, in the words of the ops that scatter onto an `input`."""
    lead, depth = max(indices.ndim - 1, 0), indices.shape[-1] if indices.ndim else 0
    if indices.ndim and indices.shape[:-1] != updates.shape[:lead]:
        raise invalid(
            f"Dimensions [0,{lead}) of indices[shape={show(indices.shape)}] must match dimensions [0,{lead}) of "
            f"updates[shape={show(updates.shape)}]"
        )
    if indices.ndim and depth <= tensor.ndim and tensor.shape[depth:] != updates.shape[lead:]:
        raise invalid(
            f"Dimensions [{depth},{tensor.ndim}) of input[shape={show(tensor.shape)}] must match dimensions "
            f"[{lead},{updates.ndim}) of updates[shape={show(updates.shape)}]"
        )
    _check_shapes(tensor, indices, updates)


def _check_shapes(tensor: Any, indices: Any, updates: Any) -> None:
    if not indices.ndim:
        raise invalid(f"Indices shape must have rank at least one. Found:{show(indices.shape)}")
    lead, depth = indices.ndim - 1, indices.shape[-1]
    if indices.shape[:-1] != updates.shape[:lead]:
        raise invalid(
            f"Outer dimensions of indices and update must match. Indices shape: {show(indices.shape)}, updates shape:"
            f"{show(updates.shape)}"
        )
    if depth > tensor.ndim or tensor.shape[depth:] != updates.shape[lead:]:
        raise invalid(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {show(tensor.shape)} updates: {show(updates.shape)}"
        )


def _picked(call: Any, grad: Any) -> Any:
    return raw.GatherNd(grad, call.indices, bad_indices_policy=call.bad_indices_policy)


def _update_rule(call: Any, grad: Any) -> Any:
    grad = dense(grad)
    kept = TensorScatterUpdate(grad, call.indices, zeros_like(call.updates), bad_indices_policy=call.bad_indices_policy)
    return kept, None, _picked(call, grad)


def _add_rule(call: Any, grad: Any) -> Any:
    grad = dense(grad)
    return grad, None, _picked(call, grad)


def _sub_rule(call: Any, grad: Any) -> Any:
    grad = dense(grad)
    return grad, None, raw.Neg(_picked(call, grad))


def _extreme_rule(call: Any, grad: Any) -> Any:
    """Share each gradient evenly among all that reached the extreme: the old element and the updates."""
    grad = dense(grad)
    tensor, indices, updates, result = call.tensor, call.indices, call.updates, call.output
    old = raw.Cast(raw.Equal(tensor, result), DstT=grad.dtype)
    policy = call.bad_indices_policy
    new = raw.Cast(raw.Equal(updates, _picked(call, result)), DstT=grad.dtype)
    winners = old + raw.ScatterNd(indices, new, shape_of(tensor, indices.dtype), bad_indices_policy=policy)
    share = grad / winners
    return share * old, None, new * _picked(call, share)


TensorScatterUpdate = _tensor_scatter(
    "TensorScatterUpdate", "set", _update_rule, index="type in [int16,int32,int64,uint16]", facts="portable"
)
TensorScatterAdd = _tensor_scatter("TensorScatterAdd", "add", _add_rule, facts="portable")
TensorScatterSub = _tensor_scatter("TensorScatterSub", "subtract", _sub_rule, facts="portable")
TensorScatterMin = _tensor_scatter("TensorScatterMin", "min", _extreme_rule)
TensorScatterMax = _tensor_scatter("TensorScatterMax", "max", _extreme_rule)
ScatterNdNonAliasingAdd = _tensor_scatter("ScatterNdNonAliasingAdd", "add", _add_rule, types="type in [numbers,bool]")


# --- public -----------------------------------------------------------------------------------------------------------


def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Return zeros of `shape` with `updates` added in at the index tuples in the last axis of `indices`.

    >>> scatter_nd([[0], [2], [0]], [1, 2, 3], [4]).numpy().tolist()
    [4, 0, 2, 0]
    """
    return ScatterNd(indices, updates, shape, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Return `tensor` with `updates` in place of what the index tuples name.

    >>> tensor_scatter_nd_update([1, 2, 3], [[1]], [9]).numpy().tolist()
    [1, 9, 3]
    """
    return TensorScatterUpdate(tensor, indices, updates, name=name)


def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Return `tensor` with `updates` added to what the index tuples name."""
    return TensorScatterAdd(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Return `tensor` with `updates` subtracted from what the index tuples name."""
    return TensorScatterSub(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Return `tensor` with the smaller of `updates` and what the index tuples name."""
    return TensorScatterMin(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Return `tensor` with the larger of `updates` and what the index tuples name."""
    return TensorScatterMax(tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)
