"""Cases of families of `tf.contrib`, written once and run on TensorFlow 1.15 (which the answers are from) and here.

A case is a function of `tf` that builds into a graph of its own and returns a list of arrays; it is named for what it
asks. See `cases`.
"""

import numpy as np

from tests.golden.contrib.cases import Cases, run

case = CASES = Cases()



# --- metrics ----------------------------------------------------------------------------------------------------------

SCORES = [0.1, 0.4, 0.35, 0.8, 0.65, 0.2, 0.9, 0.4]
LABELS = [0, 0, 1, 1, 1, 0, 1, 1]
WEIGHTS = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0]


def metric(tf, function, *args, **kwargs):
    value, update = function(*args, **kwargs)
    values = list(value) if isinstance(value, tuple) else [value]
    return run(tf, *values, updates=update, times=2)


@case
def metrics_at_points_of_curves(tf):
    m, found = tf.contrib.metrics, []
    for weights in (None, tf.constant(WEIGHTS)):
        labels, scores = tf.constant(LABELS), tf.constant(SCORES)
        found += metric(tf, m.f1_score, labels, scores, weights=weights)
        found += metric(tf, m.precision_at_recall, labels, scores, 0.7, weights=weights)
        found += metric(tf, m.recall_at_precision, labels, scores, 0.8, weights=weights)
        found += metric(tf, m.recall_at_precision, labels, scores, 0.8, weights=weights, strict_mode=True)
        found += metric(tf, m.streaming_curve_points, labels, scores, weights=weights, num_thresholds=5)
        found += metric(tf, m.streaming_curve_points, labels, scores, weights=weights, num_thresholds=4, curve="PR")
    return found


@case
def metrics_rates_of_misses(tf):
    m, found = tf.contrib.metrics, []
    for weights in (None, tf.constant(WEIGHTS)):
        labels, scores = tf.constant(LABELS), tf.constant(SCORES)
        hits = tf.greater(scores, 0.38)
        found += metric(tf, m.streaming_false_positive_rate, hits, labels, weights=weights)
        found += metric(tf, m.streaming_false_negative_rate, hits, labels, weights=weights)
        found += metric(tf, m.streaming_false_positive_rate_at_thresholds, scores, labels, [0.3, 0.5], weights=weights)
        found += metric(tf, m.streaming_false_negative_rate_at_thresholds, scores, labels, [0.3, 0.5], weights=weights)
        truths = tf.cast(labels, tf.bool)
        found += metric(tf, m.precision_recall_at_equal_thresholds, truths, scores, weights=weights, num_thresholds=6)
    return found


@case
def metrics_that_keep_values(tf):
    m, found = tf.contrib.metrics, []
    for weights in (None, tf.constant(WEIGHTS)):
        labels, scores = tf.constant(LABELS), tf.constant(SCORES)
        for curve in ("ROC", "PR"):
            found += metric(tf, m.streaming_dynamic_auc, labels, scores, curve, weights=weights)
        for logit in (True, False):
            found += metric(
                tf, m.auc_with_confidence_intervals, labels, scores, weights=weights, logit_transformation=logit
            )
        found += metric(tf, m.cohen_kappa, labels, tf.cast(tf.greater(scores, 0.5), tf.int32), 2, weights=weights)
        floats = tf.cast(labels, tf.float32)
        found += metric(tf, m.streaming_covariance, scores, floats, weights=weights)
        found += metric(tf, m.streaming_pearson_correlation, scores, floats, weights=weights)
        found += metric(tf, m.count, scores, weights=weights)
    table = tf.constant([[1, 2, 3], [4, 5, 6]])
    found += metric(tf, m.streaming_concat, table, axis=1)
    found += metric(tf, m.streaming_concat, table, axis=0, max_size=3)
    return found


# --- choices ----------------------------------------------------------------------------------------------------------


@case
def choices_do_what_a_run_needs(tf):
    """A fetch of one result of `cond` brings the updates that it waits for, and no others."""
    found = []
    for resource in (False, True):
        with tf.variable_scope("resource" if resource else "reference", use_resource=resource):
            v, w, u = (tf.get_variable(n, initializer=0.0) for n in "vwu")
            z = tf.get_variable("z", initializer=3.0)
        chosen = tf.placeholder(tf.bool, [])

        def branch(k):
            def results():
                tf.assign_add(u, 1.0)  # nobody waits for it
                return tf.assign_add(v, k), tf.assign_add(w, k), z * k

            return results

        a, b, c = tf.cond(chosen, branch(1.0), branch(10.0))
        grads = tf.gradients(c, z)
        only = tf.cond(chosen, lambda: tf.group(tf.assign_add(v, 100.0)), tf.no_op)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for fetches in (b, [a, c], grads, only, [a, b, c]):
                for flag in (True, False, False):
                    session.run(fetches, {chosen: flag})
                    found.append(session.run([v, w, u]))
            found.append(session.run(grads, {chosen: True}))
    return found


# --- profiles ---------------------------------------------------------------------------------------------------------


@case
def profile_of_a_model(tf):
    """Parameters and float operations, of the whole and by op: names in order, then numbers."""
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    w, b = tf.get_variable("w", [3, 3, 3, 5]), tf.get_variable("b", [5])
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), b))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.variable_scope("dense"):
        y = tf.matmul(tf.reshape(y, [4, 20]), tf.get_variable("kernel", [20, 7]))
    loss = tf.reduce_mean(tf.square(y)) + tf.nn.l2_loss(w)
    tf.nn.depthwise_conv2d(x, tf.get_variable("dw", [3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
    pooled = tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    for f in (tf.exp, tf.nn.softmax, tf.rsqrt, tf.log, tf.negative, tf.reduce_sum, lambda v: tf.argmax(v, 1)):
        f(y)
    for f in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.equal, tf.squared_difference):
        f(y, y)
    tf.add_n([y, y, y])
    tf.gradients(loss, [w])
    tf.gradients([pooled, tf.rsqrt(x)], [x])
    tf.get_variable("steps", [], trainable=False)
    builder = tf.profiler.ProfileOptionBuilder
    flops = builder(builder.float_operation()).with_empty_output().build()
    params = builder(builder.trainable_variables_parameter()).with_empty_output().build()
    found = tf.profiler.profile(tf.get_default_graph(), cmd="op", options=flops)
    by_op = {}
    below = found
    while below.children:
        below = below.children[0]
        by_op[below.name] = below.float_ops
    scope = tf.profiler.profile(tf.get_default_graph(), options=params)
    names = sorted(by_op)
    shown = [child.name for child in scope.children]
    totals = [found.total_float_ops, tf.profiler.profile(cmd="scope", options=flops).total_float_ops]
    counts = [scope.total_parameters, scope.total_definition_count, *(c.total_parameters for c in scope.children)]
    return [names, [by_op[name] for name in names], totals, shown, counts]


# --- small functions --------------------------------------------------------------------------------------------------


@case
def functions_of_contrib_nn(tf):
    x = tf.constant([[3.0, -1.0, 2.5, 0.0], [1.0, 7.0, -2.0, 4.0]])
    nn = tf.contrib.nn
    plain, clipped = nn.scaled_softplus(x, 2.0), nn.scaled_softplus(x, tf.constant([1.0, 0.5, 2.0, 4.0]), clip=3.0)
    same = nn.alpha_dropout(x, 1.0)
    return run(tf, plain, clipped, tf.gradients(clipped, x)[0], nn.nth_element(x, 1), nn.nth_element(x, 1, True), same)


# --- quantize ---------------------------------------------------------------------------------------------------------


def quantizable(tf, training, fused=True):
    """A small net of `tf.layers`: a normalised convolution, a depthwise one with a shortcut, a product."""
    x = tf.placeholder(tf.float32, [4, 6, 6, 3], name="x")
    y = tf.layers.conv2d(x, 4, 3, name="first", use_bias=False, padding="same")
    y = tf.nn.relu6(tf.layers.batch_normalization(y, training=training, fused=fused, name="norm", momentum=0.9))
    z = tf.layers.conv2d(y, 4, 3, name="block/second", padding="same")
    y = tf.nn.relu(z + y, name="joined")
    with tf.variable_scope("deep"):
        y = tf.nn.depthwise_conv2d(y, tf.get_variable("filter", [3, 3, 4, 2]), [1, 2, 2, 1], "SAME")
        y = tf.nn.bias_add(y, tf.get_variable("bias", [8]))
        y = tf.nn.relu(y)
    y = tf.layers.dense(tf.reshape(y, [4, 72]), 3, name="last")
    return x, tf.identity(y, name="out")


def trained(tf, x, y, steps):
    """Losses of some steps, or of one run where there are none to make; then every variable's sum.

    Two steps: after that, what one rounding puts on the other side of a step of quantisation shows.
    """
    draw = np.random.RandomState(0)
    loss = tf.reduce_mean(tf.square(y))
    step = tf.train.GradientDescentOptimizer(0.001).minimize(loss) if steps else y
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            variable.load(draw.uniform(-0.5, 0.5, variable.shape.as_list()).astype("f"), session)
        found = []
        for _ in range(max(steps, 1)):
            found.append(session.run([loss, step], {x: draw.randn(4, 6, 6, 3).astype("f")})[0])
        session.run(updates, {x: np.ones([4, 6, 6, 3], "f")})
        return found, [float(np.sum(session.run(v))) for v in tf.global_variables()]


def rewritten(tf, training, rewrite, steps, **kwargs):
    x, y = quantizable(tf, training)
    before = set(tf.get_default_graph().get_operations())
    rewrite(**kwargs)
    nodes = [op for op in tf.get_default_graph().get_operations() if op not in before]
    plain = [op for op in nodes if "/delayed_quant" not in op.name and "/freeze_moving" not in op.name]
    plain = sorted(op.name for op in plain if op.type not in ("Switch", "Merge", "If", "StatelessIf", "Const"))
    losses, sums = trained(tf, x, y, steps)
    return [plain, [v.name for v in tf.global_variables()], losses, sums]


@case
def graphs_that_train_quantized(tf):
    return rewritten(tf, True, tf.contrib.quantize.create_training_graph, 2)


@case
def graphs_that_evaluate_quantized(tf):
    return rewritten(tf, False, tf.contrib.quantize.create_eval_graph, 0)


@case
def graphs_quantized_later(tf):
    return rewritten(tf, True, tf.contrib.quantize.create_training_graph, 2, quant_delay=2)


@case
def graphs_quantized_with_few_bits(tf):
    rewrite = tf.contrib.quantize.experimental_create_training_graph
    return rewritten(tf, True, rewrite, 2, weight_bits=4, activation_bits=6, symmetric=True)


@case
def graphs_quantized_in_one_scope(tf):
    rewrite = tf.contrib.quantize.experimental_create_eval_graph
    return rewritten(tf, False, rewrite, 0, scope="block", weight_bits=5)


# --- feature columns --------------------------------------------------------------------------------------------------


def table(tf):
    """Features of three rows."""
    at = [[0, 0], [1, 0], [1, 1]]
    return {
        "word": tf.SparseTensor(at, ["x", "y", "z"], [3, 2]),
        "kind": tf.SparseTensor(at, ["a", "c", "b"], [3, 2]),
        "number": tf.SparseTensor(at, tf.constant([100, 1, 25], tf.int64), [3, 2]),
        "weight": tf.SparseTensor(at, [2.0, 3.0, 4.0], [3, 2]),
        "price": tf.constant([[5.0, -1.0], [200.0, 20.0], [10.0, 99.0]]),
        "age": tf.constant([[3], [4], [5]]),
    }


def columns(tf):
    c = tf.contrib.layers
    word, kind = (
        c.sparse_column_with_hash_bucket("word", 10),
        c.sparse_column_with_keys("kind", ["a", "b", "c"], combiner="mean"),
    )
    number = c.sparse_column_with_integerized_feature("number", 4, combiner="sqrtn")
    price = c.real_valued_column("price", 2)
    buckets = c.bucketized_column(price, [0.0, 10.0, 100.0])
    return c, word, kind, number, price, buckets


@case
def matrices_from_feature_columns(tf):
    c, word, kind, number, price, buckets = columns(tf)
    ones = tf.ones_initializer()
    halves = c.real_valued_column("age", normalizer=lambda x: tf.to_float(x) / 2.0)
    chosen = [price, halves, buckets, c.one_hot_column(kind), c.one_hot_column(number)]
    chosen += [
        c.embedding_column(word, 2, initializer=ones, combiner="sum"),
        c.embedding_column(c.weighted_sparse_column(kind, "weight"), 3, initializer=ones),
    ]
    y = c.input_from_feature_columns(table(tf), chosen, weight_collections=["kept"])
    (by,) = tf.gradients(y, tf.get_collection("kept")[:1])
    values = run(tf, y, tf.convert_to_tensor(by))
    return [*values, [v.name for v in tf.get_collection("kept")]]


@case
def sums_from_feature_columns(tf):
    c, word, kind, number, price, buckets = columns(tf)
    crossed = c.crossed_column([kind, word], 7, hash_key=956888297470)
    chosen = [crossed, number, kind, price, buckets, c.weighted_sparse_column(kind, "weight"), word]
    y, variables, bias = c.weighted_sum_from_feature_columns(table(tf), chosen, num_outputs=2)
    made = sorted((v for own in variables.values() for v in own), key=lambda v: v.name)
    found = [[v.name for v in tf.global_variables()]]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        found.append(session.run(y))
        for i, v in enumerate([*made, bias]):
            v.load(np.arange(np.prod(v.shape.as_list()), dtype="f").reshape(v.shape.as_list()) * 0.1 * (i + 1), session)
            found.append(session.run(y))
    return found


@case
def joint_sums_from_feature_columns(tf):
    c = tf.contrib.layers
    kind = c.sparse_column_with_keys("kind", ["a", "b", "c"])
    buckets = c.sparse_column_with_keys("word", ["z", "y", "x"])
    y, (weights,), bias = c.joint_weighted_sum_from_feature_columns(table(tf), [kind, buckets], num_outputs=2)
    shape = weights.shape.as_list()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        weights.load(np.arange(np.prod(shape), dtype="f").reshape(shape), session)
        return [[weights.name, bias.name], shape, session.run(y)]


@case
def sequences_from_feature_columns(tf):
    c, word, kind, _, _, _ = columns(tf)
    at = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    features = {
        "kind": tf.SparseTensor(at, ["a", "c", "b", "a"], [2, 3, 2]),
        "word": tf.SparseTensor(at, ["x", "y", "z", "x"], [2, 3, 2]),
        "signal": tf.constant(np.arange(24.0).reshape(2, 3, 4), tf.float32),
    }
    embedded = c.embedding_column(word, 2, initializer=tf.ones_initializer(), combiner="sum")
    chosen = [c.one_hot_column(kind), embedded, c.real_valued_column("signal", normalizer=lambda x: x - 1)]
    return run(tf, c.sequence_input_from_feature_columns(features, chosen))


@case
def examples_for_feature_columns(tf):
    c, _, kind, _, price, buckets = columns(tf)
    example = tf.train.Example()
    example.features.feature["price"].float_list.value.extend([20.0, -3.0])
    example.features.feature["kind"].bytes_list.value.extend([b"c", b"nobody"])
    found = c.parse_feature_columns_from_examples([example.SerializeToString()], [buckets, kind])
    return run(tf, found[buckets], found[kind].values, found[kind].indices)


def factors(tf, shards=1, cached=True, **weights):
    """Three rounds of alternating least squares: losses, factors of rows, and the projection of two new rows."""
    source = np.random.RandomState(0)
    full = (source.rand(7, 4).dot(source.rand(4, 5)) * (source.rand(7, 5) < 0.6)).astype("f")
    begin = [source.randn(7, 3).astype("f"), source.randn(5, 3).astype("f")]
    begin = begin if shards == 1 else [np.array_split(some, shards) for some in begin]
    model = tf.contrib.factorization.WALSModel(
        7, 5, 3, 0.1, 0.3, begin[0], begin[1], shards, shards, use_factors_weights_cache=cached,
        use_gramian_cache=cached, **weights
    )  # fmt: skip
    matrix = tf.SparseTensor(np.argwhere(full), full[full != 0], [7, 5])
    rows, columns = model.update_row_factors(matrix), model.update_col_factors(matrix)
    new = tf.SparseTensor([[0, 1], [0, 3], [1, 0]], [1.0, 2.0, 3.0], [2, 5])
    projected = model.project_row_factors(new, projection_weights=[0.5, 2.0])
    found = []
    with tf.Session() as session:
        session.run([model.initialize_op, tf.local_variables_initializer()])
        session.run(model.worker_init)
        for _ in range(3):
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            found += [session.run(rows[2:]), session.run(projected)]
            session.run(rows[1])
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            found.append(session.run(columns[2:]))
            session.run(columns[1])
        return [*found, np.concatenate(session.run(model.row_factors))]


@case
def factors_of_a_matrix(tf):
    return factors(tf, row_weights=[np.arange(1.0, 8)], col_weights=2.0)


@case
def factors_in_shards(tf):
    return factors(tf, shards=2, row_weights=[[1, 2, 3, 4], [5, 6, 7]], col_weights=0.5)


@case
def factors_without_weights(tf):
    return factors(tf, cached=False, row_weights=None, col_weights=None)


def mixture(tf, kind):
    source = np.random.RandomState(5)
    points = np.concatenate([source.randn(40, 2) + [3, 0], source.randn(60, 2) * 0.5 - [2, 1]]).astype("f")
    model = tf.contrib.factorization.GmmAlgorithm([tf.constant(points)], 2, points[[0, 99]], "wmc", kind)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(model.init_ops())
        found = [session.run(model.is_initialized()), session.run(model.log_likelihood_op())]
        for _ in range(4):
            session.run(model.training_ops())
        told = [model.log_likelihood_op(), model.alphas(), model.clusters(), model.covariances(), model.scores()]
        return [*found, *session.run(told), *session.run(model.assignments())]


@case
def mixture_of_normals(tf):
    return mixture(tf, "full")


@case
def mixture_along_the_axes(tf):
    return mixture(tf, "diag")


# --- images bent by flows, sparsemax, bags of words -------------------------------------------------------------------

BENT = np.random.RandomState(11)
PICTURES = BENT.rand(2, 4, 5, 2).astype("f")
FLOWS = (BENT.randn(2, 4, 5, 2) * 2).astype("f")
PLACES = (BENT.rand(2, 3, 2) * 8 - 2).astype("f")
POINTS, VALUES, ASKED = ((BENT.rand(2, n, k) * 4).astype("f") for n, k in ((6, 2), (6, 3), (4, 2)))


def with_slopes(tf, result, inputs):
    return run(tf, result, *tf.gradients(tf.reduce_sum(tf.square(result)), inputs))


@case
def dense_warp(tf):
    inputs = [tf.constant(PICTURES), tf.constant(FLOWS)]
    return with_slopes(tf, tf.contrib.image.dense_image_warp(*inputs), inputs)


@case
def resampled(tf):
    inputs = [tf.constant(PICTURES), tf.constant(PLACES)]
    return with_slopes(tf, tf.contrib.resampler.resampler(*inputs), inputs)


@case
def splines(tf):
    ask = tf.contrib.image.interpolate_spline
    return run(tf, *[ask(POINTS, VALUES, ASKED, order, 0.1) for order in (1, 2, 3, 4)], ask(POINTS, VALUES, ASKED, 2))


@case
def sparse_warp(tf):
    moved = (POINTS + np.random.RandomState(2).rand(2, 6, 2) * 0.5).astype("f")
    ask = tf.contrib.image.sparse_image_warp
    inputs = [tf.constant(x, tf.float64) for x in (PICTURES, POINTS, moved)]  # small differences are magnified
    return run(tf, *ask(*inputs), *ask(*inputs, num_boundary_points=2))


@case
def nearest_of_the_simplex(tf):
    logits = tf.constant(np.random.RandomState(3).randn(4, 7) * 2, tf.float32)
    family = tf.contrib.sparsemax
    point = family.sparsemax(logits)
    loss = family.sparsemax_loss(logits, point, np.eye(7, dtype="f")[[1, 2, 3, 3]])
    return [*run(tf, loss), *with_slopes(tf, point, [logits])]


@case
def bags_of_words(tf):
    tf.get_variable_scope().set_initializer(tf.constant_initializer(np.arange(20.0).reshape(5, 4) ** 2))
    ids = tf.constant([[1, 2, 0], [3, 3, 1]], tf.int64)
    layers = tf.contrib.layers
    found = [
        layers.bow_encoder(ids, 5, 4),
        layers.bow_encoder(ids, 5, 4, sparse_lookup=False, scope="dense"),
        layers.embedding_lookup_unique(tf.constant(np.arange(20.0).reshape(5, 4)), ids),
        layers.safe_embedding_lookup_sparse(
            [tf.constant(np.arange(20.0).reshape(5, 4))], tf.SparseTensor([[0, 0], [2, 0]], ids[0, :2], [3, 2])
        ),
    ]
    return [[v.name for v in tf.global_variables()], *run(tf, *found)]


# --- graphs edited ----------------------------------------------------------------------------------------------------


def wired(graph):
    """Return the nodes of a graph, and what each takes and waits for."""
    return sorted(
        f"{op.name}({', '.join(t.name for t in op.inputs)})" + "".join(f" after {c.name}" for c in op.control_inputs)
        for op in graph.get_operations()
    )


def edited(tf, change):
    """Return what a small graph is after a change, and what the change returned."""
    with tf.Graph().as_default() as graph:
        a = tf.constant([1.0, 1.0], name="a")
        with tf.name_scope("foo"):
            b = tf.constant([2.0, 2.0], name="b")
            c = tf.add(a, b, name="c")
            d = tf.constant([3.0, 3.0], name="d")
            with tf.name_scope("bar"):
                tf.add(c, d, name="e")
                f = tf.multiply(c, d, name="f")
                g = tf.subtract(c, a, name="g")
                with tf.control_dependencies([c.op]):
                    tf.add(f, g, name="h")
        result = change(tf.contrib.graph_editor, graph, lambda name: graph.get_operation_by_name(name))
        return [wired(graph), shown(result)]


def shown(result):
    """Return what an edit returned as text: views by their tensors, tensors and nodes by their names."""
    if isinstance(result, (list, tuple)):
        return str([shown(item) for item in result])
    if hasattr(result, "inputs") and hasattr(result, "passthroughs"):
        return str([[t.name for t in result.inputs], [t.name for t in result.outputs]])
    return getattr(result, "name", str(result))


EDITS = {
    "detach": lambda ge, graph, op: ge.detach(ge.sgv(op("foo/c"), op("a")), control_ios=ge.ControlOutputs(graph)),
    "detach inputs": lambda ge, graph, op: ge.detach_inputs(ge.sgv(op("foo/bar/h"), op("foo/bar/g"))),
    "detach control inputs": lambda ge, graph, op: ge.detach_inputs(ge.sgv(op("foo/bar/h")), control_inputs=True),
    "detach outputs": lambda ge, graph, op: ge.detach_outputs(ge.sgv(op("foo/c"))),
    "connect": lambda ge, graph, op: ge.connect(ge.sgv(op("foo/b")), ge.sgv(op("foo/bar/e")).remap_inputs([0])),
    "connect alone": lambda ge, graph, op: ge.connect(
        ge.sgv(op("foo/d")), ge.sgv(op("foo/bar/g")).remap_inputs([1]), disconnect_first=True
    ),
    "bypass": lambda ge, graph, op: ge.bypass(ge.sgv(op("foo/bar/f")).remap_inputs([0])),
    "reroute inputs": lambda ge, graph, op: ge.reroute_inputs(ge.sgv(op("foo/bar/g")), ge.sgv(op("foo/bar/f"))),
    "swap inputs": lambda ge, graph, op: ge.swap_inputs(ge.sgv(op("foo/bar/g")), ge.sgv(op("foo/bar/f"))),
    "reroute outputs": lambda ge, graph, op: ge.reroute_outputs(ge.sgv(op("foo/bar/g")), ge.sgv(op("foo/bar/f"))),
    "swap outputs": lambda ge, graph, op: ge.swap_outputs(ge.sgv(op("foo/b")), ge.sgv(op("foo/d"))),
    "reroute both": lambda ge, graph, op: ge.reroute_ios(ge.sgv(op("foo/bar/g")), ge.sgv(op("foo/bar/f"))),
    "swap both": lambda ge, graph, op: ge.swap_ios(ge.sgv(op("foo/bar/g")), ge.sgv(op("foo/bar/e"))),
    "neighbours": lambda ge, graph, op: sorted(o.name for o in ge.get_ops_ios(op("foo/c"))),
    "neighbours that wait": lambda ge, graph, op: sorted(
        o.name for o in ge.get_ops_ios(op("foo/bar/h"), control_ios=ge.ControlOutputs(graph))
    ),
    "within": lambda ge, graph, op: sorted(
        o.name for o in ge.get_within_boundary_ops(graph, op("foo/bar/f"), [op("foo/c"), op("foo/bar/h")], False)
    ),
    "border": lambda ge, graph, op: [[t.name for t in ts] for ts in ge.compute_boundary_ts([op("a"), op("foo/c")])],
    "selected": lambda ge, graph, op: [
        sorted(o.name for o in found) for found in ge.select_ops_and_ts("^foo/bar", "(?#ts)c:0$", graph=graph)
    ],
}


@case
def graphs_edited(tf):
    return [answer for name in sorted(EDITS) for answer in edited(tf, EDITS[name])]


# --- cells on grids ---------------------------------------------------------------------------------------------------

GRIDS = {
    "one axis": lambda g, tf: g.Grid1BasicRNNCell(2),
    "one axis, LSTM": lambda g, tf: g.Grid1BasicLSTMCell(2, 0.5),
    "peepholes": lambda g, tf: g.Grid1LSTMCell(2, use_peepholes=True),
    "two axes": lambda g, tf: g.Grid2BasicRNNCell(2),
    "tied": lambda g, tf: g.Grid2BasicRNNCell(2, tied=True),
    "LSTMs": lambda g, tf: g.Grid2BasicLSTMCell(2),
    "a layer": lambda g, tf: g.Grid2LSTMCell(2, non_recurrent_fn=tf.nn.relu),
    "three axes": lambda g, tf: g.Grid3LSTMCell(2, tied=True),
    "GRUs": lambda g, tf: g.Grid2GRUCell(2),
    "of one piece": lambda g, tf: g.Grid2BasicLSTMCell(2, state_is_tuple=False, output_is_tuple=False),
    "two inputs": lambda g, tf: g.GridRNNCell(2, 3, input_dims=[0, 1], output_dims=[1, 2], priority_dims=[2]),
}


@case
def cells_on_grids(tf):
    found = []
    for name in sorted(GRIDS):
        with tf.Graph().as_default():
            cell = GRIDS[name](tf.contrib.grid_rnn, tf)
            x = tf.constant([[1.0, -1.0, 0.5, 0.25], [0.5, 2.0, -0.75, 1.0]])
            with tf.variable_scope("root", initializer=tf.constant_initializer(0.2)):
                first, state = cell(x, cell.zero_state(2, tf.float32))
                tf.get_variable_scope().reuse_variables()
                second, state = cell(x, state)
            found += [[f"{v.op.name} {v.shape.as_list()}" for v in tf.global_variables()], str(cell.output_size)]
            found += run(tf, *tf.contrib.framework.nest.flatten([first, second, state]))
    return found
