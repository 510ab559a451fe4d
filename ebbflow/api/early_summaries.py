"""Summaries of before TensorFlow 1.0: `tf.scalar_summary` and its kin, whose tags are what the program says.

Since 1.0 a summary's tag is its op's name with the scopes around it; before, it was the tag given, word for word. Thin
functions over the ops of `summary`, shown at the TF 1 door only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.summary import ops


def _collected(value: Any, collections: Any) -> Any:
    ops.collect(value, collections, [GraphKeys.SUMMARIES])
    return value


def scalar_summary(
    tags: Iterable[str] | str,
    values: TensorLike,
    collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the summary of numbers, each under its tag."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(ops.ScalarSummary(tags, values, name=scope), collections)


def histogram_summary(
    tag: TensorLike, values: TensorLike, collections: Sequence[str] | str | None = None, name: str | None = None
) -> Tensor:
    """Return the summary of how numbers are distributed, under a tag."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(ops.HistogramSummary(tag, values, name=scope), collections)


def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the summary of the first pictures of a batch, under a tag."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(ops.ImageSummary(tag, tensor, max_images=max_images, name=scope), collections)


def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the summary of the first clips of a batch, under a tag."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        value = ops.AudioSummaryV2(tag, tensor, sample_rate, max_outputs=max_outputs, name=scope)
        return _collected(value, collections)
