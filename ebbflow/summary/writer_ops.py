"""Summary writers as resources, and the ops that write through them: what `tf.summary` of TensorFlow 2 is made of.

A writer is made by `SummaryWriter`, opened by `CreateSummaryFileWriter`, and then takes events from any thread, graph
or function. What a summary looks like is the affair of `encode`; the file, of `io.events`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.io.events import EventFileWriter
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import ANONYMOUS, find_or_make
from ebbflow.summary import encode


class WriterResource:
    """An event file, once it is opened."""

    def __init__(self, name: str):
        self.name = name
        self.file: EventFileWriter | None = None
        self._limit = self._waiting = self.users = 0

    def open(self, logdir: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        """Open a file in `logdir`; one that is open stays as it is."""
        if self.file is None:
            self.file = EventFileWriter(logdir, 0, flush_secs, suffix)
            self._limit = max_queue
            self.flush()  # the file is there from the start

    def write(self, event: Any, step: int) -> None:
        """Add an event, at this step and now; when more than `max_queue` wait, all are on the disk."""
        event.wall_time = time.time()
        event.step = step
        self._opened().add_event(event)
        self._waiting += 1
        if self._waiting > self._limit:
            self.flush()

    def flush(self) -> None:
        self._opened().flush()
        self._waiting = 0

    def close(self) -> None:
        """Close the file; opened again, it is another one."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def leave(self) -> None:
        """Close the file when the last of its users has gone."""
        self.users -= 1
        if self.users == 0:
            self.close()

    def _opened(self) -> EventFileWriter:
        if self.file is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/SummaryWriterInterface does not exist: it was not initialized",
            )
        return self.file


SummaryWriter = op(
    'SummaryWriter() -> (writer:resource) | shared_name: string = ""; container: string = "" | stateful',
    shape=scalar,
    gradient=FLAT,
)


@SummaryWriter.kernel
def _(xp, *, shared_name, container, run):
    name = shared_name or (run.node.name if run.node is not None else "")
    if not name or name == ANONYMOUS:
        return boxed(WriterResource("anonymous"))
    return boxed(find_or_make((container, name, "summary writer"), run, lambda: WriterResource(name)))


def _writing(text: str) -> Any:
    return op(f"{text} | stateful", shape=lambda *inputs: [], gradient=FLAT)


CreateSummaryFileWriter = _writing(
    "CreateSummaryFileWriter(writer:resource, logdir:string, max_queue:int32, flush_millis:int32, "
    "filename_suffix:string) -> ()"
)
FlushSummaryWriter = _writing("FlushSummaryWriter(writer:resource) -> ()")
CloseSummaryWriter = _writing("CloseSummaryWriter(writer:resource) -> ()")
WriteSummary = _writing(
    "WriteSummary(writer:resource, step:int64, tensor:T, tag:string, summary_metadata:string) -> () | T: type"
)
WriteRawProtoSummary = _writing("WriteRawProtoSummary(writer:resource, step:int64, tensor:string) -> ()")
WriteScalarSummary = _writing("WriteScalarSummary(writer:resource, step:int64, tag:string, value:T) -> () | T: reals")
WriteHistogramSummary = _writing(
    "WriteHistogramSummary(writer:resource, step:int64, tag:string, values:T) -> () | T: type in [reals,bool] = float"
)
WriteImageSummary = _writing(
    "WriteImageSummary(writer:resource, step:int64, tag:string, tensor:T, bad_color:uint8) -> () | "
    "max_images: int >= 1 = 3; T: type in [uint8,double,float,half] = float"
)
WriteAudioSummary = _writing(
    "WriteAudioSummary(writer:resource, step:int64, tag:string, tensor:float, sample_rate:float) -> () | "
    "max_outputs: int >= 1 = 3"
)
WriteGraphSummary = _writing("WriteGraphSummary(writer:resource, step:int64, tensor:string) -> ()")
ImportEvent = _writing("ImportEvent(writer:resource, event:string) -> ()")


def _text(value: np.ndarray) -> str:
    item = value.item()
    return item.decode() if isinstance(item, bytes) else item


def _add(writer: np.ndarray, step: np.ndarray, summary: Any) -> tuple[()]:
    held(writer).write(messages.Event(summary=summary), int(step))
    return ()


@CreateSummaryFileWriter.kernel
def _(xp, writer, logdir, max_queue, flush_millis, filename_suffix):
    held(writer).open(_text(logdir), int(max_queue), int(flush_millis) / 1000, _text(filename_suffix))
    return ()


@FlushSummaryWriter.kernel
def _(xp, writer):
    held(writer).flush()
    return ()


@CloseSummaryWriter.kernel
def _(xp, writer):
    held(writer).close()
    return ()


@WriteSummary.kernel
def _(xp, writer, step, tensor, tag, summary_metadata):
    return _add(writer, step, encode.tensor_summary_v2(tag, tensor, summary_metadata))


@WriteRawProtoSummary.kernel
def _(xp, writer, step, tensor):
    whole = messages.Summary()
    for index, data in enumerate(tensor.reshape(-1)):
        try:
            whole.MergeFrom(messages.parse(messages.Summary, data))
        except errors.DataLossError:
            text = f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}: {len(data)} bytes"
            raise errors.DataLossError(None, None, text) from None
    return _add(writer, step, whole)


@WriteScalarSummary.kernel
def _(xp, writer, step, tag, value):
    return _add(writer, step, encode.scalar_summary(tag, value))


@WriteHistogramSummary.kernel
def _(xp, writer, step, tag, values):
    return _add(writer, step, encode.histogram_summary(tag, values, _text(tag)))


@WriteImageSummary.kernel
def _(xp, writer, step, tag, tensor, bad_color, *, max_images):
    return _add(writer, step, encode.image_summary(tag, tensor, max_images, bad_color))


@WriteAudioSummary.kernel
def _(xp, writer, step, tag, tensor, sample_rate, *, max_outputs):
    return _add(writer, step, encode.audio_summary(tag, tensor, sample_rate, max_outputs))


@WriteGraphSummary.kernel
def _(xp, writer, step, tensor):
    held(writer).write(messages.Event(graph_def=tensor.item()), int(step))
    return ()


@ImportEvent.kernel
def _(xp, writer, event):
    held(writer)._opened().add_event(messages.parse(messages.Event, event.item()))
    return ()
