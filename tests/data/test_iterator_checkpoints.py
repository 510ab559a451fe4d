"""Iterators in checkpoints: they go on exactly where they were, in the middle of an epoch, however wide maps run."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.tensor import wrap
from ebbflow.io.variants import from_bytes

Dataset = tf.data.Dataset


def shuffled(calls=None, seed=7):
    numbers = Dataset.range(40).shuffle(13, seed=seed).repeat(4).map(lambda x: x * x, num_parallel_calls=calls)
    return numbers.shuffle(5, seed=seed).batch(3)


CHAINS = {
    "shuffled": shuffled,
    "unseeded": lambda calls=None: shuffled(calls, None),
    "filtered": lambda calls=None: shuffled(calls).unbatch().filter(lambda x: x % 3 > 0),
    "interleaved": lambda calls=None: Dataset.range(5).interleave(
        lambda x: Dataset.range(x, x + 9).shuffle(4, seed=2), cycle_length=3, num_parallel_calls=calls
    ),
    "shuffled inside": lambda calls=None: Dataset.range(5).interleave(
        lambda x: Dataset.range(x, x + 9).shuffle(4).repeat(2), cycle_length=3, num_parallel_calls=calls
    ),
    "groups": lambda calls=None: (
        Dataset.range(60).shuffle(9).group_by_window(lambda x: x % 3, lambda key, window: window.shuffle(4).batch(2), 6)
    ),
    "batched side by side": lambda calls=None: Dataset.range(100).shuffle(9).batch(3, num_parallel_calls=calls),
    "mapped and batched": lambda calls=None: (
        Dataset.range(100)
        .shuffle(9)
        .apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 3, num_parallel_calls=calls))
    ),
    "random ops": lambda calls=None: Dataset.range(60).map(
        lambda x: tf.random.uniform([]) + tf.random.normal([2])  # several at once draw in no order
    ),
    "random, unseeded": lambda calls=None: Dataset.random(rerandomize_each_iteration=True).take(50),
    "random": lambda calls=None: Dataset.random(seed=3).take(50).map(lambda x: x, num_parallel_calls=calls),
    "cached": lambda calls=None: Dataset.range(30).shuffle(30, seed=1).cache().repeat(3),
}


@pytest.mark.parametrize("taken", [0, 1, 7, 17, 30])
@pytest.mark.parametrize("name", CHAINS)
def test_an_iterator_goes_on_where_it_was(name, taken, tmp_path):
    dataset = CHAINS[name]()
    list(dataset.take(5))  # an epoch begun before: seeds have been drawn
    iterator = iter(dataset)
    for _ in range(taken):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "it"))
    rest = [x.numpy().tolist() for x in iterator]
    other = iter(CHAINS[name](calls=2))
    next(other)
    tf.train.Checkpoint(iterator=other).restore(path)
    assert [x.numpy().tolist() for x in other] == rest


def test_the_state_is_counters_and_seeds(tmp_path):
    iterator = iter(Dataset.from_tensor_slices(np.zeros((1000, 100))).shuffle(1000).cache().batch(8))
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "it"))
    sizes = dict(tf.train.list_variables(path))
    assert all(np.prod(shape) <= 6 for name, shape in sizes.items() if "iterator" in name)


def test_another_dataset_is_refused(tmp_path):
    path = tf.train.Checkpoint(iterator=iter(Dataset.range(9).shuffle(3))).save(str(tmp_path / "it"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="1 stages in random order"):
        tf.train.Checkpoint(iterator=iter(Dataset.range(9))).restore(path)


def test_a_saver_keeps_where_the_iterator_of_a_graph_is(tmp_path):
    v1 = tf.compat.v1
    path = str(tmp_path / "model")
    with v1.Graph().as_default(), v1.Session() as session:
        iterator = v1.data.make_initializable_iterator(v1.data.Dataset.range(20).shuffle(5, seed=3))
        saveable = v1.data.experimental.make_saveable_from_iterator(iterator)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
        following, saver = iterator.get_next(name="following"), v1.train.Saver()
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(following)
        saver.save(session, path)
        rest = [session.run(following) for _ in range(9)]
    with v1.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(path + ".meta")
        session.run("MakeIterator")
        saver.restore(session, path)
        assert [session.run("following:0") for _ in range(9)] == rest


def test_the_state_of_another_runtime_is_refused():
    box = np.empty(1, object)
    box[0] = from_bytes(b"\x0a\x03abc", "a file")
    iterator = iter(Dataset.range(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not hold the state of an iterator"):
        tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=wrap(box, tf.variant))
    with pytest.raises(tf.errors.DataLossError, match="not the message of a variant"):
        from_bytes(b"\xff\xff\xff", "a file")
