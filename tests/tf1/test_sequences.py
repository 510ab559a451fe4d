"""Embedded sequences, buckets of like length, memory, metrics that are objects."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import eager_metrics, memory_stats, sequences

v1 = tf.compat.v1


@pytest.mark.parametrize("unique", [False, True])
def test_embedded_sequences(unique):
    with tf.Graph().as_default(), v1.Session() as session:
        rows = sequences.embed_sequence([[1, 2], [2, 0]], 3, 4, unique=unique, scope="words")
        again = sequences.embed_sequence([[1, 2]], 3, 4, scope="words", reuse=True)
        assert rows.shape.as_list() == [2, 2, 4]
        assert [v.name for v in v1.trainable_variables()] == ["words/embeddings:0"]
        session.run(v1.global_variables_initializer())
        first, second = session.run([rows, again])
        np.testing.assert_array_equal(first[:1], second)
        np.testing.assert_array_equal(first[0, 1], first[1, 0])
    with pytest.raises(ValueError, match="vocab size"), tf.Graph().as_default():
        sequences.embed_sequence([[1]])


def test_batches_of_like_length():
    with tf.Graph().as_default(), v1.Session() as session:
        length = v1.train.range_input_producer(8, shuffle=False, num_epochs=2).dequeue() + 1
        row = tf.range(length)
        lengths, (rows,) = sequences.bucket_by_sequence_length(
            length, [row], 2, [4], dynamic_pad=True, allow_smaller_final_batch=True
        )
        session.run(v1.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                n, batch = session.run([lengths, rows])
                assert len({int(x >= 4) for x in n}) == 1
                assert batch.shape == (len(n), max(n))
                for x, line in zip(n, batch, strict=True):
                    np.testing.assert_array_equal(line, [*range(x), *[0] * (max(n) - x)])
                seen += n.tolist()
        coordinator.request_stop()
        coordinator.join(threads)
        assert sorted(seen) == sorted([*range(1, 9)] * 2)


def test_buckets_of_sparse_rows():
    with tf.Graph().as_default(), v1.Session() as session:
        number = v1.train.range_input_producer(8, shuffle=False, num_epochs=1).dequeue()
        sparse = tf.SparseTensor([[0]], [tf.cast(number, tf.float32)], [1])
        which, (numbers, rows) = sequences.bucket([number, sparse], number % 2, 4, 2)
        assert [numbers.shape.as_list(), rows.shape.as_list()] == [[4], [None, None]]
        session.run(v1.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        for _ in range(2):
            bucket, taken, value = session.run([which, numbers, rows])
            assert taken.tolist() == value.values.tolist() == [bucket + 2 * i for i in range(4)]
            assert value.dense_shape.tolist() == [4, 1]
        coordinator.request_stop()
        coordinator.join(threads)
        with pytest.raises(ValueError, match="bucket_capacities must have exactly num_buckets"):
            sequences.bucket([number], which, 4, 2, bucket_capacities=[1, 2, 3])


@pytest.mark.parametrize(("bounds", "kind"), [([], ValueError), ([3, 2], ValueError), ([1.5], TypeError)])
def test_bad_boundaries(bounds, kind):
    with tf.Graph().as_default(), pytest.raises(kind):
        sequences.bucket_by_sequence_length(tf.constant(3), [tf.constant([1])], 2, bounds)


def test_memory():
    used, most, limit = memory_stats.BytesInUse(), memory_stats.MaxBytesInUse(), memory_stats.BytesLimit()
    assert 0 < int(used) <= int(limit) and 0 < int(most) <= int(limit)


def test_metrics_eagerly():
    mean = eager_metrics.Mean()
    mean([1.0, 2.0, 3.0])
    mean([5.0], weights=[3.0])
    assert float(mean.result()) == 3.5 and mean.result().dtype == tf.float64
    mean.init_variables()
    mean(4.0)
    assert float(mean.result()) == 4.0
    accuracy = eager_metrics.Accuracy()
    accuracy([0, 1, 2, 3], [0, 0, 2, 3])
    assert float(accuracy.result()) == 0.75
    rows = eager_metrics.SparseAccuracy()
    rows([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    assert float(rows.result()) == 0.5
    hot = eager_metrics.CategoricalAccuracy()
    hot([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]])
    assert float(hot.result()) == 1.0
    halves = eager_metrics.BinaryAccuracy(0.5)
    halves([0, 1, 1], [0.2, 0.7, 0.1])
    assert abs(float(halves.result()) - 2 / 3) < 1e-9


def test_metrics_are_named_checked_and_written(tmp_path):
    from ebbflow.summary import contrib

    mean = eager_metrics.Mean("Avg-Loss of all")
    v1.train.get_or_create_global_step()
    with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.always_record_summaries():
        mean(4.0)
        mean.result()
        mean.result(write_summary=False)
    assert (mean.name, mean.numer.name) == ("Avg-Loss of all", "Avg_Loss_of_all/numer:0")
    (file,) = tmp_path.iterdir()
    assert [v.simple_value for e in v1.train.summary_iterator(str(file)) for v in e.summary.value] == [4.0]
    built = eager_metrics.Mean()
    built.build()
    kept = built.numer
    built(1.0)
    assert built.numer is kept
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions are unequal"):
        eager_metrics.Accuracy()([[0], [0]], [0, 1])


def test_metrics_are_restored_when_they_are_built(tmp_path):
    mean = eager_metrics.Mean()
    mean([100.0, 200.0])
    path = v1.train.Checkpoint(mean=mean).save(str(tmp_path / "m"))
    other = eager_metrics.Mean()
    status = v1.train.Checkpoint(mean=other).restore(path)
    other(300.0)
    status.assert_consumed()
    assert float(other.result()) == 200.0


def test_metrics_in_a_graph():
    with tf.Graph().as_default(), v1.Session() as session:
        mean = eager_metrics.Mean()
        x = v1.placeholder(tf.float32, [None])
        counted, result = mean(x), mean.result()
        session.run(mean.init_variables())
        for values in ([1.0, 2.0], [6.0]):
            session.run(counted, {x: values})
        assert session.run(result) == 3.0
        assert mean.variables == v1.get_collection("local_variables") == v1.get_collection("metric_variables")
        with pytest.raises(ValueError, match="already exists"):
            eager_metrics.Mean()(0.0)
