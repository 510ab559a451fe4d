"""What comes behind an error: the rest of the elements, as TensorFlow 2.21 gives it. The numbers are its."""

from __future__ import annotations

import os

import pytest

import ebbflow as tf

Dataset = tf.data.Dataset
FAILS = "fails"


def numbers(count=10, bad=(3,)):
    """Numbers from 0 on, one by one; some of them fail."""

    def check(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(tf.reduce_prod([x - b for b in bad]), tf.float32), "x") * 0

    return Dataset.range(count).map(lambda x: check(x) + tf.cast(x, tf.float32))


def quotients(count, *bad):
    """Numbers that come by the column; some of them fail."""
    zeros = tf.constant(bad, tf.int64)
    return Dataset.range(count).map(lambda x: tf.constant(12, tf.int64) // tf.reduce_prod(x - zeros))


def inner(x):
    return numbers(4, (1,)).map(lambda y: y + 10 * tf.cast(x, tf.float32))


def everything(dataset):
    """The elements, and where the errors are among them."""
    iterator, found = iter(dataset), []
    while len(found) < 100:
        try:
            found.append(next(iterator).numpy().tolist())
        except StopIteration:
            return found
        except tf.errors.InvalidArgumentError:
            found.append(FAILS)
    return found


def batches(window):
    return window.batch(3)


CASES = {
    "shuffle": (lambda: numbers().shuffle(4, seed=1), [FAILS, 0, 5, 6, 1, 2, 8, 4, 7, 9]),
    "shuffle all": (lambda: numbers().shuffle(20, seed=1), [FAILS, 1, 9, 5, 0, 8, 2, 6, 7, 4]),
    "shuffle one": (lambda: numbers().shuffle(1, seed=1), [0, 1, 2, FAILS, 4, 5, 6, 7, 8, 9]),
    "shuffle twice failing": (
        lambda: numbers(12, (1, 6)).shuffle(3, seed=1),
        [FAILS, 2, 4, 0, FAILS, 7, 3, 8, 9, 10, 11, 5],
    ),
    "shuffle by the column": (
        lambda: quotients(12, 5).shuffle(4, seed=1),
        [-3, -12, FAILS, 12, -3, -4, 4, 2, 6, 3, -6, 2],
    ),
    "shuffle and batch": (
        lambda: quotients(12, 2).shuffle(4, seed=1).batch(2),
        [FAILS, [-6, 4], [3, -12], [12, 2], [1, 2], [1, 6], [1]],
    ),
    "filter": (lambda: numbers().filter(lambda x: x > 1), [2, FAILS, 4, 5, 6, 7, 8, 9]),
    "cache": (
        lambda: numbers(6).cache().repeat(2),
        [0, 1, 2, FAILS, 4, 5, 0, 1, 2, 4, 5],
    ),
    "window": (lambda: numbers().window(4).flat_map(lambda w: w), [FAILS, 4, 5, 6, 7, 8, 9]),
    "window with gaps": (lambda: numbers().window(2, 4).flat_map(batches), [[0, 1], [4, 5], [8, 9]]),
    "window with strides": (
        lambda: numbers().window(2, 1, 2, drop_remainder=True).flat_map(batches),
        [[0, 2], FAILS, [2, 4], FAILS, [4, 6], [5, 7], [6, 8], [7, 9]],
    ),
    "groups": (
        lambda: numbers().group_by_window(lambda x: tf.cast(x, tf.int64) % 2, lambda key, w: w.batch(3), 3),
        [FAILS, [0, 2, 4], [1, 5, 7], [6, 8], [9]],
    ),
    "map and batch": (lambda: numbers(11).batch(4), [FAILS, [4, 5, 6, 7], [8, 9, 10]]),
    "map and whole batches": (
        lambda: numbers(11).batch(2, drop_remainder=True),
        [[0, 1], FAILS, [4, 5], [6, 7], [8, 9]],
    ),
    "filter and batch": (lambda: numbers(11).filter(lambda x: True).batch(4), [FAILS, [4, 5, 6, 7], [8, 9, 10]]),
    "several errors of a batch": (lambda: quotients(12, 1, 2, 6).batch(4), [FAILS, FAILS, [0, 0, 0, 0]]),
    "columns and batch": (lambda: quotients(12, 5).batch(4), [[-3, -3, -4, -6], FAILS, [4, 3, 2, 2]]),
    "rebatch": (lambda: numbers().batch(2).rebatch(3), [FAILS, [4, 5, 6], [7, 8, 9]]),
    "counted": (
        lambda: numbers(6).apply(tf.data.experimental.assert_cardinality(5)),
        [0, 1, 2, FAILS, 4, 5],
    ),
    "unbatch": (
        lambda: numbers(5).map(lambda x: tf.fill([tf.cast(x, tf.int32) % 2 + 1], x)).unbatch(),
        [0, 1, 1, 2, FAILS, 4],
    ),
    "sparse batches": (
        lambda: (
            numbers(6)
            .map(lambda x: tf.fill([tf.cast(x, tf.int32) % 3], x))
            .apply(tf.data.experimental.dense_to_sparse_batch(2, [3]))
            .map(tf.sparse.to_dense)
        ),
        [[[0, 0, 0], [1, 0, 0]], FAILS, [[4, 0, 0], [5, 5, 0]]],
    ),
    "interleave side by side": (
        lambda: Dataset.range(2).interleave(inner, cycle_length=2, num_parallel_calls=2),
        [0, 10, FAILS, FAILS, 2, 12, 3, 13],
    ),
    "interleave of a source that fails": (
        lambda: numbers().interleave(lambda x: Dataset.from_tensors(x).repeat(2), 2, num_parallel_calls=2),
        [0, 1, 0, 1, 2, FAILS, 2, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9, 8, 9],
    ),
    "ignored": (lambda: numbers().shuffle(4, seed=2).ignore_errors(), [0, 2, 5, 7, 4, 1, 8, 6, 9]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_comes_behind_an_error_is_given(name):
    make, expected = CASES[name]
    assert everything(make()) == expected


def test_a_cache_in_a_file_keeps_what_did_not_fail(tmp_path):
    dataset = numbers(6).cache(str(tmp_path / "kept"))
    assert everything(dataset) == [0, 1, 2, FAILS, 4, 5]
    assert everything(dataset) == [0, 1, 2, 4, 5]


def test_a_snapshot_that_lacks_an_element_is_none(tmp_path):
    dataset = numbers(6).snapshot(str(tmp_path))
    for _ in range(2):
        assert everything(dataset) == [0, 1, 2, FAILS, 4, 5]
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers(6).save(str(tmp_path / "saved"))
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.endswith((".elements", ".part"))]


@pytest.mark.parametrize("taken", [0, 3, 4, 7])
def test_an_iterator_resumes_behind_an_error(taken, tmp_path):
    dataset = numbers(12, (1, 6)).shuffle(3, seed=1)
    iterator = iter(dataset)
    for _ in range(taken):
        try:
            next(iterator)
        except tf.errors.InvalidArgumentError:
            continue
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "it"))
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).restore(path)
    assert everything(again) == everything(iterator)
