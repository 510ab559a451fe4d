"""Placeholders: tensors whose value is given when the graph runs."""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import as_dims
from ebbflow.ops.declare import raw


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor that must be fed when the graph runs."""
    if context.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return raw.Placeholder(dtype=dtypes.as_dtype(dtype), shape=as_dims(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """Return a tensor that is `input` unless something else is fed."""
    if context.executing_eagerly():
        return convert(input)
    return raw.PlaceholderWithDefault(input, shape=as_dims(shape), name=name)
