"""A dataset that exists, as the ops that make it again: what a function needs that is written to a file.

Pipes know the call that made them (`Pipe.made_by`); the calls are made again in the graph that is open, the datasets
they take first. Knows pipes and ops; knows nothing of files.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.tensor import EagerTensor
from ebbflow.data.element_records import WRITTEN, record_of
from ebbflow.data.pipe import Pipe
from ebbflow.ops.declare import raw
from ebbflow.ops.lookup.table import MutableTable, StaticTable
from ebbflow.ops.state.storage import Storage, boxed

_DUMMIES = {
    "seed_generator": "DummySeedGenerator",
    "cache": "DummyMemoryCache",
    "iteration_counter": "DummyIterationCounter",
}
"""Inputs that hold nothing in most datasets, and the op that makes what stands there."""


def rebuilt(pipe: Pipe) -> Any:
    """Return a variant that holds a dataset like the one of `pipe`."""
    if pipe.made_by is None:
        raise errors.UnimplementedError(
            None, None, f"A dataset that {pipe.name or 'another runtime'} made cannot be written into a function: make "
            "it inside of the function, or pass its elements",
        )  # fmt: skip
    op, args, attrs = pipe.made_by
    inputs = [
        [_tensor(a, declared.name) for a in arg] if isinstance(arg, (list, tuple)) else _tensor(arg, declared.name)
        for arg, declared in zip(args, op.signature.inputs, strict=True)
    ]
    return op(*inputs, **{name: value for name, value in attrs.items() if name not in op.signature.inferred})


def _tensor(array: Any, name: str) -> Any:
    """Return the tensor of an array that a kernel was given for the input of that name."""
    array = np.asarray(array)
    if array.dtype != object:
        return _constant(array, dtypes.as_dtype(array.dtype))
    held = array.item() if array.size == 1 else None
    if isinstance(held, Pipe):
        return rebuilt(held)
    if held is None and array.size == 1 and name in _DUMMIES:
        return getattr(raw, _DUMMIES[name])()
    items = array.reshape(-1).tolist()
    if all(isinstance(item, (bytes, str)) for item in items):
        return _constant(array, dtypes.string)
    if all(isinstance(item, Pipe) for item in items):
        return raw.Reshape(raw.Pack([rebuilt(item) for item in items]), np.array(array.shape, np.int64))
    if all(isinstance(item, WRITTEN) for item in items):  # sparse and ragged rows
        return raw.ParseTensor(_constant(boxed(record_of(array)), dtypes.string), out_type=dtypes.variant)
    graph = context.current_graph()
    alone = graph is not None and not hasattr(graph, "capture")  # a function has what stands outside
    if alone and type(held) in (StaticTable, MutableTable):
        return _table(held)
    if alone and isinstance(held, Storage) and held.is_set():
        return _variable(held)
    return EagerTensor(array, dtypes.resource)


def _table(table: Any) -> Any:
    """Return the handle of a table with the same pairs: a graph that other processes read cannot have ours."""
    types = {"key_dtype": table.key_dtype, "value_dtype": table.value_dtype}
    static = isinstance(table, StaticTable)
    if table.value_dims:
        handle = raw.AnonymousMutableHashTableOfTensors(**types, value_shape=table.value_dims)
    else:
        handle = raw.AnonymousHashTable(**types) if static else raw.AnonymousMutableHashTable(**types)
    keys, values = table.export()
    if not len(keys):
        return handle
    fill = raw.InitializeTableV2 if static else raw.LookupTableImportV2
    pairs = _constant(keys, table.key_dtype), _constant(values, table.value_dtype)
    with handle.graph.control_dependencies([fill(handle, *pairs)]):
        return raw.Identity(handle)


def _variable(storage: Storage) -> Any:
    """Return the handle of a variable with the same value, as it is now: whoever reads the graph has their own."""
    handle = raw.VarHandleOp(dtype=storage.dtype, shape=storage.dims)
    value = _constant(np.array(storage.read()), storage.dtype)
    with handle.graph.control_dependencies([raw.AssignVariableOp(handle, value)]):
        return raw.Identity(handle)


def _constant(array: np.ndarray, dtype: Any) -> Any:
    graph = context.current_graph()
    return EagerTensor(array, dtype) if graph is None else graph.constant(array, dtype, "Const")
