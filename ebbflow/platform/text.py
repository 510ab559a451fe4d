"""`tf.compat`: text and bytes, the kinds of Python numbers, and dates until which formats stay readable.

Knows NumPy's number types and nothing else.
"""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core.typing import TensorLike

if TYPE_CHECKING:
    from ebbflow.core.typing import PathLike


integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: str | bytes, encoding: str = "utf-8") -> bytes:
    """Return text or bytes as bytes.

    >>> as_bytes("é"), as_bytes(b"e")
    (b'\\xc3\\xa9', b'e')
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Return text or bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: TensorLike, encoding: str = "utf-8") -> str:
    """Return bytes as text, and anything else as `str` shows it."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: PathLike) -> Any:
    """Return a path object as text; anything else as it is."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


def path_to_bytes(path: Any) -> bytes:
    """Return a path as bytes."""
    return as_bytes(os.fspath(path))


FAR = datetime.date(9999, 1, 1)
"""The day after all others that programs name."""

_horizon = [FAR]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Return whether files may use what was new on that day. Ebbflow writes what it reads: always, unless told."""
    return _horizon[-1] > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Pretend, inside the block, that what came after that day is not to be used."""
    _horizon.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizon.pop()
