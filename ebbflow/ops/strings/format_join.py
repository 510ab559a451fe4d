"""Numbers as text, and texts joined. Strings are arrays of bytes objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import op
from ebbflow.core.shape import is_compatible
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, same, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import text_array
from ebbflow.ops.strings.number_loops import fixed_texts, whole_texts
from ebbflow.ops.strings.text_loops import FEW, code_for, joined_pairs

AsString = op(
    "AsString(input:T) -> (output:string) | T: type in [reals,complex64,complex128,bool,variant,string];"
    ' precision: int = -1; scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ""',
    shape=same,
    gradient=FLAT,
)


def text_format(T: Any, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> str:
    """Return the printf format of one number (one part of a complex one)."""
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if fill and fill not in " +-0#":
        raise invalid(f'Fill argument not supported: "{fill}"')
    fractional = T.is_floating or T.is_complex
    if not fractional and (scientific or shortest):
        raise invalid(f"scientific and shortest format not supported for datatype {T.name}")
    if not fractional and precision >= 0:
        raise invalid(f"precision not supported for datatype {T.name}")
    letter = (
        "s"
        if T in (dtypes.bool, dtypes.string)
        else "d"
        if not fractional
        else "e"
        if scientific
        else "g"
        if shortest
        else "f"
    )
    size = str(width) if width > -1 else ""
    return f"%{fill}{size}{f'.{precision}' if precision > -1 else ''}{letter}"


@AsString.kernel
def _(xp, input, *, T, precision, scientific, shortest, width, fill):
    form = text_format(T, precision, scientific, shortest, width, fill)
    if T is dtypes.string and width < 0:
        return input
    quick = _quick_texts(input, form)
    if quick is not None:
        return quick
    plain = form.encode()
    values = input.reshape(-1)
    listed = (values.astype(np.float64) if T.is_floating else values).tolist()
    if T is dtypes.bool:
        listed = [b"true" if value else b"false" for value in listed]
    elif T.is_complex:
        plain, listed = b"(%b,%b)" % (plain, plain), [(value.real, value.imag) for value in listed]
    return text_array(map(plain.__mod__, listed), input.shape)


def _quick_texts(numbers: np.ndarray, form: str) -> np.ndarray | None:
    """Return whole numbers, or those of 24 bits with six digits behind the point, by machine code; or None."""
    if form == "%d" and numbers.dtype != np.uint64:
        loop, wide = whole_texts, "int64"
    elif form == "%f" and numbers.dtype.itemsize <= 4:
        loop, wide = fixed_texts, "float64"
    else:
        return None
    code = loop.code() if numbers.size >= FEW else None
    if code is None:
        return None
    result = np.empty(numbers.shape, object)
    return result if code(np.ascontiguousarray(numbers, wide), numbers.size, result) >= 0 else None


StringJoin = op('StringJoin(inputs:N*string) -> (output:string) | N: int >= 0; separator: string = ""', gradient=FLAT)


@StringJoin.shape
def _(inputs):
    dims: Any = ()
    for x in inputs:
        if x.dims is None:
            return None
        if dims and x.dims and not is_compatible(dims, x.dims):
            raise errors.StaticShapeError(f"Input shapes do not match: {show(dims)} vs. {show(x.dims)}")
        dims = x.dims or dims
    return dims


@StringJoin.kernel
def _(xp, inputs, *, separator):
    dims: tuple[int, ...] = next((x.shape for x in inputs if x.ndim), ())
    for x in inputs:
        if x.ndim and x.shape != dims:
            raise invalid(f"Input shapes do not match: {show(dims)} vs. {show(x.shape)}")
    joint = separator.encode() if isinstance(separator, str) else separator
    joined = _pairs_joined(*inputs, dims, joint) if len(inputs) == 2 else None
    if joined is not None:
        return joined
    columns = [np.broadcast_to(x, dims).reshape(-1).tolist() for x in inputs]
    if not columns:
        return text_array([b""], ())
    return text_array(map(joint.join, zip(*columns, strict=True)), dims)


def _pairs_joined(left: np.ndarray, right: np.ndarray, dims: tuple[int, ...], joint: bytes) -> np.ndarray | None:
    """Return pairs of texts joined by machine code; None where that is not there."""
    code = code_for(joined_pairs, left, right)
    if code is None:
        return None
    glue, result = text_array([joint], (1,)), np.empty(dims, object)
    steps = int(left.ndim > 0), int(right.ndim > 0)
    return result if code(left, result.size, right, *steps, glue, result) >= 0 else None


# --- public -----------------------------------------------------------------------------------------------------------


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Return each number as text.

    >>> as_string([1.5, 2.0], precision=1).numpy().tolist()
    [b'1.5', b'2.0']
    """
    return AsString(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )


def string_join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """Return the texts of all `inputs` joined, element by element; a scalar goes with every element.

    >>> string_join([["a", "b"], "z"], "-").numpy().tolist()
    [b'a-z', b'b-z']
    """
    return StringJoin(list(inputs), separator=separator, name=name)
