"""Attributes of nodes: Python values as `AttrValue` messages and back.

| kind     | field    | Python                                                                 |
|----------|----------|------------------------------------------------------------------------|
| int      | `i`      | int                                                                    |
| float    | `f`      | float, rounded to 32 bits                                              |
| bool     | `b`      | bool                                                                   |
| string   | `s`      | str where the bytes are UTF-8, else bytes                              |
| type     | `type`   | DType                                                                  |
| shape    | `shape`  | dims: a tuple, or None for unknown rank                                |
| tensor   | `tensor` | NumPy array; the message itself for elements NumPy has no type for     |
| func     | `func`   | `messages.NameAttrList`                                                |
| list(K)  | `list`   | a list of K                                                            |

In the body of a generic function an attr may be `Placeholder("T")`: to be filled in from the function's own attr.
Knows the messages; knows nothing of ops, which say which kind each of their attrs has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto, shape_dims, shape_proto

if TYPE_CHECKING:
    from google.protobuf.message import Message


@dataclass(frozen=True)
class Placeholder:
    """Stands for the attr `name` of the function whose body the node is in."""

    name: str


def attr_value(kind: str, value: Any) -> Message:
    """The `AttrValue` of a Python value; `kind` is one of the table above.

    >>> attr_value("list(int)", [1, 2]).list.i
    [1, 2]
    """
    if isinstance(value, Placeholder):
        return messages.AttrValue(placeholder=value.name)
    if kind.startswith("list("):
        field, encode, _ = _form(kind[5:-1])
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise TypeError(f"a {kind} attr takes a list, not {value!r}")
        items = [_checked(kind, encode, item) for item in value]
        return messages.AttrValue(list=messages.AttrValue.ListValue(**{field: items}))
    field, encode, _ = _form(kind)
    return messages.AttrValue(**{field: _checked(kind, encode, value)})


def attr_python(attr: Message, kind: str | None = None) -> Any:
    """The Python value of an `AttrValue`; of no value at all, None. A `kind` that does not fit it is an error.

    >>> attr_python(attr_value("type", "float32"))
    tf.float32
    """
    field = attr.WhichOneof("value")
    if field is None:
        return None
    if field == "placeholder":
        return Placeholder(attr.placeholder)
    if kind is not None and field != ("list" if kind.startswith("list(") else _form(kind)[0]):
        raise errors.InvalidArgumentError(
            None, None, f"AttrValue had value with type '{kind_of(attr)}' when '{kind}' expected"
        )
    if field == "list":
        return _list_python(attr.list, kind)
    return _KIND_OF_FIELD[field][2](getattr(attr, field))


def kind_of(attr: Message) -> str | None:
    """The kind of value an `AttrValue` holds: `list(any)` if it is an empty list, None if it holds nothing."""
    field = attr.WhichOneof("value")
    if field != "list":
        return _KIND_OF_FIELD[field][0] if field in _KIND_OF_FIELD else field
    filled = [f.name for f, _ in attr.list.ListFields()]
    return f"list({_KIND_OF_FIELD[filled[0]][0]})" if filled else "list(any)"


def _list_python(values: Message, kind: str | None) -> list[Any]:
    filled = [f.name for f, _ in values.ListFields()]
    wanted = [_form(kind[5:-1])[0]] if kind is not None else filled[:1]
    if len(filled) > 1 or (filled and filled != wanted):
        raise errors.InvalidArgumentError(
            None, None, f"AttrValue has a list of {' and '.join(filled)}, not a {kind or 'list'}"
        )
    return [_KIND_OF_FIELD[field][2](item) for field in wanted for item in getattr(values, field)]


def _checked(kind: str, encode: Callable[[Any], Any], value: Any) -> Any:
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise TypeError(f"a {kind} attr cannot be {value!r}: {e}") from e


def _form(kind: str) -> tuple[str, Callable[[Any], Any], Callable[[Any], Any]]:
    try:
        return _FORMS[kind]
    except KeyError:
        raise ValueError(f"{kind!r} is no kind of attr; they are {', '.join(_FORMS)} and list(...)") from None


def _encode_int(value: Any) -> int:
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("it does not fit in 64 bits")
    return number


def _encode_bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return bool(value)
    raise TypeError("it is no bool")


def _encode_string(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode("utf-8")
    raise TypeError("it is no string")


def _encode_float(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError("it is no number")
    with np.errstate(over="ignore"):
        return float(np.float32(float(value)))  # beyond float32's range: infinity, as in C++


def _encode_shape(value: Any) -> Message:
    return value if isinstance(value, messages.TensorShapeProto) else shape_proto(value)


def _encode_func(value: Any) -> Message:
    if isinstance(value, messages.NameAttrList):
        return value
    if isinstance(value, str):
        return messages.NameAttrList(name=value)
    raise TypeError("it is neither a NameAttrList nor the name of a function")


def _decode_string(value: bytes) -> str | bytes:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def _decode_type(number: int) -> dtypes.DType:
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        raise errors.InvalidArgumentError(None, None, f"AttrValue has the unknown dtype {number}") from None


def _decode_tensor(proto: Message) -> Any:
    number = proto.dtype % 100
    if number in (dtypes.resource.as_datatype_enum, dtypes.variant.as_datatype_enum):
        return proto
    return make_ndarray(proto, spread=True)


def _as_it_is(value: Any) -> Any:
    return value


_FORMS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "int": ("i", _encode_int, _as_it_is),
    "float": ("f", _encode_float, _as_it_is),
    "bool": ("b", _encode_bool, _as_it_is),
    "string": ("s", _encode_string, _decode_string),
    "type": ("type", lambda value: dtypes.as_dtype(value).as_datatype_enum, _decode_type),
    "shape": ("shape", _encode_shape, shape_dims),
    "tensor": ("tensor", make_tensor_proto, _decode_tensor),
    "func": ("func", _encode_func, _as_it_is),
}
_KIND_OF_FIELD = {field: (kind, encode, decode) for kind, (field, encode, decode) in _FORMS.items()}
