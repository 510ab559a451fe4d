"""Records in one random order, read by their number."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.data.index_shuffle import index_shuffle


def records(paths):
    return tf.data.Dataset.range(10 * tf.shape(paths, out_type=tf.int64)[0])


def files(count, **more):
    return [{"path": f"file{i}", "num_elements": 10, **more} for i in range(count)]


@pytest.mark.parametrize("again", [False, True])
def test_orders(again):
    shuffled = index_shuffle(files(3), records, seed=4, reshuffle_each_iteration=again)
    first, second = ([int(x) for x in shuffled] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(30)) != first
    assert (first == second) is not again
    assert [int(x) for x in index_shuffle(files(3), records, seed=4)] == [
        int(x) for x in index_shuffle(files(3), records, seed=4)
    ]


@pytest.mark.parametrize("more, places", [
    ({"skip": 8}, [8, 9, 18, 19]),
    ({"skip": 2, "take": 1}, [2, 12]),
    ({"take": 0}, []),
    ({"skip": -1}, []),
    ({"skip": 9, "take": 20}, [9, 19]),
])  # fmt: skip
def test_parts_of_files(more, places):
    assert sorted(int(x) for x in index_shuffle(files(2, **more), records)) == places


def test_in_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        shuffled = index_shuffle(files(1), records, seed=1, reshuffle_each_iteration=True).repeat(2)
        iterator = tf.compat.v1.data.make_initializable_iterator(shuffled)
        element = iterator.get_next()
        session.run(iterator.initializer)
        first, second = ([int(session.run(element)) for _ in range(10)] for _ in range(2))
        assert sorted(first) == sorted(second) == list(range(10)) and first != second
