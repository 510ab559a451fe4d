"""Optional values: a scalar of dtype variant that holds some tensors, or none.

TensorFlow writes them into the gradients of choices, for what the other branch would have computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.core.shape import Dims, is_compatible
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.list_value import zeros_like
from ebbflow.ops.state.storage import boxed


class OptionalValue:
    """What an optional holds: arrays, or None."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[np.ndarray, ...] | None):
        self.parts = parts

    def zeros(self) -> OptionalValue:
        """Return one with zeros where this has something."""
        zero = lambda part: zeros_like(part) if part.dtype.hasobject else np.zeros_like(part)
        return OptionalValue(None if self.parts is None else tuple([zero(np.asarray(part)) for part in self.parts]))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, OptionalValue):
            return NotImplemented
        if self.parts is None or other.parts is None:
            if self.parts is not other.parts:
                raise invalid("An optional with a value cannot be added to one without")
            return self
        return OptionalValue(tuple([np.asarray(a + b) for a, b in zip(self.parts, other.parts, strict=True)]))


def optional_of(handle: np.ndarray) -> OptionalValue:
    """Return the optional in a scalar of dtype variant."""
    found = handle.item() if handle.dtype == object and handle.size == 1 else None
    if not isinstance(found, OptionalValue):
        raise invalid(f"The input is not an optional. Saw: '{type(found).__name__}'")
    return found


OptionalNone = op("OptionalNone() -> (optional:variant)")
OptionalFromValue = op(
    "OptionalFromValue(components:list(Toutput_types)) -> (optional:variant) | Toutput_types: list(type) >= 1"
)
OptionalHasValue = op("OptionalHasValue(optional:variant) -> (has_value:bool)")
OptionalGetValue = op(
    "OptionalGetValue(optional:variant) -> (components:list(output_types)) | "
    "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
)


@OptionalNone.kernel
def _(xp: Any) -> Any:
    return boxed(OptionalValue(None))


@OptionalFromValue.kernel
def _(xp: Any, components: Any) -> Any:
    return boxed(OptionalValue(tuple(components)))


@OptionalHasValue.kernel
def _(xp: Any, optional: Any) -> Any:
    return np.array(optional_of(optional).parts is not None)


@OptionalGetValue.kernel
def _(xp: Any, optional: Any, *, output_types: Any, output_shapes: Any) -> Any:
    parts = optional_of(optional).parts
    if parts is None:
        raise invalid("The given optional does not have a value.")
    if len(parts) != len(output_types):
        raise invalid(f"The given optional has {len(parts)} components, expected {len(output_types)}.")
    for part, dtype, dims in zip(parts, output_types, output_shapes, strict=False):
        if part.dtype != dtype.np or not is_compatible(part.shape, dims):
            raise invalid(f"The given optional holds {part.dtype}{list(part.shape)}, expected {dtype.name} of {dims}.")
    return list(parts)


@OptionalGetValue.shape
def _(optional: Any, *, output_types: Any, output_shapes: Any) -> list[Dims]:
    return list(output_shapes) if len(output_shapes) == len(output_types) else [None] * len(output_types)


OptionalNone.shape(lambda: ())
OptionalFromValue.shape(lambda components: ())
OptionalHasValue.shape(lambda optional: ())
for _op in (OptionalNone, OptionalFromValue, OptionalHasValue, OptionalGetValue):
    _op.gradient(FLAT)
