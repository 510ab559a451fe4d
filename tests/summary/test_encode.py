"""Summaries of arrays: the very messages TensorFlow's kernels make, their refusals, files that TensorBoard shows."""

import io
import itertools
import json
import pathlib
import struct
import zlib

import numpy as np
import pytest

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.io.events import EventFileWriter
from ebbflow.ops.image.png import encode_png
from ebbflow.summary import encode

KERNELS = json.loads((pathlib.Path(__file__).parents[1] / "golden" / "summary" / "kernels.json").read_text())


# What the recorded cases are written with; `tools/record/summaries.py` has the same.


def random(*shape):
    return np.random.RandomState(7).normal(size=shape)


def bytes_(*shape):
    return np.random.RandomState(7).randint(0, 256, shape).astype(np.uint8)


def smooth(*shape):
    return (np.cumsum(np.random.RandomState(7).randint(0, 5, shape), 2) % 256).astype(np.uint8)


def holes(array):
    array = array.copy()
    array.reshape(-1)[[0, 5, 9]] = [np.nan, np.inf, -np.inf]
    return array


def f(values):
    return np.array(values, np.float32)


def color(values):
    return np.array(values, np.uint8)


def strings(*shape):
    return np.empty(shape, object)


def scalars(*tags):
    values = [(b"\n" + bytes([len(t)]) + t.encode() if t else b"") + b"\x15\x00\x00\x80\x3f" for t in tags]
    return b"".join(b"\n" + bytes([len(v)]) + v for v in values)


def of(dtype, values):
    if dtype == "string":
        return np.array(
            [[str(x) if isinstance(x, int) else x for x in v] if isinstance(v, list) else v for v in values], object
        )
    return np.array(values).astype(dtypes.as_dtype(dtype).np)


def call(case):
    return eval(case, {**vars(encode), **globals()})


def without_pictures(summary):
    copy = messages.Summary.FromString(summary.SerializeToString())
    for value in copy.value:
        value.image.ClearField("encoded_image_string")
    return copy


def pixels(png):
    """The pixels of a PNG of 8-bit channels, by the book."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(kind + data)
        chunks.append((kind, data))
        at += 12 + size
    width, height, depth, color_type, *_ = struct.unpack(">IIBBBBB", chunks[0][1])
    assert depth == 8
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[color_type]
    raw = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    rows, before = [], [0] * (width * channels)
    for r in range(height):
        way, *row = raw[r * (width * channels + 1) : (r + 1) * (width * channels + 1)]
        for i in range(len(row)):
            a, c = (row[i - channels], before[i - channels]) if i >= channels else (0, 0)
            b = before[i]
            near = min((a, b, c), key=lambda x: abs(a + b - c - x))
            row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[way]) % 256
        rows.append(row)
        before = row
    return np.array(rows, np.uint8).reshape(height, width, channels)


@pytest.mark.parametrize("golden", [g for g in KERNELS if "hex" in g], ids=lambda g: g["case"])
def test_messages_are_tensorflows(golden):
    ours, theirs = call(golden["case"]), messages.Summary.FromString(bytes.fromhex(golden["hex"]))
    assert without_pictures(ours) == without_pictures(theirs) or "nan" in golden["case"]
    assert messages.to_text(without_pictures(ours)) == messages.to_text(without_pictures(theirs))
    for our_value, their_value in zip(ours.value, theirs.value, strict=True):
        if their_value.HasField("image"):
            png, expected = our_value.image.encoded_image_string, their_value.image.encoded_image_string
            assert np.array_equal(pixels(png), pixels(expected))
            if "ng" not in zlib.ZLIB_RUNTIME_VERSION:  # zlib-ng packs differently
                assert png == expected


@pytest.mark.parametrize("golden", [g for g in KERNELS if "error" in g], ids=lambda g: g["case"])
def test_refusals_are_tensorflows(golden):
    with pytest.raises(errors.InvalidArgumentError) as caught:
        call(golden["case"])
    assert caught.value.message.strip() == golden["says"]


def test_the_largest_double_has_a_bucket():
    largest = np.finfo(np.float64).max
    histo = encode.histogram_summary("h", np.array([largest, -largest, largest])).value[0].histo
    assert (histo.min, histo.max, histo.num) == (-largest, largest, 3)
    assert sum(histo.bucket) == 3
    assert histo.bucket_limit[-1] == largest


def test_every_value_is_in_the_bucket_below_its_limit():
    values = np.sort(random(2000) * 10.0 ** np.random.RandomState(3).randint(-8, 8, 2000))
    histo = encode.histogram_proto(values)
    limits, counts = np.array(histo.bucket_limit), np.array(histo.bucket)
    assert np.all(np.diff(limits) > 0)
    edges = np.concatenate([[-np.inf], limits])
    assert counts.tolist() == [np.sum((values >= a) & (values < b)) for a, b in itertools.pairwise(edges)]


def test_a_tag_must_be_text():
    with pytest.raises(errors.InvalidArgumentError, match="not valid UTF-8"):
        encode.scalar_summary(b"\xff", 1.0)


def test_tags_and_metadata_in_their_other_forms():
    assert encode.scalar_summary(b"a", 1.0) == encode.scalar_summary("a", 1.0)
    metadata = encode.plugin_metadata(
        "scalars", b"x", "name", "why", messages.enum("DataClass").Value("DATA_CLASS_SCALAR")
    )
    ours = encode.tensor_summary_v2("t", f(1), metadata)
    assert ours == encode.tensor_summary_v2("t", f(1), messages.serialize(metadata))
    assert ours.value[0].metadata.plugin_data.plugin_name == "scalars"
    merged = encode.merge_summaries([ours, encode.scalar_summary("a", 1.0)])
    assert [value.tag for value in merged.value] == ["t", "a"]


def test_a_rate_too_high_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match="sample_rate must be in"):
        encode.audio_summary("a", np.zeros((1, 2)), 1e30)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_of_every_kind(channels):
    image = bytes_(7, 5, channels)
    assert np.array_equal(pixels(encode_png(image)), image)


def test_other_programs_read_the_png():
    from PIL import Image

    image = smooth(30, 40, 3)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(encode_png(image)))), image)


def test_tensorboard_shows_it_all(tmp_path):
    from tensorboard.backend.event_processing import event_accumulator  # takes a second to import

    summary = encode.merge_summaries(
        [
            encode.scalar_summary(["loss", "accuracy"], [0.5, 0.9]),
            encode.histogram_summary("weights", random(100)),
            encode.image_summary("digits", abs(random(2, 4, 4, 1))),
            encode.audio_summary("clip", random(1, 100) / 4, 8000.0),
            encode.text_summary("note", "hello **there**"),
            encode.tensor_summary_v2("v2", f(2.5), encode.plugin_metadata("scalars")),
        ]
    )
    with EventFileWriter(tmp_path) as writer:
        writer.add_event(messages.Event(wall_time=1.0, step=7, summary=summary))
    found = event_accumulator.EventAccumulator(str(tmp_path))
    found.Reload()
    tags = found.Tags()
    assert set(tags["scalars"]) == {"loss", "accuracy"}
    assert tags["histograms"] == ["weights"]
    assert tags["images"] == ["digits/image/0", "digits/image/1"]
    assert tags["audio"] == ["clip/audio/0"]
    assert set(tags["tensors"]) == {"note", "v2"}
    assert found.Scalars("loss")[0].value == 0.5
    assert found.Histograms("weights")[0].histogram_value.num == 100
    assert np.array_equal(
        pixels(found.Images("digits/image/0")[0].encoded_image_string),
        pixels(summary.value[3].image.encoded_image_string),
    )
    assert found.Audio("clip/audio/0")[0].sample_rate == 8000.0
    assert found.Tensors("note")[0].tensor_proto.string_val[0] == b"hello **there**"
    assert "text" in {m.plugin_data.plugin_name for m in [found.SummaryMetadata("note")]}
