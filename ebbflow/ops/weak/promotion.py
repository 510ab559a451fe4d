"""Which dtype values meet in when dtypes are promoted: TensorFlow's lattice, where weak dtypes give way to others.

A Python number has a weak dtype, and so has what was computed of nothing else. Where a promotion may lose something
(`!` in the table) the mode "safe" refuses it. Knows dtypes and values, not ops; `functions` has ops promote by it.
"""

from __future__ import annotations

import enum
from typing import Any, TypeAlias

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import TensorShape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import TensorBase

Kind: TypeAlias = "tuple[DType, bool]"
"""A dtype, and whether it is weak."""


class PromoMode(enum.Enum):
    """How operands of different dtypes meet."""

    OFF = 0
    LEGACY = 1
    SAFE = 2
    ALL = 3


class _Mode:
    now = PromoMode.OFF


_mode = _Mode()

_NAMES = "b8 u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128 i32w i64w f32w f64w c128w"

_TABLE = """
b8 u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128 i32w i64w f32w f64w c128w
u8 u16 u32 u64 i16! i16 i32 i64 bf16 f16 f32 f64 c64 c128 u8 u8 f64w! f64w c128w
u16 u32 u64 i32! i32! i32 i64 bf16! f16! f32 f64 c64 c128 u16 u16 f64w! f64w c128w
u32 u64 i64! i64! i64! i64 bf16! f16! f32! f64 c64! c128 u32 u32 f64w! f64w c128w
u64 f64w! f64w! f64w! f64w! bf16! f16! f32! f64! c64! c128! u64 u64 f64w! f64w! c128w!
i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128 i8 i8 f64w! f64w c128w
i16 i32 i64 bf16! f16! f32 f64 c64 c128 i16 i16 f64w! f64w c128w
i32 i64 bf16! f16! f32! f64 c64! c128 i32 i32 f64w! f64w c128w
i64 bf16! f16! f32! f64! c64! c128! i64 i64 f64w! f64w! c128w!
bf16 f32! f32 f64 c64 c128 bf16 bf16 bf16 bf16 c64!
f16 f32 f64 c64 c128 f16 f16 f16 f16 c64!
f32 f64 c64 c128 f32 f32 f32 f32 c64!
f64 c128! c128 f64 f64 f64 f64 c128
c64 c128 c64 c64 c64 c64 c64
c128 c128 c128 c128 c128 c128
i32w i64w f32w f64w c128w
i64w f32w f64w c128w
f32w f64w c128w
f64w c128w
c128w
"""
"""Row by row: what each of the names above meets with itself and with those after it; `!` in mode "all" only."""

_LETTERS = {"b": "bool", "u": "uint", "i": "int", "bf": "bfloat", "f": "float", "c": "complex"}


def _kind(word: str) -> Kind:
    weak = word.endswith("w")
    letters = word.rstrip("w0123456789")
    size = word.rstrip("w")[len(letters) :]
    return dtypes.as_dtype(_LETTERS[letters] + (size if letters != "b" else "")), weak


def _halves() -> dict[Kind, dict[Kind, tuple[Kind, PromoMode]]]:
    kinds = [_kind(word) for word in _NAMES.split()]
    found: dict[Kind, dict[Kind, tuple[Kind, PromoMode]]] = {}
    for row, line in enumerate(_TABLE.strip().splitlines()):
        cells = zip(kinds[row:], line.split(), strict=True)
        found[kinds[row]] = {
            other: (_kind(word.rstrip("!")), PromoMode.ALL if word.endswith("!") else PromoMode.SAFE)
            for other, word in cells
        }
    return found


HALF = _halves()
"""What each two kinds meet in, each pair once."""


def _both_ways() -> dict[Kind, dict[Kind, tuple[Kind, PromoMode]]]:
    full = {kind: dict(row) for kind, row in HALF.items()}
    for kind, row in HALF.items():
        for other, meeting in row.items():
            full[other][kind] = meeting
    text = (dtypes.string, False)
    return full | {text: {text: (text, PromoMode.SAFE)}}


FULL = _both_ways()
"""The same, both ways round, and strings, which meet strings."""


def get_dtype_conversion_mode() -> PromoMode:
    """Return the mode that holds now."""
    return _mode.now


def hold_mode(mode: PromoMode) -> None:
    """Let a mode hold; `ops.numpy.behaviour` says what else goes with it."""
    _mode.now = mode


def is_auto_dtype_conversion_enabled() -> bool:
    """Return whether dtypes are promoted by the lattice."""
    return _mode.now.value >= PromoMode.SAFE.value


def is_numpy_style_type_promotion() -> bool:
    """Return whether dtypes are promoted by NumPy's rules."""
    return _mode.now is PromoMode.LEGACY


def mode_named(name: str) -> PromoMode:
    """Return the mode with a name."""
    words = {mode.name.lower(): mode for mode in PromoMode}
    if name not in words:
        raise ValueError(f"The provided promotion mode {name} does not exist: it is one of {', '.join(words)}.")
    return words[name]


def promo_mode_enum_to_string(promo_safety_mode_enum: PromoMode) -> str:
    """Return the name of a mode."""
    if not isinstance(promo_safety_mode_enum, PromoMode):
        raise ValueError(f"The provided promotion mode {promo_safety_mode_enum} does not exist.")
    return promo_safety_mode_enum.name.lower()


_PYTHON: dict[Any, Kind] = {
    bool: (dtypes.bool, False),
    int: (dtypes.int32, True),
    float: (dtypes.float32, True),
    complex: (dtypes.complex128, True),
}


def kind_of(x: object) -> Kind:
    """Return the dtype of a value (or of a dtype), and whether it is weak."""
    if getattr(type(x), "is_weak", False):
        return x.dtype, True  # type: ignore[attr-defined]
    if isinstance(x, DType):
        return x, False
    own = getattr(x, "dtype", None)
    if isinstance(own, DType):
        return own, False
    if isinstance(x, (np.ndarray, np.generic)) or isinstance(own, np.dtype):
        return dtypes.as_dtype(own or np.asarray(x).dtype), False
    if isinstance(x, (bytes, str)):
        return dtypes.string, False
    if isinstance(x, TensorShape):
        return dtypes.int32, False
    return _plain_kind(x)


def _plain_kind(x: object) -> Kind:
    if isinstance(x, type) and x in _PYTHON:
        return _PYTHON[x]
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        try:
            return dtypes.as_dtype(x), False
        except TypeError as error:
            raise NotImplementedError(f"Auto dtype conversion semantics does not support {x}.") from error
    for python, kind in _PYTHON.items():
        if isinstance(x, python):
            if python is int and not -(2**31) <= x < 2**31:
                raise OverflowError(f"Python int {x} too large to convert to np.int32")
            return kind
    raise NotImplementedError(f"Auto dtype conversion semantics does not support {type(x)} type.")


def result_type(*arrays_and_dtypes: object) -> Kind:
    """Return the dtype in which all of these meet, and whether it is weak.

    >>> result_type(np.int8(1)), result_type(2.5)
    ((tf.int8, False), (tf.float32, True))
    """
    given = [x for x in arrays_and_dtypes if x is not None]
    for x in given:
        if isinstance(x, CompositeTensor) and not isinstance(x, (TensorBase, IndexedSlices)):
            raise NotImplementedError(f"Auto dtype conversion semantics does not support {type(x)} type.")
    kinds = [kind_of(x) for x in nest.flatten(given)] or [(dtypes.float32, True)]
    met = kinds[0]
    for kind in kinds[1:]:
        met = _meet((met[0].base_dtype, met[1]), (kind[0].base_dtype, kind[1]))
    return met


def _meet(one: Kind, other: Kind) -> Kind:
    try:
        met, needed = FULL[one][other]
    except KeyError as error:
        raise NotImplementedError(
            f"Implicit Conversion between {one[0]} and {other[0]} is not allowed. "
            "Please convert the input manually if you need to."
        ) from error
    if needed.value > _mode.now.value:
        raise TypeError(
            f"In promotion mode {_mode.now}, implicit dtype promotion between ({one[0]}, weak={one[1]}) and "
            f"({other[0]}, weak={other[1]}) is disallowed: specify the dtype, or relax the mode from SAFE to ALL."
        )
    return met
