"""Input pipelines in TensorFlow's words: an epoch over arrays, over numbers, over records, over pictures."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time

import numpy as np

from benchmarks.problems import PIPELINE
from benchmarks.work import Work
from benchmarks.work.tf_module import tf


def _epoch(dataset) -> Work:
    def run():
        for _ in dataset:
            pass

    return Work(run)


def _folder() -> str:
    path = tempfile.mkdtemp(prefix="benchmark-data-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def data_arrays():
    """100k rows of 32 floats: shuffled among 10k, scaled, in batches of 128, made ahead."""
    rows, labels = PIPELINE.arrays()
    dataset = tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(PIPELINE.buffer)
    return _epoch(dataset.map(lambda x, y: (x * 2 + 1, y)).batch(PIPELINE.batch).prefetch(2))


def data_numbers():
    """200k numbers: computed with, filtered, in batches."""
    numbers = tf.data.Dataset.range(PIPELINE.numbers).map(lambda x: x * 3 + 1)
    return _epoch(numbers.filter(lambda x: x % 2 == 0).batch(PIPELINE.batch))


def _examples() -> str:
    """Write a TFRecord file of examples, and return its name."""
    path = os.path.join(_folder(), "examples")
    random = np.random.RandomState(0)
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(PIPELINE.examples):
            lists = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=random.rand(16))),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"item%d" % i])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString())
    return path


def _asked() -> dict:
    return {
        "x": tf.io.FixedLenFeature([16], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
    }


def data_records():
    """50k examples in a TFRecord file: parsed, shuffled, in batches."""
    asked = _asked()
    parsed = tf.data.TFRecordDataset(_examples()).map(
        lambda record: tf.io.parse_single_example(record, asked), num_parallel_calls=tf.data.AUTOTUNE
    )
    return _epoch(parsed.shuffle(PIPELINE.buffer).batch(PIPELINE.batch).prefetch(2))


def data_queues():
    """The same file through TF 1's queues, an example each: a reader, a thread that parses, a queue that shuffles."""
    v1, path = tf.compat.v1, _examples()
    with tf.Graph().as_default():
        _, record = v1.TFRecordReader().read(v1.train.string_input_producer([path]))
        parsed = v1.parse_single_example(record, _asked())
        columns = [parsed[name] for name in sorted(parsed)]
        batch = v1.train.shuffle_batch(columns, PIPELINE.batch, capacity=4000, min_after_dequeue=2000)
        session, coordinator = v1.Session(), v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)

    def end():
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)
        session.close()

    def run():
        for _ in range(10):
            session.run(batch)

    atexit.register(end)
    return Work(run, units=10 * PIPELINE.batch)


def data_pictures():
    """A folder of JPEG files: decoded and resized by two calls at once, in batches."""
    folder, random = _folder(), np.random.RandomState(0)
    for i in range(PIPELINE.pictures):
        pixels = np.kron(random.randint(0, 256, (32, 40, 3)), np.ones((8, 8, 1))).astype(np.uint8)
        with open(os.path.join(folder, f"{i:03}.jpg"), "wb") as file:
            file.write(tf.io.encode_jpeg(pixels).numpy())

    def decoded(path):
        return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [128, 128])

    files = tf.data.Dataset.list_files(os.path.join(folder, "*.jpg"), shuffle=False)
    return _epoch(files.map(decoded, num_parallel_calls=2).batch(16).prefetch(2))


def data_hidden_map():
    """An element that takes 5 ms in a new pipeline whose step does too: 5 where one hides behind the other, else 10."""

    def slow(value):
        time.sleep(5e-3)
        return value

    def run():
        numbers = tf.data.Dataset.range(PIPELINE.slow).map(lambda x: tf.numpy_function(slow, [x], tf.int64))
        for _ in numbers.prefetch(2):
            time.sleep(5e-3)

    return Work(run, units=PIPELINE.slow)


_ALL = (data_arrays, data_numbers, data_records, data_queues, data_pictures, data_hidden_map)
WORKLOADS = {f.__name__: f for f in _ALL}
