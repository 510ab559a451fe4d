"""`tf.contrib.learn`'s heads, the models that take one, and monitors, in processes of their own.

The expected numbers are TensorFlow 1.15's, of the same program.
"""

from tests.doors.test_alias import python
from tests.machine import KERAS_2

BEGIN = """
    import tempfile
    import numpy as np
    import ebbflow.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    L = tf.contrib.learn
    x = np.random.RandomState(0).randn(60, 3).astype("f")
    binary, classes, numbers = (x[:, 0] > 0).astype("i"), x.argmax(1).astype("i"), (x @ [1.0, 2.0, -1.0]).astype("f")
"""

HEADS = """
    for head, labels in (
        (L.multi_class_head(2), binary), (L.multi_class_head(3), classes), (L.regression_head(), numbers),
        (L.poisson_regression_head(), np.abs(numbers)), (L.multi_label_head(3), (x > 0).astype("i")),
        (L.binary_svm_head(), binary),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            labels = tf.constant(labels if labels.ndim > 1 else labels[:, None])
            logits = tf.layers.dense(tf.constant(x), head.logits_dimension, kernel_initializer=tf.ones_initializer())
            ops = head.create_model_fn_ops({}, L.ModeKeys.EVAL, labels, L.no_op_train_fn, logits)
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run([update for _, update in ops.eval_metric_ops.values()])
            told = {k: round(float(session.run(v)), 3) for k, (v, _) in sorted(ops.eval_metric_ops.items())}
            print((round(float(session.run(ops.loss)), 4), told, sorted(ops.predictions), ["None"]))
"""

HEADS_TOLD = """
    (0.6471, {'accuracy': 0.683, 'accuracy/baseline_label_mean': 0.6, 'accuracy/threshold_0.500000_mean': 0.683,
    'auc': 0.722, 'auc_precision_recall': 0.779, 'labels/actual_label_mean': 0.6, 'labels/prediction_mean': 0.539,
    'loss': 0.647, 'precision/positive_threshold_0.500000_mean': 0.758, 'recall/positive_threshold_0.500000_mean':
    0.694}, ['classes', 'logistic', 'logits', 'probabilities'], ['None'])
    (1.0986, {'accuracy': 0.417, 'loss': 1.099}, ['classes', 'logits', 'probabilities'], ['None'])
    (4.6161, {'loss': 4.616}, ['scores'], ['None'])
    (7.3822, {'loss': 7.382}, ['scores'], ['None'])
    (0.5955, {'accuracy': 0.7, 'auc': 0.768, 'auc_precision_recall': 0.787, 'loss': 0.596}, ['classes', 'logits',
    'probabilities'], ['None'])
    (0.7868, {'accuracy': 0.683, 'loss': 0.787}, ['classes', 'logits'], ['None'])
"""


@KERAS_2
def test_heads():
    assert python(BEGIN + HEADS) == HEADS_TOLD.split()


MODELS = """
    columns = L.infer_real_valued_columns_from_input(x)

    def config():
        return L.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp())

    neurons = L.DNNEstimator(L.multi_class_head(3), [5], columns, config=config())
    try:
        neurons.evaluate(x, classes)
    except L.NotFittedError as error:
        print("Couldn't find trained model" in str(error), isinstance(error, (ValueError, AttributeError)))
    neurons.fit(x, classes, steps=20, batch_size=60)
    print(sorted(neurons.evaluate(x, classes, steps=1)), sorted(next(neurons.predict(x))))
    descent = tf.train.GradientDescentOptimizer(0.1)
    line = L.LinearEstimator(columns, L.regression_head(), config=config(), optimizer=descent)
    kept, dump = L.monitors.CaptureVariable("linear/linear_model/bias_weights", every_n=10), L.monitors.GraphDump()
    line.fit(x, numbers, steps=30, batch_size=60, monitors=[kept, dump, L.monitors.LoggingTrainable("linear")])
    print(line.evaluate(x, numbers, steps=1)["loss"] < 0.05, sorted(kept.values), len(dump.data))
    same, differing = dump.compare(dump, 3)
    print(len(same) > 5, differing)
    both = L.DNNLinearCombinedEstimator(
        L.regression_head(), linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[4],
        config=config())
    both.fit(x, numbers, steps=40, batch_size=60)
    print(both.evaluate(x, numbers, steps=1)["global_step"])
    serve = L.build_parsing_serving_input_fn(tf.feature_column.make_parse_example_spec(columns))
    with tf.Session(graph=tf.Graph()) as session:
        where = line.export_savedmodel(tempfile.mkdtemp(), serve).decode()
        signature = tf.saved_model.loader.load(session, ["serve"], where).signature_def["serving_default"]
        print(sorted(signature.inputs), sorted(signature.outputs))
    told = L.LinearClassifier(columns, config=config()).fit(x, binary, steps=5).evaluate(x, binary, steps=1)
    print(sorted(told)[:3])

    def model(features, labels, mode):
        p = tf.sigmoid(tf.matmul(features, tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())))
        loss = tf.losses.log_loss(tf.reshape(labels, [-1, 1]), p)
        return p, loss, tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")

    chances = L.LogisticRegressor(model, config=config())
    chances.fit(x, binary.astype("f"), steps=20, batch_size=60)
    print(*sorted(chances.evaluate(x, binary.astype("f"), steps=1)))
"""

MODELS_TOLD = """
    True True ['accuracy', 'global_step', 'loss'] ['classes', 'logits', 'probabilities'] True [1, 11, 21] 30 True {} 40
    ['examples'] ['scores'] ['accuracy', 'accuracy/baseline_label_mean', 'accuracy/threshold_0.500000_mean']
    accuracy/baseline_label_mean accuracy/threshold_0.500000_mean auc global_step labels/actual_label_mean
    labels/prediction_mean loss precision/positive_threshold_0.500000_mean recall/positive_threshold_0.500000_mean
"""


@KERAS_2
def test_models_that_take_a_head_and_monitors():
    assert python(BEGIN + MODELS) == MODELS_TOLD.split()


FILES = """
    import os
    import numpy as np
    import ebbflow.v1 as tf

    base = tf.contrib.learn.datasets.base
    with open("a.csv", "w") as file:
        file.write("2,2,x,y\\n1.5,2.5,0\\n3.5,4.5,1\\n")
    told = base.load_csv_with_header("a.csv", np.int32, np.float32)
    print(told.data.tolist(), told.target.tolist(), told.data.dtype)
    base.shrink_csv("a.csv", 2)
    print(len(open("a_small.csv").readlines()))
    with open("a.csv", "w") as file:
        file.write("3,2,x,y\\n1.5,2.5,0\\n")
    try:
        base.load_csv_with_header("a.csv", np.int32, np.float32)
    except ValueError as error:
        print("says 3 rows of 2 features" in str(error))
"""


@KERAS_2
def test_tables_in_files(tmp_path):
    assert python(FILES, tmp_path) == ["[[1.5,", "2.5],", "[3.5,", "4.5]]", "[0,", "1]", "float32", "2", "True"]
