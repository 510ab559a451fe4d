"""`tf.layers` with known weights: what comes out, what the variables are called, how batch statistics move.

Only TensorFlow 1.15 can judge: in 2.21 `tf.layers` left with Keras 2. A row of LAYERS is a layer, the inputs it sees
one after another and how it is called; TensorFlow plays it in a graph, Ebbflow in a graph and eagerly, and both must
give the same numbers. Programs further down use the functions (`tf.layers.dense`) and graphs only.
"""

import numpy as np

from .book import Book, plain, read_recording, write_recording

book = Book(judges=("1.15",))


def ramp(tf):
    """An initializer anybody can recompute: from -1 to 1 in even steps."""

    def values(shape, dtype=None, partition_info=None):
        size = int(np.prod([int(d) for d in shape]))
        return tf.constant(np.linspace(-1.0, 1.0, size).reshape([int(d) for d in shape]), dtype or tf.float32)

    return values


def waves(*shape):
    """Inputs that are different everywhere."""
    return np.sin(np.arange(int(np.prod(shape)), dtype=np.float32) * 0.7).reshape(shape).astype(np.float32)


ROWS = [waves(4, 3), waves(4, 3) * 2.0 + 1.0, waves(4, 3)[::-1] * 3.0 - 0.5]
IMAGES = [waves(2, 5, 6, 3), waves(2, 5, 6, 3)[::-1] * 2.0 + 0.5]
LINES = [waves(2, 7, 3)]

# name: (layer, inputs, arguments of the call)
LAYERS = {
    "dense": (lambda tf, w: tf.layers.Dense(2, kernel_initializer=w), ROWS, {}),
    "dense relu": (lambda tf, w: tf.layers.Dense(5, tf.nn.relu, kernel_initializer=w, bias_initializer=w), ROWS, {}),
    "dense without bias": (lambda tf, w: tf.layers.Dense(2, use_bias=False, kernel_initializer=w), ROWS, {}),
    "dense of sequences": (lambda tf, w: tf.layers.Dense(4, kernel_initializer=w, name="mine"), LINES, {}),
    "conv2d": (lambda tf, w: tf.layers.Conv2D(4, 3, kernel_initializer=w), IMAGES, {}),
    "conv2d same": (lambda tf, w: tf.layers.Conv2D(4, [3, 2], padding="same", kernel_initializer=w), IMAGES, {}),
    "conv2d strided": (
        lambda tf, w: tf.layers.Conv2D(2, 3, strides=(2, 3), padding="same", kernel_initializer=w, bias_initializer=w),
        IMAGES,
        {},
    ),
    "conv2d dilated": (lambda tf, w: tf.layers.Conv2D(2, 2, dilation_rate=2, kernel_initializer=w), IMAGES, {}),
    "conv2d activated": (
        lambda tf, w: tf.layers.Conv2D(2, 1, activation=tf.nn.tanh, kernel_initializer=w, use_bias=False),
        IMAGES,
        {},
    ),
    "conv1d": (lambda tf, w: tf.layers.Conv1D(4, 3, padding="same", kernel_initializer=w), LINES, {}),
    "conv2d transposed": (
        lambda tf, w: tf.layers.Conv2DTranspose(2, 3, strides=2, padding="same", kernel_initializer=w),
        IMAGES,
        {},
    ),
    "conv2d separable": (
        lambda tf, w: tf.layers.SeparableConv2D(4, 3, depthwise_initializer=w, pointwise_initializer=w),
        IMAGES,
        {},
    ),
    "max pooling": (lambda tf, w: tf.layers.MaxPooling2D(2, 2), IMAGES, {}),
    "max pooling same": (lambda tf, w: tf.layers.MaxPooling2D([3, 2], [2, 1], padding="same"), IMAGES, {}),
    "average pooling": (lambda tf, w: tf.layers.AveragePooling2D(2, 2), IMAGES, {}),
    "average pooling same": (lambda tf, w: tf.layers.AveragePooling2D(3, 2, padding="same"), IMAGES, {}),
    "max pooling of lines": (lambda tf, w: tf.layers.MaxPooling1D(2, 2), LINES, {}),
    "flatten": (lambda tf, w: tf.layers.Flatten(), IMAGES, {}),
    "dropout at rest": (lambda tf, w: tf.layers.Dropout(0.5), ROWS, {}),
    "dropout of nothing": (lambda tf, w: tf.layers.Dropout(0.0), ROWS, {"training": True}),
    "batch norm at rest": (lambda tf, w: tf.layers.BatchNormalization(), ROWS, {}),
    "batch norm": (lambda tf, w: tf.layers.BatchNormalization(momentum=0.9), ROWS * 2, {"training": True}),
    "batch norm shifted": (
        lambda tf, w: tf.layers.BatchNormalization(
            momentum=0.5, epsilon=0.01, beta_initializer=w, gamma_initializer=w, moving_mean_initializer=w
        ),
        ROWS,
        {"training": True},
    ),
    "batch norm bare": (
        lambda tf, w: tf.layers.BatchNormalization(center=False, scale=False, momentum=0.9),
        ROWS,
        {"training": True},
    ),
    "batch norm of images": (lambda tf, w: tf.layers.BatchNormalization(momentum=0.9), IMAGES * 2, {"training": True}),
    "batch norm of images at rest": (
        lambda tf, w: tf.layers.BatchNormalization(moving_mean_initializer=w, gamma_initializer=w),
        IMAGES,
        {"training": False},
    ),
    "batch norm of images by columns": (
        lambda tf, w: tf.layers.BatchNormalization(axis=2, momentum=0.9),
        IMAGES,
        {"training": True},
    ),
    "batch norm unfused": (
        lambda tf, w: tf.layers.BatchNormalization(momentum=0.9, fused=False),
        IMAGES,
        {"training": True},
    ),
}


def in_a_graph(row):
    def program(tf):
        make, inputs, options = row
        with tf.Graph().as_default():
            layer = make(tf, ramp(tf))
            x = tf.placeholder(tf.float32, (None, *inputs[0].shape[1:]))
            y = layer(x, **options)
            outputs = []
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
                for value in inputs:
                    outputs.append(session.run([y, updates], {x: value})[0])
                variables = session.run(layer.variables)
        facts = layer_facts(layer)
        facts["updates"] = len(updates)
        return told(outputs, variables, facts)

    return program


def eagerly(tf, row):
    """The same row where ops run at once: every call of the layer is a step."""
    make, inputs, options = row
    layer = make(tf, ramp(tf))
    outputs = [layer(tf.constant(value), **options).numpy() for value in inputs]
    return told(outputs, [v.numpy() for v in layer.variables], layer_facts(layer))


def layer_facts(layer):
    return {
        "trainable": [v.shape.as_list() for v in layer.trainable_variables],
        "built": layer.built,
        "losses": len(layer.losses),
    }


def told(outputs, variables, facts):
    """Numbers to nine digits: enough for float32, half the size of what Python prints."""
    return {
        "outputs": [short(output) for output in outputs],
        "shapes": [list(output.shape) for output in outputs],
        "variables": [short(variable) for variable in variables],
        "facts": facts,
    }


def short(array):
    return [float(f"{item:.8g}") for item in np.asarray(array).ravel().tolist()]


for _name, _row in LAYERS.items():
    book.add(_name, in_a_graph(_row), row=_row)


def evaluated(tf, fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def function_program(function):
    def program(tf):
        with tf.Graph().as_default():
            return {"facts": plain(function(tf))}

    book.add(function.__name__, program)
    return function


@function_program
def functions_give_tensors(tf):
    w = ramp(tf)
    x = tf.constant(IMAGES[0])
    h = tf.layers.conv2d(x, 2, 3, activation=tf.nn.relu, kernel_initializer=w)
    h = tf.layers.max_pooling2d(h, 2, 1)
    h = tf.layers.flatten(h)
    y = tf.layers.dense(h, 3, kernel_initializer=w, name="out")
    return [evaluated(tf, y), y.name, [v.name for v in tf.global_variables()], y.shape.as_list()]


@function_program
def functions_reuse(tf):
    x = tf.constant(ROWS[0])
    one = tf.layers.dense(x, 2, name="d", kernel_initializer=ramp(tf))
    two = tf.layers.dense(x, 2, name="d", reuse=True)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        three = tf.layers.dense(x, 2, name="d", kernel_initializer=tf.ones_initializer())
        four = tf.layers.dense(x, 2, name="d")
    a, b, c, d = evaluated(tf, [one, two, three, four])
    return [bool(np.all(a == b)), bool(np.all(c == d)), c, [v.name for v in tf.trainable_variables()]]


@function_program
def functions_regularize(tf):
    def penalty(v):
        return tf.reduce_sum(tf.abs(v))

    x = tf.constant(ROWS[0])
    tf.layers.dense(x, 2, kernel_initializer=ramp(tf), kernel_regularizer=penalty, bias_regularizer=penalty)
    losses = tf.losses.get_regularization_losses()
    return [evaluated(tf, losses), [t.name for t in losses]]


@function_program
def functions_constrain(tf):
    x = tf.constant(ROWS[0])
    y = tf.layers.dense(x, 1, kernel_initializer=ramp(tf), kernel_constraint=lambda k: tf.clip_by_value(k, -0.25, 0.25))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(y)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return session.run(tf.trainable_variables())


@function_program
def batch_norm_switched(tf):
    """Training is a placeholder: the same graph learns statistics and uses them."""
    x = tf.placeholder(tf.float32, [None, 3])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, training=training, momentum=0.5)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    rows = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for flag, value in zip([False, True, True, False, True], ROWS + ROWS):
            rows.append(session.run([y, updates], {x: value, training: flag})[0])
            rows.append(session.run([v for v in tf.global_variables() if "moving" in v.name]))
    return rows


@function_program
def batch_norm_trained(tf):
    """Twenty steps of a small net with batch norm and momentum, update ops as control inputs."""
    x = tf.constant(ROWS[0])
    h = tf.layers.dense(x, 4, kernel_initializer=ramp(tf), use_bias=False)
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True, momentum=0.9))
    y = tf.layers.dense(h, 1, kernel_initializer=ramp(tf))
    loss = tf.losses.mean_squared_error(tf.constant([[1.0], [0.0], [-1.0], [0.5]]), y)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(20)]
        return [losses, session.run(tf.trainable_variables())]


@function_program
def dropout_keeps_the_mean(tf):
    x = tf.ones([1000])
    y = evaluated(tf, tf.layers.dropout(x, 0.25, training=True))
    kept = sorted(set(np.round(y.astype(float), 5).tolist()))
    return [kept, bool(600 < np.count_nonzero(y) < 900)]


@function_program
def dropout_switched(tf):
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(tf.ones([100]), 0.5, training=training)
    rest = evaluated(tf, y, {training: False})
    work = evaluated(tf, y, {training: True})
    return [bool(np.all(rest == 1.0)), sorted(set(work.tolist()))]


@function_program
def layers_say_what_they_are(tf):
    layer = tf.layers.Dense(4, activation=tf.nn.relu, name="d")
    before = [layer.built, layer.name, layer.units, layer.use_bias]
    layer.build([None, 3])
    return [before, layer.built, [v.name for v in layer.weights], layer.count_params(), layer.kernel.shape.as_list()]


def play(tf, judge, program):
    return program(tf)


def write(judge, recording):
    write_recording("layers", judge, recording)


def read(judge):
    return read_recording("layers", judge)
