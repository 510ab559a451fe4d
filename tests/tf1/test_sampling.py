"""Rows repeated, dropped or accepted at random: rates and proportions over many draws, and what is refused."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import sampling

v1 = tf.compat.v1


def test_rows_come_at_their_rates():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        letters, numbers = tf.constant(["a", "b", "c"]), tf.constant([[1], [2], [3]])
        drawn = sampling.resample_at_rate([letters, numbers], [0.0, 1.0, 3.0])
        assert drawn[0].shape.rank == 1 and drawn[1].shape[1] == 1
        seen = [session.run(drawn) for _ in range(200)]
    names = np.concatenate([a for a, _ in seen])
    assert all((n[:, 0] == [b"abc".index(x) + 1 for x in a]).all() for a, n in seen)
    assert (names == b"a").sum() == 0
    assert 150 < (names == b"b").sum() < 250 and 520 < (names == b"c").sum() < 680


def test_weights_say_how_rates_compare():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        rows = tf.constant([0.0, 1.0])
        (drawn,), rates = sampling.weighted_resample([rows], tf.constant([1.0, 3.0]), 0.5)
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        seen = [session.run([drawn, rates]) for _ in range(300)]
    counts = np.bincount(np.concatenate([d for d, _ in seen]).astype(int), minlength=2) / 300
    np.testing.assert_allclose(counts, [0.25, 0.75], atol=0.12)
    assert {round(float(r), 3) for _, rates in seen for r in rates} == {0.25, 0.75}


def batches(session, fetches, count):
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = v1.train.start_queue_runners(session, coordinator)
    found = [session.run(fetches) for _ in range(count)]
    coordinator.request_stop()
    session.run([runner.cancel_op for runner in v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)])
    coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return found


def test_only_what_is_accepted_enters_a_batch():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        value = tf.random.uniform([])
        (batch,) = sampling.rejection_sample([value], lambda row: tf.cast(row[0] > 0.5, tf.float32), 8)
        found = batches(session, batch, 3)
    assert all(b.shape == (8,) and (b > 0.5).all() for b in found)


@pytest.mark.parametrize("known", [True, False])
def test_classes_come_in_the_proportions_that_are_asked_for(known):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        labels = tf.random.uniform([16], 0, 3, tf.int32)
        probabilities = [1 / 3, 1 / 3, 1 / 3] if known else None
        (data,), chosen = sampling.stratified_sample(
            [labels * 10], labels, [0.0, 0.25, 0.75], 40, init_probs=probabilities, enqueue_many=True
        )
        found = batches(session, [data, chosen], 6)
    for data, chosen in found:
        np.testing.assert_array_equal(data, chosen * 10)
    shares = np.bincount(np.concatenate([c for _, c in found]), minlength=3) / 240
    np.testing.assert_allclose(shares, [0.0, 0.25, 0.75], atol=0.1)


def test_proportions_that_are_none_are_refused():
    with tf.Graph().as_default():
        x, label = tf.constant([1.0]), tf.constant([0])
        with pytest.raises(ValueError, match="must have the same length"):
            sampling.stratified_sample([x], label, [0.5, 0.5], 1, init_probs=[0.2, 0.3, 0.5], enqueue_many=True)
        with pytest.raises(ValueError, match="compatible"):
            sampling.rejection_sample([tf.zeros([2]), tf.zeros([3])], lambda row: 0.5, 1, enqueue_many=True)
