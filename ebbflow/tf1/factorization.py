"""A sparse matrix as the product of two thin ones: `tf.contrib.factorization.WALSModel`, the graph of weighted
alternating least squares.

One side's factors are held while the other's are solved for, some rows at a time. Knows graphs and variables; the
Estimator that sweeps over rows and columns in turn is in `doors/learn/factorization.py`.
"""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.placeholders import placeholder_with_default
from ebbflow.graph.scopes import colocate_with, control_dependencies, group, name_scope, no_op
from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.partition import dynamic_partition
from ebbflow.ops.arrays.sets import unique
from ebbflow.ops.arrays.shaping import rank, shape
from ebbflow.ops.checks.asserts import assert_less_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.random.stateful import random_normal
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.functions import assign, scatter_update, variables_initializer
from ebbflow.state.variables import VariableV1

Initial = Callable[..., Any] | TensorLike
"""What factors begin as: "random", an array, a list of arrays (one a shard), or a function that returns either."""


class _Side:
    """The rows, or the columns, of a matrix: their factors, weights and Gramian, in shards and in a worker's copies."""

    def __init__(self, word: str, count: int, width: int, shards: int, scoped: bool):
        self.word, self.count, self.width, self.shards, self._scoped = word, count, width, shards, scoped
        size, more = divmod(count, shards)
        self.sizes = [size + 1] * more + [size] * (shards - more)

    def _variables(self, what: str, values: Callable[[int], Any]) -> list[Any]:
        name = f"{self.word}_{what}"
        with name_scope(name) if self._scoped else contextlib.nullcontext():
            return [
                VariableV1(lambda i=i: values(i), dtype=dtypes.float32, name=f"{name}_shard_{i}")
                for i in range(self.shards)
            ]

    def make_weights(self, initial: Any) -> None:
        """Make a variable of weights for each shard, or none where None is given."""
        self.weights: list[Any] | None = None
        if initial is None:
            return
        if isinstance(initial, Iterable):
            parts = list(initial)
            parts = [parts] if self.shards == 1 and len(parts) == self.count else parts
            if len(parts) != self.shards:
                raise ValueError(f"{self.word}_weights has {len(parts)} lists of weights for {self.shards} shards")
            self.weights = self._variables("weights", lambda i: np.asarray(parts[i], np.float32))
        elif isinstance(initial, numbers.Real) and float(initial) >= 0:
            self.weights = self._variables("weights", lambda i: float(initial) * ones([self.sizes[i]]))
        else:
            raise ValueError(
                "Invalid weight initialization argument. Must be one of these: None, a non-negative real number, or a "
                f"list of lists of non-negative real numbers, one for each shard of the factors; got {initial!r}"
            )

    def make_factors(self, initial: Any) -> None:
        """Make a variable of factors for each shard."""
        initial = initial() if callable(initial) else initial
        if isinstance(initial, str):
            if initial != "random":
                raise ValueError(f"{self.word}_init must be 'random' or the factors themselves, got {initial!r}")
            self.factors = self._variables("factors", lambda i: random_normal([self.sizes[i], self.width]))
            return
        parts = initial if isinstance(initial, list) and len(initial) == self.shards else [initial]
        if len(parts) != self.shards:
            raise ValueError(f"{self.word}_init has {len(parts)} parts for {self.shards} shards")
        self.factors = self._variables("factors", lambda i: parts[i])

    def make_gramian(self) -> None:
        """Make the variable of the product of the factors with themselves."""
        self.gramian = VariableV1(
            np.zeros([self.width, self.width], np.float32), dtype=dtypes.float32, name=f"{self.word}_gramian"
        )

    def prepare_gramian(self) -> Any:
        """Return the op that computes it."""
        products = []
        for factors in self.factors:
            with colocate_with(factors):
                products.append(raw.MatMul(factors, factors, transpose_a=True))
        with colocate_with(self.gramian):
            return assign(self.gramian, raw.AddN(products)).op

    def make_copies(self, of_factors: bool, of_gramian: bool) -> None:
        """Make variables of the worker's own for what an update reads, where it should have any."""
        self.factors_copy, self.factors_init, self.factors_reset = _copies(
            self.factors, f"{self.word}_factors_cache", of_factors
        )
        self.weights_copy, self.weights_init, _ = _copies(self.weights, f"{self.word}_wt_cache", of_factors)
        copies, self.gramian_init, self.gramian_reset = _copies(
            [self.gramian], f"{self.word}_gramian_cache", of_gramian
        )
        self.gramian_copy = copies[0]

    def in_shards(self, ids: Any) -> tuple[Any, Any]:
        """Return the shard of each row, and its number there."""
        size, more = divmod(self.count, self.shards)
        shard = raw.Maximum(ids // (size + 1), (ids - more) // size)
        return shard, where(shard < more, ids % (size + 1), (ids - more) % size)

    def update(self, ids: Any, values: Any, name: str) -> Any:
        """Return the op that puts new factors where rows have theirs."""
        if self.shards == 1:
            with colocate_with(self.factors[0]):
                return scatter_update(self.factors[0], ids, values, name=name).op
        shard, places = self.in_shards(ids)
        shard = raw.Cast(shard, DstT=dtypes.int32)
        parts = zip(
            self.factors, dynamic_partition(places, shard, self.shards), dynamic_partition(values, shard, self.shards)
        )
        return group(*(scatter_update(factors, rows, some) for factors, rows, some in parts), name=name)


def _copies(variables: list[Any] | None, name: str, wanted: bool) -> tuple[Any, Any, Any]:
    """Return local variables like others, the op that fills them, and the op that empties them."""
    if variables is None:
        return None, no_op(), no_op()
    if not wanted:
        return variables, no_op(), no_op()
    single = len(variables) == 1 and "gramian" in name
    nothing = placeholder_with_default(np.float32(1), shape=None)
    copies = [
        VariableV1(
            nothing, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False,
            name=name if single else f"{name}_shard_{i}",
        )
        for i in range(len(variables))
    ]  # fmt: skip
    fill: list[Any] = []
    for copy, variable in zip(copies, variables):
        with control_dependencies(fill[-1:]):  # one after the other: two whole copies are never on their way at once
            fill.append(assign(copy, variable, validate_shape=False))
    return copies, fill[-1], group(*(assign(copy, 1.0, validate_shape=False) for copy in copies))


class WALSModel:
    """The graph of a factorization: A is about U Vᵀ, where an entry's error counts by its weight.

    An entry that is in the sparse input weighs `unobserved_weight` + its row's weight × its column's; all others are
    zeros that weigh `unobserved_weight`. Before rows are updated, `row_update_prep_gramian_op` and then
    `initialize_row_update_op` must be run; `worker_init` once before all.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Initial = "random",
        col_init: Initial = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise ValueError(
                "row_weights and col_weights must both be None, or neither: got "
                f"row_weights={row_weights!r}, col_weights={col_weights!r}"
            )
        self._unobserved, self._regularization = unobserved_weight, regularization
        self._rows = _Side("row", input_rows, n_components, num_row_shards, use_scoped_vars)
        self._cols = _Side("col", input_cols, n_components, num_col_shards, use_scoped_vars)
        self._rows.make_weights(row_weights)
        self._cols.make_weights(col_weights)
        self._rows.make_factors(row_init)
        self._cols.make_factors(col_init)
        for side in (self._rows, self._cols):
            side.make_gramian()
        with name_scope("row_prepare_gramian"):
            self._row_prepare = self._cols.prepare_gramian()
        with name_scope("col_prepare_gramian"):
            self._col_prepare = self._rows.prepare_gramian()
        with name_scope("transient_vars"):
            for side in (self._rows, self._cols):
                side.make_copies(use_factors_weights_cache, use_gramian_cache)
            self._row_begin = self._beginning(self._rows, self._cols)
            self._col_begin = self._beginning(self._cols, self._rows)
            self._worker_init = group(self._rows.weights_init, self._cols.weights_init, name="worker_init")

    @staticmethod
    def _beginning(updated: _Side, held: _Side) -> Any:
        return group(held.factors_init, updated.factors_reset, held.gramian_init, updated.gramian_reset)

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the rows' factors, one a shard."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the columns' factors, one a shard."""
        return self._cols.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The variables of the rows' weights, one a shard."""
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The variables of the columns' weights, one a shard."""
        return self._cols.weights

    @property
    def initialize_op(self) -> Effect:
        """The op that gives all variables but a worker's own their first values."""
        every = [*self.row_factors, *self.col_factors, self._rows.gramian, self._cols.gramian]
        return variables_initializer([*every, *(self.row_weights or []), *(self.col_weights or [])])

    @property
    def worker_init(self) -> Effect:
        """The op that copies weights to the worker, once before all updates."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Effect:
        """The op that computes what updates of rows need of all columns; one worker runs it."""
        return self._row_prepare

    @property
    def col_update_prep_gramian_op(self) -> Effect:
        """The op that computes what updates of columns need of all rows; one worker runs it."""
        return self._col_prepare

    @property
    def initialize_row_update_op(self) -> Effect:
        """The op that copies the columns' factors to the worker, before it updates rows."""
        return self._row_begin

    @property
    def initialize_col_update_op(self) -> Effect:
        """The op that copies the rows' factors to the worker, before it updates columns."""
        return self._col_begin

    def update_row_factors(self, sp_input: SparseTensor | None = None, transpose_input: bool = False) -> Nested:
        """Return the new factors of the rows in the input, the op that stores them, the loss without regularization,
        that, and the sum of the weights. The last three are scaled from the rows in the input to all.
        """
        return self._process(self._rows, self._cols, sp_input, transpose_input)

    def update_col_factors(self, sp_input: SparseTensor | None = None, transpose_input: bool = False) -> Nested:
        """Return for columns what `update_row_factors` returns for rows."""
        return self._process(self._cols, self._rows, sp_input, not transpose_input)

    def project_row_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> TensorLike:
        """Return the factors that rows would have, which need not be rows of the matrix."""
        weights = 1.0 if projection_weights is None else projection_weights
        return self._process(self._rows, self._cols, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self,
        sp_input: SparseTensor | None = None,
        transpose_input: bool = False,
        projection_weights: TensorLike | None = None,
    ) -> TensorLike:
        """Return the factors that columns would have, which need not be columns of the matrix."""
        weights = 1.0 if projection_weights is None else projection_weights
        return self._process(self._cols, self._rows, sp_input, not transpose_input, weights)[0]

    def _process(self, left: _Side, right: _Side, given: Any, transposed: bool, weights: Any = None) -> Any:
        """Solve for the rows of `left` that an input has; `transposed` says that they are the input's columns."""
        if not isinstance(given, SparseTensor):
            raise ValueError(f"sp_input must be a SparseTensor, got {given!r}")
        of_left, of_right = (1, 0) if transposed else (0, 1)
        ids, rows = unique(given.indices[:, of_left])[:2]
        others, columns = unique(given.indices[:, of_right])[:2]
        rows, columns = raw.Cast(rows, DstT=dtypes.int64), raw.Cast(columns, DstT=dtypes.int64)
        factors = _looked_up(right.factors_copy, others)
        entries = _Entries(raw.Pack([rows, columns], axis=1), rows, columns, given.values, shape(ids)[0])
        lhs = self._unobserved * right.gramian_copy
        if self._regularization is not None:
            lhs = lhs + self._regularization * np.eye(left.width, dtype=np.float32)
        if left.weights is None:
            solved = self._solved_unweighted(lhs, factors, entries, others)
        else:
            entries.row_weights = _row_weights(left, ids, weights)
            entries.column_weights = _looked_up(right.weights_copy, others)
            solved = self._solved(lhs, factors, entries)
        update = left.update(ids, solved, f"{left.word}_update")
        return solved, update, *self._losses(left, right, solved, factors, entries)

    def _solved(self, lhs: Any, factors: Any, entries: _Entries) -> Any:
        more, rhs = raw.WALSComputePartialLhsAndRhs(
            factors, entries.column_weights, np.float32(self._unobserved), entries.row_weights, entries.indices,
            entries.values, np.zeros([0], np.float32), raw.Cast(entries.count, DstT=dtypes.int64), False,
        )  # fmt: skip
        return raw.Squeeze(raw.MatrixSolve(lhs[None] + more, rhs[:, :, None]), squeeze_dims=[2])

    def _solved_unweighted(self, lhs: Any, factors: Any, entries: _Entries, others: Any) -> Any:
        """Solve where every entry weighs the same: one matrix serves all rows."""
        size = raw.Cast(raw.Pack([entries.count, shape(others)[0]]), DstT=dtypes.int64)
        rhs = self._unobserved * raw.SparseTensorDenseMatMul(entries.indices, entries.values, size, factors)
        return raw.Transpose(raw.MatrixSolve(lhs, raw.Transpose(rhs, [1, 0])), [1, 0])

    def _losses(self, left: _Side, right: _Side, solved: Any, factors: Any, entries: _Entries) -> tuple[Any, ...]:
        approximate = raw.MaskedMatmul(solved, factors, entries.indices, False, True)
        errors = raw.Square(entries.values - approximate)
        scale = left.count / raw.Cast(entries.count, DstT=dtypes.float32)
        own = raw.MatMul(solved, solved, transpose_a=True)
        everywhere = reduce_sum(errors) - reduce_sum(raw.Square(approximate)) + reduce_sum(own * right.gramian_copy)
        loss = self._unobserved * everywhere
        weight = convert(self._unobserved * float(left.count * right.count), dtype=dtypes.float32)
        if left.weights is not None:
            observed = _looked_up([entries.row_weights], entries.rows) * _looked_up(
                [entries.column_weights], entries.columns
            )
            loss = loss + reduce_sum(observed * errors)
            weight = weight + reduce_sum(observed) * scale
        regularization = convert(0.0, dtype=dtypes.float32)
        if self._regularization is not None:
            traces = _trace(own) * scale + _trace(right.gramian_copy)
            regularization = self._regularization * traces
        return loss * scale, regularization, weight


class _Entries:
    """The entries of an input, by the numbers that their rows and columns have in it."""

    row_weights: Any = None
    column_weights: Any = None

    def __init__(self, indices: Any, rows: Any, columns: Any, values: Any, count: Any):
        self.indices, self.rows, self.columns, self.values, self.count = indices, rows, columns, values, count


def _row_weights(side: _Side, ids: Any, weights: Any) -> Any:
    """Return a weight for each row of the input: the model's, or those given for a projection, one or one for each."""
    if weights is None:
        return _looked_up(side.weights_copy, ids)
    weights, count = raw.Cast(convert(weights), DstT=dtypes.float32), shape(ids)[0]
    with control_dependencies([assert_less_equal(rank(weights), 1)]):
        return cond_v1(raw.Equal(rank(weights), 0), lambda: ones([count]) * weights, lambda: weights)


def _looked_up(parts: Sequence[Any], ids: Any) -> Any:
    return embedding_lookup_v1(parts if len(parts) > 1 else parts[0], ids, "div")


def _trace(matrix: Any) -> Any:
    return reduce_sum(raw.MatrixDiagPart(matrix))
