"""`tf.summary` of TensorFlow 2: the current writer, step and condition, and writing under them.

A thread has one default writer at a time, a step, and a condition under which summaries are recorded; all three may
change inside functions, where a summary becomes an op (and the condition a choice in the graph). What the plugins of
TensorBoard are shown is in `plugins`; `tf.contrib.summary` is in `contrib`.
"""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Effect, Message, PathLike, TensorLike
from ebbflow.functions.concrete import on_trace
from ebbflow.functions.func_graph import inside_function
from ebbflow.graph.collections import add_to_collection, get_collection
from ebbflow.graph.scopes import control_dependencies, get_name_scope, init_scope
from ebbflow.layers.smart_cond import smart_cond
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.state.storage import held
from ebbflow.ops.state.variable_ops import ANONYMOUS
from ebbflow.platform import logging
from ebbflow.state.resource import StandIn
from ebbflow.state.variables import Variable
from ebbflow.summary import writer_ops

SUMMARIES = "_SUMMARY_V2"
WRITERS = "_SUMMARY_WRITER_V2"
_ILLEGAL = re.compile(r"[^-_/.A-Za-z0-9]")


class _State(threading.local):
    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None
        self.step: Any = None
        self.condition: Any = None  # None: what the era takes for granted (TF 2 records, tf.contrib.summary does not)


_state = _State()


# --- writers ----------------------------------------------------------------------------------------------------------


class SummaryWriter:
    """Where summaries go: a file, or (this class itself) nowhere."""

    def set_as_default(self, step: TensorLike | None = None) -> None:
        """Send this thread's summaries here from now on; a step given here counts from now on too."""
        _state.writer = self
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step: TensorLike | None = None) -> Iterator[SummaryWriter]:
        """Send this thread's summaries here inside the block."""
        held = _state.writer, _state.step
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
            self._leave()
        finally:
            _state.writer = held[0]
            if step is not None:
                _state.step = held[1]

    def init(self) -> Effect:
        """Open the file: in a graph, return the operation that does."""

    def flush(self) -> Effect:
        """Have all summaries so far on the disk: in a graph, return the operation that does it."""

    def close(self) -> Effect:
        """Flush and close: in a graph, return the operation that does it."""

    def _leave(self) -> None:
        """Called at the end of a block in which this was the default."""


class _NoWriter(SummaryWriter):
    """As the default it changes nothing: summaries go where they went."""

    def set_as_default(self, step: TensorLike | None = None) -> None:
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step: TensorLike | None = None) -> Iterator[SummaryWriter]:
        held = _state.step
        self.set_as_default(step)
        try:
            yield self
        finally:
            _state.step = held

    def __repr__(self) -> str:
        return "<no summary writer>"


class FileSummaryWriter(SummaryWriter):
    """Writes an event file in a folder. The writers of `tf.contrib.summary` are `early`: eager ones share a file by
    their name, too, and a closed one can be opened again.
    """

    def __init__(
        self, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any, name: Any, early: bool = False
    ):
        self._closed, self._early = False, early
        in_graph = not context.executing_eagerly() and not context.current_graph().building_function
        shared = name if in_graph or (early and name) else ANONYMOUS
        self._resource = writer_ops.SummaryWriter(shared_name=shared, name="SummaryWriter")
        self._opening = (
            logdir,
            convert(10 if max_queue is None else max_queue, dtypes.int32),
            convert(2 * 60 * 1000 if flush_millis is None else flush_millis, dtypes.int32),
            ".v2" if filename_suffix is None else filename_suffix,
        )
        self._init_op = writer_ops.CreateSummaryFileWriter(self._resource, *self._opening)
        if in_graph:
            add_to_collection(WRITERS, self._init_op)
        elif early:
            shared_file = held(self._resource._array)
            shared_file.users += 1
            weakref.finalize(self, shared_file.leave)

    def set_as_default(self, step: Any = None) -> None:
        self._refuse_if_closed()
        super().set_as_default(step)

    def as_default(self, step: Any = None) -> Any:
        self._refuse_if_closed()
        return super().as_default(step)

    def _refuse_if_closed(self) -> None:
        if self._closed and context.executing_eagerly():
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def init(self) -> Any:
        self._refuse_if_closed()
        if self._early and context.executing_eagerly():
            return writer_ops.CreateSummaryFileWriter(self._resource, *self._opening)
        return self._init_op

    def flush(self) -> Any:
        if self._closed and context.executing_eagerly():
            return None
        return writer_ops.FlushSummaryWriter(self._resource)

    def close(self) -> Any:
        if self._closed and context.executing_eagerly():
            return None
        with control_dependencies([self.flush()] if not context.executing_eagerly() else []):
            if context.executing_eagerly():
                self.flush()
            done = writer_ops.CloseSummaryWriter(self._resource)
        self._closed = self._closed or (context.executing_eagerly() and not self._early)
        return done

    def _leave(self) -> None:
        graph = context.current_graph()
        if graph is None or graph.building_function:  # in a graph of its own, the program flushes when it wants
            self.flush()


def create_file_writer(
    logdir: PathLike | None,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: object = None,
) -> SummaryWriter:
    """Return a writer of summaries into an event file in the folder `logdir` (nowhere, where that is None)."""
    return file_writer(logdir, max_queue, flush_millis, filename_suffix, name)


def file_writer(
    logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any, name: Any, early: bool = False
) -> SummaryWriter:
    """Return a writer of TensorFlow 2's summaries, or of `tf.contrib.summary`'s."""
    if logdir is None:
        return create_noop_writer()
    with name_scope("create_file_writer"):
        if not context.executing_eagerly() and context.current_graph().building_function:
            with init_scope():
                return file_writer(logdir, max_queue, flush_millis, filename_suffix, name, early)
        if context.executing_eagerly():
            _refuse_symbolic(logdir=logdir, max_queue=max_queue, flush_millis=flush_millis, suffix=filename_suffix)
        logdir = convert(logdir if isinstance(logdir, Tensor) else str(logdir), dtypes.string, name="logdir")
        return FileSummaryWriter(logdir, max_queue, flush_millis, filename_suffix, name or "", early)


def _refuse_symbolic(**arguments: Any) -> None:
    """Refuse tensors of graphs where a writer is made at once, as it is in functions, too."""
    for name, value in arguments.items():
        if isinstance(value, Tensor) and not isinstance(value, EagerTensor):
            raise ValueError(
                f'Invalid graph Tensor argument "{name}={value}" to eager create_file_writer(): it has no value yet'
            )


def create_noop_writer() -> SummaryWriter:
    """Return a writer that drops everything."""
    return _NoWriter()


def default_writer() -> SummaryWriter | None:
    """Return this thread's default writer."""
    return _state.writer


def flush(writer: object = None, name: str | None = None) -> Effect:
    """Have all summaries of a writer (the default one) on the disk."""
    writer = _state.writer if writer is None else writer
    if isinstance(writer, SummaryWriter):
        return writer.flush()
    if isinstance(writer, Tensor):
        return writer_ops.FlushSummaryWriter(writer, name=name)
    if writer is not None:
        raise ValueError(f"Invalid argument to flush(): {writer!r}. It takes a writer or its handle")
    return None


# --- step and condition -----------------------------------------------------------------------------------------------


def get_step() -> TensorLike | None:
    """Return the step that summaries are written at where they name none."""
    return _state.step


def set_step(step: TensorLike) -> None:
    """Write summaries of this thread at `step` where they name none; a variable is read when they are written."""
    _state.step = step.variable_outside() if isinstance(step, StandIn) else step


@contextlib.contextmanager
def record_if(condition: Callable[[], TensorLike] | TensorLike | None) -> Effect:
    """Record summaries inside the block only if `condition` holds: a bool, a tensor, or a function of nothing."""
    held, _state.condition = _state.condition, condition
    try:
        yield
    finally:
        _state.condition = held


def should_record(by_default: bool) -> Any:
    """Return whether a writer would be given a summary: a Python bool where that is known, or a tensor."""
    condition = by_default if _state.condition is None else _state.condition
    return condition() if callable(condition) and not isinstance(condition, (Tensor, Variable)) else condition


def should_record_summaries() -> Tensor:
    """Return whether summaries are recorded here: a bool tensor."""
    return convert(isinstance(_state.writer, FileSummaryWriter) and should_record(True))


def step_or_default(step: Any) -> Any:
    """Return the step of a summary as an int64 tensor."""
    step = get_step() if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    if isinstance(step, (Tensor, Variable)):
        step = convert(step)
        if step._dims not in (None, ()):
            raise ValueError(f"`step` must be a scalar, got shape {step.shape}")
        return step if step.dtype.base_dtype is dtypes.int64 else cast(step, dtypes.int64)
    if np.ndim(step) or isinstance(step, (list, tuple)):
        raise ValueError(f"`step` must be a scalar, got {step!r}")
    return convert(int(step), dtypes.int64)


# --- writing ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Sequence[Any] | None = None) -> Effect:
    """Open the scope of a summary; gives its tag, which is the name with the scopes around it, and the scope."""
    name = name or default_name
    around = get_name_scope()
    tag = f"{around}/{name}" if around else name
    with name_scope(_ILLEGAL.sub("", name) or default_name, None, values) as scope:
        yield tag, scope


def write(
    tag: str,
    tensor: TensorLike | Callable[[], TensorLike],
    step: TensorLike | None = None,
    metadata: Message | None = None,
    name: str | None = None,
) -> Tensor:
    """Write a tensor (or what a function gives) under a tag to the default writer; return whether it was recorded."""
    with name_scope(name or "write_summary") as scope:
        if not isinstance(_state.writer, FileSummaryWriter):
            return convert(False)
        about = messages.serialize(metadata) if hasattr(metadata, "SerializeToString") else metadata or b""

        def record(writer: Any) -> Any:
            value = tensor() if callable(tensor) else convert(tensor)
            return writer_ops.WriteSummary(writer, step_or_default(step), value, tag, about, name=scope or None)

        return recorded(record, True)


def write_raw_pb(tensor: TensorLike, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Write a serialised `Summary` message to the default writer; return whether it was recorded."""
    with name_scope(name or "write_raw_pb") as scope:
        if not isinstance(_state.writer, FileSummaryWriter):
            return convert(False)
        return recorded(
            lambda writer: writer_ops.WriteRawProtoSummary(writer, step_or_default(step), tensor, name=scope or None),
            True,
        )


def recorded(record: Callable[[Any], Any], by_default: bool) -> Any:
    """Record by `record(writer)` if the condition holds; return whether it was: a tensor, kept by the graph."""
    writer = _state.writer
    if not isinstance(writer, FileSummaryWriter):
        return convert(False)

    def done() -> Any:
        node = record(writer._resource)
        with control_dependencies([] if context.executing_eagerly() else [node]):
            return convert(True)

    outcome = smart_cond(should_record(by_default), done, lambda: convert(False), name="summary_cond")
    if not context.executing_eagerly():
        add_to_collection(SUMMARIES, outcome)
    return outcome


def all_v2_summary_ops() -> list[Any] | None:
    """Return all that writes summaries in the default graph. (Eagerly: None.)"""
    return None if context.executing_eagerly() else get_collection(SUMMARIES)


# --- graphs -----------------------------------------------------------------------------------------------------------


def has_default_writer() -> bool:
    """Return whether this thread's summaries go anywhere."""
    return _state.writer is not None


def run_metadata(name: str, data: Message, step: TensorLike | None = None) -> Tensor:
    """Write what was measured of a run (a RunMetadata message) to the default writer."""
    return _write_run(name, data, step, "graph_run_metadata")


def run_metadata_graphs(name: str, data: Message, step: TensorLike | None = None) -> Tensor:
    """Write the graphs of the functions of a run (a RunMetadata message), and nothing else of it."""
    graphs = messages.RunMetadata(function_graphs=data.function_graphs)
    return _write_run(name, graphs, step, "graph_run_metadata_graph")


def _write_run(name: str, data: Message, step: TensorLike | None, plugin: str) -> Tensor:
    metadata = messages.SummaryMetadata()
    metadata.plugin_data.plugin_name = plugin
    metadata.plugin_data.content = b"1"
    with summary_scope(name, f"{plugin}_summary", [step]) as (tag, _):
        return write(tag, convert(messages.serialize(data), dtypes.string), step, metadata)


def graph(graph_data: Any) -> Tensor:
    """Write a graph (or its GraphDef) to the default writer, for TensorBoard's page of graphs."""
    if not context.executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context. Call it eagerly, outside of functions")
    if not isinstance(_state.writer, FileSummaryWriter):
        return convert(False)
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    elif not hasattr(graph_data, "SerializeToString"):
        raise ValueError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef")
    data = graph_data.SerializeToString()
    return recorded(lambda writer: writer_ops.WriteGraphSummary(writer, convert(0, dtypes.int64), data), True)


_traced: list[Any] = []
"""The graphs of functions traced since `trace_on`."""


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Remember the graphs of functions traced from now on, for `trace_export`."""
    if not context.executing_eagerly():
        inside = inside_function()
        logging.warn("Cannot enable trace inside a tf.function." if inside else "Must enable trace in eager mode.")
        return
    if profiler:
        logging.warning("tf.summary.trace_on: no profile is taken; RunMetadata of a session has the times of its nodes")
    if graph and _traced.append not in on_trace:
        on_trace.append(_traced.append)


def trace_off() -> None:
    """Forget what `trace_on` has collected, and collect no more."""
    _traced.clear()
    if _traced.append in on_trace:
        on_trace.remove(_traced.append)


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: str | None = None) -> None:
    """Write the graphs collected since `trace_on` to the default writer, and stop collecting."""
    if not context.executing_eagerly():
        inside = inside_function()
        logging.warn(
            "Cannot export trace inside a tf.function." if inside else "Can only export trace while executing eagerly."
        )
        return
    if _traced.append not in on_trace:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    collected = messages.RunMetadata()
    for body in _traced:
        found = collected.function_graphs.add()
        found.pre_optimization_graph.ParseFromString(body.as_graph_def(add_shapes=True).SerializeToString())
    trace_off()
    metadata = messages.SummaryMetadata()
    metadata.plugin_data.plugin_name = "graph_run_metadata_graph"
    metadata.plugin_data.content = b"1"
    with summary_scope(name, "graph_run_metadata_graph_summary", [step]) as (tag, _):
        write(tag, convert(messages.serialize(collected), dtypes.string), step, metadata)
