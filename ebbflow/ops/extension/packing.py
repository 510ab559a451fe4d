"""Values of extension types in one tensor of dtype variant: `pack`, `unpack`, and the two ops that do it.

The scalar holds the tensors of the value; which type they are of is known where it is opened. A graph that is written
to a file has the type's description in the node. Knows specs; the classes of types use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import nest
from ebbflow.core.dispatch import borrowed
from ebbflow.core.op import op
from ebbflow.core.spec_registry import get_name
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.list_value import Nothing, sum_of
from ebbflow.ops.state.storage import boxed

IS_PACKED = "_tf_extension_type_is_packed"
VARIANT = "_tf_extension_type_packed_variant"

CompositeTensorVariantFromComponents = op(
    "CompositeTensorVariantFromComponents(components:list(Tcomponents)) -> (encoded:variant) | metadata: string; "
    "Tcomponents: list(type) >= 0"
)
CompositeTensorVariantToComponents = op(
    "CompositeTensorVariantToComponents(encoded:variant) -> (components:list(Tcomponents)) | metadata: string; "
    "Tcomponents: list(type) >= 0"
)


class Components:
    """The arrays of a value, as one entry of an array."""

    __slots__ = ("arrays",)

    def __init__(self, arrays: tuple[np.ndarray, ...]) -> None:
        self.arrays = arrays

    def zeros(self) -> Nothing:
        """Return the zero that goes with it."""
        return Nothing()

    def plus(self, other: Any) -> Components:
        """Return the sum, array by array."""
        if isinstance(other, Nothing):
            return self
        return Components(tuple(sum_of(a, b) for a, b in zip(self.arrays, other.arrays, strict=True)))

    def __add__(self, other: Any) -> Any:
        return self.plus(other) if isinstance(other, (Components, Nothing)) else NotImplemented

    def __repr__(self) -> str:
        return f"<{len(self.arrays)} components>"


@CompositeTensorVariantFromComponents.kernel
def _(xp: Any, components: Any) -> Any:
    return boxed(Components(tuple(components)))


@CompositeTensorVariantToComponents.kernel
def _(xp: Any, encoded: Any, *, Tcomponents: Any) -> Any:
    inside = encoded.item() if encoded.dtype == object and encoded.size == 1 else None
    if not isinstance(inside, Components):
        raise invalid(f"encoded is not the value of an extension type. Saw: '{type(inside).__name__}'")
    expected = [dtype.np for dtype in Tcomponents]
    if [array.dtype for array in inside.arrays] != expected:
        raise invalid(f"encoded holds {[str(a.dtype) for a in inside.arrays]}, asked for {[str(k) for k in expected]}")
    return list(inside.arrays)


CompositeTensorVariantFromComponents.shape(lambda components: ())
CompositeTensorVariantToComponents.shape(lambda encoded, *, Tcomponents: [None] * len(Tcomponents))


@CompositeTensorVariantFromComponents.gradient
def _(call: Any, grad: Any) -> list[Any]:
    kinds = list(call.get_attr("Tcomponents"))
    return list(CompositeTensorVariantToComponents(grad, metadata=call.metadata, Tcomponents=kinds))


@CompositeTensorVariantToComponents.gradient
def _(call: Any, *grads: Any) -> list[Any]:
    whole = [raw.ZerosLike(y) if grad is None else grad for y, grad in zip(call.outputs, grads, strict=True)]
    return [CompositeTensorVariantFromComponents(whole, metadata=call.metadata)]


# --- values -----------------------------------------------------------------------------------------------------------


def is_packed(value: Any) -> bool:
    """Return whether a value of an extension type is in one tensor."""
    return VARIANT in value.__dict__


def _metadata(spec: Any) -> bytes:
    """Return the description of a type as nodes carry it."""
    message = messages.CompositeTensorVariantMetadata()
    message.type_spec_proto.CopyFrom(borrowed("__internal__.saved_model.encode_structure", spec).type_spec_value)
    return message.SerializeToString()


def pack(value: Any) -> Any:
    """Return a value of an extension type in one tensor; the type must have a name."""
    if is_packed(value):
        return value
    spec = value._type_spec
    try:
        get_name(type(spec))
    except ValueError as error:
        raise ValueError("ExtensionTypes must have a __name__ field in order to be packed.") from error
    tensors = nest.flatten(value, expand_composites=True)
    variant = CompositeTensorVariantFromComponents(tensors, metadata=_metadata(spec))
    return packed_value(type(spec)._deserialize((*spec._serialize(), (IS_PACKED, True))), variant)


def packed_value(spec: Any, variant: Any) -> Any:
    """Return the value of a packed spec that a tensor holds."""
    made: Any = object.__new__(spec.value_type)
    made.__dict__.update({VARIANT: variant, "_tf_extension_type_cached_type_spec": spec})
    return made


def variant_of(value: Any) -> Any:
    """Return the tensor that a packed value is in."""
    return value.__dict__[VARIANT]


def unpack(value: Any) -> Any:
    """Return a value of an extension type with a tensor for each of its tensors."""
    if not is_packed(value):
        return value
    packed = value._type_spec
    spec = type(packed)._deserialize([item for item in packed._serialize() if item[0] != IS_PACKED])
    flat = nest.flatten(spec, expand_composites=True)
    tensors = CompositeTensorVariantToComponents(
        variant_of(value), metadata=_metadata(spec), Tcomponents=[part.dtype for part in flat]
    )
    for tensor, part in zip(tensors, flat, strict=True):
        if not isinstance(tensor, EagerTensor):
            tensor.set_shape(part.shape)
    return nest.pack_sequence_as(spec, tensors, expand_composites=True)
