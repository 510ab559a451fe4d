"""Cases of names that public programs of TF 1 use and that no other test calls, written once and run on TensorFlow
1.15 (which the answers are from) and here.

A case is a function of `tf` that builds into a graph of its own and returns a list of arrays, as in `families.py`.
"""

import os
import tempfile

import numpy as np

from tests.golden.contrib.cases import Cases, run

case = CASES = Cases()



def pictures(tf, *shape):
    return tf.constant(np.random.RandomState(3).uniform(0, 1, shape).astype(np.float32))


# --- files ------------------------------------------------------------------------------------------------------------


@case
def files_of_gfile(tf):
    folder = tempfile.mkdtemp()
    tf.gfile.MkDir(os.path.join(folder, "a"))
    path = os.path.join(folder, "a", "lines.txt")
    with tf.gfile.Open(path, "w") as file:
        file.write("one\ntwo\n")
    with tf.gfile.FastGFile(path, "rb") as file:
        content = file.read()
    return [content.decode(), tf.gfile.Open(path).readlines(), tf.gfile.ListDirectory(folder), tf.gfile.Exists(path)]


@case
def files_written_by_ops(tf):
    path = os.path.join(tempfile.mkdtemp(), "new", "file.txt")
    with tf.Session() as session:
        session.run(tf.write_file(path, "first"))
        first = session.run(tf.read_file(path))
        session.run(tf.io.write_file(path, "other"))
        return [first.decode(), session.run(tf.io.read_file(path)).decode()]


# --- images -----------------------------------------------------------------------------------------------------------


@case
def images_resized_by_kind(tf):
    x, found = pictures(tf, 2, 5, 7, 3), []
    for function in (tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic):
        found += [function(x, [8, 4]), function(x, [8, 4], align_corners=True), function(x, (3, 9), name="r")]
    found += [tf.image.resize_area(x, [3, 4]), tf.image.resize_area(x, [10, 14], align_corners=False)]
    for method in ("BILINEAR", "NEAREST_NEIGHBOR", "BICUBIC", "AREA"):
        found.append(tf.image.resize_images(x, [4, 6], getattr(tf.image.ResizeMethod, method), align_corners=True))
    return run(tf, *found)


@case
def images_cropped_or_padded(tf):
    x, found = pictures(tf, 5, 7, 3), []
    for height, width in ((3, 3), (8, 9), (3, 9), (5, 7)):
        found.append(tf.image.resize_image_with_crop_or_pad(x, height, width))
    batch = tf.image.resize_image_with_crop_or_pad(pictures(tf, 2, 5, 7, 1), 4, 10)
    return run(tf, *found, batch)


@case
def images_of_random_boxes_keep_the_promise(tf):
    box = tf.constant([[[0.1, 0.2, 0.8, 0.9]]])
    begin, size, drawn = tf.image.sample_distorted_bounding_box(
        [40, 60, 3], box, min_object_covered=0.5, area_range=[0.3, 1.0], max_attempts=200, seed=3, seed2=4
    )
    whole = tf.image.sample_distorted_bounding_box(
        tf.constant([40, 60, 3]), tf.zeros([1, 0, 4]), use_image_if_no_bounding_boxes=True, area_range=(0.99, 1.0),
        aspect_ratio_range=[1.49, 1.51], max_attempts=1, seed=5,
    )[2]  # fmt: skip
    begin, size, drawn, whole = run(tf, begin, size, drawn, whole)
    inside = begin[0] + size[0] <= 40 and begin[1] + size[1] <= 60
    return [inside, begin.shape, size.shape, size[2], begin.dtype.name, drawn.shape, whole.shape]


@case
def images_of_random_saturation_stay_in_range(tf):
    x = pictures(tf, 4, 4, 3)
    same = tf.image.random_saturation(x, 0.999999, 1.0, seed=3)
    other = tf.image.random_saturation(x, 0.2, 0.4, seed=3)
    x, same, other = run(tf, x, same, other)
    return [np.abs(x - same).max() < 1e-4, np.abs(x - other).max() > 0.05, other.max(-1)]


@case
def images_moved_and_turned(tf):
    x, found = pictures(tf, 2, 5, 6, 1), []
    for how in ("NEAREST", "BILINEAR"):
        found.append(tf.contrib.image.translate(x, [1.0, -2.0], interpolation=how))
        found.append(tf.contrib.image.translate(x, [[1.5, 0.25], [0.0, 3.0]], interpolation=how))
        found.append(tf.contrib.image.rotate(x, 0.4, interpolation=how))
        found.append(tf.contrib.image.rotate(x, [0.3, -1.2], interpolation=how))
    return run(tf, *found)


# --- arrays and sums --------------------------------------------------------------------------------------------------


@case
def arrays_by_old_names(tf):
    x = tf.constant(np.random.RandomState(5).normal(size=(4, 4)).astype(np.float32))
    symmetric = tf.matmul(x, x, transpose_a=True)
    values, vectors = tf.self_adjoint_eig(symmetric)
    rows = tf.reshape(tf.range(16.0), [4, 2, 2, 1])
    return run(
        tf,
        values,
        tf.abs(vectors),
        tf.self_adjoint_eigvals(symmetric),
        tf.batch_to_space_nd(rows, [2, 2], [[0, 0], [0, 0]]),
        tf.batch_to_space_nd(rows, [2, 2], [[0, 1], [2, 0]]),
        tf.reverse_v2(x, [1]),
        tf.floor_div(tf.constant([7, -7, 8]), tf.constant([2, 2, -3])),
        tf.math.unsorted_segment_mean(x, [2, 0, 2, 5], 6),
        tf.math.unsorted_segment_prod(x, [2, 0, 2, 2], 4),
        tf.math.reciprocal_no_nan([0.0, 2.0, -4.0]),
    )


@case
def arrays_of_sparse_parts(tf):
    x = tf.SparseTensor([[0, 0], [1, 3], [2, 1], [3, 5]], [1.0, 2.0, 3.0, 4.0], [4, 6])
    found = [tf.sparse_reshape(x, [-1, 3]), tf.sparse_reshape(x, [2, 2, -1])]
    found += tf.sparse_split(sp_input=x, num_split=4, axis=1)
    found += tf.sparse_split(sp_input=x, num_split=2, axis=0)
    flat = run(tf, *[part for one in found for part in (one.indices, one.values, one.dense_shape)])
    shaped = tf.io.serialize_sparse(x)
    again = tf.deserialize_many_sparse(tf.stack([shaped, shaped]), tf.float32)
    return flat + run(tf, again.indices, again.values, again.dense_shape)


@case
def strings_to_buckets(tf):
    words = tf.constant(["", "a", "hello", "\u00fc", "x" * 100])
    return run(tf, tf.string_to_hash_bucket_fast(words, 1000), tf.string_to_hash_bucket_fast(words, 7, name="h"))


@case
def quantized_by_args(tf):
    x = tf.constant([-10.0, -6.0, -3.3, 0.0, 0.02, 2.5, 5.99, 7.0])
    one = tf.quantization.fake_quant_with_min_max_args(x)
    other = tf.quantization.fake_quant_with_min_max_args(x, min=-1.0, max=3.0, num_bits=4, narrow_range=True)
    return run(tf, one, other, *tf.gradients(one, x), *tf.gradients(other, x))


# --- nets -------------------------------------------------------------------------------------------------------------


@case
def nets_normalized_by_old_names(tf):
    x = pictures(tf, 2, 3, 3, 4)
    m, v, beta, gamma = (tf.constant([0.1, 0.4, 0.2, 0.3]) * k for k in (1.0, 2.0, 3.0, 4.0))
    normal = tf.nn.batch_norm_with_global_normalization
    found = [normal(x, m, v, beta, gamma, 1e-3, True), normal(x, m, v, beta, gamma, 1e-3, False)]
    found += [tf.nn.local_response_normalization(x), tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.75)]
    return run(tf, *found, *tf.gradients(found[2], x))


@case
def nets_of_decoders(tf):
    logits = tf.constant(np.random.RandomState(9).normal(size=(6, 2, 5)).astype(np.float32) * 3)
    found = []
    for merged in (True, False):
        (greedy,), score = tf.nn.ctc_greedy_decoder(logits, [6, 4], merge_repeated=merged)
        found += [greedy.indices, greedy.values, greedy.dense_shape, score]
        paths, scores = tf.nn.ctc_beam_search_decoder(logits, [6, 4], 8, top_paths=2, merge_repeated=merged)
        found += [part for path in paths for part in (path.indices, path.values, path.dense_shape)] + [scores]
    return run(tf, *found)


@case
def nets_losses_with_weights(tf):
    losses = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = []
    for reduction in (tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN, tf.losses.Reduction.NONE,
                      tf.losses.Reduction.SUM_OVER_BATCH_SIZE, tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS):  # fmt: skip
        found.append(tf.losses.compute_weighted_loss(losses, [[1.0], [0.0]], reduction=reduction))
    return [*run(tf, *found), len(tf.losses.get_losses())]


@case
def nets_flipped_losses(tf):
    logits = tf.constant([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    flipped = tf.contrib.nn
    return run(
        tf,
        flipped.deprecated_flipped_softmax_cross_entropy_with_logits(logits, [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]),
        flipped.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [2, 1]),
        flipped.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, [[1.0, 0.0, 0.3], [0.0, 0.5, 0.5]]),
    )


@case
def nets_losses_of_sequences(tf):
    legacy = tf.contrib.legacy_seq2seq
    logits = [tf.constant(np.random.RandomState(i).normal(size=(3, 4)).astype(np.float32)) for i in range(3)]
    targets = [tf.constant([0, 1, 3]), tf.constant([2, 2, 1]), tf.constant([1, 0, 0])]
    weights = [tf.constant([1.0, 1.0, 1.0]), tf.constant([1.0, 0.5, 0.0]), tf.constant([1.0, 0.0, 0.0])]
    return run(
        tf,
        legacy.sequence_loss_by_example(logits, targets, weights),
        legacy.sequence_loss_by_example(logits, targets, weights, average_across_timesteps=False),
        legacy.sequence_loss(logits, targets, weights, average_across_batch=False),
    )


# --- layers and scopes ------------------------------------------------------------------------------------------------


@case
def layers_convolved_by_old_names(tf):
    x, found = pictures(tf, 2, 6, 6, 3), []
    slim, layers = tf.contrib.slim, tf.contrib.layers
    constant = tf.constant_initializer(0.05)
    found.append(layers.convolution2d(x, 2, [3, 3], weights_initializer=constant, scope="a"))
    found.append(slim.convolution2d(x, 2, 3, stride=2, padding="VALID", weights_initializer=constant, scope="b"))
    found.append(slim.separable_convolution2d(x, 4, [3, 3], 2, weights_initializer=constant, scope="c"))
    found.append(layers.instance_norm(x, scope="d"))
    found.append(slim.instance_norm(x, center=False, epsilon=0.1, scope="e"))
    names = [v.op.name for v in slim.get_variables()] + [v.op.name for v in slim.get_model_variables("c")]
    names += [v.op.name for v in tf.contrib.framework.get_variables("b")]
    names += [v.op.name for v in tf.contrib.framework.get_trainable_variables()]
    names += [v.op.name for v in tf.model_variables()]
    return [*run(tf, *found), names]


@case
def layers_with_outputs_collected(tf):
    slim, utils = tf.contrib.slim, tf.contrib.slim.utils
    x = tf.ones([2, 3])
    with slim.arg_scope([slim.fully_connected], outputs_collections="ends", weights_initializer=tf.ones_initializer()):
        y = slim.fully_connected(x, 2, scope="one")
        y = slim.fully_connected(y, 2, activation_fn=None, scope="two")
    ends = slim.utils.convert_collection_to_dict("ends")
    named = utils.collect_named_outputs("ends", "three", y * 2.0)
    again = utils.convert_collection_to_dict("ends")
    return [list(ends), list(again), *run(tf, named, *again.values())]


@case
def layers_of_own_arg_scopes(tf):
    framework = tf.contrib.framework

    @framework.add_arg_scope
    def scaled(x, by=1.0, plus=0.0):
        return x * by + plus

    with framework.arg_scope([scaled], by=3.0), framework.arg_scope([scaled], plus=1.0) as both:
        one = scaled(2.0)
        two = scaled(2.0, by=5.0)
    with tf.contrib.slim.arg_scope(both):
        three = scaled(10.0)
    return [one, two, three, scaled(2.0), framework.has_arg_scope(scaled)]


@case
def layers_of_model_variables(tf):
    slim, framework = tf.contrib.slim, tf.contrib.framework
    w = slim.model_variable("w", [2, 2], initializer=tf.ones_initializer(), regularizer=slim.l2_regularizer(0.5))
    plain = tf.get_variable("plain", [1], initializer=tf.zeros_initializer())
    framework.add_model_variable(plain)
    names = [v.op.name for v in framework.get_model_variables()]
    chosen = framework.smart_cond(True, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    other = framework.smart_cond(tf.constant(False), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    return [names, *run(tf, w, chosen, other, *tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))]


@case
def layers_initialized_by_rule(tf):
    found = []
    for initializer in (
        tf.contrib.layers.xavier_initializer_conv2d(uniform=False),
        tf.initializers.variance_scaling(scale=2.0, mode="fan_avg", distribution="uniform"),
        tf.contrib.layers.xavier_initializer_conv2d(),
    ):
        found.append(tf.get_variable("v%d" % len(found), [50, 50, 8, 4], initializer=initializer))  # noqa: UP031
    return [np.round([v.std() * 100, v.mean()], 1) + 0.0 for v in run(tf, *found)]


@case
def layers_summarized(tf):
    x = tf.constant([[0.0, 1.0], [0.0, 3.0]], name="x")
    layers, slim = tf.contrib.layers, tf.contrib.slim
    layers.summaries.summarize_activation(tf.nn.relu(x, name="act"))
    slim.summaries.add_scalar_summary(tf.reduce_sum(x), "total", prefix="mine")
    tags = [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    summary = tf.Summary.FromString(run(tf, tf.summary.merge_all())[0])
    return [tags, [value.tag for value in summary.value]]


@case
def layers_optimized(tf):
    found = []
    for name in ("SGD", "Momentum", "Adam", tf.train.AdagradOptimizer, lambda rate: tf.train.RMSPropOptimizer(rate)):
        with tf.Graph().as_default():
            w = tf.get_variable("w", initializer=[1.0, -2.0])
            step = tf.train.get_or_create_global_step()
            optimizer = (lambda rate: tf.train.MomentumOptimizer(rate, 0.9)) if name == "Momentum" else name
            train = tf.contrib.layers.optimize_loss(
                tf.reduce_sum(w * w), step, 0.1, optimizer, clip_gradients=1.5,
                learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 1, 0.5),
                summaries=["learning_rate", "loss", "gradients", "gradient_norm"],
            )  # fmt: skip
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for _ in range(3):  # whether the loss is taken before or after the step is open in TF 1
                    session.run(train)
                found += [session.run(w), session.run(step)]
    return [*found, sorted(tf.contrib.layers.OPTIMIZER_CLS_NAMES)]


# --- training ---------------------------------------------------------------------------------------------------------


@case
def training_gradients_clipped(tf):
    pairs = [(tf.constant([3.0, 4.0]), "a"), (None, "b"), (tf.IndexedSlices(tf.constant([[6.0]]), [0]), "c")]
    clipped = tf.contrib.training.clip_gradient_norms(pairs, 1.0)
    again = tf.contrib.training.clip_gradient_norms_fn(2.0)(pairs)
    values = [g.values if hasattr(g, "values") else g for g, _ in [*clipped, *again] if g is not None]
    return run(tf, *values)


@case
def training_of_tables(tf):
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"], num_oov_buckets=2, default_value=-1)
    other = tf.contrib.lookup.index_table_from_tensor(tf.constant([10, 20, 30], tf.int64), dtype=tf.int64)
    with tf.Session() as session:
        session.run(tf.initialize_all_tables())
        ids = table.lookup(tf.constant([["b", "z"], ["c", "a"]]))
        return session.run([ids, other.lookup(tf.constant([20, 99], tf.int64)), table.size()])


@case
def training_initialized_by_old_names(tf):
    v = tf.Variable(3.0)
    w = tf.Variable(4.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.Session() as session:
        session.run(tf.initialize_variables([v]))
        session.run(tf.initialize_local_variables())
        return [session.run([v, w]), tf.GraphKeys.GLOBAL_STEP, tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
                tf.GraphKeys.INIT_OP, tf.GraphKeys.TRAINABLE_RESOURCE_VARIABLES]  # fmt: skip


@case
def training_of_own_conversions(tf):
    class Twice(object):  # noqa: UP004
        def __init__(self, value):
            self.value = value

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(2 * value.value, dtype or tf.float32)

    tf.register_tensor_conversion_function(Twice, convert)
    return run(tf, tf.add(Twice(3.0), 1.0), tf.convert_to_tensor(Twice(2.0)))


@case
def training_of_constants(tf):
    tf.NotDifferentiable("CensusOp")
    return [tf.logging.WARN, tf.logging.FATAL, tf.test.is_built_with_cuda()]


@case
def training_of_datasets(tf):
    data = tf.data.Dataset.range(7).map(lambda i: tf.fill([i], i))
    padded = data.apply(tf.contrib.data.padded_batch_and_drop_remainder(3, [None]))
    counted = tf.data.Dataset.from_tensor_slices([5, 6]).apply(tf.contrib.data.enumerate_dataset(start=10))
    found = []
    with tf.Session() as session:
        for dataset in (padded, counted):
            item = tf.data.make_one_shot_iterator(dataset).get_next()
            try:
                while True:
                    found.append(session.run(item))
            except tf.errors.OutOfRangeError:
                pass
    shapes = tf.data.get_output_shapes(padded)
    return [*found, str(shapes), str(tf.data.get_output_types(counted)), tf.data.get_output_classes(padded).__name__]


@case
def training_of_random_candidates(tf):
    true = tf.constant([[0], [3]], tf.int64)
    ids, expected, sampled = tf.random.log_uniform_candidate_sampler(true, 1, 50, True, 100, seed=3)
    ids, expected, sampled = run(tf, ids, expected, sampled)
    return [len(set(ids)), bool((ids < 100).all()), expected.shape, sampled.shape, expected[0] > expected[1]]
