"""Updates of a part of a variable: rows, single elements, slices; for references and for resources.

A row that is named twice is updated twice, one after the other in the order given, as in TensorFlow. Everything is
checked before anything is written. Knows storages; the ops that read and set whole variables are in `state`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.arrays.indexing import check_range, ignores, outside
from ebbflow.ops.arrays.slicing import MASK_NAMES, numpy_index
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.shape_rules import agreed
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.repeated_indices import fold_into, rounds
from ebbflow.ops.state.storage import Storage, held
from ebbflow.ops.state.variable_ops import handle_facts


def _divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    if not np.all(y):
        raise invalid("Integer division by zero")
    return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(x.dtype)  # towards zero, as in C


UPDATES: dict[str, Callable[..., Any]] = {
    "Update": lambda x, y: y,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Min": np.minimum,
    "Max": np.maximum,
}


def update_rows(rows: np.ndarray, kind: str, at: np.ndarray, updates: np.ndarray) -> None:
    """Update `rows[at[i]]` by `updates[i]` for each i in turn."""
    function = UPDATES[kind]
    if isinstance(function, np.ufunc):
        fold_into(rows, at, updates, function)
        return
    if kind == "Update":
        rows[at] = updates  # of a row that is named twice NumPy keeps the last
        return
    turns = rounds(at)
    for chosen in (slice(i, i + 1) for i in range(at.size)) if turns is None else turns:
        places = at[chosen]
        rows[places] = function(rows[places], updates[chosen])


# --- rows -------------------------------------------------------------------------------------------------------------


def _scatter(storage: Storage, kind: str, indices: np.ndarray, updates: np.ndarray) -> None:
    with storage:
        shape = storage.present().shape
        if not shape:
            raise invalid(f"params must be at least 1-D, got shape [] (variable '{storage.name}')")
        if updates.ndim and updates.shape != indices.shape + shape[1:]:
            raise invalid(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
                f"{show(updates.shape)}, indices.shape {show(indices.shape)}, params.shape {show(shape)}"
            )
        check_range(indices, shape[0])
        whole = np.broadcast_to(updates, indices.shape + shape[1:]).reshape(indices.size, *shape[1:])
        update_rows(storage.writable(), kind, indices.reshape(-1), whole)


def _check_rows(dims: Dims, indices: Known, updates: Known) -> None:
    if dims is not None and not dims:
        raise errors.StaticShapeError("Shape must be at least rank 1 but is rank 0")
    if dims is not None and indices.dims is not None and updates.dims != ():
        agreed(updates.dims, indices.dims + dims[1:])


def _rows(kind: str, ref_types: str = "numbers", ref_locking: str = "false", types: str = "numbers") -> tuple[Any, Any]:
    """Declare an update of a variable's rows, for references and for resources."""
    reference = op(
        f"Scatter{kind}(ref:Ref(T), indices:Tindices, updates:T) -> (output_ref:Ref(T)) | T: {ref_types}; Tindices: "
        "index; "
        f"use_locking: bool = {ref_locking}",
        shape=lambda ref, indices, updates: _check_rows(ref.dims, indices, updates) or ref.dims,  # type: ignore[func-returns-value]
        gradient=FLAT,
        facts="forgets",
    )

    @reference.kernel
    def _(xp, ref, indices, updates):
        _scatter(held(ref), kind, indices, updates)
        return ref

    resource = op(
        f"ResourceScatter{kind}(resource:resource, indices:Tindices, updates:dtype) -> () | dtype: {types}; "
        "Tindices: index | stateful",
        shape=lambda resource, indices, updates: _check_rows(handle_facts(resource._source)[1], indices, updates) or [],  # type: ignore[func-returns-value]
        gradient=FLAT,
        facts="forgets beside",
    )

    @resource.kernel
    def _(xp, resource, indices, updates):
        _scatter(held(resource), kind, indices, updates)
        return ()

    return reference, resource


_ORDERED = "type in [half,bfloat16,float,double,int32,int64]"
ScatterUpdate, ResourceScatterUpdate = _rows("Update", "type", "true", "type")
ScatterAdd, ResourceScatterAdd = _rows("Add")
ScatterSub, ResourceScatterSub = _rows("Sub")
ScatterMul, ResourceScatterMul = _rows("Mul")
ScatterDiv, ResourceScatterDiv = _rows("Div")
ScatterMin, ResourceScatterMin = _rows("Min", _ORDERED)
ScatterMax, ResourceScatterMax = _rows("Max", _ORDERED)

# --- elements at N-d indices ------------------------------------------------------------------------------------------


def _explain_nd(shape: tuple[int, ...], indices: np.ndarray, updates: np.ndarray, depth: int) -> None:
    """Raise what is wrong with shapes that do not fit: of the variable, of the indices, or of the updates."""
    if not shape:
        raise invalid("Output must be at least 1-D, got shape: []")
    lead = max(indices.ndim - 1, 0)
    if indices.ndim and indices.shape[:-1] != updates.shape[:lead]:
        raise invalid(
            f"Dimensions [0,{lead}) of indices[shape={show(indices.shape)}] must match dimensions [0,{lead}) of "
            f"updates[shape={show(updates.shape)}]"
        )
    if indices.ndim and depth <= len(shape):
        raise invalid(
            f"Dimensions [{depth},{len(shape)}) of input[shape={show(shape)}] must match dimensions "
            f"[{lead},{updates.ndim}) of updates[shape={show(updates.shape)}]"
        )


def _scatter_nd(storage: Storage, kind: str, indices: np.ndarray, updates: np.ndarray, policy: str) -> None:
    with storage:
        shape = storage.present().shape
        depth = indices.shape[-1] if indices.ndim else 0
        if not indices.ndim or depth > len(shape) or updates.shape != indices.shape[:-1] + shape[depth:]:
            _explain_nd(shape, indices, updates, depth)
            raise invalid(
                f"Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
                f"{show(updates.shape)}, indices.shape: {show(indices.shape)}, params_shape: {show(shape)}, "
                f"slice_dim: {depth}"
            )
        lead = shape[:depth]
        bad = outside(np, indices, lead) if depth else np.zeros(indices.shape[:-1], bool)
        skip = bad.any() and ignores(policy)
        if bad.any() and not skip:
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            place = f"indices[{','.join(map(str, at))}]" if at else "indices"
            raise invalid(
                f"{place} = [{', '.join(map(str, indices[at].tolist()))}] does not index into shape {show(shape)}"
            )
        if skip:
            indices, updates = indices[~bad], updates[~bad]
        count = math.prod(indices.shape[:-1])
        flat = np.ravel_multi_index(tuple(np.moveaxis(indices, -1, 0)), lead) if depth else np.zeros(count, np.int64)
        rows = storage.writable().reshape(math.prod(lead), *shape[depth:])
        update_rows(rows, kind, np.reshape(flat, -1), updates.reshape(count, *shape[depth:]))


def _check_elements(dims: Dims, indices: Known, updates: Known) -> None:
    """Refuse shapes that do not match, as far as they are known."""
    if indices.dims == ():
        raise errors.StaticShapeError("Shape must be at least rank 1 but is rank 0")
    if dims is None or indices.dims is None or updates.dims is None or indices.dims[-1] is None:
        return
    depth, outer = indices.dims[-1], len(indices.dims) - 1
    if depth > len(dims):
        raise errors.StaticShapeError(
            f"The innermost dimension of indices[shape={show(indices.dims)}] indexes {depth} axes, "
            f"input[shape={show(dims)}] has {len(dims)}"
        )
    try:
        agreed(indices.dims[:-1], updates.dims[:outer])
        agreed(dims[depth:], updates.dims[outer:])
    except errors.StaticShapeError:
        raise errors.StaticShapeError(
            f"Dimensions [0,{outer}) of indices[shape={show(indices.dims)}] must match dimensions [0,{outer}) of "
            f"updates[shape={show(updates.dims)}], and dimensions [{depth},{len(dims)}) of input[shape={show(dims)}] "
            "the rest"
        ) from None


def _elements(kind: str, ref_types: str = "numbers", ref_locking: str = "false") -> tuple[Any, Any]:
    """Declare an update of a variable at N-d indices, for references and for resources."""
    tail = 'Tindices: index; use_locking: bool = {}; bad_indices_policy: string = ""'
    reference = op(
        f"ScatterNd{kind}(ref:Ref(T), indices:Tindices, updates:T) -> (output_ref:Ref(T)) | T: {ref_types}; "
        f"{tail.format(ref_locking)}",
        shape=lambda ref, indices, updates: _check_elements(ref.dims, indices, updates) or ref.dims,  # type: ignore[func-returns-value]
        gradient=FLAT,
        facts="forgets",
    )

    @reference.kernel
    def _(xp, ref, indices, updates, *, bad_indices_policy):
        _scatter_nd(held(ref), kind, indices, updates, bad_indices_policy)
        return ref

    resource = op(
        f"ResourceScatterNd{kind}(ref:resource, indices:Tindices, updates:T) -> () | T: type; {tail.format('true')} "
        "| stateful",
        shape=lambda ref, indices, updates: _check_elements(handle_facts(ref._source)[1], indices, updates) or [],  # type: ignore[func-returns-value]
        gradient=FLAT,
        facts="forgets beside",
    )

    @resource.kernel
    def _(xp, ref, indices, updates, *, bad_indices_policy):
        _scatter_nd(held(ref), kind, indices, updates, bad_indices_policy)
        return ()

    return reference, resource


ScatterNdUpdate, ResourceScatterNdUpdate = _elements("Update", "type", "true")
ScatterNdAdd, ResourceScatterNdAdd = _elements("Add")
ScatterNdSub, ResourceScatterNdSub = _elements("Sub")
ScatterNdMin, ResourceScatterNdMin = _elements("Min")
ScatterNdMax, ResourceScatterNdMax = _elements("Max")

# --- slices -----------------------------------------------------------------------------------------------------------


def assign_slice(storage: Storage, ends: tuple[Any, Any, Any], value: np.ndarray, masks: tuple[int, ...]) -> None:
    """Set a slice of a variable, given as begin, end, strides and the five masks."""
    with storage:
        index = numpy_index(storage.present().shape, *ends, masks)
        chosen = storage.present()[index].shape
        try:
            spread = np.broadcast_to(value, chosen)
        except ValueError:
            raise invalid(
                f"Cannot broadcast input shape {show(value.shape)} into final shape {show(chosen)} (variable "
                f"'{storage.name}')"
            ) from None
        storage.writable()[index] = spread


def _slices(name: str, declared: str, outputs: str, flags: str) -> Any:
    masks = "; ".join(f"{mask}: int = 0" for mask in MASK_NAMES)
    found = op(
        f"{name}(ref:{declared}, begin:Index, end:Index, strides:Index, value:T) -> ({outputs}) | T: type; Index: "
        f"index; {masks}{flags}",
        shape=lambda ref, begin, end, strides, value: ref.dims if outputs else [],
        gradient=FLAT,
        facts="beside",
    )

    @found.kernel
    def _(xp, ref, begin, end, strides, value, *, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
        masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        assign_slice(held(ref), (begin, end, strides), value, masks)
        return ref if outputs else ()

    return found


StridedSliceAssign = _slices("StridedSliceAssign", "Ref(T)", "output_ref:Ref(T)", "")
ResourceStridedSliceAssign = _slices("ResourceStridedSliceAssign", "resource", "", " | stateful")
