"""Variables shared by name: `get_variable`, `variable_scope`, reuse, custom getters, regularizers, partitioners."""

from .book import Book

book = Book(judges=("1.15", "2.21"))


def zeros(tf, name, *shape, **options):
    return tf.get_variable(name, list(shape) or [1], initializer=tf.zeros_initializer(), **options)


def names(variables):
    return [v.name for v in variables]


@book.program()
def sharing(tf):
    with tf.variable_scope("s"):
        v = zeros(tf, "v", 2)
    with tf.variable_scope("s", reuse=True):
        second = tf.get_variable("v", [2])
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        third = tf.get_variable("v")
        made = zeros(tf, "w")
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        again = zeros(tf, "w")
    return [second is v, third is v, again is made, names(tf.global_variables())]


@book.program()
def reuse_flags(tf):
    seen = []

    def told():
        reuse = tf.get_variable_scope().reuse
        return "auto" if reuse is tf.AUTO_REUSE else reuse

    for reuse in (None, False, True, tf.AUTO_REUSE):
        with tf.variable_scope("outer", reuse=reuse):
            seen.append(told())
            for inner in (None, False, True, tf.AUTO_REUSE):
                with tf.variable_scope("inner", reuse=inner):
                    seen.append(told())
    return seen


@book.program()
def reuse_called_for(tf):
    with tf.variable_scope("s") as scope:
        v = zeros(tf, "v")
        scope.reuse_variables()
        second = tf.get_variable("v", [1])
        flag = tf.get_variable_scope().reuse
    with tf.variable_scope(scope, reuse=True):
        third = tf.get_variable("v", [1])
    return [second is v, third is v, flag, tf.get_variable_scope().reuse]


@book.program()
def inherited_settings(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(3.0), dtype=tf.float64) as scope:
        v = tf.get_variable("v", [2])
        with tf.variable_scope("inner"):
            w = tf.get_variable("w", [2])
        with tf.variable_scope("other", initializer=tf.ones_initializer()):
            x = tf.get_variable("x", [2], tf.float32)
        scope.set_initializer(tf.zeros_initializer())
        y = tf.get_variable("y", [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([v, w, x, y])
    return [values, [t.dtype.base_dtype.name for t in (v, w, x, y)]]


@book.program()
def scopes_opened_by_object(tf):
    seen = []
    with tf.variable_scope("a") as a, tf.variable_scope("b") as b:
        seen += [a.name, b.name, b.original_name_scope]
    with tf.variable_scope(b):
        seen.append(zeros(tf, "v").name)
        seen.append(tf.get_variable_scope().name)
    with tf.variable_scope("c"):
        with tf.variable_scope(a) as reopened:
            seen += [reopened.name, zeros(tf, "w").name]
        with tf.variable_scope("a"):
            seen.append(zeros(tf, "w").name)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        seen.append(zeros(tf, "top").name)
    return seen


@book.program()
def default_names(tf):
    seen = []
    for _ in range(3):
        with tf.variable_scope(None, default_name="d") as scope:
            seen.append([scope.name, zeros(tf, "v").name])
    with tf.variable_scope("given", default_name="ignored") as scope:
        seen.append(scope.name)
    return seen


@book.program()
def members_of_scopes(tf):
    with tf.variable_scope("a") as scope:
        zeros(tf, "v")
        zeros(tf, "fixed", trainable=False)
        tf.get_local_variable("local", [1], initializer=tf.zeros_initializer())
    with tf.variable_scope("ab"):
        zeros(tf, "v")
    return {
        "global": names(scope.global_variables()),
        "trainable": names(scope.trainable_variables()),
        "local": names(scope.local_variables()),
        "by prefix": names(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="a")),
        "by slash": names(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="a/")),
        "by pattern": names(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=".*v")),
        "trainable in ab": names(tf.trainable_variables("ab")),
    }


@book.program()
def custom_getters(tf):
    calls = []

    def outer(getter, name, *args, **kwargs):
        calls.append("outer " + name)
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        calls.append("inner " + name)
        kwargs["trainable"] = False
        return getter(name, *args, **kwargs) * 2.0

    with tf.variable_scope("s", custom_getter=outer):
        with tf.variable_scope("t", custom_getter=inner):
            doubled = tf.get_variable("v", [1], initializer=tf.constant_initializer(3.0))
        tf.get_variable("w", [1], custom_getter=lambda getter, *a, **k: (calls.append("own"), getter(*a, **k))[1])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [calls, session.run(doubled), names(tf.trainable_variables())]


@book.program()
def variable_creators(tf):
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(str(kwargs["name"]))
        kwargs["trainable"] = False
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        tf.Variable(1.0, name="a")
        zeros(tf, "b")
    return [seen, names(tf.trainable_variables())]


@book.program()
def templates(tf):
    def scaled(x):
        return x * tf.get_variable("scale", [], initializer=tf.constant_initializer(2.0))

    one = tf.make_template("one", scaled)
    a, b = one(tf.constant(1.0)), one(tf.constant(5.0))
    other = tf.make_template("one", scaled)
    c = other(tf.constant(7.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([a, b, c]), names(tf.global_variables())]


@book.program()
def regularizing(tf):
    def penalty(v):
        return tf.reduce_sum(tf.abs(v)) * 0.5

    with tf.variable_scope("s", regularizer=penalty):
        v = tf.get_variable("v", [2], initializer=tf.constant_initializer(3.0))
        tf.get_variable("free", [2], initializer=tf.ones_initializer(), regularizer=tf.no_regularizer)
        tf.get_variable("none", [2], initializer=tf.ones_initializer(), regularizer=lambda v: None)
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [2])
    collected = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(collected), names(collected), session.run(tf.losses.get_regularization_loss()), v.name]


def parts(tf, v):
    return [[p.name, p.shape.as_list()] for p in v]


@book.program()
def partitions(tf):
    rows = tf.get_variable("rows", [5, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    columns = tf.get_variable(
        "columns", [2, 5], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(3, axis=1)
    )
    by_size = tf.get_variable(
        "sized", [16, 4], initializer=tf.zeros_initializer(), partitioner=tf.variable_axis_size_partitioner(64)
    )
    fewest = tf.get_variable(
        "few",
        [64, 64],
        initializer=tf.zeros_initializer(),
        partitioner=tf.min_max_variable_partitioner(4, min_slice_size=4096),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(tf.convert_to_tensor(rows))
    return {
        "parts": [parts(tf, v) for v in (rows, columns, by_size, fewest)],
        "value": value,
        "shape": rows.shape.as_list(),
        "name": rows.name,
        "count": len(list(rows)),
        "whole": [rows.get_shape().as_list(), rows.dtype.base_dtype.name],
        "global": names(tf.global_variables()),
    }


@book.program()
def partitions_initialized(tf):
    start = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    v = tf.get_variable("v", initializer=start, partitioner=tf.fixed_size_partitioner(2))
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        again = tf.get_variable("v", [3, 2], partitioner=tf.fixed_size_partitioner(2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        looked_up = session.run(tf.nn.embedding_lookup(v, [0, 1, 2], partition_strategy="div"))
        return [[session.run(p) for p in v], names(again), looked_up]


@book.program()
def trainable_flags(tf):
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, trainable=False, name="b")
    c = zeros(tf, "c", trainable=True)
    d = zeros(tf, "d", collections=["mine"])
    return {
        "flags": [v.trainable for v in (a, b, c, d)],
        "trainable": names(tf.trainable_variables()),
        "global": names(tf.global_variables()),
        "mine": names(tf.get_collection("mine")),
        "model": names(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)),
        "all": names(tf.all_variables()),
    }


@book.program()
def caching_devices(tf):
    with tf.variable_scope("s", caching_device="/cpu:0"):
        v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(v + 1.0)
        session.run(v.assign([5.0, 6.0]))
        return [first, session.run(v + 1.0)]
