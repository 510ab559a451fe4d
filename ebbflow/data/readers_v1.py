"""The readers of TF 1 as classes: `tf.TextLineReader` and its kin, which read files whose names a queue holds.

Knows the ops of `queue_readers`. In eager mode there are no such readers: datasets read files there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Effect, Message, Nested, TensorLike
from ebbflow.io.records import TFRecordOptions
from ebbflow.ops.declare import raw

if TYPE_CHECKING:
    from ebbflow.state.queues.queue import QueueBase


class ReaderBase:
    """What all readers can do."""

    def __init__(self, reader_ref: TensorLike, supports_serialize: bool = False):
        if context.executing_eagerly():
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data "
                "into your model."
            )
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> AnyTensor:
        """The tensor that stands for the reader: a handle."""
        return self._reader_ref

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Return the next record, as a pair (key, value) of string scalars."""
        return raw.ReaderReadV2(self._reader_ref, _reference(queue), name=name)

    def read_up_to(self, queue: QueueBase, num_records: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the next records, at most `num_records`, as a pair (keys, values) of string vectors."""
        return raw.ReaderReadUpToV2(self._reader_ref, _reference(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return how many records the reader has given."""
        return raw.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return how many files the reader has read to their end."""
        return raw.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Return a string that encodes how far the reader is; not every reader can tell."""
        return raw.ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state: Nested, name: str | None = None) -> Effect:
        """Return the operation that makes the reader go on from a state."""
        return raw.ReaderRestoreStateV2(self._reader_ref, convert(state, dtypes.string), name=name)

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` works."""
        return self._supports_serialize

    def reset(self, name: str | None = None) -> Effect:
        """Return the operation that makes the reader start anew."""
        return raw.ReaderResetV2(self._reader_ref, name=name)


def _reference(queue: Any) -> Any:
    """Return the handle of a queue, however it is given."""
    return queue if isinstance(queue, Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Gives each file as one record: its name and its bytes."""

    def __init__(self, name: str | None = None):
        super().__init__(raw.WholeFileReaderV2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives the lines of files, without newlines; a key is the file's name and the number of the line."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Gives pieces of a fixed length; a key is the file's name and the number of the piece."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ):
        reader = raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(reader)


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files; a key is the file's name and where the record starts."""

    def __init__(self, name: str | None = None, options: object = None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(raw.TFRecordReaderV2(name=name, compression_type=compression))


class IdentityReader(ReaderBase):
    """Gives what the queue holds, as both key and value."""

    def __init__(self, name: str | None = None):
        super().__init__(raw.IdentityReaderV2(name=name), supports_serialize=True)


class LMDBReader(ReaderBase):
    """Gives the keys and values of LMDB databases, in the order of keys; needs the package `lmdb`.

    Its handle is a reference, as readers had before there were resources.
    """

    def __init__(self, name: str | None = None, options: Message | None = None):
        super().__init__(raw.LMDBReader(name=name))

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Return the next entry, as a pair (key, value) of string scalars."""
        return raw.ReaderRead(self._reader_ref, raw.FakeQueue(_reference(queue)), name=name)

    def read_up_to(self, queue: QueueBase, num_records: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the next entries, at most `num_records`, as a pair (keys, values) of string vectors."""
        return raw.ReaderReadUpTo(self._reader_ref, raw.FakeQueue(_reference(queue)), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return how many entries the reader has given."""
        return raw.ReaderNumRecordsProduced(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return how many databases the reader has read to their end."""
        return raw.ReaderNumWorkUnitsCompleted(self._reader_ref, name=name)

    def reset(self, name: str | None = None) -> Effect:
        """Return the operation that makes the reader start anew."""
        return raw.ReaderReset(self._reader_ref, name=name)
