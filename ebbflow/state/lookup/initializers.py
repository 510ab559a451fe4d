"""What fills a table: keys and values at hand, or the lines of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import DTypeLike, Effect, PathLike, TensorLike
from ebbflow.functions.trackable_resource import Asset
from ebbflow.graph import collections
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.lookup import files
from ebbflow.state.lookup.interface import check_table_dtypes, remember_initializer
from ebbflow.trackable.base import Trackable

if TYPE_CHECKING:
    from ebbflow.state.lookup.interface import LookupInterface


class TableInitializerBase(Trackable):
    """Fills a table of given dtypes."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike):
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    def initialize(self, table: LookupInterface) -> Effect:
        """Return the operation that fills a table."""
        raise NotImplementedError(
            f"{type(self).__name__}.initialize: a class derived from TableInitializerBase says how it fills a table; "
            "use tf.lookup.KeyValueTensorInitializer or TextFileInitializer"
        )

    @property
    def _shared_name(self) -> str:
        """The name under which tables with the same content are one; empty where none may be shared."""
        return ""


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with keys and values that are given one beside the other."""

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ):
        if not context.executing_eagerly() and getattr(context.current_graph(), "building_function", False):
            with init_scope():
                self._keys, self._values = _pair(keys, values, key_dtype, value_dtype)
        else:
            self._keys, self._values = _pair(keys, values, key_dtype, value_dtype)
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: LookupInterface) -> Effect:
        """Return the operation that fills a table."""
        check_table_dtypes(table, self._keys.dtype, self._values.dtype)
        with name_scope(self._name, None, (table.resource_handle, self._keys, self._values)):
            return remember_initializer(raw.LookupTableImportV2(table.resource_handle, self._keys, self._values))


def _pair(keys: Any, values: Any, key_dtype: Any, value_dtype: Any) -> tuple[Any, Any]:
    key_type, value_type = (None if dtype is None else as_dtype(dtype) for dtype in (key_dtype, value_dtype))
    return convert(keys, key_type, name="keys"), convert(values, value_type, name="values")


class TextFileIndex:
    """Columns of a vocabulary file that no delimiter makes: the whole line, and its number."""

    WHOLE_LINE = files.WHOLE_LINE
    LINE_NUMBER = files.LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a file: a column for keys, another for values."""

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        if isinstance(filename, Tensor) and filename.dtype.base_dtype is not dtypes.string:
            raise TypeError(f"`filename` must be a string, received: {filename.dtype!r}")
        key_dtype, value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        _check_column("key", key_index, key_dtype)
        _check_column("value", value_index, value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._key_index, self._value_index, self._vocab_size = key_index, value_index, vocab_size
        self._delimiter, self._offset = delimiter, value_index_offset
        self._name = name if name is not None else "text_file_init"
        self._filename_arg = filename
        self._filename = filename
        super().__init__(key_dtype, value_dtype)
        if not isinstance(filename, Tensor):
            self._filename = self._track_trackable(Asset(filename), "_filename")
            with init_scope():
                if not context.executing_eagerly():
                    collections.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename.asset_path)

    def initialize(self, table: LookupInterface) -> Effect:
        """Return the operation that fills a table from the file."""
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        with name_scope(self._name, None, (table.resource_handle,)):
            return remember_initializer(
                raw.InitializeTableFromTextFileV2(
                    table.resource_handle,
                    convert(
                        getattr(self._filename, "asset_path", self._filename), dtypes.string, name="asset_filepath"
                    ),
                    key_index=self._key_index,
                    value_index=self._value_index,
                    vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                    delimiter=self._delimiter,
                    offset=self._offset,
                )
            )

    def _path(self) -> Any:
        return self._filename.asset_path if isinstance(self._filename, Asset) else self._filename

    @property
    def _shared_name(self) -> str:
        file = self._filename_arg
        if isinstance(file, Tensor):
            file = b"".join(file._array.reshape(-1)).decode() if isinstance(file, EagerTensor) else file.name
        parts = [file, self._vocab_size, self._key_index, self._value_index, self._offset or None]
        return "_".join(["hash_table", *[str(part) for part in parts if part is not None]])


def _check_column(what: str, index: int, dtype: DType) -> None:
    if index < -2:
        raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
    if index == files.LINE_NUMBER and dtype is not dtypes.int64:
        of = "if `key_index` is" if what == "key" else "for `value_index`"
        raise ValueError(f"`{what}_dtype` must be int64 {of} {index}, received: {dtype!r}")
    if index == files.WHOLE_LINE and not (dtype.is_integer or dtype is dtypes.string):
        of = "for key_index" if what == "key" else "for value_index"
        raise ValueError(f"`{what}_dtype` should be either integer or string {of} {index}, received: {dtype!r}")


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from ids, the numbers of a file's lines, to the lines themselves."""

    def __init__(
        self,
        filename: PathLike,
        key_column_index: int = files.LINE_NUMBER,
        value_column_index: int = files.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ):
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from the lines of a file to their numbers."""

    def __init__(
        self,
        filename: PathLike,
        key_column_index: int = files.WHOLE_LINE,
        value_column_index: int = files.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = dtypes.string,
    ):
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
        )
