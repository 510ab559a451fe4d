"""Sampled losses, CTC and their kin: what they mean, where the recorded answers of single ops do not show it."""

import numpy as np
import pytest

import ebbflow as tf

RANDOM = np.random.RandomState(3)
WEIGHTS, BIASES, INPUTS = (RANDOM.randn(*s).astype(np.float32) for s in ((6, 4), (6,), (3, 4)))
LABELS = np.array([[1], [5], [0]])
ALL = (np.arange(6), np.ones((3, 1), np.float32), np.ones(6, np.float32))


def test_with_all_classes_drawn_the_sampled_softmax_is_the_softmax():
    sampled = tf.nn.sampled_softmax_loss(WEIGHTS, BIASES, LABELS, INPUTS, 6, 6, sampled_values=ALL)
    logits = INPUTS @ WEIGHTS.T + BIASES
    whole = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS[:, 0], logits=logits)
    np.testing.assert_allclose(sampled, whole, 1e-5)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_weights_in_shards_are_the_same_weights(strategy):
    shards = [WEIGHTS[::2], WEIGHTS[1::2]] if strategy == "mod" else [WEIGHTS[:3], WEIGHTS[3:]]
    loss = tf.compat.v1.nn.nce_loss
    whole = loss(WEIGHTS, BIASES, LABELS, INPUTS, 6, 6, sampled_values=ALL)
    parts = loss(shards, BIASES, LABELS, INPUTS, 6, 6, sampled_values=ALL, partition_strategy=strategy)
    np.testing.assert_allclose(parts, whole, 1e-6)


@pytest.mark.parametrize("blank", [0, 2, -1])
def test_ctc_of_padded_and_of_sparse_labels_agree(blank):
    logits = tf.constant(RANDOM.randn(6, 2, 4).astype(np.float32))
    labels = (
        np.array([[1, 3, 0], [3, 1, 1]], np.int32) if blank % 4 != 3 else np.array([[1, 2, 0], [2, 1, 1]], np.int32)
    )
    lengths, steps = np.array([2, 3], np.int32), np.array([6, 5], np.int32)
    sparse = tf.sparse.SparseTensor(
        [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], labels[[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]], [2, 3]
    )
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        padded = tf.nn.ctc_loss(labels, logits, lengths, steps, blank_index=blank)
        other = tf.nn.ctc_loss(sparse, logits, None, steps, blank_index=blank)
    np.testing.assert_allclose(padded, other, 1e-5)
    np.testing.assert_allclose(tape.gradient(padded, logits), tape.gradient(other, logits), 1e-4, 1e-6)


def test_ctc_loss_adds_up_all_paths():
    """Of three steps and the label a: aa_, a__, _a_, __a, _aa, aaa."""
    p = tf.nn.softmax(RANDOM.randn(3, 1, 2)).numpy()
    a, rest = p[:, 0, 0], p[:, 0, 1]
    paths = [(1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    total = sum(np.prod([a[t] if on else rest[t] for t, on in enumerate(path)]) for path in paths)
    loss = tf.nn.ctc_loss(np.array([[0]]), tf.math.log(p), [1], [3], blank_index=1)
    np.testing.assert_allclose(loss, [-np.log(total)], 1e-6)


def test_a_row_that_does_not_fit_its_steps_cannot_happen():
    loss = tf.nn.ctc_loss(np.array([[1, 2]]), np.zeros((3, 1, 3), np.float32), [2], [1])
    assert np.isinf(loss.numpy()).all()


def test_repetitions_are_taken_out_of_rows():
    labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    assert labels.numpy().tolist() == [[1, 2, 1], [3, 0, 0]] and lengths.numpy().tolist() == [3, 1]


def test_dilated_windows_by_way_of_the_batch():
    x, f = tf.constant(RANDOM.randn(1, 7, 8, 2)), tf.constant(RANDOM.randn(3, 2, 2, 3))
    for padding in ("SAME", "VALID"):
        found = tf.nn.with_space_to_batch(
            x, [2, 3], padding, lambda part, dims, pad: tf.nn.conv2d(part, f, 1, pad), filter_shape=[3, 2]
        )
        np.testing.assert_allclose(found, tf.nn.conv2d(x, f, 1, padding, dilations=[2, 3]), 1e-12, 1e-12)


def test_average_loss_divides_by_the_whole_batch():
    assert float(tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[1.0, 0.0])) == 0.5
    assert float(tf.nn.compute_average_loss([[1.0], [2.0]], sample_weight=[1.0, 2.0], global_batch_size=5)) == 1.0
    with pytest.raises(ValueError, match="at least one dimension"):
        tf.nn.compute_average_loss(3.0)


def test_the_closest_numbers_that_fall():
    values, segments = tf.nn.isotonic_regression(np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    assert values.numpy().tolist() == [[3.0, 1.5, 1.5], [2.0, 2.0, 2.0]]
    assert segments.numpy().tolist() == [[0, 1, 1], [0, 0, 0]]
    rising, _ = tf.nn.isotonic_regression(np.array([[3.0, 1.0]]), decreasing=False)
    assert rising.numpy().tolist() == [[2.0, 2.0]]


#    blank  losses and sum of absolute gradients, as TensorFlow 2.21 has them
BLANK_AMONG_LABELS = [
    (0, [12.0814, 5.6949, 10.0212], 25.4076),
    (2, [10.5491, 6.6771, 7.5044], 23.8565),
]


@pytest.mark.parametrize(("blank", "expected", "slopes"), BLANK_AMONG_LABELS)
def test_ctc_takes_the_blank_for_a_label(blank, expected, slopes):
    random = np.random.RandomState(0)
    labels = random.randint(0, 5, (3, 4)).astype(np.int32)
    logits = tf.constant(random.randn(3, 9, 5).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.ctc_loss(labels, logits, [4, 2, 3], [9, 6, 8], logits_time_major=False, blank_index=blank)
    np.testing.assert_allclose(loss, expected, rtol=1e-4)
    assert float(tf.reduce_sum(abs(tape.gradient(loss, logits)))) == pytest.approx(slopes, rel=1e-4)
