"""A linear operator: a batch of matrices that can be multiplied, solved with and asked about.

The base class does everything with the dense matrix; a kind of matrix, or a program's own operator, says what it can do
better by methods with a leading underscore (`_matmul`, `_matvec`, `_solve`, `_diag_part`, `_trace`, …). Hints (such as
`is_self_adjoint`) are promises by whoever makes the operator: True, False, or None where nothing is promised.
Knows ops; imported by the kinds beside it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dimension, TensorShape, dimension_value
from ebbflow.linear.composite import HINTS, OperatorGradient, sliced, spec_class, spec_of_operator
from ebbflow.ops.checks.asserts import assert_less, assert_near, assert_positive
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import conj, real
from ebbflow.ops.elementwise.unary import abs as magnitude
from ebbflow.ops.elementwise.unary import log
from ebbflow.ops.linalg.decompositions import eigvals
from ebbflow.ops.linalg.factorizations import cholesky, eigvalsh, svd
from ebbflow.ops.linalg.matmul import adjoint, matmul
from ebbflow.ops.linalg.solvers import cholesky_solve, det, slogdet, solve
from ebbflow.state.module import Module


@functools.cache
def _signature(init: Any) -> inspect.Signature:
    return inspect.signature(init)


class LinearOperator(Module, CompositeTensor):
    """A batch of matrices [..., M, N]."""

    _matrix_axes: ClassVar[Any] = None
    """Which arguments are tensors or operators, and how many of a tensor's last axes belong to the matrix. A class of a
    program's own need not say it: what was given as a tensor is one."""
    _spec_class: ClassVar[Any]
    _made_with: dict[str, Any]
    __composite_gradient__ = OperatorGradient()

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        cls._spec_class = spec_class(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearOperator:
        """Make an operator that knows the arguments it is made with."""
        made = super().__new__(cls)
        bound = _signature(cls.__init__).bind(made, *args, **kwargs)
        bound.apply_defaults()
        _, *given = bound.arguments.items()
        object.__setattr__(made, "_made_with", dict(given))
        return made

    def __init__(
        self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
        is_square=None, name=None, parameters=None,
    ):  # fmt: skip
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        if is_square is False and (is_non_singular or is_self_adjoint or is_positive_definite):
            raise ValueError("A matrix that is non-singular or self-adjoint is always square.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
        self._is_non_singular = True if is_positive_definite else is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = True if is_non_singular or is_self_adjoint or is_positive_definite else is_square
        self._parameters = parameters or {}
        self._name = name or type(self).__name__  # which may be any text: sums are called "Add/a__b/"

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[Any]:  # type: ignore[override]
        """Open the scope of a method: programs' own operators call it."""
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # --- what is promised ---------------------------------------------------------------------------------------------

    dtype = property(lambda self: self._dtype, doc="The dtype of the entries.")
    is_non_singular = property(lambda self: self._is_non_singular, doc="Whether it can be inverted, if promised.")
    is_self_adjoint = property(lambda self: self._is_self_adjoint, doc="Whether it is its adjoint, if promised.")
    is_positive_definite = property(lambda self: self._is_positive_definite, doc="Whether x*Ax > 0, if promised.")
    parameters = property(lambda self: dict(self._parameters or self._made_with), doc="What it was made of.")
    graph_parents = property(lambda self: [], doc="Kept for programs that ask; empty.")

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns, as far as known."""
        rows, columns = self._row_count, self._column_count
        known = None if rows is None or columns is None else rows == columns
        if known and self._is_square_hint is False:
            raise ValueError(f"User set is_square hint to False, but the operator was square: {self.shape}")
        return known if self._is_square_hint is None else self._is_square_hint

    # --- as a value made of tensors -----------------------------------------------------------------------------------

    @property
    def _composite_tensor_fields(self) -> tuple[str, ...]:
        if self._matrix_axes is not None:
            return tuple(self._matrix_axes)
        return tuple(name for name, value in self._made_with.items() if hasattr(value, "dtype"))

    def _part(self, name: str) -> Any:
        """Return the tensors or operators of one argument, as this operator holds them."""
        given = self._made_with.get(name)
        return None if given is None else getattr(self, name, given)

    @property
    def _type_spec(self) -> Any:
        return spec_of_operator(self)

    def _convert_variables_to_tensors(self) -> LinearOperator:
        """Return this operator with the values that its variables have now."""
        spec = self._type_spec
        return spec._from_components(spec._to_components(self))

    def __getitem__(self, slices: Any) -> LinearOperator:
        """Return the operator of some of the batch."""
        return sliced(self, slices)

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__} must say its shape (_shape)")

    def _shape_tensor(self) -> Any:
        return raw.Shape(self.to_dense())

    shape = property(lambda self: self._shape(), doc="The static shape [..., M, N].")

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes of the dense tensor."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns, as a Dimension in either era."""
        return Dimension(self._column_count)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows, as a Dimension in either era."""
        return Dimension(self._row_count)

    @property
    def _column_count(self) -> int | None:
        return None if self.shape.rank is None else dimension_value(self.shape[-1])

    @property
    def _row_count(self) -> int | None:
        return None if self.shape.rank is None else dimension_value(self.shape[-2])

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def shape_tensor(self, name="shape_tensor"):
        """Return the shape as a tensor."""
        if self.shape.is_fully_defined():
            return convert(self.shape.as_list(), dtype=dtypes.int32)
        return self._shape_tensor()

    def _batch_shape_tensor(self, shape: Any = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[:-2]

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """Return the shape of the batch as a tensor."""
        return self._batch_shape_tensor()

    def _tensor_rank_tensor(self, shape: Any = None) -> Any:
        return raw.Size(self.shape_tensor() if shape is None else shape)

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """Return the number of axes of the dense tensor, as a tensor."""
        return self._tensor_rank_tensor()

    def _domain_dimension_tensor(self, shape: Any = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[-1]

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """Return the number of columns as a tensor."""
        return self._domain_dimension_tensor()

    def _range_dimension_tensor(self, shape: Any = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[-2]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """Return the number of rows as a tensor."""
        return self._range_dimension_tensor()

    # --- products and solves ------------------------------------------------------------------------------------------

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self.to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Return A·x (or A*·x, or with x*); of another operator, the operator that is both."""
        if isinstance(x, LinearOperator):
            from_left = self.adjoint() if adjoint else self
            return _compose(from_left, x.adjoint() if adjoint_arg else x)
        with name_scope(name):
            x = self._checked(self._argument(x, "x"), -1 if adjoint_arg else -2, adjoint, "matmul")
            return self._matmul(x, adjoint, adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def _argument(self, value: Any, name: str) -> Any:
        value = convert(value, name=name) if hasattr(value, "dtype") else convert(value, dtype=self.dtype, name=name)
        self._check_input_dtype(value)
        return value

    def _check_input_dtype(self, arg: Any) -> None:
        """Refuse a tensor of another dtype than the entries': programs' own operators call it."""
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {arg.dtype} in tensor {arg!s}")

    def _checked(self, x: Any, axis: int, turned: bool, what: str) -> Any:
        size = self._row_count if turned else self._column_count
        if x.shape.rank is not None and size is not None and dimension_value(x.shape[axis]) not in (None, size):
            raise ValueError(
                f"Operators are incompatible. Expected `x` to have dimension {size} but got {x.shape[axis]} "
                f"({what}): Dimensions {size} and {x.shape[axis]} are not compatible"
            )
        return x

    def matvec(self, x, adjoint=False, name="matvec"):
        """Return A·x for vectors x."""
        with name_scope(name):
            return self._matvec(self._checked(self._argument(x, "x"), -1, adjoint, "matvec"), adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return raw.Squeeze(self.matmul(raw.ExpandDims(x, -1), adjoint), squeeze_dims=[-1])

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        matrix, rhs = _same_batch(self.to_dense(), rhs)
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(matrix), rhs)
        return solve(matrix, rhs, adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Return x with A·x = rhs."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            return _compose(
                self.inverse().adjoint() if adjoint else self.inverse(), rhs.adjoint() if adjoint_arg else rhs
            )
        with name_scope(name):
            rhs = self._argument(rhs, "rhs")
            rhs = self._checked(rhs, -1 if adjoint_arg else -2, not adjoint, "solve")
            return self._solve(rhs, adjoint, adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """Return x with A·x = rhs for vectors."""
        with name_scope(name):
            return self._solvevec(self._checked(self._argument(rhs, "rhs"), -1, not adjoint, "solvevec"), adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return raw.Squeeze(self.solve(raw.ExpandDims(rhs, -1), adjoint), squeeze_dims=[-1])

    # --- other forms --------------------------------------------------------------------------------------------------

    def _to_dense(self) -> Any:
        size = self.shape_tensor()
        identity = raw.MatrixDiag(raw.Fill(size[-1:], raw.Cast(1.0, DstT=self.dtype)))
        batch = raw.ConcatV2([size[:-2], [1, 1]], 0)
        return self._matmul(identity * raw.Fill(batch, raw.Cast(1.0, DstT=self.dtype)))

    def to_dense(self, name="to_dense"):
        """Return the matrices written out."""
        with name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Any:
        return raw.MatrixDiagPart(self.to_dense())

    def diag_part(self, name="diag_part"):
        """Return the diagonals."""
        with name_scope(name):
            return self._diag_part()

    def trace(self, name="trace"):
        """Return the sums of the diagonals."""
        with name_scope(name):
            return self._trace()

    def _trace(self) -> Any:
        return raw.Sum(self.diag_part(), -1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """Return A + x as a tensor."""
        with name_scope(name):
            return self._add_to_tensor(convert(x, dtype=self.dtype, name="x"))

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def adjoint(self, name="adjoint"):
        """Return the operator that is the adjoint of this."""
        return self if self.is_self_adjoint else self._linop_adjoint()

    H = property(lambda self: self.adjoint(), doc="The adjoint.")

    def _linop_adjoint(self) -> LinearOperator:
        return _kinds["adjoint"](self)

    def inverse(self, name="inverse"):
        """Return the operator that is the inverse of this."""
        if self.is_square is False:
            raise ValueError(f"Cannot take the Inverse: This operator represents a non square matrix, {self.shape}")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        return _kinds["inverse"](self)

    def cholesky(self, name="cholesky"):
        """Return the lower triangle L with L·L* = A as an operator."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        return _kinds["triangle"](cholesky(self.to_dense()), is_non_singular=True, is_square=True)

    # --- numbers ------------------------------------------------------------------------------------------------------

    def _determinant(self) -> Any:
        return det(self.to_dense())

    def _log_abs_determinant(self) -> Any:
        return slogdet(self.to_dense())[1]

    def _need_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def determinant(self, name="det"):
        """Return the determinants."""
        self._need_square("Determinant")
        with name_scope(name):
            return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """Return the logarithms of the absolute determinants."""
        self._need_square("Determinant")
        with name_scope(name):
            found = self._log_abs_determinant()
            return found if found.dtype == self.dtype else raw.Cast(found, DstT=self.dtype)

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense()) if self.is_self_adjoint else eigvals(self.to_dense())

    def eigvals(self, name="eigvals"):
        """Return the eigenvalues."""
        self._need_square("Eigenvalues")
        with name_scope(name):
            return self._eigvals()

    def _cond(self) -> Any:
        values = svd(self.to_dense(), compute_uv=False)
        return values[..., 0] / values[..., -1]

    def cond(self, name="cond"):
        """Return the ratios of the largest to the smallest singular value."""
        with name_scope(name):
            return self._cond()

    # --- promises kept ------------------------------------------------------------------------------------------------

    def assert_non_singular(self, name="assert_non_singular"):
        """Return an op that fails where a matrix cannot be inverted, by its condition."""
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        limit = raw.Cast(1.0 / (10 * _epsilon(self.dtype)), DstT=self.dtype.real_dtype)
        return assert_less(
            raw.Cast(self.cond(), DstT=limit.dtype),
            limit,
            message="Singular matrix up to precision: the LinearOperator was singular.",
        )

    def assert_positive_definite(self, name="assert_positive_definite"):
        """Return an op that fails where a matrix is not positive definite."""
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        diagonal = real(raw.MatrixDiagPart(cholesky(self.to_dense())))
        return assert_positive(diagonal, message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """Return an op that fails where a matrix is not its adjoint."""
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_near(
            dense, adjoint(dense), message="Matrix was not equal to its adjoint: it is not self-adjoint."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: shape={self.shape}, dtype={self.dtype and self.dtype.name}>"


_kinds: dict[str, Any] = {"product": lambda left, right: None}
"""Kinds that the base class makes of others; the files of those enter them."""


def enter_kind(role: str, kind: Any) -> None:
    """Say which class stands for "adjoint", "inverse", "triangle" or "composition"; what finds a "product"."""
    _kinds[role] = kind


def _compose(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    if None not in (left._column_count, right._row_count) and left._column_count != right._row_count:
        raise ValueError(f"Operators are incompatible. Expected {left._column_count} rows, got {right._row_count}")
    known = _kinds["product"](left, right)
    return _kinds["composition"]([left, right]) if known is None else known


def _adjoint(x: Any) -> Any:
    return adjoint(x)


def _same_batch(matrix: Any, rhs: Any) -> tuple[Any, Any]:
    """Return a matrix and a right side with one batch shape."""
    known = None not in (matrix.shape.rank, rhs.shape.rank)
    if known and matrix.shape[:-2].as_list() == rhs.shape[:-2].as_list():
        return matrix, rhs
    batch = raw.BroadcastArgs(raw.Shape(matrix)[:-2], raw.Shape(rhs)[:-2])
    wide = [raw.BroadcastTo(x, raw.ConcatV2([batch, raw.Shape(x)[-2:]], 0)) for x in (matrix, rhs)]
    return wide[0], wide[1]


def _epsilon(dtype: Any) -> float:
    return 1.19e-7 if dtype.real_dtype == dtypes.float32 else 2.2e-16 if dtype.real_dtype == dtypes.float64 else 1e-3


def sum_of_logs(x: Any) -> Any:
    """Return the sum of the logarithms of magnitudes along the last axis."""
    return raw.Sum(log(magnitude(x)), -1)


def bar(x: Any, wanted: bool) -> Any:
    """Return the conjugate where asked for."""
    return conj(x) if wanted else x


__all__ = ["HINTS", "LinearOperator", "bar", "enter_kind", "sum_of_logs"]
