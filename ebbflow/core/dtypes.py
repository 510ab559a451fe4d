"""Element types: what a number in a tensor is, under TensorFlow's names and enum numbers.

Every dtype is one object, made here once, so code compares dtypes with `is` and looks them up by identity. Knows
NumPy and `ml_dtypes`; knows nothing of tensors. Conversion of a NumPy dtype (`from_numpy`) is one dictionary hit,
because the eager path does it for every result.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from ebbflow.core.tracing import TensorFree

if TYPE_CHECKING:
    from ebbflow.core.typing import DTypeLike


_REF_OFFSET: Final = 100  # a reference type is its base type's enum number plus this
_BY_ENUM: dict[int, DType] = {}


@functools.cache
def _extreme_of(kind: np.dtype, whole: builtins.bool, which: str) -> Any:
    # remembered: NumPy makes a new iinfo each time, which takes several microseconds
    return int(getattr(ml_dtypes.iinfo(kind), which)) if whole else getattr(ml_dtypes.finfo(kind), which)


class DType(TensorFree):
    """The type of a tensor's elements. `DType(1)`, `as_dtype("float32")` and `float32` are the same object."""

    __slots__ = (
        "__weakref__",
        "_as_ref",
        "_handle_data",
        "_is_ref_dtype",
        "_type_enum",
        "as_datatype_enum",
        "as_numpy_dtype",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
        "np",
        "real_dtype",
        "size",
    )

    # Plain slots, not properties: ops read them on every call.
    name: str
    np: np.dtype  # of the arrays that hold such elements; object for string, resource and variant
    as_numpy_dtype: Any  # what TensorFlow answers: a scalar type, or a structured dtype for the quantised
    as_datatype_enum: int
    base_dtype: DType
    real_dtype: DType
    size: int  # bytes of one element; 0 where elements are Python objects
    is_bool: builtins.bool
    is_floating: builtins.bool
    is_complex: builtins.bool
    is_integer: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    is_numeric: builtins.bool
    is_numpy_compatible: builtins.bool
    _type_enum: int
    _is_ref_dtype: builtins.bool
    _as_ref: DType
    _handle_data: None  # TensorFlow hangs shapes of resources here; Ebbflow keeps them with the tensor

    def __new__(cls, type_enum: int, handle_data: Any = None) -> DType:
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(f"{type_enum} does not correspond to a valid tensorflow::DataType") from None

    @property
    def min(self) -> Any:
        """The smallest finite value such an element can hold."""
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest finite value such an element can hold."""
        return self._extreme("max", "maximum")

    def _extreme(self, which: str, word: str) -> Any:
        base = self.base_dtype
        if base.is_floating or base.is_integer:
            return _extreme_of(base.np, base.is_integer, which)
        if not base.is_numpy_compatible:
            raise TypeError(f"Cannot find {word} value of {self}.")
        quantized = "quantized " if base.is_quantized else ""
        raise TypeError(f"Cannot find {word} value of {self} with {quantized}type {base}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of a pixel of this type: [0, 1] for floats, [0, max] for integers."""
        try:
            return 0, dtype_range[self.as_numpy_dtype][1]
        except KeyError:
            raise ValueError(f"{self} does not have defined limits.") from None

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of type `other` may stand where this type is asked for (a reference serves as its value)."""
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def is_subtype_of(self, other: object) -> builtins.bool:
        """Whether each value of this type is one of `other`; types of different name share none."""
        return self is other

    def most_specific_common_supertype(self, types: Sequence[Any]) -> DType | None:
        """This type if all of `types` are it, else None."""
        return self if all(self is other for other in types) else None

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The message class a dtype is written as."""
        from ebbflow import messages  # loads protobuf

        return messages.SerializedDType

    def experimental_as_proto(self) -> Any:
        """A `SerializedDType` message of this type."""
        return self.experimental_type_proto()(datatype=self._type_enum)

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> DType:
        """The dtype that a `SerializedDType` message names."""
        return cls(proto.datatype)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or other.__class__ is DType:
            return False
        try:
            return _lookup(other) is self
        except (KeyError, TypeError):
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    __hash__ = object.__hash__

    def __int__(self) -> int:
        return self._type_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def as_dtype(type_value: DTypeLike) -> DType:
    """Return the dtype that `type_value` names.

    Takes a DType, its enum number, a name (`"float32"`, `"half"`, `"int32_ref"`), a NumPy dtype or scalar type, a
    Python type (`float` means float32 and `int` int32), or anything with a NumPy `dtype`.

    >>> as_dtype("double")
    tf.float64
    """
    if type_value.__class__ is DType:
        return type_value
    try:
        return _lookup(type_value)
    except (KeyError, TypeError):
        pass
    if type_value.__class__ is type and type_value in _KINDNESS:
        return _KINDNESS[type_value]
    raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")


def from_numpy(np_dtype: np.dtype) -> DType:
    """Return the dtype whose elements an array of `np_dtype` holds; raise TypeError if there is none.

    >>> from_numpy(np.dtype("int64"))
    tf.int64
    """
    found = NUMPY_TO_DTYPE.get(np_dtype)
    return as_dtype(np_dtype) if found is None else found


def _lookup(type_value: Any) -> DType:
    """Strict look-up: KeyError or TypeError when nothing of that name, number or NumPy type is known."""
    try:
        return _ANY_TO_DTYPE[type_value]
    except (KeyError, TypeError):
        # 'S3', '<U7' and the other byte order are known by their scalar type; an array says its dtype.
        np_dtype = type_value if isinstance(type_value, np.dtype) else np.dtype(getattr(type_value, "dtype", _UNKNOWN))  # type: ignore[call-overload]
        return _ANY_TO_DTYPE[np_dtype.type]


_UNKNOWN: Final = object()  # not a dtype, nor anything NumPy takes for one


# One line a dtype: enum number, name, NumPy type, kind. Kinds: f floating, i integer, u unsigned integer, c complex,
# q quantised (an integer with a scale, kept as a one-field record so that NumPy does not take it for a number),
# b bool, s string, o an object only ops understand.
_TABLE: Final[tuple[tuple[int, str, Any, str], ...]] = (
    (1, "float32", np.float32, "f"),
    (2, "float64", np.float64, "f"),
    (3, "int32", np.int32, "i"),
    (4, "uint8", np.uint8, "u"),
    (5, "int16", np.int16, "i"),
    (6, "int8", np.int8, "i"),
    (7, "string", object, "s"),
    (8, "complex64", np.complex64, "c"),
    (9, "int64", np.int64, "i"),
    (10, "bool", np.bool_, "b"),
    (11, "qint8", np.dtype([("qint8", np.int8)]), "q"),
    (12, "quint8", np.dtype([("quint8", np.uint8)]), "q"),
    (13, "qint32", np.dtype([("qint32", np.int32)]), "q"),
    (14, "bfloat16", ml_dtypes.bfloat16, "f"),
    (15, "qint16", np.dtype([("qint16", np.int16)]), "q"),
    (16, "quint16", np.dtype([("quint16", np.uint16)]), "q"),
    (17, "uint16", np.uint16, "u"),
    (18, "complex128", np.complex128, "c"),
    (19, "float16", np.float16, "f"),
    (20, "resource", object, "o"),
    (21, "variant", object, "o"),
    (22, "uint32", np.uint32, "u"),
    (23, "uint64", np.uint64, "u"),
    (24, "float8_e5m2", ml_dtypes.float8_e5m2, "f"),
    (25, "float8_e4m3fn", ml_dtypes.float8_e4m3fn, "f"),
    (26, "float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, "f"),
    (27, "float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, "f"),
    (28, "float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, "f"),
    (29, "int4", ml_dtypes.int4, "i"),
    (30, "uint4", ml_dtypes.uint4, "u"),
    (31, "int2", ml_dtypes.int2, "i"),
    (32, "uint2", ml_dtypes.uint2, "u"),
    (33, "float4_e2m1fn", ml_dtypes.float4_e2m1fn, "f"),
)


def _make(enum: int, name: str, np_type: Any, kind: str) -> DType:
    """Make the one object for (enum, name) and, behind it, the one for its reference type."""
    value, reference = object.__new__(DType), object.__new__(DType)
    for made, number, full_name in ((value, enum, name), (reference, enum + _REF_OFFSET, name + "_ref")):
        made.name = full_name
        made.np = np.dtype(np_type)
        made.as_numpy_dtype = np_type
        made.as_datatype_enum = made._type_enum = number
        made.base_dtype, made.real_dtype = value, made
        made.size = 0 if kind in "so" else made.np.itemsize
        made.is_bool = kind == "b"
        made.is_floating = kind == "f"
        made.is_complex = kind == "c"
        made.is_integer = kind in "iu"
        made.is_quantized = kind == "q"
        made.is_unsigned = kind == "u"
        made.is_numeric = kind in "fiucq" and enum < 24  # TensorFlow leaves the 8-bit floats and narrower out
        made.is_numpy_compatible = kind != "o"
        made._is_ref_dtype = made is reference
        made._as_ref = reference
        made._handle_data = None
        _BY_ENUM[number] = made
    return value


for _row in _TABLE:
    _make(*_row)

float32, float32_ref = DType(1), DType(101)
float64, float64_ref = DType(2), DType(102)
int32, int32_ref = DType(3), DType(103)
uint8, uint8_ref = DType(4), DType(104)
int16, int16_ref = DType(5), DType(105)
int8, int8_ref = DType(6), DType(106)
string, string_ref = DType(7), DType(107)
complex64, complex64_ref = DType(8), DType(108)
int64, int64_ref = DType(9), DType(109)
bool, bool_ref = DType(10), DType(110)
qint8, qint8_ref = DType(11), DType(111)
quint8, quint8_ref = DType(12), DType(112)
qint32, qint32_ref = DType(13), DType(113)
bfloat16, bfloat16_ref = DType(14), DType(114)
qint16, qint16_ref = DType(15), DType(115)
quint16, quint16_ref = DType(16), DType(116)
uint16, uint16_ref = DType(17), DType(117)
complex128, complex128_ref = DType(18), DType(118)
float16, float16_ref = DType(19), DType(119)
resource, resource_ref = DType(20), DType(120)
variant, variant_ref = DType(21), DType(121)
uint32, uint32_ref = DType(22), DType(122)
uint64, uint64_ref = DType(23), DType(123)
float8_e5m2, float8_e5m2_ref = DType(24), DType(124)
float8_e4m3fn, float8_e4m3fn_ref = DType(25), DType(125)
float8_e4m3fnuz, float8_e4m3fnuz_ref = DType(26), DType(126)
float8_e4m3b11fnuz, float8_e4m3b11fnuz_ref = DType(27), DType(127)
float8_e5m2fnuz, float8_e5m2fnuz_ref = DType(28), DType(128)
int4, int4_ref = DType(29), DType(129)
uint4, uint4_ref = DType(30), DType(130)
int2, int2_ref = DType(31), DType(131)
uint2, uint2_ref = DType(32), DType(132)
float4_e2m1fn, float4_e2m1fn_ref = DType(33), DType(133)
half, half_ref = float16, float16_ref
double, double_ref = float64, float64_ref

for _complex, _real in ((complex64, float32), (complex128, float64)):
    _complex.real_dtype = _complex._as_ref.real_dtype = _real

# Groups, spelled and ordered as op declarations have them (`numbertype`, `realnumbertype`, `{int32, int64}`, ...).
ALL: Final = tuple(_BY_ENUM[row[0]] for row in _TABLE)
NUMERIC: Final = tuple(_BY_ENUM[enum] for enum in (1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 23))
REALNUMBER: Final = tuple(_BY_ENUM[enum] for enum in (1, 2, 3, 4, 5, 6, 9, 14, 17, 19, 22, 23))
QUANTIZED: Final = (qint8, quint8, qint32, qint16, quint16)
FLOATS: Final = (bfloat16, half, float32, float64)
COMPLEX: Final = (complex64, complex128)
FLOATS_COMPLEX: Final = FLOATS + COMPLEX
SIGNED: Final = (int8, int16, int32, int64)
UNSIGNED: Final = (uint8, uint16, uint32, uint64)
INTEGERS: Final = SIGNED + UNSIGNED
INDEX: Final = (int32, int64)

QUANTIZED_DTYPES: Final = frozenset(QUANTIZED) | frozenset(d._as_ref for d in QUANTIZED)
TF_VALUE_DTYPES: Final = set(ALL) - {resource, variant}

# The range of one element seen as a pixel, by NumPy type.
dtype_range: Final[dict[Any, tuple[Any, Any]]] = {
    np.bool_: (False, True),
    np.float32: (-1, 1),
    np.float64: (-1, 1),
    **{d.as_numpy_dtype: (d.min, d.max) for d in INTEGERS},
}

NUMPY_TO_DTYPE: Final[dict[np.dtype, DType]] = {
    **{d.np: d for d in ALL if d.is_numpy_compatible},
    np.dtype(np.longlong): int64,
    np.dtype(np.ulonglong): uint64,
}

_ANY_TO_DTYPE: Final[dict[Any, DType]] = {
    **_BY_ENUM,
    **{d.name: d for d in _BY_ENUM.values()},
    **{"float": float32, "half": float16, "double": float64},
    **{"float_ref": float32_ref, "half_ref": float16_ref, "double_ref": float64_ref},
    **{d.as_numpy_dtype: d for d in ALL if d.is_numpy_compatible},
    **NUMPY_TO_DTYPE,
    **{np.longlong: int64, np.ulonglong: uint64},
    **{np.object_: string, np.bytes_: string, np.str_: string},
    **{float: float32, builtins.bool: bool, object: string},
}
if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    _ANY_TO_DTYPE[np.dtypes.StringDType()] = string

# Python types that TensorFlow's own `as_dtype` refuses though their meaning is plain. They do not count for `==`,
# where a program may rely on `tf.int32 == int` being False.
_KINDNESS: Final[dict[type, DType]] = {int: int32, complex: complex128, str: string, bytes: string}

_IN_C: Final[dict[str, str]] = {"float32": "float", "float64": "double", "float16": "half"}


def c_name(dtype: DType) -> str:
    """Return a dtype's name as TensorFlow's kernels and interfaces write it.

    >>> c_name(float32), c_name(float64_ref), c_name(int32)
    ('float', 'double_ref', 'int32')
    """
    base = dtype.base_dtype.name
    return _IN_C.get(base, base) + ("_ref" if dtype._is_ref_dtype else "")


def as_integers(array: np.ndarray) -> np.ndarray:
    """Return quantized values as the plain integers that a program is handed; other arrays stay what they are."""
    names = array.dtype.names
    return array if names is None else array[names[0]]
