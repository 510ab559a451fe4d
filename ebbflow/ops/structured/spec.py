"""The type of structured tensors: the members here become `StructuredTensor.Spec`.

Knows specs of fields and of ragged shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.core.shape import TensorShape
from ebbflow.ops.extension.types import new_of
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape


class StructuredSpec:
    """The type of a StructuredTensor (what `StructuredTensor.Spec` is made of)."""

    _fields: Any
    _ragged_shape: Any

    def __validate__(self) -> None:
        """Check that the fields have the axes that the structure has."""
        if self._ragged_shape.rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")

    @classmethod
    def _from_fields_and_rank(cls, fields: Mapping[str, Any], rank: int) -> Any:
        """Return the type of structures of these fields, of which the first `rank` axes are the structure's."""
        if not fields:
            raise ValueError("Must provide at least one field")
        shape = None
        for spec in fields.values():
            own = DynamicRaggedShape.Spec._from_spec(spec)._truncate(rank)
            shape = own if shape is None else shape._merge_with(own)
        return cls(fields, shape)  # type: ignore[call-arg]

    @classmethod
    def _from_shape(cls, shape: Any) -> Any:
        """Return the type of structures without fields."""
        return cls({}, shape)  # type: ignore[call-arg]

    @property
    def _shape(self) -> TensorShape:
        return self._ragged_shape._to_tensor_shape()

    @property
    def _field_specs(self) -> Mapping[str, Any]:
        return self.__dict__["_fields"]

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return self._ragged_shape._to_tensor_shape()

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return self._ragged_shape.rank


def structured_spec(cls: Any, shape: Any, field_specs: Mapping[str, Any]) -> Any:
    """Return the type of structures of a static shape with fields of these types."""
    shape = TensorShape(shape)
    if shape.rank is None:
        raise ValueError("StructuredTensor's shape must have known rank.")
    own = DynamicRaggedShape.Spec._from_tensor_shape(shape, 0, dtypes.int64)
    for name, spec in field_specs.items():
        if not isinstance(name, str):
            raise TypeError(f"Unexpected type for key in field_specs: {name!r}")
        theirs = DynamicRaggedShape.Spec._from_spec(spec)
        own = own._merge_with(theirs._truncate(shape.rank)) if shape.rank else own
    return new_of(cls, {"_fields": ImmutableDict(field_specs), "_ragged_shape": own})
