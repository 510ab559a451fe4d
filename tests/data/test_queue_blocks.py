"""Queue runners that put rows by the block: nobody sees a difference from one by one."""

from __future__ import annotations

import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import queue_blocks

tf1 = tf.compat.v1
ASKED = {"x": tf1.FixedLenFeature([3], tf.float32), "n": tf1.FixedLenFeature([], tf.int64)}


def example(number):
    feature = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5, -number])),
        "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def written(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


def read(path, epochs=1):
    names = tf1.train.string_input_producer([path], num_epochs=epochs, shuffle=False)
    return tf1.TFRecordReader().read(names)


def started(session):
    session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
    coord = tf1.train.Coordinator()
    return coord, tf1.train.start_queue_runners(session, coord)


def all_of(session, fetches):
    found = []
    while True:
        try:
            found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            return found


def rows(path, capacity=32):
    """The rows of a file as a runner puts them, and what was raised in its thread."""
    with tf1.Graph().as_default(), tf1.Session() as session:
        key, value = read(path)
        parsed = tf1.parse_single_example(value, ASKED)
        one = tf1.train.batch([key, parsed["x"] * 2.0, parsed["n"]], 1, capacity=capacity)
        coord, threads = started(session)
        found, error = all_of(session, one), None
        coord.request_stop()
        try:
            coord.join(threads, stop_grace_period_secs=20)
        except tf.errors.OpError as raised:
            error = raised
    return [(k[0].rsplit(b"/", 1)[-1], x[0].tolist(), int(n[0])) for k, x, n in found], error


@pytest.fixture
def sizes(monkeypatch):
    """The sizes of the blocks that were put; however long they take, they grow."""
    seen = []
    monkeypatch.setattr(queue_blocks, "SHORT", float("inf"))
    put = queue_blocks.rows_of
    monkeypatch.setattr(queue_blocks, "rows_of", lambda block: seen.append(len(block[0])) or put(block))
    return seen


@pytest.mark.parametrize("capacity", [2, 32, 500])
def test_rows_are_those_that_come_one_by_one(tmp_path, monkeypatch, sizes, capacity):
    path = written(tmp_path / "records", [example(i) for i in range(300)])
    found, error = rows(path, capacity)
    assert error is None and [n for _, _, n in found] == list(range(300))
    assert (max(sizes) > 16) if capacity > 16 else (not sizes or max(sizes) <= capacity)
    monkeypatch.setattr("ebbflow.train.queue_runner.blocks_of", lambda session, op: None)
    assert rows(path, capacity) == (found, None)


def test_rows_before_a_record_that_cannot_be_parsed(tmp_path, monkeypatch, sizes):
    path = written(tmp_path / "records", [*[example(i) for i in range(200)], b"no example", *[example(7)] * 50])
    found, error = rows(path, 500)
    assert [n for _, _, n in found] == list(range(200)) and max(sizes) > 16
    monkeypatch.setattr("ebbflow.train.queue_runner.blocks_of", lambda session, op: None)
    plain, plain_error = rows(path, 500)
    assert plain == found and type(error) is type(plain_error) and str(error) == str(plain_error)


def test_records_behind_a_bad_one_are_still_to_be_read(session, tmp_path):
    path = written(tmp_path / "records", [*[example(i) for i in range(100)], b"bad", *[example(i) for i in range(50)]])
    names = tf1.train.string_input_producer([path], num_epochs=1, shuffle=False)
    reader = tf1.TFRecordReader()
    number = tf1.parse_single_example(reader.read(names)[1], ASKED)["n"]
    queue = tf1.FIFOQueue(500, tf.int64, shapes=[[]])
    runner = tf1.train.QueueRunner(queue, [queue.enqueue([number])], cancel_op=tf1.no_op())
    _, count, size = started(session), reader.num_records_produced(), queue.size()
    for expected in (100, 150):  # up to the bad one; then a runner that is started again goes on behind it
        coord = tf1.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        if expected == 100:
            with pytest.raises(tf.errors.InvalidArgumentError):
                coord.join(threads, stop_grace_period_secs=20)
            assert session.run(count) == 101
        else:
            for thread in threads[:1]:
                thread.join(20)
            coord.request_stop()
        assert session.run(size) == expected


def test_a_file_that_is_cut_short(tmp_path):
    path = tmp_path / "records"
    written(path, [example(i) for i in range(90)])
    path.write_bytes(path.read_bytes()[:-5])
    found, error = rows(str(path))
    assert [n for _, _, n in found] == list(range(89))
    assert isinstance(error, tf.errors.DataLossError) and "truncated record at" in str(error)


def test_a_reader_does_not_run_ahead_of_its_queue(session, tmp_path):
    path = written(tmp_path / "records", [example(i) for i in range(400)])
    names = tf1.train.string_input_producer([path])
    reader = tf1.TFRecordReader()
    _, value = reader.read(names)
    batch = tf1.train.batch([tf1.parse_single_example(value, ASKED)["n"]], 20, capacity=40)
    count = reader.num_records_produced()
    coord, threads = started(session)
    for turn in range(1, 6):
        session.run(batch)
        time.sleep(0.05)
        assert session.run(count) <= 20 * turn + 40 + 1
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)


def one_by_one(kind, value, parsed):
    if kind == "random":
        return parsed["x"] + tf1.random_uniform([3])
    if kind == "Python":
        return tf1.py_func(lambda n: n, [parsed["n"]], tf.int64)
    if kind == "order":
        with tf1.control_dependencies([tf1.no_op()]):
            return tf1.identity(parsed["n"])
    if kind == "variable":
        return parsed["n"] + tf1.Variable(np.int64(1))
    if kind == "shape":
        return tf1.decode_raw(value, tf.uint8)
    return parsed["n"]


@pytest.mark.parametrize("kind", ["random", "Python", "order", "variable", "shape", "deadline"])
def test_what_must_be_done_one_by_one_is(session, tmp_path, kind):
    path = written(tmp_path / "records", [example(1)])
    _, value = read(path)
    queue = tf1.FIFOQueue(5, tf.float32 if kind == "random" else tf.uint8 if kind == "shape" else tf.int64)
    enqueue = queue.enqueue([one_by_one(kind, value, tf1.parse_single_example(value, ASKED))])
    if kind == "deadline":
        session = tf1.Session(config=tf1.ConfigProto(operation_timeout_in_ms=1000))
    assert queue_blocks.blocks_of(session, enqueue) is None


def test_rows_that_are_put_or_not(session, tmp_path):
    _, value = read(written(tmp_path / "records", [example(i) for i in range(20)]))
    number = tf1.parse_single_example(value, ASKED)["n"]
    batch = tf1.train.maybe_batch([number], tf1.equal(number % 2, 0), 2)
    coord, threads = started(session)
    found = all_of(session, batch)
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    assert np.concatenate(found).tolist() == list(range(0, 20, 2))


def test_pictures_as_bytes_whose_shape_the_user_knows(session, tmp_path, sizes):
    asked = {"image_raw": tf1.FixedLenFeature([], tf.string), "label": tf1.FixedLenFeature([], tf.int64)}

    def picture(i):
        feature = {
            "image_raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([i] * 28)])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        }
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    _, value = read(written(tmp_path / "records", [picture(i) for i in range(100)]))
    features = tf1.parse_single_example(value, features=asked)
    image = tf1.decode_raw(features["image_raw"], tf.uint8)
    image.set_shape([28])
    image = tf1.cast(image, tf.float32) * (1.0 / 255) - 0.5
    label = tf1.cast(features["label"], tf.int32)
    images, labels = tf1.train.shuffle_batch([image, label], batch_size=20, capacity=100, min_after_dequeue=50)
    coord, threads = started(session)
    found = all_of(session, [images, labels])
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    assert max(sizes) > 16 and sorted(np.concatenate([n for _, n in found])) == list(range(100))
    for pixels, numbers in found:
        assert (pixels == (numbers[:, None].astype("f") * np.float32(1.0 / 255) - np.float32(0.5))).all()


def test_lines_of_a_table(session, tmp_path, sizes):
    (tmp_path / "table").write_text("".join(f"{i},{i * 0.5}\n" for i in range(200)))
    names = tf1.train.string_input_producer([str(tmp_path / "table")], num_epochs=2, shuffle=False)
    _, line = tf1.TextLineReader().read(names)
    number, half = tf1.decode_csv(line, [[0], [0.0]])
    batch = tf1.train.shuffle_batch([number, half], 50, capacity=200, min_after_dequeue=20, num_threads=2)
    coord, threads = started(session)
    found = all_of(session, batch)
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=20)
    numbers = np.concatenate([n for n, _ in found])
    assert sorted(numbers) == sorted([*range(200)] * 2) and max(sizes) > 16
    assert (np.concatenate([h for _, h in found]) == numbers * 0.5).all()
