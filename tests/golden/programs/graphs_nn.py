"""Graph programs about neural-net ops: activations, convolutions, pooling, normalisation, losses."""

from .book import FACTS_ONLY, Book, describe_tensor

book = Book()


@book.program(graph_def=True)
def activations(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    for name in "relu relu6 elu selu softplus softsign tanh sigmoid softmax log_softmax leaky_relu swish".split():
        getattr(tf.nn, name)(x)
    tf.nn.relu(x, name="hidden")
    tf.nn.bias_add(x, tf.zeros([4]))
    tf.nn.l2_loss(x)


@book.program()
def composed_activations(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.nn.crelu(x)
    tf.nn.softmax(x, axis=0)
    tf.nn.relu_layer(x, tf.ones([4, 3]), tf.zeros([3]))
    tf.nn.xw_plus_b(x, tf.ones([4, 3]), tf.zeros([3]))
    tf.nn.l2_normalize(x, 1)


@book.program(graph_def=True)
def convolutions(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    f = tf.ones([3, 3, 3, 4], name="filter")
    c = tf.nn.conv2d(x, f, strides=[1, 1, 1, 1], padding="SAME")
    tf.nn.conv2d(x, f, [1, 2, 2, 1], "VALID", name="strided")
    tf.nn.bias_add(c, tf.zeros([4]))
    tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
    tf.nn.separable_conv2d(x, tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5]), [1, 1, 1, 1], "SAME")
    tf.nn.conv2d_transpose(c, f, [7, 8, 8, 3], [1, 1, 1, 1])


@book.program()
def composed_convolutions(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    tf.nn.conv1d(tf.ones([2, 9, 3]), tf.ones([3, 3, 4]), 1, "SAME")
    tf.nn.atrous_conv2d(x, tf.ones([3, 3, 3, 4]), 2, "VALID")


@book.program()
def convolutions_3d(tf):
    x = tf.placeholder(tf.float32, [2, 6, 6, 6, 1], name="x")
    tf.nn.conv3d(x, tf.ones([3, 3, 3, 1, 2]), [1, 1, 1, 1, 1], "SAME")
    tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID")
    tf.nn.convolution(x, tf.ones([3, 3, 3, 1, 2]), "VALID")


@book.program(graph_def=True)
def pooling(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    tf.nn.avg_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID")
    tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", name="pool")
    tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    tf.nn.lrn(x)


@book.program()
def dropping(tf):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    keep = tf.placeholder(tf.float32, [], name="keep")
    tf.nn.dropout(x, 0.5)
    tf.nn.dropout(x, keep)
    tf.nn.dropout(x, rate=0.25, name="quarter")
    tf.nn.dropout(x, rate=0.5, noise_shape=[1, 4])
    tf.nn.dropout(x, 1.0)


@book.program()
def cross_entropies(tf):
    logits = tf.placeholder(tf.float32, [None, 4], name="logits")
    labels = tf.placeholder(tf.float32, [None, 4], name="labels")
    tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="named")


@book.program()
def other_cross_entropies(tf):
    logits = tf.placeholder(tf.float32, [None, 4], name="logits")
    labels = tf.placeholder(tf.float32, [None, 4], name="labels")
    classes = tf.placeholder(tf.int64, [None], name="classes")
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0)


@book.program()
def cross_entropies_of_sequences(tf):
    logits = tf.placeholder(tf.float32, [3, None, 4], name="logits")
    classes = tf.placeholder(tf.int32, [3, None], name="classes")
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(logits), logits=logits, axis=-1)


@book.program()
def embeddings(tf):
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.get_variable("table", [10, 4], initializer=tf.zeros_initializer())
    halves = [tf.get_variable(f"half_{i}", [5, 4], initializer=tf.zeros_initializer()) for i in range(2)]
    tf.nn.embedding_lookup(table, ids)
    tf.nn.embedding_lookup(halves, ids)
    tf.nn.embedding_lookup(halves, ids, partition_strategy="div", name="divided")
    tf.nn.embedding_lookup(table, ids, max_norm=1.0, name="clipped")
    tf.gather(table, ids)


@book.program()
def normalisation(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    tf.nn.moments(x, [1, 2], keep_dims=True, name="per_image")
    tf.nn.batch_normalization(x, mean, variance, tf.zeros([3]), tf.ones([3]), 1e-3)
    tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3, name="bare")


@book.program()
def fused_normalisation(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    mean, variance = tf.zeros([3]), tf.ones([3])
    tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))
    tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]), mean, variance, is_training=False, name="frozen")
    tf.nn.weighted_moments(x, [0], tf.ones([1, 8, 8, 3]))


@book.program(compare=FACTS_ONLY)
def losses(tf):
    predictions = tf.placeholder(tf.float32, [None, 4], name="predictions")
    labels = tf.placeholder(tf.float32, [None, 4], name="labels")
    tf.losses.mean_squared_error(labels, predictions)
    tf.losses.absolute_difference(labels, predictions, weights=2.0)
    total = tf.losses.get_total_loss()
    return {
        "losses": [[t.name, describe_tensor(t)] for t in tf.losses.get_losses()],
        "total": [total.name, describe_tensor(total)],
    }


@book.program(compare=FACTS_ONLY)
def softmax_losses(tf):
    logits = tf.placeholder(tf.float32, [8, 4], name="logits")
    labels = tf.placeholder(tf.float32, [8, 4], name="labels")
    classes = tf.placeholder(tf.int32, [8], name="classes")
    tf.losses.softmax_cross_entropy(labels, logits)
    tf.losses.sparse_softmax_cross_entropy(classes, logits)
    tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=0.1)
    tf.losses.log_loss(labels, logits)
    tf.losses.huber_loss(labels, logits)
    return {"losses": [[t.name, describe_tensor(t)] for t in tf.losses.get_losses()]}
