"""Labels of early models: losses, predictions and metrics, as TensorFlow 1.15 has them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import target_columns as columns

v1 = tf.compat.v1

BINARY = {
    "accuracy": 0.5, "accuracy/baseline_target_mean": 1 / 3, "accuracy/threshold_0.500000_mean": 2 / 3, "auc": 1.0,
    "labels/actual_target_mean": 1 / 3, "precision/positive_threshold_0.500000_mean": 0.5,
    "recall/positive_threshold_0.500000_mean": 1.0,
}  # fmt: skip
RECORDED = [  # of TensorFlow 1.15, with the weights 1, 2, 3
    (columns.multi_class_target, dict(n_classes=2), [[1.0], [-1.0], [0.5]], [1, 0, 0], 0.6436693, [1, 0, 1],
     {**BINARY, "labels/prediction_mean": 0.54082}),
    (columns.multi_class_target, dict(n_classes=3), [[1.0, 0, 0], [0, 2.0, 0], [0, 0, 1]], [0, 1, 1], 0.94747806,
     [0, 1, 2], {"accuracy": 0.5}),
    (columns.regression_target, {}, [[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]], 2.3333333, [1, 2, 3], {}),
    (columns.binary_svm_target, {}, [[1.0], [-0.5], [0.5]], [1, 0, 0], 0.9166667, [1, 0, 1],
     {**BINARY, "labels/prediction_mean": 0.57702}),
]  # fmt: skip


@pytest.mark.parametrize("make, given, logits, labels, loss, predicted, told", RECORDED)
def test_recorded(make, given, logits, labels, loss, predicted, told):
    column = make(weight_column_name="w", **given)
    with tf.Graph().as_default(), v1.Session() as session:
        logits, labels, features = tf.constant(logits), tf.constant(labels), {"w": tf.constant([[1.0], [2.0], [3.0]])}
        metrics = column.get_eval_ops(features, logits, labels)
        values = [column.loss(logits, labels, features), column.training_loss(logits, labels, features)]
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        session.run([update for _, update in metrics.values()])
        np.testing.assert_allclose(session.run(values), [loss, loss * 2], rtol=1e-5)
        assert session.run(column.logits_to_predictions(logits)).tolist() == predicted
        seen = session.run({name: value for name, (value, _) in metrics.items()})
    assert seen.keys() == told.keys() | {"loss"}
    for name, value in told.items():
        np.testing.assert_allclose(seen[name], value, atol=1e-4)


def test_without_weights_and_by_name():
    with tf.Graph().as_default(), v1.Session() as session:
        column = columns.regression_target(label_name="y")
        labels = {"y": tf.constant([0.0, 1.0, 1.0]), "other": tf.constant([9.0])}
        assert session.run(column.loss(tf.constant([[1.0], [1.0], [3.0]]), labels, {})) == pytest.approx(5 / 3)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="n_classes must be > 1"):
        columns.multi_class_target(1)
    with tf.Graph().as_default():
        logits = tf.constant([[1.0, 0.0, 0.0]])
        with pytest.raises(ValueError, match="should be integer"):
            columns.multi_class_target(3).loss(logits, tf.constant([1.0]), {})
        with pytest.raises(ValueError, match="not supported"):
            columns.binary_svm_target().logits_to_predictions(logits, proba=True)
        with pytest.raises(ValueError, match="classes or probabilities"):
            columns.multi_class_target(3).get_eval_ops({}, logits, tf.constant([1]), {("a", "logits"): None})
