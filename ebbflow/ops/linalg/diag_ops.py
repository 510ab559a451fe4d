"""Diagonals: taken out of matrices, put into them, made into them, and bands of them kept.

A band is the diagonals from `k[0]` to `k[1]` (0 is the main one, above it counts up). Several diagonals lie as rows
of a matrix, the highest first, each pushed left or right (`align`) where it is shorter than the longest. All kernels
ask `_Band` where an element of a diagonal stands, and gather.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.shape import Dims, is_compatible
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.declare import show
from ebbflow.ops.linalg.band_loops import band_part
from ebbflow.ops.sizes import invalid, room_for

_ALIGN = 'align: string in ["LEFT_RIGHT","RIGHT_LEFT","LEFT_LEFT","RIGHT_RIGHT"] = "RIGHT_LEFT"'
OLD_ALIGN = "LEFT_LEFT"
"""How the second versions of these ops aligned."""


class _Band:
    """Where the elements of the diagonals low…high of a rows × columns matrix stand."""

    def __init__(self, rows: int, columns: int, low: int, high: int, align: str):
        self.rows, self.columns, self.low, self.high = rows, columns, low, high
        self.length = max(min(rows + min(high, 0), columns - max(low, 0)), 0)
        self._right = [word == "RIGHT" for word in align.split("_")]

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def offset(self, k: np.ndarray) -> np.ndarray:
        """How far diagonal k is pushed right in its row."""
        short = self.length - np.minimum(self.rows + np.minimum(k, 0), self.columns - np.maximum(k, 0))
        return np.where(np.where(k >= 0, self._right[0], self._right[1]), short, 0)

    def in_matrix(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each place of the packed diagonals: row and column in the matrix, and whether it holds an element."""
        k = np.arange(self.high, self.low - 1, -1)[:, None]
        at = np.arange(self.length)[None, :] - self.offset(k)
        row, column = at + np.maximum(-k, 0), at + np.maximum(k, 0)
        inside = (at >= 0) & (row < self.rows) & (column < self.columns)
        return np.where(inside, row, 0), np.where(inside, column, 0), inside

    def in_diagonals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each place of the matrix: which packed diagonal, where in it, and whether it belongs to the band."""
        row, column = np.arange(self.rows)[:, None], np.arange(self.columns)[None, :]
        k = column - row
        inside = (k >= self.low) & (k <= self.high)
        which = np.where(inside, self.high - k, 0)
        at = np.where(inside, np.minimum(row, column) + self.offset(k), 0)
        return which, at, inside


def _ends(k: Any) -> tuple[int, int]:
    """Return the lowest and highest diagonal that `k` (one number or two) names."""
    if k.size not in (1, 2) or k.ndim > 1:
        raise invalid(f"diag_index must have only one or two elements, received {k.size} elements.")
    values = k.reshape(-1).tolist()
    low, high = values[0], values[-1]
    if low > high:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _known_ends(k: Any) -> tuple[int, int] | None:
    if k.dims is not None and (len(k.dims) > 1 or (k.dims and k.dims[0] not in (None, 1, 2))):
        raise errors.StaticShapeError(f"diag_index must be a scalar or vector, received shape: {show(k.dims)}")
    return None if k.value is None else _ends(k.value)


def _matrix(dims: Dims, name: str = "input") -> Dims:
    if dims is not None and len(dims) < 2:
        raise errors.StaticShapeError(f"{name} must be at least 2-dim, received shape: {show(dims)}")
    return dims


def _check_bounds(rows: int, columns: int, low: int, high: int) -> None:
    for value, name in ((low, "lower_diag_index"), (high, "upper_diag_index")):
        if value and not -rows < value < columns:
            raise invalid(f"{name} is out of bound: {value}. It must be between {-rows} and {columns}")


# --- diag_part --------------------------------------------------------------------------------------------------------

MatrixDiagPart = op("MatrixDiagPart(input:T) -> (diagonal:T) | T: type", facts="portable")
MatrixDiagPartV2 = op(
    "MatrixDiagPartV2(input:T, k:int32, padding_value:T) -> (diagonal:T) | T: type", facts="portable known=k"
)
MatrixDiagPartV3 = op(
    f"MatrixDiagPartV3(input:T, k:int32, padding_value:T) -> (diagonal:T) | T: type; {_ALIGN}", facts="portable known=k"
)
BatchMatrixDiagPart = op("BatchMatrixDiagPart(input:T) -> (diagonal:T) | T: type | deprecated@14", facts="portable")


def _part_dims(input: Any, ends: tuple[int, int] | None) -> Dims:
    dims = _matrix(input.dims)
    if dims is None or ends is None:
        return None
    rows, columns = dims[-2:]
    if rows is not None and columns is not None:
        _check_bounds(rows, columns, *ends)
    low, high = ends
    sizes = [None if n is None else n + shift for n, shift in ((rows, min(high, 0)), (columns, -max(low, 0)))]
    length = None if None in sizes else max(min(sizes), 0)  # type: ignore[type-var]
    return (*dims[:-2], *([high - low + 1] if low < high else []), length)


@BatchMatrixDiagPart.shape
@MatrixDiagPart.shape
def _(input):
    return _part_dims(input, (0, 0))


def _check_scalars(*args: Any) -> None:
    for arg in args:
        if arg.rank not in (None, 0):
            raise errors.StaticShapeError(f"Shape must be rank 0 but is rank {arg.rank}")


def _scalar(array: Any, name: str) -> Any:
    if array.ndim:
        raise invalid(f"{name} must be a scalar")
    return array


@MatrixDiagPartV3.shape
@MatrixDiagPartV2.shape
def _(input, k, padding_value):
    _check_scalars(padding_value)
    return _part_dims(input, _known_ends(k))


def _taken(xp: Any, input: Any, ends: tuple[int, int], padding: Any, align: str) -> Any:
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {show(input.shape)}")
    rows, columns = input.shape[-2:]
    _check_bounds(rows, columns, *ends)
    if ends[0] == ends[1] and xp is np and input.size:
        return np.diagonal(input, ends[0], -2, -1).copy()
    band = _Band(rows, columns, *ends, align)
    row, column, inside = band.in_matrix()
    if not math.prod(input.shape):
        result = xp.zeros((*input.shape[:-2], band.count, band.length), input.dtype)
    else:
        result = input[..., row, column]
        result = result if inside.all() else xp.where(inside, result, padding)
    return result[..., 0, :] if band.count == 1 else result


def _one_part(xp: Any, input: Any) -> Any:
    return _taken(xp, input, (0, 0), 0, OLD_ALIGN)


MatrixDiagPart.kernel(_one_part)
BatchMatrixDiagPart.kernel(_one_part)


@MatrixDiagPartV2.kernel
def _(xp, input, k, padding_value):
    return _taken(xp, input, _ends(k), _scalar(padding_value, "padding_value"), OLD_ALIGN)


@MatrixDiagPartV3.kernel
def _(xp, input, k, padding_value, *, align):
    return _taken(xp, input, _ends(k), _scalar(padding_value, "padding_value"), align)


def _spread(x: Any, grad: Any, k: Any, align: str) -> Any:
    """Return the diagonals in `grad` put into zeros of the shape of `x`."""
    if x._dims is not None and None not in x._dims[-2:]:
        return MatrixDiagV3(grad, k, x._dims[-2], x._dims[-1], convert(0, grad.dtype), align=align)
    return MatrixSetDiagV3(zeros_like(x), grad, k, align=align)


@BatchMatrixDiagPart.gradient
@MatrixDiagPart.gradient
def _(call, grad):
    return _spread(call.input, grad, 0, OLD_ALIGN)


@MatrixDiagPartV2.gradient
def _(call, grad):
    return _spread(call.input, grad, call.k, OLD_ALIGN), None, None


@MatrixDiagPartV3.gradient
def _(call, grad):
    return _spread(call.input, grad, call.k, call.align), None, None


# --- diag -------------------------------------------------------------------------------------------------------------

MatrixDiag = op("MatrixDiag(diagonal:T) -> (output:T) | T: type", facts="portable")
BatchMatrixDiag = op("BatchMatrixDiag(diagonal:T) -> (output:T) | T: type | deprecated@14", facts="portable")
_DIAG_V2 = "diagonal:T, k:int32, num_rows:int32, num_cols:int32, padding_value:T"
MatrixDiagV2 = op(f"MatrixDiagV2({_DIAG_V2}) -> (output:T) | T: type", facts="portable known=k sizes=num_rows,num_cols")
MatrixDiagV3 = op(
    f"MatrixDiagV3({_DIAG_V2}) -> (output:T) | T: type; {_ALIGN}", facts="portable known=k sizes=num_rows,num_cols"
)


def _diag_sides(length: int, ends: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    """Return rows and columns of the matrix that diagonals of this length make, where -1 asks for the smallest."""
    low, high = ends
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows:
        raise errors.StaticShapeError("The number of rows is too small.")
    if columns < least_columns:
        raise errors.StaticShapeError("The number of columns is too small.")
    if rows != least_rows and columns != least_columns:
        raise errors.StaticShapeError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows, columns


def _diag_lead(dims: Any, ends: tuple[int, int]) -> tuple[Any, ...]:
    """Return the batch part of the shape of packed diagonals."""
    low, high = ends
    if not dims:
        raise errors.StaticShapeError(f"diagonal must be at least 1-dim, received shape: {show(dims)}")
    if low == high:
        return dims[:-1]
    if len(dims) < 2:
        raise errors.StaticShapeError(f"diagonal must be at least 2-dim, received shape: {show(dims)}")
    if dims[-2] not in (None, high - low + 1):
        raise errors.StaticShapeError(
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
            "range."
        )
    return dims[:-2]


def _diag_dims(diagonal: Any, ends: tuple[int, int] | None, rows: Any, columns: Any) -> Dims:
    if diagonal.dims is not None and not diagonal.dims:
        raise errors.StaticShapeError(f"diagonal must be at least 1-dim, received shape: {show(diagonal.dims)}")
    if diagonal.dims is None or ends is None:
        return None
    lead, length = _diag_lead(diagonal.dims, ends), diagonal.dims[-1]
    if length is None or rows is None or columns is None:
        return (*lead, rows if rows and rows > 0 else None, columns if columns and columns > 0 else None)
    return (*lead, *_diag_sides(length, ends, int(rows), int(columns)))


@BatchMatrixDiag.shape
@MatrixDiag.shape
def _(diagonal):
    return _diag_dims(diagonal, (0, 0), -1, -1)


@MatrixDiagV3.shape
@MatrixDiagV2.shape
def _(diagonal, k, num_rows, num_cols, padding_value):
    _check_scalars(num_rows, num_cols, padding_value)
    sides = [None if x.value is None else int(x.value.reshape(-1)[0]) for x in (num_rows, num_cols)]
    return _diag_dims(diagonal, _known_ends(k), *sides)


def _made(xp: Any, diagonal: Any, ends: tuple[int, int], rows: int, columns: int, padding: Any, align: str) -> Any:
    lead = _diag_lead(diagonal.shape, ends)
    length = diagonal.shape[-1]
    rows, columns = _diag_sides(length, ends, rows, columns)
    room_for((*lead, rows, columns), diagonal.dtype.itemsize)
    if not math.prod(diagonal.shape):
        return xp.full((*lead, rows, columns), padding, dtype=diagonal.dtype)
    which, at, inside = _Band(rows, columns, *ends, align).in_diagonals()
    packed = diagonal.reshape(*lead, ends[1] - ends[0] + 1, length)
    return xp.where(inside, packed[..., which, at], padding)


def _one_matrix(xp: Any, diagonal: Any) -> Any:
    padding = xp.zeros((), diagonal.dtype) if not diagonal.dtype.hasobject else b""
    return _made(xp, diagonal, (0, 0), -1, -1, padding, OLD_ALIGN)


MatrixDiag.kernel(_one_matrix)
BatchMatrixDiag.kernel(_one_matrix)


@MatrixDiagV2.kernel
def _(xp, diagonal, k, num_rows, num_cols, padding_value):
    sides = int(_scalar(num_rows, "num_rows")), int(_scalar(num_cols, "num_cols"))
    return _made(xp, diagonal, _ends(k), *sides, _scalar(padding_value, "padding_value"), OLD_ALIGN)


@MatrixDiagV3.kernel
def _(xp, diagonal, k, num_rows, num_cols, padding_value, *, align):
    sides = int(_scalar(num_rows, "num_rows")), int(_scalar(num_cols, "num_cols"))
    return _made(xp, diagonal, _ends(k), *sides, _scalar(padding_value, "padding_value"), align)


@BatchMatrixDiag.gradient
@MatrixDiag.gradient
def _(call, grad):
    return MatrixDiagPartV3(grad, 0, convert(0, grad.dtype))


@MatrixDiagV2.gradient
def _(call, grad):
    return MatrixDiagPartV3(grad, call.k, convert(0, grad.dtype), align=OLD_ALIGN), None, None, None, None


@MatrixDiagV3.gradient
def _(call, grad):
    return MatrixDiagPartV3(grad, call.k, convert(0, grad.dtype), align=call.align), None, None, None, None


# --- set_diag ---------------------------------------------------------------------------------------------------------

MatrixSetDiag = op("MatrixSetDiag(input:T, diagonal:T) -> (output:T) | T: type", facts="portable")
BatchMatrixSetDiag = op(
    "BatchMatrixSetDiag(input:T, diagonal:T) -> (output:T) | T: type | deprecated@14", facts="portable"
)
MatrixSetDiagV2 = op("MatrixSetDiagV2(input:T, diagonal:T, k:int32) -> (output:T) | T: type", facts="portable known=k")
MatrixSetDiagV3 = op(
    f"MatrixSetDiagV3(input:T, diagonal:T, k:int32) -> (output:T) | T: type; {_ALIGN}", facts="portable known=k"
)


def _set_dims(input: Any, diagonal: Any, ends: tuple[int, int] | None) -> Dims:
    dims = _matrix(input.dims)
    if dims is None or ends is None or diagonal.dims is None:
        return dims
    expected = _part_dims(input, ends)
    if expected is not None and not is_compatible(expected, diagonal.dims):
        raise errors.StaticShapeError(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
            f"the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: {show(dims)}\n"
            f"Diagonal shape: {show(diagonal.dims)}\nExpected diagonal shape: {show(expected)}"
        )
    return dims


@BatchMatrixSetDiag.shape
@MatrixSetDiag.shape
def _(input, diagonal):
    return _set_dims(input, diagonal, (0, 0))


@MatrixSetDiagV3.shape
@MatrixSetDiagV2.shape
def _(input, diagonal, k):
    return _set_dims(input, diagonal, _known_ends(k))


def _set(xp: Any, input: Any, diagonal: Any, ends: tuple[int, int], align: str) -> Any:
    if input.ndim < 2:
        raise ValueError("input must be at least a matrix")
    rows, columns = input.shape[-2:]
    _check_bounds(rows, columns, *ends)
    band = _Band(rows, columns, *ends, align)
    if diagonal.shape != (*input.shape[:-2], *([band.count] if band.count > 1 else []), band.length):
        raise ValueError("the diagonals do not fit the matrix")
    if not math.prod(diagonal.shape):
        return input
    if ends[0] == ends[1] and xp is np:
        result = input.copy()
        np.einsum("...ii->...i", _square(result, ends[0]))[...] = diagonal
        return result
    which, at, inside = band.in_diagonals()
    packed = diagonal.reshape(*input.shape[:-2], band.count, band.length)
    return xp.where(inside, packed[..., which, at], input)


def _square(x: np.ndarray, k: int) -> np.ndarray:
    """Return the part of matrices, as a view, whose main diagonal is their `k`-th."""
    part = x[..., max(-k, 0) :, max(k, 0) :]
    side = min(part.shape[-2:])
    return part[..., :side, :side]


def _set_one(xp: Any, input: Any, diagonal: Any) -> Any:
    return _set(xp, input, diagonal, (0, 0), OLD_ALIGN)


MatrixSetDiag.kernel(_set_one)
BatchMatrixSetDiag.kernel(_set_one)
MatrixSetDiagV2.kernel(lambda xp, input, diagonal, k: _set(xp, input, diagonal, _ends(k), OLD_ALIGN))


@MatrixSetDiagV3.kernel
def _(xp, input, diagonal, k, *, align):
    return _set(xp, input, diagonal, _ends(k), align)


def _set_rule(call: Any, grad: Any, k: Any, align: str) -> tuple[Any, Any]:
    kept = MatrixSetDiagV3(grad, zeros_like(call.diagonal), k, align=align) if call.wants(0) else None
    put = MatrixDiagPartV3(grad, k, convert(0, grad.dtype), align=align) if call.wants(1) else None
    return kept, put


@BatchMatrixSetDiag.gradient
@MatrixSetDiag.gradient
def _(call, grad):
    return _set_rule(call, grad, 0, OLD_ALIGN)


@MatrixSetDiagV2.gradient
def _(call, grad):
    return (*_set_rule(call, grad, call.k, OLD_ALIGN), None)


@MatrixSetDiagV3.gradient
def _(call, grad):
    return (*_set_rule(call, grad, call.k, call.align), None)


# --- bands ------------------------------------------------------------------------------------------------------------

MatrixBandPart = op(
    "MatrixBandPart(input:T, num_lower:Tindex, num_upper:Tindex) -> (band:T) | T: type; Tindex: index = int64",
    facts="portable known=num_lower,num_upper",
)
BatchMatrixBandPart = op(
    "BatchMatrixBandPart(input:T, num_lower:int64, num_upper:int64) -> (band:T) | T: type | deprecated@14",
    facts="portable known=num_lower,num_upper",
)


@BatchMatrixBandPart.shape
@MatrixBandPart.shape
def _(input, num_lower, num_upper):
    for arg, name in ((num_lower, "num_lower"), (num_upper, "num_upper")):
        if arg.rank not in (None, 0):
            raise errors.StaticShapeError(f"{name} must be scalar, got shape {show(arg.dims)}")
    return _matrix(input.dims)


@BatchMatrixBandPart.kernel
@MatrixBandPart.kernel
def _(xp, input, num_lower, num_upper):
    if input.ndim < 2 or num_lower.ndim or num_upper.ndim:
        raise ValueError("input must be at least a matrix, num_lower and num_upper scalars")
    rows, columns = input.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    if lower > rows:
        raise invalid(f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}")
    if upper > columns:
        raise invalid(f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}")
    result = band_part(input, lower, upper) if xp is np else None
    if result is not None:
        return result
    k = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    inside = ((lower < 0) | (-k <= lower)) & ((upper < 0) | (k <= upper))
    return xp.where(inside, input, b"" if input.dtype.hasobject else xp.zeros((), input.dtype))


@BatchMatrixBandPart.gradient
@MatrixBandPart.gradient
def _(call, grad):
    return MatrixBandPart(grad, call.num_lower, call.num_upper), None, None


# --- tensors with a diagonal ------------------------------------------------------------------------------------------

Diag = op("Diag(diagonal:T) -> (output:T) | T: type in [floats,int32,int64,complexes]", facts="static portable")
DiagPart = op("DiagPart(input:T) -> (diagonal:T) | T: type in [floats,int32,int64,complexes]", facts="portable")


@Diag.shape
def _(diagonal):
    if diagonal.dims == ():
        raise errors.StaticShapeError("Input must be at least rank 1, got 0")
    return None if diagonal.dims is None else diagonal.dims * 2


@Diag.kernel
def _(xp, diagonal):
    if not diagonal.ndim:
        raise ValueError("Input must be at least rank 1, got 0")
    room_for(diagonal.shape * 2, diagonal.dtype.itemsize)
    return xp.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


@Diag.gradient
def _(call, grad):
    return DiagPart(grad)


@DiagPart.shape
def _(input):
    if input.dims is None:
        return None
    rank = len(input.dims)
    if rank % 2 or not rank:
        raise errors.StaticShapeError(
            f"The rank of the tensor should be even and positive, got shape {show(input.dims)}"
        )
    half = rank // 2
    for i in range(half):
        a, b = input.dims[i], input.dims[i + half]
        if a is not None and b is not None and a != b:
            raise errors.StaticShapeError(
                f"Invalid shape {show(input.dims)}: dimensions {i} and {i + half} do not match."
            )
    return tuple(b if a is None else a for a, b in zip(input.dims[:half], input.dims[half:], strict=True))


@DiagPart.kernel
def _(xp, input):
    half = input.ndim // 2
    if not half or input.ndim % 2 or input.shape[:half] != input.shape[half:]:
        raise ValueError("the shape must be one shape twice")
    side = math.prod(input.shape[:half])
    return xp.diagonal(input.reshape(side, side)).reshape(input.shape[:half])


@DiagPart.gradient
def _(call, grad):
    return Diag(grad)
