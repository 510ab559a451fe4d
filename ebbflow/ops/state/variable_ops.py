"""Variable ops: resources (VarHandleOp and its kin) and references (VariableV2 and its kin) on the same storage.

The two families differ in how a variable is passed (a resource handle, or a reference that is read where its value is
used) and in nothing else, so updates are declared for both at once from one row. Updates of single rows and elements
are in `partial_updates`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.call import Call
from ebbflow.core.convert import convert
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.arrays.indexing import check_range
from ebbflow.ops.declare import FLAT, dense, raw, scalar, show
from ebbflow.ops.shape_rules import agreed
from ebbflow.ops.state.storage import Storage, held, named_storage

ANONYMOUS = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
"""The shared_name by which TensorFlow asks for a resource that is shared with nobody."""

# --- handles ----------------------------------------------------------------------------------------------------------

VarHandleOp = op(
    'VarHandleOp() -> (resource:resource) | container: string = ""; shared_name: string = ""; debug_name: string = ""; '
    "dtype: type; shape: shape; allowed_devices: list(string) = [] | stateful",
    shape=scalar,
    gradient=FLAT,
    facts="variable",
)


@VarHandleOp.kernel
def _(xp, *, container, shared_name, dtype, shape, run):
    name = shared_name or (run.node.name if run.node is not None else "")
    if not name or name == ANONYMOUS:
        return Storage("anonymous", dtype, shape).handle()
    return find_or_make((container, name), run, lambda: named_storage(container, name, dtype, shape)).handle()


def find_or_make(key: Any, run: Any, make: Callable[[], Any]) -> Any:
    """Return the resource of this name, making it on first use; threads that meet here get the same one."""
    found = run.resources.get(key)
    return found if found is not None else run.resources.setdefault(key, make())


def _reference_variable(name: str, attrs: str) -> Any:
    declared = op(
        f"{name}() -> (ref:Ref(dtype)) | {attrs} | stateful", "variable", shape=lambda *, shape: shape, gradient=FLAT
    )

    @declared.kernel
    def _(xp, *, container, shared_name, dtype, shape, run):
        name = shared_name or run.node.name
        return find_or_make((container, name), run, lambda: Storage(name, dtype, shape, is_resource=False)).handle()

    return declared


_NAMED = 'container: string = ""; shared_name: string = ""'
VariableV2 = _reference_variable("VariableV2", f"shape: shape; dtype: type; {_NAMED}")
Variable = _reference_variable("Variable", f"shape: shape; dtype: type; {_NAMED}")

TemporaryVariable = op(
    'TemporaryVariable() -> (ref:Ref(dtype)) | shape: shape; dtype: type; var_name: string = "" | stateful',
    shape=lambda *, shape: shape,
    kernel=lambda xp, *, shape, dtype, var_name: Storage(var_name, dtype, shape, is_resource=False).handle(),
    gradient=FLAT,
)
DestroyTemporaryVariable = op(
    "DestroyTemporaryVariable(ref:Ref(T)) -> (value:T) | T: type; var_name: string",
    shape=lambda ref: ref.dims,
    kernel=lambda xp, ref: held(ref).read(),
    gradient=FLAT,
)


def handle_facts(handle: Any) -> tuple[Any, Dims]:
    """Return dtype and dims of the variable behind a handle (a tensor, or an array), as far as they are known."""
    array = handle if isinstance(handle, np.ndarray) else getattr(handle, "_array", None)
    if array is not None:
        storage = held(array)
        return (storage.dtype, storage.dims) if isinstance(storage, Storage) else (None, None)
    while getattr(handle, "op", None) is not None and handle.op.type == "Identity":
        handle = handle.op._inputs[0]
    node = getattr(handle, "op", None)
    if node is None:
        return None, None
    body = node._attrs.get("f")
    if hasattr(body, "outputs"):  # what a call of a function gives is what its body gives
        inside, given = body.outputs[handle._value_index], dict(zip(map(id, body.inputs), node._inputs, strict=False))
        while inside.op.type == "Identity":
            inside = inside.op._inputs[0]
        return handle_facts(given.get(id(inside), inside))
    if node.type == "VarHandleOp":
        return node._attrs["dtype"], node._attrs["shape"]
    carried_by = getattr(node.graph, "carried_by", None)
    outside = carried_by(node._outputs[0]) if carried_by is not None and node._outputs else None
    if outside is not None:  # an argument of a function's body
        return handle_facts(outside)
    types, shapes = node._attrs.get("_handle_dtypes"), node._attrs.get("_handle_shapes")
    return (types[0], shapes[0]) if types and shapes else (None, None)


def _dims(resource: Known) -> Dims:
    return handle_facts(resource._source)[1]


def _of_type(storage: Storage, dtype: Any, doing: str) -> Storage:
    if storage.dtype is not dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Trying to {doing} variable with wrong dtype. Expected {dtypes.c_name(storage.dtype)} got "
            f"{dtypes.c_name(dtype)} (variable '{storage.name}')",
        )
    return storage


# --- reading and setting the whole value ------------------------------------------------------------------------------

ReadVariableOp = op(
    "ReadVariableOp(resource:resource) -> (value:dtype) | dtype: type | stateful",
    shape=lambda resource: _dims(resource),
    kernel=lambda xp, resource, *, dtype: _of_type(held(resource), dtype, "read").read(),
    gradient=lambda call, grad: grad,
    facts="reads=whole free",
)
AssignVariableOp = op(
    "AssignVariableOp(resource:resource, value:dtype) -> () | dtype: type; validate_shape: bool = false | stateful",
    shape=lambda resource, value: _nothing(agreed(_dims(resource), value.dims)),
    gradient=FLAT,
)


def _nothing(dims: Dims) -> list[Dims]:
    """The dims of no outputs, once the inputs' have been compared."""
    return []


@AssignVariableOp.kernel
def _(xp, resource, value, *, dtype, validate_shape):
    storage = _of_type(held(resource), dtype, "assign")
    if validate_shape and storage.is_set() and storage.read().shape != value.shape:
        raise storage.wrong_shape(value)
    storage.assign(value)
    return ()


Assign = op(
    "Assign(ref:Ref(T), value:T) -> (output_ref:Ref(T)) | T: type; validate_shape: bool = true; use_locking: bool = "
    "true "
    "| allows_uninitialized_input",
    shape=lambda ref, value, *, validate_shape: agreed(ref.dims, value.dims) if validate_shape else value.dims,
    gradient=FLAT,
)


@Assign.kernel
def _(xp, ref, value, *, validate_shape):
    storage = held(ref)
    if validate_shape and storage.is_set() and storage.read().shape != value.shape:
        raise storage.wrong_shape(value)
    storage.assign(value, validate_shape)
    return ref


VarIsInitializedOp = op(
    "VarIsInitializedOp(resource:resource) -> (is_initialized:bool) | stateful",
    shape=scalar,
    kernel=lambda xp, resource: np.array(held(resource).is_set()),
    gradient=FLAT,
    facts="reads=part",
)
IsVariableInitialized = op(
    "IsVariableInitialized(ref:Ref(dtype)) -> (is_initialized:bool) | dtype: type | allows_uninitialized_input",
    shape=scalar,
    kernel=lambda xp, ref: np.array(held(ref).is_set()),
    gradient=FLAT,
    facts="reads=part",
)
DisableCopyOnRead = op(
    "DisableCopyOnRead(resource:resource) -> () | stateful",
    shape=lambda resource: [],
    kernel=lambda xp, resource: (),
    gradient=FLAT,
)
DestroyResourceOp = op(
    "DestroyResourceOp(resource:resource) -> () | ignore_lookup_error: bool = true | stateful",
    shape=lambda resource: [],
    gradient=FLAT,
)


@DestroyResourceOp.kernel
def _(xp, resource, *, ignore_lookup_error, run):
    storage = held(resource)
    for key in [k for k, v in list(run.resources.items()) if v is storage]:
        del run.resources[key]
    if isinstance(storage, Storage):
        if not ignore_lookup_error:
            storage.present()
        storage.clear()
    return ()


VariableShape = op(
    "VariableShape(input:resource) -> (output:out_type) | out_type: index = int32 | stateful",
    shape=lambda input: (None if (dims := _dims(input)) is None else len(dims),),
    kernel=lambda xp, input, *, out_type: np.array(held(input).present().shape, out_type.np),
    gradient=FLAT,
    facts="reads=part",
)


def _shape_of(handle: Any, kind: dtypes.DType = dtypes.int32) -> Any:
    """Return a variable's shape: a constant, where the graph knows it, so that shapes of gradients are known."""
    dims = None if isinstance(handle, EagerTensor) else handle_facts(handle)[1]
    return (
        raw.VariableShape(handle, out_type=kind) if dims is None or None in dims else convert(np.array(dims, kind.np))
    )


# --- updates of the whole value ---------------------------------------------------------------------------------------


def _whole(name: str, function: Any) -> tuple[Any, Any]:
    """Declare an update of a variable by a value of its own shape, for references and for resources."""
    reference = op(
        f"{name}(ref:Ref(T), value:T) -> (output_ref:Ref(T)) | T: numbers; use_locking: bool = false",
        shape=lambda ref, value: agreed(ref.dims, value.dims),
        gradient=FLAT,
    )

    @reference.kernel
    def _(xp, ref, value):
        held(ref).update(function, value)
        return ref

    resource = op(
        f"{name}VariableOp(resource:resource, value:dtype) -> () | dtype: type | stateful",
        shape=lambda resource, value: _nothing(agreed(_dims(resource), value.dims)),
        gradient=FLAT,
    )

    @resource.kernel
    def _(xp, resource, value, *, dtype):
        if value.dtype.kind in "Ob":
            raise errors.InvalidArgumentError(None, None, f"{name} is not defined for variables of dtype {dtype.name}")
        _of_type(held(resource), dtype, "update").update(function, value)
        return ()

    return reference, resource


AssignAdd, AssignAddVariableOp = _whole("AssignAdd", np.add)
AssignSub, AssignSubVariableOp = _whole("AssignSub", np.subtract)

# --- reading rows -----------------------------------------------------------------------------------------------------

check_rows = check_range
"""Refuse indices that are not rows: NumPy would count negative ones from the end."""


def _check_batch_dims(batch_dims: int) -> None:
    if batch_dims < 0:
        raise errors.InvalidArgumentError(None, None, f"batch_dims is negative ({batch_dims}); it counts leading axes")


ResourceGather = op(
    "ResourceGather(resource:resource, indices:Tindices) -> (output:dtype) | batch_dims: int = 0; validate_indices: "
    "bool = true; "
    "dtype: type; Tindices: index | stateful",
    facts="reads=part",
)


@ResourceGather.shape
def _(resource, indices, *, batch_dims):
    _check_batch_dims(batch_dims)
    dims = _dims(resource)
    if dims is None or indices.dims is None:
        return None
    if not dims:
        raise errors.StaticShapeError("Shape must be at least rank 1 but is rank 0")
    return dims[:batch_dims] + indices.dims[batch_dims:] + dims[batch_dims + 1 :]


@ResourceGather.kernel
def _(xp, resource, indices, *, dtype, batch_dims):
    _check_batch_dims(batch_dims)
    value = _of_type(held(resource), dtype, "read").present()
    return raw.GatherV2.run([value, indices, np.array(batch_dims)], {"batch_dims": batch_dims})


@ResourceGather.gradient
def _(call, grad):
    if call.batch_dims:
        zeros = raw.Fill(_shape_of(call.resource), raw.Cast(0, DstT=grad.dtype))
        return _through_gather(zeros, call, dense(grad)), None
    shape = _shape_of(call.resource)
    rows = raw.Reshape(call.indices, [-1])
    tail = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
    values = raw.Reshape(dense(grad), raw.ConcatV2([raw.Shape(rows), tail], 0))
    return IndexedSlices(values, rows, shape), None


def _through_gather(zeros: Any, call: Any, grad: Any) -> Any:
    """Return the gradient of a gather with batches by the rule of the plain op, which gathers from a tensor."""
    inputs = (zeros, call.indices, convert(call.batch_dims))
    plain = Call(raw.GatherV2, inputs, call.outputs, {"batch_dims": call.batch_dims})
    return raw.GatherV2.gradient_fn(plain, grad)[0]


ResourceGatherNd = op(
    "ResourceGatherNd(resource:resource, indices:Tindices) -> (output:dtype) | dtype: type; Tindices: index | stateful",
    facts="reads=part",
)


@ResourceGatherNd.shape
def _(resource, indices):
    dims = _dims(resource)
    if dims is None or indices.dims is None or not indices.dims or indices.dims[-1] is None:
        return None
    if indices.dims[-1] > len(dims):
        raise errors.StaticShapeError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {show(indices.dims)} and params "
            f"shape: {show(dims)}"
        )
    return indices.dims[:-1] + dims[indices.dims[-1] :]


@ResourceGatherNd.kernel
def _(xp, resource, indices, *, dtype):
    value = _of_type(held(resource), dtype, "read").present()
    return raw.GatherNd.run([value, indices], {"bad_indices_policy": ""})


@ResourceGatherNd.gradient
def _(call, grad):
    indices, grad = call.indices, dense(grad)
    if indices._dims is not None and len(indices._dims) == 2 and indices._dims[-1] == 1:
        return IndexedSlices(grad, raw.Squeeze(indices, squeeze_dims=[-1]), _shape_of(call.resource)), None
    return raw.ScatterNd(indices, grad, _shape_of(call.resource, indices.dtype)), None


# --- counting ---------------------------------------------------------------------------------------------------------


def _count_up(storage: Storage, limit: int) -> np.ndarray:
    with storage:
        before = storage.writable().copy()
        if before.ndim:
            raise errors.InvalidArgumentError(
                None, None, f"variable '{storage.name}' must be a scalar to be counted up"
            )
        if before >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        storage.writable()[...] += 1
        return before


CountUpTo = op(
    "CountUpTo(ref:Ref(T)) -> (output:T) | limit: int; T: index",
    shape=scalar,
    kernel=lambda xp, ref, *, limit: _count_up(held(ref), limit),
    gradient=FLAT,
    facts="ends",
)
ResourceCountUpTo = op(
    "ResourceCountUpTo(resource:resource) -> (output:T) | limit: int; T: index | stateful",
    shape=scalar,
    kernel=lambda xp, resource, *, limit: _count_up(held(resource), limit),
    gradient=FLAT,
    facts="ends",
)
