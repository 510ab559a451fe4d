"""Values made of several tensors (sparse, ragged, slices of rows), as nested structures see them.

Only the protocol lives here, so that `nest` can take such a value apart and put it together again; the classes
themselves belong to the rooms of their ops, and subclass these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class CompositeTensor:
    """A value that holds tensors; its `_type_spec` knows how to take it apart."""

    __slots__ = ()

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} must define the property `_type_spec`.")


class TypeSpec:
    """The type of such a value: its class, and the specs of its components."""

    __slots__ = ()

    # True for the spec of a single tensor, which `nest` leaves alone.
    _is_dense = False

    @property
    def value_type(self) -> type:
        """The class of the values this describes."""
        raise NotImplementedError(f"{type(self).__name__} must define the property `value_type`.")

    @property
    def _component_specs(self) -> Any:
        """A nested structure of specs, shaped as `_to_components` gives the tensors."""
        raise NotImplementedError(f"{type(self).__name__} must define the property `_component_specs`.")

    def _to_components(self, value: Any) -> Any:
        """The tensors of `value`, as a nested structure."""
        raise NotImplementedError(f"{type(self).__name__} must define `_to_components`.")

    def _from_components(self, components: Any) -> Any:
        """The value again from what `_to_components` gave."""
        raise NotImplementedError(f"{type(self).__name__} must define `_from_components`.")

    def _serialize(self) -> tuple[Any, ...]:
        """What the class needs to make this spec again, as it stands in files."""
        raise NotImplementedError(f"{type(self).__name__} must define `_serialize` to be written to a file.")

    @classmethod
    def _deserialize(cls, serialization: Any) -> TypeSpec:
        """The spec again from what `_serialize` gave."""
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of the other type can stand where this one is asked for."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else getattr(spec_or_value, "_type_spec", None)
        return type(other) is type(self) and _compatible(self._serialize(), other._serialize())

    def _with_tensor_ranks_only(self) -> TypeSpec:
        """The same type with nothing known of its shapes but their ranks."""
        return self._deserialize(_ranks_only(self._serialize()))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The narrowest type that this and all `others` belong to, or None. Here: this one, if all are equal to it."""
        return self if all(type(other) is type(self) and other == self for other in others) else None


def spec_of(value: Any) -> TypeSpec:
    """The spec of a composite value; a spec is its own."""
    return value if isinstance(value, TypeSpec) else value._type_spec


def _ranks_only(part: Any) -> Any:
    """A part of what a spec is made of, with shapes reduced to their ranks."""
    if hasattr(part, "_with_tensor_ranks_only"):
        return part._with_tensor_ranks_only()
    if hasattr(part, "_dims") and hasattr(part, "rank"):
        return type(part)(None if part.rank is None else [None] * part.rank)
    if isinstance(part, dict):
        return {key: _ranks_only(value) for key, value in part.items()}
    return tuple(map(_ranks_only, part)) if type(part) in (list, tuple) else part


def _compatible(a: Any, b: Any) -> bool:
    """Whether what two specs are made of is compatible, part by part."""
    if hasattr(a, "is_compatible_with"):
        return bool(a.is_compatible_with(b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_compatible, a, b))
    return bool(a == b)
