"""Cases of the ops of boosted trees, written once and run on TensorFlow 1.15 (which the answers are from) and here.

A case is a function of `tf` that builds into a graph of its own and returns a list of arrays. `answers(tf)` runs them
all and gives lists that JSON can hold; bytes are given as characters.
"""

import numpy as np

CASES = {}
ROWS, FEATURES, BUCKETS = 60, 3, 6


def case(function):
    CASES[function.__name__] = function
    return function


def plain(value):
    value = np.asarray(value)
    if value.dtype.kind in "OS":
        return [item.decode("latin1") for item in value.reshape(-1).tolist()]
    return value.tolist()


def answers(tf, names=None):
    found = {}
    for name in names or CASES:
        with tf.Graph().as_default():
            found[name] = [plain(value) for value in CASES[name](tf)]
    return found


def numbers(seed, *shape):
    """Return numbers that every NumPy makes alike: between 0 and 1."""
    return np.random.RandomState(seed).uniform(size=shape).astype(np.float32)


def buckets(seed, *shape):
    return (numbers(seed, *shape) * BUCKETS).astype(np.int32)


def evaluate(tf, fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


def flat(results):
    return [item for result in results for item in (result if isinstance(result, (list, tuple)) else [result])]


# --- sums and splits --------------------------------------------------------------------------------------------------


@case
def sums_of_gradients_by_bucket(tf):
    ops, nodes = tf.raw_ops, np.array([0, 2] * (ROWS // 2), np.int32)
    gradients, hessians = numbers(1, ROWS, 2) - 0.5, numbers(2, ROWS, 4)
    features = [buckets(i, ROWS) for i in range(FEATURES)]
    missing = buckets(5, ROWS, 2)
    missing[::7] = -1
    return evaluate(
        tf,
        [
            ops.BoostedTreesMakeStatsSummary(
                node_ids=nodes,
                gradients=gradients[:, :1],
                hessians=hessians[:, :1],
                bucketized_features_list=features,
                max_splits=4,
                num_buckets=BUCKETS,
            ),
            ops.BoostedTreesAggregateStats(
                node_ids=nodes,
                gradients=gradients,
                hessians=hessians,
                feature=missing,
                max_splits=4,
                num_buckets=BUCKETS,
            ),
        ],
    )


@case
def sums_of_sparse_features(tf):
    places = np.argwhere(numbers(9, 12, 4) > 0.6).astype(np.int32)
    indices, values, shape = tf.raw_ops.BoostedTreesSparseAggregateStats(
        node_ids=np.array([1, 1, 2, 2, 1, 1, 2, 2, 2, 2, 1, 1], np.int32),
        gradients=numbers(1, 12, 1) - 0.5,
        hessians=numbers(2, 12, 1),
        feature_indices=places,
        feature_values=buckets(3, len(places)),
        feature_shape=[12, 4],
        max_splits=3,
        num_buckets=BUCKETS,
    )
    splits = [
        tf.raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
            node_id_range=[1, 3],
            stats_summary_indices=indices,
            stats_summary_values=values,
            stats_summary_shape=shape,
            l1=l1,
            l2=l2,
            tree_complexity=0.01,
            min_node_weight=least,
            logits_dimension=1,
        )
        for l1, l2, least in ((0.0, 0.0, 0.0), (0.2, 0.5, 0.0), (0.0, 1.0, 3.0))
    ]
    return evaluate(tf, flat([[indices, values, shape], *splits]))


@case
def best_gains_of_every_feature(tf):
    summaries = [np.stack([numbers(i, 4, BUCKETS) - 0.5, numbers(i + 9, 4, BUCKETS)], -1) for i in range(FEATURES)]
    found = []
    for l1, l2, cost, least in ((0, 0, 0, 0), (0.3, 0.1, 0, 0), (0, 1, 0.2, 3), (5, 0, 0, 0)):
        found += flat(
            tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
                node_id_range=[1, 4],
                stats_summary_list=summaries,
                l1=float(l1),
                l2=float(l2),
                tree_complexity=float(cost),
                min_node_weight=float(least),
                max_splits=4,
            )
        )
    return evaluate(tf, found)


@case
def best_split_of_a_feature(tf):
    found = []
    for logits, hessian in ((1, 1), (2, 2), (2, 4), (3, 9)):
        stats = numbers(logits, 3, 2, BUCKETS + 1, logits + hessian)
        stats[..., :logits] -= 0.5
        if hessian > logits:  # matrices of hessians, well away from singular ones
            square = stats[..., logits:].reshape(stats.shape[:-1] + (logits, logits))
            square = np.matmul(square, np.swapaxes(square, -1, -2)) + 0.5 * np.eye(logits)
            stats[..., logits:] = square.reshape(stats.shape[:-1] + (hessian,))
        stats[:, 1] *= stats[:, :1].sum((1, 2))[:, None] / stats[:, 1:].sum((1, 2))[:, None]  # features agree in sum
        for kind in ("inequality", "equality"):
            for l2, cost, least in ((0.0, 0.0, 0.0), (1.0, 0.1, 5.0)):
                found += tf.raw_ops.BoostedTreesCalculateBestFeatureSplit(
                    node_id_range=[0, 3],
                    stats_summary=stats,
                    l1=0.0,
                    l2=l2,
                    tree_complexity=cost,
                    min_node_weight=least,
                    logits_dimension=logits,
                    split_type=kind,
                )
    return evaluate(tf, found)


# --- ensembles --------------------------------------------------------------------------------------------------------


def grown(tf, pruning, steps=9, cost=0.0, center=False):
    """Return what ensembles answer after every layer of boosting for squared errors."""
    ops, found = tf.raw_ops, []
    features = [buckets(i, ROWS) for i in range(FEATURES)]
    labels = np.stack([features[0] * 0.7 - features[1] * features[2] * 0.2 + numbers(8, ROWS)], 1).astype(np.float32)
    handle = ops.BoostedTreesEnsembleResourceHandleOp(shared_name="trees")
    create = ops.BoostedTreesCreateEnsemble(
        tree_ensemble_handle=handle, stamp_token=np.int64(3), tree_ensemble_serialized=""
    )
    trees, nodes = tf.placeholder(tf.int32, [ROWS]), tf.placeholder(tf.int32, [ROWS])
    gradient = tf.placeholder(tf.float32, [ROWS, 1])
    ones = np.ones([ROWS, 1], np.float32)
    states = ops.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)
    training = ops.BoostedTreesTrainingPredict(
        tree_ensemble_handle=handle,
        cached_tree_ids=trees,
        cached_node_ids=nodes,
        bucketized_features=features,
        logits_dimension=1,
    )
    summary = ops.BoostedTreesMakeStatsSummary(
        node_ids=nodes,
        gradients=gradient,
        hessians=ones,
        bucketized_features_list=features,
        max_splits=15,
        num_buckets=BUCKETS,
    )
    gains = ops.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=states[4],
        stats_summary_list=tf.unstack(summary),
        l1=0.0,
        l2=0.5,
        tree_complexity=cost,
        min_node_weight=2.0,
        max_splits=15,
    )
    grow = ops.BoostedTreesUpdateEnsemble(
        tree_ensemble_handle=handle,
        feature_ids=np.arange(FEATURES),
        node_ids=gains[0],
        gains=gains[1],
        thresholds=gains[2],
        left_node_contribs=gains[3],
        right_node_contribs=gains[4],
        max_depth=3,
        learning_rate=0.4,
        pruning_mode=pruning,
    )
    bias = ops.BoostedTreesCenterBias(
        tree_ensemble_handle=handle,
        mean_gradients=tf.reduce_mean(gradient, 0, keepdims=True),
        mean_hessians=[[1.0]],
        l1=0.0,
        l2=0.0,
    )
    answer = [
        ops.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=features, logits_dimension=1),
        ops.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle),
    ]
    debug = ops.BoostedTreesExampleDebugOutputs(
        tree_ensemble_handle=handle, bucketized_features=[f[:4] for f in features], logits_dimension=1
    )
    logits = np.zeros([ROWS, 1], np.float32)
    places = {trees: np.zeros(ROWS, np.int32), nodes: -np.ones(ROWS, np.int32)}
    with tf.Session() as session:
        found.append(session.run(ops.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle)))
        session.run(create)
        for step in range(2 if center else 0):
            found.append(session.run(bias, {gradient: -labels if step == 0 else 0.001 * labels}))
        for _ in range(steps):
            change, places[trees], places[nodes] = session.run(training, places)
            logits = logits + change
            found += [logits[:, 0].copy(), places[nodes], *session.run(states)]
            session.run(grow, {gradient: logits - labels, nodes: places[nodes]})
        predicted, (stamp, serialized) = session.run(answer)
        found += [predicted, stamp, serialized]
        if center:  # TensorFlow crashes where the first node has no value
            found.append(session.run(debug))
        found.append(session.run(ops.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=handle)))
    return found


@case
def trees_that_grow(tf):
    return grown(tf, 0)


@case
def trees_that_are_pruned_before(tf):
    return grown(tf, 1, cost=0.8)


@case
def trees_that_are_pruned_after(tf):
    return grown(tf, 2, steps=14, cost=1.1)


@case
def trees_with_a_bias(tf):
    return grown(tf, 0, steps=4, center=True)


# --- quantiles --------------------------------------------------------------------------------------------------------


@case
def summaries_of_numbers(tf):
    found = []
    for rows, epsilon in ((5, 0.3), (200, 0.1), (300, 0.01), (700, 0.02), (1500, 0.25)):
        values = [numbers(i, rows) ** (i + 1) for i in range(2)]
        values[1] = np.round(values[1], 2)  # many alike
        for weights in ([1.0], np.round(numbers(7, rows), 1)):
            found += tf.raw_ops.BoostedTreesMakeQuantileSummaries(
                float_values=values, example_weights=weights, epsilon=epsilon
            )
    return evaluate(tf, found)


@case
def boundaries_of_streams(tf):
    ops, found = tf.raw_ops, []
    for number, (epsilon, quantiles, asked) in enumerate(((0.01, False, 100), (0.1, False, 10), (0.1, True, 5))):
        handle = ops.BoostedTreesQuantileStreamResourceHandleOp(shared_name="stream%d" % number)
        create = ops.BoostedTreesCreateQuantileStreamResource(
            quantile_stream_resource_handle=handle, epsilon=epsilon, num_streams=np.int64(2)
        )
        values = tf.placeholder(tf.float32, [2, None])
        add = ops.BoostedTreesQuantileStreamResourceAddSummaries(
            quantile_stream_resource_handle=handle,
            summaries=ops.BoostedTreesMakeQuantileSummaries(
                float_values=tf.unstack(values), example_weights=[1.0], epsilon=epsilon
            ),
        )
        flush = ops.BoostedTreesQuantileStreamResourceFlush(
            quantile_stream_resource_handle=handle, num_buckets=np.int64(asked), generate_quantiles=quantiles
        )
        boundaries = ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            quantile_stream_resource_handle=handle, num_features=2
        )
        summaries = ops.BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle=handle, num_features=2)
        with tf.Session() as session:
            session.run(create)
            found += session.run(boundaries)
            for batch in range(7):
                session.run(add, {values: numbers(batch, 2, 90) ** 2})
            session.run(flush)
            found += session.run(boundaries)
            session.run(add, {values: numbers(11, 2, 30)})
            found += session.run(summaries)
    return found


@case
def buckets_of_numbers(tf):
    return evaluate(
        tf,
        tf.raw_ops.BoostedTreesBucketize(
            float_values=[numbers(1, 20), numbers(2, 20), [0.5] * 20],
            bucket_boundaries=[[0.1, 0.5, 0.9], [], np.array([0.25, 0.5, 0.75], np.float32)],
        ),
    )
