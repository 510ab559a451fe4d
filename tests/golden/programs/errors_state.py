"""Misuse of variables and their scopes, in graphs: what is raised, saying what. Rows as in `errors_graph`."""

from .book import Book

book = Book(judges=("1.15", "2.21"))


def run(tf, fetches, initialize=True):
    with tf.Session() as session:
        if initialize:
            session.run(tf.global_variables_initializer())
        return session.run(fetches)


def w_of(tf, *shape, **options):
    return tf.get_variable("w", list(shape) or [2], initializer=tf.zeros_initializer(), **options)


def again(tf, *args, **options):
    """Ask for w once more, with reuse."""
    w_of(tf)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        return tf.get_variable("w", *args, **options)


def in_reused_scope(tf):
    with tf.variable_scope("s", reuse=True):
        return w_of(tf)


def scope_of(tf, *args, **options):
    with tf.variable_scope(*args, **options) as scope:
        return scope.name


def uninitialized_second(tf):
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, name="w")
    with tf.Session() as session:
        session.run(v.initializer)
        return session.run(v + w)


def made_of_the_unknown(tf, **options):
    return tf.Variable(tf.placeholder(tf.float32), name="v", **options).shape.rank is None


VARIABLES = {
    "uninitialized variable": (
        lambda tf: run(tf, tf.Variable(1.0, name="v") + 1.0, initialize=False),
        {"1.15": "Attempting to use uninitialized value v", "2.21": "Could not find variable v"},
    ),
    "uninitialized resource variable": (
        lambda tf: run(tf, tf.Variable(1.0, name="r", use_resource=True) + 1.0, initialize=False),
        {
            "1.15": "Error while reading resource variable r from Container: localhost",
            "2.21": "Could not find variable r",
        },
    ),
    "one variable uninitialized": (uninitialized_second, {"1.15": "uninitialized value w", "2.21": "variable w"}),
    "variable without a value": (lambda tf: tf.Variable(), "initial_value"),
    "variable of None": (lambda tf: tf.Variable(None), "initial_value"),
    "variable of an unknown shape": (made_of_the_unknown, {"1.15": "must have a shape specified", "2.21": ""}),
    "variable of an unknown shape, unchecked": (lambda tf: made_of_the_unknown(tf, validate_shape=False), None),
    "variable of another dtype": (lambda tf: tf.Variable(tf.constant(1), dtype=tf.float32), None),
    "variable with odd collections": (lambda tf: tf.Variable(1.0, collections="name"), None),
    "assign of another shape": (lambda tf: tf.assign(tf.Variable([1.0, 2.0]), [1.0, 2.0, 3.0]), None),
    "assign method of another shape": (lambda tf: tf.Variable([1.0, 2.0]).assign([1.0]), None),
    "assign of another dtype": (lambda tf: tf.assign(tf.Variable(1.0), tf.constant(1)), None),
    "assign to a tensor": (lambda tf: tf.assign(tf.constant(1.0), 2.0), None),
    "assign of another shape at run time": (
        lambda tf: run(tf, tf.assign(tf.Variable([1.0, 2.0]), tf.placeholder_with_default([1.0], None))),
        None,
    ),
    "assign_add of another shape": (lambda tf: tf.assign_add(tf.Variable([1.0, 2.0]), [1.0, 2.0, 3.0]), None),
    "scatter out of range": (
        lambda tf: run(tf, tf.scatter_update(tf.Variable([1.0, 2.0]), [5], [1.0])),
        "= 5 is not in [0, 2)",
    ),
    "scatter of another shape": (lambda tf: run(tf, tf.scatter_update(tf.Variable([1.0, 2.0]), [0, 1], [1.0])), None),
    "variable as a bool": (lambda tf: bool(tf.Variable(1.0) > 0), "as a Python `bool` is not allowed"),
    "iterating over a variable": (lambda tf: list(tf.Variable([1.0, 2.0])), None),
    "item of a variable assigned": (lambda tf: put(tf.Variable([1.0])), "does not support item assignment"),
    "variable plus an int": (lambda tf: tf.Variable(1.0) + tf.constant(1), None),
    "variable of another graph": (lambda tf: other_graph_variable(tf), None),
}


def other_graph_variable(tf):
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
    return tf.add(v, tf.constant(1.0))


SCOPES = {
    "variable asked for twice": (
        lambda tf: (w_of(tf), w_of(tf)),
        "Variable w already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?",
    ),
    "reuse of a missing variable": (
        in_reused_scope,
        "Variable s/w does not exist, or was not created with tf.get_variable()",
    ),
    "reuse with another shape": (
        lambda tf: again(tf, [3]),
        "Trying to share variable w, but specified shape (3,) and found shape (2,)",
    ),
    "reuse with another dtype": (
        lambda tf: again(tf, [2], tf.int32),
        "Trying to share variable w, but specified dtype int32",
    ),
    "reuse without a shape": (lambda tf: again(tf).name, None),
    "get_variable without a shape": (
        lambda tf: tf.get_variable("w"),
        None,
    ),
    "get_variable of a partial shape": (
        lambda tf: tf.get_variable("w", [2, None]),
        "shape",
    ),
    "get_variable of a shape and a value": (
        lambda tf: tf.get_variable("w", [2], initializer=tf.constant([1.0, 2.0])),
        "If initializer is a constant, do not specify shape",
    ),
    "get_variable of a value of another dtype": (
        lambda tf: tf.get_variable("w", dtype=tf.int32, initializer=tf.constant([1.0, 2.0])),
        None,
    ),
    "get_variable with an odd initializer": (lambda tf: tf.get_variable("w", [1], initializer=object()), None),
    "get_variable of an odd regularizer": (lambda tf: tf.get_variable("w", [1], regularizer=3), None),
    "scope without a name": (lambda tf: scope_of(tf, None), None),
    "scope by a number": (lambda tf: scope_of(tf, 3), None),
    "scope of an odd reuse": (lambda tf: scope_of(tf, "s", reuse="yes"), None),
    "scope that never lets go of reuse": (lambda tf: reuse_is_inherited(tf), None),
    "scope with a default and reuse": (
        lambda tf: scope_of(tf, None, "d", reuse=True),
        "reuse=True cannot be used without a name_or_scope",
    ),
    "partitioner of a wrong length": (
        lambda tf: tf.get_variable("w", [4, 2], partitioner=lambda shape, dtype: [2]),
        None,
    ),
    "partitioner of two axes": (lambda tf: tf.get_variable("w", [4, 2], partitioner=lambda shape, dtype: [2, 2]), None),
    "partitioner that is not callable": (lambda tf: tf.get_variable("w", [4, 2], partitioner=3), None),
    "more parts than rows": (
        lambda tf: [p.name for p in tf.get_variable("w", [2, 2], partitioner=tf.fixed_size_partitioner(3))],
        None,
    ),
    "global step of floats": (
        lambda tf: (tf.Variable(1.0, name="global_step"), tf.train.get_global_step()),
        "does not have integer type",
    ),
    "global step made twice": (
        lambda tf: (tf.train.create_global_step(), tf.train.create_global_step()),
        '"global_step" already exists.',
    ),
    "initializer of a matrix for a vector": (
        lambda tf: tf.get_variable("w", [3], initializer=tf.initializers.identity()),
        None,
    ),
    "orthogonal of a vector": (lambda tf: tf.get_variable("w", [3], initializer=tf.orthogonal_initializer()), None),
    "constants too many": (
        lambda tf: tf.get_variable("w", [2], initializer=tf.constant_initializer([1.0, 2.0, 3.0])),
        None,
    ),
    "constants too few": (
        lambda tf: run(tf, tf.get_variable("w", [3], initializer=tf.constant_initializer([1.0, 2.0]))),
        None,
    ),
    "scaling of nothing": (lambda tf: tf.variance_scaling_initializer(scale=0.0), "`scale` must be"),
    "scaling of an odd mode": (lambda tf: tf.variance_scaling_initializer(mode="odd"), "`mode`"),
    "uniform of integers by default": (
        lambda tf: tf.get_variable("w", [3], tf.int32, tf.random_uniform_initializer()),
        None,
    ),
}


def reuse_is_inherited(tf):
    with tf.variable_scope("outer", reuse=True), tf.variable_scope("inner", reuse=False):
        return tf.get_variable_scope().reuse


for _rows in (VARIABLES, SCOPES):
    for _name, (_function, _says) in _rows.items():
        book.add(_name, _function, says=_says)


def put(v):
    v[0] = 1.0


# A resource variable that was never made is "not found" to the ops that change it; refs say it as reads do.
ONLY_OLD = {
    "assign_add to the uninitialized": (
        lambda tf: run(tf, tf.assign_add(tf.Variable(1.0, name="v"), 1.0), initialize=False),
        "Attempting to use uninitialized value v",
    ),
    "scatter into the uninitialized": (
        lambda tf: run(tf, tf.scatter_add(tf.Variable([1.0], name="v"), [0], [1.0]), initialize=False),
        "Attempting to use uninitialized value v",
    ),
}
for _name, (_function, _says) in ONLY_OLD.items():
    book.add(_name, _function, ("1.15",), says=_says)
