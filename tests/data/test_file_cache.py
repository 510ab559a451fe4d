"""Caches in files: TensorFlow's bundles, one writer at a time."""

import os
import subprocess
import sys

import pytest

import ebbflow as tf

Dataset = tf.data.Dataset


def pairs():
    return Dataset.from_tensor_slices(([7, 8], ["x", "yz"]))


def test_a_cache_is_a_bundle_with_tensorflows_names(tmp_path):
    path = str(tmp_path / "kept")
    assert len(list(pairs().cache(path))) == 2
    assert sorted(os.listdir(tmp_path)) == ["kept.data-00000-of-00001", "kept.index"]
    reader = tf.train.load_checkpoint(path)
    assert sorted(reader.get_variable_to_shape_map()) == ["      0_0", "      0_1", "      1_0", "      1_1"]
    assert reader.get_tensor("      1_1") == b"yz"
    assert list(pairs().skip(2).cache(path).as_numpy_iterator()) == [(7, b"x"), (8, b"yz")]


def test_who_else_would_write_is_refused(tmp_path):
    dataset = pairs().cache(str(tmp_path / "kept"))
    first = iter(dataset)
    next(first)
    with pytest.raises(tf.errors.AlreadyExistsError, match=r"concurrent caching iterator running.*kept_0\.lockfile"):
        next(iter(dataset))
    del first
    assert not list(tmp_path.iterdir())
    assert len(list(dataset)) == len(list(dataset)) == 2


def test_the_lock_of_a_process_that_is_gone_is_none(tmp_path):
    path = tmp_path / "kept"
    program = "import ebbflow as tf, os; it = iter(tf.data.Dataset.range(3).cache({!r})); next(it); os._exit(0)"
    subprocess.run([sys.executable, "-c", program.format(str(path))], check=True, timeout=60)
    assert (tmp_path / "kept_0.lockfile").exists()
    assert len(list(Dataset.range(3).cache(str(path)))) == 3
    (tmp_path / "other_0.lockfile").write_text("Created at: 1")  # another program's
    with pytest.raises(tf.errors.AlreadyExistsError):
        list(Dataset.range(3).cache(str(tmp_path / "other")))


def test_a_bundle_that_is_no_cache(tmp_path):
    saved = tf.train.Checkpoint(a=tf.Variable(1.0)).write(str(tmp_path / "a"))
    with pytest.raises(tf.errors.DataLossError, match="is not a cache of a dataset"):
        list(Dataset.range(3).cache(saved))


def test_a_restored_iterator_takes_the_place_of_the_saved_one(tmp_path):
    def numbers():
        return Dataset.range(10).cache(str(tmp_path / "kept")).repeat(2)

    first = iter(numbers())
    assert [int(next(first)) for _ in range(5)] == list(range(5))
    saved = tf.train.Checkpoint(iterator=first).write(str(tmp_path / "saved"))
    second = iter(numbers())
    tf.train.Checkpoint(iterator=second).restore(saved)
    assert [int(x) for x in second] == [*range(5, 10), *range(10)]
    assert [int(next(first)) for _ in range(5)] == list(range(5, 10))
    assert sorted(p.name for p in tmp_path.glob("kept*")) == ["kept.data-00000-of-00001", "kept.index"]
