"""Losses: values and gradients against NumPy, every reduction, weights that spread or do not."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.train import losses

v1 = tf.compat.v1
P = np.float32([[0.1, 0.7, 0.3], [0.9, 0.2, 0.5]])
L = np.float32([[0, 1, 0], [1, 0, 0]])
Z = np.float32([[1, 2, -1], [0, 3, 0.5]])
MODES = {"eager": context.eager_scope, "graph": lambda: tf.Graph().as_default()}


def value(tensor):
    if tf.executing_eagerly():
        return tensor.numpy()
    with v1.Session() as session:
        return session.run(tensor)


def log_softmax(z):
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def sigmoid_loss(labels, z):
    return np.maximum(z, 0) - z * labels + np.log1p(np.exp(-np.abs(z)))


# loss: the function, and the same per element
ELEMENTS = {
    "absolute_difference": (lambda **o: losses.absolute_difference(L, P, **o), np.abs(P - L)),
    "mean_squared_error": (lambda **o: losses.mean_squared_error(L, P, **o), (P - L) ** 2),
    "huber_loss": (
        lambda **o: losses.huber_loss(L, 3 * P, delta=0.5, **o),
        np.where(np.abs(3 * P - L) < 0.5, 0.5 * (3 * P - L) ** 2, 0.5 * np.abs(3 * P - L) - 0.125),
    ),
    "log_loss": (lambda **o: losses.log_loss(L, P, **o), -L * np.log(P + 1e-7) - (1 - L) * np.log(1 - P + 1e-7)),
    "hinge_loss": (lambda **o: losses.hinge_loss(L, Z, **o), np.maximum(1 - (2 * L - 1) * Z, 0)),
    "sigmoid_cross_entropy": (lambda **o: losses.sigmoid_cross_entropy(L, Z, **o), sigmoid_loss(L, Z)),
    "sigmoid, smoothed": (
        lambda **o: losses.sigmoid_cross_entropy(L, Z, label_smoothing=0.2, **o),
        sigmoid_loss(L * 0.8 + 0.1, Z),
    ),
    "softmax_cross_entropy": (lambda **o: losses.softmax_cross_entropy(L, Z, **o), -(L * log_softmax(Z)).sum(-1)),
    "softmax, smoothed": (
        lambda **o: losses.softmax_cross_entropy(L, Z, label_smoothing=0.3, **o),
        -((L * 0.7 + 0.1) * log_softmax(Z)).sum(-1),
    ),
    "sparse_softmax_cross_entropy": (
        lambda **o: losses.sparse_softmax_cross_entropy(np.int32([1, 0]), Z, **o),
        -(L * log_softmax(Z)).sum(-1),
    ),
    "sparse labels in a column": (
        lambda **o: losses.sparse_softmax_cross_entropy(np.int64([[1], [0]]), Z, **o),
        -(L * log_softmax(Z)).sum(-1),
    ),
    "cosine_distance": (lambda **o: losses.cosine_distance(L, P, axis=1, **o), 1 - (L * P).sum(1, keepdims=True)),
}

REDUCTIONS = {
    losses.Reduction.NONE: lambda e, w: e * w,
    losses.Reduction.SUM: lambda e, w: (e * w).sum(),
    losses.Reduction.MEAN: lambda e, w: (e * w).sum() / (np.ones_like(e) * w).sum(),
    losses.Reduction.SUM_OVER_BATCH_SIZE: lambda e, w: (e * w).sum() / e.size,
    losses.Reduction.SUM_BY_NONZERO_WEIGHTS: lambda e, w: (e * w).sum() / max((np.ones_like(e) * (w != 0)).sum(), 1),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ELEMENTS)
def test_values(name, reduction, mode):
    function, elements = ELEMENTS[name]
    weights = {1: np.float32([2.0, 0.5]), 2: np.float32([[2.0], [0.0]])}[elements.ndim]
    with MODES[mode]():
        for w in (np.float32(1.0), np.float32(3.0), weights):
            given = value(function(weights=w, reduction=reduction))
            np.testing.assert_allclose(given, REDUCTIONS[reduction](elements, w), rtol=2e-6, atol=1e-7)


def test_no_weight_at_all_is_no_loss():
    assert float(losses.mean_squared_error(L, P, weights=0.0)) == 0.0


def test_pairs():
    given = float(losses.mean_pairwise_squared_error(L, P))
    diffs = P - L
    rows = [np.mean([(d[i] - d[j]) ** 2 for i in range(3) for j in range(3) if i != j]) for d in diffs]
    np.testing.assert_allclose(given, np.sum(rows), rtol=1e-6)


def test_gradients_reach_the_predictions():
    x = tf.Variable(P)
    with tf.GradientTape() as tape:
        loss = losses.mean_squared_error(L, x)
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), 2 * (P - L) / 6, rtol=1e-6)


def test_collected_and_added_up():
    with tf.Graph().as_default(), v1.Session() as session:
        one = losses.mean_squared_error(L, P)
        losses.absolute_difference(L, P, loss_collection=None)
        losses.add_loss(tf.constant(2.0))
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, tf.constant(4.0))
        assert one.name == "mean_squared_error/value:0" and losses.get_losses()[0] is one
        assert losses.get_losses(scope="nothing") == []
        total, bare = losses.get_total_loss(), losses.get_total_loss(add_regularization_losses=False, name="bare")
        assert (total.name, bare.name) == ("total_loss:0", "bare:0")
        a, b, c = session.run([one, total, bare])
        np.testing.assert_allclose([b, c], [a + 6.0, a + 2.0], rtol=1e-6)


@pytest.mark.parametrize("weights, fits", [([[1.0], [0.0]], True), (2.0, True), ([1.0, 2.0, 3.0], False)])
def test_weights_whose_shape_shows_when_it_runs(weights, fits):
    with tf.Graph().as_default(), v1.Session() as session:
        hidden = v1.placeholder_with_default(np.float32(weights), None)
        loss = losses.mean_squared_error(L, v1.placeholder_with_default(P, None), weights=hidden)
        if fits:
            session.run(loss)
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(loss)


REFUSALS = {
    "no labels": (lambda: losses.mean_squared_error(None, P), "labels must not be None."),
    "no predictions": (lambda: losses.log_loss(L, None), "predictions must not be None."),
    "no logits": (lambda: losses.softmax_cross_entropy(L, None), "logits must not be None."),
    "shapes": (lambda: losses.mean_squared_error(L, P[:, :2]), "incompatible"),
    "rank of weights": (
        lambda: losses.mean_squared_error(L, P, weights=[1.0, 2.0, 3.0]),
        r"values.rank=2. weights.rank=1. values.shape=\(2, 3\). weights.shape=\(3,\).",
    ),
    "length of weights": (
        lambda: losses.mean_squared_error(L, P, weights=np.ones([2, 2], np.float32)),
        r"Mismatch at dim 1. values.shape=\[2 3\] weights.shape=\[2 2\]",
    ),
    "reduction": (lambda: losses.mean_squared_error(L, P, reduction="all"), "Invalid Reduction Key all."),
    "axis": (lambda: losses.cosine_distance(L, P), "You must specify 'axis'."),
}


@pytest.mark.parametrize("what, words", REFUSALS.values(), ids=REFUSALS)
def test_refused(what, words):
    with pytest.raises(ValueError, match=words):
        what()


def test_classes_of_a_rank_that_shows_only_when_they_are_fed():
    with tf.Graph().as_default(), v1.Session() as session:
        labels, logits = v1.placeholder(tf.int32), v1.placeholder(tf.float32, [None, 3])
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        wide = session.run(loss, {labels: [[1], [0]], logits: Z})
        assert session.run(loss, {labels: [1, 0], logits: Z}) == wide
    np.testing.assert_allclose(wide, -(log_softmax(Z)[[0, 1], [1, 0]]).mean(), rtol=1e-6)
