"""Cases of families of `tf.contrib`, written once and run on TensorFlow 1.15 (which the answers are from) and here.

A case is a function of `tf` that builds into a graph of its own and returns a list of arrays; it is named for what it
asks. `answers(tf)` runs them all and gives lists that JSON can hold.
"""

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
    """Return values after initialising; updates before values where `updates` are given, `times` of them."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        for _ in range(kwargs.get("times", 0)):
            session.run(kwargs["updates"])
        return session.run(list(fetches))


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
