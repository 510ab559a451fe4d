"""Programs about `tf.metrics` of TensorFlow 1: values after each batch, and the names of what is made.

A row is a name, the batches that are fed (one array a placeholder), and a function of `tf` and the placeholders.
"""

import numpy as np

from .book import Book, graph_module, plain, read_recording, write_recording

book = Book(judges=("1.15", "2.21"))
SEED = np.random.RandomState(7)


def batches(*makers):
    return [[make() for make in makers] for _ in range(3)]


def flags():
    return SEED.randint(0, 2, 8).astype(np.int64)


def chances():
    return np.round(SEED.rand(8), 3).astype(np.float32)


def classes():
    return SEED.randint(0, 3, 8).astype(np.int64)


def numbers():
    return np.round(SEED.randn(4, 2), 3).astype(np.float32)


def weights():
    return np.round(SEED.rand(8), 2).astype(np.float32)


def scores():
    return np.round(SEED.rand(8, 5), 3).astype(np.float32)


def one_label():
    return SEED.randint(0, 5, (8, 1)).astype(np.int64)


def two_labels():
    return np.stack([SEED.permutation(5)[:2] for _ in range(8)]).astype(np.int64)


LEVELS = [0.1, 0.5, 0.9]
ROWS = {
    "mean": ([numbers], lambda m, x: m.mean(x)),
    "mean_weighted": ([chances, weights], lambda m, x, w: m.mean(x, w)),
    "mean_named": ([chances], lambda m, x: m.mean(x, name="loss")),
    "mean_tensor": ([numbers], lambda m, x: m.mean_tensor(x)),
    "accuracy": ([classes, classes], lambda m, y, p: m.accuracy(y, p)),
    "accuracy_weighted": ([classes, classes, weights], lambda m, y, p, w: m.accuracy(y, p, w)),
    "mean_squared_error": ([numbers, numbers], lambda m, y, p: m.mean_squared_error(y, p)),
    "root_mean_squared_error": ([numbers, numbers], lambda m, y, p: m.root_mean_squared_error(y, p)),
    "mean_absolute_error": ([numbers, numbers], lambda m, y, p: m.mean_absolute_error(y, p)),
    "mean_relative_error": ([chances, chances, chances], lambda m, y, p, n: m.mean_relative_error(y, p, n + 1.0)),
    "mean_cosine_distance": ([numbers, numbers], lambda m, y, p: m.mean_cosine_distance(y, p, 1)),
    "percentage_below": ([chances], lambda m, x: m.percentage_below(x, 0.4)),
    "true_positives": ([flags, flags], lambda m, y, p: m.true_positives(y, p)),
    "true_negatives": ([flags, flags], lambda m, y, p: m.true_negatives(y, p)),
    "false_positives": ([flags, flags, weights], lambda m, y, p, w: m.false_positives(y, p, w)),
    "false_negatives": ([flags, flags], lambda m, y, p: m.false_negatives(y, p)),
    "precision": ([flags, flags], lambda m, y, p: m.precision(y, p)),
    "precision_weighted": ([flags, flags, weights], lambda m, y, p, w: m.precision(y, p, w)),
    "recall": ([flags, flags], lambda m, y, p: m.recall(y, p)),
    "auc": ([flags, chances], lambda m, y, p: m.auc(y, p)),
    "auc_few_thresholds": ([flags, chances], lambda m, y, p: m.auc(y, p, num_thresholds=5)),
    "auc_weighted": ([flags, chances, weights], lambda m, y, p, w: m.auc(y, p, w, num_thresholds=20)),
    "auc_pr": ([flags, chances], lambda m, y, p: m.auc(y, p, curve="PR", summation_method="careful_interpolation")),
    "auc_minoring": ([flags, chances], lambda m, y, p: m.auc(y, p, num_thresholds=9, summation_method="minoring")),
    "precision_at_thresholds": ([flags, chances], lambda m, y, p: m.precision_at_thresholds(y, p, LEVELS)),
    "recall_at_thresholds": ([flags, chances], lambda m, y, p: m.recall_at_thresholds(y, p, LEVELS)),
    "true_positives_at_thresholds": ([flags, chances], lambda m, y, p: m.true_positives_at_thresholds(y, p, LEVELS)),
    "true_negatives_at_thresholds": ([flags, chances], lambda m, y, p: m.true_negatives_at_thresholds(y, p, LEVELS)),
    "false_positives_at_thresholds": ([flags, chances], lambda m, y, p: m.false_positives_at_thresholds(y, p, LEVELS)),
    "false_negatives_at_thresholds": ([flags, chances], lambda m, y, p: m.false_negatives_at_thresholds(y, p, LEVELS)),
    "sensitivity_at_specificity": ([flags, chances], lambda m, y, p: m.sensitivity_at_specificity(y, p, 0.6)),
    "specificity_at_sensitivity": ([flags, chances], lambda m, y, p: m.specificity_at_sensitivity(y, p, 0.6)),
    "mean_iou": ([classes, classes], lambda m, y, p: m.mean_iou(y, p, 3)),
    "mean_iou_weighted": ([classes, classes, weights], lambda m, y, p, w: m.mean_iou(y, p, 3, w)),
    "mean_per_class_accuracy": ([classes, classes], lambda m, y, p: m.mean_per_class_accuracy(y, p, 3)),
    "recall_at_k": ([one_label, scores], lambda m, y, p: m.recall_at_k(y, p, 2)),
    "recall_at_k_of_a_class": ([two_labels, scores], lambda m, y, p: m.recall_at_k(y, p, 2, class_id=1)),
    "precision_at_k": ([two_labels, scores], lambda m, y, p: m.precision_at_k(y, p, 2)),
    "precision_at_k_weighted": ([two_labels, scores, weights], lambda m, y, p, w: m.precision_at_k(y, p, 3, weights=w)),
    "average_precision_at_k": ([two_labels, scores], lambda m, y, p: m.average_precision_at_k(y, p, 3)),
}


def measuring(feeds, function):
    def program(tf):
        xs = [tf.placeholder(value.dtype, value.shape, name=f"x{i}") for i, value in enumerate(feeds[0])]
        value, update = function(tf.metrics, *xs)
        found = {
            "value": value.name,
            "update": update.name,
            "local": [v.name for v in tf.local_variables()],
            "metric": [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)],
            "types": [value.dtype.name, update.dtype.name],
            "results": [],
        }
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            found["results"].append(plain(session.run(value)))
            for batch in feeds:
                feed = dict(zip(xs, batch))
                found["results"].append([plain(session.run(update, feed)), plain(session.run(value))])
        return found

    return program


for _name, (_makers, _function) in ROWS.items():
    book.add(_name, measuring(batches(*_makers), _function))


@book.program()
def several_of_a_kind(tf):
    """Names when one metric is made twice, in scopes, and put into collections."""
    x = tf.placeholder(tf.float32, [4], name="x")
    with tf.name_scope("eval"):
        first, _ = tf.metrics.mean(x)
    with tf.variable_scope("model"):
        second, _ = tf.metrics.mean(x, metrics_collections=["m"], updates_collections=["u", "v"])
    third, _ = tf.metrics.mean(x)
    return {
        "names": [first.name, second.name, third.name],
        "local": [v.name for v in tf.local_variables()],
        "collections": [[t.name for t in tf.get_collection(key)] for key in ("m", "u", "v")],
    }


@book.program()
def refusals(tf):
    said = {}

    def attempt(name, call):
        try:
            call()
            said[name] = "nothing"
        except Exception as error:
            said[name] = type(error).__name__

    x = tf.placeholder(tf.float32, [4], name="x")
    attempt("shapes", lambda: tf.metrics.mean_squared_error(x, tf.placeholder(tf.float32, [5])))
    attempt("weights", lambda: tf.metrics.mean(x, tf.placeholder(tf.float32, [3])))
    attempt("curve", lambda: tf.metrics.auc(x, x, curve="XYZ"))
    attempt("specificity", lambda: tf.metrics.sensitivity_at_specificity(x, x, 1.5))
    attempt("k", lambda: tf.metrics.average_precision_at_k([[1]], [[0.1, 0.2]], 0))
    attempt("collections", lambda: tf.metrics.mean(x, metrics_collections="m") and None)
    return said


def play(tf, judge, program):
    v1 = graph_module(tf, judge)
    with v1.Graph().as_default():
        return program(v1)


def write(judge, recording):
    write_recording("metrics", judge, recording)


def read(judge):
    return read_recording("metrics", judge)
