"""Datasets of what files hold, as classes: records, lines, pieces of a fixed length; several files at once if wished.

Each has a form for either era, which differ in the class alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.data import file_ops
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.io.records import TFRecordOptions

STRING = TensorSpec([], dtypes.string)


def _is_dataset(filenames: Any) -> bool:
    if not isinstance(filenames, DatasetV2):
        return False
    spec = filenames.element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.string:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
            f"`{getattr(spec, 'dtype', spec)!r}` elements."
        )
    if spec.shape.rank not in (0, None):
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a dataset of "
            f"element shape {spec.shape}."
        )
    return True


def _names(filenames: Any) -> Any:
    if isinstance(filenames, (list, tuple)):
        filenames = [f.__fspath__() if hasattr(f, "__fspath__") else f for f in filenames]
    elif hasattr(filenames, "__fspath__"):
        filenames = filenames.__fspath__()
    try:
        names = convert(filenames, dtypes.string, name="filenames")
    except (TypeError, ValueError):
        kind = convert(filenames).dtype
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got `{kind!r}` elements."
        ) from None
    return names if names._dims != () else names[None]


def _compression(compression_type: Any) -> Any:
    if compression_type is None or isinstance(compression_type, (TFRecordOptions, int)):
        compression_type = TFRecordOptions.get_compression_type_string(compression_type)
    return convert(compression_type, dtypes.string, name="compression_type")


def number_of(value: Any, default: int, name: str) -> Any:
    """Return a number as a tensor, or the default."""
    return convert(default if value is None else value, dtypes.int64, name=name)


def matching_files_dataset(patterns: Any) -> DatasetV2:
    """Return the names of the files that match patterns, in order of the patterns and of the names."""
    names = convert(patterns, dtypes.string, name="patterns")
    return DatasetV2._make(file_ops.MatchingFilesDataset, names, spec=STRING, kind="MatchingFilesDataset")


class _Reading:
    """A dataset of the contents of files: one after the other, or `num_parallel_reads` in turn."""

    _make: Any
    _family: Any

    def _read(self, filenames: Any, one: Callable[[Any], Any], reads: Any) -> None:
        kind = type(self).__name__
        if not _is_dataset(filenames) and reads is None:
            made = one(_names(filenames))
        else:
            source = filenames if _is_dataset(filenames) else self._family().from_tensor_slices(_names(filenames))
            if reads is None:
                made = source.flat_map(lambda name: one(name))
            else:
                made = source.interleave(lambda name: one(name), cycle_length=_cycle(reads), num_parallel_calls=reads)
        DatasetV2.__init__(self, made._variant_tensor, STRING, kind)  # type: ignore[arg-type]


def _cycle(reads: Any) -> Any:
    return None if isinstance(reads, int) and reads == -1 else reads


class _Records(_Reading):
    """What reads files one after the other: `_op` says how, `_kind` what it is called."""

    _op: Any
    _kind: str

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ):
        """Make the dataset of what the files hold, record by record."""
        given = _compression(compression_type), number_of(buffer_size, 256 * 1024, "buffer_size")

        def one(names: Any) -> Any:
            return self._make(self._op, names, *given, spec=STRING, kind=self._kind, name=name)

        self._read(filenames, one, num_parallel_reads)


class _TFRecords(_Records):
    """The records of TFRecord files."""

    _op = file_ops.TFRecordDataset
    _kind = "_TFRecordDataset"


class _TextLines(_Records):
    """The lines of text files."""

    _op = file_ops.TextLineDataset
    _kind = "_TextLineDataset"


class _FixedLength(_Reading):
    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ):
        """Make the dataset of the pieces of files, each of `record_bytes` bytes."""
        given = (
            number_of(header_bytes, 0, "header_bytes"),
            number_of(record_bytes, 0, "record_bytes"),
            number_of(footer_bytes, 0, "footer_bytes"),
            number_of(buffer_size, 256 * 1024, "buffer_size"),
            _compression(compression_type),
        )

        def one(names: Any) -> Any:
            return self._make(
                file_ops.FixedLengthRecordDatasetV2,
                names,
                *given,
                spec=STRING,
                kind="_FixedLengthRecordDataset",
                name=name,
            )

        self._read(filenames, one, num_parallel_reads)


class TFRecordDatasetV2(_TFRecords, DatasetV2):
    """The records of TFRecord files.

    >>> import os, tempfile
    >>> import ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.tfrecord")
    ...     with tf.io.TFRecordWriter(path) as writer:
    ...         writer.write(b"one")
    ...     [record.numpy() for record in TFRecordDatasetV2(path)]
    [b'one']
    """


class TFRecordDatasetV1(_TFRecords, DatasetV1):
    """The records of TFRecord files, for TF 1."""


class TextLineDatasetV2(_TextLines, DatasetV2):
    """The lines of text files."""


class TextLineDatasetV1(_TextLines, DatasetV1):
    """The lines of text files, for TF 1."""


class FixedLengthRecordDatasetV2(_FixedLength, DatasetV2):
    """The pieces of files."""


class FixedLengthRecordDatasetV1(_FixedLength, DatasetV1):
    """The pieces of files, for TF 1."""
