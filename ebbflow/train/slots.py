"""Slots: variables kept beside a variable (by optimizers, by moving averages), named VARIABLE/KEEPER.

A slot has its variable's kind and place, and is the same part of something larger as its variable is. Knows variables
and scopes; knows nothing of optimizers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import DTypeLike, ShapeLike
from ebbflow.distribute.beside import beside
from ebbflow.distribute.distributed_variable import DistributedVariable
from ebbflow.graph.scopes import colocate_with
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.declare import raw
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope
from ebbflow.state.variables import RefVariable, ResourceVariable, Variable


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """Return a slot that starts as the tensor `val`."""
    val = val if callable(val) else convert(val)
    with _slot_scope(primary, name, colocate_with_primary):
        return _make(primary, val, None, None)


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: ShapeLike, dtype: DTypeLike, name: str, colocate_with_primary: bool = True
) -> Any:
    """Return a slot of this shape and dtype that starts as `initializer` (a function, or a tensor) says."""
    with _slot_scope(primary, name, colocate_with_primary):
        return _make(primary, initializer, TensorShape(shape), dtype)


def create_zeros_slot(
    primary: Any, name: str, dtype: DTypeLike | None = None, colocate_with_primary: bool = True
) -> Any:
    """Return a slot of the variable's shape that starts as zeros."""
    dtype = dtypes.as_dtype(primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, Zeros(), shape, dtype, name, colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(raw.Shape(value), dtype=dtype), name, colocate_with_primary)


@contextlib.contextmanager
def _slot_scope(primary: Any, name: str, together: bool) -> Iterator[None]:
    base = primary._shared_name if isinstance(primary, Variable) else primary.op.name
    with variable_scope(None, f"{base}/{name}"):
        if isinstance(primary, DistributedVariable):  # the strategy puts each copy beside one of the variable's
            yield
        elif together and getattr(primary, "_in_graph", True):
            with colocate_with(primary.op):
                yield
        elif together:
            with beside(primary):  # it may be kept by another task
                yield
        else:
            yield


def _make(primary: Any, initial: Any, shape: Any, dtype: Any) -> Any:
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    known = initial.get_shape() if shape is None and hasattr(initial, "get_shape") else shape
    try:
        slot = get_variable(
            "",
            initializer=initial,
            trainable=False,
            use_resource=_kind(primary),
            shape=shape if callable(initial) else None,
            dtype=dtype,
            validate_shape=known is None or known.is_fully_defined(),
        )
    finally:
        scope.set_partitioner(partitioner)
    if isinstance(primary, Variable) and primary._get_save_slice_info() is not None:
        _mark_part(primary, slot)
    return slot


def _kind(primary: Any) -> bool | None:
    """Return whether the slot is to be a resource, as its variable is; None where it stands beside a tensor."""
    if isinstance(primary, ResourceVariable):
        return True
    return False if isinstance(primary, RefVariable) else None


def _mark_part(primary: Any, slot: Any) -> None:
    """Say that the slot of a part of a variable is the same part of the whole slot: so it is saved and restored."""
    info = primary._get_save_slice_info()
    rank = slot.get_shape().rank
    if rank == 0:
        return
    own = slot._shared_name[len(primary._shared_name) + 1 :]
    parts = (info.full_shape[:rank], info.var_offset[:rank], info.var_shape[:rank])
    slot._set_save_slice_info(type(info)(f"{info.full_name}/{own}", *parts))
