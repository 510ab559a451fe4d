"""Summaries in graphs, as TF 1 writes them: `tf.summary.scalar`, `histogram`, `image`, `audio`, `text`, `merge_all`.

Each function adds an op that gives a serialised `Summary`, whose tag is the op's name with its scopes, and puts its
output into collections, SUMMARIES unless others are named. What goes into the message is the affair of `encode`; who
writes it to a file, of `writer`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message, TensorLike
from ebbflow.graph.collections import GraphKeys, add_to_collection, get_collection
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.declare import scalar as one_text
from ebbflow.ops.sizes import invalid
from ebbflow.platform import logging
from ebbflow.summary import encode

# --- ops --------------------------------------------------------------------------------------------------------------


def _summary_op(text: str) -> Any:
    return op(text, shape=one_text, gradient=FLAT)


ScalarSummary = _summary_op("ScalarSummary(tags:string, values:T) -> (summary:string) | T: reals")
HistogramSummary = _summary_op(
    "HistogramSummary(tag:string, values:T) -> (summary:string) | T: type in [reals] = float"
)
ImageSummary = _summary_op(
    "ImageSummary(tag:string, tensor:T) -> (summary:string) | max_images: int >= 1 = 3; "
    "T: type in [uint8,float,half,double] = float; bad_color: tensor = tensor([255, 0, 0, 255])"
)
AudioSummary = _summary_op(
    "AudioSummary(tag:string, tensor:float) -> (summary:string) | sample_rate: float; max_outputs: int >= 1 = 3 "
    "| deprecated@15"
)
AudioSummaryV2 = _summary_op(
    "AudioSummaryV2(tag:string, tensor:float, sample_rate:float) -> (summary:string) | max_outputs: int >= 1 = 3"
)
TensorSummary = _summary_op(
    'TensorSummary(tensor:T) -> (summary:string) | T: type; description: string = ""; labels: list(string) = []; '
    'display_name: string = ""'
)
TensorSummaryV2 = _summary_op(
    "TensorSummaryV2(tag:string, tensor:T, serialized_summary_metadata:string) -> (summary:string) | T: type"
)
MergeSummary = _summary_op("MergeSummary(inputs:N*string) -> (summary:string) | N: int >= 1")


def _serialized(message: Any) -> np.ndarray:
    box = np.empty((), object)
    box[()] = messages.serialize(message)
    return box


def _node_name(run: Any, otherwise: str) -> str:
    return run.node.name if run.node is not None else otherwise


@ScalarSummary.kernel
def _(xp, tags, values):
    return _serialized(encode.scalar_summary(tags, values))


@HistogramSummary.kernel
def _(xp, tag, values, *, run):
    return _serialized(encode.histogram_summary(tag, values, _node_name(run, "HistogramSummary")))


@ImageSummary.kernel
def _(xp, tag, tensor, *, max_images, bad_color):
    color = encode.RED if isinstance(bad_color, str) else bad_color  # text: the default, as it is declared
    return _serialized(encode.image_summary(tag, tensor, max_images, color))


@AudioSummary.kernel
def _(xp, tag, tensor, *, sample_rate, max_outputs):
    return _serialized(encode.audio_summary(tag, tensor, sample_rate, max_outputs))


@AudioSummaryV2.kernel
def _(xp, tag, tensor, sample_rate, *, max_outputs):
    if sample_rate.size != 1:
        raise invalid(f"sample_rate must be rank-0 or contain a single value, got shape {show(sample_rate.shape)}")
    return _serialized(encode.audio_summary(tag, tensor, sample_rate, max_outputs))


@TensorSummary.kernel
def _(xp, tensor, *, run):
    return _serialized(encode.tensor_summary_v1(tensor, _node_name(run, "TensorSummary")))


@TensorSummaryV2.kernel
def _(xp, tag, tensor, serialized_summary_metadata):
    return _serialized(encode.tensor_summary_v2(tag, tensor, serialized_summary_metadata))


@MergeSummary.kernel
def _(xp, inputs):
    return _serialized(encode.merge_summaries(inputs))


# --- names and collections --------------------------------------------------------------------------------------------

_ILLEGAL = re.compile(r"[^-/\w\.]", re.ASCII)


def clean_tag(name: str | None) -> Any:
    """Return a name as a node may have it.

    >>> clean_tag("/inner loss:0")
    'inner_loss_0'
    """
    if name is None:
        return None
    clean = _ILLEGAL.sub("_", name).lstrip("/")
    if clean != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, clean)
    return clean


@contextlib.contextmanager
def summary_scope(
    name: str | None, family: str | None = None, default_name: str | None = None, values: Any = None
) -> Iterator[tuple[str, str]]:
    """Open the scope of a summary op; gives its tag, and the scope for the op's name.

    The tag is the scope's name; a family is put in front of both, so that it stands in the tag twice.
    """
    name, family = clean_tag(name or default_name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        own = scope.rstrip("/")
        yield own if family is None else f"{family}/{own}", scope


def collect(value: Any, collections: Any, default_collections: Any) -> None:
    """Put a summary into collections of its graph; where there is none, it is given back and nothing else."""
    if context.executing_eagerly():
        return
    for key in default_collections if collections is None else collections:
        add_to_collection(key, value)


_SUMMARIES = (GraphKeys.SUMMARIES,)


# --- public -----------------------------------------------------------------------------------------------------------


def scalar(
    name: str, tensor: TensorLike, collections: Sequence[str] | str | None = None, family: str | None = None
) -> Tensor:
    """Return the summary of one number.

    >>> messages.Summary.FromString(scalar("loss", 0.5).numpy()).value[0].simple_value
    0.5
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = ScalarSummary(tag, tensor, name=scope)
        collect(value, collections, _SUMMARIES)
    return value


def histogram(
    name: str, values: TensorLike, collections: Sequence[str] | str | None = None, family: str | None = None
) -> Tensor:
    """Return the summary of how numbers are distributed.

    >>> messages.Summary.FromString(histogram("weights", [1.0, 2.0]).numpy()).value[0].histo.num
    2.0
    """
    with summary_scope(name, family, "HistogramSummary", values=[values]) as (tag, scope):
        value = HistogramSummary(tag, values, name=scope)
        collect(value, collections, _SUMMARIES)
    return value


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | str | None = None,
    family: str | None = None,
) -> Tensor:
    """Return the summary of the first pictures of a batch [N, height, width, 1, 3 or 4 channels].

    >>> image("noise", np.zeros((1, 2, 2, 1), np.float32)).dtype
    tf.string
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = ImageSummary(tag, tensor, max_images=max_outputs, name=scope)
        collect(value, collections, _SUMMARIES)
    return value


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | str | None = None,
    family: str | None = None,
) -> Tensor:
    """Return the summary of the first clips of a batch [N, frames] or [N, frames, channels], numbers in [-1, 1].

    >>> audio("hum", np.zeros((1, 8), np.float32), 8000.0).dtype
    tf.string
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        sample_rate = convert(sample_rate, dtypes.float32, name="sample_rate")
        value = AudioSummaryV2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        collect(value, collections, _SUMMARIES)
    return value


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: object = None,
    collections: Sequence[str] | str | None = None,
    summary_metadata: Message | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Return the summary of a whole tensor; `summary_metadata` says which plugin of TensorBoard shows it.

    >>> tensor_summary("everything", [[1, 2], [3, 4]]).dtype
    tf.string
    """
    metadata = messages.SummaryMetadata()
    if summary_metadata is not None:
        metadata.ParseFromString(summary_metadata.SerializeToString())  # it may be a message of another pool
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = TensorSummaryV2(tag, tensor, messages.serialize(metadata), name=scope)
        collect(value, collections, _SUMMARIES)
    return value


def text(name: str, tensor: TensorLike, collections: Sequence[str] | str | None = None) -> Tensor:
    """Return the summary of strings, which TensorBoard shows as Markdown.

    >>> text("note", convert("*done*")).dtype
    tf.string
    """
    tensor = convert(tensor) if not hasattr(tensor, "dtype") else tensor
    if tensor.dtype != dtypes.string:
        shown = tensor.dtype.name if hasattr(tensor.dtype, "name") else tensor.dtype
        raise ValueError(f"Expected tensor {getattr(tensor, 'name', name)} to have dtype string, got {shown}")
    return tensor_summary(name, tensor, summary_metadata=encode.plugin_metadata("text"), collections=collections)


def merge(
    inputs: Sequence[TensorLike], collections: Sequence[str] | str | None = None, name: str | None = None
) -> Tensor:
    """Return the values of several summaries as one; a tag may come only once."""
    if context.executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
        )
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        value = MergeSummary(list(inputs), name=name)
        collect(value, collections, [])
    return value


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """Return all summaries of a collection as one, or None where there are none.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     loss = tf.compat.v1.summary.scalar("loss", tf.constant(0.5))
    ...     merge_all().dtype
    tf.string
    """
    if context.executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
        )
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def: Message) -> Message:
    """Return the SummaryDescription that a `TensorSummary` node carries as JSON."""
    from google.protobuf import json_format  # on first use: protobuf takes about 30 ms to import

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = node_def.attr["description"].s.decode() or "{}"
    return json_format.Parse(description, messages.SummaryDescription(), descriptor_pool=messages.pool())
