"""The methods of NumPy's arrays that tensors get when a program asks for them (`behaviour`), and weak tensors have.

Knows NumPy's functions on tensors.
"""

from __future__ import annotations

from typing import Any

from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.numpy import arrays, elementwise, reductions


def _reshape(self: Any, *newshape: Any, **kwargs: Any) -> Any:
    order = kwargs.pop("order", "C")
    if kwargs:
        raise TypeError(f"reshape takes a shape and order; got {sorted(kwargs)}")
    return arrays.reshape(self, newshape[0] if len(newshape) == 1 else newshape, order)


def _transpose(self: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return arrays.transpose(self)
    return arrays.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


METHODS: dict[str, Any] = {
    "T": property(arrays.transpose),
    "astype": lambda self, dtype: cast(self, arrays._type(dtype)),
    "clip": elementwise.clip,
    "data": property(lambda self: self),
    "flatten": arrays.flatten,
    "max": reductions.amax,
    "mean": reductions.mean,
    "min": reductions.amin,
    "ravel": arrays.ravel,
    "reshape": _reshape,
    "size": property(lambda self: self.shape.num_elements() if self.shape.is_fully_defined() else raw.Size(self)),
    "transpose": _transpose,
}
