"""Containers: which Python values hold others, and how each opens and closes.

How a container opens and closes is its **kind**, found once for each class and then looked up, so that asking costs a
dictionary hit. Knows Python's containers, `attrs`, the `__tf_flatten__` protocol and composite tensors; knows nothing
of walking whole structures, which is `nest`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MappingView, MutableMapping, Sequence
from typing import Any, NamedTuple

from ebbflow.core.composite import CompositeTensor, TypeSpec, spec_of


class Kind(NamedTuple):
    """How containers of a class open and close."""

    values: Callable[[Any], Iterable[Any]]  # the children, in flat order
    keys: Callable[[Any], Iterable[Any]]  # their names in a path, in the same order
    like: Callable[[Any, list[Any]], Any]  # the same container with other children


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError("nest only supports dicts with sortable keys.") from error


def _mapping_like(mapping: Any, values: list[Any]) -> Any:
    found = dict(zip(_sorted_keys(mapping), values, strict=True))
    cls = mapping.__class__
    if cls is dict:
        return {key: found[key] for key in mapping}
    if isinstance(mapping, MutableMapping):
        made = cls(mapping.default_factory) if isinstance(mapping, defaultdict) else cls()
        for key in mapping:
            made[key] = found[key]
        return made
    try:
        return cls((key, found[key]) for key in mapping)
    except TypeError as error:
        raise TypeError(
            f"Error creating an object of type {cls} like {mapping}. Note that it must accept a single positional "
            f"argument representing an iterable of key-value pairs, in addition to self. Cause: {error}"
        ) from error


def _sequence_of_same_class(sequence: Any, values: list[Any]) -> Any:
    cls = sequence.__class__
    return values if cls is list or cls is range else cls(values)


def _attrs_names(value: Any) -> list[str]:
    return [field.name for field in value.__class__.__attrs_attrs__]


def _composite_key(value: Any) -> list[str]:
    return [spec_of(value).value_type.__name__]


SEQUENCE = Kind(lambda x: x, lambda x: range(len(x)), _sequence_of_same_class)
NAMEDTUPLE = Kind(lambda x: x, lambda x: x._fields, lambda x, values: x.__class__(*values))
MAPPING = Kind(lambda x: [x[key] for key in _sorted_keys(x)], _sorted_keys, _mapping_like)
MAPPING_VIEW = Kind(lambda x: x, lambda x: range(len(x)), lambda x, values: values)
ATTRS = Kind(
    lambda x: [getattr(x, name) for name in _attrs_names(x)],
    _attrs_names,
    lambda x, values: x.__class__(*values),
)
CUSTOM = Kind(  # a class with `__tf_flatten__` and `__tf_unflatten__`: what is no component is metadata, and is kept
    lambda x: x.__tf_flatten__()[1],
    lambda x: range(len(x.__tf_flatten__()[1])),
    lambda x, values: x.__tf_unflatten__(x.__tf_flatten__()[0], tuple(values)),
)
# A composite has one child, the structure of its components, under the name of its class.
COMPOSITE = Kind(
    lambda x: (x._type_spec._to_components(x),),
    _composite_key,
    lambda x, values: x._type_spec._from_components(values[0]),
)
SPEC = Kind(
    lambda x: (x._component_specs,),
    _composite_key,
    lambda x, values: x._from_components(values[0]),
)


def _kind(cls: type) -> Kind | None:
    """The kind of containers of class `cls`, or None if its values are leaves."""
    if issubclass(cls, str | bytes):
        return None
    if issubclass(cls, Mapping):
        return MAPPING
    if issubclass(cls, MappingView):
        return MAPPING_VIEW
    if issubclass(cls, tuple) and _has_fields(cls):
        return NAMEDTUPLE
    if issubclass(cls, Sequence):
        return SEQUENCE
    if hasattr(cls, "__attrs_attrs__"):
        return ATTRS
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return CUSTOM
    return None


def _kind_or_composite(cls: type) -> Kind | None:
    if issubclass(cls, CompositeTensor):
        return COMPOSITE
    if issubclass(cls, TypeSpec) and not cls._is_dense:
        return SPEC
    return _kind(cls)


def _has_fields(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return isinstance(fields, tuple | list) and all(isinstance(field, str) for field in fields)


class Kinds(dict[type, "Kind | None"]):
    """Kinds by class, found when first asked for."""

    def __init__(self, find: Callable[[type], Kind | None]) -> None:
        self._find = find

    def __missing__(self, cls: type) -> Kind | None:
        if len(self) > 4096:  # classes made on the fly must not be kept alive for ever
            self.clear()
        kind = self[cls] = self._find(cls)
        return kind


PLAIN = Kinds(_kind)
EXPANDING = Kinds(_kind_or_composite)  # opens composite tensors and their specs too

# Classes are asked for as `x.__class__`, which sees through proxies (`wrapt`), as `isinstance` does.


def rebuild(kind: Kind, instance: Any, values: list[Any]) -> Any:
    """The container `instance` with other children; a proxy is put around it again."""
    if type(instance) is instance.__class__:
        return kind.like(instance, values)
    return type(instance)(kind.like(instance.__wrapped__, values))


def is_nested(seq: object) -> bool:
    """Whether `seq` is a container that `flatten` opens.

    >>> is_nested([1, 2]), is_nested("ab"), is_nested({})
    (True, False, True)
    """
    return PLAIN[seq.__class__] is not None


def is_nested_or_composite(seq: Any) -> bool:
    """Whether `flatten(..., expand_composites=True)` opens `seq`."""
    return EXPANDING[seq.__class__] is not None


def is_mapping(obj: Any) -> bool:
    """Whether `obj` is a dict or like one."""
    return isinstance(obj, Mapping)


def is_mapping_view(obj: Any) -> bool:
    """Whether `obj` is the keys, values or items of a mapping."""
    return isinstance(obj, MappingView)


def is_attrs(obj: Any) -> bool:
    """Whether `obj` is of a class made with `attrs`."""
    return hasattr(obj.__class__, "__attrs_attrs__")


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether `instance` is a namedtuple; if `strict`, not of a subclass of one."""
    cls = instance.__class__
    return issubclass(cls, tuple) and _has_fields(cls) and (not strict or cls.__base__ is tuple)


def same_namedtuples(nest1: Any, nest2: Any) -> bool:
    """Whether two namedtuples have the same class name and fields, though their classes may be made twice."""
    return nest1.__class__.__name__ == nest2.__class__.__name__ and tuple(nest1._fields) == tuple(nest2._fields)


def is_composite_tensor(value: Any) -> bool:
    """Whether `value` is made of several tensors."""
    return isinstance(value, CompositeTensor)


def is_type_spec(value: Any) -> bool:
    """Whether `value` is the spec of a composite."""
    return isinstance(value, TypeSpec) and not value._is_dense
