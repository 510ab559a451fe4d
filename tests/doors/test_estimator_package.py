"""`tf.estimator` from the real `tensorflow_estimator`, in processes of their own: both eras, train to predict."""

import importlib.util

import pytest

from tests.doors.test_alias import python

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tf_keras") is None, reason="no extra brings tf_keras, which asks for TensorFlow"
)

PROGRAM = """
    import tempfile
    import numpy as np
    import {module} as tf

    x = np.random.RandomState(0).rand(200, 2).astype(np.float32)
    y = (x.sum(1) > 1).astype(np.int32)
    c = np.where(y == 1, b"a", b"b")

    def rows():
        return tf.data.Dataset.from_tensor_slices(({{"x": x, "c": c}}, y)).repeat(20).batch(32)

    fc, est = tf.feature_column, tf.estimator
    word = fc.categorical_column_with_vocabulary_list("c", ["a", "b"])
    numbers = fc.numeric_column("x", shape=(2,))
    config = est.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp())
    model = {make}
    model.train(rows, steps=60)
    told = model.evaluate(lambda: rows().take(5))
    first = next(model.predict(rows))
    print(told["accuracy"] > {least}, told["global_step"], "class_ids" in first)
"""

CASES = [
    ("ebbflow.v1", "est.LinearClassifier([numbers, word], config=config)", 0.9),
    ("ebbflow.v1", "est.DNNClassifier([8], [numbers, fc.embedding_column(word, 2)], config=config)", 0.9),
    ("ebbflow", "est.LinearClassifier([numbers, word], config=config)", 0.9),
    ("ebbflow", "est.DNNClassifier([8], [numbers], optimizer='Adam', config=config)", 0.3),
]


@pytest.mark.parametrize("module, make, least", CASES)
def test_canned_estimators(module, make, least):
    assert python(PROGRAM.format(module=module, make=make, least=least)) == ["True", "60", "True"]
