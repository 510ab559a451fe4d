"""Readers of TF 1: what they give for files (as TensorFlow 1.15 does), and how they fail."""

from __future__ import annotations

import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


def queued(session, *names):
    queue = tf1.FIFOQueue(20, tf.string, shapes=[[]])
    session.run(queue.enqueue_many([[str(name) for name in names]]))
    session.run(queue.close())
    return queue


def all_of(session, read):
    records = []
    while True:
        try:
            key, value = session.run(read)
        except tf.errors.OutOfRangeError:
            return records
        records.append((key.rsplit(b"/", 1)[-1].decode(), value))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a").write_bytes(b"a0\na1\r\na2")
    (tmp_path / "b").write_bytes(b"b0\n\n")
    (tmp_path / "junk").write_bytes(b"no records at all are here")
    (tmp_path / "bytes").write_bytes(b"HHabcdefF")
    with tf.io.TFRecordWriter(str(tmp_path / "records")) as writer:
        writer.write(b"one")
        writer.write(b"three")
    return tmp_path


def test_kinds(session, files):
    lines = tf1.TextLineReader().read(queued(session, files / "a", files / "b"))
    assert all_of(session, lines) == [("a:1", b"a0"), ("a:2", b"a1"), ("a:3", b"a2"), ("b:1", b"b0"), ("b:2", b"")]
    skipping = tf1.TextLineReader(skip_header_lines=2).read(queued(session, files / "a", files / "b"))
    assert all_of(session, skipping) == [("a:3", b"a2")]
    whole = tf1.WholeFileReader().read(queued(session, files / "a"))
    assert all_of(session, whole) == [("a", b"a0\na1\r\na2")]
    records = tf1.TFRecordReader().read(queued(session, files / "records"))
    assert all_of(session, records) == [("records:0", b"one"), ("records:19", b"three")]
    pieces = tf1.FixedLengthRecordReader(2, 2, 1).read(queued(session, files / "bytes"))
    assert all_of(session, pieces) == [("bytes:0", b"ab"), ("bytes:1", b"cd"), ("bytes:2", b"ef")]
    hops = tf1.FixedLengthRecordReader(4, 2, 1, hop_bytes=1).read(queued(session, files / "bytes"))
    assert all_of(session, hops) == [("bytes:0", b"abcd"), ("bytes:1", b"bcde"), ("bytes:2", b"cdef")]
    assert all_of(session, tf1.IdentityReader().read(queued(session, "x", "y"))) == [("x", b"x"), ("y", b"y")]


def test_several_at_once_end_with_the_file(session, files):
    reader = tf1.TextLineReader()
    keys, values = reader.read_up_to(queued(session, files / "a", files / "b"), 2)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    seen = []
    for _ in range(3):
        seen.append((session.run(values).tolist(), session.run(counts)))
    assert seen == [([b"a0", b"a1"], [2, 0]), ([b"a2"], [3, 1]), ([b"b0", b""], [5, 1])]
    assert keys.shape.as_list() == [None]


def test_state(session):
    reader, queue = tf1.IdentityReader(), queued(session, "x", "y", "z")
    read, state, produced = reader.read(queue), reader.serialize_state(), reader.num_records_produced()
    session.run(read)
    kept = session.run(state)
    assert kept == b'\x08\x01\x10\x01\x18\x01"\x01x'
    session.run(reader.reset())
    assert session.run(produced) == 0
    session.run(reader.restore_state(kept))
    assert session.run(produced) == 1 and reader.supports_serialize
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state"):
        session.run(reader.restore_state(kept[:3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inconsistent"):
        session.run(reader.restore_state(b"\x08\x01\x10\x02"))
    with pytest.raises(tf.errors.UnimplementedError):
        session.run(tf1.TextLineReader().serialize_state())


def test_bad_files(session, files):
    read = tf1.TFRecordReader().read(queued(session, files / "missing", files / "junk", files / "records"))
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        session.run(read)
    with pytest.raises(tf.errors.DataLossError, match="junk"):
        session.run(read)
    assert session.run(read).value == b"one"
    whole = tf1.WholeFileReader().read(queued(session, files / "missing"))
    for _ in range(2):
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(whole)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.FixedLengthRecordReader(0),
        lambda: tf1.FixedLengthRecordReader(2, header_bytes=-1),
        lambda: tf1.FixedLengthRecordReader(2, encoding="LZ"),
        lambda: tf1.TextLineReader(skip_header_lines=-1),
    ],
)
def test_refused(session, make):
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(make().num_records_produced())


def test_a_queue_of_numbers_is_no_work(session):
    queue = tf1.FIFOQueue(2, tf.int32, shapes=[[]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="string"):
        session.run(tf1.TextLineReader().read(queue))


def test_no_readers_in_eager_mode():
    with pytest.raises(RuntimeError, match="eager"):
        tf.compat.v1.TextLineReader()
