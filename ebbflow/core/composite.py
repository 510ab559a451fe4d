"""Values made of several tensors (sparse, ragged, slices of rows), as nested structures see them.

Only the protocol lives here, so that `nest` can take such a value apart and put it together again; the classes
themselves belong to the rooms of their ops, and subclass these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ebbflow.core import spec_parts


class CompositeTensor:
    """A value that holds tensors; its `_type_spec` knows how to take it apart."""

    __slots__ = ()

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__} must define the property `_type_spec`.")

    def _convert_variables_to_tensors(self) -> Any:
        """Return this value: what it holds are tensors, and never variables."""
        return self


class TypeSpec:
    """The type of such a value: its class, and the specs of its components."""

    __slots__ = ()

    # True for the spec of a single tensor, which `nest` leaves alone.
    _is_dense = False

    # True where components are variables, which travel by their handles.
    _holds_variables = False

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

    def _serialize(self) -> Any:
        """What the class needs to make this spec again, as it stands in files."""
        raise NotImplementedError(f"{type(self).__name__} must define `_serialize` to be compared or written.")

    @classmethod
    def _deserialize(cls, serialization: Any) -> TypeSpec:
        """The spec again from what `_serialize` gave."""
        return cls(*serialization)

    # --- compared with others -----------------------------------------------------------------------------------------

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value of the other type can stand where this one is asked for."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else _spec_or_none(spec_or_value)
        if type(other) is not type(self) or not _told(self):
            return type(other) is type(self)
        return spec_parts.compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other: object) -> bool:
        """Whether every value of this type is of the other type too."""
        if type(other) is not type(self) or self == other:
            return self == other
        return _told(self) and spec_parts.narrower(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The narrowest type that this and all `others` belong to, or None."""
        if all(type(other) is type(self) and self == other for other in others):
            return self
        if not _told(self) or any(type(other) is not type(self) for other in others):
            return None
        try:
            return self._deserialize(spec_parts.common(self._serialize(), [other._serialize() for other in others]))
        except spec_parts.Unlike:
            return None

    def most_specific_compatible_type(self, other: object) -> TypeSpec:
        """The narrowest type that this and the other belong to; ValueError where there is none."""
        wider = self.most_specific_common_supertype([other])
        if wider is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return wider

    def _with_tensor_ranks_only(self) -> TypeSpec:
        """The same type with nothing known of its shapes but their ranks."""
        return self._deserialize(spec_parts.mapped(_rank_only, self._serialize()))

    def _without_tensor_names(self) -> TypeSpec:
        """The same type with no names of tensors in it."""
        return self._deserialize(spec_parts.mapped(_nameless, self._serialize()))

    def __eq__(self, other: object) -> bool:
        if other is self or type(other) is not type(self) or not _told(self):
            return other is self
        return spec_parts.key(self._serialize()) == spec_parts.key(other._serialize())

    def __hash__(self) -> int:
        return hash((type(self), spec_parts.key(self._serialize()))) if _told(self) else object.__hash__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._serialize())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}" if _told(self) else object.__repr__(self)

    # --- taken apart into tensors -------------------------------------------------------------------------------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """The specs of the tensors that `_to_tensor_list` gives."""
        return _nest[0].flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        """The tensors that stand for a value."""
        return _nest[0].flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """The value again from its tensors, which must be of the shapes and dtypes that this type has."""
        _check_tensors(self, tensor_list)
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        parts = _nest[0].pack_sequence_as(self._component_specs, list(tensor_list), expand_composites=True)
        return self._from_components(parts)

    def flatten(self) -> list[Any]:
        """The specs of the tensors that a value of this type holds."""
        return [flat for spec in _nest[0].flatten(self._component_specs) for flat in spec.flatten()]

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that a value of this type holds."""
        specs = self._component_specs
        parts = _nest[0].flatten_up_to(specs, self._to_components(value))
        pairs = zip(_nest[0].flatten(specs), parts, strict=True)
        return [tensor for spec, part in pairs for tensor in spec.to_tensors(part)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """A value of this type from an iterator over its tensors, of which it takes what it needs."""
        parts = [spec.from_tensors(tensors) for spec in _nest[0].flatten(self._component_specs)]
        return self._from_components(_nest[0].pack_sequence_as(self._component_specs, parts))

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """The value as one of this type: itself where its parts are of their types; TypeError where it is not."""
        if isinstance(value, TypeSpec):
            if getattr(cast_context, "allow_specs", False) and value.is_subtype_of(self):
                return value
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        specs, parts = self.flatten(), self.to_tensors(value)
        if len(specs) != len(parts):
            raise TypeError(f"Can not cast {value!r} to {self!r}: it has {len(parts)} tensors, not {len(specs)}")
        found = [spec.cast(part, cast_context) for spec, part in zip(specs, parts, strict=True)]
        same = all(a is b for a, b in zip(found, parts, strict=True))
        return value if same else self.from_tensors(iter(found))

    # --- as datasets of TF 1 tell of them -----------------------------------------------------------------------------

    def _to_legacy_output_types(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_types")

    def _to_legacy_output_shapes(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_shapes")

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type


class BatchableTypeSpec(TypeSpec):
    """A type whose values can be rows of one value: it says which type that is, and how many become one."""

    __slots__ = ()

    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The type of `batch_size` values of this type in one."""
        raise NotImplementedError(f"{type(self).__name__} must define `_batch`.")

    def _unbatch(self) -> TypeSpec:
        """The type of one row of such a value."""
        raise NotImplementedError(f"{type(self).__name__} must define `_unbatch`.")

    def _batched_parts(self) -> list[Any]:
        return _nest[0].flatten(self._component_specs)

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [spec for part in self._batched_parts() for spec in part._flat_tensor_specs]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return self._tensors(value, "_to_tensor_list")

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        """The tensors that stand for a value, each with a row for each of its rows."""
        return self._tensors(value, "_to_batched_tensor_list")

    def _tensors(self, value: Any, way: str) -> list[Any]:
        values = _nest[0].flatten(self._to_components(value))
        pairs = zip(self._batched_parts(), values, strict=True)
        return [tensor for spec, part in pairs for tensor in getattr(spec, way)(part)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        found, rest = [], list(tensor_list)
        for spec in self._batched_parts():
            count = len(spec._flat_tensor_specs)
            found.append(spec._from_compatible_tensor_list(rest[:count]))
            rest = rest[count:]
        return self._from_components(_nest[0].pack_sequence_as(self._component_specs, found))


def _told(spec: TypeSpec) -> bool:
    """Whether a spec says what it is made of; one that does not is compared as a whole."""
    return type(spec)._serialize is not TypeSpec._serialize


_nest: list[Any] = []  # `core.nest`, which knows composites and so comes after this module


def provide_nest(nest: Any) -> None:
    """Let `core.nest` say how structures are taken apart."""
    _nest[:] = [nest]


def _again(cls: type[TypeSpec], serialization: Any) -> TypeSpec:
    """Return a spec as pickle makes it."""
    return cls._deserialize(serialization)


def _check_tensors(spec: TypeSpec, tensors: Sequence[Any]) -> None:
    expected = spec._flat_tensor_specs
    if len(expected) != len(tensors):
        raise ValueError(f"Incompatible input: wrong number of tensors. {spec} has {len(expected)}, got {len(tensors)}")
    for i, (part, tensor) in enumerate(zip(expected, tensors, strict=True)):
        if not part.is_compatible_with(tensor):
            raise ValueError(f"Incompatible input: tensor {i} is {tensor!r}, {spec} has {part} there")


def spec_of(value: Any) -> TypeSpec:
    """The spec of a composite value; a spec is its own."""
    return value if isinstance(value, TypeSpec) else value._type_spec


_by_class: list[tuple[type, Any, bool]] = []


def register_converter(type_object: type, converter_fn: Any, allow_subclass: bool = False) -> None:
    """Let `converter_fn(value)` say which type values of a class are of; it gives None where it does not know."""
    _by_class.append((type_object, converter_fn, allow_subclass))


def _spec_or_none(value: Any) -> Any:
    """The spec that a value, or somebody who knows its class, says it has; None where nobody does."""
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    for cls, convert, subclasses in reversed(_by_class):
        if type(value) is cls or (subclasses and isinstance(value, cls)):
            return convert(value)
    return None


def _rank_only(part: Any) -> Any:
    """A part of what a spec is made of, with shapes reduced to their ranks."""
    if hasattr(part, "_with_tensor_ranks_only"):
        return part._with_tensor_ranks_only()
    if hasattr(part, "_dims") and hasattr(part, "rank"):
        return type(part)(None if part.rank is None else [None] * part.rank)
    return part


def _nameless(part: Any) -> Any:
    return part._without_tensor_names() if isinstance(part, TypeSpec) else part
