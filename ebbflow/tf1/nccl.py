"""`tf.contrib.nccl`: sums, products and extremes that every device gets.

Devices of one process share its memory, so the values come together by ordinary ops; each result is on the device of
the tensor it stands for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import device_scope
from ebbflow.ops.declare import raw


def _checked(tensors: Sequence[TensorLike], what: str) -> list[Any]:
    listed = [convert(tensor) for tensor in tensors]
    if not listed:
        raise ValueError(f"nccl.{what}: Must pass >0 tensors to all reduce operations")
    for tensor in listed[1:]:
        if tensor.dtype != listed[0].dtype or not tensor.shape.is_compatible_with(listed[0].shape):
            raise ValueError(f"nccl.{what}: all tensors must be alike, got {listed[0]!r} and {tensor!r}")
    return listed


def _on_all(tensors: Sequence[TensorLike], what: str, combine: Callable[[Any, Any], Any]) -> list[Any]:
    listed = _checked(tensors, what)
    whole = functools.reduce(combine, listed)
    found = []
    for tensor in listed:
        with device_scope(getattr(tensor, "device", None) or None):
            found.append(raw.Identity(whole))
    return found


def all_sum(tensors: Sequence[TensorLike]) -> list[Tensor]:
    """Return the sum of tensors, once for each of them, on its device.

    >>> [t.numpy().tolist() for t in all_sum([[1.0, 2.0], [3.0, 4.0]])]
    [[4.0, 6.0], [4.0, 6.0]]
    """
    return _on_all(tensors, "all_sum", raw.AddV2)


def all_prod(tensors: Sequence[TensorLike]) -> list[Tensor]:
    """Return the product of tensors, once for each of them, on its device."""
    return _on_all(tensors, "all_prod", raw.Mul)


def all_min(tensors: Sequence[TensorLike]) -> list[Tensor]:
    """Return the smallest of tensors, element by element, once for each of them, on its device."""
    return _on_all(tensors, "all_min", raw.Minimum)


def all_max(tensors: Sequence[TensorLike]) -> list[Tensor]:
    """Return the largest of tensors, element by element, once for each of them, on its device."""
    return _on_all(tensors, "all_max", raw.Maximum)


def reduce_sum(tensors: Sequence[TensorLike]) -> Tensor:
    """Return the sum of tensors, where it is computed."""
    return functools.reduce(raw.AddV2, _checked(tensors, "reduce_sum"))


def broadcast(tensor: TensorLike) -> Tensor:
    """Return a tensor that nodes on any device may take."""
    return raw.Identity(convert(tensor))
