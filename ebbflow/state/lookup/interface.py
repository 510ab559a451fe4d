"""What all lookup tables of a program share: dtypes, a handle, lookup, being initialized with the others of a graph.

In a graph a table is made by a node and filled by another one, which `tables_initializer` runs; eagerly both happen
when the object is made. Which ops these are, the kinds of tables (`static`, `mutable`) know.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import DTypeLike, Effect, Nested, TensorLike
from ebbflow.functions.trackable_resource import TrackableResource
from ebbflow.graph import collections, scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.ragged.tensor import RaggedTensor


class LookupInterface(TrackableResource):
    """A table that can be looked up: from keys of one dtype to values of one dtype."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        super().__init__()
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    def _left_out(self, what: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__}.{what}: a class derived from LookupInterface says what it is; "
            "tf.lookup.StaticHashTable and tf.lookup.experimental.MutableHashTable are tables that do"
        )

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str | None:
        """The table's name in its graph; None where it was made eagerly."""
        raise self._left_out("name")

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, as an int64 scalar."""
        raise self._left_out("size")

    def lookup(self, keys: TensorLike, name: str | None = None) -> Nested:
        """Return the values of keys."""
        raise self._left_out("lookup")

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


def name_of(handle: Any) -> str | None:
    """Return the name of a table in its graph: that of the node behind its handle."""
    return None if getattr(handle, "_array", None) is not None else handle.op.name


def on_values(keys: Any, look: Any) -> Any:
    """Return what `look` gives for the values of keys that may be sparse or ragged, arranged as they are."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, look(keys.values), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(look(keys.flat_values))
    return look(keys)


def shaped(values: Any, keys: Any, of_key: int = 0, of_value: Any = ()) -> Any:
    """Say of values looked up in a graph what their keys tell about their shape."""
    dims = keys._dims
    if dims is not None and of_value is not None and not isinstance(values, EagerTensor):
        values.set_shape([*dims[: len(dims) - of_key], *of_value])
    return values


def as_keys(keys: Any, dtype: DType) -> Any:
    """Return keys as a tensor (sparse and ragged ones as they are); those of another dtype are refused."""
    if not isinstance(keys, (SparseTensor, RaggedTensor, Tensor)):
        keys = convert(keys, dtype)
    if keys.dtype.base_dtype is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype!r}, received: {keys.dtype!r}")
    return keys


def remember_initializer(operation: Any) -> Any:
    """Have `tables_initializer` run an operation of a graph; return it."""
    if operation is not None and not context.executing_eagerly():
        collections.add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
    return operation


def tables_initializer(name: str = "init_all_tables") -> Effect:
    """Return the operation that fills all tables of the graph."""
    listed = collections.get_collection(GraphKeys.TABLE_INITIALIZERS)
    return scopes.group(*listed, name=name) if listed else scopes.no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Effect:
    """Return the operation that fills all tables of the graph; the name from before `tables_initializer`."""
    return tables_initializer(name)


def check_table_dtypes(table: Any, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
    """Refuse dtypes that are not the table's."""
    if as_dtype(key_dtype).base_dtype is not table.key_dtype:
        raise TypeError(f"Invalid key dtype for table, expected {table.key_dtype} but got {key_dtype}.")
    if as_dtype(value_dtype).base_dtype is not table.value_dtype:
        raise TypeError(f"Invalid value dtype for table, expected {table.value_dtype} but got {value_dtype}.")
