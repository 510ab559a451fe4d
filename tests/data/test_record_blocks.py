"""Records and lines read by the block: the same as one by one, damaged files included; examples parsed by the block."""

from __future__ import annotations

import gzip
import importlib.util
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.pipe import pipe_of
from ebbflow.data.running import PLAIN, PLANNED
from ebbflow.io.records import RecordReader

_spec = importlib.util.spec_from_file_location("planner_checks", pathlib.Path(__file__).with_name("test_planner.py"))
checks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checks)

Dataset = tf.data.Dataset


def write(path, records, compression=""):
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return str(path)


RECORDS = [bytes([i % 251]) * (i * 7 % 300) for i in range(3000)]
LONG = [b"first", b"x" * (3 << 20), b"", b"last", b"y" * (1 << 20)]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("records", [RECORDS, LONG, [], [b""]], ids=["many", "long", "none", "empty"])
def test_blocks_of_records_are_the_records(tmp_path, records, compression):
    path = write(tmp_path / "records", records, compression)
    for most in (1, 7, 5000):
        reader, found = RecordReader(path, compression), []
        while some := reader.some(most):
            assert len(some) <= most
            found += some
        assert found == records and reader.some(3) == []
    dataset = tf.data.TFRecordDataset([path, path], compression)
    assert checks.elements(dataset, PLANNED, 9999) == checks.elements(dataset, PLAIN, 9999)


def damaged(path, place, how):
    data = bytearray(pathlib.Path(path).read_bytes())
    if how == "cut":
        del data[place:]
    elif how == "length":
        data[place : place + 8] = (2**60).to_bytes(8, "little")
    else:
        data[place] ^= 0xFF
    pathlib.Path(path).write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["cut", "length", "flip"])
@pytest.mark.parametrize("place", [0, 5, 11, 12, 20, 1000, 5000, 20017])
def test_everything_before_the_damage_is_delivered(tmp_path, place, how):
    path = write(tmp_path / "records", RECORDS[:200])
    damaged(path, place, how)
    dataset = tf.data.TFRecordDataset(path)
    by_column = checks.elements(dataset.batch(1), PLANNED)
    assert by_column == checks.elements(dataset.batch(1), PLAIN)
    ends = np.cumsum([len(r) + 16 for r in RECORDS[:200]])
    whole = int(np.searchsorted(ends, place, "right"))
    assert len([e for e in by_column if not isinstance(e[0], type)]) == whole
    if how != "cut" or place not in (0, ends[whole - 1]):
        kind, text, _ = next(e for e in by_column if isinstance(e[0], type))
        assert kind is tf.errors.DataLossError and path in text


def test_damage_in_compressed_records(tmp_path):
    path = tmp_path / "records"
    plain = pathlib.Path(write(tmp_path / "plain", RECORDS[:100])).read_bytes()
    path.write_bytes(gzip.compress(plain[:4000] + b"\xff" + plain[4001:]))
    dataset = tf.data.TFRecordDataset(str(path), "GZIP")
    found = checks.elements(dataset, PLANNED)
    assert found == checks.elements(dataset, PLAIN) and found[-1][0] is tf.errors.DataLossError


def test_missing_files_are_named():
    for mode in (PLANNED, PLAIN):
        (kind, text, _), *_ = checks.elements(tf.data.TFRecordDataset("/nowhere/file"), mode)
        assert kind is tf.errors.NotFoundError and "/nowhere/file" in text


@pytest.mark.parametrize("text", [b"", b"\n", b"a\nb", b"a\r\nb\r\n", b"x" * 300000 + b"\n\ny\n" * 70000])
def test_blocks_of_lines_are_the_lines(tmp_path, text):
    (tmp_path / "lines").write_bytes(text)
    dataset = tf.data.TextLineDataset([str(tmp_path / "lines")] * 2).batch(100)
    assert checks.elements(dataset, PLANNED) == checks.elements(dataset, PLAIN)


# --- examples ---------------------------------------------------------------------------------------------------------

FEATURES = {
    "x": tf.io.FixedLenFeature([3], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64, default_value=-7),
    "name": tf.io.FixedLenFeature([], tf.string, default_value="none"),
}


def example(i):
    feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5, -i]))}
    if i % 3:
        feature["label"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[i * 10**9]))
    if i % 5:
        feature["name"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n" * (i % 4)]))
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def parsed(records):
    return Dataset.from_tensor_slices(records).map(lambda record: tf.io.parse_single_example(record, FEATURES))


def test_examples_are_parsed_by_the_block():
    records = [example(i) for i in range(300)]

    def dataset():
        return parsed(records).shuffle(50, seed=1).batch(32)

    assert checks.planned(dataset())
    assert checks.elements(dataset(), PLANNED) == checks.elements(dataset(), PLAIN)


def test_a_malformed_example_is_named_and_the_others_are_parsed():
    records = [example(i) for i in range(60)]
    records[37] = b"\x0a\xff\xff"
    found = checks.elements(parsed(records), PLANNED)
    assert found == checks.elements(parsed(records), PLAIN)
    assert [e[2] for e in found if isinstance(e[0], type)] == [37] and len(found) == 60


def test_raw_bytes_are_decoded_by_the_block():
    rows = [np.arange(4, dtype=np.int32) * i for i in range(100)]

    def decoded():
        dataset = Dataset.from_tensor_slices([row.tobytes() for row in rows])
        return dataset.map(lambda text: tf.reshape(tf.io.decode_raw(text, tf.int32), [2, 2])).batch(20)

    assert checks.planned(decoded())
    assert checks.elements(decoded(), PLANNED) == checks.elements(decoded(), PLAIN)


def test_sparse_features_are_parsed_one_by_one():
    features = {"x": tf.io.VarLenFeature(tf.float32)}
    dataset = Dataset.from_tensor_slices([example(1)]).map(lambda r: tf.io.parse_single_example(r, features))
    assert pipe_of(dataset._variant_tensor._array).by_column() is None
