"""Variables in parts, each kept by a parameter server.

As a tensor the whole is the parts one after the other along their first axis; lookups and updates of rows touch only
the parts that have them. A checkpoint keeps the whole, so it can be read into other numbers of parts, or into none.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.spec import type_spec_from_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.partition import dynamic_partition
from ebbflow.ops.arrays.sorting import searchsorted
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.embedding import embedding_lookup
from ebbflow.state.base import Variable
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_def import SaveSliceInfo
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY, SaveType

if TYPE_CHECKING:
    from ebbflow.state.base import VariableAggregation, VariableSynchronization


class ShardedVariable(PartitionedVariable, Trackable, CompositeTensor):
    """One variable, in parts along its first axis."""

    def __init__(self, variables: Sequence[Any], name: str = "ShardedVariable"):
        parts = list(variables) if isinstance(variables, (list, tuple)) else []
        if not parts or not all(isinstance(part, Variable) for part in parts):
            raise TypeError(f"Argument `variables` should be a non-empty list of `tf.Variable`s; got {variables!r}")
        if any(part._get_save_slice_info() is not None for part in parts):
            raise ValueError("`SaveSliceInfo` should not be set on the elements of `variables`: they are parts already")
        self._put_together(parts, name)

    def _put_together(self, parts: list[Any], name: str) -> None:
        first = parts[0]
        for part in parts:
            if part.dtype != first.dtype:
                raise ValueError(f"All elements in `variables` must have the same dtype; got {part.dtype}")
            if part.shape[1:] != first.shape[1:]:
                raise ValueError("All elements in `variables` must have the same shapes except for the first axis; "
                                 f"got {[v.shape.as_list() for v in parts]}")  # fmt: skip
        rest = first.shape.as_list()[1:]
        rows = [part.shape.as_list()[0] for part in parts]
        whole, at = [sum(rows), *rest], 0
        for part, count in zip(parts, rows, strict=True):
            offset = [at, *[0] * len(rest)]
            part._set_save_slice_info(SaveSliceInfo(name, whole, offset, [count, *rest]))
            at += count
        super().__init__(name, whole, first.dtype, parts, [len(parts), *[1] * len(rest)])
        self._ends = np.cumsum(rows)
        for part in parts:
            part._sharded_container = weakref.ref(self)

    @property
    def _type_spec(self) -> ShardedVariableSpec:
        return ShardedVariableSpec(*(type_spec_from_value(part) for part in self._variable_list))

    def __tf_tracing_type__(self, context: Any) -> ShardedVariableSpec:
        return ShardedVariableSpec(*(part.__tf_tracing_type__(context) for part in self._variable_list))

    @property
    def variables(self) -> list[Any]:
        """The parts."""
        return self._variable_list

    _variables = variables

    @property
    def _unique_id(self) -> str:
        return self._variable_list[0]._unique_id.replace("part_0", "sharded")

    @property
    def trainable(self) -> bool:
        return self._variable_list[0].trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._variable_list[0].synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._variable_list[0].aggregation

    def value(self) -> Tensor:
        """Return the whole as a tensor."""
        return self.as_tensor()

    read_value = value

    def _as_graph_element(self) -> Tensor:
        return self.as_tensor()

    def numpy(self) -> np.ndarray:
        """Return the whole as an array."""
        return np.concatenate([part.numpy() for part in self._variable_list])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype=dtype)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return whether all parts have values."""
        return raw.All(raw.Pack([part.is_initialized() for part in self._variable_list]), [0], name=name)

    # --- writing ------------------------------------------------------------------------------------------------------

    def _each(self, method: str, value: Any, use_locking: bool, name: str | None, read_value: bool) -> Any:
        if not isinstance(value, PartitionedVariable) or len(value._variable_list) != len(self._variable_list):
            value = convert(value, self._dtype)  # a list is the whole, too, not a value for each part
        super()._each(method, value, use_locking, name, read_value)
        return self if read_value else None

    def _rows_of_parts(self, slices: IndexedSlices) -> Any:
        """Yield each part with the updates of its rows."""
        indices = convert(slices.indices)
        ids = raw.Cast(indices, DstT=dtypes.int64)
        owners = searchsorted(convert(self._ends, dtypes.int64), ids, side="right")
        begins = convert([0, *self._ends[:-1].tolist()], dtypes.int64)
        local = ids - raw.GatherV2(begins, owners, 0)
        count = len(self._variable_list)
        rows = dynamic_partition(local, owners, count)
        values = dynamic_partition(convert(slices.values), owners, count)
        for part, own, updates in zip(self._variable_list, rows, values, strict=True):
            yield part, IndexedSlices(updates, own)

    def _scatter(self, method: str, sparse_delta: Any, use_locking: bool, name: str | None) -> Any:
        for part, own in self._rows_of_parts(sparse_delta):
            getattr(part, method)(own, name=name)
        return self

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Set the rows that indices name."""
        return self._scatter("scatter_update", sparse_delta, use_locking, name)

    # --- reading rows -------------------------------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> Any:
        """Return a part of the whole; rows are read of the parts that have them, and of no others."""
        if isinstance(item, Tensor) and item.dtype == dtypes.bool:
            return self.as_tensor()[item]
        first, *rest = item if isinstance(item, tuple) else (item,)
        ends = (first.start, first.stop, first.step) if isinstance(first, slice) else (first,)
        if any(isinstance(end, Tensor) for end in ends):
            raise TypeError("ShardedVariable: indexing with Tensors is not allowed: use tf.gather or tf.slice")
        if isinstance(first, (int, np.integer)):
            row = self._row(int(first))
            part = int(np.searchsorted(self._ends, row, side="right"))
            return self._variable_list[part][(row - self._begin(part), *rest)]
        if not isinstance(first, slice):
            return self.as_tensor()[item]
        found = self._rows_of(range(*first.indices(int(self._ends[-1]))))
        rows = [self._variable_list[part][(own, *rest)] for part, own in found]
        return raw.ConcatV2(rows, 0) if len(rows) > 1 else rows[0]

    def _row(self, index: int | np.integer) -> int:
        count = int(self._ends[-1])
        if not -count <= index < count:
            raise IndexError(f"ShardedVariable: index {index} is out of bounds for axis 0 with {count} rows")
        return int(index) % count

    def _begin(self, part: int) -> int:
        return int(self._ends[part - 1]) if part else 0

    def _rows_of(self, rows: range) -> list[tuple[int, slice]]:
        """Return the parts that have some rows, in the order of these, each with a slice of its own rows."""
        found: list[tuple[int, slice]] = []
        for part in range(len(self._ends)) if rows.step > 0 else reversed(range(len(self._ends))):
            begin, end = self._begin(part), int(self._ends[part])
            own = _crossing(rows, begin, end)
            if own:
                last = own[-1] - begin + (1 if rows.step > 0 else -1)
                found.append((part, slice(own[0] - begin, last if last >= 0 else None, rows.step)))
        return found or [(0, slice(0, 0))]

    def __eq__(self, other: object) -> Any:
        """Return where the whole equals something, element by element, as a variable does."""
        return self.as_tensor() == (other.as_tensor() if isinstance(other, PartitionedVariable) else other)

    __hash__ = object.__hash__

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the rows that `indices` name."""
        return embedding_lookup(self, indices, name=name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the entries at N-d `indices`."""
        return raw.GatherNd(self.as_tensor(), indices, name=name)

    # --- files --------------------------------------------------------------------------------------------------------

    def _trackable_children(self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any) -> Any:
        """Return the parts for a SavedModel, whose functions read them; a checkpoint has the whole."""
        own = super()._trackable_children(save_type, cache, **kwargs)
        if save_type is SaveType.CHECKPOINT:
            return own
        return {**own, **{f"_part_{i}": part for i, part in enumerate(self._variable_list)}}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self.as_tensor()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return self.assign(restored_tensors[VARIABLE_VALUE_KEY])

    def __repr__(self) -> str:
        return f"ShardedVariable(name={self._name!r}, shape={TensorShape(self._shape)}, parts={len(self.variables)})"


def _crossing(rows: range, begin: int, end: int) -> range:
    """Return those of some rows that are between two of them."""
    ahead = rows if rows.step > 0 else rows[::-1]
    first = max(0, -(-(begin - ahead.start) // ahead.step))
    last = max(first, -(-(end - ahead.start) // ahead.step))
    own = ahead[first:last]
    return own if rows.step > 0 else own[::-1]


class ShardedVariableSpec(TypeSpec):
    """The type of a variable in parts: the type of each."""

    __slots__ = ("_variable_specs",)
    _holds_variables = True

    def __init__(self, *variable_specs: Any):
        self._variable_specs = tuple(variable_specs)

    @property
    def value_type(self) -> type:
        return ShardedVariable

    @property
    def _component_specs(self) -> Any:
        return self._variable_specs

    def _to_components(self, value: Any) -> Any:
        return tuple(value.variables)

    def _from_components(self, components: Any) -> ShardedVariable:
        made = ShardedVariable.__new__(ShardedVariable)
        made._put_together(list(components), "ShardedVariable")
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShardedVariableSpec) and self._variable_specs == other._variable_specs

    def __hash__(self) -> int:
        return hash(self._variable_specs)

    def __repr__(self) -> str:
        return f"ShardedVariableSpec({', '.join(map(repr, self._variable_specs))})"


def _scattering(method: str) -> Callable[..., Any]:
    def scatter(self: ShardedVariable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(method, sparse_delta, use_locking, name)

    scatter.__name__ = method
    scatter.__doc__ = f"Do what `{method}` of a variable does, in the parts that have the rows."
    return scatter


for _method in "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_sub scatter_update".split():  # noqa: SIM905
    setattr(ShardedVariable, _method, _scattering(_method))
