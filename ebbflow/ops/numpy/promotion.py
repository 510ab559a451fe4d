"""Which dtype several arguments meet in, by NumPy's rules: Python numbers, and lists of them, give way to arrays.

Knows NumPy's promotion and conversion to tensors. `settings.float32` makes float32 what Python's floats become where
nothing else decides (`experimental_enable_numpy_behavior(prefer_float32=True)`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.typing import DTypeLike
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.weak.promotion import is_auto_dtype_conversion_enabled

ArrayLike: TypeAlias = Any
"""Whatever NumPy makes an array of: numbers, lists, arrays, tensors."""


class _Settings:
    float32 = False
    float64 = True


settings = _Settings()
_WEAK = {bool: False, int: 0, float: 0.0, complex: 0j}
_KINDS = (bool, int, float, complex)


def default_float() -> DType:
    """Return what floats are where nothing else says."""
    narrow = settings.float32 or not settings.float64 or is_auto_dtype_conversion_enabled()
    return dtypes.float32 if narrow else dtypes.float64


def is_prefer_float32() -> bool:
    """Return whether Python's floats become float32 where nothing else decides."""
    return settings.float32


def set_prefer_float32(b: bool) -> None:
    """Have Python's floats become float32, or float64, where nothing else decides."""
    settings.float32 = b


def is_allow_float64() -> bool:
    """Return whether results may be of 64 bits."""
    return settings.float64


def set_allow_float64(b: bool) -> None:
    """Let floats be of 64 bits, or never."""
    settings.float64 = b


def canonicalize_dtype(dtype: Any) -> Any:
    """Return the dtype that NumPy's one becomes where 64 bits are not allowed."""
    narrow = {"float64": "float32", "complex128": "complex64"}.get(np.dtype(dtype).name)
    return dtype if settings.float64 or narrow is None else np.dtype(narrow)


def default_float_type() -> type:
    """Return what floats are where nothing else says, as NumPy's type."""
    return default_float().as_numpy_dtype


def weak_kind(x: Any) -> type | None:
    """Return the kind of a Python number, or of a list of nothing else; None for what has a dtype of its own.

    >>> weak_kind([1, [2.5]]).__name__, weak_kind(np.int8(1))
    ('float', None)
    """
    if type(x) in _WEAK:
        return type(x)
    if isinstance(x, (list, tuple)):
        kinds = [weak_kind(item) for item in x]
        if not kinds or None in kinds:
            return float if not kinds else None
        return max((kind for kind in kinds if kind), key=_KINDS.index)
    return None


def _dtype_of(x: Any) -> Any:
    """Return what NumPy's promotion is told of x."""
    if isinstance(x, (list, tuple)):
        return result_type(*x).as_numpy_dtype if x else np.float64
    if hasattr(x, "dtype"):
        return dtypes.as_dtype(x.dtype).base_dtype.as_numpy_dtype
    if isinstance(x, (type, np.dtype, DType, str)):
        return dtypes.as_dtype(x).as_numpy_dtype
    return np.asarray(x).dtype


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype in which all of these meet.

    >>> result_type(np.int32(1), 1.0).name, result_type(np.float32(1), 1.0).name
    ('float64', 'float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    kinds = [weak_kind(x) for x in arrays_and_dtypes]
    parts: list[Any] = [
        _dtype_of(x) if kind is None else _WEAK[kind] for x, kind in zip(arrays_and_dtypes, kinds, strict=True)
    ]
    met = dtypes.as_dtype(np.result_type(*parts))
    if (all(kinds) and settings.float32) or not settings.float64:
        return {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}.get(met, met)
    return met


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype:
    """Return the smallest dtype to which both can go without loss, as NumPy's."""
    met = np.promote_types(dtypes.as_dtype(type1).as_numpy_dtype, dtypes.as_dtype(type2).as_numpy_dtype)
    return canonicalize_dtype(met)


def tensor(x: Any, dtype: Any = None) -> Any:
    """Return x as a tensor, by NumPy's defaults (int64, float64) where it says nothing itself."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if hasattr(x, "dtype") and not isinstance(x, (np.ndarray, np.generic)):
        own = convert(x)
    elif weak_kind(x) is not None:
        array = x if is_auto_dtype_conversion_enabled() else np.asarray(x, result_type(x).as_numpy_dtype)
        own = convert(array)
    elif _is_text(x):
        own = convert(x)
    elif isinstance(x, (list, tuple)):
        met = result_type(*x)
        own = convert([tensor(item, met) for item in x])
    else:
        own = convert(x)
    return own if wanted is None or own.dtype.base_dtype == wanted else cast(own, wanted)


def _is_text(x: Any) -> bool:
    """Return whether nested lists hold texts; by itself a text may name a dtype."""
    return isinstance(x, (list, tuple)) and any(isinstance(item, (str, bytes)) or _is_text(item) for item in x)


def together(*xs: Any) -> list[Any]:
    """Return all as tensors of the dtype in which they meet."""
    met = result_type(*xs)
    return [tensor(x, met) for x in xs]


def inexact(x: Any) -> Any:
    """Return x as a tensor of floats or complex numbers."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, default_float())


def inexact_together(*xs: Any) -> list[Any]:
    """Return all as tensors of one floating or complex dtype."""
    met = together(*xs)
    return met if met[0].dtype.is_floating or met[0].dtype.is_complex else [cast(x, default_float()) for x in met]
