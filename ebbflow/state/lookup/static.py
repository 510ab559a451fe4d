"""Tables that are filled once: `tf.lookup.StaticHashTable`, and those with buckets for what they do not know."""

from __future__ import annotations

import collections
import uuid
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Effect, InitializerLike, TensorLike
from ebbflow.graph import scopes
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.state.lookup.initializers import TableInitializerBase
from ebbflow.state.lookup.interface import LookupInterface, as_keys, name_of, on_values, shaped


class InitializableLookupTableBase(LookupInterface):
    """A table with an initializer and a value for keys that it does not have."""

    def __init__(self, default_value: TensorLike, initializer: TableInitializerBase):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert(default_value, self._value_dtype)
        if not self._default_value.shape.is_compatible_with([]):
            raise ValueError(f"Shapes {self._default_value.shape} and () are not compatible")
        self._initializer = self._track_trackable(initializer, "_initializer")
        with init_scope():
            self._resource_handle = self._create_resource()
            with scopes.control_dependencies(None):
                self._init_op = self._initialize()

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that the table does not have."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, as an int64 scalar."""
        with name_scope(name, f"{self.name}_Size", (self.resource_handle,)):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: TensorLike, name: str | None = None) -> AnyTensor:
        """Return the values of keys, which may be sparse or ragged."""
        keys = as_keys(keys, self._key_dtype)
        with name_scope(name, f"{self.name}_Lookup", (self.resource_handle,)):
            return on_values(
                keys,
                lambda plain: shaped(raw.LookupTableFindV2(self.resource_handle, plain, self._default_value), plain),
            )


class StaticHashTable(InitializableLookupTableBase):
    """A table that is filled when it is made, and never changes."""

    def __init__(
        self,
        initializer: Any,
        default_value: AnyTensor,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        self._name = name or "hash_table"
        self._is_anonymous = experimental_is_anonymous
        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._table_name: str | None = None
        super().__init__(default_value, initializer)

    def _create_resource(self) -> Any:
        if self._is_anonymous:
            handle = raw.AnonymousHashTable(key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._name)
        else:
            handle = raw.HashTableV2(
                shared_name=self._shared_name, key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._name
            )
        full = name_of(handle)
        self._table_name = None if full is None else full.split("/")[-1]
        return handle

    @property
    def name(self) -> str | None:
        """The table's name in its graph."""
        return self._table_name

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and all values."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        if not context.executing_eagerly():
            keys.set_shape([None])
            values.set_shape([None])
        return keys, values


class StaticHashTableV1(StaticHashTable):
    """The table as TF 1 has it: its graph holds the operation that fills it."""

    @property
    def initializer(self) -> Effect:
        """The operation that fills the table."""
        return self._init_op


class HashTable(StaticHashTableV1):
    """`tf.contrib.lookup.HashTable`, and what Estimators' inner code calls so."""

    def __init__(
        self,
        initializer: InitializerLike,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ):
        self._given_name = shared_name
        super().__init__(initializer, default_value, name)

    def _create_resource(self) -> Any:
        if self._given_name is not None:
            self._shared_name = self._given_name
        return super()._create_resource()

    @property
    def init(self) -> Effect:
        """The operation that fills the table."""
        return self._init_op


# --- buckets for unknown keys -----------------------------------------------------------------------------------------


class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """How unknown keys are told apart: by which hash, with which key."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash with a key of two numbers, which keeps others from choosing keys that fall into one bucket."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        """Make the spec from two numbers."""
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {len(key)}")
        if not isinstance(key[0], int) or not isinstance(key[1], int):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets(LookupInterface):
    """A table from keys to ids, with ids behind its own for keys that it does not have."""

    def __init__(
        self,
        table: AnyTensor,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ):
        if name:
            name = name.rstrip("/")
        if table is not None:
            _check_id_table(table)
            key_dtype = table.key_dtype if key_dtype is None else as_dtype(key_dtype)
            _check_key_dtype(table.key_dtype, key_dtype)
            table_name, value_dtype = table.name, dtypes.int64
        else:
            if num_oov_buckets <= 0:
                raise ValueError("`oov_buckets` must be > 0 if no `table` is supplied.")
            key_dtype, table_name, value_dtype = as_dtype(key_dtype or dtypes.string), None, dtypes.int64
        if not (key_dtype.is_integer or key_dtype is dtypes.string):
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, but got {key_dtype!r}.")
        super().__init__(key_dtype, value_dtype)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher_spec)}.")
        self._hasher_spec = hasher_spec
        self._table_name = name or table_name or "hash_bucket"
        self._named = name if name is not None or table is None else table_name

    @property
    def initializer(self) -> Effect:
        """The operation that fills the table."""
        return self._table._init_op if self._table is not None else scopes.no_op()

    @property
    def init(self) -> Effect:
        """The operation that fills the table."""
        return self.initializer

    def _create_resource(self) -> Any:
        return self._table._create_resource() if self._table is not None else None

    def _initialize(self) -> Any:
        return self._table._initialize() if self._table is not None else None

    @property
    def resource_handle(self) -> AnyTensor:
        """The handle of the table inside, or None where there is none."""
        return self._table.resource_handle if self._table is not None else None

    @property
    def name(self) -> str | None:
        """The table's name in its graph."""
        return self._table_name if not context.executing_eagerly() else self._named

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of ids, buckets included."""
        with name_scope(name, f"{self.name}_Size"):
            inside = self._table.size() if self._table is not None else convert(0, dtypes.int64)
            return inside + self._num_oov_buckets

    def lookup(self, keys: TensorLike, name: str | None = None) -> AnyTensor:
        """Return the ids of keys, which may be sparse or ragged."""
        keys = as_keys(keys, self._key_dtype)
        if self._num_oov_buckets == 0 and self._table is not None:
            return on_values(keys, lambda plain: self._table.lookup(self._inner(plain), name))
        with name_scope(name, f"{self.name}_Lookup"):
            return on_values(keys, self._ids)

    def _inner(self, keys: Any) -> Any:
        """Return keys in the dtype of the table inside."""
        wanted = self._table.key_dtype
        return raw.Cast(keys, DstT=wanted) if keys.dtype is not wanted else keys

    def _ids(self, keys: Any) -> Any:
        texts = keys if keys.dtype is dtypes.string else raw.AsString(keys)
        buckets = self._bucket_of(texts)
        if self._table is None:
            return buckets
        ids = self._table.lookup(self._inner(keys))
        buckets = raw.AddV2(buckets, self._table.size(), name="Add")
        known = raw.NotEqual(ids, self._table.default_value)
        return raw.SelectV2(known, ids, buckets)

    def _bucket_of(self, texts: Any) -> Any:
        spec, count = self._hasher_spec, self._num_oov_buckets
        if spec.hasher == "fasthash":
            return raw.StringToHashBucketFast(texts, num_buckets=count, name="hash_bucket")
        if spec.hasher == "legacy":
            return raw.StringToHashBucket(texts, num_buckets=count, name="hash_bucket")
        if spec.hasher == "stronghash":
            return raw.StringToHashBucketStrong(texts, num_buckets=count, key=list(spec.key), name="hash_bucket")
        raise ValueError(
            f"Found unknown hasher {spec.hasher} in `hasher_spec`, use 'fasthash' or 'stronghash' instead."
        )


def _check_id_table(table: Any) -> None:
    if table.key_dtype.base_dtype not in (dtypes.int64, dtypes.string):
        raise TypeError(f"Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got {table.key_dtype!r}.")
    if table.value_dtype.base_dtype is not dtypes.int64:
        raise TypeError(f"Invalid `value_dtype`: expected int64 but got {table.value_dtype!r}.")


def _check_key_dtype(inner: DType, outer: DType) -> None:
    if inner.is_integer != outer.is_integer:
        raise TypeError(
            f"Invalid `key_dtype`, expected {'integer' if inner.is_integer else 'non-integer'} but got {outer!r}."
        )


class StaticVocabularyTable(IdTableWithHashBuckets):
    """A table from words (or numbers) to ids, in which unknown ones get ids behind those of the known ones."""

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if name:
            name = name.rstrip("/")
        key_dtype = lookup_key_dtype
        if initializer is not None:
            _check_id_table(initializer)
            key_dtype = initializer.key_dtype if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
            if initializer.key_dtype.is_integer != key_dtype.is_integer:
                raise TypeError(
                    f"Invalid `key_dtype`, expected {'integer' if initializer.key_dtype.is_integer else 'non-integer'} "
                    f"but got {lookup_key_dtype!r}."
                )
        super().__init__(
            self._inside(initializer, name, experimental_is_anonymous),
            num_oov_buckets, FastHashSpec, name, key_dtype,
        )  # fmt: skip
        if initializer is not None:
            self._track_trackable(initializer, "_initializer")

    def _inside(self, initializer: Any, name: str | None, anonymous: bool) -> Any:
        if initializer is None:
            return None
        return StaticHashTable(initializer, -1, name, anonymous)


class StaticVocabularyTableV1(StaticVocabularyTable):
    """The vocabulary as TF 1 has it: its graph holds the operation that fills it."""

    def _inside(self, initializer: Any, name: str | None, anonymous: bool) -> Any:
        return None if initializer is None else StaticHashTableV1(initializer, -1, name)
