"""Variables where every op runs at once: assigning, scattering, snapshots, slices, identity."""

import copy

from .book import Book

book = Book(judges=("2.21",))


def eager(function):
    book.add(function.__name__, function, eager=True)
    return function


@eager
def eager_assigning(tf):
    v = tf.Variable([1.0, 2.0])
    rows = [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.5])]
    return [[r.numpy() for r in rows], v.numpy(), v.assign([0.0, 0.0], read_value=False) is None]


@eager
def eager_snapshots(tf):
    v = tf.Variable([1.0, 2.0])
    read, value, plus = v.read_value(), tf.convert_to_tensor(v), v + 0.0
    array = v.numpy()
    v.assign_add([10.0, 10.0])
    return [read, value, plus, array, v]


@eager
def eager_scattering(tf):
    slices = tf.IndexedSlices(tf.constant([[5.0], [7.0], [1.0]]), tf.constant([0, 2, 2]))
    rows = {}
    for name in ("update", "add", "sub", "mul", "div", "min", "max"):
        v = tf.Variable([[1.0], [2.0], [3.0]])
        getattr(v, "scatter_" + name)(slices)
        rows[name] = v.numpy()
    del rows["update"]  # which of two updates of a row stays is not promised
    for name in ("update", "add", "sub", "min", "max"):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        getattr(v, "scatter_nd_" + name)([[0, 1], [1, 0]], [10.0, -20.0])
        rows["nd " + name] = v.numpy()
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[1], [0]])))
    rows["batch update"] = v.numpy()
    return rows


@eager
def eager_reading_parts(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return [v.sparse_read([2, 0]), v.gather_nd([[1, 1]]), v[1], v[:, 0], v[-1, ::-1], tf.gather(v, [1]), v[v > 3.0]]


@eager
def eager_assigning_slices(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign([9.0, 8.0])
    first = v.numpy().copy()
    v[:, 1].assign([0.0, 0.0])
    return [first, v]


@eager
def eager_properties(tf):
    v = tf.Variable([1, 2], name="v", trainable=False, dtype=tf.int64)
    w = tf.Variable(1.0, constraint=tf.abs)
    return [
        [v.name, v.dtype.name, v.shape.as_list(), v.trainable, v.constraint is None],
        [w.name, w.trainable, w.constraint is tf.abs],
        [bool(v.is_initialized()), v.device.split("/")[-1]],
        [str(v.synchronization), str(v.aggregation)],
    ]


@eager
def eager_operators(tf):
    v = tf.Variable([1.0, -2.0])
    return [v + 1.0, 1.0 - v, v * v, v / 2.0, -v, abs(v), v**2.0, v > 0.0, v == 1.0, v != v, v // 1.5, v % 1.5]


@eager
def eager_identity(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    copied = copy.deepcopy(v)
    copied.assign(5.0)
    return [v.ref() == v.ref(), v.ref() == w.ref(), v.ref().deref() is v, v, copied, len({v.ref(), w.ref(), v.ref()})]


@eager
def eager_conversions(tf):
    v = tf.Variable(3.5)
    n = tf.Variable(3)
    return [float(v), int(n), bool(n), [10, 11, 12, 13][n.numpy()], v.numpy().item(), tf.Variable([1.0, 2.0]).shape[0]]


@eager
def eager_open_shapes(tf):
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))
    v.assign([1.0, 2.0, 3.0])
    w = tf.Variable(1.0, shape=tf.TensorShape(None))
    w.assign([[2.0]])
    return [v, w, v.shape.as_list(), w.shape.rank is None]


@eager
def eager_made_of(tf):
    v = tf.Variable(lambda: tf.ones([2]))
    w = tf.Variable(tf.Variable([5.0]))
    x = tf.Variable([1, 2], dtype=tf.float32)
    y = tf.Variable("text")
    z = tf.Variable(True)
    return [v, w, x, y.numpy().decode(), z, [t.dtype.name for t in (v, w, x, y, z)]]


@eager
def eager_initializers(tf):
    return {
        "zeros": tf.zeros_initializer()([2]),
        "ones": tf.ones_initializer()([2], tf.int32),
        "constant": tf.constant_initializer([1.0, 2.0])([2]),
        "names": [
            type(tf.random_normal_initializer()).__name__,
            tf.random_uniform_initializer(0.0, 1.0)([3]).shape.as_list(),
        ],
    }


@eager
def eager_gradients_of_variables(tf):
    v, w = tf.Variable(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * w
    grads = tape.gradient(y, [v, w])
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        z = tf.reduce_sum(tf.gather(table, [0, 2, 2]) * [[1.0], [2.0], [3.0]])
    sparse = tape.gradient(z, table)
    return [
        grads[0],
        grads[1] is None,
        type(sparse).__name__,
        sparse.values,
        sparse.indices,
        tf.convert_to_tensor(sparse),
    ]
