"""Input pipelines in TensorFlow's words: an epoch over arrays, over numbers, over records, over pictures."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

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


def data_records():
    """50k examples in a TFRecord file: parsed, shuffled, in batches."""
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
    asked = {
        "x": tf.io.FixedLenFeature([16], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.data.TFRecordDataset(path).map(
        lambda record: tf.io.parse_single_example(record, asked), num_parallel_calls=tf.data.AUTOTUNE
    )
    return _epoch(parsed.shuffle(PIPELINE.buffer).batch(PIPELINE.batch).prefetch(2))


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


WORKLOADS = {f.__name__: f for f in (data_arrays, data_numbers, data_records, data_pictures)}
