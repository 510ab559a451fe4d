"""TFRecord files: TensorFlow's own are read, ours are the same bytes, damage is found, memory is never promised."""

import contextlib
import gzip
import json
import pathlib
import struct
import threading
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ebbflow as tf
from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io import records
from ebbflow.io.records import (
    RandomRecordReader,
    RecordReader,
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    crc32c,
    masked_crc32c,
    tf_record_iterator,
)

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "tf221" / "tfrecord"
KINDS = ["", "GZIP", "ZLIB"]
RECORDS = [b"hello", b"", b"x" * 100]


def write(path, contents=RECORDS, options=None):
    with TFRecordWriter(path, options) as writer:
        for record in contents:
            writer.write(record)
    return path


def frame(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def test_checksums():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytearray(b"123456789")) == crc32c(memoryview(b"123456789")) == 0xE3069283
    assert crc32c(bytearray()) == crc32c(b"") == 0


@pytest.mark.parametrize(
    "name, kind", [("examples.tfrecord", ""), ("examples.tfrecord.gz", "GZIP"), ("examples.tfrecord.zlib", "ZLIB")]
)
def test_tensorflows_files_are_read(name, kind, tmp_path):
    plain = (GOLDEN / "examples.tfrecord").read_bytes()
    found = list(tf_record_iterator(GOLDEN / name, kind))
    assert len(found) == 6
    assert b"".join(map(frame, found)) == plain
    ours = write(tmp_path / "ours", found, kind).read_bytes()
    assert {"": bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}[kind](ours) == plain


def test_their_examples_say_what_was_put_in():
    expected = json.loads((GOLDEN / "expected.json").read_text())
    assert expected
    for record in tf_record_iterator(GOLDEN / "examples.tfrecord"):
        example = messages.parse(messages.Example, record)
        assert messages.serialize(example) == record
    sequence, empty = tf_record_iterator(GOLDEN / "sequence.tfrecord")
    assert messages.parse(messages.SequenceExample, sequence).feature_lists.feature_list
    assert empty == b""


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(st.binary(max_size=200), max_size=8))
def test_what_is_written_is_read(tmp_path, kind, contents):
    assert list(tf_record_iterator(write(tmp_path / "f", contents, kind), kind)) == contents


@pytest.mark.parametrize("kind", KINDS)
def test_records_larger_than_a_chunk(tmp_path, kind):
    large = bytes(range(256)) * (3 * records.CHUNK // 256) + b"tail"
    assert list(tf_record_iterator(write(tmp_path / "f", [large, b"a", large], kind), kind)) == [large, b"a", large]


def test_compressible_beyond_one_chunk(tmp_path):
    zeros = bytes(5 * records.CHUNK)  # a few kB on disk: zlib holds most of the output back
    assert list(tf_record_iterator(write(tmp_path / "f", [zeros, b"a"], "ZLIB"), "ZLIB")) == [zeros, b"a"]


@pytest.mark.parametrize("given_", [bytearray(b"ab"), memoryview(b"ab"), "ab", b"ab"], ids=lambda g: type(g).__name__)
def test_bytes_like_and_text_records(tmp_path, given_):
    assert list(tf_record_iterator(write(tmp_path / "f", [given_]))) == [b"ab"]


def test_a_record_must_be_bytes(tmp_path):
    with TFRecordWriter(tmp_path / "f") as writer, pytest.raises(TypeError):
        writer.write(3)


PLAIN = b"".join(map(frame, RECORDS))  # records start at 0, 21, 37
FLIPPED = bytearray(PLAIN)
FLIPPED[13] ^= 1
DAMAGED = [
    ("last byte missing", PLAIN[:-1], "", "truncated record at 37 in ", 2),
    ("checksum missing", PLAIN[:-5], "", "truncated record at 37 in ", 2),
    ("only a header", PLAIN[:12], "", "truncated record at 0 in ", 0),
    ("length changed", b"\x04" + PLAIN[1:], "", r"corrupted record at 0 \(Is this even a TFRecord file\?\) in ", 0),
    ("data changed", bytes(FLIPPED), "", "corrupted record at 12 in ", 0),
    ("later length changed", PLAIN[:21] + b"\x01" + PLAIN[22:], "", "corrupted record at 21 in ", 1),
    ("text", b"This is not a file of records.\n", "", "corrupted record at 0", 0),
    ("gzip read as plain", gzip.compress(PLAIN), "", "corrupted record at 0", 0),
    ("plain read as gzip", PLAIN, "GZIP", "inflate.* failed with error -3: incorrect header check in ", 0),
    ("zlib read as gzip", zlib.compress(PLAIN), "GZIP", "incorrect header check", 0),
    ("gzip with junk behind", gzip.compress(PLAIN) + b"junk", "GZIP", "incorrect header check", 3),
    ("truncated gzip", gzip.compress(PLAIN)[:-14], "GZIP", "truncated record at 37", 2),
    ("gzip with a wrong checksum", gzip.compress(PLAIN)[:-8] + b"\0" * 8, "GZIP", "incorrect data check", 0),
]


@pytest.mark.parametrize("data, kind, says, good", [d[1:] for d in DAMAGED], ids=[d[0] for d in DAMAGED])
def test_damage_is_found_and_placed(tmp_path, data, kind, says, good):
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with pytest.raises(errors.DataLossError, match=says) as caught:
        list(RecordReader(path, kind))
    assert str(path) in caught.value.message
    reader = RecordReader(path, kind)
    assert [reader.read() for _ in range(good)] == RECORDS[:good]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left", [1, 11])
def test_a_header_cut_short_is_the_end_for_now(tmp_path, kind, left):
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[kind]
    path = tmp_path / "growing"
    path.write_bytes(pack(frame(b"a") + frame(b"b")[:left]))
    reader = RecordReader(path, kind)
    assert [reader.read(), reader.read(), reader.read()] == [b"a", None, None]
    finished = RecordReader(path, kind, whole=True)
    assert finished.some(9) == [b"a"]
    for read in (finished.read, lambda: finished.some(9)):
        with pytest.raises(errors.DataLossError, match=f"truncated record at {finished.offset} in .*growing"):
            read()
    path.write_bytes(pack(frame(b"a") + frame(b"b")))
    reader.reopen()
    assert [reader.read(), reader.read()] == [b"b", None]


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
@pytest.mark.parametrize("lacks", ["the check at its end", "its end", "records"])
def test_compressed_data_cut_short_is_damage_in_a_whole_file(tmp_path, kind, lacks):
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS + (16 if kind == "GZIP" else 0))
    begun = packer.compress(frame(b"a") + frame(b"b")) + packer.flush(zlib.Z_SYNC_FLUSH)
    whole = begun + packer.compress(frame(b"c") * 9) + packer.flush()
    data = {"the check at its end": whole[:-2], "its end": whole[:-6], "records": begun}[lacks]
    path = tmp_path / "cut"
    for text, damaged in ((whole, False), (whole + whole, False), (data, True), (whole + data, True)):
        path.write_bytes(text)
        reader = RecordReader(path, kind, whole=True)
        try:
            found = list(reader)
        except errors.DataLossError as error:
            assert damaged and f"ends at {reader.offset} in {path}" in error.message
        else:
            assert not damaged and set(found) == {b"a", b"b", b"c"}
        growing = list(tf_record_iterator(path, kind))  # what is there so far
        assert growing[:2] == [b"a", b"b"]


def test_a_dataset_says_that_compressed_data_is_cut_short(tmp_path):
    packed = gzip.compress(frame(b"a") + frame(b"b"))
    path = tmp_path / "cut"
    path.write_bytes(packed[:-4])
    seen = []
    with pytest.raises(errors.DataLossError, match="compressed data is truncated"):
        for record in tf.data.TFRecordDataset(str(path), compression_type="GZIP"):
            seen.append(record.numpy())
    assert seen == [b"a", b"b"]


def test_an_empty_file_has_no_records(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert [list(tf_record_iterator(tmp_path / "empty", kind)) for kind in KINDS] == [[], [], []]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("claimed", [2**64 - 1, 2**62, 2**40])
def test_a_length_is_not_believed(tmp_path, kind, claimed):
    length = struct.pack("<Q", claimed)
    data = length + struct.pack("<I", masked_crc32c(length)) + b"little"
    path = tmp_path / "liar"
    path.write_bytes({"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[kind](data))
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        RecordReader(path, kind).read()


def test_no_more_is_inflated_than_a_file_can_hold(tmp_path, monkeypatch):
    length = struct.pack("<Q", 2**36)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(length + struct.pack("<I", masked_crc32c(length)) + bytes(20 << 20)))
    reader, read = RecordReader(path, "GZIP"), []
    take = reader._source.read
    monkeypatch.setattr(reader._source, "read", lambda size: read.append(size) or take(size))
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        reader.read()
    assert sum(read) < 100  # the header alone


def test_long_records_of_files_that_are_no_files_of_the_system():
    with TFRecordWriter("memory://records/long") as writer:
        writer.write(b"a" * 3_000_000)
    assert [len(record) for record in tf_record_iterator("memory://records/long")] == [3_000_000]


def test_streams_may_follow_each_other(tmp_path):
    path = tmp_path / "two"
    path.write_bytes(gzip.compress(frame(b"a")) + gzip.compress(frame(b"b")))
    assert list(tf_record_iterator(path, "GZIP")) == [b"a", b"b"]


@pytest.mark.parametrize("cut", range(1, len(frame(b"hello"))))
def test_no_part_of_a_record_passes_for_one(tmp_path, cut):
    path = tmp_path / "partial"
    path.write_bytes(frame(b"hello")[:cut])
    found = []
    with contextlib.suppress(errors.DataLossError):
        found = list(tf_record_iterator(path))
    assert found == []


MISSING = [
    (lambda p: tf_record_iterator(p / "none"), errors.NotFoundError, "none; No such file or directory"),
    (lambda p: tf_record_iterator(p), errors.FailedPreconditionError, "Is a directory"),
    (lambda p: TFRecordWriter(p / "no" / "such" / "folder"), errors.NotFoundError, "No such file or directory"),
    (lambda p: TFRecordWriter(p), errors.FailedPreconditionError, "Is a directory"),
]


@pytest.mark.parametrize("act, kind, says", MISSING)
def test_files_that_cannot_be_opened(tmp_path, act, kind, says):
    with pytest.raises(kind, match=says):
        act(tmp_path)


def test_closing(tmp_path):
    writer = TFRecordWriter(tmp_path / "f")
    writer.close()
    writer.close()
    for act in (writer.flush, lambda: writer.write(b"")):
        with pytest.raises(errors.FailedPreconditionError, match="Writer is closed"):
            act()
    reader = RecordReader(tmp_path / "f")
    reader.close()
    with pytest.raises(errors.FailedPreconditionError, match="reader is closed"):
        reader.read()


@pytest.mark.parametrize("kind", KINDS)
def test_flushed_records_can_be_read_at_once(tmp_path, kind):
    with TFRecordWriter(tmp_path / "f", kind) as writer:
        writer.write(b"a")
        writer.flush()
        assert RecordReader(tmp_path / "f", kind).read() == b"a"


@pytest.mark.parametrize("kind", KINDS)
def test_a_forgotten_writer_still_finishes_its_file(tmp_path, kind):
    writer = TFRecordWriter(tmp_path / "f", kind)
    writer.write(b"a")
    del writer
    assert list(tf_record_iterator(tmp_path / "f", kind)) == [b"a"]


@pytest.mark.parametrize("kind", KINDS)
def test_many_threads_write_whole_records(tmp_path, kind):
    with TFRecordWriter(tmp_path / "f", kind) as writer:
        texts = [bytes([65 + i]) * (i + 1) * 50 for i in range(8)]
        threads = [threading.Thread(target=lambda t=t: [writer.write(t) for _ in range(100)]) for t in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(tf_record_iterator(tmp_path / "f", kind)) == sorted(texts * 100)


def test_options():
    string = TFRecordOptions.get_compression_type_string
    assert [string(x) for x in (None, "", 0, 1, 2, "GZIP", TFRecordOptions("ZLIB"))] == [
        "",
        "",
        "",
        "ZLIB",
        "GZIP",
        "GZIP",
        "ZLIB",
    ]
    assert TFRecordOptions(TFRecordCompressionType.ZLIB).compression_type == 1
    for wrong in ("x", 7):
        with pytest.raises(ValueError, match=f'Not a valid compression_type: "{wrong}"'):
            TFRecordOptions(wrong)


def test_levels_of_compression(tmp_path):
    text = [bytes(i % 7 for i in range(5000))] * 20
    sizes = [
        len(write(tmp_path / "f", text, TFRecordOptions("GZIP", compression_level=level)).read_bytes())
        for level in (0, 1, 9)
    ]
    assert sizes[0] > sizes[1] >= sizes[2]
    assert list(tf_record_iterator(tmp_path / "f", "GZIP")) == text


def test_records_by_offset(tmp_path):
    reader = RandomRecordReader(write(tmp_path / "f"))
    record, following = reader.read(21)
    assert (record, following) == (b"", 37)
    assert reader.read(following)[0] == RECORDS[2]
    assert reader.read(0) == (b"hello", 21)
    with pytest.raises(IndexError, match="Out of range"):
        reader.read(len(PLAIN))
    with pytest.raises(errors.DataLossError):
        reader.read(3)


def test_an_iterator_goes_on_where_the_file_has_grown(tmp_path):
    path = str(tmp_path / "growing")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.flush()
        records = tf.compat.v1.io.tf_record_iterator(path)
        assert next(records) == b"one" and next(records, None) is None and next(records, None) is None
        writer.write(b"two")
        writer.flush()
        assert next(records) == b"two" and next(records, None) is None
    whole = (tmp_path / "growing").read_bytes()
    (tmp_path / "growing").write_bytes(whole[:-1])
    records = tf.compat.v1.io.tf_record_iterator(path)
    assert next(records) == b"one"
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError):
            next(records)
    with open(path, "ab") as file:
        file.write(whole[-1:])
    assert next(records) == b"two"
