"""The fields of an extension type: which annotations they may have, and how values become what the annotation says.

A field's value is a tensor, something made of tensors, a plain value (a number, text, bytes, None, dtype, shape), or
tuples and mappings of these. Values that are meant to be tensors are converted; in a type's spec, specs stand where
tensors stand in a value. Knows annotations and conversion; knows nothing of the classes that have the fields.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.core import annotations as says
from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert_to_tensor
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor, TensorBase

RESERVED_FIELD_NAMES = (
    "self", "Spec", "_type_spec", "_shape_invariant_to_type_spec", "_consumers", "value_type", "is_compatible_with",
    "most_specific_compatible_type", "_with_tensor_ranks_only", "_to_components", "_from_components",
    "_component_specs", "_to_tensor_list", "_from_tensor_list", "_from_compatible_tensor_list", "_flat_tensor_specs",
    "_serialize", "_deserialize", "_to_legacy_output_types", "_to_legacy_output_shapes", "_to_legacy_output_classes",
    "_keras_mask",
)  # fmt: skip
PREFIX = "_tf_extension_type_"
"""How names begin that the classes use themselves."""

_PLAIN = (int, float, str, bytes, bool, says.NoneType)


class Sentinel:
    """A value that means only itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


class ExtensionTypeField:
    """A field's name, the type of its values, and its default."""

    __slots__ = ("default", "name", "value_type")
    NO_DEFAULT = Sentinel("ExtensionTypeField.NO_DEFAULT")

    def __init__(self, name: str, value_type: Any, default: Any = NO_DEFAULT) -> None:
        try:
            validate_field_value_type(value_type, allow_forward_references=True)
        except TypeError as error:
            raise TypeError(f"In field {name!r}: {error}") from error
        self.name, self.value_type = name, value_type
        self.default = default
        if default is not ExtensionTypeField.NO_DEFAULT:
            self.default = _convert_value(
                default, value_type, (f"default value for {name}",), _ConversionContext.DEFAULT
            )

    @staticmethod
    def is_reserved_name(name: str) -> bool:
        """Return whether no field may have this name."""
        return name in RESERVED_FIELD_NAMES or name.lower().startswith(PREFIX)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExtensionTypeField) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((self.name, self.value_type))

    def _parts(self) -> tuple[Any, ...]:
        return self.name, self.value_type, self.default

    def __repr__(self) -> str:
        return f"ExtensionTypeField(name={self.name!r}, value_type={self.value_type!r}, default={self.default!r})"


# --- annotations ------------------------------------------------------------------------------------------------------


def is_tensor_type(value_type: Any) -> bool:
    """Return whether an annotation means a tensor."""
    return isinstance(value_type, type) and issubclass(value_type, Tensor)


def _is_composite_type(value_type: Any) -> bool:
    """Return whether an annotation means values that go by their own specs: made of tensors, or variables."""
    return isinstance(value_type, type) and issubclass(value_type, (CompositeTensor, TensorBase))


def is_variable_spec(spec: Any) -> bool:
    """Return whether a spec is a variable's: one that goes by its handle."""
    return isinstance(spec, TypeSpec) and spec._is_dense and hasattr(spec, "from_tensors")


def validate_field_value_type(
    value_type: Any, in_mapping_key: bool = False, allow_forward_references: bool = False
) -> None:
    """Raise TypeError unless values of this type can be in a field."""
    if says.is_forward_reference(value_type):
        if not allow_forward_references:
            raise TypeError(f"Unresolved forward reference {value_type!r}")
        return
    if value_type in _PLAIN or value_type in (None, dtypes.DType):
        return
    if value_type is TensorShape or is_tensor_type(value_type) or _is_composite_type(value_type):
        if in_mapping_key:
            shown = f"{value_type.__name__!r} with type {type(value_type).__name__!r}"
            raise TypeError(f"Mapping had a key {shown}: keys are plain values")
        return
    if says.is_tuple(value_type) or says.is_union(value_type):
        for part in says.arguments(value_type):
            if part is not Ellipsis:
                validate_field_value_type(part, in_mapping_key, allow_forward_references)
    elif says.is_mapping(value_type):
        key, value = says.arguments(value_type)
        validate_field_value_type(key, True, allow_forward_references)
        validate_field_value_type(value, in_mapping_key, allow_forward_references)
    else:
        raise TypeError(f"Unsupported type annotation {says.shown(value_type)}")


# --- values -----------------------------------------------------------------------------------------------------------


class _ConversionContext(enum.Enum):
    """Where a value stands: in a value of the type, in a spec of the type, or as a field's default."""

    VALUE = 1
    SPEC = 2
    DEFAULT = 3


def convert_fields(fields: Sequence[ExtensionTypeField], field_values: dict[str, Any]) -> None:
    """Convert, in place, the values of all fields."""
    _convert_fields(fields, field_values, _ConversionContext.VALUE)


def convert_fields_for_spec(fields: Sequence[ExtensionTypeField], field_values: dict[str, Any]) -> None:
    """Convert, in place, what a spec has in all fields."""
    _convert_fields(fields, field_values, _ConversionContext.SPEC)


def _convert_fields(
    fields: Sequence[ExtensionTypeField], field_values: dict[str, Any], context: _ConversionContext
) -> None:
    names = {field.name for field in fields}
    if names != set(field_values):
        missing, unexpected = names.difference(field_values), set(field_values).difference(names)
        raise ValueError(f"Missing required fields: {missing}" if missing else f"Got unexpected fields: {unexpected}")
    for field in fields:
        field_values[field.name] = _convert_value(field_values[field.name], field.value_type, (field.name,), context)


def _convert_value(
    value: Any, expected_type: Any, path: tuple[str, ...], context: _ConversionContext = _ConversionContext.VALUE
) -> Any:
    """Return a value as one of the type that an annotation says, or raise TypeError with where it stands."""
    if expected_type is None:
        expected_type = says.NoneType
    if is_tensor_type(expected_type):
        return _convert_tensor(value, path, context)
    if _is_composite_type(expected_type):
        return _convert_composite(value, expected_type, path, context)
    if expected_type is TensorShape or expected_type is dtypes.DType:
        return _convert_described(value, expected_type, path)
    if says.is_tuple(expected_type):
        return _convert_tuple(value, says.arguments(expected_type), path, context)
    if says.is_mapping(expected_type):
        return _convert_mapping(value, says.arguments(expected_type), path, context)
    if says.is_union(expected_type):
        return _convert_union(value, expected_type, path, context)
    if isinstance(expected_type, type) and isinstance(value, expected_type):
        return value
    raise _unlike(path, says.shown(expected_type), value)


def _unlike(path: tuple[str, ...], expected: str, value: Any) -> TypeError:
    return TypeError(f"{''.join(path)}: expected {expected}, got {type(value).__name__!r}")


def _convert_tensor(value: Any, path: tuple[str, ...], context: _ConversionContext) -> Any:
    if context is _ConversionContext.SPEC:
        if not (isinstance(value, TypeSpec) and issubclass(value.value_type, Tensor)):
            raise _unlike(path, "a TensorSpec", value)
        return value
    if isinstance(value, Tensor) or context is _ConversionContext.DEFAULT:  # a default belongs to no graph
        return value
    try:
        if isinstance(value, TypeSpec) or (isinstance(value, CompositeTensor) and not isinstance(value, TensorBase)):
            raise TypeError("not a single tensor")
        return convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise _unlike(path, "a Tensor", value) from error


def _convert_composite(value: Any, expected: type, path: tuple[str, ...], context: _ConversionContext) -> Any:
    if context is _ConversionContext.SPEC:
        if not _spec_of(value, expected):
            raise _unlike(path, f"a TypeSpec for {expected.__name__!r}", value)
        return value
    if not isinstance(value, expected):
        raise _unlike(path, repr(expected.__name__), value)
    return value


def _spec_of(value: Any, expected: type) -> bool:
    """Return whether a value is a spec of a class; those of ragged tensors may mean a single tensor."""
    if issubclass(expected, TensorBase):
        return is_variable_spec(value)
    named = type(value).__name__ == f"{expected.__name__}Spec"
    return named or (isinstance(value, TypeSpec) and issubclass(value.value_type, expected))


def _convert_described(value: Any, expected: type, path: tuple[str, ...]) -> Any:
    """Return a value as a shape or dtype."""
    try:
        return dtypes.as_dtype(value) if expected is dtypes.DType else TensorShape(value)
    except (TypeError, ValueError) as error:
        raise _unlike(path, f"'tf.{expected.__name__}'", value) from error


def _convert_tuple(
    value: Any, parts: tuple[Any, ...], path: tuple[str, ...], context: _ConversionContext
) -> tuple[Any, ...]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise _unlike(path, "tuple", value)
    if len(parts) == 2 and parts[1] is Ellipsis:
        parts = (parts[0],) * len(value)
    elif parts == ((),):  # `tuple[()]`
        parts = ()
    if len(parts) != len(value):
        raise TypeError(f"{''.join(path)}: expected tuple with length {len(parts)}, got {type(value).__name__!r})")
    pairs = enumerate(zip(value, parts, strict=True))
    return tuple(_convert_value(item, part, (*path, f"[{i}]"), context) for i, (item, part) in pairs)


def _convert_mapping(
    value: Any, parts: tuple[Any, ...], path: tuple[str, ...], context: _ConversionContext
) -> ImmutableDict:
    if not isinstance(value, Mapping):
        raise _unlike(path, "mapping", value)
    return ImmutableDict(
        (
            _convert_value(key, parts[0], (*path, "[<key>]"), context),
            _convert_value(item, parts[1], (*path, f"[{key!r}]"), context),
        )
        for key, item in value.items()
    )


def _convert_union(value: Any, expected: Any, path: tuple[str, ...], context: _ConversionContext) -> Any:
    for option in says.arguments(expected):
        try:
            return _convert_value(value, option, path, context)
        except TypeError:
            pass
    raise _unlike(path, repr(expected), value)
