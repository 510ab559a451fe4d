"""The package `tensorflow_hub`, unmodified: modules of TF 1 made, exported, trained and put in columns; TF 2's."""

import importlib.util

import pytest

from tests.doors.test_alias import python
from tests.machine import KERAS_2

pytestmark = [  # it imports Estimators, which are built on Keras 2
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow_hub") is None, reason="tensorflow_hub is an extra of its own"
    ),
    KERAS_2,
]

MODULES = """
    import os, tempfile
    import numpy as np
    import ebbflow.v1 as tf
    from ebbflow.compat import alias
    alias.install()
    import tensorflow_hub as hub

    tf.logging.set_verbosity(tf.logging.ERROR)
    words = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(words, "w") as file:
        file.write("cat\\ndog\\nfish\\n")

    def embeddings():
        x = tf.placeholder(tf.string, [None])
        table = tf.contrib.lookup.index_table_from_file(words, num_oov_buckets=1)
        vectors = tf.get_variable("vectors", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        hub.add_signature(inputs=x, outputs=tf.nn.embedding_lookup(vectors, table.lookup(x)))

    out = os.path.join(tempfile.mkdtemp(), "module")
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(hub.create_module_spec(embeddings))
        y = module(["cat", "fish", "bird"])
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        print(*session.run(y).ravel())
        module.export(out, session)
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(out, trainable=True)
        loss = tf.reduce_sum(module(["dog", "cat"]) ** 2)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        before = session.run(loss)
        session.run(train)
        print(before, session.run(loss) < before, [v.name for v in tf.trainable_variables()] == ["module/vectors:0"])
"""
COLUMN = """
    column = hub.text_embedding_column("w", out, trainable=False)
    model = tf.estimator.DNNClassifier([4], [column], n_classes=2)
    feed = lambda: ({"w": tf.constant(["cat", "dog", "fish", "bird"])}, tf.constant([0, 1, 0, 1]))
    model.train(feed, steps=5)
    print(model.evaluate(feed, steps=1)["global_step"])
"""
LOADED = """
    import tempfile
    import numpy as np
    import ebbflow as tf
    from ebbflow.compat import alias
    alias.install()
    import tensorflow_hub as hub

    class Product(tf.Module):
        def __init__(self):
            self.w = tf.Variable([[1.0], [2.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def __call__(self, x):
            return x @ self.w

    folder = tempfile.mkdtemp()
    tf.saved_model.save(Product(), folder)
    print(*hub.load(folder)(tf.ones([1, 2])).numpy().ravel())
"""


def test_modules_of_tf_1():
    assert python(MODULES) == ["0.0", "1.0", "4.0", "5.0", "6.0", "7.0", "14.0", "True", "True"]


def test_a_module_as_a_column():
    assert python(MODULES + COLUMN)[-1] == "5"


def test_loaded_models():
    assert python(LOADED) == ["3.0"]
