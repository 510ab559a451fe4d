"""Placeholders: tensors whose value is given when the graph runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import as_dims
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.graph.graph_scopes import VALID_NAME
from ebbflow.ops.declare import raw

if TYPE_CHECKING:
    from ebbflow.core.spec import TensorSpec
    from ebbflow.graph.graph import Graph


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """Return a tensor that must be fed when the graph runs.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = placeholder(tf.float32, [2])
    ...     session.run(x * 2, {x: [1.0, 2.0]}).tolist()
    [2.0, 4.0]
    """
    if context.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return raw.Placeholder(dtype=dtypes.as_dtype(dtype), shape=as_dims(shape), name=name)


def placeholder_for(spec: TensorSpec, graph: Graph, name: str | None = None) -> Tensor:
    """Return a placeholder in `graph` for a tensor of a type; a name that no node can have is left out."""
    with graph.as_default():
        return raw.Placeholder(
            dtype=spec.dtype, shape=spec.shape._dims, name=name if name and VALID_NAME.match(name) else None
        )


def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return a tensor that is `input` unless something else is fed.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = placeholder_with_default([1.0, 2.0], [2])
    ...     session.run(x).tolist()
    [1.0, 2.0]
    """
    if context.executing_eagerly():
        return convert(input)
    return raw.PlaceholderWithDefault(input, shape=as_dims(shape), name=name)


def sparse_placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> SparseTensor:
    """Return a SparseTensor whose parts must be fed.

    The shape of the whole need not be fed where it is given here.
    """
    if context.executing_eagerly():
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")

    def named(part: str) -> str | None:
        return None if name is None else f"{name}/{part}"

    rank, known = None, None
    if shape is None:
        lengths = placeholder(dtypes.int64, [None], name=named("shape"))
    elif isinstance(shape, Tensor):
        lengths, rank = shape, shape._dims[0]
        known = shape.constant_dims()
    else:
        known = as_dims(shape)
        if known is None:
            raise ValueError(f"`sparse_placeholder` needs a shape whose rank is known, or None, got {shape!r}")
        rank = len(known)
        default = convert(
            np.array([-1 if n is None else n for n in known], np.int64), name=named("shape_default") or "Const"
        )
        lengths = placeholder_with_default(default, [rank], name=named("shape"))
    values = placeholder(dtype, [None], name=named("values"))
    indices = placeholder(dtypes.int64, [None, rank], name=named("indices"))
    made = SparseTensor(indices, values, lengths)
    if known is not None:
        made.set_shape(known)
    return made
