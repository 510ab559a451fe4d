"""The ops of lookup tables: making one, filling it, looking up, changing, exporting.

A table is a resource like a variable: found by its shared name among what a session holds, or, made eagerly, held by
those who have its handle. TF 1's first ops passed a reference instead of a handle; one row declares both forms.
No gradient flows through a table.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, scalar, show
from ebbflow.ops.lookup.files import read_pairs
from ebbflow.ops.lookup.table import DenseTable, MutableTable, StaticTable, Table
from ebbflow.ops.shape_rules import agreed, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import find_or_make

_eager_tables: weakref.WeakValueDictionary[Any, Table] = weakref.WeakValueDictionary()
_NAMED = 'container: string = ""; shared_name: string = ""; use_node_name_sharing: bool = false; '
_TYPES = "key_dtype: type; value_dtype: type"
_SHAPED = f"{_TYPES}; value_shape: shape = []"
_DENSE = f"{_SHAPED}; initial_num_buckets: int = 131072; max_load_factor: float = 0.800000011920929"

# --- making -----------------------------------------------------------------------------------------------------------


def _shared(container: str, shared_name: str, run: Any, make: Callable[[str], Table]) -> np.ndarray:
    """Return the handle of the table of this name, made on first use."""
    node = run.node
    name = shared_name or (node.name if node is not None else "")
    if not name:
        return boxed(make("anonymous"))
    if node is None:
        table = _eager_tables.get((container, name))
        if table is None:
            table = _eager_tables.setdefault((container, name), make(name))
        return boxed(table)
    return boxed(find_or_make((container, name, "table"), run, lambda: make(name)))


def _alike(handle: np.ndarray, key_dtype: Any, value_dtype: Any) -> np.ndarray:
    """Refuse a table of this name that has other dtypes."""
    table = held(handle)
    if table.key_dtype is not key_dtype or table.value_dtype is not value_dtype:
        raise invalid(
            f"Conflicting key/value dtypes {key_dtype.name}->{value_dtype.name} with "
            f"{table.key_dtype.name}-{table.value_dtype.name} for table {table.name}"
        )
    return handle


_VALUES = {"int32": "float64 float32 int32 string", "int64": "float64 float32 int32 int64 string bool variant",
           "string": "bool float64 float32 int32 int64 string resource"}  # fmt: skip
"""The dtypes of values that tables have for each dtype of keys."""


def _check_dtypes(key_dtype: Any, value_dtype: Any) -> None:
    if value_dtype.name not in _VALUES.get(key_dtype.name, "").split():
        raise errors.NotFoundError(
            None, None, f"no table has keys of {key_dtype.name} and values of {value_dtype.name}"
        )


def _plain_kernel(kind: type[Table]) -> Callable[..., Any]:
    def kernel(xp: Any, *, container: str, shared_name: str, key_dtype: Any, value_dtype: Any, run: Any) -> Any:
        _check_dtypes(key_dtype, value_dtype)
        handle = _shared(container, shared_name, run, lambda name: kind(name, key_dtype, value_dtype))
        return _alike(handle, key_dtype, value_dtype)

    return kernel


def _shaped_kernel(
    xp: Any, *, container: str, shared_name: str, key_dtype: Any, value_dtype: Any, value_shape: Dims, run: Any
) -> Any:
    _check_dtypes(key_dtype, value_dtype)
    dims = _vector_or_scalar(value_shape)
    handle = _shared(container, shared_name, run, lambda name: MutableTable(name, key_dtype, value_dtype, dims))
    return _alike(handle, key_dtype, value_dtype)


def _vector_or_scalar(value_shape: Dims) -> tuple[int, ...]:
    dims = tuple(value_shape or ())
    if len(dims) > 1 or None in dims:
        raise invalid(f"Default value must be a vector, got shape {show(dims)}")
    return dims  # type: ignore[return-value]


def _dense_table(name: str, empty: Any, deleted: Any, attrs: tuple[Any, ...]) -> DenseTable:
    key_dtype, value_dtype, value_shape, buckets, load = attrs
    _check_dtypes(key_dtype, value_dtype)
    if deleted is not None and empty.shape != deleted.shape:
        raise invalid(
            f"Empty and deleted keys must have same shape, got shapes: {show(empty.shape)} and {show(deleted.shape)}"
        )
    if empty.ndim > 1:
        raise invalid(f"Empty key must be a scalar or a vector, got shape {show(empty.shape)}")
    if deleted is not None and np.array_equal(empty, deleted):
        raise invalid("Empty and deleted keys cannot be equal")
    if not 0 < load < 1:
        raise invalid(f"max_load_factor must be between 0 and 1, got: {load}")
    if buckets < 4 or buckets & (buckets - 1):
        raise invalid(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
    return DenseTable(name, value_dtype, tuple(value_shape or ()), empty, deleted, key_dtype, buckets, load)


HashTable = op(f"HashTable() -> (table_handle:Ref(string)) | {_NAMED}{_TYPES} | stateful")
HashTableV2 = op(f"HashTableV2() -> (table_handle:resource) | {_NAMED}{_TYPES} | stateful")
MutableHashTable = op(f"MutableHashTable() -> (table_handle:Ref(string)) | {_NAMED}{_TYPES} | stateful")
MutableHashTableV2 = op(f"MutableHashTableV2() -> (table_handle:resource) | {_NAMED}{_TYPES} | stateful")
MutableHashTableOfTensors = op(
    f"MutableHashTableOfTensors() -> (table_handle:Ref(string)) | {_NAMED}{_SHAPED} | stateful"
)
MutableHashTableOfTensorsV2 = op(
    f"MutableHashTableOfTensorsV2() -> (table_handle:resource) | {_NAMED}{_SHAPED} | stateful"
)
MutableDenseHashTable = op(
    f"MutableDenseHashTable(empty_key:key_dtype) -> (table_handle:Ref(string)) | {_NAMED}{_DENSE} | stateful"
)
MutableDenseHashTableV2 = op(
    "MutableDenseHashTableV2(empty_key:key_dtype, deleted_key:key_dtype) -> (table_handle:resource) | "
    f"{_NAMED}{_DENSE} | stateful"
)
AnonymousHashTable = op(f"AnonymousHashTable() -> (table_handle:resource) | {_TYPES} | stateful")
AnonymousMutableHashTable = op(f"AnonymousMutableHashTable() -> (table_handle:resource) | {_TYPES} | stateful")
AnonymousMutableHashTableOfTensors = op(
    f"AnonymousMutableHashTableOfTensors() -> (table_handle:resource) | {_SHAPED} | stateful"
)
AnonymousMutableDenseHashTable = op(
    "AnonymousMutableDenseHashTable(empty_key:key_dtype, deleted_key:key_dtype) -> (table_handle:resource) | "
    f"{_DENSE} | stateful"
)

for _op in (HashTableV2, MutableHashTableV2, MutableHashTableOfTensorsV2, MutableDenseHashTableV2, AnonymousHashTable,
            AnonymousMutableHashTable, AnonymousMutableHashTableOfTensors, AnonymousMutableDenseHashTable):  # fmt: skip
    _op.shape(scalar)
    _op.gradient(FLAT)
for _op in (HashTable, MutableHashTable, MutableHashTableOfTensors, MutableDenseHashTable):
    _op.shape(lambda *keys: (2,))
    _op.gradient(FLAT)
for _op in (HashTable, HashTableV2):
    _op.kernel(_plain_kernel(StaticTable))
for _op in (MutableHashTable, MutableHashTableV2):
    _op.kernel(_plain_kernel(MutableTable))
for _op in (MutableHashTableOfTensors, MutableHashTableOfTensorsV2):
    _op.kernel(_shaped_kernel)


@MutableDenseHashTable.kernel
def _(
    xp, empty_key, *, container, shared_name, key_dtype, value_dtype, value_shape, initial_num_buckets,
    max_load_factor, run,
):  # fmt: skip
    attrs = key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor
    return _shared(container, shared_name, run, lambda name: _dense_table(name, empty_key, None, attrs))


@MutableDenseHashTableV2.kernel
def _(
    xp, empty_key, deleted_key, *, container, shared_name, key_dtype, value_dtype, value_shape, initial_num_buckets,
    max_load_factor, run,
):  # fmt: skip
    attrs = key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor
    handle = _shared(container, shared_name, run, lambda name: _dense_table(name, empty_key, deleted_key, attrs))
    return _alike(handle, key_dtype, value_dtype)


@AnonymousHashTable.kernel
def _(xp, *, key_dtype, value_dtype):
    _check_dtypes(key_dtype, value_dtype)
    return boxed(StaticTable("anonymous", key_dtype, value_dtype))


@AnonymousMutableHashTable.kernel
def _(xp, *, key_dtype, value_dtype):
    return boxed(MutableTable("anonymous", key_dtype, value_dtype))


@AnonymousMutableHashTableOfTensors.kernel
def _(xp, *, key_dtype, value_dtype, value_shape):
    return boxed(MutableTable("anonymous", key_dtype, value_dtype, _vector_or_scalar(value_shape)))


@AnonymousMutableDenseHashTable.kernel
def _(xp, empty_key, deleted_key, *, key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor):
    attrs = key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor
    return boxed(_dense_table("anonymous", empty_key, deleted_key, attrs))


# --- using ------------------------------------------------------------------------------------------------------------


def table_of(handle: np.ndarray) -> Table:
    """Return the table that a handle stands for."""
    found = held(handle)
    if not isinstance(found, Table):
        raise invalid(f"table_handle is not of a lookup table, but of {type(found).__name__}")
    return found


def _typed(handle: np.ndarray, key: Any, value: Any) -> Table:
    table = table_of(handle)
    if table.key_dtype is not key or (value is not None and table.value_dtype is not value):
        gives = value.name if value is not None else table.value_dtype.name
        raise invalid(
            f"Signature mismatch, have: resource, {key.name}->{gives} expected: resource, "
            f"{table.key_dtype.name}->{table.value_dtype.name}"
        )
    return table


def _facts(handle: Known) -> tuple[Any, Any] | None:
    """Return the dims of one key and one value of the table behind a handle, where they are known."""
    source = handle._source
    array = source if isinstance(source, np.ndarray) else getattr(source, "_array", None)
    if array is not None:
        table = held(array)
        return (tuple(table.key_dims), table.value_dims) if isinstance(table, Table) else None
    node = getattr(source, "op", None)
    while node is not None and node.type in ("Placeholder", "Identity"):
        node = _outside(node)
    if node is None or "HashTable" not in node.type:
        return None
    keys = node._inputs[0]._dims if node._inputs else ()
    values = node._attrs.get("value_shape", ())
    return None if keys is None or values is None else (keys, values)


def _outside(node: Any) -> Any:
    """Return the node that a captured argument of a function's body, or an Identity, stands for."""
    if node.type == "Identity":
        return node._inputs[0].op
    for outside, inside in getattr(node.graph, "captures", ()):
        if inside.op is node:
            return getattr(outside, "op", None) if getattr(outside, "_array", None) is None else None
    return None


def _found_dims(table_handle: Known, keys: Known, default_value: Known) -> Dims:
    facts = _facts(table_handle)
    if facts is None or keys.dims is None:
        return None
    key_dims, value_dims = facts
    lead = keys.dims[: len(keys.dims) - len(key_dims)]
    return (*lead, *value_dims)


def _find(xp: Any, table_handle: Any, keys: Any, default_value: Any, *, Tin: Any, Tout: Any) -> Any:
    return _typed(table_handle, Tin, Tout).find(keys, default_value)


def _insert(xp: Any, table_handle: Any, keys: Any, values: Any, *, Tin: Any, Tout: Any) -> tuple[()]:
    _typed(table_handle, Tin, Tout).insert(keys, values)
    return ()


def _import(xp: Any, table_handle: Any, keys: Any, values: Any, *, Tin: Any, Tout: Any) -> tuple[()]:
    _typed(table_handle, Tin, Tout).replace(keys, values)
    return ()


def _initialize(xp: Any, table_handle: Any, keys: Any, values: Any, *, Tkey: Any, Tval: Any) -> tuple[()]:
    table = _typed(table_handle, Tkey, Tval)
    if not isinstance(table, StaticTable):
        raise invalid(f"Table {table.name} cannot be initialized: it takes insertions")
    if keys.ndim != 1 or keys.shape != values.shape:
        raise invalid(f"Keys and values must be vectors of one length, got {show(keys.shape)} and {show(values.shape)}")
    table.replace(keys, values)
    return ()


def _initialize_from_file(
    xp: Any, table_handle: Any, filename: Any, *, key_index: int, value_index: int, vocab_size: int, delimiter: str,
    offset: int,
) -> tuple[()]:  # fmt: skip
    table = table_of(table_handle)
    if filename.size != 1:
        raise invalid(f"filename should be a single string, but got {filename.size} elements")
    path = filename.reshape(-1)[0].decode()
    if not path:
        raise invalid("filename cannot be empty.")
    if len(delimiter) != 1:
        raise invalid(f"delimiter must be only 1 char, got {delimiter!r}")
    with table.lock:
        if not getattr(table, "initialized", False):
            pairs = read_pairs(
                path, table.key_dtype, table.value_dtype, key_index, value_index, vocab_size, delimiter, offset
            )
            table.replace(*pairs)
    return ()


def _remove(xp: Any, table_handle: Any, keys: Any, *, Tin: Any) -> tuple[()]:
    _typed(table_handle, Tin, None).remove(keys)
    return ()


def _export(xp: Any, table_handle: Any, *, Tkeys: Any, Tvalues: Any) -> Any:
    return _typed(table_handle, Tkeys, Tvalues).export()


def _size(xp: Any, table_handle: Any) -> Any:
    return np.array(table_of(table_handle).size(), np.int64)


def _pairs_shape(table_handle: Known, keys: Known, values: Known) -> list[Dims]:
    return []


def _import_shape(table_handle: Known, keys: Known, values: Known) -> list[Dims]:
    ranked_at_least(keys, 1)
    ranked_at_least(values, 1)
    return []


def _vectors_shape(table_handle: Known, keys: Known, values: Known) -> list[Dims]:
    if keys.dims is not None and len(keys.dims) != 1:
        raise errors.StaticShapeError(f"Shape must be rank 1 but is rank {len(keys.dims)} for keys")
    agreed(keys.dims, values.dims)
    return []


def _both(name: str, args: str, results: str, attrs: str, shape: Any, kernel: Any) -> tuple[Op, Op]:
    """Declare an op for references, and its second version for handles."""
    declared = []
    for suffix, handle, flags in (("", "Ref(string)", ""), ("V2", "resource", " | stateful")):
        text = f"{name}{suffix}(table_handle:{handle}{args}) -> ({results})"
        text += f" | {attrs}{flags}" if attrs else flags
        declared.append(op(text, shape=shape, kernel=kernel, gradient=FLAT))
    return declared[0], declared[1]


_IO = "Tin: type; Tout: type"
LookupTableFind, LookupTableFindV2 = _both(
    "LookupTableFind", ", keys:Tin, default_value:Tout", "values:Tout", _IO, _found_dims, _find
)
LookupTableInsert, LookupTableInsertV2 = _both(
    "LookupTableInsert", ", keys:Tin, values:Tout", "", _IO, _pairs_shape, _insert
)
LookupTableImport, LookupTableImportV2 = _both(
    "LookupTableImport", ", keys:Tin, values:Tout", "", _IO, _import_shape, _import
)
LookupTableExport, LookupTableExportV2 = _both(
    "LookupTableExport", "", "keys:Tkeys, values:Tvalues", "Tkeys: type; Tvalues: type", lambda table: [None] * 2,
    _export,
)  # fmt: skip
LookupTableSize, LookupTableSizeV2 = _both("LookupTableSize", "", "size:int64", "", scalar, _size)
InitializeTable, InitializeTableV2 = _both(
    "InitializeTable", ", keys:Tkey, values:Tval", "", "Tkey: type; Tval: type", _vectors_shape, _initialize
)
InitializeTableFromTextFile, InitializeTableFromTextFileV2 = _both(
    "InitializeTableFromTextFile",
    ", filename:string",
    "",
    'key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = "\\t"; '
    "offset: int = 0",
    lambda table_handle, filename: [],
    _initialize_from_file,
)
LookupTableRemoveV2 = op(
    "LookupTableRemoveV2(table_handle:resource, keys:Tin) -> () | Tin: type | stateful",
    shape=lambda table_handle, keys: [],
    kernel=_remove,
    gradient=FLAT,
)
