"""How ragged shapes and tensors are broadcast: axes of length 1 are repeated along the rows of the other.

Axis by axis from the outermost: for every part of the result at that depth, the number of the part it is taken from (a
`_LayerBroadcaster`). Axes inside, which are dense, are broadcast as tensors are. Knows `dynamic_shape`; is imported by
what ops give for ragged tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import shape_arithmetic as arithmetic
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.tensor import RaggedTensor

CANNOT = "Cannot broadcast"


# --- one axis ---------------------------------------------------------------------------------------------------------


class LayerBroadcaster:
    """For each part at one depth of a broadcast tensor, the part of the tensor before that it repeats."""

    def __init__(self, gather_index: TensorLike) -> None:
        index = gather_index if isinstance(gather_index, Tensor) else convert(gather_index, dtypes.int64)
        if index.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"gather_index must be int64 or int32, got {index.dtype.name}")
        self._gather_index = index

    @staticmethod
    def from_gather_index(gather_index: TensorLike) -> LayerBroadcaster:
        """Return the broadcaster that takes these parts."""
        return LayerBroadcaster(gather_index)

    @staticmethod
    def first_layer(nrows_source: Tensor, nrows_target: Tensor) -> LayerBroadcaster:
        """Return how the outermost axis is broadcast."""
        check = assert_equal(
            raw.LogicalOr(raw.Equal(nrows_source, nrows_target), raw.Equal(nrows_source, _one(nrows_source))),
            True,
            message=f"{CANNOT}: the outermost axis",
        )
        index = raw.Minimum(_counted(nrows_target), nrows_source - _one(nrows_source))
        return LayerBroadcaster(arithmetic.after([check], index))

    @staticmethod
    def get_identity_broadcaster(nvals: TensorLike, dtype: DTypeLike | None = None) -> LayerBroadcaster:
        """Return the broadcaster that leaves all parts where they are."""
        return LayerBroadcaster(_counted(convert(nvals, None if dtype is None else dtypes.as_dtype(dtype))))

    @staticmethod
    def get_singleton_broadcaster(target_size: TensorLike) -> LayerBroadcaster:
        """Return the broadcaster that repeats one part."""
        return LayerBroadcaster(raw.ZerosLike(_counted(convert(target_size))))

    @property
    def gather_index(self) -> Tensor:
        """The number of the part that each part repeats."""
        return self._gather_index

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the numbers."""
        return self._gather_index.dtype

    def with_dtype(self, dtype: DTypeLike) -> LayerBroadcaster:
        """Return the same, counted in another integer type."""
        if self.dtype is dtypes.as_dtype(dtype):
            return self
        return LayerBroadcaster(raw.Cast(self._gather_index, DstT=dtypes.as_dtype(dtype)))

    def with_dependencies(self, checks: Sequence[Any]) -> LayerBroadcaster:
        """Return the same, which is there once assertions have run."""
        return LayerBroadcaster(arithmetic.after(checks, self._gather_index))

    def broadcast_tensor(self, tensor: TensorLike) -> Tensor:
        """Return the parts of a tensor, repeated."""
        return raw.GatherV2(tensor, self._gather_index, 0)

    def dest_nrows(self) -> Tensor:
        """Return how many parts there are in the end."""
        return raw.Size(self._gather_index, out_type=self.dtype)

    def broadcast_row_partition(self, rp: RowPartition) -> RowPartition:
        """Return a division into rows with the rows repeated."""
        length = rp.uniform_row_length()
        if length is None:
            return RowPartition.from_row_lengths(self.broadcast_tensor(rp.row_lengths()), validate=False)
        return _uniform_rows(length, self)

    def next_layer(self, original_rp: RowPartition, broadcast_rp: RowPartition) -> LayerBroadcaster:
        """Return how the axis inside is broadcast, whose rows before and after are given."""
        length, taken = original_rp.uniform_row_length(), self.broadcast_tensor(original_rp.row_lengths())
        lengths = broadcast_rp.row_lengths()
        offsets = broadcast_rp.offsets_in_rows()
        if length is not None:  # rows of one value each may be repeated; others must fit
            one = raw.Equal(length, _one(length))
            offsets = raw.SelectV2(one, raw.ZerosLike(offsets), offsets)
            taken = raw.SelectV2(one, lengths, taken)
        check = assert_equal(taken, lengths, message=f"{CANNOT}: rows have different lengths")
        starts = self.broadcast_tensor(original_rp.row_starts())
        index = raw.GatherV2(starts, broadcast_rp.value_rowids(), 0) + offsets
        return LayerBroadcaster(arithmetic.after([check], index))

    def __repr__(self) -> str:
        return f"<_LayerBroadcaster {self._gather_index!s}>"


def _one(like: Any) -> Any:
    return np.array(1, like.dtype.np)


def _counted(count: Any) -> Any:
    kind = count.dtype.np
    return raw.Range(np.array(0, kind), count, np.array(1, kind))


def _uniform_rows(length: Any, layer: LayerBroadcaster) -> RowPartition:
    """Return rows of one length, as many as a broadcaster gives."""
    known = layer.gather_index.shape.as_list()[0] if layer.gather_index.shape.rank else None
    rows = layer.dest_nrows() if known is None else known
    return RowPartition.from_uniform_row_length(length, nrows=rows, validate=False, dtype=layer.dtype)


# --- a whole shape ----------------------------------------------------------------------------------------------------


class Broadcaster:
    """How a tensor of one ragged shape becomes one of another."""

    def __init__(
        self,
        source_shape: DynamicRaggedShape,
        target_shape: DynamicRaggedShape,
        layer_broadcasters: Sequence[LayerBroadcaster],
        dtype: DTypeLike | None = None,
    ) -> None:
        for what, value in (("source_shape", source_shape), ("target_shape", target_shape)):
            if not isinstance(value, DynamicRaggedShape):
                raise TypeError(f"{what} is not a DynamicRaggedShape: {value!r}")
        if not isinstance(layer_broadcasters, (list, tuple)):
            raise TypeError(f"layer_broadcasters must be a list, got {layer_broadcasters!r}")
        for layer in layer_broadcasters:
            if not isinstance(layer, LayerBroadcaster):
                raise TypeError(f"Not a LayerBroadcaster in layer_broadcasters: {layer!r}")
        kind = source_shape.dtype if dtype is None else dtypes.as_dtype(dtype)
        self._dtype = kind
        self._source_shape, self._target_shape = source_shape.with_dtype(kind), target_shape.with_dtype(kind)
        self._layer_broadcasters = [
            layer if layer.dtype is kind else layer.with_dtype(kind) for layer in layer_broadcasters
        ]

    source_shape = property(lambda self: self._source_shape, doc="The shape before.")
    target_shape = property(lambda self: self._target_shape, doc="The shape after.")
    dtype = property(lambda self: self._dtype, doc="The type of the numbers.")

    def with_dtype(self, dtype: DTypeLike) -> Broadcaster:
        """Return the same, counted in another integer type."""
        return Broadcaster(self._source_shape, self._target_shape, self._layer_broadcasters, dtype)

    def broadcast_flat_values(self, rt: AnyTensor, inner_dimensions: bool = True) -> Tensor:
        """Return the flat values of the result; without `inner_dimensions` its dense axes are left as they are."""
        flat = rt.flat_values if isinstance(rt, RaggedTensor) else convert(rt)
        levels = max((self._source_shape.rank or 0) - (self._target_shape.inner_rank or 0), 0)
        source = self._source_shape._with_num_row_partitions(levels)
        if flat.shape.rank != source.inner_rank:
            flat = raw.Reshape(flat, source.inner_shape)
        if self._layer_broadcasters:
            flat = self._layer_broadcasters[-1].broadcast_tensor(flat)
        same = self._source_shape.rank and self._target_shape.inner_rank == 1 and self._layer_broadcasters
        if not inner_dimensions or same:
            return flat
        return raw.BroadcastTo(flat, raw.Cast(self._target_shape.inner_shape, DstT=dtypes.int32))

    def broadcast(self, rt: AnyTensor) -> AnyTensor:
        """Return the result of broadcasting a tensor."""
        return self._target_shape._add_row_partitions(self.broadcast_flat_values(rt))

    def __repr__(self) -> str:
        return (
            f"{{src_shape:{self._source_shape}, target_shape:{self._target_shape} layers: {self._layer_broadcasters}}}"
        )


def get_layer_broadcasters(
    zero_broadcaster: LayerBroadcaster, source_rps: Sequence[RowPartition], target_rps: Sequence[RowPartition]
) -> list[LayerBroadcaster]:
    """Return how the axes inside are broadcast one after the other, the outermost being given."""
    if not isinstance(zero_broadcaster, LayerBroadcaster):
        raise TypeError(f"Not a _LayerBroadcaster: {zero_broadcaster!r}")
    found = [zero_broadcaster]
    for source, target in zip(source_rps, target_rps, strict=True):
        found.append(found[-1].next_layer(source, target))
    return found


def get_broadcaster(source_shape: DynamicRaggedShape, target_shape: DynamicRaggedShape) -> Broadcaster:
    """Return how tensors of one shape become tensors of another."""
    if source_shape.dtype is not target_shape.dtype:
        raise ValueError("The source and target row_split dtypes should be equal")
    source_rank, rank = source_shape.rank, target_shape.rank
    if source_rank is None or rank is None:
        raise ValueError("Rank of source and target must be statically known")
    if source_rank > rank:
        raise ValueError("Cannot broadcast: rank of the source is greater than that of the target")
    if source_rank == 0:
        return Broadcaster(source_shape, target_shape, [])
    inner = rank - target_shape.num_row_partitions
    if source_rank < inner or not target_shape.num_row_partitions:
        source_shape._with_num_row_partitions(0)  # refused where it is ragged
        return Broadcaster(source_shape, target_shape, [])
    source = source_shape._with_num_row_partitions(source_rank - inner)
    padded = padded_partitions(source, rank - source_rank)
    first = LayerBroadcaster.first_layer(_rows(padded, source), target_shape._dimension(0))
    layers = get_layer_broadcasters(first, padded, target_shape.row_partitions)
    return Broadcaster(source_shape, target_shape, layers[rank - source_rank :])


def padded_partitions(shape: DynamicRaggedShape, more: int) -> list[RowPartition]:
    """Return the divisions of a shape behind as many axes of length 1."""
    kind, one = shape.dtype, RowPartition.from_uniform_row_length
    if not more:
        return list(shape.row_partitions)
    count = shape._dimension(0)
    ones = [one(1, 1, 1, validate=False, dtype=kind) for _ in range(more - 1)]
    return [*ones, one(count, count, 1, validate=False, dtype=kind), *shape.row_partitions]


def _rows(partitions: Sequence[RowPartition], shape: DynamicRaggedShape) -> Any:
    return partitions[0].nrows() if partitions else shape._dimension(0)


def get_identity_broadcaster(shape: DynamicRaggedShape) -> Broadcaster:
    """Return the broadcaster that leaves tensors of a shape as they are."""
    if shape.rank is None:
        raise ValueError("Shape must have a defined rank")
    ends = [shape._dimension(0)] if shape.rank else []
    ends += [rows.nvals() for rows in shape.row_partitions]
    return Broadcaster(shape, shape, [LayerBroadcaster.get_identity_broadcaster(n) for n in ends])


# --- two shapes -------------------------------------------------------------------------------------------------------


def broadcast_dynamic_shape(shape_x: DynamicRaggedShape, shape_y: DynamicRaggedShape) -> DynamicRaggedShape:
    """Return the shape that tensors of two shapes are broadcast to.

    >>> one, other = DynamicRaggedShape.from_lengths([2, (1, 3)]), DynamicRaggedShape.from_lengths([2, 1])
    >>> broadcast_dynamic_shape(one, other)
    <DynamicRaggedShape lengths=[2, (1, 3)] num_row_partitions=1>
    """
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, DynamicRaggedShape):
            raise TypeError(f"{name} must be a DynamicRaggedShape, got {shape!r}")
    return broadcast_dynamic_shape_extended(shape_x, shape_y)[0]


def broadcast_to(rt_input: AnyTensor, shape: DynamicRaggedShape) -> AnyTensor:
    """Return a tensor broadcast to a ragged shape.

    >>> broadcast_to([[7], [8]], DynamicRaggedShape.from_lengths([2, (1, 3)]))
    <tf.RaggedTensor [[7], [8, 8, 8]]>
    """
    if not isinstance(shape, DynamicRaggedShape):
        raise TypeError(f"shape must be a DynamicRaggedShape, got {shape!r}")
    rt_input = ragged_or_tensor(rt_input)
    own = DynamicRaggedShape.from_tensor(rt_input, None if isinstance(rt_input, RaggedTensor) else shape.dtype)
    return get_broadcaster(own, shape.with_dtype(own.dtype)).broadcast(rt_input)


def broadcast_dynamic_shape_extended(
    a: DynamicRaggedShape, b: DynamicRaggedShape
) -> tuple[DynamicRaggedShape, Broadcaster, Broadcaster]:
    """Return the shape that tensors of two shapes are broadcast to, and how each is."""
    if a.rank is None or b.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if a.row_partitions and b.row_partitions:
        if a.dtype is not b.dtype:
            raise ValueError("Dtypes don't match")
    elif a.dtype is not b.dtype:
        a, b = a.with_dtype(dtypes.int64), b.with_dtype(dtypes.int64)
    if same_rows(a, b):
        return a, get_identity_broadcaster(a), get_identity_broadcaster(b)
    if not a.row_partitions and not b.row_partitions:
        return _dense(a, b)
    if _fits_inside(a, b):
        return a, get_identity_broadcaster(a), Broadcaster(b, a, [])
    if _fits_inside(b, a):
        return b, Broadcaster(a, b, []), get_identity_broadcaster(b)
    return _by_layers(a, b)


def same_rows(a: DynamicRaggedShape, b: DynamicRaggedShape) -> bool:
    """Return whether two shapes are known to be one: the rows are the same tensors, the lengths inside are known."""
    if a is b:
        return True
    if len(a.row_partitions) != len(b.row_partitions):
        return False
    known = a._static_inner_shape
    if not known.is_fully_defined() or known.as_list() != _listed(b._static_inner_shape):
        return False
    return all(x.row_splits() is y.row_splits() for x, y in zip(a.row_partitions, b.row_partitions, strict=True))


def _listed(shape: TensorShape) -> list[Any] | None:
    return None if shape.rank is None else shape.as_list()


def _fits_inside(a: DynamicRaggedShape, b: DynamicRaggedShape) -> bool:
    """Return whether a dense shape is known to change nothing when it is broadcast to the axes inside another."""
    outer, inner = a._static_inner_shape.as_list(), b._static_inner_shape.as_list()
    if b.row_partitions or len(inner) >= max(len(outer), 1):
        return False
    pairs = zip(outer[len(outer) - len(inner) :], inner, strict=True)
    return all(n is not None and (n == 1 or n == m) for m, n in pairs)


def _dense(a: DynamicRaggedShape, b: DynamicRaggedShape) -> tuple[DynamicRaggedShape, Broadcaster, Broadcaster]:
    inner, static = broadcast_lengths(a.inner_shape, a._static_inner_shape, b.inner_shape, b._static_inner_shape)
    shape = DynamicRaggedShape([], inner, static_inner_shape=static)
    return shape, Broadcaster(a, shape, []), Broadcaster(b, shape, [])


def broadcast_lengths(a: Any, known_a: TensorShape, b: Any, known_b: TensorShape) -> tuple[Any, TensorShape]:
    """Return the lengths that dense axes are broadcast to, and what is known of them."""
    rank = max(known_a.rank, known_b.rank)
    x, y = ([1] * (rank - len(known)) + known for known in (known_a.as_list(), known_b.as_list()))
    static = [_length(m, n) for m, n in zip(x, y, strict=True)]
    if None not in static:
        return convert(np.array(static, a.dtype.np)), TensorShape(static)
    return raw.BroadcastArgs(a, b), TensorShape(static)


def _length(m: int | None, n: int | None) -> int | None:
    if m is not None and n is not None and m != n and 1 not in (m, n):
        raise ValueError(f"Cannot broadcast lengths {m} and {n}: they must be equal, or one of them 1")
    if m is None or n is None:
        known = n if m is None else m
        return None if known == 1 else known
    return n if m == 1 else m


def _by_layers(a: DynamicRaggedShape, b: DynamicRaggedShape) -> tuple[DynamicRaggedShape, Broadcaster, Broadcaster]:
    """Return the same, gone through axis by axis as far as any of the two is divided into rows."""
    inner = min(len(s._static_inner_shape) for s in (a, b) if s.num_row_partitions)
    rank = max(len(s._static_inner_shape) + s.num_row_partitions for s in (a, b))
    a, b = (s._with_num_row_partitions(s.rank - inner) if s.rank > inner else s for s in (a, b))  # type: ignore[operator]
    rows_a, rows_b = (_all_layers(s, rank, inner) for s in (a, b))
    layers_a, layers_b, rows = broadcast_partitions(rows_a, rows_b)
    parts = [_inside(s, inner) for s in (a, b)]
    lengths, static = broadcast_lengths(*parts[0], *parts[1])
    values = rows[-1].nvals()
    first = [rows[-1].static_nvals]
    whole = raw.ConcatV2([raw.ExpandDims(values, 0), lengths], 0)
    target = DynamicRaggedShape(rows, whole, static_inner_shape=TensorShape([*first, *static.as_list()]))
    return target, _broadcaster(a, target, layers_a), _broadcaster(b, target, layers_b)


def _all_layers(shape: DynamicRaggedShape, rank: int, inner: int) -> tuple[Any, list[RowPartition]]:
    """Return the length of the outermost axis and all divisions of a shape, behind axes of length 1 up to a rank."""
    if shape.rank >= inner:  # type: ignore[operator]
        rows = padded_partitions(shape, rank - shape.rank)  # type: ignore[operator]
        return _rows(rows, shape), rows
    ones = [RowPartition.from_uniform_row_length(1, 1, 1, validate=False, dtype=shape.dtype)] * (rank - inner)
    return convert(1, shape.dtype), ones


def _inside(shape: DynamicRaggedShape, inner: int) -> tuple[Any, TensorShape]:
    """Return the lengths of the axes behind those that are divided."""
    if shape.rank < inner:  # type: ignore[operator]
        return shape.inner_shape, shape._static_inner_shape
    return shape.inner_shape[1:], shape._static_inner_shape[1:]


def _broadcaster(source: DynamicRaggedShape, target: DynamicRaggedShape, layers: Sequence[Any]) -> Broadcaster:
    if source.rank < target.inner_rank:  # type: ignore[operator]
        return Broadcaster(source, target, [])
    return Broadcaster(source, target, layers[target.rank - source.rank :])  # type: ignore[operator]


def broadcast_partitions(
    a: tuple[Any, Sequence[RowPartition]], b: tuple[Any, Sequence[RowPartition]]
) -> tuple[list[LayerBroadcaster], list[LayerBroadcaster], list[RowPartition]]:
    """Return how the axes of two shapes are broadcast, and the divisions of what they are broadcast to."""
    first_a, first_b = first_layers(a[0], b[0])
    layers_a, layers_b, rows = [first_a], [first_b], []
    for mine, theirs in zip(a[1], b[1], strict=True):
        made, next_a, next_b = next_layers(layers_a[-1], layers_b[-1], mine, theirs)
        rows.append(made)
        layers_a.append(next_a)
        layers_b.append(next_b)
    return layers_a, layers_b, rows


def first_layers(a_0: Tensor, b_0: Tensor) -> tuple[LayerBroadcaster, LayerBroadcaster]:
    """Return how outermost axes of two lengths are broadcast."""
    target = _common_length(a_0, b_0)
    return LayerBroadcaster.first_layer(a_0, target), LayerBroadcaster.first_layer(b_0, target)


def _common_length(a: Any, b: Any) -> Any:
    x, y = (_known(n) for n in (a, b))
    if x is not None and y is not None:
        return b if x == 1 else a
    return raw.SelectV2(raw.Equal(a, _one(a)), b, a)


def _known(tensor: Any) -> int | None:
    value = tensor.constant_value()
    return None if value is None else int(value)


def next_layers(
    ac_0: LayerBroadcaster, bc_0: LayerBroadcaster, a_1: RowPartition, b_1: RowPartition
) -> tuple[RowPartition, LayerBroadcaster, LayerBroadcaster]:
    """Return the rows that two divisions are broadcast to, and how the values of each are."""
    for name, value in (("ac_0", ac_0), ("bc_0", bc_0)):
        if not isinstance(value, LayerBroadcaster):
            raise TypeError(f"{name} should be a _LayerBroadcaster, got {value!r}")
    for name, rows in (("a_1", a_1), ("b_1", b_1)):
        if not isinstance(rows, RowPartition):
            raise TypeError(f"{name} should be a RowPartition, got {rows!r}")
    if a_1.is_uniform() and b_1.is_uniform():
        target = _uniform_rows(_common_length(a_1.uniform_row_length(), b_1.uniform_row_length()), ac_0)
    else:  # rows that differ are not repeated: the result has their lengths
        target = bc_0.broadcast_row_partition(b_1) if a_1.is_uniform() else ac_0.broadcast_row_partition(a_1)
    return target, ac_0.next_layer(a_1, target), bc_0.next_layer(b_1, target)


# --- functions of two tensors -----------------------------------------------------------------------------------------


def ragged_binary_elementwise_op_impl(op: Callable[..., Any], x: AnyTensor, y: AnyTensor) -> AnyTensor:
    """Return a function of the elements of two tensors that are broadcast to each other."""
    x, y, shape = _broadcast_flat(x, y)
    return shape._add_row_partitions(op(x, y))


def ragged_binary_elementwise_assert_op_impl(op: Callable[..., Any], x: AnyTensor, y: AnyTensor) -> AnyTensor:
    """Return an assertion about the elements of two tensors that are broadcast to each other."""
    x, y, _ = _broadcast_flat(x, y)
    return op(x, y)


def _broadcast_flat(x: Any, y: Any) -> tuple[Any, Any, DynamicRaggedShape]:
    """Return flat values that fit each other, and the shape of what is computed from them."""
    kind = next((v.row_splits.dtype for v in (x, y) if isinstance(v, RaggedTensor)), dtypes.int64)
    a, b = (DynamicRaggedShape.from_tensor(v, None if isinstance(v, RaggedTensor) else kind) for v in (x, y))
    if a.dtype is not b.dtype:
        raise ValueError(f"Input RaggedTensors have mismatched row_splits dtypes: {a.dtype.name} and {b.dtype.name}")
    flat_x, flat_y = (v.flat_values if isinstance(v, RaggedTensor) else convert(v) for v in (x, y))
    if same_rows(a, b):
        return flat_x, flat_y, a
    if a.row_partitions and b.rank is not None and b.rank < (a.inner_rank or 0) and not b.row_partitions:
        return flat_x, flat_y, a  # within what is dense in the other: for the op itself to broadcast
    if b.row_partitions and a.rank is not None and a.rank < (b.inner_rank or 0) and not a.row_partitions:
        return flat_x, flat_y, b
    shape, to_x, to_y = broadcast_dynamic_shape_extended(a, b)
    return to_x.broadcast_flat_values(x, False), to_y.broadcast_flat_values(y, False), shape
