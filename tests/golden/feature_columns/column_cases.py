"""Columns and features on which TensorFlow 1.15 and Ebbflow are asked for the same things; Python 3.7 runs it too."""

import numpy as np

FEATURES = {
    "price": [[1.5], [-2.0], [30.0]],
    "size": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "colour": [["red"], ["violet"], [""]],
    "words": [["to", "be"], ["or", ""], ["not", "to"]],
    "ids": [[0, 2], [1, -1], [3, 3]],
    "heaviness": [[0.5, 2.0], [1.0, 0.0], [3.0, 0.25]],
    "number": [[7], [12], [-1]],
}


def ids(c):
    return c.categorical_column_with_identity("ids", 4)


def colours(c, **kwargs):
    return c.categorical_column_with_vocabulary_list("colour", ["green", "red", "blue"], **kwargs)


def hashed_integers(c):
    int64 = list(c.make_parse_example_spec([ids(c)]).values())[0].dtype  # as the library under test says it
    return c.categorical_column_with_hash_bucket("number", 7, dtype=int64)


def buckets(c):
    return c.bucketized_column(c.numeric_column("size", shape=2), [2.0, 4.0])


def rows(shape, dtype=None, partition_info=None):
    """An initializer that is the same everywhere."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape([int(n) for n in shape]) / 10


def embedding(c, column, **kwargs):
    return c.embedding_column(column, 2, initializer=rows, **kwargs)


DENSE = {
    "numeric": lambda c: [c.numeric_column("price"), c.numeric_column("size", shape=(2,))],
    "normalised": lambda c: [c.numeric_column("price", normalizer_fn=lambda x: (x - 1.5) / 2.0)],
    "bucketized": lambda c: [buckets(c)],
    "indicator": lambda c: [c.indicator_column(colours(c)), c.indicator_column(ids(c))],
    "unknown words": lambda c: [c.indicator_column(colours(c, num_oov_buckets=2))],
    "default word": lambda c: [c.indicator_column(colours(c, default_value=2))],
    "hashed words": lambda c: [c.indicator_column(c.categorical_column_with_hash_bucket("words", 5))],
    "hashed integers": lambda c: [c.indicator_column(hashed_integers(c))],
    "crossed": lambda c: [c.indicator_column(c.crossed_column(["colour", "words"], 6))],
    "crossed with buckets": lambda c: [c.indicator_column(c.crossed_column([buckets(c), "colour"], 11, hash_key=5))],
    "weighted": lambda c: [c.indicator_column(c.weighted_categorical_column(ids(c), "heaviness"))],
    "embedding": lambda c: [embedding(c, ids(c))],
    "embedding sum": lambda c: [embedding(c, ids(c), combiner="sum")],
    "embedding sqrtn": lambda c: [embedding(c, colours(c), combiner="sqrtn", max_norm=0.3)],
    "embedding weighted": lambda c: [embedding(c, c.weighted_categorical_column(ids(c), "heaviness"))],
    "shared": lambda c: c.shared_embedding_columns(
        [ids(c), c.categorical_column_with_identity("number", 4, default_value=1)], 2, initializer=rows
    ),
    "in order of names": lambda c: [embedding(c, ids(c)), buckets(c), c.numeric_column("price")],
}
"""Lists of dense columns, for `input_layer`."""

LINEAR = {
    "numbers": lambda c: [c.numeric_column("price"), c.numeric_column("size", shape=2)],
    "buckets": lambda c: [buckets(c)],
    "words": lambda c: [colours(c), c.categorical_column_with_hash_bucket("words", 5)],
    "weighted": lambda c: [c.weighted_categorical_column(ids(c), "heaviness")],
    "crossed": lambda c: [c.crossed_column(["colour", "words"], 6), c.numeric_column("price")],
}
"""Lists of columns for `linear_model`."""


def _run(tf, session, tensor):
    session.run(tf.global_variables_initializer())
    session.run(tf.tables_initializer())
    return np.round(session.run(tensor), 5).tolist()


def input_layer(tf, name):
    """Return what `input_layer` gives, its variables, and how the features are read."""
    with tf.Graph().as_default(), tf.Session() as session:
        columns = DENSE[name](tf.feature_column)
        result = tf.feature_column.input_layer(FEATURES, columns)
        names = [v.name for v in tf.global_variables()]
        spec = tf.feature_column.make_parse_example_spec(columns)
        return [_run(tf, session, result), names, sorted(spec), result.shape.as_list()[1]]


def linear_model(tf, name, units=2, combiner="sum"):
    """Return what `linear_model` gives with weights that are not zero, and its variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = {}
        columns = LINEAR[name](tf.feature_column)
        result = tf.feature_column.linear_model(
            FEATURES, columns, units=units, sparse_combiner=combiner, cols_to_vars=made
        )
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for variable in sorted(tf.global_variables(), key=lambda v: v.name):
            session.run(variable.assign(rows(variable.shape.as_list())))
        by_column = {getattr(key, "name", key): [v.name for v in value] for key, value in made.items()}
        names = sorted(v.name for v in tf.trainable_variables())
        return [np.round(session.run(result), 5).tolist(), names, sorted(by_column.items())]


def answers(tf):
    """Return all that is recorded."""
    found = {"input_layer: " + name: input_layer(tf, name) for name in DENSE}
    found.update({"linear_model: " + name: linear_model(tf, name) for name in LINEAR})
    found["linear_model: mean"] = linear_model(tf, "weighted", units=1, combiner="mean")
    return found
