"""More cases of families of `tf.contrib`; the form is that of `families`."""

import importlib

import numpy as np

from tests.golden.contrib.cases import Cases, run

case = CASES = Cases()



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


# --- distributions ----------------------------------------------------------------------------------------------------


def inner(tf, path):
    """Return an inner module of `tf.contrib`."""
    return importlib.import_module(tf.contrib.opt.__name__[: -len("opt")] + path)


@case
def bent_shares(tf):
    d = tf.contrib.distributions
    shares = d.Kumaraswamy([2.0, 3.0], [4.0, 1.5], validate_args=True)
    weibull = inner(tf, "distributions.python.ops.bijectors.weibull").Weibull([2.0, 3.0], 0.7, validate_args=True)
    bent = d.SinhArcsinh(np.float64(1.0), np.float64(2.0), np.float64(0.5), np.float64(1.5))
    leaning = d.SinhArcsinh([0.0, 1.0], [1.0, 2.0], distribution=d.Laplace(0.0, 1.0))
    x = tf.constant([0.5, 0.25])
    found = run(
        tf, shares.prob(x), weibull.forward(x), weibull.inverse(x),
        weibull.forward_log_det_jacobian(x, 0), weibull.inverse_log_det_jacobian(x, 0),
        bent.log_prob(np.float64(0.3)), leaning.log_prob(x), tf.stack(d.HalfNormal.param_shapes([2, 3])["scale"]),
    )  # fmt: skip
    outside = [tf.constant([-1.0, 0.5]), tf.constant([0.5, 2.0])]
    return found + [refusal(lambda: run(tf, f(y))) for f in (shares.prob, weibull.inverse) for y in outside]  # noqa: B023


@case
def moving_statistics(tf):
    d = tf.contrib.distributions
    step = tf.train.get_or_create_global_step()
    value = tf.cast(tf.assign_add(step, 1), tf.float32) * [1.0, -2.0]
    pair = d.moving_mean_variance(value, 0.9)
    kept = [tf.get_variable(name, [2], initializer=tf.ones_initializer()) for name in "abc"]
    other = d.assign_moving_mean_variance(kept[0], kept[1], value, 0.7)
    log = d.assign_log_moving_mean_exp(kept[2], value, 0.6)
    names = [v.op.name for v in tf.global_variables()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [names] + [x for _ in range(3) for x in session.run([*pair, *other, log])]


# --- mixed precision --------------------------------------------------------------------------------------------------


@case
def losses_scaled(tf):
    mixed = tf.contrib.mixed_precision
    manager = mixed.ExponentialUpdateLossScaleManager(8.0, 2, 2, 4.0, 0.25)
    x = tf.get_variable("x", initializer=1.0)
    fed = tf.placeholder(tf.float32)
    optimizer = mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), manager)
    step = optimizer.minimize(x * x * fed)
    gradient = optimizer.compute_gradients(x * fed)[0][0]
    found = [refusal(mixed.FixedLossScaleManager, 0.5)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (0.1, 0.2, np.nan, 0.1, np.inf, np.nan, 0.3, 0.1):
            session.run(step, {fed: value})
            found += session.run([x, manager.get_loss_scale()])
        return found + session.run([gradient], {fed: 3.0})


# --- parts of images, segments of rows --------------------------------------------------------------------------------


@case
def connected_parts(tf):
    pixels = np.random.RandomState(0).randint(0, 3, (2, 7, 9))
    found = [tf.contrib.image.connected_components(tf.constant(pixels, kind)) for kind in (tf.int32, tf.float32)]
    found += [tf.contrib.image.connected_components(tf.constant(pixels[0] > 0))]
    return [refusal(tf.contrib.image.connected_components, tf.zeros([2])), *run(tf, *found)]


@case
def segments_of_rows(tf):
    rows = tf.ragged.constant([[0, 1, 2, 3], [4], [], [5, 6], [7], [8, 9]])
    deep = tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[], [4.0, 5.0], [6.0]], [[7.0, 8.0]]])
    inner_ids = tf.ragged.constant([[1, 2], [], [1, 1, 2], [2]])
    found = []
    for ids in ([0, 0, 0, 1, 1, 1], [5, 4, 3, 2, 1, 0], [0, 0, 0, 2, 2, 2]):
        found += [tf.math.unsorted_segment_mean(rows, ids, 6), tf.math.unsorted_segment_sum(rows, ids, 6)]
        found += [tf.math.unsorted_segment_sqrt_n(tf.cast(rows, tf.float32), ids, 6)]
    found += [tf.math.unsorted_segment_max(deep, inner_ids, 3), tf.math.unsorted_segment_mean(deep, inner_ids, 3)]
    parts = [part for each in found for part in (each.flat_values, each.row_splits)]
    flat = refusal(tf.math.unsorted_segment_sum, tf.constant([1, 2]), inner_ids, 3)
    return [flat, *run(tf, *parts)]


# --- bijectors that learn ---------------------------------------------------------------------------------------------


def _both_ways(tf, flow, x):
    y = flow.forward(x)
    back = flow.inverse(tf.identity(y))
    slope = tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables())
    told = [y, back, flow.inverse_log_det_jacobian(tf.identity(y), 1), *slope]
    return run(tf, *[value for value in told if value is not None])


@case
def flows(tf):
    bijectors, found = tf.contrib.distributions.bijectors, []
    x = tf.constant(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32))
    same = {"kernel_initializer": tf.constant_initializer(0.2), "bias_initializer": tf.constant_initializer(0.1)}
    for shift_only in (False, True):
        said = bijectors.masked_autoregressive_default_template([8], shift_only, tf.nn.relu, -0.2, 0.3, **same)
        for unroll in (False, True):
            found += _both_ways(tf, bijectors.MaskedAutoregressiveFlow(said, unroll_loop=unroll), x)
        said = bijectors.real_nvp_default_template([5], shift_only, **same)
        found += _both_ways(tf, bijectors.RealNVP(3, said), x)
    return found + run(tf, bijectors.masked_dense(x, 8, 4, True, **same))


@case
def normalization_undone(tf):
    bijectors, found = tf.contrib.distributions.bijectors, []
    x = tf.constant(np.arange(8).reshape(4, 2).astype(np.float32) ** 1.5)
    for training in (True, False):
        norm = bijectors.BatchNormalization(training=training)
        found += [norm.inverse(x), norm.inverse_log_det_jacobian(x, 1), norm.forward(2 * x)]
        found.append(norm.forward_log_det_jacobian(2 * x, 1))
    refused = refusal(bijectors.BatchNormalization, tf.layers.BatchNormalization(renorm=True))
    return [*run(tf, *found), refused, refusal(bijectors.RealNVP, 0, None)]


# --- sequences in segments --------------------------------------------------------------------------------------------


def _segments(tf, session, batch, times):
    state = batch.state("s")
    save = batch.save_state("s", state + tf.reduce_sum(batch.sequences["x"], [1]))
    names = ("length", "total_length", "sequence", "sequence_count", "key", "next_key")
    told = {name: getattr(batch, name) for name in names}
    found = []
    for _ in range(times):
        got, before, context, _ = session.run([told, state, batch.context["c"], save])
        keys = [b" ".join(got[name]).decode() for name in ("key", "next_key")]
        found += [got["length"], got["total_length"], got["sequence"], got["sequence_count"], *keys, before, context]
    return found


@case
def states_of_segments(tf):
    training = tf.contrib.training
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2))
    key = tf.placeholder(tf.string, [])
    saver = training.SequenceQueueingStateSaver(
        2, 3, tf.constant(5), key, {"x": x}, {"c": tf.constant([7, 8])}, {"s": tf.zeros([2])}, capacity=4
    )
    batch = saver.next_batch
    with tf.Session() as session:
        for name in ("a", "b"):
            session.run(saver.prefetch_op, {key: name})
        return _segments(tf, session, batch, 2)


@case
def sparse_segments(tf):
    words = tf.SparseTensor([[0, 0], [1, 1], [4, 0]], ["p", "q", "r"], [5, 2])
    whole = tf.SparseTensor([[1]], [9], [3])
    batch = tf.contrib.training.batch_sequences_with_states(
        "k", {"x": tf.reshape(tf.range(5.0), [5, 1]), "w": words}, {"c": tf.constant(1), "d": whole}, None,
        {"s": tf.zeros([1])}, num_unroll=2, batch_size=1, num_threads=1, capacity=1, make_keys_unique=True,
    )
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        save = batch.save_state("s", batch.state("s") + 1)
        found = []
        for _ in range(3):
            w, d, x, s, _ = session.run([batch.sequences["w"], batch.context["d"], batch.sequences["x"], batch.state("s"), save])
            found += [w.indices, b" ".join(w.values).decode(), w.dense_shape, *d, x, s]
        coordinator.request_stop()
        session.run(tf.no_op())
    coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    return found


# --- optimizers of several workers, or with matrices ------------------------------------------------------------------


def _met(tf, kind, *args, **kwargs):
    getter = getattr(tf.contrib.opt, kind + "CustomGetter")("/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        step = tf.train.get_or_create_global_step()
        v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=[1.0, 2.0])
    plain = tf.train.MomentumOptimizer(0.1, 0.9)
    name = "ma_custom_getter" if kind == "ModelAverage" else "ea_custom_getter" if kind[0] == "E" else "custom_getter"
    optimizer = getattr(tf.contrib.opt, kind + "Optimizer")(plain, 1, *args, **dict(kwargs, **{name: getter}))
    train = optimizer.minimize(v * v + tf.reduce_sum(w * w) * v, step)
    start = optimizer.get_init_op(*([] if kind == "ModelAverage" else [0]))
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.local_variables_initializer())
        session.run(start)
        for _ in range(5):
            session.run(train)
            found += session.run([v, w, step])
        return found + session.run(sorted(tf.global_variables(), key=lambda variable: variable.name))


@case
def optimizers_that_meet(tf):
    found = _met(tf, "ElasticAverage", communication_period=2, moving_rate=0.3, rho=0.1)
    with tf.Graph().as_default():
        found += _met(tf, "AGN", communication_period=2)
    with tf.Graph().as_default():
        return found + _met(tf, "ModelAverage", True, interval_steps=2)


@case
def optimizers_with_matrices(tf):
    opt, found = tf.contrib.opt, []
    makers = [
        lambda: opt.GGTOptimizer(0.1, window=3), lambda: opt.ShampooOptimizer(learning_rate=0.1),
        lambda: opt.ShampooOptimizer(max_matrix_size=2, gbar_decay=0.5, mat_gbar_decay=0.9),
        lambda: opt.ShampooOptimizer(0, svd_interval=2, precond_update_interval=2, learning_rate=lambda step: 0.1),
    ]  # fmt: skip
    for make in makers:
        with tf.Graph().as_default():
            a = tf.get_variable("a", initializer=[[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])
            b = tf.get_variable("b", initializer=[0.5, 1.0])
            train = make().minimize(tf.reduce_sum(tf.tanh(tf.reduce_sum(a * a, 1) * b)) + tf.reduce_sum(a * 0.1))
            found += run(tf, a, b, updates=train, times=2)
    return found
