"""CSV files as datasets: a tuple of columns for each line, or batches of named columns whose types are found out."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.data.file_ops import blocks_of_lines, compression_of, lasting, names_of, text_of
from ebbflow.data.pipe import Element, dataset_op, made
from ebbflow.data.readers import number_of
from ebbflow.ops.sizes import invalid
from ebbflow.platform import files

CSVDatasetV2 = dataset_op(
    "CSVDatasetV2(filenames:string, compression_type:string, buffer_size:int64, header:bool, field_delim:string, "
    "use_quote_delim:bool, na_value:string, select_cols:int64, record_defaults:list(output_types), "
    "exclude_cols:int64) -> (handle:variant) | output_types: list(type) in [float,double,int32,int64,string] >= 1; "
    "output_shapes: list(shape) >= 1 | stateful"
)

PARSERS = {dtypes.int32: int, dtypes.int64: int, dtypes.float32: float, dtypes.float64: float}


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)")


def _last_end(chunk: bytes) -> int:
    """Return where the last line ends; behind a last "\\r" its other half may come with the next chunk."""
    return max(chunk.rfind(b"\n"), chunk.rfind(b"\r", 0, -1)) + 1


def _lines(name: str, compression: str) -> Iterator[str]:
    """Yield the lines of a file with their ends, a character for each byte."""
    for block in blocks_of_lines(name, compression, _last_end):
        text, at = block.decode("latin-1"), 0
        for line in _LINE.finditer(text):
            yield line.group()
            at = line.end()
        if at < len(text):
            yield text[at:]


def _records(lines: Iterator[str], delimiter: str, quoted: bool) -> Iterator[list[str] | errors.OpError]:
    """Yield the fields of each record, or what is wrong with it: the next one begins with the next line."""
    for line in lines:
        if quoted and '"' in line:
            yield _with_quotes(line, lines, delimiter)
        else:
            yield line.rstrip("\r\n").split(delimiter)


def _in_file(
    name: str, compression: str, delimiter: str, quoted: bool, header: bool
) -> Iterator[list[str] | errors.OpError]:
    """Yield the records of a file; the first one is a header, or not."""
    found = _records(_lines(name, compression), delimiter, quoted)
    if header and next(found, None) is None:
        raise invalid(f"Can't read header of file {name}: it is empty")
    yield from found


def _with_quotes(text: str, lines: Iterator[str], delimiter: str) -> list[str] | errors.OpError:
    """Return the fields of a record some of which are quoted, and may go on over the next lines."""
    fields: list[str] = []
    at = 0
    while True:
        if text.startswith('"', at):
            field, text, at = _quoted(text, at + 1, lines)
            if field is None:
                return invalid("Reached end of file without closing quoted field in record")
            if at < len(text.rstrip("\r\n")) and text[at] != delimiter:
                return invalid("Quote inside a string has to be escaped by another quote")
        else:
            whole = len(text.rstrip("\r\n"))
            end = text.find(delimiter, at, whole)
            field, at = text[at : whole if end < 0 else end], whole if end < 0 else end
            if '"' in field:
                return invalid("Unquoted fields cannot have quotes inside")
        fields.append(field)
        if at >= len(text.rstrip("\r\n")):
            return fields
        at += 1


def _quoted(text: str, at: int, lines: Iterator[str]) -> tuple[str | None, str, int]:
    """Return a quoted field whose first character is at `at` (None where it has no end), the text, and what follows."""
    parts = []
    while True:
        end = text.find('"', at)
        if end < 0:
            more = next(lines, None)
            if more is None:
                return None, text, at
            text += more
            continue
        parts.append(text[at:end])
        if not text.startswith('"', end + 1):
            return "".join(parts), text, end + 1
        parts.append('"')
        at = end + 2


class _Columns:
    """Which fields of a record are taken, and what each becomes."""

    def __init__(self, select: list[int], exclude: list[int], defaults: Sequence[np.ndarray], types: Any, missing: str):
        if select and exclude:
            raise invalid("Either select_cols or exclude_cols should be empty")
        if sorted(set(select)) != select or any(n < 0 for n in select):
            raise invalid(f"select_cols should be strictly increasing indices, got {select}")
        self.select, self.exclude, self.defaults, self.types, self.missing = (
            select,
            set(exclude),
            defaults,
            types,
            missing,
        )

    def element(self, fields: list[str] | errors.OpError) -> Element:
        """Return the values of a record; raise what is wrong with it."""
        if isinstance(fields, errors.OpError):
            raise fields
        if self.select:
            fields = [fields[i] for i in self.select if i < len(fields)]
        elif self.exclude:
            fields = [f for i, f in enumerate(fields) if i not in self.exclude]
        if len(fields) != len(self.types):
            have = "more" if len(fields) > len(self.types) else len(fields)
            raise invalid(f"Expect {len(self.types)} fields but have {have} in record")
        return tuple([self._value(i, field) for i, field in enumerate(fields)])

    def _value(self, i: int, field: str) -> np.ndarray:
        dtype = self.types[i]
        if not field or field == self.missing:
            if not self.defaults[i].size:
                raise invalid(f"Field {i} is required but missing in record!")
            return self.defaults[i].reshape(())
        if dtype is dtypes.string:
            return text_of(field.encode("latin-1"))
        try:
            return np.array(PARSERS[dtype](field), dtype.np)
        except (ValueError, OverflowError):
            raise invalid(f"Field {i} in record is not a valid {dtype.name}: {field}") from None


@CSVDatasetV2.kernel
def _(
    xp: Any, filenames: Any, compression_type: Any, buffer_size: Any, header: Any, field_delim: Any,
    use_quote_delim: Any, na_value: Any, select_cols: Any, record_defaults: Any, exclude_cols: Any,
    *, output_types: Any,
) -> Any:  # fmt: skip
    names, compression, delimiter = names_of(filenames), compression_of(compression_type), field_delim.item().decode()
    if len(delimiter) != 1:
        raise invalid(f"field_delim should be only 1 char, got {delimiter!r}")
    if any(default.ndim > 1 for default in record_defaults):
        raise invalid("Each record default should be at most rank 1")
    if int(buffer_size) <= 0:
        raise invalid(f"buffer_size should be positive, got {int(buffer_size)}")
    if any(default.size > 1 for default in record_defaults):
        raise invalid("Each record default should be a scalar, or a vector of at most one value")
    missing = na_value.item().decode("latin-1")
    columns = _Columns(select_cols.tolist(), exclude_cols.tolist(), record_defaults, output_types, missing)

    form = compression, delimiter, bool(use_quote_delim), bool(header)

    def start() -> Iterator[Element]:
        records = lasting(itertools.chain.from_iterable(_in_file(name, *form) for name in names))
        return map(columns.element, records)  # which goes on after a record that is refused

    return made(start)


# --- a tuple for each line --------------------------------------------------------------------------------------------


class _Csv:
    _make: Any

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ):
        """Make the dataset of the lines of CSV files: a tuple of scalars each, of the types of the defaults."""
        defaults = [_default(value) for value in record_defaults]
        spec = tuple(TensorSpec([], d.dtype) for d in defaults)
        dataset = self._make(
            CSVDatasetV2, filenames, convert(compression_type or "", dtypes.string),
            number_of(buffer_size, 4 * 1024 * 1024, "buffer_size"), np.bool_(header), convert(field_delim),
            np.bool_(use_quote_delim), convert(na_value), np.array(select_cols or [], np.int64), defaults,
            np.array(exclude_cols or [], np.int64), spec=spec, kind="CsvDataset",
        )  # fmt: skip
        DatasetV2.__init__(self, dataset._variant_tensor, spec, "CsvDataset")  # type: ignore[arg-type]


def _default(value: Any) -> Any:
    """Return a column's default: a dtype stands for a column that must have a value."""
    if isinstance(value, DType) or (isinstance(value, type) and not isinstance(value, Tensor)):
        return convert(np.zeros(0, dtypes.as_dtype(value).np), dtypes.as_dtype(value))
    return convert(value)


class CsvDatasetV2(_Csv, DatasetV2):
    """The lines of CSV files."""


class CsvDatasetV1(_Csv, DatasetV1):
    """The lines of CSV files, for TF 1."""


# --- batches of named columns -----------------------------------------------------------------------------------------

INFERRED = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)
"""The types that a column can be found to have, the narrowest first."""


def make_csv_dataset(
    file_pattern: TensorLike,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> DatasetV2:
    """Return batches of CSV files' lines, as dictionaries of columns (and the label beside, if it is named)."""
    names = _file_names(file_pattern)
    form = (compression_type or "", field_delim, use_quote_delim)
    column_names = _header(names, form, header) if column_names is None else list(column_names)
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    places = _places(column_names, select_columns)
    defaults = column_defaults
    if defaults is None:
        defaults = _inferred(names, form, header, places, na_value, num_rows_for_inference, len(column_names))
    taken = [column_names[i] for i in places]
    if label_name is not None and label_name not in taken:
        raise ValueError("`label_name` provided must be one of the columns.")

    def read(name: Any) -> Any:
        columns = None if select_columns is None else places
        return CsvDatasetV2(
            name, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, columns
        )

    def named(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(taken, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    order = (shuffle_buffer_size, shuffle_seed) if shuffle else None
    dataset = _joined(names, read, num_parallel_reads or 1, ignore_errors, order)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _joined(names: list[str], read: Any, cycle: int, ignore_errors: bool, order: tuple[int, Any] | None) -> Any:
    """Return the lines of all files, files and lines in random order if one is given: (size of buffer, seed)."""
    dataset = DatasetV2.from_tensor_slices(names)
    if order is not None:
        dataset = dataset.shuffle(len(names), order[1])
    dataset = dataset.interleave(read, cycle_length=cycle)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    return dataset if order is None else dataset.shuffle(*order)


def _file_names(file_pattern: Any) -> list[str]:
    given = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    found = sorted(name for pattern in given for name in files.glob(pattern))
    if not found:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return found


def _rows(name: str, form: Any, header: bool) -> Iterator[list[str]]:
    compression, delimiter, quoted = form
    for record in _in_file(name, compression, delimiter, quoted, header):
        if isinstance(record, errors.OpError):
            raise record
        if record != [""]:
            yield record


def _header(names: list[str], form: Any, header: bool) -> list[str]:
    """Return the names of the columns, which all files must agree on."""
    if not header:
        raise ValueError("Expected `column_names` or `header` argument.")
    found = [next(_rows(name, form, False), []) for name in names]
    if any(row != found[0] for row in found):
        raise ValueError("Files have different column names in the header row.")
    return found[0]


def _places(column_names: list[str], select_columns: Sequence[Any] | None) -> list[int]:
    if select_columns is None:
        return list(range(len(column_names)))
    unknown = [c for c in select_columns if isinstance(c, str) and c not in column_names]
    if unknown:
        raise ValueError(f"Value '{unknown[0]}' in `select_columns` is not a column: {column_names}")
    places = [column_names.index(c) if isinstance(c, str) else int(c) for c in select_columns]
    if len(places) != len(set(places)):
        raise ValueError("`select_columns` contains duplicate columns")
    return sorted(places)


def _inferred(
    names: list[str], form: Any, header: bool, places: list[int], missing: str, most: int | None, width: int
) -> list[Any]:
    """Return a default for each column: the zero of the narrowest type that all its values have."""
    ranks = [0] * len(places)
    rows = itertools.chain.from_iterable(_rows(name, form, header) for name in names)
    for row in itertools.islice(rows, most):
        if len(row) != width:
            raise ValueError(f"Problem inferring types: CSV row {row} has {len(row)} fields, expected {width}.")
        for i, place in enumerate(places):
            if row[place] and row[place] != missing:
                ranks[i] = max(ranks[i], next(n for n, dtype in enumerate(INFERRED) if _fits(row[place], dtype)))
    types = [INFERRED[rank] for rank in ranks]
    return [convert([""] if dtype is dtypes.string else [0], dtype) for dtype in types]


def _fits(text: str, dtype: DType) -> bool:
    if dtype is dtypes.string:
        return True
    try:
        number = PARSERS[dtype](text)
    except ValueError:
        return False
    if dtype.is_integer:
        return dtype.min <= number <= dtype.max
    return bool(np.isfinite(np.float32(number))) or dtype is dtypes.float64 or not np.isfinite(number)
