"""Input from queues: producers and batches, names and values as TensorFlow 1.15 gives them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


@pytest.fixture(autouse=True)
def graph():
    with tf1.Graph().as_default() as graph:
        yield graph


@contextlib.contextmanager
def running():
    with tf1.Session() as session:
        session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        yield session
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=20)
        assert not any(thread.is_alive() for thread in threads)


def until_end(session, tensors):
    values = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while len(values) < 100:
            values.append(session.run(tensors))
    return values


def test_epochs_of_files_in_batches(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("".join(f"{name}{i}\n" for i in range(3)))
    names = tf1.train.match_filenames_once(str(tmp_path / "*"))
    queue = tf1.train.string_input_producer(names, num_epochs=2, shuffle=False)
    _, line = tf1.TextLineReader().read(queue)
    batch = tf1.train.batch([line], 4, allow_smaller_final_batch=True)
    assert batch.name == "batch:0" and batch.shape.as_list() == [None]
    with running() as session:
        rows = until_end(session, batch)
    assert np.concatenate(rows).tolist() == [b"a0", b"a1", b"a2", b"b0", b"b1", b"b2"] * 2
    assert [len(row) for row in rows] == [4, 4, 4]


def test_slices_in_tensorflows_order():
    tf1.set_random_seed(3)
    pair = tf1.train.slice_input_producer([tf1.range(5), [10, 20, 30, 40, 50]], num_epochs=1, seed=4)
    with running() as session:
        assert [int(a) for a, _ in until_end(session, pair)] == [1, 0, 4, 3, 2]


def test_the_nodes_are_tensorflows(graph):
    tf1.train.string_input_producer(["a"], num_epochs=1)
    tf1.train.shuffle_batch({"n": tf1.constant(3)}, 4, 50, 10, num_threads=2)
    names = {op.name for op in graph.get_operations()}
    assert {
        "input_producer", "input_producer/limit_epochs/epochs", "input_producer/input_producer_EnqueueMany",
        "input_producer/fraction_of_32_full", "shuffle_batch/random_shuffle_queue", "shuffle_batch/n", "shuffle_batch",
        "shuffle_batch/fraction_over_10_of_40_full", "shuffle_batch/random_shuffle_queue_Close_1",
    } <= names  # fmt: skip


def test_shuffled_batches_are_all_rows():
    rows = tf1.train.range_input_producer(20, num_epochs=1, shuffle=False).dequeue()
    batch = tf1.train.shuffle_batch({"row": rows, "square": rows * rows}, 5, 20, 5, num_threads=2)
    with running() as session:
        batches = until_end(session, batch)
    seen = np.concatenate([b["row"] for b in batches])
    assert sorted(seen) == list(range(20)) and seen.tolist() != list(range(20))
    np.testing.assert_array_equal(np.concatenate([b["square"] for b in batches]), seen**2)


def test_rows_of_batches_padded():
    n = tf1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    batch = tf1.train.batch([tf1.fill([n], n)], 4, dynamic_pad=True)
    with running() as session:
        assert session.run(batch).tolist() == [[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]]


def test_sparse_rows():
    n = tf1.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    row = tf1.SparseTensor(tf1.cast([[n]], tf.int64), [n * 10], [4])
    batch, plain = tf1.train.batch([row, n], 3)
    with running() as session:
        value, numbers = session.run([batch, plain])
    assert value.indices.tolist() == [[0, 0], [1, 1], [2, 2]] and value.values.tolist() == [0, 10, 20]
    assert value.dense_shape.tolist() == [3, 4] and numbers.tolist() == [0, 1, 2]


@pytest.mark.parametrize("many", [False, True])
def test_rows_that_are_kept(many):
    n = tf1.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
    if many:
        both = tf1.stack([n, n + 100])
        batch = tf1.train.maybe_batch([both], tf1.equal(both % 2, 1), 2, enqueue_many=True)
        expected = [[1, 101], [3, 103], [5, 105], [7, 107]]
    else:
        batch = tf1.train.maybe_batch([n], tf1.equal(n % 2, 0), 2)
        expected = [[0, 2], [4, 6]]
    with running() as session:
        assert [b.tolist() for b in until_end(session, batch)] == expected


@pytest.mark.parametrize("shuffle", [False, True])
def test_several_sources(shuffle):
    sources = [[tf1.train.range_input_producer(6, num_epochs=1).dequeue() + 100 * i] for i in range(2)]
    join = tf1.train.shuffle_batch_join(sources, 4, 20, 2) if shuffle else tf1.train.batch_join(sources, 4)
    assert join.shape.as_list() == [4]
    with running() as session:
        rows = np.concatenate(until_end(session, join))
    assert sorted(rows) == [*range(6), *range(100, 106)]


def test_an_epoch_can_end():
    three = tf1.train.limit_epochs(tf1.constant(7), num_epochs=3)
    with running() as session:
        assert until_end(session, three) == [7, 7, 7]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.train.string_input_producer([]),
        lambda: tf1.train.limit_epochs(tf1.constant(1), 0),
        lambda: tf1.train.input_producer(tf1.placeholder(tf.float32)),
        lambda: tf1.train.slice_input_producer([]),
        lambda: tf1.train.batch([], 3),
        lambda: tf1.train.batch([tf1.placeholder(tf.float32, [None])], 3),
        lambda: tf1.train.maybe_batch([tf1.constant(1)], [True], 3),
        lambda: tf1.train.maybe_batch([tf1.constant([1])], tf1.placeholder(tf.bool), 3, enqueue_many=True),
        lambda: tf1.train.shuffle_batch([tf1.constant(1)], 3, 5, 5),
        lambda: tf1.train.batch_join([], 3),
        lambda: tf1.train.batch_join([[tf1.constant(1)], [tf1.constant(1), tf1.constant(2)]], 3),
    ],
)
def test_refused(make):
    with pytest.raises(ValueError):
        make()


def test_types_must_agree():
    with pytest.raises(TypeError, match="consistent"):
        tf1.train.batch_join([[tf1.constant(1)], [tf1.constant(1.0)]], 3)


def test_an_empty_list_of_files_is_found_when_it_runs(tmp_path):
    names = tf1.train.match_filenames_once(str(tmp_path / "nothing*"))
    queue = tf1.train.string_input_producer(names)
    take = queue.dequeue()
    with tf1.Session() as session:
        session.run(tf1.local_variables_initializer())
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-null"):
            coord.join(threads, stop_grace_period_secs=10)


def test_keys_of_dictionaries_may_be_of_several_types():
    with tf1.Graph().as_default(), tf1.Session() as session:
        batch = tf1.train.batch({"z": 1, 1: 42, ("a", "b"): 100}, 2)
        coordinator = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coordinator)
        found = session.run(batch)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)
    assert {key: value.tolist() for key, value in found.items()} == {"z": [1, 1], 1: [42, 42], ("a", "b"): [100, 100]}
