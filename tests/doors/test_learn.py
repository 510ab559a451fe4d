"""`tf.contrib.learn` on the real `tensorflow_estimator`, in processes of their own; its vocabularies, in this one."""

import numpy as np
import pytest

from ebbflow.tf1.vocabulary import ByteProcessor, CategoricalVocabulary, VocabularyProcessor
from tests.doors.test_alias import python
from tests.machine import KERAS_2

START = """
    import tempfile
    import numpy as np
    import ebbflow.v1 as tf

    learn = tf.contrib.learn
    x = np.random.RandomState(0).rand(200, 3)
    y = (x.sum(1) > 1.5).astype(np.int32)
    columns = learn.infer_real_valued_columns_from_input(x)
    sums = x.sum(1).astype(np.float32)
"""

CANNED = (
    START
    + """
    model = learn.DNNClassifier([16], columns, n_classes=2, config=learn.RunConfig(tf_random_seed=1))
    model.fit(x, y, steps=200, batch_size=32)
    told = model.evaluate(x, y, metrics={"again": learn.MetricSpec(tf.metrics.accuracy, "classes")})
    classes = model.predict(x, as_iterable=False)
    right = (classes == y).mean()
    print(told["accuracy"] > 0.85, told["again"] == told["accuracy"], np.isclose(right, told["accuracy"]))

    own = [name for name in model.get_variable_names() if "Adagrad" not in name]
    print(*own, model.get_variable_value("dnn/hiddenlayer_0/weights").shape)

    layers = tf.contrib.layers
    words = np.array([b"a", b"b"], object)[y]
    wide = layers.sparse_column_with_hash_bucket("w", 10)
    crossed = layers.crossed_column([wide, "u"], 20)
    feed = lambda: ({"w": tf.constant(words), "u": tf.constant(words)}, tf.constant(y))
    linear = learn.LinearClassifier([wide, crossed])
    linear.fit(input_fn=feed, steps=30)
    print(linear.evaluate(input_fn=feed, steps=1)["accuracy"])
    named = learn.LinearClassifier([wide], label_keys=["no", "yes"])
    named.fit(input_fn=lambda: (feed()[0], tf.constant(np.array(["no", "yes"])[y])), steps=20)
    print(set(zip(y, named.predict(input_fn=feed, as_iterable=False))) == {(0, b"no"), (1, b"yes")})

    heavy = np.arange(1.0, 5, dtype=np.float32)
    feed = lambda: ({"": tf.constant(heavy[:, None] / 4), "by": tf.constant(heavy)}, tf.constant(heavy > 2))
    line = learn.LinearRegressor([layers.real_valued_column("")], weight_column_name="by")
    mean = lambda labels, predictions: tf.reduce_mean(predictions)
    as_float = lambda: (feed()[0], tf.cast(feed()[1], tf.float32))
    line.fit(input_fn=as_float, steps=3)
    told = line.evaluate(input_fn=as_float, steps=1, metrics={"mean": learn.MetricSpec(mean)})
    found = line.predict(input_fn=as_float, as_iterable=False)
    print(np.isclose(told["loss"], np.average((found - (heavy > 2)) ** 2, weights=heavy), rtol=1e-4))
    print(np.isclose(told["mean"], found.mean(), rtol=1e-4), line.get_variable_value("linear//weight").shape)
"""
)

OWN_MODEL = (
    START
    + """
    def model(features, labels, mode, params):
        predictions = tf.layers.dense(features, 1)[:, 0]
        if mode == learn.ModeKeys.INFER:
            return learn.ModelFnOps(mode, predictions)
        loss = tf.losses.mean_squared_error(labels, predictions)
        train = tf.train.AdamOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        return learn.ModelFnOps(mode, predictions, loss, train)

    config = learn.RunConfig(save_checkpoints_steps=50, model_dir=tempfile.mkdtemp())
    made = learn.Estimator(model, params={"rate": 0.05}, config=config)
    watch = learn.monitors.ValidationMonitor(x, sums, every_n_steps=50)
    print(made.fit(x, sums, steps=200, monitors=[watch]) is made, watch.best_value < 0.1)
    told = learn.SKCompat(made).score(x, sums, batch_size=200)
    found = made.predict(x, as_iterable=False)
    print(told["global_step"], np.allclose(((found - sums) ** 2).mean(), told["loss"], rtol=1e-3))

    def feed():
        return tf.constant(x, tf.float32), tf.constant(sums)

    def experiment(run_config, hparams):
        mine = learn.Estimator(model, params={"rate": hparams.rate}, config=run_config)
        return learn.Experiment(mine, feed, feed, train_steps=30, eval_steps=1, train_steps_per_iteration=20)

    config = config.replace(model_dir=tempfile.mkdtemp())
    rates = tf.contrib.training.HParams(rate=0.1)
    told, exports = learn.learn_runner.run(experiment, run_config=config, hparams=rates)
    print(told["global_step"], exports)
    try:
        learn.learn_runner.run(experiment, run_config=config, hparams=rates, schedule="dance")
    except ValueError as error:
        print("dance" in str(error) and "train_and_evaluate" in str(error))
"""
)


CLUSTERS = """
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    rng = np.random.RandomState(0)
    points = (np.repeat([[0, 0], [9, 0], [0, 9]], 20, 0) + rng.rand(60, 2)).astype(np.float32)[rng.permutation(60)]
    feed = lambda: tf.constant(points)
    learn = tf.contrib.learn.KMeansClustering(3, initial_clusters="kmeans_plus_plus", use_mini_batch=False)
    learn.fit(input_fn=feed, steps=5)
    once = lambda: tf.train.limit_epochs(feed(), num_epochs=1)
    near = learn.transform(once)
    print(sorted(map(tuple, np.floor(learn.clusters()).tolist())) == [(0, 0), (0, 9), (9, 0)])
    print(near.shape == (60, 3), (near.argmin(1) == list(learn.predict_cluster_idx(once))).all())
    print(np.isclose(near.min(1).sum(), learn.score(once, steps=1), rtol=1e-3))
    own = tf.contrib.factorization.KMeansClustering(3, initial_clusters=points[:3])
    own.train(once, steps=1)
    print(own.cluster_centers().shape == (3, 2))
"""


AS_THEN = (
    START
    + """
    kinds = []

    def model(features, labels):
        kinds.append(features.dtype.name)
        labels = tf.one_hot(labels, 2)  # whatever it is called for
        shares, loss = learn.models.logistic_regression_zero_init(tf.cast(features, tf.float32), labels)
        train = tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.5, "Adagrad")
        return {"class": tf.argmax(shares, 1)}, loss, train

    made = learn.Estimator(model)
    made.fit(x, y, steps=100)
    found = made.predict(x, as_iterable=False)["class"]
    print((found == y).mean() > 0.85, *set(kinds))
    made.fit(iter(x[:50]), (label for label in y), steps=1)

    def refused(*given, **named):
        try:
            made.fit(*given, **named, steps=1)
        except ValueError as error:
            print(" ".join(str(error).split()[:4]))

    refused(x[:, :2], y)
    refused(x, sums)
    refused(tf.constant(x), y)
    refused(input_fn=lambda: 0, batch_size=3)
    column, = learn.infer_real_valued_columns_from_input(x)
    print(*column.config[""].shape, column.config[""].dtype.name)
    column, = learn.infer_real_valued_columns_from_input_fn(lambda: (tf.constant(sums), None))
    print(*column.config[""].shape, column.config[""].dtype.name)
"""
)


@KERAS_2
def test_models_that_ask_for_labels_whatever_they_do():
    told = "True float64 Features are incompatible with Labels are incompatible with Inputs cannot be tensors. "
    assert python(AS_THEN) == f"{told} Can not provide both 3 float64 1 float32".split()


@KERAS_2
def test_clusters():
    assert python(CLUSTERS) == ["True"] * 5


OLD_OPTIONS = """
    import numpy as np
    import ebbflow.v1 as tf

    learn = tf.contrib.learn
    tf.logging.set_verbosity(tf.logging.ERROR)
    x = np.arange(12, dtype=np.float32).reshape(6, 2) / 6
    y = np.array([[3.0], [1.0], [4.0], [1.0], [5.0], [9.0]], np.float32)
    words = np.array([b"a", b"b", b"a", b"b", b"a", b"a"])

    def feed():
        return {"x": tf.constant(x), "w": tf.constant(words)}, tf.constant(y)

    def weights(model, name="linear/linear_model/x/weights", **options):
        model = model(optimizer=tf.train.GradientDescentOptimizer(0.1), **options)
        model.fit(input_fn=feed, steps=3)
        print(*np.round(model.get_variable_value(name).ravel(), 4))
        return model

    numbers = tf.contrib.layers.real_valued_column("x", 2)
    linear = lambda **options: learn.LinearRegressor([numbers], **options)
    weights(linear, gradient_clip_norm=0.5)
    centered = weights(linear, enable_centered_bias=True)
    print(np.round(centered.get_variable_value("linear/regression_head/centered_bias_weight")[0], 4))
    weights(linear, feature_engineering_fn=lambda features, labels: ({"x": features["x"] * 2}, labels))

    word = tf.contrib.layers.sparse_column_with_keys("w", ["a", "b"])
    table = tf.contrib.layers.embedding_column(word, 2)
    deep = lambda **options: learn.DNNRegressor([4], [table], config=learn.RunConfig(tf_random_seed=1), **options)
    name = "dnn/input_from_feature_columns/input_layer/w_embedding/embedding_weights"
    found = []
    for factor in 1.0, 0.0, 0.0:
        model = deep(optimizer=tf.train.GradientDescentOptimizer(0.1), embedding_lr_multipliers={table: factor})
        model.fit(input_fn=feed, steps=2 if len(found) < 2 else 1)
        found.append(model.get_variable_value(name))
    print((found[0] == found[1]).all(), (found[1] == found[2]).all())
"""


@KERAS_2
def test_options_that_todays_models_do_not_have():
    clipped, centered, doubled = ["0.0849", "0.0976"], ["1.2757", "1.457", "0.2261"], ["1.7323", "2.0049"]
    assert python(OLD_OPTIONS) == [*clipped, *centered, *doubled, "False", "True"]  # TensorFlow 1.15's weights


@KERAS_2
def test_canned_models():
    names = "dnn/hiddenlayer_0/biases dnn/hiddenlayer_0/weights dnn/logits/biases dnn/logits/weights global_step"
    told = ["True", "True", "True", *names.split(), "(3,", "16)", "1.0", "True", "True", "True", "(1,", "1)"]
    assert python(CANNED) == told


@KERAS_2
def test_a_model_of_ones_own_monitors_and_experiments():
    assert python(OWN_MODEL) == ["True", "True", "200", "True", "30", "[]", "True"]


def test_vocabularies(tmp_path):
    words = VocabularyProcessor(4, min_frequency=1)
    rows = [row.tolist() for row in words.fit_transform(["the cat", "the dog's cat the end", "once"])]
    assert rows == [[1, 2, 0, 0], [1, 0, 2, 1], [0, 0, 0, 0]]
    words.save(str(tmp_path / "words"))
    again = VocabularyProcessor.restore(str(tmp_path / "words"))
    assert list(again.reverse([[2, 1, 0]])) == ["cat the <UNK>"]
    assert [row.tolist() for row in again.transform(["cat"])] == [[2, 0, 0, 0]]


def test_categories_without_a_way_back():
    vocabulary = CategoricalVocabulary(support_reverse=False)
    assert (vocabulary.get("a"), vocabulary.get("b"), vocabulary.get("a")) == (1, 2, 1)
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)


def test_bytes():
    rows = list(ByteProcessor(4).transform(["é!", "abcde"]))
    np.testing.assert_array_equal(rows, [[0xC3, 0xA9, 0x21, 0], [97, 98, 99, 100]])
    assert list(ByteProcessor(4).reverse(rows)) == ["é!", "abcd"]
