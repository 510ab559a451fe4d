"""Names for the types that public signatures use.

They say what a function takes (`TensorLike`, `ShapeLike`, `DTypeLike`, `Axis`, …) and what it hands to kernels
(`Array`, `Attrs`). They are unions of real classes and protocols, so that mypy and pyright refuse an argument that
could never become a tensor. Knows the classes of `core` alone: a variable or a ragged tensor, which are defined in
rooms above, is recognised by `is_tensor_like`, the attribute that also tells it apart at run time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.core.tensor import Tensor


class StandsForTensor(Protocol):
    """A variable, a sparse or ragged tensor, IndexedSlices: what an op turns into tensors of its own."""

    is_tensor_like: Any


class HasArray(Protocol):
    """What NumPy takes for an array: arrays and scalars of NumPy and of libraries beside it (pandas, jax, PIL)."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class SessionLike(Protocol):
    """What runs a graph: a session, or one that looks after itself (`tf.train.MonitoredSession`)."""

    @property
    def graph(self) -> Any: ...

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any: ...


class Message(Protocol):
    """A protocol message: `tf.compat.v1.ConfigProto`, `GraphDef`, …"""

    def SerializeToString(self) -> bytes: ...

    def __getattr__(self, name: str) -> Any: ...  # the fields


Number: TypeAlias = bool | int | float | complex | np.generic
Array: TypeAlias = np.ndarray
TensorLike: TypeAlias = Tensor | StandsForTensor | HasArray | Number | str | bytes | Sequence[Any]
"""Whatever `tf.convert_to_tensor` takes."""

DTypeLike: TypeAlias = DType | str | int | type | np.dtype
"""Whatever `tf.as_dtype` takes."""

ShapeLike: TypeAlias = TensorShape | Dimension | TensorLike | None
"""A static shape, or a tensor that holds one."""

Axis: TypeAlias = int | Sequence[int] | TensorLike | None
"""One axis or several; mostly None means all."""

Sizes: TypeAlias = int | Sequence[int] | Array
"""Sizes along the spatial dimensions, or one for all of them: kernels, windows, strides, dilations."""

Padding: TypeAlias = str | bytes | Sequence[Any]
"""`"SAME"`, `"VALID"`, or how many zeros come before and after along each dimension."""

Effect: TypeAlias = Any
"""What an op without outputs returns: a `tf.Operation` in a graph or function, None where ops run at once."""

PathLike: TypeAlias = str | bytes | os.PathLike[str] | Tensor
"""The name of a file or a folder."""

Attrs: TypeAlias = dict[str, Any]
"""The attrs of an op by name."""

InitializerLike: TypeAlias = Callable[..., Any] | TensorLike
"""What a variable starts with: a value, the name of an initializer, or a function of shape and dtype that makes one."""

Activation: TypeAlias = Callable[..., Any] | str
"""A function of one tensor, or the name of one."""

Rate: TypeAlias = TensorLike | Callable[[], TensorLike]
"""A number that an optimizer uses, or a function that is asked for it at every step."""

Feeds: TypeAlias = Mapping[Any, Any]
"""Values by the tensor or placeholder that they stand in for."""

AnyTensor: TypeAlias = Any
"""A tensor or one of its kin (variable, sparse, ragged, IndexedSlices): which one depends on what went in."""

Assigned: TypeAlias = Any
"""A variable after an assignment: itself where ops run at once, in a graph what stands for its new value."""

Nested: TypeAlias = Any
"""Tensors in tuples, lists, dictionaries and dataclasses: what `tf.nest` takes apart."""
