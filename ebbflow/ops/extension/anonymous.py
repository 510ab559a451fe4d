"""Values of extension types that nobody here declared: what a SavedModel brings whose program is not there.

Their fields are read as of any value; `reinterpret` makes them values of a declared type. Knows extension types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.dtypes import DType
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.ops.extension import fields as fields_of
from ebbflow.ops.extension.fields import ExtensionTypeField
from ebbflow.ops.extension.types import AS_IT_IS, ExtensionType, ExtensionTypeSpec, _mappings, _with_specs, new_of

_PLAIN = (int, float, bool, str, bytes, type(None), DType, TensorShape)


class AnonymousExtensionTypeSpec(ExtensionTypeSpec):
    """The type of such values: whatever fields they have."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update({name: _kept(value, name, (TypeSpec,)) for name, value in fields.items()})

    @property
    def value_type(self) -> type:
        return AnonymousExtensionType

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """Return the spec of a value."""
        return new_of(cls, {name: _with_specs(item) for name, item in value._named().items()})

    def _by_field(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith(fields_of.PREFIX)}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Cannot set attribute `{name}`: specs do not change.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cannot delete attribute `{name}`: specs do not change.")

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={_mappings(value, dict)!r}" for name, value in self._by_field().items())
        return f"AnonymousExtensionTypeSpec({inside})"


class AnonymousExtensionType(ExtensionType):
    """A value with fields that no class declares."""

    _tf_extension_type_do_not_transform_this_class = True
    _tf_extension_type_spec_base = AnonymousExtensionTypeSpec

    def __init__(self, **fields: Any) -> None:
        for name in fields:
            if ExtensionTypeField.is_reserved_name(name) or name.startswith("__"):
                raise ValueError(f"Reserved field name {name} was encountered when trying to instantiate {type(self)}.")
        self.__dict__.update({name: _kept(value, name, (Tensor, CompositeTensor)) for name, value in fields.items()})

    def _named(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith(fields_of.PREFIX)}

    def _tf_extension_type_fields(self) -> tuple[ExtensionTypeField, ...]:  # type: ignore[override]  # of this value
        return tuple(_any_field(name) for name in self._named())

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Cannot set attribute `{name}`: values of extension types do not change.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cannot delete attribute `{name}`: values of extension types do not change.")

    def __repr__(self) -> str:
        return f"AnonymousExtensionType({', '.join(f'{name}={value!r}' for name, value in self._named().items())})"


AnonymousExtensionType.Spec = AnonymousExtensionTypeSpec  # type: ignore[attr-defined]


def _any_field(name: str) -> ExtensionTypeField:
    field = ExtensionTypeField.__new__(ExtensionTypeField)
    field.name, field.value_type, field.default = name, Any, ExtensionTypeField.NO_DEFAULT
    return field


def _kept(value: Any, path: str, tensors: tuple[type, ...]) -> Any:
    """Return a value as a field keeps it: mappings that do not change, tuples, plain values, tensors or their specs."""
    if isinstance(value, Mapping):
        return ImmutableDict((_kept(key, path, ()), _kept(item, path, tensors)) for key, item in value.items())
    if type(value) is tuple:
        return tuple(_kept(item, path, tensors) for item in value)
    if isinstance(value, (*tensors, *_PLAIN)):
        return value
    raise ValueError(f"{path}: unsupported `value` argument. Got {value!r} of type {type(value).__name__!r}.")


def reinterpret(value: Any, new_type: Any) -> Any:
    """Return a value with the fields of another, of the type asked for; its conversion and checks apply."""
    if not isinstance(value, ExtensionType):
        raise ValueError(f"reinterpret expects `value` to be a tf.ExtensionType instance; got {value!r}")
    if not (isinstance(new_type, type) and issubclass(new_type, ExtensionType)):
        raise ValueError(f"reinterpret expects `new_type` to be a subclass of tf.ExtensionType; got {new_type!r}")
    attributes = {field.name: getattr(value, field.name) for field in value._tf_extension_type_fields()}
    if issubclass(new_type, AnonymousExtensionType):
        return AnonymousExtensionType(**attributes)
    if AS_IT_IS in new_type.__dict__:
        raise ValueError(f"reinterpret expects `new_type` to be a declared type; got {new_type!r}")
    fields_of.convert_fields(new_type._tf_extension_type_fields(), attributes)
    made = new_of(new_type, attributes)
    made.__validate__()
    return made
