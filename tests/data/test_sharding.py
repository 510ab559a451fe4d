"""Datasets that workers share: what each of them reads, as TensorFlow's AutoShardDataset gives it."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.data.worker_datasets import (
    auto_sharded,
    non_serializable,
    rebatched_for_replicas,
    remote_dataset,
    replicate,
    sleep,
)

Dataset = tf.data.Dataset
POLICY = tf.data.experimental.AutoShardPolicy


@pytest.fixture
def paths(tmp_path):
    found = [str(tmp_path / name) for name in "abc"]
    for i, path in enumerate(found):
        with tf.io.TFRecordWriter(path) as writer:
            for row in range(2):
                writer.write(b"%d%d" % (i, row))
    return found


def shares(dataset, workers, policy=POLICY.AUTO):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    dataset = dataset.with_options(options)
    return [[x.numpy() for x in auto_sharded(dataset, workers, i)] for i in range(workers)]


BY_FILE = [[b"00", b"01", b"20", b"21"], [b"10", b"11"]]
BY_ROW = [[b"00", b"10", b"20"], [b"01", b"11", b"21"]]


def test_each_worker_has_files_of_its_own(paths):
    names, read = Dataset.from_tensor_slices(paths), tf.data.TFRecordDataset
    assert shares(read(paths), 2) == BY_FILE
    assert shares(names.flat_map(read).prefetch(1), 2) == BY_FILE
    assert shares(names.map(read).interleave(lambda x: x, cycle_length=1), 2) == BY_FILE
    assert [sorted(share) for share in shares(names.shuffle(3).flat_map(read), 2)] == BY_FILE
    assert shares(
        Dataset.from_tensor_slices([names.take(2), names.skip(2)]).flat_map(lambda x: x).flat_map(read), 2
    ) == (BY_FILE)
    readers = [names.take(1).map(read), names.skip(1).map(read)]  # each with a share of its own files
    shared = shares(Dataset.from_tensor_slices(readers).flat_map(lambda x: x).flat_map(lambda x: x), 2)
    assert shared == [[b"00", b"01", b"10", b"11"], [b"20", b"21"]]
    assert (
        shares(Dataset.from_tensor_slices([names.map(read)]).flat_map(lambda x: x.flat_map(lambda y: y)), 2) == BY_FILE
    )
    again = remote_dataset(names.flat_map(read)._as_serialized_graph(), "", tf.TensorSpec([], tf.string))
    assert shares(again, 2) == BY_FILE
    assert shares(names.flat_map(read), 4)[3] == []  # there is none for it


def test_where_files_do_not_do_workers_take_turns(paths):
    read = Dataset.from_tensor_slices(paths).flat_map(tf.data.TFRecordDataset)
    assert shares(read, 2, POLICY.DATA) == shares(read.unique(), 2) == BY_ROW
    assert shares(Dataset.range(5), 2) == [[0, 2, 4], [1, 3]]
    hinted = Dataset.range(4).shard(tf.data.experimental.SHARD_HINT, 0)
    assert shares(hinted, 2, POLICY.HINT) == [[0, 2], [1, 3]]
    assert shares(Dataset.range(2), 2, POLICY.OFF) == [[0, 1], [0, 1]]
    with pytest.raises(tf.errors.NotFoundError, match="unshardable source"):
        shares(Dataset.range(5), 2, POLICY.FILE)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"# elems = 2, # shards = 3"):
        shares(Dataset.range(2), 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 2 of num_workers 2"):
        auto_sharded(Dataset.range(5), 2, 2)


def test_batches_for_replicas_are_cut_up_one_by_one():
    batches = Dataset.range(6).batch(4)
    parts = rebatched_for_replicas(batches, 3)
    assert [x.numpy().tolist() for x in parts] == [[0, 1], [2, 3], [], [4], [5], []]
    shared = [auto_sharded(batches.rebatch([2, 1, 1]), 3, i, num_replicas=3) for i in range(3)]
    assert [[x.numpy().tolist() for x in one] for one in shared] == [[[0, 1], [4]], [[2, 3], [5]], [[], []]]
    assert rebatched_for_replicas(Dataset.range(8).batch(4, True), 2).element_spec.shape == [2]


def test_datasets_for_devices():
    numbers = Dataset.range(3).map(lambda x: x * 2).apply(sleep(1)).apply(non_serializable())
    found = replicate(numbers, ["/cpu:0", "/cpu:1"])
    assert {name: list(each.as_numpy_iterator()) for name, each in found.items()} == {
        "/cpu:0": [0, 2, 4], "/cpu:1": [0, 2, 4],
    }  # fmt: skip
    with pytest.raises(TypeError, match=r"Expected a `tf.data.Dataset` object"):
        replicate([1], ["/cpu:0"])
