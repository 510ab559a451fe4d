"""Checkpoints in several files: what a callback deals out is one checkpoint again."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ebbflow as tf

VALUES = {"a": np.arange(3000, dtype=np.float32).reshape(30, 100), "b": np.int64(7), "c": np.array([b"one", b"two"])}


def checkpoint():
    return tf.train.Checkpoint(**{name: tf.Variable(value) for name, value in VALUES.items()})


def shards(folder):
    return sorted(name for name in os.listdir(folder) if ".data-" in name)


@pytest.mark.parametrize(("size", "count"), [(5000, 3), (1 << 20, 1), (10, None)])
def test_files_of_a_largest_size(tmp_path, size, count):
    saved = checkpoint()
    options = tf.train.CheckpointOptions(
        experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(size)
    )  # fmt: skip
    path = saved.write(str(tmp_path / "ckpt"), options)
    assert count is None or len(shards(tmp_path)) == count
    if size == 5000:
        assert max(os.path.getsize(tmp_path / name) for name in shards(tmp_path)) <= 5000
    other = tf.train.Checkpoint(**{name: tf.Variable(np.zeros_like(value)) for name, value in VALUES.items()})
    other.read(path).assert_consumed()
    for name, value in VALUES.items():
        assert np.array_equal(getattr(other, name).numpy(), value)
    assert not [name for name in os.listdir(tmp_path) if "temp" in name]


def test_one_machine_is_one_file(tmp_path):
    policy = tf.train.experimental.ShardByTaskPolicy()
    checkpoint().write(str(tmp_path / "ckpt"), tf.train.CheckpointOptions(experimental_sharding_callback=policy))
    assert len(shards(tmp_path)) == 1 and policy == tf.train.experimental.ShardByTaskPolicy()


def test_a_callback_of_ones_own(tmp_path):
    class ByKey(tf.train.experimental.ShardingCallback):
        @property
        def description(self):
            return "a file for each tensor"

        def __call__(self, shardable_tensors):
            return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors[self.skip :]]

        skip = 0

    by_key = ByKey()
    options = tf.train.CheckpointOptions(experimental_sharding_callback=by_key)
    saved = checkpoint()
    saved.read(saved.write(str(tmp_path / "ckpt"), options)).assert_consumed()
    assert len(shards(tmp_path)) == 4
    by_key.skip = 1
    with pytest.raises(RuntimeError, match="does not give the tensors it got: lost"):
        saved.write(str(tmp_path / "other"), options)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("other")]


def test_what_is_no_callback_is_refused():
    with pytest.raises(ValueError, match="must be of type ShardingCallback"):
        tf.train.CheckpointOptions(experimental_sharding_callback=print)
    with pytest.raises(ValueError, match="max_shard_size must be at least 1"):
        tf.train.experimental.MaxShardSizePolicy(0)


def test_a_model_in_several_files(tmp_path):
    model = tf.Module()
    model.v = tf.Variable(VALUES["a"])
    policy = tf.train.experimental.MaxShardSizePolicy(5000)
    folder = str(tmp_path / "model")
    tf.saved_model.save(model, folder, options=tf.saved_model.SaveOptions(experimental_sharding_callback=policy))
    assert len(shards(tmp_path / "model" / "variables")) == 3
    assert np.array_equal(tf.saved_model.load(folder).v.numpy(), VALUES["a"])
