"""More cases of families of `tf.contrib`; the form is that of `families`."""

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def answers(tf, names=None):
    found = {}
    for name in names or CASES:
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            found[name] = [np.asarray(value).tolist() for value in CASES[name](tf)]
    return found


def run(tf, *fetches, **kwargs):
    """Return values after initialising; after `times` of `updates` where they are given."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        for _ in range(kwargs.get("times", 0)):
            session.run(kwargs["updates"])
        return session.run(list(fetches))


def refusal(function, *args, **kwargs):
    """Return the class of the error of a call."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__
    return "no error"


def whole(sparse):
    return [sparse.indices, sparse.values, sparse.dense_shape]


# --- feature columns of contrib.layers --------------------------------------------------------------------------------

WORDS = [["a", "b"], ["c", ""], ["a", "d"]]


@case
def crosses_of_features(tf):
    words, numbers = tf.constant(WORDS), tf.constant([[1, 2], [3, 4], [-5, 6]])
    sparse = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], ["x", "y", "z"], [3, 2])
    found = []
    for inputs in ([words, numbers], [sparse, numbers], [sparse, words, numbers]):
        for said in ({"num_buckets": 1000}, {"num_buckets": 1000, "hash_key": 7}, {}):
            found += whole(tf.contrib.slim.sparse_feature_cross(inputs, hashed_output=True, **said))
    plain = tf.contrib.slim.sparse_feature_cross([words, sparse])
    found = [tf.floormod(x, 10**9) for x in found] + [  # JSON holds no more
        plain.indices, tf.strings.substr(plain.values, 0, 5),
    ]
    return [x.astype(str) if x.dtype == object else x for x in run(tf, *found)]


@case
def embeddings_by_hashing(tf):
    layers = tf.contrib.slim
    params = tf.constant(np.arange(20, dtype=np.float32))
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "y", "z"], [4, 2])
    found = [layers.scattered_embedding_lookup(params, tf.constant(WORDS), 3)]
    found += [layers.scattered_embedding_lookup([params[:10], params[10:]], tf.constant([1, 2]), 4, hash_key=5)]
    for combiner in ("mean", "sum", "sqrtn"):
        found += [layers.scattered_embedding_lookup_sparse(params, sparse, 3, combiner, hash_key=3)]
    return run(tf, *found)


@case
def columns_with_variables_in_common(tf):
    layers = tf.contrib.layers
    one, two = (layers.sparse_column_with_keys(name, ["a", "b", "c", "d"]) for name in ("one", "two"))
    start = tf.constant_initializer(np.arange(8).reshape(4, 2))
    columns = list(layers.shared_embedding_columns([one, two], 2, initializer=start))
    columns += [layers.scattered_embedding_column("s", 9, 3, 5, initializer=tf.constant_initializer(np.arange(9)))]
    columns += [layers.one_hot_column(layers.sparse_column_with_hash_bucket("two", 5, hash_keys=[[1, 2], [3, 4]]))]
    columns += [layers.bucketized_column(layers.real_valued_column("n", 2), [0.0, 1.0, 1.0])]
    features = {"one": tf.constant(WORDS), "two": tf.constant([["d"], ["b"], ["zz"]])}
    features["s"] = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "y", "z"], [3, 2])
    features["n"] = tf.constant([[0.5, 2.0], [-1.0, 1.0], [1.0, 0.0]])
    found = run(tf, layers.input_from_feature_columns(features, columns))
    found += [[v.op.name for v in tf.global_variables()], [sorted(column.config) for column in columns]]
    return [str(x) if isinstance(x, list) else x for x in found]


@case
def columns_refused(tf):
    layers = tf.contrib.layers
    key = layers.sparse_column_with_keys("k", ["a", "b"])
    other = layers.sparse_column_with_keys("o", ["a", "b", "c"])
    return [
        refusal(layers.shared_embedding_columns, "ab", 2),
        refusal(layers.shared_embedding_columns, [key, other], 2),
        refusal(layers.real_valued_column, "x", 1.5),
        refusal(layers.real_valued_column, "x", 0),
        refusal(layers.real_valued_column, "x", 2, [1.0]),
        refusal(layers.real_valued_column, "x", 1, "y"),
        refusal(layers.bucketized_column, "x", [1]),
        refusal(layers.bucketized_column, layers.real_valued_column("x"), [2, 1]),
        refusal(layers.sparse_column_with_hash_bucket, "x", 5, hash_keys=[]),
        refusal(layers.sparse_column_with_vocabulary_file, "x", "file"),
        refusal(layers.crossed_column, [key, layers.real_valued_column("x")], 5),
        refusal(tf.contrib.slim.scattered_embedding_lookup, tf.zeros([3]), ["a"], 0),
    ]


@case
def rows_of_words(tf):
    start = tf.constant_initializer(np.arange(8).reshape(4, 2) + 1.0)
    dense = tf.contrib.layers.bow_encoder([[0, 1], [2, 3], [0, 0]], 4, 2, initializer=start)
    sparse = tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [4, 2])
    found = [dense, tf.contrib.layers.bow_encoder(sparse, 4, 2, initializer=start)]
    half = {"weights_initializer": tf.constant_initializer([[0.5, 1.0], [0.25, -1.0]])}
    found += [f([[1.0, -3.0]], 2, **half) for f in (tf.contrib.layers.relu, tf.contrib.layers.elu)]
    return run(tf, *found)
