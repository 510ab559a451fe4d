"""Memory of large arrays: used again when nobody sees it, never while somebody does."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from ebbflow.engines import memory
from ebbflow.engines.memory import LARGE, Pool, address


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
