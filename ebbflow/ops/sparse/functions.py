"""`tf.sparse`: functions of sparse tensors.

Each takes and gives `SparseTensor`s and calls the ops of `sparse_layout` and `sparse_math` on their parts. The forms of
TensorFlow 1 (`sparse_reduce_sum(sp_input, axis, keep_dims)`, `sparse_add(a, b, thresh)`, …) stand beside TF 2's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import is_static
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor, SparseTensorValue, is_sparse
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Axis, DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import ones, zeros, zeros_like
from ebbflow.ops.arrays.shaping import expand_dims as expand_dense
from ebbflow.ops.arrays.shaping import shape as dense_shape
from ebbflow.ops.declare import raw, show
from ebbflow.ops.elementwise.binary import real_of
from ebbflow.ops.reduce.reductions import one_of
from ebbflow.ops.sparse.layout import joined_shape


def as_sparse(value: Any) -> SparseTensor:
    """Return a SparseTensor, or the value of one, as a SparseTensor."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def convert_to_tensor_or_sparse_tensor(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> AnyTensor:
    """Return a sparse tensor (or the value of one) as a SparseTensor, anything else as a tensor."""
    if is_sparse(value):
        sp = as_sparse(value)
        if dtype is not None and as_dtype(dtype) is not sp.dtype:
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {as_dtype(dtype).name}, Actual: {sp.dtype.name}")
        return sp
    return convert(value, None if dtype is None else as_dtype(dtype), name=name)


def _as_sparse_list(values: Any) -> list[SparseTensor]:
    if not isinstance(values, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(is_sparse(v) for v in values):
        raise TypeError("All inputs must be SparseTensors.")
    return [as_sparse(v) for v in values]


def _like(sp: SparseTensor, indices: Any, values: Any, shape: Any = None) -> SparseTensor:
    """Return a sparse tensor from new parts; without a new shape it has that of `sp`, as far as that is known."""
    made = SparseTensor(indices, values, sp.dense_shape if shape is None else shape)
    if shape is None:
        made.set_shape(sp.shape)
    return made


# --- to and from dense ------------------------------------------------------------------------------------------------


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Return the elements of a dense tensor that are not zero (of strings: not empty).

    >>> from_dense([[0, 5], [6, 0]]).indices.numpy().tolist()
    [[0, 1], [1, 0]]
    """
    with name_scope(name, "dense_to_sparse", [tensor]):
        tensor = convert(tensor)
        empty = zeros_like(tensor)
        places = raw.Where(raw.NotEqual(tensor, empty))
        values = raw.GatherNd(tensor, places)
        return SparseTensor(places, values, dense_shape(tensor, dtypes.int64))


def to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a sparse tensor as a dense one, with `default_value` (0, or "") where nothing stands.

    >>> to_dense(SparseTensor([[0, 1]], [5], [1, 3])).numpy().tolist()
    [[0, 5, 0]]
    """
    sp = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], sp.dtype)
    made = raw.SparseToDense(
        sp.indices, sp.dense_shape, sp.values, default_value, validate_indices=validate_indices, name=name
    )
    if made._dims is None or None in made._dims:
        made.set_shape(sp.shape)
    return made


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: ShapeLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return a dense tensor of `output_shape` that has `sparse_values` at `sparse_indices`.

    >>> sparse_to_dense([1], [3], 7).numpy().tolist()
    [0, 7, 0]
    """
    return raw.SparseToDense(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name
    )


def to_indicator(sp_input: SparseTensor, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """Return a bool tensor that says which numbers below `vocab_size` stand in each row of a sparse tensor.

    >>> to_indicator(SparseTensor([[0, 0], [0, 1]], [2, 0], [1, 2]), 3).numpy().tolist()
    [[True, False, True]]
    """
    sp = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp.values]) as scope:
        there = raw.Fill(raw.Shape(sp.values), True)
        rows = raw.Cast(sp.values, DstT=dtypes.int64)
        places = raw.ConcatV2([sp.indices[:, :-1], expand_dense(rows, 1)], 1)
        shape = raw.ConcatV2([sp.dense_shape[:-1], raw.Pack([raw.Cast(vocab_size, DstT=dtypes.int64)])], 0)
        made = reorder(SparseTensor(places, there, shape))
        return to_dense(made, default_value=False, validate_indices=False, name=scope or None)


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """Return a sparse matrix with ones on its diagonal.

    >>> to_dense(eye(2)).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = raw.Cast(convert(num_rows, None, dtypes.int64, name="num_rows"), DstT=dtypes.int64)
        columns = rows
        if num_columns is not None:
            columns = raw.Cast(convert(num_columns, None, dtypes.int64, name="num_columns"), DstT=dtypes.int64)
        along = raw.Range(*(convert(n, dtypes.int64) for n in (0, raw.Minimum(rows, columns), 1)))
        return SparseTensor(
            raw.Pack([along, along], axis=1), ones(raw.Shape(along), as_dtype(dtype)), raw.Pack([rows, columns])
        )


# --- places -----------------------------------------------------------------------------------------------------------


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the same sparse tensor with its places in row-major order.

    >>> reorder(SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])).values.numpy().tolist()
    [2, 1]
    """
    sp = as_sparse(sp_input)
    return _like(sp, *raw.SparseReorder(sp.indices, sp.values, sp.dense_shape, name=name))


def reshape(sp_input: SparseTensor, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor in another shape; one length may be -1 and is then found.

    >>> reshape(SparseTensor([[1, 0]], [7], [2, 3]), [3, -1]).indices.numpy().tolist()
    [[1, 1]]
    """
    sp = as_sparse(sp_input)
    wanted = raw.Cast(shape, DstT=dtypes.int64) if isinstance(shape, Tensor) else convert(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp.values]) as scope:
        indices, lengths = raw.SparseReshape(sp.indices, sp.dense_shape, wanted, name=scope)
        made = SparseTensor(indices, raw.Identity(sp.values), lengths)
    asked, whole = wanted.constant_value(), sp.shape.num_elements()
    if asked is not None and -1 not in asked:
        made.set_shape(asked.tolist())
        if whole is not None and whole != int(np.prod(asked)):
            raise ValueError(
                f"Cannot reshape a tensor with {whole} elements to shape {show(tuple(asked.tolist()))} "
                f"({int(np.prod(asked))} elements)."
            )
    return made


def transpose(sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor with its axes in the order `perm` (reversed when none is given).

    >>> transpose(SparseTensor([[0, 2]], [7], [2, 3])).indices.numpy().tolist()
    [[2, 0]]
    """
    sp = as_sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp.values]):
        rank = sp.shape.rank
        if perm is None:
            if rank is not None:
                perm = np.arange(rank - 1, -1, -1, dtype=np.int32)
            else:
                count = raw.Size(sp.dense_shape)
                perm = raw.Sub(raw.Sub(count, 1), raw.Range(0, count, 1))
        places = raw.GatherV2(sp.indices, perm, 1)
        lengths = raw.GatherV2(sp.dense_shape, perm, 0)
        return reorder(SparseTensor(places, sp.values, lengths))


def expand_dims(sp_input: SparseTensor, axis: int | Tensor | None = None, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor with an axis of length 1 put in at `axis` (-1: at the end).

    >>> expand_dims(SparseTensor([[2]], [7], [3]), 0).dense_shape.numpy().tolist()
    [1, 3]
    """
    sp = as_sparse(sp_input)
    rank = sp.shape.rank
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp.values]):
        if isinstance(axis, Tensor):
            known = axis.constant_value()
            if known is None:
                raise TypeError("the axis of tf.sparse.expand_dims must be known when the graph is built")
            axis = int(known)
        if rank is None:
            rank = sp.indices._dims[1] if sp.indices._dims is not None else None
        if rank is None:
            raise ValueError("tf.sparse.expand_dims needs a sparse tensor of known rank")
        if not -rank - 1 <= axis <= rank:
            raise ValueError(f"axis = {axis} is not in [{-rank - 1}, {rank}]")
        at = axis if axis >= 0 else axis + rank + 1
        column = raw.ZerosLike(sp.indices[:, :1]) if rank else zeros([raw.Size(sp.values), 1], dtypes.int64)
        places = raw.ConcatV2([sp.indices[:, :at], column, sp.indices[:, at:]], 1)
        one = convert([1], dtypes.int64)
        return SparseTensor(places, sp.values, raw.ConcatV2([sp.dense_shape[:at], one, sp.dense_shape[at:]], 0))


def slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """Return the part of a sparse tensor that starts at `start` and is `size` long, cut where the whole ends.

    >>> slice(SparseTensor([[0, 2], [1, 1]], [7, 8], [2, 3]), [0, 1], [2, 1]).values.numpy().tolist()
    [8]
    """
    sp = as_sparse(sp_input)
    start, size = convert(start, dtypes.int64), convert(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp.values]) as scope:
        return SparseTensor(*raw.SparseSlice(sp.indices, sp.values, sp.dense_shape, start, size, name=scope or None))


def concat(
    axis: int, sp_inputs: Sequence[SparseTensor], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Return sparse tensors one behind the other along `axis`; `expand_nonconcat_dims` lets other axes differ.

    >>> concat(0, [SparseTensor([[1]], [7], [2]), SparseTensor([[0]], [8], [1])]).indices.numpy().tolist()
    [[1], [2]]
    """
    inputs = _as_sparse_list(sp_inputs)
    if len(inputs) == 1:
        return inputs[0]
    shapes = [sp.dense_shape for sp in inputs]
    if expand_nonconcat_dims:
        largest = raw.Max(raw.ConcatV2([raw.Reshape(s, [1, -1]) for s in shapes], 0), [0])
        at = axis if axis >= 0 else axis + int(largest._dims[0])
        shapes = [raw.ConcatV2([largest[:at], s[at : at + 1], largest[at + 1 :]], 0) for s in shapes]
    parts = raw.SparseConcat(
        [sp.indices for sp in inputs], [sp.values for sp in inputs], shapes, concat_dim=axis, name=name
    )
    made = SparseTensor(*parts)
    if context.graph_scopes:
        made.set_shape(joined_shape([sp.shape.dims for sp in inputs], axis, expand_nonconcat_dims))
    return made


def concat_v1(
    axis: int,
    sp_inputs: Sequence[SparseTensor],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """`concat` with TensorFlow 1's arguments."""
    expand = one_of(
        "expand_nonconcat_dims", expand_nonconcat_dims, "expand_nonconcat_dim", expand_nonconcat_dim or None
    )
    return concat(concat_dim if concat_dim is not None else axis, sp_inputs, bool(expand), name)


def split(
    sp_input: SparseTensor | None = None, num_split: int | None = None, axis: Axis = None, name: str | None = None
) -> list[SparseTensor]:
    """Return a sparse tensor in `num_split` pieces along `axis`; the first may be one longer than the last.

    >>> [sp.shape[1] for sp in split(SparseTensor([[0, 4]], [7], [1, 5]), 2, 1)]
    [3, 2]
    """
    if num_split is None or axis is None:
        raise ValueError("num_split and axis are required")
    sp = as_sparse(sp_input)
    found = raw.SparseSplit(
        convert(axis, dtypes.int64), sp.indices, sp.values, sp.dense_shape, num_split=num_split, name=name
    )
    return [SparseTensor(*parts) for parts in zip(*found, strict=True)]


def split_v1(
    keyword_required: object = None,
    sp_input: SparseTensor | None = None,
    num_split: int | None = None,
    axis: Axis = None,
    name: str | None = None,
    split_dim: Axis = None,
) -> list[SparseTensor]:
    """`split` with TensorFlow 1's arguments, all by keyword."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None or num_split is None:
        raise ValueError("sp_input and num_split are required")
    return split(sp_input, num_split, one_of("axis", axis, "split_dim", split_dim), name)


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Return the elements of a sparse tensor for which `to_retain` holds.

    >>> retain(SparseTensor([[0], [2]], [7, 8], [3]), [False, True]).values.numpy().tolist()
    [8]
    """
    sp = as_sparse(sp_input)
    chosen = convert(to_retain)
    kept, have = chosen._dims, sp.values._dims
    if kept is not None and have is not None and is_static(kept) and is_static(have) and kept != have:
        raise ValueError(f"Dimensions {have[0]} and {kept[0]} are not compatible")
    where = raw.Reshape(raw.Where(chosen), [-1])
    return _like(sp, raw.GatherV2(sp.indices, where, 0), raw.GatherV2(sp.values, where, 0))


def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Return IndexedSlices without the rows that `mask_indices` names.

    >>> from ebbflow.core.slices import IndexedSlices
    >>> mask(IndexedSlices(convert([1, 2]), convert([4, 7])), [7]).indices.numpy().tolist()
    [4]
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]):
        kept, where = raw.ListDiff(a.indices, convert(mask_indices, a.indices.dtype))
        return type(a)(raw.GatherV2(a.values, where, 0), kept, a.dense_shape)


def reset_shape(sp_input: SparseTensor, new_shape: ShapeLike = None) -> SparseTensor:
    """Return the same elements in a tight shape, or in `new_shape`, which must have room for the old one.

    >>> reset_shape(SparseTensor([[0, 1]], [7], [9, 9])).dense_shape.numpy().tolist()
    [1, 2]
    """
    sp = as_sparse(sp_input)
    indices, values, lengths = (raw.Identity(part) for part in sp._flatten())
    if new_shape is None:
        low = raw.Max(indices, [0])
        wanted = raw.Maximum(raw.AddV2(low, raw.OnesLike(low)), convert(0, dtypes.int64))
        return SparseTensor(indices, values, wanted)
    wanted = raw.Cast(new_shape, DstT=dtypes.int64)
    told = wanted.constant_value()
    if sp.shape.rank is not None and wanted._dims is not None and wanted._dims[0] not in (None, sp.shape.rank):
        raise ValueError(f"Shapes must be of one rank: {sp.shape} and {wanted._dims[0]} lengths")
    if told is not None and sp.shape.is_fully_defined():
        if len(told) != sp.shape.rank:
            raise ValueError(f"Shape {sp.shape} and new shape {told.tolist()} differ in rank")
        if any(new < old for new, old in zip(told.tolist(), sp.shape.as_list(), strict=True)):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({told.tolist()}), sp_input.shape ({sp.shape})."
            )
        return SparseTensor(indices, values, wanted)
    graph = context.current_graph() if not context.executing_eagerly() else None
    fits = raw.All(raw.LessEqual(lengths, wanted), [0])
    checked = raw.Assert(fits, ["Requested new_shape has to be at least sp_input.shape", lengths, wanted])
    if graph is None:
        return SparseTensor(indices, values, wanted)
    with graph.control_dependencies([checked]):
        return SparseTensor(indices, values, raw.Identity(wanted))


def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Return a sparse tensor in which rows without elements have `default_value` first, and which rows those were.

    >>> filled, empty = fill_empty_rows(SparseTensor([[1, 0]], [7], [2, 3]), 0)
    >>> filled.values.numpy().tolist(), empty.numpy().tolist()
    ([0, 7], [True, False])
    """
    sp = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp.values]):
        default = convert(default_value, sp.values.dtype)
        found = raw.SparseFillEmptyRows(sp.indices, sp.values, sp.dense_shape, default)
        return SparseTensor(found[0], found[1], sp.dense_shape), found[2]


# --- arithmetic -------------------------------------------------------------------------------------------------------


def sparse_dense_matmul(
    sp_a: SparseTensor | TensorLike,
    b: SparseTensor | TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the product of a sparse matrix and a dense one, in either order; each may be taken adjoint.

    >>> sparse_dense_matmul(SparseTensor([[0, 1]], [3.0], [2, 2]), [[1.0], [2.0]]).numpy().tolist()
    [[6.0], [0.0]]
    """
    if is_sparse(b):
        if is_sparse(sp_a):
            raise TypeError("One of the two matrices must be dense: write tf.sparse.to_dense(b)")
        product = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return raw.ConjugateTranspose(product, [1, 0], name=name or "transpose")
    sp = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp.values, b]):
        b = convert(b, name="b")
        return raw.SparseTensorDenseMatMul(
            sp.indices, sp.values, sp.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


def add(a: TensorLike, b: TensorLike, threshold: TensorLike = 0) -> AnyTensor:
    """Return the sum of two tensors of which at least one is sparse; sums smaller than `threshold` are left out.

    >>> add(SparseTensor([[0]], [1.0], [2]), [10.0, 20.0]).numpy().tolist()
    [11.0, 20.0]
    """
    if not any(isinstance(x, (SparseTensor, SparseTensorValue)) for x in (a, b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if is_sparse(a) and is_sparse(b):
        a, b = as_sparse(a), as_sparse(b)
        real = a.dtype.real_dtype if a.dtype.is_complex else a.dtype
        limit = convert(threshold, real, name="threshold" if isinstance(threshold, (int, float)) else None)
        parts = raw.SparseAdd(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit)
        made = SparseTensor(*parts)
        made.set_shape(a.shape.merge_with(b.shape))
        return made
    sp, dense = (as_sparse(a), b) if is_sparse(a) else (as_sparse(b), a)
    return raw.SparseTensorDenseAdd(sp.indices, sp.values, sp.dense_shape, dense)


def add_v1(
    a: TensorLike, b: TensorLike, threshold: TensorLike | None = None, thresh: TensorLike | None = None
) -> AnyTensor:
    """`add` with TensorFlow 1's arguments."""
    threshold = one_of("threshold", threshold, "thresh", thresh)
    return add(a, b, 0 if threshold is None else threshold)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the larger of two sparse tensors, place by place; where one has nothing, it counts as 0."""
    return _extreme(raw.SparseSparseMaximum, "SparseSparseMaximum", sp_a, sp_b, name)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the smaller of two sparse tensors, place by place; where one has nothing, it counts as 0."""
    return _extreme(raw.SparseSparseMinimum, "SparseSparseMinimum", sp_a, sp_b, name)


def _extreme(op: Any, default: str, sp_a: Any, sp_b: Any, name: Any) -> SparseTensor:
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    with name_scope(name, default, [a.values, b.values]) as scope:
        parts = op(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, name=scope or None)
    return _like(a, *parts)


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the softmax of each row over the elements that are there.

    >>> softmax(SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])).values.numpy().tolist()
    [0.5, 0.5]
    """
    sp = as_sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp.values]):
        return _like(sp, sp.indices, raw.SparseSoftmax(sp.indices, sp.values, sp.dense_shape))


def _axes(sp: SparseTensor, axis: Any) -> Any:
    if axis is not None:
        return convert(axis, dtypes.int32, name="reduction_axes")
    return raw.Range(0, raw.Size(sp.dense_shape), 1)


def reduce_sum(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return the sum of a sparse tensor over `axis` (all axes where it is None), dense or sparse.

    >>> reduce_sum(SparseTensor([[0, 1], [0, 2]], [7, 8], [1, 3]), 1).numpy().tolist()
    [15]
    """
    return _reduce("SparseReduceSum", sp_input, axis, keepdims, output_is_sparse, name)


def reduce_max(
    sp_input: SparseTensor,
    axis: Axis = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return the largest of a sparse tensor's elements over `axis` (all axes where it is None), dense or sparse.

    >>> reduce_max(SparseTensor([[0, 1], [0, 2]], [7, 8], [1, 3]), 1).numpy().tolist()
    [8]
    """
    return _reduce("SparseReduceMax", sp_input, axis, keepdims, output_is_sparse, name)


def _reduce(kind: str, sp_input: Any, axis: Any, keepdims: Any, sparse: bool, name: Any) -> Any:
    sp = as_sparse(sp_input)
    op = getattr(raw, f"{kind}Sparse" if sparse else kind)
    with name_scope(name, op.name, [sp.values]) as scope:
        axes = _axes(sp, axis)
        found = op(sp.indices, sp.values, sp.dense_shape, axes, keep_dims=bool(keepdims), name=scope or None)
    return SparseTensor(*found) if sparse else found


def _v1_reduction(kind: str, sparse: bool, doc: str) -> Any:
    def function(
        sp_input: SparseTensor,
        axis: Axis = None,
        keepdims: bool | None = None,
        reduction_axes: Axis = None,
        keep_dims: bool | None = None,
    ) -> Any:
        keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        axis = one_of("axis", axis, "reduction_axes", reduction_axes)
        return _reduce(kind, sp_input, axis, keepdims, sparse, None)

    function.__doc__ = doc
    return function


reduce_sum_v1 = _v1_reduction("SparseReduceSum", False, "`reduce_sum` with TensorFlow 1's arguments.")
reduce_sum_sparse = _v1_reduction("SparseReduceSum", True, "Return the sum over `axis` as a sparse tensor.")
reduce_max_v1 = _v1_reduction("SparseReduceMax", False, "`reduce_max` with TensorFlow 1's arguments.")
reduce_max_sparse = _v1_reduction("SparseReduceMax", True, "Return the largest over `axis` as a sparse tensor.")


# --- operators --------------------------------------------------------------------------------------------------------


def _cell_by_cell(op_name: str, default: str) -> Any:
    def operator(sp: SparseTensor, dense: Any) -> SparseTensor:
        with name_scope(None, default, [sp.values]) as scope:
            y = convert(dense, sp.dtype.base_dtype, name="y")
            values, real = sp.values, real_of(sp.dtype) if default == "truediv" else None
            if real is not None:
                values, y = raw.Cast(values, DstT=real), raw.Cast(y, DstT=real)
            found = getattr(raw, op_name)(sp.indices, values, sp.dense_shape, y, name=scope or None)
        return _like(sp, sp.indices, found)

    return operator


SparseTensor.__mul__ = SparseTensor.__rmul__ = _cell_by_cell("SparseDenseCwiseMul", "mul")  # type: ignore[method-assign]
SparseTensor.__truediv__ = _cell_by_cell("SparseDenseCwiseDiv", "truediv")  # type: ignore[method-assign]
SparseTensor.__div__ = _cell_by_cell("SparseDenseCwiseDiv", "div")  # type: ignore[method-assign]
