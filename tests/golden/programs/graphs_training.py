"""Graph programs about training: gradients, optimizers, learning rates, and the layers of `tf.layers`.

What stands inside `gradients/` has a book of its own (`gradients.py`), so these programs are compared outside of it;
what the optimizers make (slots, updates, the train op) is compared whole.
"""

from .book import OUTSIDE_CONDITIONALS, OUTSIDE_GRADIENTS, OUTSIDE_UPDATES, Book, describe_tensor

book = Book()


def linear_loss(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w = tf.Variable(tf.zeros([3, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y), name="loss")


def sparse_loss(tf):
    table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
    return tf.reduce_sum(tf.square(tf.gather(table, [0, 2, 2])), name="loss")


def gradient_scopes(tf):
    """The scope of every node that was differentiated: `gradients/mul_grad`."""
    names = [op.name.split("/") for op in tf.get_default_graph().get_operations()]
    ends = [(name, index) for name in names for index, part in enumerate(name) if part.endswith("_grad")]
    return sorted({"/".join(name[: index + 1]) for name, index in ends})


@book.program(compare=OUTSIDE_GRADIENTS)
def gradients_of_a_sum(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    b = tf.placeholder(tf.float32, [2], name="b")
    da, db = tf.gradients(tf.reduce_sum(a * b), [a, b])
    with tf.name_scope("scope"):
        (none,) = tf.gradients(a * 2.0, b)
        (named,) = tf.gradients(a * 2.0, a, name="slopes")
    return {"scopes": gradient_scopes(tf), "none": none is None, "types": [describe_tensor(t) for t in (da, db, named)]}


@book.program(compare=OUTSIDE_GRADIENTS)
def gradients_with_given_ys(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    y = tf.exp(a, name="y")
    (da,) = tf.gradients(y, a, grad_ys=tf.constant([1.0, 2.0], name="upstream"))
    (db,) = tf.gradients([y, y], a)
    return {"scopes": gradient_scopes(tf), "types": [describe_tensor(t) for t in (da, db)]}


@book.program(compare=OUTSIDE_GRADIENTS)
def gradients_of_a_layer(tf):
    loss = linear_loss(tf)
    grads = tf.gradients(loss, tf.trainable_variables())
    return {"scopes": gradient_scopes(tf), "types": [describe_tensor(t) for t in grads]}


OPTIMIZERS = {
    "gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True, name="Nesterov"),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.1),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1),
    "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1),
    "proximal_gradient_descent": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.1),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.1),
}


def minimizing(make_optimizer):
    def program(tf):
        loss = linear_loss(tf)
        optimizer = make_optimizer(tf)
        train = optimizer.minimize(loss)
        return optimizer_facts(tf, optimizer, train)

    return program


def minimizing_sparsely(make_optimizer):
    def program(tf):
        loss = sparse_loss(tf)
        optimizer = make_optimizer(tf)
        train = optimizer.minimize(loss)
        return optimizer_facts(tf, optimizer, train)

    return program


def optimizer_facts(tf, optimizer, train):
    slots = [
        [v.name, name, optimizer.get_slot(v, name).name]
        for v in tf.trainable_variables()
        for name in sorted(optimizer.get_slot_names())
    ]
    return {
        "train": [train.name, train.type],
        "slots": slots,
        "variables": [v.name for v in optimizer.variables()],
        "global": [v.name for v in tf.global_variables()],
        "optimizer": optimizer.get_name(),
    }


for _name, _make in OPTIMIZERS.items():
    book.add("minimize_by_" + _name, minimizing(_make), compare=OUTSIDE_GRADIENTS)
for _name in ("gradient_descent", "momentum", "adagrad", "adam", "rmsprop"):
    book.add("minimize_sparsely_by_" + _name, minimizing_sparsely(OPTIMIZERS[_name]), compare=OUTSIDE_UPDATES)


@book.program(compare=OUTSIDE_GRADIENTS)
def minimize_by_adagrad_da(tf):
    loss = linear_loss(tf)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdagradDAOptimizer(0.1, step)
    return optimizer_facts(tf, optimizer, optimizer.minimize(loss, global_step=step))


@book.program(compare=OUTSIDE_GRADIENTS)
def minimize_with_a_global_step(tf):
    with tf.name_scope("model"):
        loss = linear_loss(tf)
    step = tf.train.get_or_create_global_step()
    with tf.name_scope("train"):
        optimizer = tf.train.AdamOptimizer(1e-3)
        train = optimizer.minimize(loss, global_step=step)
    return optimizer_facts(tf, optimizer, train)


@book.program(compare=OUTSIDE_GRADIENTS)
def minimize_in_a_variable_scope(tf):
    with tf.variable_scope("model"):
        loss = linear_loss(tf)
        w = tf.get_variable("extra", [], initializer=tf.ones_initializer())
        optimizer = tf.train.AdamOptimizer(name="Opt")
        train = optimizer.minimize(loss * w, name="step")
    return optimizer_facts(tf, optimizer, train)


@book.program(compare=OUTSIDE_GRADIENTS)
def minimize_resources(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("net", use_resource=True):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(tf.matmul(x, w)))
    return optimizer_facts(tf, optimizer, train)


@book.program(compare=OUTSIDE_GRADIENTS)
def clipped_gradients(tf):
    loss = linear_loss(tf)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss)
    grads, variables = zip(*pairs)
    clipped, _ = tf.clip_by_global_norm(grads, 5.0, name="clip")
    train = optimizer.apply_gradients(zip(clipped, variables), name="apply")
    return optimizer_facts(tf, optimizer, train)


@book.program(compare=OUTSIDE_GRADIENTS)
def two_optimizers(tf):
    loss = linear_loss(tf)
    w, b = tf.trainable_variables()
    first = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=[w])
    second = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=[b])
    both = tf.group(first, second)
    return {"names": [first.name, second.name, both.name], "global": [v.name for v in tf.global_variables()]}


@book.program()
def learning_rates(tf):
    step = tf.train.get_or_create_global_step()
    made = [
        tf.train.exponential_decay(0.1, step, 100, 0.9),
        tf.train.exponential_decay(0.1, step, 100, 0.9, staircase=True, name="stairs"),
        tf.train.polynomial_decay(0.1, step, 100),
        tf.train.natural_exp_decay(0.1, step, 100, 0.9),
        tf.train.inverse_time_decay(0.1, step, 100, 0.9),
        tf.train.cosine_decay(0.1, step, 100),
        tf.train.linear_cosine_decay(0.1, step, 100),
    ]
    return {"names": [t.name for t in made]}


V1_ONLY = ("1.15",)  # TensorFlow 2.21 has no tf.layers: it left with Keras 2


@book.program(judges=V1_ONLY, graph_def=True)
def layers_dense(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    h = tf.layers.dense(x, 4, activation=tf.nn.relu)
    h = tf.layers.dense(h, 4, name="named", use_bias=False)
    tf.layers.dense(h, 2, kernel_initializer=tf.zeros_initializer(), name="last")
    tf.layers.dense(h, 2, reuse=True, name="last")
    with tf.variable_scope("scope"):
        tf.layers.dense(h, 2, activation=tf.nn.sigmoid)
        tf.layers.dense(h, 2)
    return {"trainable": [v.name for v in tf.trainable_variables()]}


@book.program(judges=V1_ONLY)
def layers_dense_of_sequences(tf):
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    layer = tf.layers.Dense(4, kernel_initializer=tf.zeros_initializer())
    layer(x)
    layer(x)
    return {"name": layer.name, "variables": [v.name for v in layer.variables]}


@book.program(judges=V1_ONLY)
def layers_convolutional(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu)
    h = tf.layers.conv2d(h, 4, [3, 3], strides=2, padding="same", name="second", use_bias=False)
    p = tf.layers.max_pooling2d(h, 2, 2)
    p = tf.layers.average_pooling2d(p, 1, 1, name="average")
    f = tf.layers.flatten(p)
    tf.layers.dense(f, 2)
    return {"trainable": [v.name for v in tf.trainable_variables()]}


@book.program(judges=V1_ONLY)
def layers_convolutional_others(tf):
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    s = tf.placeholder(tf.float32, [2, 8, 3], name="s")
    tf.layers.conv2d_transpose(x, 4, 3, kernel_initializer=tf.zeros_initializer())
    tf.layers.separable_conv2d(x, 4, 3)
    tf.layers.conv1d(s, 4, 3)
    tf.layers.max_pooling1d(s, 2, 2)
    return {"trainable": [v.name for v in tf.trainable_variables()]}


@book.program(judges=V1_ONLY)
def layers_dropout(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    tf.layers.dropout(x)
    dropped = tf.layers.dropout(x, 0.3, training=True, name="noisy")
    layer = tf.layers.Dropout(0.5, noise_shape=[1, 3])
    layer(x, training=True)
    return {"names": [dropped.name, layer.name]}


@book.program(judges=V1_ONLY)
def layers_batch_normalization(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    tf.layers.batch_normalization(x)
    tf.layers.batch_normalization(x, training=True)
    tf.layers.batch_normalization(x, training=True, center=False, scale=False, name="bare")
    return batch_norm_facts(tf)


@book.program(judges=V1_ONLY)
def layers_fused_batch_normalization(tf):
    x = tf.placeholder(tf.float32, [None, 4, 4, 3], name="x")
    tf.layers.batch_normalization(x)
    tf.layers.batch_normalization(x, training=True)
    return batch_norm_facts(tf)


@book.program(judges=V1_ONLY, compare=OUTSIDE_CONDITIONALS)
def layers_switched_by_a_placeholder(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    training = tf.placeholder(tf.bool, [], name="training")
    h = tf.layers.batch_normalization(x, training=training)
    tf.layers.dropout(h, 0.3, training=training)
    return batch_norm_facts(tf)


def batch_norm_facts(tf):
    return {
        "trainable": [v.name for v in tf.trainable_variables()],
        "global": [v.name for v in tf.global_variables()],
        "updates": len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
    }
