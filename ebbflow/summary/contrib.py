"""`tf.contrib.summary`: TensorFlow 1's summaries for eager code and graphs alike.

They go through the same writers as TensorFlow 2's (`recording`), but nothing is recorded unless a program says so
(`always_record_summaries`), the step is the global step where none is given, and values are written in the older forms
(`simple_value`, `histo`, `image`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Message, Nested, PathLike, SessionLike, TensorLike
from ebbflow.graph.collections import get_collection
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.variables import Variable
from ebbflow.summary import recording, writer_ops
from ebbflow.summary.ops import summary_scope
from ebbflow.train.step_counter import get_or_create_global_step

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph
    from ebbflow.summary.recording import SummaryWriter
    from ebbflow.summary.writer import FileWriter


def always_record_summaries() -> Nested:
    """Record summaries inside the block."""
    return recording.record_if(True)


def never_record_summaries() -> Nested:
    """Record no summaries inside the block."""
    return recording.record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: TensorLike | None = None) -> Nested:
    """Record summaries inside the block at every n-th step."""
    step = get_or_create_global_step() if global_step is None else global_step

    def is_due() -> Any:
        with control_dependencies(None):
            return raw.Equal(cast(step, dtypes.int64) % n, convert(0, dtypes.int64))

    return recording.record_if(is_due if context.executing_eagerly() else is_due())


def should_record_summaries() -> Nested:
    """Return whether summaries are recorded here: a bool tensor."""
    return convert(recording.should_record(not context.switches.tf1))


def create_file_writer(
    logdir: PathLike | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Return a writer of summaries into an event file in the folder `logdir` (nowhere, where that is None)."""
    if name is None and logdir is not None and not isinstance(logdir, Tensor):
        name = f"logdir:{os.fsdecode(logdir)}"  # writers into one folder are one
    return recording.file_writer(logdir, max_queue, flush_millis, filename_suffix, name, early=True)


def create_db_writer(
    db_uri: str,
    experiment_name: str | None = None,
    run_name: str | None = None,
    user_name: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Refuse: summaries are written to event files."""
    raise NotImplementedError("summaries are written to event files: use tf.contrib.summary.create_file_writer")


def initialize(graph: Graph | None = None, session: SessionLike | None = None) -> None:
    """Open the writers of the default graph in a session; write a graph, where one is given."""
    if context.executing_eagerly():
        return
    writer: Any = recording.default_writer()
    if writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        stack = context.thread.sessions
        if not stack:
            raise ValueError("Argument `session must be passed if no default session exists")
        session = stack[-1]
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = graph.as_graph_def(add_shapes=True).SerializeToString()
        session.run(writer_ops.WriteGraphSummary(writer._resource, convert(0, dtypes.int64), data))


def summary_writer_initializer_op() -> list[Any]:
    """Return the operations that open the writers of the default graph."""
    if context.executing_eagerly():
        raise RuntimeError("tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode.")
    return get_collection(recording.WRITERS)


def all_summary_ops() -> list[Any] | None:
    """Return all that writes summaries in the default graph. (Eagerly: None.)"""
    return recording.all_v2_summary_ops()


def flush(writer: FileWriter | None = None, name: str | None = None) -> Effect:
    """Have all summaries of a writer (the default one) on the disk."""
    return recording.flush(writer, name)


def eval_dir(model_dir: str | os.PathLike[str], name: str | None = None) -> str:
    """Return the folder in which evaluation writes its summaries."""
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)


def _step(given: Any) -> Any:
    step = get_or_create_global_step() if given is None else given
    if TensorShape(getattr(step, "shape", np.shape(step))).rank not in (None, 0):
        raise ValueError(f"`step` must be a scalar, got {step!r}")
    return cast(step, dtypes.int64) if isinstance(step, Variable) else convert(step, dtypes.int64)


def _written(name: Any, tensor: Any, family: Any, write: Any) -> Any:
    """Write under the scope of a summary: `write(writer, tag, scope)`."""
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return recording.recorded(lambda writer: write(writer, tag, scope), False)


def scalar(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Effect:
    """Write a number."""
    return _written(
        name,
        tensor,
        family,
        lambda w, tag, scope: writer_ops.WriteScalarSummary(w, _step(step), tag, tensor, name=scope),
    )


def histogram(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Effect:
    """Write how numbers are distributed."""
    return _written(
        name,
        tensor,
        family,
        lambda w, tag, scope: writer_ops.WriteHistogramSummary(w, _step(step), tag, tensor, name=scope),
    )


def image(
    name: str,
    tensor: TensorLike,
    bad_color: object = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Effect:
    """Write the first pictures of a batch."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        color = convert([255, 0, 0, 255] if bad_color is None else bad_color, dtypes.uint8)
        return writer_ops.WriteImageSummary(writer, _step(step), tag, tensor, color, max_images=max_images, name=scope)

    return _written(name, tensor, family, write)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Effect:
    """Write the first clips of a batch."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        rate = convert(sample_rate, dtypes.float32)
        return writer_ops.WriteAudioSummary(writer, _step(step), tag, tensor, rate, max_outputs=max_outputs, name=scope)

    return _written(name, tensor, family, write)


def generic(
    name: str,
    tensor: TensorLike,
    metadata: Message | TensorLike | None = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Effect:
    """Write a whole tensor; `metadata` says which plugin of TensorBoard shows it."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        about = "" if metadata is None else metadata
        about = convert(messages.serialize(about) if hasattr(about, "SerializeToString") else about, dtypes.string)
        return writer_ops.WriteSummary(writer, _step(step), convert(tensor), tag, about, name=scope)

    return _written(name, tensor, family, write)


def graph(param: object, step: TensorLike | None = None, name: str | None = None) -> Effect:
    """Write a serialised GraphDef, or a graph."""
    if not context.switches.tf1:
        return recording.graph(param)
    if not context.executing_eagerly() and not hasattr(param, "dtype"):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}")
    data = param.SerializeToString() if hasattr(param, "SerializeToString") else param
    writer = recording.default_writer()
    if not isinstance(writer, recording.FileSummaryWriter):
        return None
    return writer_ops.WriteGraphSummary(writer._resource, _step(step), data, name=name)


def import_event(tensor: TensorLike, name: str | None = None) -> Effect:
    """Write a serialised `Event` message as it is."""
    writer = recording.default_writer()
    if not isinstance(writer, recording.FileSummaryWriter):
        return None
    return writer_ops.ImportEvent(writer._resource, tensor, name=name)
