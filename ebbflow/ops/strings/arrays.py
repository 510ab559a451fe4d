"""Arrays of texts: how kernels of this room walk them. A string tensor's array holds bytes objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ebbflow.core.loops import Loop
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.text_loops import walked


def text_array(texts: Iterable[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """Return texts as an array of this shape."""
    listed = list(texts)
    flat = np.empty(len(listed), object)
    flat[:] = listed
    return flat.reshape(shape)


def each(function: Callable[[bytes], bytes], input: np.ndarray, loop: Loop | None = None, *rest: Any) -> np.ndarray:
    """Return what a function gives for each text; a loop that does the same may be there as machine code."""
    made = None if loop is None else walked(loop, input, *rest)
    if made is not None:
        return made
    return text_array(map(function, input.reshape(-1).tolist()), input.shape)


def one_text(value: np.ndarray, what: str) -> bytes:
    """Return the text of a scalar."""
    if value.ndim:
        raise invalid(f"{what} must be a scalar, but received {list(value.shape)}")
    text: bytes = value.item()
    return text


def as_bytes(text: Any) -> bytes:
    """Return the value of a string attr as bytes."""
    return text.encode() if isinstance(text, str) else text
