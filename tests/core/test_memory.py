"""Memory of large arrays: used again when nobody sees it, never while somebody does."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import memory
from ebbflow.core.memory import LARGE, Pool, address


def test_memory_is_used_again():
    first = memory.empty((LARGE,), np.uint8)
    at = address(first)
    del first
    assert address(memory.empty((LARGE,), np.uint8)) == at


SIGHTS = {"part": lambda a: a[5:7], "turned": lambda a: a.reshape(2, -1).T, "buffer": memoryview, "same": np.asarray}


@pytest.mark.parametrize("see", SIGHTS.values(), ids=SIGHTS)
def test_what_is_seen_is_not_used_again(see):
    first = memory.empty((LARGE // 4,))
    at, seen = address(first), see(first)
    del first
    gc.collect()
    second = memory.empty((LARGE // 4,))
    assert address(second) != at
    del seen
    assert address(memory.empty((LARGE // 4,))) == at


def test_only_so_much_is_kept():
    pool = Pool(most=100)
    arrays = [pool.array(40) for _ in range(4)]
    del arrays
    assert pool.kept == 80
    pool.array(101)
    assert pool.kept == 0


def test_another_size_is_new_memory():
    pool = Pool(most=100)
    at = address(pool.array(40))
    other = pool.array(41)
    assert address(pool.array(40)) == at
    assert other.size == 41


def test_a_large_variable_is_updated_where_it_lies():
    v = tf.Variable(np.zeros(LARGE // 4, np.float32))
    v.assign_add(np.ones(LARGE // 4, np.float32))
    at = address(v._storage.value)
    v.assign_add(np.ones(LARGE // 4, np.float32))
    assert address(v._storage.value) == at
    assert at % memory.ALIGN == 0
    held = v.numpy()[:3]
    read = v.read_value()
    v.assign_add(np.ones(LARGE // 4, np.float32))
    assert address(v._storage.value) != at
    assert (held == 2).all()
    assert float(read[0]) == 2
    assert float(v[0]) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float16, np.complex64])
def test_large_tensors_are_aligned_copies(dtype):
    array = (np.arange(LARGE) % 1000).astype(dtype)[1::2]
    tensor = tf.constant(array)
    assert address(tensor._array) % memory.ALIGN == 0
    np.testing.assert_array_equal(tensor, array)
    array[:] = 0
    assert tensor.numpy()[5] == 11


@pytest.mark.parametrize("make", [tf.constant, tf.Variable], ids=["constant", "variable"])
def test_dtypes_that_are_only_equal_become_the_very_ones(make):
    """Arrays from pickles and HDF5 files have dtypes of their own; machine code looks at the object."""
    own = np.ones([2, 3], np.dtype(np.float32).newbyteorder("<"))
    assert own.dtype is not np.dtype(np.float32)
    assert make(own).numpy().dtype is np.dtype(np.float32)
