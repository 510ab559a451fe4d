"""Operators made of operators: adjoints, inverses, compositions, Kronecker products, blocks, updates of low rank."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.linear.arguments import is_aat_form
from ebbflow.linear.kinds import LinearOperatorDiag, _hints
from ebbflow.linear.operator import LinearOperator, _same_batch, enter_kind
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.matmul import adjoint as adjoint_of
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.solvers import inv


class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator."""

    _matrix_axes: ClassVar[Any] = {"operator": 0}

    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        self._operator = operator
        super().__init__(
            operator.dtype, is_non_singular=_either(is_non_singular, operator.is_non_singular),
            is_self_adjoint=_either(is_self_adjoint, operator.is_self_adjoint),
            is_positive_definite=_either(is_positive_definite, operator.is_positive_definite),
            is_square=_either(is_square, operator.is_square), name=name or f"{operator.name}_adjoint",
        )  # fmt: skip

    operator = property(lambda self: self._operator, doc="What this is the adjoint of.")

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape if shape.rank is None else shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        size = self._operator.shape_tensor()
        return raw.ConcatV2([size[:-2], size[-1:], size[-2:-1]], 0)

    def _to_dense(self) -> Any:
        return adjoint_of(self._operator.to_dense())

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()


def _either(a: Any, b: Any) -> Any:
    return b if a is None else a


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator."""

    _matrix_axes: ClassVar[Any] = {"operator": 0}

    def __init__(
        self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None
    ):
        if operator.is_square is False or operator.is_non_singular is False or is_non_singular is False:
            raise ValueError(f"operator and its inverse must be square and non-singular. Found: {operator}")
        self._operator = operator
        super().__init__(
            operator.dtype, is_non_singular=True, is_self_adjoint=_either(is_self_adjoint, operator.is_self_adjoint),
            is_positive_definite=_either(is_positive_definite, operator.is_positive_definite), is_square=True,
            name=name or f"{operator.name}_inverse",
        )  # fmt: skip

    operator = property(lambda self: self._operator, doc="What this is the inverse of.")

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator.shape_tensor()

    def _to_dense(self) -> Any:
        return inv(self._operator.to_dense())

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()

    def _linop_inverse(self) -> LinearOperator:
        return self._operator


class _OfSeveral(LinearOperator):
    """What operators made of a list of them share."""

    _matrix_axes: ClassVar[Any] = {"operators": 0}

    def __init__(self, operators: Sequence[LinearOperator], joiner: str, hints: dict[str, Any]):
        if not operators:
            raise ValueError("Expected a non-empty list of operators.")
        kinds = {op.dtype for op in operators}
        if len(kinds) > 1:
            raise TypeError(f"Expected all operators to have the same dtype. Found: {sorted(k.name for k in kinds)}")
        self._operators = list(operators)
        if all(op.is_non_singular for op in operators):
            if hints.get("is_non_singular") is False:
                raise ValueError("is_non_singular is False, and it is True for each of the operators.")
            hints["is_non_singular"] = True
        hints["name"] = hints.get("name") or joiner.join(op.name for op in operators)
        super().__init__(operators[0].dtype, **hints)

    operators = property(lambda self: list(self._operators), doc="What this is made of.")

    def _batch(self) -> TensorShape:
        from_all = [op.batch_shape for op in self._operators]
        if any(shape.rank is None or not shape.is_fully_defined() for shape in from_all):
            return TensorShape(None)
        return TensorShape(np.broadcast_shapes(*[tuple(s.as_list()) for s in from_all]))

    def _sides(self, operators: Sequence[LinearOperator]) -> tuple[Any, Any]:
        """Return the numbers of rows and of columns of some operators, each as a tensor."""
        rows = raw.Pack([op.range_dimension_tensor() for op in operators])
        return rows, raw.Pack([op.domain_dimension_tensor() for op in operators])

    def _shape_of(self, rows: Any, columns: Any) -> Any:
        batch = functools.reduce(raw.BroadcastArgs, [op.batch_shape_tensor() for op in self._operators])
        return raw.ConcatV2([batch, raw.Reshape(rows, [1]), raw.Reshape(columns, [1])], 0)


def _hints_of_all(operators: Sequence[LinearOperator], hints: dict[str, Any]) -> dict[str, Any]:
    """Return hints with what is true of something made of operators because it is true of each of them."""
    for hint in ("is_self_adjoint", "is_positive_definite"):
        if operators and all(getattr(op, hint) for op in operators):
            if hints[hint] is False:
                raise ValueError(f"{hint} is False, and it is True for each of the operators.")
            hints[hint] = True
    return hints


class LinearOperatorComposition(_OfSeveral):
    """One operator after the other: the last one first."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        hints = _hints(locals())
        if operators and is_aat_form(operators):
            for hint in ("is_self_adjoint", *(["is_positive_definite"] if operators[0].is_non_singular else [])):
                if hints[hint] is False:
                    raise ValueError(f"{hint} is False, and the operators are of the form A·A*, of which it is True.")
                hints[hint] = True
        super().__init__(operators, "_o_", hints)
        for left, right in itertools.pairwise(operators):
            sizes = (left._column_count, right._row_count)
            if None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(f"Operators are incompatible: {left.shape} and {right.shape}")

    def _shape(self) -> TensorShape:
        first, last = self._operators[0], self._operators[-1]
        return self._batch().concatenate([first._row_count, last._column_count])

    def _shape_tensor(self) -> Any:
        first, last = self._operators[0], self._operators[-1]
        return self._shape_of(first.range_dimension_tensor(), last.domain_dimension_tensor())

    def _to_dense(self) -> Any:
        return functools.reduce(matmul, [op.to_dense() for op in self._operators])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        for op in self._operators if adjoint else reversed(self._operators):
            x = op.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        for op in reversed(self._operators) if adjoint else self._operators:
            rhs = op.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self) -> Any:
        if any(op.is_square is False for op in self._operators):
            return super()._determinant()
        return functools.reduce(lambda a, b: a * b, [op.determinant() for op in self._operators])

    def _log_abs_determinant(self) -> Any:
        if any(op.is_square is False for op in self._operators):
            return super()._log_abs_determinant()
        return functools.reduce(lambda a, b: a + b, [op.log_abs_determinant() for op in self._operators])


class LinearOperatorKronecker(_OfSeveral):
    """The Kronecker product: every entry of the first times the second, and so on."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        super().__init__(operators, "_x_", _hints_of_all(operators, _hints(locals())))

    def _shape(self) -> TensorShape:
        rows, columns = ([getattr(op, side) for op in self._operators] for side in ("_row_count", "_column_count"))
        sizes = [None if None in n else functools.reduce(lambda a, b: a * b, n) for n in (rows, columns)]
        return self._batch().concatenate(sizes)

    def _shape_tensor(self) -> Any:
        rows, columns = self._sides(self._operators)
        return self._shape_of(raw.Prod(rows, [0]), raw.Prod(columns, [0]))

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([op.adjoint() for op in self._operators])

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([op.inverse() for op in self._operators])

    def _to_dense(self) -> Any:
        return functools.reduce(_kronecker, [op.to_dense() for op in self._operators])

    def _diag_part(self) -> Any:
        def product(a: Any, b: Any) -> Any:
            both = raw.ExpandDims(a, -1) * raw.ExpandDims(b, -2)
            return raw.Reshape(both, raw.ConcatV2([raw.Shape(both)[:-2], [-1]], 0))

        return functools.reduce(product, [op.diag_part() for op in self._operators])

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return LinearOperatorKronecker([op.inverse() for op in self._operators])._matmul(rhs, adjoint, adjoint_arg)


def _kronecker(a: Any, b: Any) -> Any:
    wide = raw.ExpandDims(raw.ExpandDims(a, -1), -3) * raw.ExpandDims(raw.ExpandDims(b, -2), -4)
    size = raw.Shape(wide)
    sides = [size[-4:-3] * size[-3:-2], size[-2:-1] * size[-1:]]
    return raw.Reshape(wide, raw.ConcatV2([size[:-4], *sides], 0))


class _OfBlocks(_OfSeveral):
    """What operators of blocks share: they take and give blocks one by one where their argument is a list of them."""

    def _diagonal_blocks(self) -> list[LinearOperator]:
        raise NotImplementedError(f"{type(self).__name__} must say which blocks are on its diagonal")

    def _shape_tensor(self) -> Any:
        rows, columns = self._sides(self._diagonal_blocks())
        return self._shape_of(raw.Sum(rows, [0]), raw.Sum(columns, [0]))

    def _block_range_dimensions(self) -> list[Any]:
        return [op.range_dimension for op in self._diagonal_blocks()]

    def _block_domain_dimensions(self) -> list[Any]:
        return [op.domain_dimension for op in self._diagonal_blocks()]

    def _block_range_dimension_tensors(self) -> list[Any]:
        return [op.range_dimension_tensor() for op in self._diagonal_blocks()]

    def _block_domain_dimension_tensors(self) -> list[Any]:
        return [op.domain_dimension_tensor() for op in self._diagonal_blocks()]

    def _is_by_blocks(self, x: Any) -> bool:
        blocks = isinstance(x, (list, tuple)) and len(x) == len(self._diagonal_blocks())
        return blocks and all(hasattr(part, "shape") for part in x)

    def _by_blocks(self, x: Any, by_rows: bool, axis: int, action: Callable[[Any], Any]) -> list[Any]:
        """Do something with blocks put together, and part what comes of it: by rows, or by columns."""
        parts = _one_batch([convert(part, dtype=self.dtype) for part in x])
        found = action(_joined(parts, axis))
        sides = [op.shape_tensor()[-2 if by_rows else -1] for op in self._diagonal_blocks()]
        return list(raw.SplitV(found, raw.Pack(sides), -2, num_split=len(sides)))

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Return A·x (or A*·x, or with x*); of blocks of rows, a list of them; of another operator, the product."""
        act = functools.partial(super().matmul, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)
        return self._by_blocks(x, not adjoint, -1 if adjoint_arg else -2, act) if self._is_by_blocks(x) else act(x)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Return x with A·x = rhs; of blocks of rows, a list of them."""
        act = functools.partial(super().solve, adjoint=adjoint, adjoint_arg=adjoint_arg, name=name)
        return self._by_blocks(rhs, adjoint, -1 if adjoint_arg else -2, act) if self._is_by_blocks(rhs) else act(rhs)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Return A·x for vectors x, or for parts of vectors."""
        if not self._is_by_blocks(x):
            return super().matvec(x, adjoint, name)
        return _squeezed(self.matmul([raw.ExpandDims(convert(part), -1) for part in x], adjoint))

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """Return x with A·x = rhs for vectors, or for parts of vectors."""
        if not self._is_by_blocks(rhs):
            return super().solvevec(rhs, adjoint, name)
        return _squeezed(self.solve([raw.ExpandDims(convert(part), -1) for part in rhs], adjoint))


def _squeezed(parts: list[Any]) -> list[Any]:
    return [raw.Squeeze(part, squeeze_dims=[-1]) for part in parts]


def _joined(parts: list[Any], axis: int) -> Any:
    return parts[0] if len(parts) == 1 else raw.ConcatV2(parts, axis)


class LinearOperatorBlockDiag(_OfBlocks):
    """Operators as blocks along the diagonal."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        if any(op.is_square is False for op in operators):
            is_square = None  # what the shape says then
        super().__init__(operators, "_ds_", _hints_of_all(operators, _hints(locals())))

    def _diagonal_blocks(self) -> list[LinearOperator]:
        return self._operators

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.adjoint() for op in self._operators])

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.inverse() for op in self._operators])

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([op.cholesky() for op in self._operators])

    def _shape(self) -> TensorShape:
        rows, columns = ([getattr(op, side) for op in self._operators] for side in ("_row_count", "_column_count"))
        return self._batch().concatenate([None if None in n else sum(n) for n in (rows, columns)])

    def _parts(self, x: Any, sizes: list[Any]) -> list[Any]:
        """Return rows of x for each block."""
        parts, at = [], 0
        for size in sizes:
            parts.append(x[..., at : at + size, :])
            at = at + size
        return parts

    def _each(self, x: Any, action: str, adjoint: bool, adjoint_arg: bool) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        by_rows = adjoint if action == "matmul" else not adjoint
        sizes = [op.range_dimension_tensor() if by_rows else op.domain_dimension_tensor() for op in self._operators]
        parts = zip(self._operators, self._parts(x, sizes), strict=True)
        found = [getattr(op, action)(part, adjoint=adjoint) for op, part in parts]
        return _joined(_one_batch(found), -2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(x, "matmul", adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(rhs, "solve", adjoint, adjoint_arg)

    def _determinant(self) -> Any:
        return functools.reduce(lambda a, b: a * b, [op.determinant() for op in self._operators])

    def _log_abs_determinant(self) -> Any:
        return functools.reduce(lambda a, b: a + b, [op.log_abs_determinant() for op in self._operators])

    def _diag_part(self) -> Any:
        parts = _one_batch([raw.ExpandDims(op.diag_part(), -1) for op in self._operators])
        return raw.Squeeze(_joined(parts, -2), squeeze_dims=[-1])

    def _to_dense(self) -> Any:
        total = self.domain_dimension_tensor()
        rows, at = [], raw.Cast(0, DstT=total.dtype)
        for op in self._operators:
            dense = op.to_dense()
            after = at + raw.Shape(dense)[-1]
            batch = raw.ZerosLike(raw.Shape(dense)[:-1])
            pads = raw.ConcatV2(
                [raw.Pack([batch, batch], axis=1), raw.Reshape(raw.Pack([at, total - after]), [1, 2])], 0
            )
            rows.append(raw.Pad(dense, pads))
            at = after
        return _joined(_one_batch(rows), -2)


def _one_batch(parts: list[Any]) -> list[Any]:
    """Return matrices with one batch shape."""
    if len({str(p.shape[:-2]) for p in parts}) == 1 and parts[0].shape[:-2].is_fully_defined():
        return parts
    batch = functools.reduce(raw.BroadcastArgs, [raw.Shape(p)[:-2] for p in parts])
    return [raw.BroadcastTo(p, raw.ConcatV2([batch, raw.Shape(p)[-2:]], 0)) for p in parts]


class LinearOperatorBlockLowerTriangular(_OfBlocks):
    """Rows of operators, each row one longer than the one before: blocks on and below the diagonal."""

    def __init__(
        self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ):  # fmt: skip
        if not operators or any(len(row) != i + 1 for i, row in enumerate(operators)):
            raise ValueError("The argument `operators` must be rows of operators, each one longer than the one before.")
        self._rows = [list(row) for row in operators]
        hints = _hints(locals()) | {"is_square": True}
        super().__init__([op for row in self._rows for op in row], "_", hints)

    operators = property(lambda self: [list(row) for row in self._rows], doc="The rows of blocks.")

    def _diagonal_blocks(self) -> list[LinearOperator]:
        return [row[-1] for row in self._rows]

    def _shape(self) -> TensorShape:
        sides = [row[-1]._row_count for row in self._rows]
        total = None if None in sides else sum(sides)
        return self._batch().concatenate([total, total])

    def _to_dense(self) -> Any:
        sizes = [row[-1].domain_dimension_tensor() for row in self._rows]
        rows = []
        for i, row in enumerate(self._rows):
            blocks = _one_batch([op.to_dense() for op in row])
            wide = _joined(blocks, -1)
            rest = functools.reduce(lambda a, b: a + b, sizes[i + 1 :], raw.Cast(0, DstT=sizes[0].dtype))
            shape = raw.Shape(wide)
            zeros = raw.Fill(raw.ConcatV2([shape[:-1], raw.Reshape(rest, [1])], 0), raw.Cast(0.0, DstT=self.dtype))
            rows.append(raw.ConcatV2([wide, zeros], -1))
        return _joined(_one_batch(rows), -2)

    def _log_abs_determinant(self) -> Any:
        return functools.reduce(lambda a, b: a + b, [row[-1].log_abs_determinant() for row in self._rows])


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus U·D·V* of few columns; solved by Woodbury's identity."""

    _matrix_axes: ClassVar[Any] = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

    def __init__(
        self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
        is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate",
    ):  # fmt: skip
        hints = _hints(locals())
        self._base = base_operator
        self._u = convert(u, dtype=base_operator.dtype, name="u") if not hasattr(u, "assign") else u
        self._v = None if v is None else v if hasattr(v, "assign") else convert(v, dtype=base_operator.dtype, name="v")
        self._diag = None if diag_update is None else convert(diag_update, dtype=base_operator.dtype)
        same = v is None and (diag_update is None or is_diag_update_positive)
        if same and base_operator.is_self_adjoint and hints["is_self_adjoint"] is None:
            hints["is_self_adjoint"] = True
        if same and base_operator.is_positive_definite and hints["is_positive_definite"] is None:
            hints["is_positive_definite"] = hints["is_non_singular"] = True
        super().__init__(base_operator.dtype, **hints)

        definite = base_operator.is_self_adjoint and base_operator.is_positive_definite
        self._use_cholesky = bool(definite and same)

    base_operator = property(lambda self: self._base, doc="What is updated.")
    diag_update = property(lambda self: self._diag, doc="D of the update; the identity where it is None.")
    u = property(lambda self: self._u, doc="U of the update U·D·V*.")
    v = property(lambda self: self._u if self._v is None else self._v, doc="V of the update; U where none was given.")

    def _shape(self) -> TensorShape:
        batches = [self._base.batch_shape, *(TensorShape(x.shape)[:-2] for x in (self._u, self.v))]
        if self._diag is not None:
            batches.append(TensorShape(self._diag.shape)[:-1])
        sides = [self._base._row_count, self._base._column_count]
        if not all(batch.is_fully_defined() for batch in batches):
            return TensorShape(None).concatenate(sides)
        return TensorShape(np.broadcast_shapes(*(tuple(b.as_list()) for b in batches))).concatenate(sides)

    def _shape_tensor(self) -> Any:
        parts = [(convert(self._u), -2), (convert(self.v), -2)]
        parts += [] if self._diag is None else [(convert(self._diag), -1)]
        batches = [raw.Shape(part)[:axes] for part, axes in parts]
        size = self._base.shape_tensor()
        return raw.ConcatV2([functools.reduce(raw.BroadcastArgs, batches, size[:-2]), size[-2:]], 0)

    def _middle(self) -> Any:
        if self._diag is not None:
            return LinearOperatorDiag(self._diag)
        size = raw.Shape(convert(self._u))[-1:]
        return LinearOperatorDiag(raw.Fill(size, raw.Cast(1.0, DstT=self.dtype)))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        left, right = (self.v, self._u) if adjoint else (self._u, self.v)
        inner = self._middle().matmul(matmul(convert(right), x, adjoint_a=True), adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint) + matmul(convert(left), inner)

    def _to_dense(self) -> Any:
        return self._base.to_dense() + matmul(convert(self._u), self._middle().matmul(adjoint_of(convert(self.v))))

    def _capacitance(self) -> Any:
        """D⁻¹ + V* A⁻¹ U."""
        return self._middle().inverse().to_dense() + matmul(
            convert(self.v), self._base.solve(convert(self._u)), adjoint_a=True
        )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        left, right = (self.v, self._u) if adjoint else (self._u, self.v)
        first = self._base.solve(rhs, adjoint=adjoint)
        inner, small = _same_batch(self._capacitance(), matmul(convert(right), first, adjoint_a=True))
        correction = raw.MatrixSolve(inner, small, adjoint=adjoint)
        return first - self._base.solve(matmul(convert(left), correction), adjoint=adjoint)

    def _log_abs_determinant(self) -> Any:
        _, small = raw.LogMatrixDeterminant(self._capacitance())
        small = raw.Cast(small, DstT=self.dtype)
        return small + self._middle().log_abs_determinant() + self._base.log_abs_determinant()

    def _determinant(self) -> Any:
        small = raw.MatrixDeterminant(self._capacitance())
        return small * self._middle().determinant() * self._base.determinant()


enter_kind("adjoint", LinearOperatorAdjoint)
enter_kind("inverse", LinearOperatorInversion)
enter_kind("composition", LinearOperatorComposition)
