"""Batches of examples from files, as `tf.contrib.learn.io` reads them."""

import numpy as np
import pytest

import ebbflow.v1 as tf1

SPEC = {"x": tf1.FixedLenFeature([2], tf1.int64), "words": tf1.VarLenFeature(tf1.string)}


@pytest.fixture
def path(tmp_path):
    for part in range(2):
        with tf1.python_io.TFRecordWriter(str(tmp_path / f"{part}.records")) as writer:
            for i in range(3):
                feature = {
                    "x": tf1.train.Feature(int64_list=tf1.train.Int64List(value=[part, i])),
                    "words": tf1.train.Feature(bytes_list=tf1.train.BytesList(value=[b"w"] * i)),
                }
                example = tf1.train.Example(features=tf1.train.Features(feature=feature))
                writer.write(example.SerializeToString())
    return str(tmp_path)


def all_of(fetches):
    found = []
    with tf1.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(fetches))
    return found


@pytest.mark.parametrize("shuffled", [False, True])
def test_features_of_all_files_come_once_an_epoch(path, shuffled):
    with tf1.Graph().as_default():
        features = tf1.contrib.learn.io.read_batch_features(
            path + "/*.records", 4, SPEC, tf1.TFRecordReader, randomize_input=shuffled, num_epochs=2
        )
        found = all_of(features)
    rows = np.concatenate([batch["x"] for batch in found]).tolist()
    assert sorted(rows) == sorted(2 * [[part, i] for part in range(2) for i in range(3)])
    assert sum(len(batch["words"].values) for batch in found) == 2 * 2 * (0 + 1 + 2)


def test_keys_say_where_a_record_was(path):
    with tf1.Graph().as_default():
        keys, lines = tf1.contrib.learn.read_keyed_batch_examples(
            [path + "/1.records"], 2, tf1.TFRecordReader, False, num_epochs=1
        )
        found = all_of([keys, lines])
    assert [len(batch[0]) for batch in found] == [2, 1]
    assert all(key.startswith(f"{path}/1.records:".encode()) for batch in found for key in batch[0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing*", 4), "No files match nothing"),
        (("f", 0), "Invalid batch_size 0"),
        (("f", 20, None, True, None, 10), "Invalid batch_size 20, with queue_capacity 10"),
        (("f", 4, None, True, 0), "Invalid num_epochs 0"),
        (("f", 4, None, True, None, 10, 0), "Invalid num_threads 0"),
    ],
)
def test_what_cannot_be_read_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        tf1.contrib.learn.io.read_batch_examples(*arguments, **({} if len(arguments) > 2 else {"reader": None}))
