"""Programs about what stands inside `gradients/`: one op differentiated, or a small model trained, every node.

A row is a name, the shapes of the placeholders, and a function of `tf` and the placeholders. Programs parse these names
(to clip the gradient of one layer, to prune, to place nodes), so they are recorded whole: names, types, wiring.
TensorFlow 2.21 builds some of them otherwise (shorter sums after broadcasting, V2 and V3 ops); Ebbflow builds what 1.15
built, since it is 1.15's graphs that programs look into, and only the others are asked of 2.21 too.
"""

from .book import EVERYTHING, Book, describe_graph, graph_module, read_recording, write_recording

book = Book(judges=("1.15", "2.21"))

FIXED, BATCH, UNKNOWN = [2, 3], [None, 3], None


def differentiating(shapes, function, dtype="float32"):
    def program(tf):
        xs = [tf.placeholder(dtype, shape, name=f"x{i}") for i, shape in enumerate(shapes)]
        y = function(tf, *xs)
        grads = tf.gradients(y, xs)
        return {"grads": [getattr(g, "name", None) for g in grads]}

    return program


ROWS = {
    # one number
    "abs": ([BATCH], lambda tf, x: tf.abs(x)),
    "acos": ([BATCH], lambda tf, x: tf.acos(x)),
    "asin": ([BATCH], lambda tf, x: tf.asin(x)),
    "atan": ([BATCH], lambda tf, x: tf.atan(x)),
    "ceil": ([BATCH], lambda tf, x: tf.ceil(x) + x),
    "cos": ([BATCH], lambda tf, x: tf.cos(x)),
    "cosh": ([BATCH], lambda tf, x: tf.cosh(x)),
    "exp": ([BATCH], lambda tf, x: tf.exp(x)),
    "expm1": ([BATCH], lambda tf, x: tf.expm1(x)),
    "erf": ([BATCH], lambda tf, x: tf.erf(x) if hasattr(tf, "erf") else tf.math.erf(x)),
    "log": ([BATCH], lambda tf, x: tf.log(x)),
    "log1p": ([BATCH], lambda tf, x: tf.log1p(x)),
    "lgamma": ([BATCH], lambda tf, x: tf.lgamma(x)),
    "digamma": ([BATCH], lambda tf, x: tf.digamma(x)),
    "negative": ([BATCH], lambda tf, x: -x),
    "reciprocal": ([BATCH], lambda tf, x: tf.reciprocal(x)),
    "rsqrt": ([BATCH], lambda tf, x: tf.rsqrt(x)),
    "sigmoid": ([BATCH], lambda tf, x: tf.sigmoid(x)),
    "sign": ([BATCH], lambda tf, x: tf.sign(x)),
    "sin": ([BATCH], lambda tf, x: tf.sin(x)),
    "sinh": ([BATCH], lambda tf, x: tf.sinh(x)),
    "sqrt": ([BATCH], lambda tf, x: tf.sqrt(x)),
    "square": ([BATCH], lambda tf, x: tf.square(x)),
    "tan": ([BATCH], lambda tf, x: tf.tan(x)),
    "tanh": ([BATCH], lambda tf, x: tf.tanh(x)),
    "relu": ([BATCH], lambda tf, x: tf.nn.relu(x)),
    "relu6": ([BATCH], lambda tf, x: tf.nn.relu6(x)),
    "elu": ([BATCH], lambda tf, x: tf.nn.elu(x)),
    "selu": ([BATCH], lambda tf, x: tf.nn.selu(x)),
    "leaky_relu": ([BATCH], lambda tf, x: tf.nn.leaky_relu(x)),
    "softplus": ([BATCH], lambda tf, x: tf.nn.softplus(x)),
    "softsign": ([BATCH], lambda tf, x: tf.nn.softsign(x)),
    "identity": ([BATCH], lambda tf, x: tf.identity(x)),
    "cast": ([BATCH], lambda tf, x: tf.cast(x, tf.float64)),
    "stop_gradient": ([BATCH], lambda tf, x: tf.stop_gradient(x) * x),
    "zeros_like": ([BATCH], lambda tf, x: tf.zeros_like(x) + x),
    "check_numerics": ([BATCH], lambda tf, x: tf.check_numerics(x, "bad")),
    # two numbers
    "add_fixed": ([FIXED, FIXED], lambda tf, x, y: x + y),
    "add_batch": ([BATCH, [3]], lambda tf, x, y: x + y),
    "add_unknown": ([UNKNOWN, UNKNOWN], lambda tf, x, y: x + y),
    "add_stretched": ([[2, 1], [1, 3]], lambda tf, x, y: x + y),
    "add_function": ([BATCH, [3]], lambda tf, x, y: tf.add(x, y)),
    "add_constant": ([BATCH], lambda tf, x: x + 1.0),
    "add_constant_fixed": ([FIXED], lambda tf, x: 2.0 + x),
    "subtract_fixed": ([FIXED, FIXED], lambda tf, x, y: x - y),
    "subtract_batch": ([BATCH, [3]], lambda tf, x, y: x - y),
    "multiply_fixed": ([FIXED, FIXED], lambda tf, x, y: x * y),
    "multiply_batch": ([BATCH, [3]], lambda tf, x, y: x * y),
    "multiply_scalar": ([BATCH, []], lambda tf, x, y: x * y),
    "multiply_fixed_scalar": ([FIXED, []], lambda tf, x, y: x * y),
    "multiply_constant": ([BATCH], lambda tf, x: 2.0 * x),
    "multiply_itself": ([BATCH], lambda tf, x: x * x),
    "divide_fixed": ([FIXED, FIXED], lambda tf, x, y: x / y),
    "divide_batch": ([BATCH, [3]], lambda tf, x, y: x / y),
    "divide_constant": ([BATCH], lambda tf, x: x / 2.0),
    "div_no_nan": ([BATCH, [3]], lambda tf, x, y: tf.div_no_nan(x, y)),
    "floormod": ([BATCH, [3]], lambda tf, x, y: tf.floormod(x, y)),
    "power_fixed": ([FIXED, FIXED], lambda tf, x, y: tf.pow(x, y)),
    "power_batch": ([BATCH, [3]], lambda tf, x, y: tf.pow(x, y)),
    "power_constant": ([BATCH], lambda tf, x: x**2.0),
    "maximum": ([BATCH, [3]], lambda tf, x, y: tf.maximum(x, y)),
    "maximum_fixed": ([FIXED, FIXED], lambda tf, x, y: tf.maximum(x, y)),
    "minimum": ([BATCH, [3]], lambda tf, x, y: tf.minimum(x, y)),
    "minimum_constant": ([BATCH], lambda tf, x: tf.minimum(x, 1.0)),
    "squared_difference": ([BATCH, [3]], lambda tf, x, y: tf.squared_difference(x, y)),
    "squared_difference_fixed": ([FIXED, FIXED], lambda tf, x, y: tf.squared_difference(x, y)),
    "atan2": ([BATCH, BATCH], lambda tf, x, y: tf.atan2(x, y)),
    "add_n": ([BATCH, BATCH, BATCH], lambda tf, *x: tf.add_n(x)),
    "where": ([BATCH, BATCH], lambda tf, x, y: tf.where(x > y, x, y)),
    "clip_by_value": ([BATCH], lambda tf, x: tf.clip_by_value(x, -1.0, 1.0)),
    "greater": ([BATCH, BATCH], lambda tf, x, y: tf.cast(tf.greater(x, y), tf.float32) * x),
    # matrices
    "matmul": ([BATCH, [3, 4]], lambda tf, x, y: tf.matmul(x, y)),
    "matmul_transpose_a": ([[3, None], [3, 4]], lambda tf, x, y: tf.matmul(x, y, transpose_a=True)),
    "matmul_transpose_b": ([BATCH, [4, 3]], lambda tf, x, y: tf.matmul(x, y, transpose_b=True)),
    "matmul_transpose_both": (
        [[3, None], [4, 3]],
        lambda tf, x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
    ),
    "batch_matmul": ([[None, 2, 3], [None, 3, 4]], lambda tf, x, y: tf.matmul(x, y)),
    "batch_matmul_fixed": ([[5, 2, 3], [5, 3, 4]], lambda tf, x, y: tf.matmul(x, y, transpose_b=False)),
    "batch_matmul_adjoint": ([[None, 2, 3], [None, 4, 3]], lambda tf, x, y: tf.matmul(x, y, adjoint_b=True)),
    "tensordot": ([[None, 2, 3], [3, 4]], lambda tf, x, y: tf.tensordot(x, y, 1)),
    "einsum": ([BATCH, [3, 4]], lambda tf, x, y: tf.einsum("ij,jk->ik", x, y)),
    "matrix_inverse": ([[3, 3]], lambda tf, x: tf.matrix_inverse(x)),
    "cholesky": ([[3, 3]], lambda tf, x: tf.cholesky(x)),
    "diag_part": ([[3, 3]], lambda tf, x: tf.diag_part(x)),
    "matrix_diag": ([BATCH], lambda tf, x: tf.matrix_diag(x)),
    "trace": ([[3, 3]], lambda tf, x: tf.trace(x)),
    # sums over axes
    "reduce_sum": ([BATCH], lambda tf, x: tf.reduce_sum(x)),
    "reduce_sum_axis": ([BATCH], lambda tf, x: tf.reduce_sum(x, 1)),
    "reduce_sum_keep": ([BATCH], lambda tf, x: tf.reduce_sum(x, [0], keepdims=True)),
    "reduce_sum_fixed": ([FIXED], lambda tf, x: tf.reduce_sum(x)),
    "reduce_sum_fixed_axis": ([FIXED], lambda tf, x: tf.reduce_sum(x, 0)),
    "reduce_sum_unknown": ([UNKNOWN], lambda tf, x: tf.reduce_sum(x)),
    "reduce_mean": ([BATCH], lambda tf, x: tf.reduce_mean(x)),
    "reduce_mean_axis": ([BATCH], lambda tf, x: tf.reduce_mean(x, -1)),
    "reduce_mean_fixed": ([FIXED], lambda tf, x: tf.reduce_mean(x)),
    "reduce_mean_fixed_axis": ([FIXED], lambda tf, x: tf.reduce_mean(x, 1)),
    "reduce_max": ([BATCH], lambda tf, x: tf.reduce_max(x, 1)),
    "reduce_min": ([FIXED], lambda tf, x: tf.reduce_min(x)),
    "reduce_prod": ([BATCH], lambda tf, x: tf.reduce_prod(x, 1)),
    "reduce_logsumexp": ([BATCH], lambda tf, x: tf.reduce_logsumexp(x, 1)),
    "norm": ([BATCH], lambda tf, x: tf.norm(x, axis=1)),
    "cumsum": ([BATCH], lambda tf, x: tf.cumsum(x, 1)),
    "cumprod": ([BATCH], lambda tf, x: tf.cumprod(x, 1)),
    "l2_loss": ([BATCH], lambda tf, x: tf.nn.l2_loss(x)),
    "l2_normalize": ([BATCH], lambda tf, x: tf.nn.l2_normalize(x, 1)),
    "moments": ([BATCH], lambda tf, x: tf.add(*tf.nn.moments(x, [0]))),
    "segment_sum": ([BATCH], lambda tf, x: tf.segment_sum(x, [0, 0, 1])),
    "unsorted_segment_sum": ([BATCH], lambda tf, x: tf.unsorted_segment_sum(x, [0, 0, 1], 2)),
    # shapes and places
    "reshape": ([BATCH], lambda tf, x: tf.reshape(x, [-1])),
    "reshape_fixed": ([FIXED], lambda tf, x: tf.reshape(x, [3, 2])),
    "transpose": ([BATCH], lambda tf, x: tf.transpose(x)),
    "transpose_by": ([[None, 2, 3]], lambda tf, x: tf.transpose(x, [0, 2, 1])),
    "expand_dims": ([BATCH], lambda tf, x: tf.expand_dims(x, 1)),
    "squeeze": ([[None, 1, 3]], lambda tf, x: tf.squeeze(x, [1])),
    "concat": ([BATCH, BATCH], lambda tf, x, y: tf.concat([x, y], 1)),
    "concat_fixed": ([FIXED, FIXED], lambda tf, x, y: tf.concat([x, y], 0)),
    "concat_last": ([BATCH, BATCH], lambda tf, x, y: tf.concat([x, y], -1)),
    "stack": ([BATCH, BATCH], lambda tf, x, y: tf.stack([x, y], 1)),
    "unstack": ([FIXED], lambda tf, x: tf.unstack(x)[0]),
    "unstack_all": ([FIXED], lambda tf, x: tf.add(*tf.unstack(x))),
    "split": ([[None, 4]], lambda tf, x: tf.split(x, 2, 1)[0]),
    "split_all": ([[None, 4]], lambda tf, x: tf.multiply(*tf.split(x, 2, 1))),
    "split_sizes": ([[None, 4]], lambda tf, x: tf.split(x, [1, 3], 1)[1]),
    "slice": ([BATCH], lambda tf, x: tf.slice(x, [0, 1], [-1, 2])),
    "slice_fixed": ([FIXED], lambda tf, x: tf.slice(x, [0, 1], [2, 2])),
    "getitem": ([BATCH], lambda tf, x: x[:, 1]),
    "getitem_fixed": ([FIXED], lambda tf, x: x[0, ::2]),
    "tile": ([BATCH], lambda tf, x: tf.tile(x, [1, 2])),
    "pad": ([BATCH], lambda tf, x: tf.pad(x, [[0, 0], [1, 1]])),
    "mirror_pad": ([BATCH], lambda tf, x: tf.pad(x, [[0, 0], [1, 1]], "REFLECT")),
    "reverse": ([BATCH], lambda tf, x: tf.reverse(x, [1])),
    "gather": ([[5, 3]], lambda tf, x: tf.gather(x, [0, 2])),
    "gather_batch": ([BATCH], lambda tf, x: tf.gather(x, [0, 2])),
    "gather_axis": ([BATCH], lambda tf, x: tf.gather(x, [0, 2], axis=1)),
    "gather_nd": ([BATCH], lambda tf, x: tf.gather_nd(x, [[0, 1], [0, 2]])),
    "scatter_nd": ([[2]], lambda tf, x: tf.scatter_nd([[0], [1]], x, [4])),
    "boolean_mask": ([BATCH], lambda tf, x: tf.boolean_mask(x, [True, False, True], axis=1)),
    "embedding_lookup": ([[5, 3]], lambda tf, x: tf.nn.embedding_lookup(x, [[0, 2]])),
    "dynamic_partition": ([[3]], lambda tf, x: tf.dynamic_partition(x, [0, 1, 0], 2)[0]),
    "dynamic_stitch": ([[2], [2]], lambda tf, x, y: tf.dynamic_stitch([[0, 2], [1, 3]], [x, y])),
    "top_k": ([BATCH], lambda tf, x: tf.nn.top_k(x, 2)[0]),
    "broadcast_to": ([[3]], lambda tf, x: tf.broadcast_to(x, [2, 3])),
    "matrix_band_part": ([BATCH], lambda tf, x: tf.matrix_band_part(x, 0, -1)),
    "reverse_sequence": ([BATCH], lambda tf, x: tf.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0)),
    # networks
    "bias_add": ([BATCH, [3]], lambda tf, x, y: tf.nn.bias_add(x, y)),
    "softmax": ([BATCH], lambda tf, x: tf.nn.softmax(x)),
    "softmax_axis": ([[None, 2, 3]], lambda tf, x: tf.nn.softmax(x, 1)),
    "log_softmax": ([BATCH], lambda tf, x: tf.nn.log_softmax(x)),
    "softmax_cross_entropy": (
        [BATCH, BATCH],
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(logits=x, labels=tf.stop_gradient(y)),
    ),
    "softmax_cross_entropy_v2": (
        [BATCH, BATCH],
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(logits=x, labels=y),
    ),
    "sparse_softmax_cross_entropy": (
        [BATCH],
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=[0, 1]),
    ),
    "sigmoid_cross_entropy": (
        [BATCH, BATCH],
        lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=y),
    ),
    "conv2d": (
        [[None, 8, 8, 3], [3, 3, 3, 4]],
        lambda tf, x, y: tf.nn.conv2d(x, y, [1, 1, 1, 1], "SAME"),
    ),
    "conv2d_fixed": (
        [[2, 8, 8, 3], [3, 3, 3, 4]],
        lambda tf, x, y: tf.nn.conv2d(x, y, [1, 2, 2, 1], "VALID"),
    ),
    "conv2d_transpose": (
        [[2, 4, 4, 3], [3, 3, 5, 3]],
        lambda tf, x, y: tf.nn.conv2d_transpose(x, y, [2, 8, 8, 5], [1, 2, 2, 1]),
    ),
    "conv1d": ([[None, 8, 3], [3, 3, 4]], lambda tf, x, y: tf.nn.conv1d(x, y, 1, "SAME")),
    "conv3d": ([[None, 4, 4, 4, 1], [2, 2, 2, 1, 2]], lambda tf, x, y: tf.nn.conv3d(x, y, [1] * 5, "SAME")),
    "depthwise_conv2d": (
        [[None, 8, 8, 3], [3, 3, 3, 2]],
        lambda tf, x, y: tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], "SAME"),
    ),
    "max_pool": ([[None, 8, 8, 3]], lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")),
    "avg_pool": ([[None, 8, 8, 3]], lambda tf, x: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")),
    "lrn": ([[None, 8, 8, 3]], lambda tf, x: tf.nn.lrn(x)),
    "dropout": ([BATCH], lambda tf, x: tf.nn.dropout(x, 0.5, seed=1)),
    "fused_batch_norm": (
        [[None, 8, 8, 3], [3], [3]],
        lambda tf, x, y, z: tf.nn.fused_batch_norm(x, y, z)[0],
    ),
    "batch_normalization": (
        [BATCH, [3], [3], [3], [3]],
        lambda tf, x, m, v, o, s: tf.nn.batch_normalization(x, m, v, o, s, 1e-3),
    ),
    "space_to_depth": ([[None, 4, 4, 3]], lambda tf, x: tf.space_to_depth(x, 2)),
    "extract_image_patches": (
        [[2, 4, 4, 3]],
        lambda tf, x: tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
    ),
}


def training(build, judges=("1.15",)):
    book.add("training_" + build.__name__, build, judges)
    return build


def linear(tf, **options):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w = tf.get_variable("w", [3, 1], **options)
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), **options)
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")


@training
def a_line(tf):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(linear(tf))
    return {"train": train.name}


@training
def a_line_of_resources(tf):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(linear(tf, use_resource=True))
    return {"train": train.name}


@training
def a_network_with_adam(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    h = x
    for index, width in enumerate([5, 3]):
        with tf.variable_scope(f"layer{index}"):
            w = tf.get_variable("w", [h.shape[1], width])
            b = tf.get_variable("b", [width], initializer=tf.zeros_initializer())
            h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w), b))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, 3), logits=h))
    loss = loss + 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    return {"train": train.name}


@training
def a_convolutional_network(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    filters = tf.get_variable("filters", [3, 3, 1, 4])
    h = tf.nn.relu(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 4 * 4 * 4])
    w = tf.get_variable("w", [64, 2])
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.matmul(h, w)))
    return {"train": train.name}


@training
def shared_weights(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 3])
    h = x
    for _ in range(3):
        h = tf.tanh(tf.matmul(h, w))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h * h))
    return {"train": train.name}


@training
def gates(tf):
    loss = linear(tf)
    found = tf.gradients(loss, tf.trainable_variables(), gate_gradients=True, name="gated")
    whole = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    free = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, gate_gradients=tf.train.Optimizer.GATE_NONE)
    return {"names": [g.name for g in found] + [g.name for g, _ in whole + free]}


@training
def stops(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    b = tf.multiply(a, 2.0, name="b")
    c = tf.add(a, b, name="c")
    found = tf.gradients(c, [a, b], stop_gradients=[a, b]) + tf.gradients([b, c], [a])
    return {"names": [g.name for g in found]}


@training
def sums_as_a_tree(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    y = a * a + a
    (found,) = tf.gradients(y, a, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
    return {"name": found.name}


@training
def colocated(tf):
    with tf.device("/cpu:0"):
        loss = linear(tf)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
    return {"train": train.name}


@training
def rows_of_a_table(tf):
    table = tf.get_variable("table", [5, 2])
    some, others = tf.gather(table, [0, 2]), tf.nn.embedding_lookup(table, [1])
    (found,) = tf.gradients(tf.reduce_sum(some) + tf.reduce_sum(others), [table])
    (mixed,) = tf.gradients(tf.reduce_sum(some) + tf.reduce_sum(table * 2.0), [table], name="mixed")
    return {"names": [found.values.name, found.indices.name, found.dense_shape.name, mixed.name]}


@training
def second_derivatives(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    (first,) = tf.gradients(tf.reduce_sum(tf.tanh(x) * x), x)
    (second,) = tf.gradients(first, x)
    return {"names": [first.name, second.name]}


@training
def integers_on_the_way(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    best = tf.cast(tf.argmax(x, 1), tf.float32)
    (found,) = tf.gradients(tf.reduce_sum(best * tf.reduce_max(x, 1)), x)
    return {"name": found.name}


@training
def a_part_of_many_outputs(tf):
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    first, _, third = tf.split(x, 3, axis=1)
    (found,) = tf.gradients(first * third, x)
    return {"name": found.name}


OTHERWISE_IN_2 = """
    sign add_batch add_stretched add_function add_constant add_constant_fixed subtract_batch multiply_batch
    multiply_scalar multiply_fixed_scalar multiply_constant divide_fixed divide_batch divide_constant div_no_nan
    floormod power_fixed power_batch power_constant maximum maximum_fixed minimum minimum_constant squared_difference
    atan2 clip_by_value batch_matmul_fixed tensordot einsum matrix_inverse cholesky matrix_diag trace reduce_sum_axis
    reduce_sum_keep reduce_sum_fixed_axis reduce_sum_unknown reduce_mean reduce_mean_axis reduce_mean_fixed_axis
    reduce_max reduce_min reduce_prod reduce_logsumexp norm cumprod l2_normalize moments unsorted_segment_sum reshape
    getitem getitem_fixed gather gather_batch gather_axis boolean_mask embedding_lookup dynamic_partition top_k
    broadcast_to softmax_cross_entropy softmax_cross_entropy_v2 conv3d dropout batch_normalization
    extract_image_patches
""".split()  # noqa: SIM905  (names read better so)
for _name, (_shapes, _function) in ROWS.items():
    _judges = ("1.15",) if _name in OTHERWISE_IN_2 else None
    book.add("gradient_of_" + _name, differentiating(_shapes, _function), _judges)


def play(tf, judge, program):
    """Build the program in a graph of its own; return its nodes and facts."""
    v1 = graph_module(tf, judge)
    with v1.Graph().as_default() as graph:
        facts = program(v1)
    return describe_graph(graph, EVERYTHING, facts)


def write(judge, recording):
    write_recording("gradients", judge, recording)


def read(judge):
    return read_recording("gradients", judge)
