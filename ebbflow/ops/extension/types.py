"""Types of programs' own: `tf.experimental.ExtensionType`, and the specs that belong to them.

A class that derives from `ExtensionType` says its fields by annotations; it gets a constructor, comparison and a nested
class `Spec`, which is a `TypeSpec` like any other. So everything that takes values apart by their specs (functions,
loops, choices, datasets, SavedModels, `nest`) takes these. Values and specs do not change once they are made.
"""

from __future__ import annotations

import abc
import inspect
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ebbflow.core import annotations as says
from ebbflow.core import nest, spec_registry
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor, TensorBase
from ebbflow.core.typing import Nested
from ebbflow.ops.declare import raw
from ebbflow.ops.extension import fields as fields_of
from ebbflow.ops.extension import packing
from ebbflow.ops.extension.constructors import (
    IN_CONSTRUCTOR,
    fields_constructor,
    framed_constructor,
    spec_constructor,
)
from ebbflow.ops.extension.fields import ExtensionTypeField

AS_IT_IS = "_tf_extension_type_do_not_transform_this_class"
"""Says of a class that it is a base of types, and none itself."""

_FIELDS = "_tf_extension_type_cached_fields"
_SPEC = "_tf_extension_type_cached_type_spec"
_ALWAYS_SET = ("_keras_mask",)


def _refusal(name: str, kind: str) -> AttributeError:
    return AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of {kind}.")


def new_of(cls: type, attributes: Mapping[str, Any]) -> Any:
    """Return a value or spec with these attributes, past its constructor."""
    made: Any = object.__new__(cls)
    made.__dict__.update(attributes)
    return made


# --- classes ----------------------------------------------------------------------------------------------------------


class ExtensionTypeMetaclass(abc.ABCMeta):
    """Gives a class with annotated fields its constructor and its spec."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        if not namespace.get(AS_IT_IS, False):
            _check_names(cls)
            declared = _declared_fields(cls)
            if "__init__" in namespace:
                constructor = framed_constructor(cls, namespace["__init__"], _convert_value_fields)
            else:
                constructor = fields_constructor(cls, declared)
            cls.__init__ = constructor  # type: ignore[misc]
            _add_spec(cls, [field.name for field in declared])
        super().__init__(name, bases, namespace)


def _check_names(cls: type) -> None:
    own = inspect.get_annotations(cls)
    for name in (*own, *(word for word in cls.__dict__ if word != "Spec")):
        if ExtensionTypeField.is_reserved_name(name) and name != AS_IT_IS:
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved: "
                "every extension type has it already."
            )


def _declared_fields(cls: type) -> tuple[ExtensionTypeField, ...]:
    """Return the fields as they are written: those of base classes first, names of classes to come as names."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if isinstance(base, ExtensionTypeMetaclass):
            found.update(inspect.get_annotations(base))
    return tuple(_field(cls, name, says.plain(annotation)) for name, annotation in found.items())


def _field(cls: type, name: str, annotation: Any) -> ExtensionTypeField:
    default = getattr(cls, name, ExtensionTypeField.NO_DEFAULT)
    if says.is_forward_reference(annotation) and default is not ExtensionTypeField.NO_DEFAULT:
        field = ExtensionTypeField(name, annotation)  # the default is looked at when the name means something
        field.default = default
        return field
    return ExtensionTypeField(name, annotation, default)


def _convert_value_fields(value: Any, attributes: dict[str, Any]) -> None:
    fields_of.convert_fields(value._tf_extension_type_fields(), attributes)


def _convert_spec_fields(spec: Any, attributes: dict[str, Any]) -> None:
    fields_of.convert_fields_for_spec(spec.value_type._tf_extension_type_fields(), attributes)


def _add_spec(cls: Any, names: list[str]) -> None:
    """Give a class its `Spec`: made from the fields, with what a nested class of that name adds."""
    base = cls._tf_extension_type_spec_base
    own = cls.__dict__.get("Spec", None)
    members = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec"}
    if own is not None:
        if not isinstance(own, type):
            raise ValueError(f"{cls.__qualname__}.Spec must be a nested class; got {own!r}.")
        if own.__bases__ not in ((object,), (TypeSpec,), (base,)):
            raise ValueError(f"{cls.__qualname__}.Spec must be directly subclassed from tf.TypeSpec.")
        skipped = ("__dict__", "__weakref__", "__module__", "__qualname__")
        members = {**{key: value for key, value in own.__dict__.items() if key not in skipped}, **members}
    members["value_type"] = property(lambda self: cls)
    spec: Any = type("Spec", (base,), members)
    if "__init__" in members:
        spec.__init__ = framed_constructor(spec, members["__init__"], _convert_spec_fields)
    else:
        spec.__init__ = spec_constructor(spec, names)
    cls.Spec = spec
    if "__name__" in cls.__dict__:
        spec_registry.register(f"{cls.__dict__['__name__']}.Spec")(spec)


# --- specs ------------------------------------------------------------------------------------------------------------


class ExtensionTypeSpec(TypeSpec):
    """The type of values of an extension type: what stands in each field, with specs for tensors."""

    def __validate__(self) -> None:
        """Check the spec; a nested class `Spec` may say how."""

    @classmethod
    def from_value(cls, value: Nested) -> ExtensionTypeSpec:
        """Return the spec of a value."""
        attributes = {
            field.name: _with_specs(getattr(value, field.name)) for field in value._tf_extension_type_fields()
        }
        if packing.is_packed(value):
            attributes[packing.IS_PACKED] = True
        return new_of(cls, attributes)

    def _by_field(self) -> dict[str, Any]:
        """Return what stands in each field."""
        return {field.name: self.__dict__[field.name] for field in self.value_type._tf_extension_type_fields()}  # type: ignore[attr-defined]

    # --- taken apart ----------------------------------------------------------------------------------------------

    @property
    def _component_specs(self) -> Any:
        if packing.IS_PACKED in self.__dict__:
            return TensorSpec([], "variant")
        leaves = nest.flatten(list(self._by_field().values()))
        return tuple(_component_spec(leaf) for leaf in leaves if isinstance(leaf, TypeSpec))

    def _to_components(self, value: Any) -> Any:
        if packing.IS_PACKED in self.__dict__:
            return packing.variant_of(value)
        own = self._by_field()
        parts = nest.flatten([getattr(value, name) for name in own])
        pairs = zip(nest.flatten(list(own.values())), parts, strict=True)
        return tuple(_component(spec, part) for spec, part in pairs if isinstance(spec, TypeSpec))

    def _from_components(self, components: Any) -> Any:
        if packing.IS_PACKED in self.__dict__:
            return packing.packed_value(self, components)
        own, given = self._by_field(), iter(components)
        form = list(own.values())
        leaves = [_field_value(leaf, given) if isinstance(leaf, TypeSpec) else leaf for leaf in nest.flatten(form)]
        return new_of(self.value_type, dict(zip(own, nest.pack_sequence_as(form, leaves), strict=True)))

    def _serialize(self) -> Any:
        attributes = {**self._by_field(), **({packing.IS_PACKED: True} if packing.IS_PACKED in self.__dict__ else {})}
        return tuple((name, _mappings(value, dict)) for name, value in attributes.items())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        return new_of(cls, {name: _mappings(value, ImmutableDict) for name, value in serialization})

    # --- as datasets of TF 1 tell of them -------------------------------------------------------------------------

    def _to_legacy_output_types(self) -> Any:
        return nest.map_structure(_legacy_type, self._by_field())

    def _to_legacy_output_shapes(self) -> Any:
        shape = getattr(self, "shape", None)
        if shape is None:
            raise NotImplementedError(f"{type(self).__qualname__} has no property `shape`")
        return shape

    def _to_legacy_output_classes(self) -> Any:
        return self

    # --- plain --------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if IN_CONSTRUCTOR not in self.__dict__ or not self.value_type._tf_extension_type_has_field(name):  # type: ignore[attr-defined]
            raise _refusal(name, "ExtensionTypeSpec")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if IN_CONSTRUCTOR not in self.__dict__ or not self.value_type._tf_extension_type_has_field(name):  # type: ignore[attr-defined]
            raise _refusal(name, "ExtensionTypeSpec")
        object.__delattr__(self, name)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._by_field().items())
        packed = f", {packing.IS_PACKED}=True" if packing.IS_PACKED in self.__dict__ else ""
        return f"{type(self).__qualname__}({inside}{packed})"


# A variable is in a field as itself, and among the components as its handle.


def _component_spec(spec: Any) -> Any:
    return spec.flatten()[0] if fields_of.is_variable_spec(spec) else spec


def _component(spec: Any, part: Any) -> Any:
    return spec.to_tensors(part)[0] if fields_of.is_variable_spec(spec) else part


def _field_value(spec: Any, components: Iterator[Any]) -> Any:
    return spec.from_tensors(components) if fields_of.is_variable_spec(spec) else next(components)


def _with_specs(value: Any) -> Any:
    """Return what stands in a spec where this stands in a value."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (CompositeTensor, TensorBase)):
        return value._type_spec  # type: ignore[union-attr]
    if isinstance(value, Mapping):
        return type(value)((key, _with_specs(item)) for key, item in value.items())  # type: ignore[call-arg]
    return tuple(map(_with_specs, value)) if isinstance(value, tuple) else value


def _mappings(value: Any, kind: Any) -> Any:
    """Return a value with every mapping in it of one kind."""
    if isinstance(value, Mapping):
        return kind((key, _mappings(item, kind)) for key, item in value.items())
    return tuple(_mappings(item, kind) for item in value) if isinstance(value, (tuple, list)) else value


def _legacy_type(leaf: Any) -> Any:
    return leaf._to_legacy_output_types() if isinstance(leaf, TypeSpec) else leaf


# --- values -----------------------------------------------------------------------------------------------------------


class ExtensionType(CompositeTensor, metaclass=ExtensionTypeMetaclass):
    """A type with fields of tensors and plain values, said by annotations: `class Masked(ExtensionType): x: tf.Tensor`.

    Values cannot be changed. `__validate__` may check them; a nested class `Spec` may add to their specs; `__name__`
    gives the type a name in files.
    """

    _tf_extension_type_do_not_transform_this_class = True
    _tf_extension_type_spec_base = ExtensionTypeSpec

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if type(self) is ExtensionType:
            raise AssertionError("ExtensionType is an abstract base class.")

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[ExtensionTypeField, ...]:
        """Return the fields; names of classes mean the classes by now."""
        found = cls.__dict__.get(_FIELDS)
        if found is not None:
            return found
        try:
            hints = typing.get_type_hints(cls, localns={cls.__name__: cls})
        except (NameError, AttributeError) as error:
            raise TypeError(f"In the fields of {cls.__qualname__}: {error}") from error
        for name, annotation in hints.items():
            try:
                fields_of.validate_field_value_type(annotation)
            except TypeError as error:
                raise TypeError(f"In field {name!r}: {error}") from error
        found = tuple(
            ExtensionTypeField(name, kind, getattr(cls, name, ExtensionTypeField.NO_DEFAULT))
            for name, kind in hints.items()
        )
        setattr(cls, _FIELDS, found)
        return found

    @classmethod
    def _tf_extension_type_has_field(cls, name: str) -> bool:
        """Return whether there is a field of this name."""
        return any(field.name == name for field in cls._tf_extension_type_fields())

    def _tf_extension_type_convert_fields(self) -> None:
        fields_of.convert_fields(self._tf_extension_type_fields(), self.__dict__)

    def __validate__(self) -> None:
        """Check the value; a type may say how."""

    @property
    def _type_spec(self) -> Any:
        found = self.__dict__.get(_SPEC)
        if found is None:
            found = self.__dict__[_SPEC] = self.Spec.from_value(self)
        return found

    def __getattr__(self, name: str) -> Any:
        if packing.VARIANT in self.__dict__ and self._tf_extension_type_has_field(name):
            return getattr(packing.unpack(self), name)  # unpacked where it is asked for: each graph has its own
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _ALWAYS_SET and not self._may_set(name):
            raise _refusal(name, "ExtensionType")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name not in _ALWAYS_SET and not self._may_set(name):
            raise _refusal(name, "ExtensionType")
        object.__delattr__(self, name)

    def _may_set(self, name: str) -> bool:
        return IN_CONSTRUCTOR in self.__dict__ and self._tf_extension_type_has_field(name)

    def __eq__(self, other: Any) -> Any:
        if type(self) is not type(other):
            return False
        if not self._type_spec.is_compatible_with(other._type_spec):
            return False
        pairs = zip(nest.flatten(self, True), nest.flatten(other, True), strict=True)
        answers = [answer for x, y in pairs for answer in _same(x, y)]
        return _all(raw.Pack(answers)) if answers else True

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return not equal if isinstance(equal, bool) else raw.LogicalNot(equal)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = (f"{field.name}={getattr(self, field.name)!r}" for field in self._tf_extension_type_fields())
        return f"{type(self).__qualname__}({', '.join(inside)})"


def _same(x: Any, y: Any) -> Sequence[Any]:
    """Return scalars that are all true where two tensors have the same shape and elements."""
    shapes = raw.Shape(x), raw.Shape(y)
    return [_all(raw.Equal(a, b, incompatible_shape_error=False)) for a, b in (shapes, (x, y))]


def _all(answers: Any) -> Any:
    return raw.All(answers, raw.Range(0, raw.Rank(answers), 1))


def as_dict(value: Nested) -> dict[str, Any]:
    """Return the fields of a value by name."""
    return {field.name: getattr(value, field.name) for field in value._tf_extension_type_fields()}
