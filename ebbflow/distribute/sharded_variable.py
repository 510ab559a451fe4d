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
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.partition import dynamic_partition
from ebbflow.ops.arrays.sorting import searchsorted
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.embedding import embedding_lookup
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_def import SaveSliceInfo
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY

if TYPE_CHECKING:
    from ebbflow.state.base import VariableAggregation, VariableSynchronization


class ShardedVariable(PartitionedVariable, Trackable):
    """One variable, in parts along its first axis."""

    def __init__(self, variables: Sequence[Any], name: str = "ShardedVariable"):
        parts = list(variables)
        first = parts[0]
        for part in parts:
            if part.dtype != first.dtype:
                raise ValueError(f"All elements in `variables` must have the same dtype; got {part.dtype}")
            if part.shape[1:] != first.shape[1:]:
                raise ValueError(f"All elements in `variables` must have the same shapes but for the first axis; got "
                                 f"{[v.shape.as_list() for v in parts]}")  # fmt: skip
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

    # --- reading rows -------------------------------------------------------------------------------------------------

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the rows that `indices` name."""
        return embedding_lookup(self, indices, name=name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the entries at N-d `indices`."""
        return raw.GatherNd(self.as_tensor(), indices, name=name)

    # --- files --------------------------------------------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self.as_tensor()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return self.assign(restored_tensors[VARIABLE_VALUE_KEY])

    def __repr__(self) -> str:
        return f"ShardedVariable(name={self._name!r}, shape={TensorShape(self._shape)}, parts={len(self.variables)})"


def _scattering(method: str) -> Callable[..., Any]:
    def scatter(self: ShardedVariable, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter(method, sparse_delta, use_locking, name)

    scatter.__name__ = method
    scatter.__doc__ = f"Do what `{method}` of a variable does, in the parts that have the rows."
    return scatter


for _method in "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_sub scatter_update".split():  # noqa: SIM905
    setattr(ShardedVariable, _method, _scattering(_method))
