"""Estimators of `tf.contrib`: `SVM`, `WALSMatrixFactorization`, `GMM` and forests, each in its own process.

The expected numbers are TensorFlow 1.15's.
"""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.factorization import WALSModel
from ebbflow.tf1.mixtures import GmmAlgorithm
from tests.doors.test_alias import python
from tests.machine import KERAS_2

SVM = """
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    def feed():
        features = {"id": tf.constant(["1", "2", "3"]), "a": tf.constant([[0.0], [1.0], [3.0]]),
                    "b": tf.constant([[1.0], [-1.2], [1.0]]), "w": tf.constant([[1.0], [2.0], [1.0]])}
        return features, tf.constant([[1], [0], [1]])

    columns = [tf.contrib.layers.real_valued_column(name) for name in "ab"]
    model = tf.contrib.learn.SVM("id", columns, weight_column_name="w")
    model.fit(input_fn=feed, steps=30)
    told = model.evaluate(input_fn=feed, steps=1)
    print(told["accuracy"], told["loss"] < 1e-6, *model.predict_classes(input_fn=feed, as_iterable=False))
    print(model.predict_proba(input_fn=feed, as_iterable=False).shape)
    model = tf.contrib.learn.SVM("id", columns)
    model.fit(input_fn=feed, steps=30)
    print(np.round(model.get_variable_value("linear_model/b/weights")[0, 0], 3),
          np.round(model.get_variable_value("linear_model/bias_weights")[0], 3))
    try:
        tf.contrib.learn.SVM("id", columns, kernels=["round"])
    except ValueError as error:
        print("Kernel" in str(error))
"""

FACTORS = """
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    Factors = tf.contrib.factorization.WALSMatrixFactorization
    source = np.random.RandomState(0)
    full = source.rand(7, 3).dot(source.rand(3, 5)).astype(np.float32)

    def feed(project=None):
        def call():
            sparse = lambda m: tf.SparseTensor(np.argwhere(m), m[m != 0], m.shape)
            features = {Factors.INPUT_ROWS: sparse(full), Factors.INPUT_COLS: sparse(full.T)}
            if project is not None:
                features[Factors.PROJECT_ROW] = tf.constant(project)
            return features, None
        return call

    begin = source.randn(7, 3).astype(np.float32), source.randn(5, 3).astype(np.float32)
    model = Factors(7, 5, 3, 0.001, 0.001, *begin, max_sweeps=6)
    model.fit(input_fn=feed(), steps=20)
    near = np.concatenate(model.get_row_factors()) @ np.concatenate(model.get_col_factors()).T
    print(model.get_variable_value("global_step"), model.get_variable_value("completed_sweeps"))
    loss = model.evaluate(input_fn=feed(True), steps=1)["loss"]
    print(np.abs(near - full).max() < 0.006, abs(loss - 0.039141) < 1e-5)
    for project in True, False:
        print(*np.round(next(model.get_projections(feed(project))), 3))
"""

MIXTURE = """
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    source = np.random.RandomState(5)
    points = np.concatenate([source.randn(40, 2) + [4, 0], source.randn(60, 2) * 0.5 - [4, 1]]).astype(np.float32)
    feed = lambda: (tf.constant(points), None)
    once = lambda: (tf.data.Dataset.from_tensors(points).make_one_shot_iterator().get_next(), None)
    model = tf.contrib.factorization.GMM(2, initial_clusters=points[[0, 99]])
    model.fit(input_fn=feed, steps=10)
    assigned = np.array(list(model.predict_assignments(input_fn=once)))
    print(*np.bincount(assigned), *np.round(model.weights(), 3), *np.round(model.clusters()[0], 1))
    print(model.covariances().shape, model.get_variable_value("global_step"), model.score(input_fn=feed, steps=1) > 2)
    drawn = tf.contrib.factorization.GMM(2, random_seed=3, covariance_type="diag")
    drawn.fit(input_fn=lambda: ({"a": tf.constant(points[:, :1]), "b": tf.constant(points[:, 1:])}, None), steps=30)
    print(drawn.covariances().shape)
"""


@KERAS_2
def test_support_vectors():
    assert python(SVM) == ["1.0", "True", "1", "0", "1", "(3,", "2)", "0.909", "0.091", "True"]


@KERAS_2
def test_factors():
    told = python(FACTORS)
    assert told[:4] == ["6", "6", "True", "True"]
    np.testing.assert_allclose(np.array(told[7:], float), [0.602, -0.122, -0.097], atol=2e-3)


@KERAS_2
def test_mixture():
    told = python(MIXTURE)
    assert told[:4] == ["40", "60", "0.4", "0.6"]
    assert told[6:] == ["(2,", "2,", "2)", "10", "True", "(2,", "2)"]


def test_what_a_model_cannot_be_made_of_is_said():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="both be None"):
            WALSModel(3, 3, 1, row_weights=None)
        with pytest.raises(ValueError, match="2 lists of weights for 1 shards"):
            WALSModel(3, 3, 1, row_weights=[[1.0], [2.0]])
        with pytest.raises(ValueError, match="Invalid weight"):
            WALSModel(3, 3, 1, row_weights=-1)
        with pytest.raises(ValueError, match="row_init"):
            WALSModel(3, 3, 1, row_init="zeros")
        with pytest.raises(ValueError, match="SparseTensor"):
            WALSModel(3, 3, 1).update_row_factors([[1.0]])
        with pytest.raises(ValueError, match="'full' or 'diag'"):
            GmmAlgorithm([[[1.0]]], 1, covariance_type="round")


def test_entries_outside_are_refused():
    ops = tf.raw_ops
    one = {"factors": [[1.0]], "unobserved_weights": 0.1, "input_values": [1.0], "input_block_size": 1,
           "input_is_transpose": False, "entry_weights": []}  # fmt: skip
    weights = {"factor_weights": [1.0], "input_weights": [1.0]}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"names 2, which is not in \[0, 1\)"):
        ops.WALSComputePartialLhsAndRhs(**one, **weights, input_indices=[[0, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="and not both"):
        ops.WALSComputePartialLhsAndRhs(**one, factor_weights=[], input_weights=[], input_indices=[[0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"column 3 is not in \[0, 1\)"):
        ops.MaskedMatmul(a=[[1.0]], b=[[1.0]], mask_indices=[[0, 3]], transpose_a=False, transpose_b=True)


FOREST = """
    import numpy as np
    import ebbflow.v1 as tf

    random_forest = tf.contrib.tensor_forest.client.random_forest
    tensor_forest = tf.contrib.tensor_forest.python.tensor_forest

    tf.logging.set_verbosity(tf.logging.ERROR)
    x = np.random.RandomState(0).rand(300, 3).astype(np.float32)
    y = ((x[:, 0] > 0.5) + (x[:, 1] > 0.5)).astype(np.int32)
    params = tensor_forest.ForestHParams(
        num_classes=3, num_features=3, num_trees=4, max_nodes=50, split_after_samples=25, base_random_seed=1)
    model = random_forest.TensorForestEstimator(params, report_feature_importances=True, early_stopping_rounds=30)
    model.fit(x, y, steps=30, batch_size=100)
    print(model.evaluate(x, y, batch_size=300)["accuracy"] > 0.9)
    told = model.predict(x, as_iterable=False)
    print((told["classes"] == y).mean() > 0.9, told["probabilities"].shape, told["prediction_variance"].shape)
    numbers = tensor_forest.ForestHParams(
        num_classes=1, num_features=3, num_trees=4, max_nodes=90, split_after_samples=25, regression=True,
        base_random_seed=1)
    model = random_forest.CoreTensorForestEstimator(numbers, weight_column="w")
    feed = lambda: tf.data.Dataset.from_tensors(({"x": x, "w": np.ones(300, "f")}, x[:, :1] * 2)).repeat(20)
    model.train(feed)
    print(model.evaluate(feed, steps=1)["average_loss"] < 0.02)
"""


@KERAS_2
def test_forests():
    assert python(FOREST) == ["True", "True", "(300,", "3)", "(300,", "3)", "True"]
