"""Nested structures of specs and plain Python values as StructuredValue messages, and back.

What a SavedModel says of the arguments and results of a function is written so. Depth is bounded on the way in: a
message from a stranger may be nested as deep as protobuf allows. Knows specs by table; knows nothing of functions.
"""

from __future__ import annotations

import collections
import functools
import importlib
import keyword
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors, nest
from ebbflow.core.composite import TypeSpec
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import BoundedTensorSpec, TensorSpec
from ebbflow.core.spec_registry import get_name, lookup
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Message, Nested
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto, shape_dims, shape_proto
from ebbflow.ops.extension.anonymous import AnonymousExtensionTypeSpec
from ebbflow.ops.extension.types import ExtensionTypeSpec

DEEPEST = 60
"""So deep may a structure be nested; protobuf itself stops near a hundred messages."""


class SpecRow(NamedTuple):
    """How a spec is written: its number in the message, its home, the attributes that make it again."""

    number: int
    home: str
    fields: tuple[str, ...]


SPECS = {
    "SparseTensorSpec": SpecRow(1, "core.sparse", ("_shape", "_dtype")),
    "IndexedSlicesSpec": SpecRow(
        2, "core.slices", ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")
    ),
    "RaggedTensorSpec": SpecRow(3, "ops.ragged.spec", ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")),
    "DatasetSpec": SpecRow(5, "data.dataset", ("_element_spec", "_dataset_shape")),
    "IteratorSpec": SpecRow(6, "data.iterator", ("_element_spec",)),
    "OptionalSpec": SpecRow(7, "data.optional", ("_element_spec",)),
    "VariableSpec": SpecRow(9, "state.variable_spec", ("shape", "dtype", "trainable", "alias_id")),
}
REGISTERED, EXTENSION_TYPE = 12, 13
"""The numbers of specs that are known by the names of their classes."""
_BY_NUMBER = {row.number: name for name, row in SPECS.items()}


class NotEncodableError(Exception):
    """A value has no form in a StructuredValue."""


def can_encode(nested_structure: Any) -> bool:
    """Return whether a structure can be written."""
    try:
        encode_structure(nested_structure)
    except NotEncodableError:
        return False
    return True


class StructureCoder:
    """TF 1's door to the same: an object with the functions of this module."""

    def can_encode(self, nested_structure: Any) -> bool:
        """Return whether a structure can be written."""
        return can_encode(nested_structure)

    def encode_structure(self, nested_structure: Any) -> Any:
        """Return a structure as a StructuredValue."""
        return encode_structure(nested_structure)

    def decode_proto(self, proto: Any) -> Any:
        """Return the structure that a StructuredValue holds."""
        return decode_proto(proto)


# --- writing ----------------------------------------------------------------------------------------------------------


def encode_structure(nested_structure: Nested) -> Message:
    """Return a structure as a StructuredValue.

    >>> encode_structure([1, "a"]).list_value.values[0].int64_value
    1
    """
    result = messages.StructuredValue()
    _encode(nested_structure, result)
    return result


def _encode(value: Any, into: Any) -> None:
    """Write a value; the order of the rows matters: a bool is an int, and a named tuple a tuple."""
    if value is None:
        into.none_value.SetInParent()
    elif isinstance(value, (bool, np.bool_)):
        into.bool_value = bool(value)
    elif isinstance(value, int):
        into.int64_value = value
    elif isinstance(value, float):
        into.float64_value = value
    elif isinstance(value, str):
        into.string_value = value
    elif isinstance(value, dtypes.DType):
        into.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        into.tensor_shape_value.CopyFrom(shape_proto(value))
    elif isinstance(value, (Tensor, np.ndarray, np.generic)):
        _encode_array(value, into)
    elif isinstance(value, TypeSpec):
        _encode_spec(value, into)
    elif not _encode_container(value, into) and not _encode_by_codec(value, into):
        raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


_codecs: list[Any] = []


def register_codec(x: Any) -> None:
    """Have a codec of the program's own write, and read, what no other here does.

    It has `can_encode(object)`, `do_encode(object, encode)`, `can_decode(message)` and `do_decode(message, decode)`.
    """
    _codecs.append(x)


def _encode_by_codec(value: Any, into: Any) -> bool:
    for codec in _codecs:
        if codec.can_encode(value):
            into.CopyFrom(codec.do_encode(value, encode_structure))
            return True
    return False


def _encode_array(value: Any, into: Any) -> None:
    if isinstance(value, EagerTensor):
        into.tensor_value.CopyFrom(make_tensor_proto(value.numpy(), value.dtype))
    elif isinstance(value, Tensor):
        known = value.constant_value()
        if known is None:
            raise NotEncodableError(f"No encoder for {value!r}: it has no value yet")
        into.tensor_value.CopyFrom(make_tensor_proto(known, value.dtype))
    else:
        into.numpy_value.CopyFrom(make_tensor_proto(value))


def _encode_container(value: Any, into: Any) -> bool:
    value = getattr(value, "__wrapped__", value)  # a dict or tuple that tracks what is in it
    if isinstance(value, Mapping):
        into.dict_value.SetInParent()
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotEncodableError(f"No encoder for a dict with the key {key!r}: keys must be text")
            _encode(item, into.dict_value.fields[key])
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        into.named_tuple_value.name = type(value).__name__
        for key in value._fields:
            _encode(getattr(value, key), into.named_tuple_value.values.add(key=key).value)
    elif isinstance(value, tuple):
        into.tuple_value.SetInParent()
        for item in value:
            _encode(item, into.tuple_value.values.add())
    elif isinstance(value, list):
        into.list_value.SetInParent()
        for item in value:
            _encode(item, into.list_value.values.add())
    else:
        return False
    return True


def _encode_spec(spec: Any, into: Any) -> None:
    name = type(spec).__name__
    if isinstance(spec, BoundedTensorSpec):
        bounded = into.bounded_tensor_spec_value
        bounded.shape.CopyFrom(shape_proto(spec.shape))
        bounded.dtype, bounded.name = spec.dtype.as_datatype_enum, spec.name or ""
        for bound, message in ((spec.minimum, bounded.minimum), (spec.maximum, bounded.maximum)):
            message.CopyFrom(make_tensor_proto(bound, spec.dtype, list(bound.shape)))
        return
    if isinstance(spec, TensorSpec):
        into.tensor_spec_value.shape.CopyFrom(shape_proto(spec.shape))
        into.tensor_spec_value.dtype = spec.dtype.as_datatype_enum
        into.tensor_spec_value.name = spec.name or ""
        return
    row = SPECS.get(name)
    if row is None:
        _encode_registered(spec, into.type_spec_value)
        return
    into.type_spec_value.type_spec_class = row.number
    into.type_spec_value.type_spec_class_name = name
    into.type_spec_value.num_flat_components = len(nest.flatten(spec, expand_composites=True))
    _encode(tuple(getattr(spec, field) for field in row.fields), into.type_spec_value.type_state)


def _encode_registered(spec: Any, into: Any) -> None:
    """Write a spec of a program's own: the name its class was registered with, or that it is an extension type's."""
    if isinstance(spec, AnonymousExtensionTypeSpec):
        into.type_spec_class, into.type_spec_class_name = (
            EXTENSION_TYPE,
            f"{type(spec).__module__}.{type(spec).__name__}",
        )
    else:
        try:
            into.type_spec_class_name = get_name(type(spec))
        except ValueError:
            raise NotEncodableError(
                f"No encoder for {spec!r}: {type(spec).__qualname__} has no name in files (an extension type gets one "
                f"by the attribute `__name__`); specs without one are TensorSpec, {', '.join(SPECS)}"
            ) from None
        into.type_spec_class = EXTENSION_TYPE if isinstance(spec, ExtensionTypeSpec) else REGISTERED
    into.num_flat_components = len(nest.flatten(spec, expand_composites=True))
    _encode(spec._serialize(), into.type_state)


# --- reading ----------------------------------------------------------------------------------------------------------


def decode_proto(proto: Message, depth: int = 0) -> Nested:
    """Return the structure that a StructuredValue holds."""
    if depth > DEEPEST:
        raise errors.InvalidArgumentError(None, None, f"a structure is nested more than {DEEPEST} deep")
    for codec in _codecs:
        if codec.can_decode(proto):
            return codec.do_decode(proto, decode_proto)
    kind = proto.WhichOneof("kind")
    decode = _DECODERS.get(kind)
    if decode is None:
        raise errors.InvalidArgumentError(None, None, f"a StructuredValue has no kind known here: {kind}")
    return decode(getattr(proto, kind), depth + 1)


def _plain(value: Any, depth: int) -> Any:
    return value


def _decode_list(value: Any, depth: int) -> list[Any]:
    return [decode_proto(item, depth) for item in value.values]


def _decode_tuple(value: Any, depth: int) -> tuple[Any, ...]:
    return tuple(decode_proto(item, depth) for item in value.values)


def _decode_dict(value: Any, depth: int) -> dict[str, Any]:
    return {key: decode_proto(value.fields[key], depth) for key in sorted(value.fields)}


def _decode_named_tuple(value: Any, depth: int) -> Any:
    items = [(pair.key, decode_proto(pair.value, depth)) for pair in value.values]
    return named_tuple_class(value.name, tuple(key for key, _ in items))(*[item for _, item in items])


@functools.cache
def named_tuple_class(name: str, fields: tuple[str, ...]) -> Any:
    """Return the class of a named tuple; the same one for the same name and fields."""
    usable = [text for text in (name, *fields) if text.isidentifier() and not keyword.iskeyword(text)]
    if len(usable) != len(fields) + 1 or len(set(fields)) != len(fields):
        raise errors.InvalidArgumentError(None, None, f"no named tuple can be {name!r} with fields {list(fields)}")
    return collections.namedtuple(name, fields, rename=any(f.startswith("_") for f in fields))


def _decode_dtype(value: Any, depth: int) -> Any:
    try:
        return dtypes.as_dtype(value)
    except TypeError:
        raise errors.InvalidArgumentError(None, None, f"a StructuredValue has the unknown dtype {value}") from None


def _decode_tensor_spec(value: Any, depth: int) -> TensorSpec:
    return TensorSpec(shape_dims(value.shape), _decode_dtype(value.dtype, depth), value.name or None)


def _decode_bounded_spec(value: Any, depth: int) -> BoundedTensorSpec:
    dims, dtype = shape_dims(value.shape), _decode_dtype(value.dtype, depth)
    bounds = make_ndarray(value.minimum), make_ndarray(value.maximum)
    try:
        return BoundedTensorSpec(dims, dtype, *bounds, name=value.name or None)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"a StructuredValue has bounds that do not fit: {error}"
        ) from None


def _decode_registered(value: Any, depth: int) -> Any:
    """Return a spec of a program's own; an extension type whose class is not here has one without a name."""
    state = decode_proto(value.type_state, depth)
    try:
        cls: Any = lookup(value.type_spec_class_name)
    except ValueError as error:
        if value.type_spec_class != EXTENSION_TYPE:
            raise ValueError(
                f"The type spec {value.type_spec_class_name!r} is not registered: import the module that declares it "
                "before the model is loaded"
            ) from error
        cls = AnonymousExtensionTypeSpec
    try:
        return cls._deserialize(state)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"{value.type_spec_class_name} cannot be made from {state}: {error}"
        ) from None


def _decode_type_spec(value: Any, depth: int) -> Any:
    if value.type_spec_class in (EXTENSION_TYPE, REGISTERED):
        return _decode_registered(value, depth)
    name = _BY_NUMBER.get(value.type_spec_class)
    if name is None:
        raise ValueError(
            f"The type '{value.type_spec_class_name or value.type_spec_class}' is not supported here: what wrote it "
            "may be newer"
        )
    state = decode_proto(value.type_state, depth)
    row = SPECS[name]
    spec = getattr(importlib.import_module(f"ebbflow.{row.home}"), name)  # the rooms of specs are loaded on use
    try:
        return spec(*state[: len(row.fields)])
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(None, None, f"{name} cannot be made from {state}: {error}") from None


def _decode_tensor(value: Any, depth: int) -> EagerTensor:
    return EagerTensor(make_ndarray(value), dtypes.as_dtype(value.dtype))


_DECODERS: dict[str | None, Any] = {
    "none_value": lambda value, depth: None,
    "bool_value": _plain,
    "int64_value": _plain,
    "float64_value": _plain,
    "string_value": _plain,
    "list_value": _decode_list,
    "tuple_value": _decode_tuple,
    "dict_value": _decode_dict,
    "named_tuple_value": _decode_named_tuple,
    "tensor_dtype_value": _decode_dtype,
    "tensor_shape_value": lambda value, depth: TensorShape(shape_dims(value)),
    "tensor_spec_value": _decode_tensor_spec,
    "bounded_tensor_spec_value": _decode_bounded_spec,
    "type_spec_value": _decode_type_spec,
    "tensor_value": _decode_tensor,
    "numpy_value": lambda value, depth: make_ndarray(value),
}
