"""Estimators of boosted trees, written once and run on TensorFlow 1.15 (which the answers are from) and here.

A case is a function of `tf` that trains a model and returns a list of arrays, which `answers(tf)` gives as JSON's lists.
"""

import numpy as np

CASES = {}
ROWS = 120


def case(function):
    CASES[function.__name__] = function
    return function


def answers(tf, names=None):
    return {name: [np.asarray(value).tolist() for value in CASES[name](tf)] for name in names or CASES}


def table():
    source = np.random.RandomState(3)
    numbers = source.uniform(-1, 1, size=(ROWS, 3)).astype(np.float32)
    words = np.array(["red", "green", "blue"])[source.randint(0, 3, ROWS)]
    target = 2 * numbers[:, 0] + np.where(words == "red", 1.5, 0.0) - numbers[:, 1] * numbers[:, 2]
    return {"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "word": words}, target.astype(np.float32)


def trained(tf, kind, labels, steps=60, several=False, **options):
    """Return predictions after training: all rows in a batch, or (`several`) in three."""
    values, _ = table()
    values["weight"] = np.linspace(0.5, 2.0, ROWS).astype(np.float32)
    fc = tf.feature_column
    columns = [
        fc.numeric_column("a"),
        fc.bucketized_column(fc.numeric_column("b"), [-0.5, 0.0, 0.25, 0.5]),
        fc.numeric_column("c"),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["red", "green", "blue"])),
    ]

    def batches(repeat=True):
        data = tf.data.Dataset.from_tensor_slices((values, labels)).batch(ROWS // 3 if several else ROWS)
        return data.repeat() if repeat else data

    model = getattr(tf.estimator, kind)(columns, n_batches_per_layer=3 if several else 1, max_depth=3, **options)
    model.train(batches, max_steps=steps)
    predictions = list(model.predict(lambda: batches(False)))
    key = "logits" if "Classifier" in kind else "predictions"
    importances = model.experimental_feature_importances()
    told = model.evaluate(lambda: batches(False))
    return [
        np.stack([row[key] for row in predictions])[:, 0],
        [importances[name] for name in sorted(importances)],
        told["loss"],
        told["global_step"],
    ]


@case
def regressor(tf):
    return trained(tf, "BoostedTreesRegressor", table()[1], n_trees=5, learning_rate=0.4)


@case
def regressor_with_a_bias_and_explanations(tf):
    return trained(tf, "BoostedTreesRegressor", table()[1], n_trees=3, center_bias=True, l2_regularization=0.1)


@case
def regressor_from_several_batches(tf):
    return trained(tf, "BoostedTreesRegressor", table()[1], n_trees=2, several=True, l1_regularization=0.01)


@case
def classifier(tf):
    return trained(tf, "BoostedTreesClassifier", (table()[1] > 0.3).astype(np.int32), n_trees=4)


@case
def classifier_with_weights(tf):
    labels = (table()[1] > 0.3).astype(np.int32)
    return trained(tf, "BoostedTreesClassifier", labels, n_trees=3, weight_column="weight")


@case
def classifier_that_prunes_before(tf):
    labels = (table()[1] > 0.3).astype(np.int32)
    options = {"pruning_mode": "pre", "tree_complexity": 0.02, "min_node_weight": 0.01}
    return trained(tf, "BoostedTreesClassifier", labels, n_trees=4, **options)


@case
def classifier_that_prunes_after(tf):
    labels = (table()[1] > 0.3).astype(np.int32)
    options = {"pruning_mode": "post", "tree_complexity": 0.02}
    return trained(tf, "BoostedTreesClassifier", labels, n_trees=4, **options)
