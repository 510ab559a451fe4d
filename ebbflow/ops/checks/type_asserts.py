"""Assertions about dtypes and Python kinds, which never wait for a value: they hold or fail where they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor, is_tensor
from ebbflow.core.typing import DTypeLike, Effect, TensorLike
from ebbflow.ops.declare import raw


def _said(message: Any) -> str:
    return f"{message}.  " if message else ""


def _called(tensor: Any) -> str:
    """Return what a message calls a tensor here."""
    return "tensor" if is_nameless(tensor) else getattr(tensor, "name", type(tensor).__name__)


def is_nameless(tensor: Any) -> bool:
    """Return whether messages cannot call a tensor by a name: eager ones have none, wherever they are used."""
    return isinstance(tensor, EagerTensor) or context.executing_eagerly()


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None) -> Effect:
    """Assert that `tensor` is of dtype `tf_type`.

    >>> assert_type([1, 2], dtypes.int32)
    """
    wanted = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        typed: Any = tensor
        if not hasattr(tensor, "dtype") or not is_tensor(tensor):
            typed = convert(tensor, name="tensor")
        if typed.dtype.base_dtype is not wanted.base_dtype:
            found = f"{_called(typed)} must be of type {wanted!r}; got {typed.dtype.base_dtype!r}"
            if context.switches.tf1:
                found = f"{_called(typed)} must be of type {wanted}"
            raise TypeError(_said(message) + found)
        return raw.NoOp(name="statically_determined_correct_type")


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Effect:
    """Assert that `x` is of an integer dtype.

    >>> assert_integer([1, 2])
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert(x, name="x")
        if not x.dtype.is_integer:
            found = f"Found: {_called(x)} of dtype <dtype: '{x.dtype.base_dtype.name}'>"
            raise TypeError(f'{_said(message)}Expected "x" to be integer type.  {found}')
        return raw.NoOp(name="statically_determined_was_integer")


assert_integer_v1, assert_type_v1 = assert_integer, assert_type


def assert_proper_iterable(values: TensorLike) -> None:
    """Assert that `values` is a collection, and neither a tensor, an array nor a string.

    >>> assert_proper_iterable([1, 2])
    """
    if isinstance(values, (str, bytes, np.ndarray)) or is_tensor(values):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None) -> DType:
    """Return the one float dtype of `tensors` and `dtype` (float32 where neither says).

    >>> assert_same_float_dtype([convert(1.0)])
    tf.float32
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, first = found, tensor
        elif found is not wanted:
            beside = "" if first is None else f" as {_shown(first)}"
            raise ValueError(
                f"{_shown(tensor)}, type={_quoted(found)}, must be of the same type ({_quoted(wanted)}){beside}."
            )
    if wanted is None:
        return dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {_quoted(wanted)}.")
    return wanted


def _quoted(dtype: Any) -> str:
    return f"<dtype: '{dtype.name}'>"


def _shown(tensor: Any) -> str:
    return str(tensor) if isinstance(tensor, Tensor) and is_nameless(tensor) else _called(tensor)


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Return whether `tensor` is a tensor of numbers.

    >>> is_numeric_tensor(convert(1.0)), is_numeric_tensor(1.0), is_numeric_tensor(convert("1"))
    (True, False, False)
    """
    if not isinstance(tensor, Tensor):
        return False
    dtype = tensor.dtype
    return dtype.is_integer or dtype.is_floating or dtype.is_complex or dtype.is_quantized
