"""`tf.create_partitioned_variables`: the parts of a new variable, divided by hand. `get_variable` with a partitioner is
the way that came after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import InitializerLike
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_scope import variable_scope
from ebbflow.state.variable_store import Wanted, default_store


def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: InitializerLike,
    dtype: DType = dtypes.float32,
    trainable: bool = True,
    collections: Iterable[Any] | None = None,
    name: str | None = None,
    reuse: bool | None = None,
) -> list[Any]:
    """Return the parts of a new variable of `shape`, divided as `slicing` says for each axis."""
    if len(shape) != len(slicing):
        raise ValueError(
            f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: "
            f"{slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if scope.custom_getter is not None:
            raise ValueError(
                "create_partitioned_variables cannot be used where a custom getter is set: use get_variable with a "
                "partitioner. "
                f"Current custom getter: {scope.custom_getter}."
            )
        wanted = Wanted(
            name=scope.name,
            shape=shape,
            dtype=dtype,
            initializer=scope.initializer if initializer is None else initializer,
            regularizer=scope.regularizer,
            reuse=scope.reuse,
            trainable=trainable,
            collections=collections,
            caching_device=scope.caching_device,
            partitioner=lambda **unused: slicing,
            use_resource=scope.use_resource,
            constraint=scope.constraint,
        )
        with name_scope(None):
            found: PartitionedVariable = default_store().partitioned(wanted)
        return list(found)
