"""Arrays as `Summary` messages, as TensorFlow's summary kernels make them: numbers, histograms, images, sound, text.

Pure functions: arrays in, a message out. They know nothing of ops, graphs or files. Pictures are made by `ops.png`,
sound by `ops.wav`, both as TensorFlow's libraries would write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.messages.histograms import histogram_proto
from ebbflow.messages.tensors import content_proto
from ebbflow.ops.audio.wav import encode_wav
from ebbflow.ops.image.png import encode_png

if TYPE_CHECKING:
    from google.protobuf.message import Message

RED = (255, 0, 0, 255)


def scalar_summary(tags: Any, values: Any) -> Message:
    """One `simple_value` for each tag.

    >>> scalar_summary("loss", 0.5).value[0].simple_value
    0.5
    """
    tags, values = np.asarray(tags, object), np.asarray(values)
    if tags.shape != values.shape:
        single = f" (tag '{_text(tags.item())}')" if tags.size == 1 else ""
        shapes = f"{_dims(tags.shape)} != {_dims(values.shape)}"
        raise _invalid(f"tags and values are not the same shape: {shapes}{single}")
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32).ravel().tolist()
    Value = messages.Summary.Value
    pairs = zip(tags.ravel(), numbers, strict=True)
    return messages.Summary(value=[Value(tag=_text(tag), simple_value=number) for tag, number in pairs])


# Histograms ---------------------------------------------------------------------------------------------------------


def histogram_summary(tag: Any, values: Any, name: str = "HistogramSummary") -> Message:
    """How many of `values` lie in each bucket; `name` is the node's, for the error."""
    tag = _scalar(tag, "tags must be scalar")
    values = np.asarray(values).ravel().astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        first = values[np.argmin(finite)]
        raise _invalid(
            f"Nan in summary histogram for: {name}" if np.isnan(first) else f"Infinity in Histogram for: {name}"
        )
    return messages.Summary(value=[messages.Summary.Value(tag=tag, histo=histogram_proto(values))])


# Images -------------------------------------------------------------------------------------------------------------


def image_summary(tag: Any, tensor: Any, max_images: int = 3, bad_color: Any = RED) -> Message:
    """Up to `max_images` pictures of a batch [N, height, width, 1, 3 or 4 channels], as PNG.

    uint8 is shown as it is; floats are scaled, each picture for itself, and pixels that are not finite get `bad_color`.
    """
    tag = _scalar(tag, "Tags must be a scalar")
    tensor, color = np.asarray(tensor), _color(bad_color)
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise _invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {_dims(tensor.shape)}")
    count, height, width, channels = tensor.shape
    if count and not (height and width):
        raise _invalid(f"input tensor must have non-zero dims. Found: {list(tensor.shape)}.")
    if max(height, width) >= 2**31 or height * width >= 2**31:
        raise _invalid(f"Tensor too large for summary {_dims(tensor.shape)}")
    summary = messages.Summary()
    for i, picture in enumerate(tensor[:max_images]):
        pixels = picture if picture.dtype == np.uint8 else pixels_of_floats(picture, color)
        value = summary.value.add(tag=f"{tag}/image/{i}" if max_images > 1 else f"{tag}/image")
        value.image.height, value.image.width, value.image.colorspace = height, width, channels
        value.image.encoded_image_string = encode_png(pixels)
    return summary


def pixels_of_floats(picture: np.ndarray, bad_color: Sequence[int] | np.ndarray = RED) -> np.ndarray:
    """Floats [height, width, channels] as bytes, and pixels that are not finite as `bad_color`.

    If any number is negative, zero becomes 128 and the largest magnitude 1 or 255; otherwise the largest becomes 255.
    The scale is a float32, all else is of the picture's own type: where a half overflows, TensorFlow shows black.
    """
    channels = picture.shape[-1]
    if channels > len(bad_color):
        sizes = f"got depth = {channels}, bad_color.size = {len(bad_color)}"
        raise _invalid(f"expected depth <= bad_color.size, {sizes}")
    kind = picture.dtype.type
    good = np.isfinite(picture).all(axis=-1)
    low = np.float32(picture[good].min(initial=np.inf))
    high = np.float32(picture[good].max(initial=-np.inf))
    largest, span, offset = (max(-low, abs(high)), 127, 128) if low < 0 else (high, 255, 0)
    with np.errstate(all="ignore"):
        scale = np.float32(0) if largest < 1e-6 else np.float32(span) / largest
        scaled = picture * kind(scale) + kind(offset)
        pixels = np.nan_to_num(scaled, nan=0.0, posinf=0.0, neginf=0.0).astype(np.int32).astype(np.uint8)
    pixels[~good] = np.asarray(bad_color[:channels], np.uint8)
    return pixels


def _color(bad_color: Any) -> np.ndarray:
    color = np.asarray(bad_color)
    if color.dtype == np.int64:  # a plain tuple of numbers
        color = color.astype(np.uint8)
    if color.dtype != np.uint8:
        raise _invalid(f"bad_color must be uint8, got {_type_name(color.dtype)}")
    if color.ndim != 1:
        raise _invalid(f"bad_color must be a vector, got shape {_dims(color.shape)}")
    return color


def _type_name(kind: np.dtype) -> str:
    """The name C++ gives a type: `float` for float32."""
    number = dtypes.from_numpy(kind).as_datatype_enum
    return messages.enum("DataType").Name(number).removeprefix("DT_").lower()


# Sound --------------------------------------------------------------------------------------------------------------


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3) -> Message:
    """Up to `max_outputs` clips of a batch [N, frames] or [N, frames, channels] of floats in [-1, 1], as WAV."""
    tag = _scalar(tag, "Tag must be a scalar")
    tensor = np.asarray(tensor, np.float32)
    if tensor.ndim not in (2, 3):
        raise _invalid(f"Tensor must be 3-D or 2-D, got: {_dims(tensor.shape)}")
    rate = float(np.asarray(sample_rate, np.float32).reshape(-1)[0])
    if not rate > 0:
        raise _invalid("sample_rate must be > 0")
    summary = messages.Summary()
    for i, clip in enumerate(tensor[:max_outputs]):
        frames = clip if clip.ndim == 2 else clip[:, None]
        value = summary.value.add(tag=f"{tag}/audio/{i}" if max_outputs > 1 else f"{tag}/audio")
        audio = value.audio
        audio.sample_rate, audio.content_type = rate, "audio/wav"
        audio.length_frames, audio.num_channels = frames.shape
        audio.encoded_audio_string = encode_wav(frames, max(1, round(rate)))
    return summary


# Tensors ------------------------------------------------------------------------------------------------------------


def tensor_summary_v1(tensor: Any, name: str = "TensorSummary") -> Message:
    """A whole tensor, under the name of the node that made it (the op `TensorSummary`)."""
    value = messages.Summary.Value(node_name=name, tensor=content_proto(np.asarray(tensor)))
    return messages.Summary(value=[value])


def tensor_summary_v2(tag: Any, tensor: Any, metadata: Any = b"") -> Message:
    """A whole tensor under a tag; `metadata`, a `SummaryMetadata` or its bytes, says which plugin shows it."""
    tag = _scalar(tag, "tag must be scalar")
    value = messages.Summary.Value(tag=tag, tensor=content_proto(np.asarray(tensor)))
    value.metadata.SetInParent()
    if not isinstance(metadata, messages.SummaryMetadata):
        metadata = _parse_metadata(metadata)
    value.metadata.CopyFrom(metadata)
    return messages.Summary(value=[value])


def text_summary(tag: Any, tensor: Any) -> Message:
    """Strings for TensorBoard's text page, which reads them as Markdown."""
    return tensor_summary_v2(tag, np.asarray(tensor, object), plugin_metadata("text"))


def plugin_metadata(
    plugin_name: str,
    content: bytes = b"",
    display_name: str = "",
    summary_description: str = "",
    data_class: int = 0,
) -> Message:
    """A `SummaryMetadata` that names the plugin of TensorBoard a tensor is for."""
    metadata = messages.SummaryMetadata(
        display_name=display_name, summary_description=summary_description, data_class=data_class
    )
    metadata.plugin_data.plugin_name = plugin_name
    metadata.plugin_data.content = content
    return metadata


def _parse_metadata(data: Any) -> Message:
    data = np.asarray(data, object)
    if data.ndim:
        raise _invalid("serialized_summary_metadata must be scalar")
    try:
        return messages.parse(messages.SummaryMetadata, data.item())
    except errors.DataLossError:  # TensorFlow's kernel passes over it
        return messages.SummaryMetadata()


# Merging ------------------------------------------------------------------------------------------------------------


def merge_summaries(inputs: Iterable[Any]) -> Message:
    """All values of several summaries in one; each input is a message, its bytes, or an array of bytes."""
    merged, seen = messages.Summary(), set()
    for summary in _summaries(inputs):
        for value in summary.value:
            if value.tag and value.tag in seen:
                raise _invalid(f"Duplicate tag {value.tag} found in summary inputs ")
            seen.add(value.tag)
        merged.MergeFrom(summary)
    return merged


def _summaries(inputs: Iterable[Any]) -> Iterable[Message]:
    for given in inputs:
        if isinstance(given, messages.Summary):
            yield given
            continue
        for data in np.asarray(given, object).ravel():
            try:
                yield messages.parse(messages.Summary, data)
            except errors.DataLossError as e:
                raise _invalid("Could not parse one of the summary inputs") from e


def _scalar(tag: Any, otherwise: str) -> str:
    tag = np.asarray(tag, object)
    if tag.ndim:
        raise _invalid(otherwise)
    return _text(tag.item())


def _text(tag: Any) -> str:
    try:
        return tag.decode("utf-8") if isinstance(tag, bytes) else tag
    except UnicodeDecodeError:
        raise _invalid(f"tag {tag!r} is not valid UTF-8") from None


def _dims(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _invalid(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)
