"""The placeholder of a ragged tensor: one for its elements, and one for where the rows of each level begin."""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_dims
from ebbflow.core.typing import AnyTensor, DTypeLike, ShapeLike
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.ragged.tensor import rows_of


def ragged_placeholder(
    dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike = None, name: str | None = None
) -> AnyTensor:
    """Return a ragged tensor whose parts must be fed, by a RaggedTensorValue; without levels, a plain placeholder."""
    if context.executing_eagerly():
        raise RuntimeError("`ragged.placeholder` is not compatible with eager execution.")
    if ragged_rank == 0:
        return placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        inner = as_dims(value_shape)
        found: Any = placeholder(dtype, None if inner is None else [None, *inner], "flat_values")
        for level in reversed(range(ragged_rank)):
            found = rows_of(found, placeholder(dtypes.int64, [None], f"row_splits_{level}"))
        return found
