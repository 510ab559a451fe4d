"""`tf.contrib.estimator`, in processes of their own: heads, extenders, replicas and recurrent Estimators.

The expected numbers are TensorFlow 1.15's, of the same programs.
"""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

BEGIN = """
    import tempfile
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    ce = tf.contrib.estimator
    x = np.random.RandomState(0).randn(60, 3).astype("f")
    several, classes = (x > 0).astype(np.int64), np.argmax(x, 1).astype("i")[:, None]
    binary, numbers = (x[:, :1] > 0).astype("i"), (x @ np.array([[1.0], [2.0], [-1.0]])).astype("f")
    columns = [tf.feature_column.numeric_column("x", shape=[3])]

    def feed(labels, times=None):
        return lambda: tf.data.Dataset.from_tensors(({"x": x}, labels)).repeat(times)

    def told(estimator, labels, steps=20):
        estimator.train(feed(labels), steps=steps)
        found = estimator.evaluate(feed(labels, 1))
        return {key: round(float(value), 3) for key, value in sorted(found.items())}
"""

HEADS = """
    def linear(head):
        descent = tf.train.GradientDescentOptimizer(0.1)
        return tf.estimator.LinearEstimator(head, columns, model_dir=tempfile.mkdtemp(), optimizer=descent)

    counts = np.floor(np.exp(x[:, :1])).astype("f")
    print(told(linear(ce.binary_classification_head(thresholds=[0.3])), binary))
    print(told(linear(ce.multi_class_head(3)), classes))
    print(told(linear(ce.poisson_regression_head()), counts))
    print(told(linear(ce.logistic_regression_head()), binary.astype("f")))
    head = ce.multi_label_head(3, thresholds=[0.4], classes_for_class_based_metrics=[1], name="h")
    print(told(linear(head), several))
    both = linear(ce.multi_head([ce.multi_class_head(3, name="a"), ce.regression_head(name="b")], [1.0, 0.5]))
    print(told(both, {"a": classes, "b": numbers}))
    row = next(both.predict(feed({"a": classes, "b": numbers}, 1)))
    print(sorted(row))

    for wrong in (
        lambda: ce.multi_head([ce.regression_head()]),
        lambda: ce.multi_label_head(1),
        lambda: ce.multi_label_head(3, thresholds=[2]),
        lambda: ce.multi_label_head(3, label_vocabulary=["a"]),
    ):
        try:
            wrong()
        except ValueError as error:
            print(str(error).split("Given: <")[0])
"""


HEADS_TOLD = """
    {'accuracy': 0.95, 'accuracy/positive_threshold_0.3': 0.683, 'accuracy_baseline': 0.6, 'auc': 0.999,
    'auc_precision_recall': 0.999, 'average_loss': 0.463, 'global_step': 20.0, 'label/mean': 0.6, 'loss': 0.463,
    'precision': 0.923, 'precision/positive_threshold_0.3': 0.655, 'prediction/mean': 0.567, 'recall': 1.0,
    'recall/positive_threshold_0.3': 1.0}
    {'accuracy': 0.85, 'average_loss': 0.646, 'global_step': 20.0, 'loss': 0.646}
    {'average_loss': 0.958, 'global_step': 20.0, 'label/mean': 1.617, 'loss': 0.958, 'prediction/mean': 1.795}
    {'average_loss': 0.463, 'global_step': 20.0, 'label/mean': 0.6, 'loss': 0.463, 'prediction/mean': 0.567}
    {'accuracy/positive_threshold_0.4/h': 0.561, 'auc/class1/h': 1.0, 'auc/h': 0.994,
    'auc_precision_recall/class1/h': 1.0, 'auc_precision_recall/h': 0.995, 'average_loss/h': 0.591, 'global_step':
    20.0, 'loss': 0.591, 'precision/positive_threshold_0.4/h': 0.551, 'probability_mean/class1/h': 0.523,
    'recall/positive_threshold_0.4/h': 1.0}
    {'accuracy/a': 0.85, 'average_loss/a': 0.646, 'average_loss/b': 0.157, 'global_step': 20.0, 'label/mean/b':
    0.788, 'loss': 0.725, 'loss/a': 0.646, 'loss/b': 0.157, 'prediction/mean/b': 0.894}
    [('a', 'all_class_ids'), ('a', 'all_classes'), ('a', 'class_ids'), ('a', 'classes'), ('a', 'logits'), ('a',
    'probabilities'), ('b', 'predictions')]
    All given heads must have name specified.
    n_classes must be > 1 for multi-class classification. Given: 1
    thresholds must be in (0, 1) range. Given: 2
    Length of label_vocabulary must be n_classes (3). Given: 1
"""


@KERAS_2
def test_heads():
    assert python(BEGIN + HEADS) == HEADS_TOLD.split()


EXTENDED = """
    clipped = ce.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.1), 0.5)
    plain = tf.estimator.LinearRegressor(columns, optimizer=clipped, model_dir=tempfile.mkdtemp())
    judged = lambda labels, predictions: {"mae": tf.metrics.mean_absolute_error(labels, predictions["predictions"])}
    model = ce.forward_features(ce.add_metrics(plain, judged), ["x"])
    print(told(model, numbers))
    print(sorted(next(model.predict(feed(numbers, 1)))))
    serve = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 3])})
    where = model.export_savedmodel(tempfile.mkdtemp(), serve).decode()
    with tf.Session(graph=tf.Graph()) as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], where).signature_def
        print(sorted(signatures["predict"].outputs))
    try:
        next(ce.forward_features(plain, "predictions").predict(feed(numbers, 1)))
    except ValueError as error:
        print(error)

    def model_fn(features, labels, mode):
        p = tf.layers.dense(features["x"], 1, name="d", kernel_initializer=tf.ones_initializer())
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"p": p})
        loss = tf.losses.mean_squared_error(labels, p)
        step = ce.TowerOptimizer(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss, tf.train.get_global_step())
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, p)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)

    for devices in (["/cpu:0"], ["/cpu:0", "/cpu:0"]):
        model = tf.estimator.Estimator(ce.replicate_model_fn(model_fn, devices=devices), tempfile.mkdtemp())
        print(told(model, numbers, 10), len(list(model.predict(feed(numbers, 1)))), model.get_variable_names())
"""


EXTENDED_TOLD = """
    {'average_loss': 1.914, 'global_step': 20.0, 'label/mean': 0.788, 'loss': 114.817, 'mae': 1.079,
    'prediction/mean': 0.567}
    ['predictions', 'x']
    ['predictions', 'x']
    keys should be exist in features. Key "predictions" is not in features dict. features dict has following keys:
    ['x']. Please check arguments of forward_features.
    {'global_step': 10.0, 'loss': 0.416, 'mae': 0.59} 60 ['d/bias', 'd/bias/Momentum', 'd/kernel',
    'd/kernel/Momentum', 'global_step']
    {'global_step': 10.0, 'loss': 0.416, 'mae': 0.59} 60 ['d/bias', 'd/bias/Momentum', 'd/kernel',
    'd/kernel/Momentum', 'global_step']
"""


@KERAS_2
def test_what_extends_estimators():
    assert python(BEGIN + EXTENDED) == EXTENDED_TOLD.split()


RECURRENT = """
    def sequences():
        where = np.array([[i // 4, i % 4] for i in range(40) if not (i // 4 % 2 and i % 4 == 3)])
        values = np.sin(np.arange(len(where))).astype("f")
        context = tf.constant(np.arange(10.0)[:, None], tf.float32)
        features = {"s": tf.SparseTensor(where, values, [10, 4]), "c": context}
        return features, tf.constant([[i % 2] for i in range(10)])

    steps = tf.contrib.feature_column.sequence_numeric_column("s")
    for kind in ("basic_rnn", "lstm", "gru"):
        model = ce.RNNClassifier(
            [steps], [tf.feature_column.numeric_column("c")], num_units=[5, 4], cell_type=kind,
            model_dir=tempfile.mkdtemp(), config=tf.estimator.RunConfig(tf_random_seed=3))
        model.train(sequences, steps=1)
        before = model.evaluate(sequences, steps=1)["loss"]
        model.train(sequences, steps=40)
        print(model.evaluate(sequences, steps=1)["loss"] < before)
    print("rnn/rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel/t_0/Adagrad" in model.get_variable_names())
    try:
        ce.RNNClassifier([steps], num_units=[3], rnn_cell_fn=lambda mode: None)
    except ValueError as error:
        print(error)
    trees = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column(k), [-0.5, 0.0, 0.5]) for k in "ab"]
    batch = lambda: tf.data.Dataset.from_tensors(({"a": x[:, :1], "b": x[:, 1:2]}, numbers))
    model = ce.boosted_trees_regressor_train_in_memory(batch, trees, n_trees=5, max_depth=3)
    print(model.evaluate(batch, steps=1)["global_step"], round(float(model.evaluate(batch, steps=1)["loss"]), 4))
"""


@KERAS_2
def test_recurrent_estimators_and_trees_in_memory():
    refused = "num_units and cell_type must not be specified when using rnn_cell_fn"
    assert python(BEGIN + RECURRENT) == [*["True"] * 4, *refused.split(), "15", "1.6704"]
