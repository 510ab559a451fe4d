"""What was made of data goes when nobody has it: no stage holds itself where Python's collector cannot see it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.asserted import assert_next
from ebbflow.data.pipe import Pipe, stages

AUTOTUNE = tf.data.AUTOTUNE


def _in_python(x):
    return tf.numpy_function(lambda v: v, [x], tf.float32)


WAYS = {
    "batch": lambda ds: ds.batch(2),
    "cache": lambda ds: ds.cache(),
    "filter": lambda ds: ds.filter(lambda x: x[0] > 0),
    "flat_map": lambda ds: ds.flat_map(tf.data.Dataset.from_tensor_slices),
    "interleave": lambda ds: ds.interleave(tf.data.Dataset.from_tensor_slices),
    "interleave, side by side": lambda ds: ds.interleave(
        tf.data.Dataset.from_tensor_slices, num_parallel_calls=AUTOTUNE
    ),
    "interleave, in any order": lambda ds: ds.interleave(
        tf.data.Dataset.from_tensor_slices, num_parallel_calls=2, deterministic=False
    ),
    "map": lambda ds: ds.map(lambda x: x + 1),
    "map, side by side": lambda ds: ds.map(lambda x: x + 1, num_parallel_calls=AUTOTUNE),
    "map in Python, in any order": lambda ds: ds.map(_in_python, num_parallel_calls=2, deterministic=False),
    "map that draws": lambda ds: ds.map(lambda x: x + tf.random.uniform([]), num_parallel_calls=AUTOTUNE),
    "prefetch": lambda ds: ds.prefetch(2),
    "repeat": lambda ds: ds.repeat(2),
    "scan": lambda ds: ds.scan(0.0, lambda s, x: (s + 1.0, x)),
    "shuffle": lambda ds: ds.shuffle(3),
    "shuffle, repeated": lambda ds: ds.shuffle(3).repeat(2),
    "unbatch": lambda ds: ds.unbatch(),
    "window": lambda ds: ds.window(2),
    "zip": lambda ds: tf.data.Dataset.zip((ds, ds)),
    "assert_next": lambda ds: ds.apply(assert_next(["Map"])).map(lambda x: x + 1),
}


@pytest.mark.parametrize("way", WAYS)
def test_stages_go_with_their_dataset(way):
    dataset = WAYS[way](tf.data.Dataset.from_tensor_slices(np.ones([4, 3], np.float32)))
    for _ in dataset:
        pass
    made = {id(stage) for stage in stages(dataset._pipe_to_run())}
    assert made
    del dataset
    gc.collect()
    assert [stage.name for stage in gc.get_objects() if type(stage) is Pipe and id(stage) in made] == []
