"""Elements of datasets as one compressed value each: `compress` and `uncompress`, and their ops.

What is held are the bytes of the element's tensors, deflated. Knows arrays and structures; knows nothing of pipes.
"""

from __future__ import annotations

import zlib
from typing import Any

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype, variant
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.data import spec as _registered  # noqa: F401 (how sparse and ragged tensors travel)
from ebbflow.data import structure
from ebbflow.data.element_records import array_of, record_of
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

CompressElement = op(
    "CompressElement(components:list(input_types)) -> (compressed:variant) | input_types: list(type) >= 1",
    shape=lambda components: (),
    gradient=FLAT,
)
UncompressElement = op(
    "UncompressElement(compressed:variant) -> (components:list(output_types)) | output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1",
    shape=lambda compressed, *, output_shapes: list(output_shapes),
    gradient=FLAT,
)


class Compressed:
    """An element: of each tensor its type and its bytes, deflated."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[tuple[str, bytes], ...]):
        self.parts = parts


@CompressElement.kernel
def _(xp: Any, components: Any, *, input_types: Any) -> Any:
    kinds = [as_dtype(kind).name for kind in input_types]
    parts = [(kind, zlib.compress(record_of(part), 1)) for kind, part in zip(kinds, components, strict=True)]
    return boxed(Compressed(tuple(parts)))


@UncompressElement.kernel
def _(xp: Any, compressed: Any, *, output_types: Any) -> Any:
    held = compressed.item() if compressed.size == 1 else None
    if not isinstance(held, Compressed):
        raise invalid(f"`compressed` must be a scalar that holds a compressed element, it holds {type(held).__name__}")
    if len(held.parts) != len(output_types):
        raise errors.FailedPreconditionError(
            None, None, f"Expected {len(output_types)} tensors, but the compressed element has {len(held.parts)}"
        )
    found = []
    for i, ((kind, part), dtype) in enumerate(zip(held.parts, output_types, strict=True)):
        if kind != as_dtype(dtype).name:
            raise errors.FailedPreconditionError(
                None, None, f"Expected a tensor of type {as_dtype(dtype).name} at {i}, but got a tensor of type {kind}"
            )
        found.append(array_of(zlib.decompress(part), "a compressed element"))
    return found


def compress(element: Any) -> Tensor:
    """Return an element as one compressed value."""
    value = structure.normalised(element)
    return CompressElement(structure.to_tensors(structure.spec_of(value), value))


def uncompress(element: TensorLike, output_spec: Nested) -> Nested:
    """Return the element that a compressed value holds."""
    found = UncompressElement(convert(element, variant), **structure.types_and_shapes(output_spec))
    return structure.from_tensors(output_spec, list(found) if isinstance(found, (list, tuple)) else [found])
