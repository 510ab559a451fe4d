"""`tf.metrics` of TensorFlow 1: values, names and refusals as recorded."""

import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.programs import replay

v1 = tf.compat.v1


@pytest.mark.parametrize("judge, name", replay.cases("metrics"))
def test_as_recorded(judge, name):
    expected, given = replay.outcome("metrics", judge, name)
    replay.assert_alike(given, expected, relative=2e-6)


@pytest.mark.parametrize("name", ["mean", "accuracy", "auc", "precision", "recall_at_k", "mean_iou"])
def test_metrics_are_for_graphs(name):
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        getattr(v1.metrics, name)([0.0], [0.0], 1) if name != "mean" else v1.metrics.mean([0.0])


CONFUSIONS = [
    (
        dict(labels=[1, 2, 4], predictions=[2, 2, 4]),
        [[0] * 5, [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0] * 5, [0, 0, 0, 0, 1]],
    ),
    (dict(labels=[0, 1], predictions=[1, 1], num_classes=2), [[0, 1], [0, 1]]),
    (dict(labels=[[0], [1]], predictions=[1, 1], weights=[2.0, 0.5], dtype=tf.float32), [[0.0, 2.0], [0.0, 0.5]]),
]


@pytest.mark.parametrize("given, expected", CONFUSIONS)
def test_confusion_matrix(given, expected):
    assert tf.math.confusion_matrix(**given).numpy().tolist() == expected


@pytest.mark.parametrize("labels, says", [([-1], "negative"), ([3], "out of bound")])
def test_labels_outside_the_matrix_are_refused(labels, says):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=says):
        tf.math.confusion_matrix(labels, [0], num_classes=2)


def test_ranked_metrics_take_sparse_labels():
    with tf.Graph().as_default(), v1.Session() as session:
        labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], np.array([2, 0, 1], np.int64), [2, 2])
        value, update = v1.metrics.recall_at_k(labels, [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]], 1)
        session.run(v1.local_variables_initializer())
        assert session.run(update) == pytest.approx(1 / 3)
        assert session.run(value) == pytest.approx(1 / 3)


def test_contrib_metrics_take_predictions_first():
    code = """
import ebbflow.v1 as tf
m = tf.contrib.metrics
labels, guesses = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 1, 0])
named = {"r": m.streaming_recall(guesses, labels), "p": m.streaming_precision(guesses, labels)}
values, updates = m.aggregate_metric_map(named)
with tf.Session() as session:
    session.run(tf.local_variables_initializer())
    session.run(updates)
    print({k: round(float(v), 3) for k, v in session.run(values).items()}, session.run(m.accuracy(guesses, labels)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "{'r': 0.667, 'p': 0.667} 0.5", done.stderr


def test_labels_may_be_values_of_sparse_tensors_and_contrib_orders_its_arguments():
    from ebbflow.train import contrib_metrics as contrib

    labels = tf.compat.v1.SparseTensorValue([[0, 0], [0, 1], [1, 0]], np.array([1, 2, 0], np.int64), [2, 2])
    scores = [[0.1, 0.9, 0.5], [0.8, 0.2, 0.4]]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        best = tf.constant([[1, 2], [0, 2]], tf.int64)
        updates = [
            contrib.streaming_sparse_recall_at_k(scores, labels, 2)[1],
            contrib.streaming_sparse_precision_at_k(scores, labels, 2)[1],
            contrib.streaming_sparse_precision_at_top_k(best, labels, class_id=2)[1],
            contrib.sparse_recall_at_top_k(labels, best)[1],
            contrib.streaming_sparse_average_precision_at_top_k(best, labels)[1],
        ]
        session.run(tf.compat.v1.local_variables_initializer())
        assert session.run(updates) == [1.0, 0.75, 0.5, 1.0, 1.0]


@pytest.mark.parametrize(
    "ids, labels, says",
    [([9, 4], [1, 2], "at least rank 2"), (3, [1, 2], "Unexpected labels"), ([[9, 4]], [[[1]]], "Unexpected labels")],
)
def test_rankings_refuse_ranks_that_do_not_fit(ids, labels, says):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=says):
        tf.compat.v1.metrics.precision_at_top_k(labels, tf.constant(ids, tf.int64))


@pytest.mark.parametrize("sparse", [False, True])
def test_one_label_a_case_may_be_sparse(sparse):
    with tf.Graph().as_default(), v1.Session() as session:
        labels = tf.SparseTensor([[0], [1]], tf.constant([3, 2], tf.int64), [2]) if sparse else [3, 2]
        scores = tf.constant([[0.1, 0.3, 0.2, 0.4], [0.1, 0.2, 0.3, 0.4]])
        update = v1.metrics.precision_at_k(labels, scores, 1)[1]
        session.run(v1.local_variables_initializer())
        assert session.run(update) == 0.5
