"""The public functions of diagonals: `tf.linalg.diag` and its kin, and `tf.eye`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.op import tagged
from ebbflow.core.scopes import name_scope
from ebbflow.core.source import short
from ebbflow.core.tensor import Tensor, wrap
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import building, ones, plain_dims, zeros
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.diag_ops import (
    OLD_ALIGN,
    Diag,
    DiagPart,
    MatrixBandPart,
    MatrixDiag,
    MatrixDiagPart,
    MatrixDiagPartV3,
    MatrixDiagV3,
    MatrixSetDiag,
    MatrixSetDiagV3,
)
from ebbflow.ops.sizes import room_for


def diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Return matrices with the given diagonals and `padding_value` elsewhere.

    >>> diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    if context.switches.tf1 and (k, num_rows, num_cols, padding_value) == (0, -1, -1, 0):
        return MatrixDiag(diagonal, name=name or "diag")
    diagonal, padding = _with_padding(diagonal, padding_value)
    return MatrixDiagV3(diagonal, k, num_rows, num_cols, padding, align=_align_of(align), name=name or "diag")


def diag_part(
    input: TensorLike,
    name: str = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Return the diagonals `k` (one, or from k[0] to k[1]) of matrices.

    >>> diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    if context.switches.tf1 and (k, padding_value) == (0, 0):
        return MatrixDiagPart(input, name=name or "diag_part")
    matrix, padding = _with_padding(input, padding_value)
    return MatrixDiagPartV3(matrix, k, padding, align=_align_of(align), name=name or "diag_part")


def _align_of(align: str) -> str:
    """Return how diagonals shorter than the longest are pushed: TensorFlow 1.15 had no word for it, and pushed left."""
    return OLD_ALIGN if context.switches.tf1 and align == "RIGHT_LEFT" else align


def _with_padding(value: Any, padding: Any) -> tuple[Any, Any]:
    """A padding of a fitting type goes as it is; `False` or `0` for a bool or string tensor does not."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and as_dtype(dtype).base_dtype is dtypes.bool and not isinstance(padding, Tensor):
        padding = bool(padding)
    return value, padding


def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Return matrices with their diagonals `k` replaced.

    >>> set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()
    [[8, 2], [3, 9]]
    """
    if context.switches.tf1 and k.__class__ is int and not k:
        return MatrixSetDiag(input, diagonal, name=name or "set_diag")
    return MatrixSetDiagV3(input, diagonal, k, align=_align_of(align), name=name or "set_diag")


def band_part(input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None) -> Tensor:
    """Return matrices with everything outside a central band set to zero (a negative number keeps all of that side).

    >>> band_part([[1, 2], [3, 4]], 0, -1).numpy().tolist()
    [[1, 2], [0, 4]]
    """
    return MatrixBandPart(input, num_lower, num_upper, name=name)


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Return the tensor of twice the rank whose diagonal is `diagonal`.

    >>> tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return Diag(diagonal, name=name)


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the diagonal of a tensor whose shape is one shape twice.

    >>> tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    return DiagPart(input, name=name)


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return the identity matrix, or a batch of them.

    >>> eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    kind = as_dtype(dtype)
    square = num_columns is None
    sides = [_side(n) for n in (num_rows, num_rows if square else num_columns)]
    batch = [] if batch_shape is None else batch_shape
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        if any(isinstance(n, Tensor) for n in sides) or _has_tensors(batch):
            line, whole = _later_shapes(sides, batch, square)
        else:
            whole = [*plain_dims(batch), *sides]
            if building() is None and min(whole) >= 0:
                return _eye_now(whole, kind)
            line = [*whole[:-2], min(sides)]
        if square:
            return diag(ones(line, kind))
        diagonal = ones(line, kind)
        return set_diag(zeros(whole, kind), diagonal)


def _side(n: Any) -> Any:
    value = n.constant_value() if isinstance(n, Tensor) else n
    if value is None:
        return n
    if isinstance(value, (float, np.floating)) or getattr(value, "dtype", np.dtype(int)).kind == "f":
        raise TypeError(f"Arguments `num_rows` and `num_columns` must be positive integer values. Received: {n!r}")
    return int(value)


def _eye_now(dims: list[int], kind: DType) -> Tensor:
    try:
        room_for(dims, kind.np.itemsize)
    except errors.OpError as error:
        raise short(tagged(error, MatrixDiagV3)) from None
    return wrap(np.broadcast_to(np.eye(*dims[-2:], dtype=kind.np), dims), kind)


def _has_tensors(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_tensors(item) for item in value)
    return isinstance(value, Tensor)


def _later_shapes(sides: list[Any], batch: Any, square: bool) -> tuple[Any, Any]:
    shortest = raw.Minimum(*sides) if any(isinstance(n, Tensor) for n in sides) else min(int(n) for n in sides)
    lead = batch if isinstance(batch, Tensor) else convert(batch, None, dtypes.int32, "shape")
    line = concat([lead, [shortest]], 0)
    return line, None if square else concat([lead, [sides[0], sides[1]]], 0)
