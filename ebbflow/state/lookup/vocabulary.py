"""Tables from words to ids and back, made from a list or a file: TF 1's `tf.contrib.lookup` and Estimators' own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, PathLike, TensorLike
from ebbflow.ops.arrays.ranges import range as numbers
from ebbflow.ops.arrays.shaping import size
from ebbflow.ops.declare import raw
from ebbflow.ops.lookup.files import LINE_NUMBER, WHOLE_LINE
from ebbflow.state.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from ebbflow.state.lookup.static import FastHashSpec, IdTableWithHashBuckets, StaticHashTableV1

if TYPE_CHECKING:
    from ebbflow.state.lookup.interface import LookupInterface
    from ebbflow.state.lookup.static import HasherSpec


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
    key_column_index: int = WHOLE_LINE,
    value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> LookupInterface:
    """Return the table from the lines of a file to their numbers; unknown keys go to buckets, or are the default."""
    if not isinstance(vocabulary_file, Tensor) and not vocabulary_file:
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    _check_buckets(num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        shown = "" if isinstance(vocabulary_file, Tensor) else f" for vocabulary_file: {vocabulary_file}"
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}{shown}.")
    key_dtype = as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype.base_dtype is not dtypes.string:
        raise TypeError("Dtype for `keys` should be either integer or string.")
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            init = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTableV1(init, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def _check_buckets(count: int) -> None:
    if count < 0:
        raise ValueError(f"`num_oov_buckets` must be greater or equal than 0, got {count}.")


def _with_buckets(table: Any, count: int, hasher_spec: Any, key_dtype: Any) -> Any:
    if not count:
        return table
    return IdTableWithHashBuckets(table, num_oov_buckets=count, hasher_spec=hasher_spec, key_dtype=key_dtype)


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> Any:
    """Return the table from words (or integers) to their places in a list.

    >>> index_table_from_tensor(["a", "b"]).lookup(convert(["b", "z"])).numpy().tolist()
    [1, -1]
    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    _check_buckets(num_oov_buckets)
    dtype = as_dtype(dtype)
    if not dtype.is_integer and dtype.base_dtype is not dtypes.string:
        raise TypeError("`dtype` must either be integer or string.")
    with name_scope(name, "string_to_index"):
        keys = convert(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Invalid `dtype`: Expected {kind}, got {keys.dtype!r}.")
        if not dtype.is_integer and keys.dtype.base_dtype is not dtype:
            raise ValueError(f"Invalid `dtype`: Expected {dtype!r}, got {keys.dtype!r}.")
        values = raw.Cast(numbers(size(keys)), DstT=dtypes.int64)
        with name_scope(None, "hash_table"):
            if keys.dtype.is_integer and keys.dtype is not dtypes.int64:
                keys = raw.Cast(keys, DstT=dtypes.int64)
            init = KeyValueTensorInitializer(keys, values, keys.dtype.base_dtype, dtypes.int64, name="table_init")
            table = StaticHashTableV1(init, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file: PathLike,
    vocab_size: int | None = None,
    default_value: TensorLike = "UNK",
    name: str | None = None,
    key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE,
    delimiter: str = "\t",
) -> LookupInterface:
    """Return the table from numbers of lines to the lines of a file."""
    if not isinstance(vocabulary_file, Tensor) and not vocabulary_file:
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        init = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTableV1(init, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: TensorLike = "UNK", name: str | None = None
) -> Any:
    """Return the table from places in a list to its words.

    >>> index_to_string_table_from_tensor(["a", "b"]).lookup(convert([1, 2], dtypes.int64)).numpy().tolist()
    [b'b', b'UNK']
    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert(vocabulary_list, dtypes.string)
        keys = raw.Cast(numbers(size(words)), DstT=dtypes.int64)
        init = KeyValueTensorInitializer(keys, words, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTableV1(init, default_value)


# --- tf.contrib.lookup ------------------------------------------------------------------------------------------------


def contrib_index_table_from_tensor(
    mapping: Sequence[Any],
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """Return the table from words to their places in `mapping`."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def contrib_index_to_string_table_from_tensor(
    mapping: Sequence[Any], default_value: TensorLike = "UNK", name: str | None = None
) -> LookupInterface:
    """Return the table from places in `mapping` to its words."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index_table_from_file(
    vocabulary_file: PathLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """Return the table from the lines of a file to their numbers; the first name of `index_table_from_file`."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, dtypes.string, name
    )


def string_to_index_table_from_tensor(
    mapping: Sequence[Any],
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """Return the table from words to their places; the first name of `index_table_from_tensor`."""
    return contrib_index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtypes.string, name)


def string_to_index(
    tensor: TensorLike, mapping: Sequence[Any], default_value: int = -1, name: str | None = None
) -> Tensor:
    """Return the places of words in `mapping`."""
    table = contrib_index_table_from_tensor(mapping, default_value=default_value, name=name)
    return table.lookup(convert(tensor, dtypes.string))


def index_to_string(
    tensor: TensorLike, mapping: Sequence[Any], default_value: TensorLike = "UNK", name: str | None = None
) -> Tensor:
    """Return the words at places of `mapping`."""
    table = contrib_index_to_string_table_from_tensor(mapping, default_value, name)
    return table.lookup(convert(tensor))
