"""Snapshots of TensorFlow 1.15: who writes, who reads, what lies where."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import legacy_snapshots
from ebbflow.data.legacy_snapshots import legacy_snapshot

Dataset = tf.data.Dataset


def numbers(count, path, **given):
    return list(Dataset.range(count).apply(legacy_snapshot(str(path), **given)).as_numpy_iterator())


def files_below(path):
    """Return how many snapshots there are, and the number of files of each of their runs."""
    return [
        sorted(len(list(run.iterdir())) for run in place.iterdir() if run.is_dir()) for place in sorted(path.iterdir())
    ]


@pytest.mark.parametrize("compression", [None, "GZIP", "SNAPPY"])
def test_elements_are_written_once_and_read_again(tmp_path, compression):
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    for _ in range(3):
        made = Dataset.range(9).map(lambda x: (tf.py_function(note, [x], tf.int64), tf.strings.as_string(x)))
        found = made.apply(legacy_snapshot(str(tmp_path), compression, snapshot_name="named"))
        assert [(int(x), s) for x, s in found.as_numpy_iterator()] == [(i, b"%d" % i) for i in range(9)]
    assert sorted(calls) == list(range(9))
    assert (tmp_path / "custom-named" / "custom" / "00000000.snapshot").exists() and files_below(tmp_path) == [[1]]


def test_different_datasets_share_a_directory(tmp_path):
    assert numbers(5, tmp_path) == list(range(5)) and numbers(6, tmp_path) == list(range(6))
    assert files_below(tmp_path) == [[1], [1]]


def test_nothing_is_written_before_an_element_is_asked_for(tmp_path):
    waiting = iter(Dataset.range(5).apply(legacy_snapshot(str(tmp_path))))
    assert files_below(tmp_path) == []
    assert int(next(waiting)) == 0 and files_below(tmp_path) == [[1]]
    assert numbers(5, tmp_path) == list(range(5))  # the other is at it
    assert files_below(tmp_path) == [[1]]
    assert [int(x) for x in waiting] == [1, 2, 3, 4]


def test_what_somebody_left_unfinished_is_written_anew(tmp_path, monkeypatch):
    left = iter(Dataset.range(5).apply(legacy_snapshot(str(tmp_path))))
    next(left)
    later = legacy_snapshots.time.time() + 90000
    monkeypatch.setattr(legacy_snapshots.time, "time", lambda: later)
    assert numbers(5, tmp_path) == list(range(5)) and files_below(tmp_path) == [[1, 1]]
    assert numbers(5, tmp_path) == list(range(5)) and files_below(tmp_path) == [[1, 1]]


def test_modes_say_what_is_done(tmp_path):
    assert numbers(4, tmp_path, mode="passthrough") == [0, 1, 2, 3] and files_below(tmp_path) == []
    with pytest.raises(tf.errors.NotFoundError, match="holds no snapshot to read"):
        numbers(4, tmp_path, mode="read")
    for _ in range(3):
        assert numbers(4, tmp_path, mode="write") == [0, 1, 2, 3]
    assert files_below(tmp_path) == [[1, 1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode must be one of auto, read, write, passthrough"):
        numbers(4, tmp_path, mode="append")


def test_a_named_snapshot_may_move(tmp_path):
    numbers(4, tmp_path, mode="write", snapshot_name="a")
    shutil.move(tmp_path / "custom-a", tmp_path / "custom-b")
    assert numbers(9, tmp_path, mode="read", snapshot_name="b") == [0, 1, 2, 3]


def test_files_have_a_size_and_are_read_in_random_order(tmp_path):
    assert numbers(50, tmp_path, shard_size_bytes=20) == list(range(50)) and files_below(tmp_path) == [[17]]
    first, second = [numbers(50, tmp_path, shuffle_on_read=True, shuffle_seed=5) for _ in range(2)]
    assert first == second != list(range(50)) and sorted(first) == list(range(50))
    assert numbers(50, tmp_path) == list(range(50))


def test_a_snapshot_that_lacks_an_element_is_not_whole(tmp_path):
    dataset = Dataset.from_tensor_slices(np.array([1.0, 0.0, 2.0])).map(
        lambda x: tf.debugging.check_numerics(1 / x, "")
    )
    iterator = iter(dataset.apply(legacy_snapshot(str(tmp_path))))
    assert float(next(iterator)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        next(iterator)
    assert [float(x) for x in iterator] == [0.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
        list(dataset.apply(legacy_snapshot(str(tmp_path))))
