"""Tables that change: `tf.lookup.experimental.MutableHashTable` and `DenseHashTable`."""

from __future__ import annotations

import itertools
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_shape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, TensorLike
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.state.lookup.interface import LookupInterface, as_keys, name_of, on_values, shaped

_numbers = itertools.count()


class ChangingTable(LookupInterface):
    """What both kinds of changing tables can do."""

    _LEGACY_SAVEABLE_NAME = "table"
    _default_value: Any
    _name: str
    _table_name: str | None

    def _made(self, checkpoint: bool) -> None:
        """Make the table, outside of any function that is being traced."""
        self._shared_name = f"table_{next(_numbers)}" if context.executing_eagerly() else None
        with init_scope():
            if context.executing_eagerly() and self._shared_name is None:
                self._shared_name = f"table_{next(_numbers)}"
            self._resource_handle = self._create_resource()
        full = name_of(self._resource_handle)
        self._table_name = None if full is None else full.split("/")[-1]
        self._checkpointed = checkpoint

    def _naming(self) -> dict[str, Any]:
        if self._shared_name is None:
            return {"use_node_name_sharing": True, "name": self._name}
        return {"shared_name": self._shared_name, "name": self._name}

    @property
    def name(self) -> str | None:
        """The table's name in its graph; None where it was made eagerly."""
        return self._table_name

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, as an int64 scalar."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw.LookupTableSizeV2(self.resource_handle)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Give keys new values; return the operation that does."""
        with name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            keys = convert(keys, self._key_dtype, name="keys")
            values = convert(values, self._value_dtype, name="values")
            return raw.LookupTableInsertV2(self.resource_handle, keys, values)

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Forget keys; return the operation that does. Keys that are not there are no error."""
        if not isinstance(keys, Tensor):
            keys = convert(keys, self._key_dtype)
        if keys.dtype is not self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype!r}, received: {keys.dtype!r}")
        with name_scope(name, f"{self.name}_lookup_table_remove", [self.resource_handle, keys]):
            return raw.LookupTableRemoveV2(self.resource_handle, keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and all values."""
        with name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]):
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
            return keys, values

    # what checkpoints keep of the table

    def _serialize_to_tensors(self) -> dict[str, Tensor]:
        keys, values = self.export()
        return {"-keys": keys, "-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return raw.LookupTableImportV2(self.resource_handle, restored_tensors["-keys"], restored_tensors["-values"])


class MutableHashTable(ChangingTable):
    """A table that may change at any time.

    >>> table = MutableHashTable("string", "int64", default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.lookup(convert(["b", "z"])).numpy().tolist()
    [2, -1]
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert(default_value, self._value_dtype)
        self._value_shape = self._default_value.shape
        self._name, self._is_anonymous = name, experimental_is_anonymous
        self._made(checkpoint)

    def _create_resource(self) -> Any:
        types = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        if self._value_shape.rank == 0:
            if self._is_anonymous:
                return raw.AnonymousMutableHashTable(**types, name=self._name)
            return raw.MutableHashTableV2(**types, **self._naming())
        types["value_shape"] = self._value_shape
        if self._is_anonymous:
            return raw.AnonymousMutableHashTableOfTensors(**types, name=self._name)
        return raw.MutableHashTableOfTensorsV2(**types, **self._naming())

    def lookup(  # type: ignore[override]
        self, keys: TensorLike, dynamic_default_values: TensorLike | None = None, name: str | None = None
    ) -> Tensor:
        """Return the values of keys; of those that are not there, the default, or one of `dynamic_default_values`."""
        if isinstance(dynamic_default_values, str):  # TF 1 had `name` in this place
            dynamic_default_values, name = None, dynamic_default_values
        composite = isinstance(keys, (SparseTensor, RaggedTensor))
        with name_scope(name, f"{self.name}_lookup_table_find", [self.resource_handle]):
            keys = as_keys(keys, self._key_dtype) if composite else convert(keys, self._key_dtype, name="keys")
            default = self._default_value if dynamic_default_values is None else dynamic_default_values
            of_value = self._default_value._dims
            return on_values(
                keys,
                lambda plain: shaped(raw.LookupTableFindV2(self.resource_handle, plain, default), plain, 0, of_value),
            )


class DenseHashTable(ChangingTable):
    """A table that may change, with vectors as keys where `empty_key` is one; two keys are set apart and never used."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert(default_value, self._value_dtype, name="default_value")
        self._value_shape = self._default_value.shape
        self._buckets = initial_num_buckets
        self._keys_apart = empty_key, deleted_key
        self._name, self._is_anonymous = name, experimental_is_anonymous
        self._made(checkpoint)

    def _create_resource(self) -> Any:
        empty, deleted = (
            convert(key, self._key_dtype, name=what)
            for key, what in zip(self._keys_apart, ("empty_key", "deleted_key"), strict=True)
        )
        attrs: dict[str, Any] = {"value_dtype": self._value_dtype, "value_shape": as_shape(self._value_shape)}
        if self._buckets is not None:
            attrs["initial_num_buckets"] = self._buckets
        if self._is_anonymous:
            return raw.AnonymousMutableDenseHashTable(empty, deleted, **attrs, name=self._name)
        return raw.MutableDenseHashTableV2(empty, deleted, **attrs, **self._naming())

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Return the values of keys, or the default."""
        with name_scope(name, f"{self.name}_lookup_table_find", [self.resource_handle]):
            keys = convert(keys, self._key_dtype, name="keys")
            return raw.LookupTableFindV2(self.resource_handle, keys, self._default_value)

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Effect:
        """Give keys new values; return the operation that does."""
        return self.insert(keys, values, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> Effect:
        """Forget keys; return the operation that does."""
        return self.remove(keys, name)
