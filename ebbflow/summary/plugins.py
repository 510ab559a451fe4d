"""Summaries as TensorBoard's plugins expect them in TensorFlow 2: a tensor, and the name of the plugin that shows it.

`recording` writes them. The forms are those of TensorBoard's own functions: a histogram is a table of buckets, pictures
are their size and their PNGs, sound is WAVs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.loops import map_fn
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.strings.format_join import as_string
from ebbflow.summary.encode import plugin_metadata
from ebbflow.summary.recording import summary_scope, write

DEFAULT_BUCKETS = 30
WAV = b"\x10\x0b"  # the message AudioPluginData(encoding=WAV)


def _metadata(plugin: str, description: Any, content: bytes = b"") -> Any:
    return plugin_metadata(plugin, content, summary_description=description or "")


def scalar(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Write a number; return whether it was recorded.

    >>> import tempfile, ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.summary.create_file_writer(folder).as_default():
    ...     bool(scalar("loss", 0.5, step=1))
    True
    """
    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        data = convert(data)
        if data._dims not in (None, ()):
            raise ValueError(f"Expected scalar shape, saw shape: {data.shape}.")
        return write(tag, cast(data, dtypes.float32), step, _metadata("scalars", description))


def text(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Write strings, which are shown as Markdown; return whether they were recorded."""
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        data = convert(data)
        if data.dtype.base_dtype is not dtypes.string:
            raise TypeError(f"Expected text of dtype string, got {data.dtype.name}")
        return write(tag, data, step, _metadata("text", description))


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Write how numbers are distributed over `buckets` of equal width; return whether that was recorded.

    >>> import tempfile, ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.summary.create_file_writer(folder).as_default():
    ...     bool(histogram("weights", [0.1, 0.2, 0.9], step=1))
    True
    """
    with summary_scope(name, "histogram_summary", [data, buckets, step]) as (tag, _):
        return write(tag, lambda: table_of_buckets(data, buckets), step, _metadata("histograms", description))


def table_of_buckets(data: Any, buckets: Any = None) -> Any:
    """Return a row [from, to, count] for each bucket; all numbers of one value are in the last.

    >>> table_of_buckets([1.0, 2.0, 5.0], 2).numpy().tolist()
    [[1.0, 3.0, 2.0], [3.0, 5.0, 1.0]]
    >>> table_of_buckets([1.0, float("nan")], 1).numpy()[0, 2]  # what is no number is in none
    np.float64(0.0)
    """
    count = raw.Maximum(0, convert(DEFAULT_BUCKETS if buckets is None else buckets, dtypes.int32))
    numbers = cast(raw.Reshape(convert(data), [-1]), dtypes.float64)
    is_empty = raw.LogicalOr(raw.Equal(raw.Size(numbers), 0), raw.Equal(count, 0))
    some = raw.ConcatV2(
        [numbers, cast(raw.Fill(raw.Reshape(cast(is_empty, dtypes.int32), [1]), 0.0), dtypes.float64)], 0
    )
    low, high = raw.Min(some, [0]), raw.Max(some, [0])
    span = high - low
    width = span / cast(raw.Maximum(count, 1), dtypes.float64)
    alike = raw.Equal(span, cast(0, dtypes.float64))
    last = count - 1
    index = cast(raw.Floor((numbers - low) / raw.SelectV2(alike, raw.OnesLike(width), width)), dtypes.int32)
    index = raw.SelectV2(alike, raw.Fill(raw.Shape(index), last), raw.Minimum(index, last))
    ones = cast(raw.Fill(raw.Shape(index), 1), dtypes.float64)
    counts = raw.UnsortedSegmentSum(ones, index, count)  # leaves out what is no number, and so has no bucket
    places = cast(raw.Range(0, count, 1), dtypes.float64)
    left = low + places * width
    right = raw.ConcatV2([left[1:], raw.Reshape(high, [1])[: raw.Minimum(count, 1)]], 0)
    table = raw.Transpose(raw.Pack([left, right, counts]), [1, 0])
    return raw.SelectV2(is_empty, raw.ZerosLike(table), table)


def image(
    name: str, data: TensorLike, step: TensorLike | None = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Write the first pictures of a batch [N, height, width, channels], bytes or floats in [0, 1]; return whether they
    were recorded.

    >>> import tempfile, ebbflow as tf
    >>> with tempfile.TemporaryDirectory() as folder, tf.summary.create_file_writer(folder).as_default():
    ...     bool(image("noise", tf.random.uniform([1, 8, 8, 3]), step=1))
    True
    """
    with summary_scope(name, "image_summary", [data, max_outputs, step]) as (tag, _):
        data = convert(data)
        if data._dims is not None and len(data._dims) != 4:
            raise ValueError(f"Tensor must be of rank 4, got shape {data.shape}")
        if isinstance(max_outputs, int) and max_outputs < 0:
            raise ValueError(f"max_outputs must not be negative, got {max_outputs}")

        def pictures() -> Any:
            shape = raw.Shape(data)
            sizes = [as_string(shape[2]), as_string(shape[1])]
            encoded = raw.EncodePng(_as_bytes(data[:max_outputs]))
            return raw.ConcatV2([raw.Pack(sizes), encoded], 0)

        return write(tag, pictures, step, _metadata("images", description))


def _as_bytes(pixels: Any) -> Any:
    """Return pixels as bytes: floats scaled from [0, 1] and cut off there, wider integers cut to their high byte."""
    dtype = pixels.dtype.base_dtype
    if dtype in (dtypes.uint8, dtypes.uint16):
        return pixels if dtype is dtypes.uint8 else cast(raw.FloorDiv(pixels, cast(257, dtype)), dtypes.uint8)
    if dtype.is_integer:
        scale = (dtype.max + 1) // 256
        return cast(
            raw.ClipByValue(raw.FloorDiv(pixels, cast(scale, dtype)), cast(0, dtype), cast(255, dtype)), dtypes.uint8
        )
    scaled = pixels * cast(255.5, dtype)
    return cast(raw.Minimum(raw.Maximum(scaled, cast(0, dtype)), cast(255, dtype)), dtypes.uint8)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike | None = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Write the first clips of a batch [N, frames, channels], floats in [-1, 1]; return whether they were recorded."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with summary_scope(name, "audio_summary", [data, sample_rate, max_outputs, step]) as (tag, _):
        data = convert(data, dtypes.float32)
        if data._dims is not None and len(data._dims) != 3:
            raise ValueError(f"Tensor must be of rank 3, got shape {data.shape}")

        def clips() -> Any:
            rate = cast(convert(sample_rate), dtypes.int32)
            some = data[:max_outputs]
            encoded = map_fn(lambda clip: raw.EncodeWav(clip, rate), some, fn_output_signature=dtypes.string)
            labels = raw.Fill(raw.Shape(encoded), convert(np.array(b"", object)))
            return raw.Pack([encoded, labels], axis=1)

        return write(tag, clips, step, _metadata("audio", description, WAV))
