"""`tf.estimator` from the real `tensorflow_estimator`, in processes of their own: both eras, train to predict."""

import pytest

from tests.doors.test_alias import python
from tests.machine import KERAS_2

pytestmark = KERAS_2

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


FED = """
    import os, tempfile
    import numpy as np
    import ebbflow as tf

    v1, est = tf.compat.v1, tf.estimator
    x = np.random.RandomState(0).rand(100, 2).astype(np.float32)
    y = (x.sum(1) > 1).astype(np.int32)
    feed = v1.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=20, num_epochs=None, shuffle=True)
    once = v1.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=20, num_epochs=1, shuffle=False)
    column = tf.feature_column.numeric_column("x", shape=(2,))
    model = est.LinearClassifier([column], model_dir=tempfile.mkdtemp())
    spec = tf.feature_column.make_parse_example_spec([column])
    serve = est.export.build_parsing_serving_input_receiver_fn(spec)
    told, paths = est.train_and_evaluate(
        model, est.TrainSpec(feed, max_steps=300), est.EvalSpec(once, exporters=[est.FinalExporter("last", serve)]))
    print(told["accuracy"] > 0.7, told["global_step"], len(paths), b"saved_model.pb" in os.listdir(paths[0]))
    base = est.BaselineClassifier(model_dir=tempfile.mkdtemp())
    base.train(feed, steps=20)
    print(base.evaluate(once)["average_loss"] < 0.75)
    loaded = tf.saved_model.load(paths[0].decode())
    row = tf.train.Example(features=tf.train.Features(feature={
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[0.9, 0.9]))})).SerializeToString()
    print(loaded.signatures["serving_default"](tf.constant([row]))["classes"].numpy()[0, 1])
"""


def test_fed_from_arrays_trained_evaluated_exported_and_loaded():
    assert python(FED) == ["True", "300", "1", "True", "True", "b'1'"]


def test_inner_modules_of_tensorflow_1():
    program = """
        from ebbflow.doors import alias
        alias.install()
        import tensorflow as tf
        from tensorflow.python.estimator.canned.head import _Head
        from tensorflow.python.estimator import model_fn
        import tensorflow.python.estimator.estimator as inner
        print(inner.Estimator is tf.compat.v1.estimator.Estimator, model_fn.ModeKeys.TRAIN, _Head.__name__)
        try:
            import tensorflow.python.estimator.nowhere
        except ModuleNotFoundError as error:
            print(error.name)
    """
    assert python(program) == ["True", "train", "_Head", "tensorflow.python.estimator.nowhere"]


def test_programs_of_tensorflow_1_are_not_told_to_use_keras():
    told = python("""
        import ebbflow.v1 as tf
        from ebbflow.platform import deprecation

        tf.estimator.RunConfig(), tf.train.SessionRunArgs([]), tf.estimator.SessionRunArgs([])
        print(len(deprecation._PRINTED_WARNING), deprecation.deprecated.__module__)
    """)
    assert told == ["0", "ebbflow.platform.deprecation"]


@pytest.mark.parametrize("first", ["import ebbflow.compat.alias; ebbflow.compat.alias.install()", "import ebbflow.v1"])
def test_programs_may_import_the_package_themselves(first):
    told = python(f"""
        {first}
        import ebbflow.compat.alias
        ebbflow.compat.alias.install()
        from tensorflow_estimator.python.estimator.canned import dnn
        import tensorflow as tf

        print(dnn.tf is tf, dnn.tf.keras.__version__[0], tf.estimator.DNNClassifier.__module__ == dnn.__name__)
        tf.estimator.DNNClassifier([4], [tf.feature_column.numeric_column("x")]).train(
            lambda: tf.data.Dataset.from_tensors(({{"x": [[1.0], [2.0]]}}, [0, 1])), steps=1)
    """)
    assert told == ["False", "2", "True"]


def test_heads_without_a_graph():
    program = """
        import ebbflow as tf
        head = tf.estimator.RegressionHead()
        logits, labels = tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [2.0]])
        print(float(head.loss(labels, logits, features={"x": logits})))
        print(head.predictions(logits)["predictions"].numpy().ravel().tolist())
    """
    assert python(program) == ["2.0", "[1.0,", "2.0]"]


STRATEGIES = """
    import json, os, tempfile
    import numpy as np
    import ebbflow as tf

    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [1, 1])
        loss = tf.reduce_mean((features @ w - labels) ** 2)
        step = tf.compat.v1.train.get_global_step()
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=tf.compat.v1.train.GradientDescentOptimizer(0.2).minimize(loss, step))

    def rows():
        x = np.linspace(-1, 1, 64).astype(np.float32)[:, None]
        return tf.data.Dataset.from_tensor_slices((x, 2 * x)).repeat().batch(16)

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    one, shared = tf.distribute.OneDeviceStrategy("/cpu:0"), tf.distribute.experimental.CentralStorageStrategy()
    for strategy in (one, shared, tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])):
        config = tf.estimator.RunConfig(tempfile.mkdtemp(), train_distribute=strategy, eval_distribute=strategy)
        model = tf.estimator.Estimator(model_fn, config=config)
        model.train(rows, steps=60)
        print(model.evaluate(rows, steps=2)["loss"] < 1e-3, round(float(model.get_variable_value("w").item()), 2))
    asked = type("Asked", (), {"train_distribute": one, "eval_distribute": None, "remote_cluster": None})()
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}})
    config = tf.estimator.RunConfig(experimental_distribute=asked)
    print(config.train_distribute is one, config.is_chief, config.task_id, config.num_worker_replicas)
    try:
        tf.estimator.RunConfig(train_distribute=one, experimental_distribute=asked)
    except ValueError as error:
        print("Either" in str(error))
"""


def test_estimators_train_with_the_strategy_of_their_config():
    assert python(STRATEGIES) == [*["True", "2.0"] * 3, "True", "False", "1", "2", "True"]


KERAS = """
    import tempfile
    import numpy as np
    import ebbflow as tf

    x = np.random.RandomState(0).rand(64, 3).astype(np.float32)
    rows = lambda: tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).repeat(20).batch(16)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    weights = [np.full((3, 1), 2.0, np.float32), np.zeros(1, np.float32)]
    model.set_weights(weights)
    made = tf.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())
    before = made.evaluate(rows, steps=4)["loss"]
    after = made.train(rows, steps=40).evaluate(rows, steps=4)["loss"]
    print(np.isclose(before, np.mean(x.sum(1) ** 2)), after < before)
    names = [name for name, _ in tf.train.list_variables(made.model_dir)]
    print("_CHECKPOINTABLE_OBJECT_GRAPH" in names, "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names)
"""


def test_a_keras_model_is_an_estimator_that_saves_objects():
    assert python(KERAS, TF_USE_LEGACY_KERAS="1") == ["True"] * 4
