"""Damaged input: examples, tables, pictures, sounds. It is read, or refused with one of TensorFlow's errors."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import pathlib
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image

import ebbflow as tf
from ebbflow.data import file_ops
from ebbflow.data.readers import matching_files_dataset
from ebbflow.ops.parsing import decode_ops

Dataset = tf.data.Dataset


def example():
    lists = {
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 300])),
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"xyz"])),
        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0])),
    }
    return tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString()


def picture(kind):
    file = io.BytesIO()
    pixels = np.random.RandomState(0).randint(0, 256, (16, 20, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


ASKED = {
    "a": tf.io.VarLenFeature(tf.int64),
    "b": tf.io.FixedLenFeature([], tf.string, ""),
    "f": tf.io.VarLenFeature(tf.float32),
}
READERS = {
    "one example": (example, lambda data: tf.io.parse_single_example(data, ASKED)),
    "examples": (example, lambda data: tf.io.parse_example([data, data], ASKED)),
    "sequence": (example, lambda data: tf.io.parse_single_sequence_example(data, ASKED)),
    "tensor": (
        lambda: tf.io.serialize_tensor(np.arange(6.0).reshape(2, 3)).numpy(),
        lambda data: tf.io.parse_tensor(data, tf.float64),
    ),
    "wav": (
        lambda: tf.audio.encode_wav(np.zeros((50, 2), np.float32), 8000).numpy(),
        lambda data: tf.audio.decode_wav(data),
    ),
    "jpeg": (lambda: picture("JPEG"), lambda data: tf.io.decode_jpeg(data)),
    "png": (lambda: picture("PNG"), lambda data: tf.io.decode_png(data)),
    "gif": (lambda: picture("GIF"), lambda data: tf.io.decode_gif(data)),
    "bmp": (lambda: picture("BMP"), lambda data: tf.io.decode_bmp(data)),
    "image": (lambda: picture("PNG"), lambda data: tf.io.decode_image(data)),
    "json": (
        lambda: b'{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}',
        lambda data: tf.io.decode_json_example(data),
    ),
    "line": (lambda: b'1,"a ""b""",2.5', lambda data: tf.io.decode_csv(data, [[0], [""], [0.0]])),
    "deflated": (lambda: zlib.compress(b"abc" * 99), lambda data: tf.io.decode_compressed(data, "ZLIB")),
}


def damaged(data, random):
    """Some bytes are others, and half the time the end is missing; the first bytes, which say the kind, mostly stay."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 5)):
        changed[random.randint(random.choice([0, 4]), len(changed))] = random.randint(256)
    return bytes(changed[: random.randint(1, len(changed) + 1)]) if random.randint(2) else bytes(changed)


@pytest.mark.parametrize("name", READERS)
def test_damaged_bytes_are_read_or_refused(name):
    make, read = READERS[name]
    whole, random, refused = make(), np.random.RandomState(1), 0
    read(whole)
    for _ in range(150):
        data = damaged(whole, random)
        try:
            read(data)
        except tf.errors.OpError as error:
            assert str(error).strip(), data
            refused += 1
    assert refused > 10


def test_png_files_must_go_on_to_their_end():
    whole = picture("PNG")
    for missing in (1, 12, 13):
        with pytest.raises(tf.errors.InvalidArgumentError, match="truncated"):
            tf.io.decode_png(whole[:-missing])


def test_patterns_that_nothing_matches(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="any matched files"):
        list(matching_files_dataset(str(tmp_path / "*")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be empty"):
        matching_files_dataset([])
    (tmp_path / "a").touch()
    assert list(matching_files_dataset(str(tmp_path / "*"))) == [str(tmp_path / "a").encode()]


# --- bombs ------------------------------------------------------------------------------------------------------------


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(side):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1 << 16))) + chunk(b"IEND", b"")


def gif_of(side, frames):
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x4c\x01\x00"
    return b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6) + frame * frames + b"\x3b"


def jpeg_of(side):
    data = bytearray(picture("JPEG"))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", side, side)
    return bytes(data)


def bmp_of(side):
    return b"BM" + struct.pack("<IHHIIiiHH", 54, 0, 0, 54, 40, side, side, 1, 24) + bytes(24)


@pytest.mark.parametrize(
    ("read", "data", "says"),
    [(tf.io.decode_png, png_of(2_000_000), "initialize decoder"), (tf.io.decode_image, png_of(24_000), "too large"),
     (tf.io.decode_gif, gif_of(65535, 3000), "GIF|OOM"), (tf.io.decode_image, gif_of(65535, 3000), "GIF|OOM"),
     (tf.io.decode_jpeg, jpeg_of(14_000), "too large"), (tf.io.decode_image, jpeg_of(65_500), "too large"),
     (lambda data: tf.io.decode_jpeg(data, channels=1), jpeg_of(23_171), "too large"),
     (lambda data: tf.io.decode_jpeg(data, ratio=4), jpeg_of(65_500), "too large"),
     (lambda data: tf.io.decode_and_crop_jpeg(data, [0, 0, 1, 1]), jpeg_of(14_000), "too large"),
     (tf.io.decode_bmp, bmp_of(20_000), "less than 2\\^30")],
    ids=["png", "image of png", "gif", "image of gif", "jpeg", "image of jpeg", "grey", "a quarter", "crop", "bmp"],
)  # fmt: skip
def test_pictures_that_would_fill_the_memory_are_refused(read, data, says):
    with pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError), match=says):
        read(data)


def test_texts_are_inflated_a_little_at_a_time(monkeypatch):
    monkeypatch.setattr(decode_ops, "LARGEST", 1 << 20)
    monkeypatch.setattr(decode_ops, "STEP", 1 << 16)
    bomb = zlib.compress(bytes(1 << 26))
    tracemalloc.start()
    try:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="grow beyond 1048576"):
            tf.io.decode_compressed(bomb, "ZLIB")
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("data", "form", "found"),
    [(zlib.compress(b"abc" * 99)[:-4], "ZLIB", b"abc" * 99), (b"", "ZLIB", b""),
     (gzip.compress(b"abc") + gzip.compress(b"de"), "GZIP", b"abcde"),
     (zlib.compress(b"abc") + zlib.compress(b"de"), "ZLIB", b"abc")],
    ids=["cut short", "nothing", "two parts", "bytes behind it"],
)  # fmt: skip
def test_texts_are_inflated_as_far_as_they_go(data, form, found):
    assert tf.io.decode_compressed(data, form).numpy() == found


@pytest.fixture
def bomb(tmp_path):
    path = tmp_path / "zeros.gz"
    path.write_bytes(gzip.compress(bytes(1 << 26), 1))
    return str(path)


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (lambda name: tf.data.TextLineDataset(name, "GZIP"), "line of more than"),
        (lambda name: tf.data.experimental.CsvDataset(name, [tf.string], compression_type="GZIP"), "line of more than"),
        (lambda name: tf.data.TFRecordDataset(name, "GZIP"), "corrupted record at 0"),
        (lambda name: tf.data.FixedLengthRecordDataset(name, 1 << 50, compression_type="GZIP"), "OOM"),
        (lambda name: tf.data.FixedLengthRecordDataset(name, 1000, compression_type="GZIP").skip(9), None),
    ],
    ids=["lines", "table", "records", "a long piece", "pieces"],
)
def test_compressed_files_are_read_a_little_at_a_time(read, says, bomb, monkeypatch):
    monkeypatch.setattr(file_ops, "LONGEST", 1 << 21)
    tracemalloc.start()
    try:
        refused = (tf.errors.ResourceExhaustedError, tf.errors.DataLossError)
        with pytest.raises(refused, match=says) if says else contextlib.nullcontext():
            assert next(iter(read(bomb))) == bytes(1000)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


def test_a_sound_that_says_it_is_long():
    data = bytearray(tf.audio.encode_wav(np.zeros((50, 2), np.float32), 8000).numpy())
    data[40:44] = struct.pack("<I", 2**32 - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="4294967295 bytes are stated, 200 are there"):
        tf.audio.decode_wav(bytes(data))


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [tf.data.TFRecordDataset, tf.data.TextLineDataset])
def test_no_file_and_no_plain_file(kind, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        list(kind(str(tmp_path / "none")))
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        list(kind(str(tmp_path)))


def test_a_file_that_vanishes_is_told_where_it_would_have_come(tmp_path):
    paths = [str(tmp_path / name) for name in "abc"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(b"x")
    read = Dataset.from_tensor_slices(paths).interleave(tf.data.TFRecordDataset, cycle_length=1, num_parallel_calls=2)
    records = iter(read)
    next(records)
    (tmp_path / "c").unlink()
    next(records)
    with pytest.raises(tf.errors.NotFoundError, match="c"):
        next(records)


def _told(dataset, most=12):
    """Return what an iterator gives up to its end, with the names of the errors between."""
    iterator, seen = iter(dataset), []
    while len(seen) < most:
        try:
            found = next(iterator)
            seen.append(found if isinstance(found, tuple) else np.array(found.numpy(), object).tolist())
        except StopIteration:
            return seen
        except tf.errors.OpError as error:
            seen.append(type(error).__name__)
    return seen


def _records(names):
    for name in names:
        with tf.io.TFRecordWriter(name) as writer:
            writer.write(name[-1] + "0")
            writer.write(name[-1] + "1")


def test_records_behind_a_damaged_one_are_those_of_the_next_file(tmp_path):
    names = [str(tmp_path / name) for name in "abc"]
    _records(names)
    with open(names[1], "ab") as file:
        file.write(b"no record at all")
    records = tf.data.TFRecordDataset(names)
    assert _told(records) == [b"a0", b"a1", b"b0", b"b1", "DataLossError", b"c0", b"c1"]
    assert _told(records.batch(2)) == [[b"a0", b"a1"], [b"b0", b"b1"], "DataLossError", [b"c0", b"c1"]]
    assert _told(records.ignore_errors(log_warning=True)) == [b"a0", b"a1", b"b0", b"b1", b"c0", b"c1"]


def _with_the_second_missing(tmp_path, kind):
    names = [str(tmp_path / name) for name in "abc"]
    if kind == "records":
        _records(names)
        os.remove(names[1])
        return tf.data.TFRecordDataset(names)
    for name in (names[0], names[2]):
        pathlib.Path(name).write_text("1234\n5678\n")
    if kind == "pieces":
        return tf.data.FixedLengthRecordDataset(names, 5)
    if kind == "table":
        return tf.data.experimental.CsvDataset(names, [tf.int32]).map(lambda x: x)
    return tf.data.TextLineDataset(names)


LATER_STAGES = {  # and how many elements come before the error, after each of which it comes again
    "": (lambda dataset: dataset, 2),
    "batch": (lambda dataset: dataset.batch(2), 1),
    "map": (lambda dataset: dataset.map(lambda x: x), 2),
    "calls": (lambda dataset: dataset.map(lambda x: tf.py_function(lambda y: y, [x], x.dtype), 2), 2),
    "prefetch": (lambda dataset: dataset.prefetch(3), 2),
    "shuffle": (lambda dataset: dataset.shuffle(10), 0),
    "cache": (lambda dataset: dataset.cache(), 2),
    "repeat": (lambda dataset: dataset.repeat(), 2),
    "flat map": (lambda dataset: Dataset.range(3).flat_map(lambda x: dataset), 2),
    "interleave": (lambda dataset: Dataset.range(1).interleave(lambda x: dataset, num_parallel_calls=2), 2),
    "any order": (
        lambda dataset: Dataset.range(1).interleave(lambda x: dataset, num_parallel_calls=2, deterministic=False),
        2,
    ),
    "windows": (lambda dataset: dataset.window(2).flat_map(lambda window: window.batch(2)), 1),
}


@pytest.mark.parametrize("stage", LATER_STAGES)
@pytest.mark.parametrize("kind", ["records", "lines", "pieces", "table"])
def test_a_missing_file_is_an_error_each_time(tmp_path, kind, stage):
    later, before = LATER_STAGES[stage]
    dataset = later(_with_the_second_missing(tmp_path, kind))
    seen = _told(dataset)
    assert len(seen) == 12 and "NotFoundError" not in seen[:before] and set(seen[before:]) == {"NotFoundError"}


@pytest.mark.parametrize("stage", sorted({*LATER_STAGES} - {"repeat", "windows"}))
@pytest.mark.parametrize("kind", ["records", "lines", "pieces", "table"])
def test_files_behind_a_missing_one_are_read_where_errors_are_ignored(tmp_path, kind, stage):
    rows = LATER_STAGES[stage][0](_with_the_second_missing(tmp_path, kind)).ignore_errors()
    seen = _told(rows, most=100)
    count = sum(len(found) if isinstance(found, list) else 1 for found in seen)
    lost = (kind, stage) == ("table", "batch")  # behind a map it is one step, and the error has a place in the batch
    assert "NotFoundError" not in seen and count == (12 if stage == "flat map" else 3 if lost else 4)


def test_what_cannot_be_inflated_or_asked_is_an_error_each_time(tmp_path):
    path = tmp_path / "a"
    path.write_text("1\n")
    assert set(_told(tf.data.TextLineDataset(str(path), compression_type="GZIP"))) == {"DataLossError"}
    rows = tf.data.experimental.SqlDataset("sqlite", str(tmp_path / "b"), "select a from t", (tf.int32,))
    assert set(_told(rows)) == {"UnknownError"}
    assert _told(rows.ignore_errors()) == []
