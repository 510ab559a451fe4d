"""Estimators of boosted trees: TensorFlow 1.15's recorded models, leaves of several logits, explanations, refusals."""

import json
import pathlib

import numpy as np
import pytest

from tests.doors.test_alias import python
from tests.golden.contrib import tree_models
from tests.machine import KERAS_2

RECORDED = json.loads(pathlib.Path(tree_models.__file__).with_suffix(".json").read_text())
pytestmark = KERAS_2
ASK = f"""
    import importlib.util, json
    import ebbflow.v1 as tf
    tf.logging.set_verbosity("ERROR")
    spec = importlib.util.spec_from_file_location("tree_models", {tree_models.__file__!r})
    models = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(models)
    print(json.dumps(models.answers(tf)))
"""
MORE = """
    import tempfile
    import numpy as np
    import ebbflow.v1 as tf
    tf.logging.set_verbosity("ERROR")
    source = np.random.RandomState(0)
    x = source.uniform(-1, 1, (90, 2)).astype(np.float32)
    classes = (x[:, 0] > 0.3).astype(np.int32) + (x[:, 1] > 0.2)

    def batches(labels, repeat=True):
        def made():
            data = tf.data.Dataset.from_tensors(({"a": x[:, 0], "b": x[:, 1]}, labels))
            return data.repeat() if repeat else data

        return made

    columns = [tf.feature_column.numeric_column(name) for name in "ab"]
    trees = tf.estimator.BoostedTreesClassifier(
        columns, 1, n_classes=3, n_trees=4, max_depth=3, learning_rate=0.5, quantile_sketch_epsilon=0.07
    )
    trees.train(batches(classes), max_steps=50)
    print(trees.evaluate(batches(classes, False))["accuracy"] > 0.95)

    options = {"n_trees": 3, "max_depth": 3, "center_bias": True, "learning_rate": 0.4}
    sums = x.sum(1)
    kept = tf.estimator.BoostedTreesRegressor(columns, 1, train_in_memory=True, **options)
    plain = tf.estimator.BoostedTreesRegressor(columns, 1, **options)
    for model in (kept, plain):
        model.train(batches(sums), max_steps=50)
    said = [np.array([row["predictions"][0] for row in m.predict(batches(sums, False))]) for m in (kept, plain)]
    print(np.allclose(*said, atol=1e-5))
    rows = list(plain.experimental_predict_with_explanations(batches(sums, False)))
    totals = [row["bias"] + sum(row["dfc"].values()) - row["predictions"][0] for row in rows]
    print(np.abs(totals).max() < 1e-5, np.isclose(rows[0]["bias"], sums.mean(), atol=1e-2), list(rows[0]["dfc"]) != [])
    before = plain.get_variable_value("global_step")
    again = tf.estimator.BoostedTreesRegressor(columns, 1, model_dir=plain.model_dir, **(options | {"n_trees": 4}))
    again.train(batches(sums), max_steps=50)
    print(before, again.get_variable_value("global_step"))
    for wrong in ({"n_trees": 0}, {"l2_regularization": -1.0}, {"pruning_mode": "pre"}, {"tree_complexity": 1.0}):
        try:
            tf.estimator.BoostedTreesRegressor(columns, 1, **wrong)
        except ValueError as e:
            print(str(e))
    try:
        trees.experimental_predict_with_explanations(batches(classes, False)).__next__()
    except ValueError as e:
        print(str(e)[:27])
"""


@pytest.fixture(scope="module")
def answers():
    return json.loads("".join(python(ASK)))


@pytest.mark.parametrize("name", tree_models.CASES)
def test_recorded(answers, name):
    for mine, other in zip(answers[name], RECORDED[name], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def test_several_classes_explanations_going_on_and_refusals():
    assert " ".join(python(MORE)) == " ".join([
        "True", "True", "True True True", "11 14",
        "Expected n_trees > 0, received: 0",
        "Expected l2 >= 0, received: -1.0",
        "For pruning, tree_complexity must be positive.",
        "Tree complexity have no effect unless pruning mode is chosen.",
        "center_bias must be enabled",
    ])  # fmt: skip
