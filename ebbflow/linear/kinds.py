"""Kinds of matrices that are known by one tensor: full, triangular, diagonal, identity, permutations and the like."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.graph.scopes import group
from ebbflow.linear.operator import LinearOperator, _same_batch, bar, enter_kind, sum_of_logs
from ebbflow.ops.checks.asserts import assert_equal, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import imag, real
from ebbflow.ops.elementwise.unary import abs as magnitude
from ebbflow.ops.linalg.banded import _three_rows, tridiagonal_matmul, tridiagonal_solve
from ebbflow.ops.linalg.matmul import adjoint as adjoint_of
from ebbflow.ops.linalg.solvers import triangular_solve


def _hints(given: dict[str, Any]) -> dict[str, Any]:
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square", "name")
    return {name: given[name] for name in names if name in given}


def _tensor(value: Any, name: str, least_rank: int) -> Any:
    # a variable stays one, so that it can be trained and is read each time
    x = convert(value, name=name) if not hasattr(value, "dtype") or isinstance(value, np.ndarray) else value
    if x.shape.rank is not None and x.shape.rank < least_rank:
        raise ValueError(f"Argument `{name}` must have at least {least_rank} dimensions. Received: {x.shape}")
    return x


_SOLVED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix given whole."""

    _matrix_axes: ClassVar[Any] = {"matrix": 2}

    def __init__(
        self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorFullMatrix",
    ):  # fmt: skip
        hints = _hints(locals())
        self._matrix = _tensor(matrix, "matrix", 2)
        if self._matrix.dtype not in _SOLVED:
            names = ", ".join(f"tf.{dtype.name}" for dtype in _SOLVED)
            raise TypeError(f"Argument `matrix` must have dtype in [{names}]. Received: {self._matrix.dtype}.")
        super().__init__(self._matrix.dtype, **hints)

    matrix = property(lambda self: self._matrix, doc="The matrix.")

    def _shape(self) -> TensorShape:
        return TensorShape(self._matrix.shape)

    def _shape_tensor(self) -> Any:
        return raw.Shape(convert(self._matrix))

    def _to_dense(self) -> Any:
        return convert(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix."""

    _matrix_axes: ClassVar[Any] = {"tril": 2}

    def __init__(
        self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorLowerTriangular",
    ):  # fmt: skip
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        hints = _hints(locals()) | {"is_square": True}
        self._tril = _tensor(tril, "tril", 2)
        super().__init__(self._tril.dtype, **hints)

    tril = property(lambda self: self._tril, doc="The matrix whose lower triangle this is.")

    def _shape(self) -> TensorShape:
        return TensorShape(self._tril.shape)

    def _shape_tensor(self) -> Any:
        return raw.Shape(convert(self._tril))

    def _to_dense(self) -> Any:
        return raw.MatrixBandPart(convert(self._tril), -1, 0)

    def _diag_part(self) -> Any:
        return raw.MatrixDiagPart(convert(self._tril))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return triangular_solve(self._to_dense(), rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return raw.Prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Any:
        return sum_of_logs(self._diag_part())

    def _eigvals(self) -> Any:
        return self._diag_part()


class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix."""

    _matrix_axes: ClassVar[Any] = {"diag": 1}

    def __init__(
        self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorDiag",
    ):  # fmt: skip
        if is_square is False:
            raise ValueError("Only square, diagonal operators currently supported.")
        hints = _hints(locals()) | {"is_square": True}
        self._diag = _tensor(diag, "diag", 1)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            hints["is_self_adjoint"] = True
        super().__init__(self._diag.dtype, **hints)

    diag = property(lambda self: self._diag, doc="The diagonal.")

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._diag.shape)
        return shape if shape.rank is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(convert(self._diag))
        return raw.ConcatV2([size, size[-1:]], 0)

    def _to_dense(self) -> Any:
        return raw.MatrixDiag(convert(self._diag))

    def _diag_part(self) -> Any:
        return convert(self._diag)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        return raw.ExpandDims(bar(convert(self._diag), adjoint), -1) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return rhs / raw.ExpandDims(bar(convert(self._diag), adjoint), -1)

    def _determinant(self) -> Any:
        return raw.Prod(convert(self._diag), -1)

    def _log_abs_determinant(self) -> Any:
        return sum_of_logs(convert(self._diag))

    def _eigvals(self) -> Any:
        return convert(self._diag)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / convert(self._diag), is_non_singular=True)

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(raw.Sqrt(convert(self._diag)), is_self_adjoint=True, is_positive_definite=True)

    def _assert_non_singular(self):
        """Return an op that fails where an entry is zero."""
        sizes = magnitude(convert(self._diag))
        return assert_positive(sizes, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        """Return an op that fails where an entry's real part is not positive."""
        kind = "non-positive real" if self.dtype.is_complex else "non-positive"
        return assert_positive(
            real(convert(self._diag)), message=f"Diagonal operator had diagonal entries with {kind} values, thus "
            "was not positive definite.",
        )  # fmt: skip

    def _assert_self_adjoint(self):
        """Return an op that fails where an entry has an imaginary part."""
        if not self.dtype.is_complex:
            return group()
        part = imag(convert(self._diag))
        words = "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint."
        return assert_equal(part, raw.ZerosLike(part), message=words)

    def _cond(self) -> Any:
        sizes = magnitude(convert(self._diag))
        return raw.Max(sizes, -1) / raw.Min(sizes, -1)


class LinearOperatorHouseholder(LinearOperator):
    """The reflection I - 2 v v* for v of length one."""

    _matrix_axes: ClassVar[Any] = {"reflection_axis": 1}

    def __init__(
        self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorHouseholder",
    ):  # fmt: skip
        if is_positive_definite or is_non_singular is False or is_self_adjoint is False or is_square is False:
            raise ValueError("A Householder operator is square, self-adjoint, non-singular and not positive definite.")
        self._axis = _tensor(reflection_axis, "reflection_axis", 1)
        super().__init__(
            self._axis.dtype, is_non_singular=True, is_self_adjoint=True, is_positive_definite=False, is_square=True,
            name=name,
        )  # fmt: skip

    reflection_axis = property(lambda self: self._axis, doc="The direction that is turned round.")

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._axis.shape)
        return shape if shape.rank is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(convert(self._axis))
        return raw.ConcatV2([size, size[-1:]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        v = convert(self._axis)
        length = raw.Sqrt(raw.Sum(magnitude(v) ** 2, -1, keep_dims=True))
        column = raw.ExpandDims(v / raw.Cast(length, DstT=v.dtype), -1)
        return x - 2 * column * raw.BatchMatMulV2(column, x, adj_x=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _determinant(self) -> Any:
        return -raw.Fill(self.batch_shape_tensor(), raw.Cast(1.0, DstT=self.dtype))

    def _log_abs_determinant(self) -> Any:
        return raw.Fill(self.batch_shape_tensor(), raw.Cast(0.0, DstT=self.dtype))


class LinearOperatorPermutation(LinearOperator):
    """Rows in another order."""

    _matrix_axes: ClassVar[Any] = {"perm": 1}

    def __init__(
        self, perm, dtype=dtypes.float32, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
        is_square=None, name="LinearOperatorPermutation",
    ):  # fmt: skip
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always square and non-singular.")
        self._perm = perm if hasattr(perm, "dtype") and not isinstance(perm, np.ndarray) else convert(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"perm.dtype must be integer. Received: {self._perm.dtype.name}")
        super().__init__(
            dtype, is_non_singular=True, is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
            is_square=True, name=name,
        )  # fmt: skip

    perm = property(lambda self: self._perm, doc="The order.")

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._perm.shape)
        return shape if shape.rank is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(convert(self._perm))
        return raw.ConcatV2([size, size[-1:]], 0)

    def _to_dense(self) -> Any:
        places = convert(self._perm)
        one, zero = (raw.Cast(n, DstT=self.dtype) for n in (1.0, 0.0))
        return raw.OneHot(places, raw.Shape(places)[-1], one, zero, axis=-1)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self) -> Any:
        return raw.Fill(self.batch_shape_tensor(), raw.Cast(0.0, DstT=self.dtype.real_dtype))


class LinearOperatorToeplitz(LinearOperator):
    """A matrix with one number along each diagonal: its first column and first row say it."""

    _matrix_axes: ClassVar[Any] = {"col": 1, "row": 1}

    def __init__(
        self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorToeplitz",
    ):  # fmt: skip
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        hints = _hints(locals()) | {"is_square": True}
        self._col, self._row = _tensor(col, "col", 1), _tensor(row, "row", 1)
        super().__init__(self._row.dtype, **hints)

    col = property(lambda self: self._col, doc="The first column.")
    row = property(lambda self: self._row, doc="The first row.")

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._row.shape)
        return shape if shape.rank is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(convert(self._row))
        return raw.ConcatV2([size, size[-1:]], 0)

    def _to_dense(self) -> Any:
        col, row = convert(self._col), convert(self._row)
        size = raw.Shape(row)[-1]
        numbers = raw.ConcatV2(
            [raw.ReverseV2(row, [-1])[..., :-1], col], -1
        )  # from the last of the row to the column's
        places = raw.Range(0, size, 1)
        at = raw.ExpandDims(places, 1) - raw.ExpandDims(places, 0) + size - 1
        return raw.GatherV2(numbers, at, -1)

    def _diag_part(self) -> Any:
        first, row = convert(self._col)[..., :1], convert(self._row)
        return raw.BroadcastTo(first, raw.Shape(row))


class LinearOperatorTridiag(LinearOperator):
    """A matrix of three diagonals."""

    def __init__(
        self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None,
        is_positive_definite=None, is_square=None, name="LinearOperatorTridiag",
    ):  # fmt: skip
        if is_square is False:
            raise ValueError("is_square must be True. Received: False")
        hints = _hints(locals()) | {"is_square": True}
        self.diagonals, self.diagonals_format = diagonals, diagonals_format
        if diagonals_format != "sequence":
            self.diagonals = _tensor(diagonals, "diagonals", 2)
        super().__init__(self._packed.dtype, **hints)

    @property
    def _packed(self) -> Any:
        return raw.Pack(list(_three_rows(self.diagonals, self.diagonals_format)), axis=-2)

    @property
    def _matrix_axes(self) -> dict[str, int]:
        return {"diagonals": 1 if self.diagonals_format == "sequence" else 2}

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._packed.shape)
        return shape if shape.rank is None else shape[:-2].concatenate([shape[-1], shape[-1]])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(self._packed)
        return raw.ConcatV2([size[:-2], size[-1:], size[-1:]], 0)

    def _diag_part(self) -> Any:
        return self._packed[..., 1, :]

    def _rows(self, adjoint: bool) -> Any:
        if not adjoint:
            return self._packed
        above, main, below = (bar(self._packed[..., i, :], True) for i in range(3))
        edge = raw.ZerosLike(above[..., :1])
        moved = (raw.ConcatV2([below[..., 1:], edge], -1), main, raw.ConcatV2([edge, above[..., :-1]], -1))
        return raw.Pack(list(moved), axis=-2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        rows, x = _same_batch(self._rows(adjoint), x)
        return tridiagonal_matmul(rows, x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        rows, rhs = _same_batch(self._rows(adjoint), rhs)
        return tridiagonal_solve(rows, rhs)


enter_kind("triangle", LinearOperatorLowerTriangular)
