"""How variables behave: assigning, scattering, initializing, sharing by scope, partitioning; initializers' values.

Every program returns facts (numbers, names, truths) as nested lists and dicts. Numbers are compared to 1e-6.
"""

import numpy as np

from . import variables_eager, variables_scopes
from .book import Book, graph_module, plain, read_recording, write_recording

book = Book(judges=("1.15", "2.21"))


def started(tf):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


@book.program()
def assigning(tf):
    v = tf.Variable([1.0, 2.0])
    ops = [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.0]), tf.assign(v, [7.0, 8.0])]
    ops += [tf.assign_add(v, [1.0, 2.0]), tf.assign_sub(v, [1.0, 1.0])]
    rows = []
    with started(tf) as session:
        for op in ops:
            rows.append([session.run(op), session.run(v)])
    return rows


@book.program()
def assigning_resources(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    ops = [v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.0]), tf.assign(v, [7.0, 8.0])]
    rows = []
    with started(tf) as session:
        for op in ops:
            rows.append([session.run(op), session.run(v)])
    return rows


@book.program()
def an_assign_that_is_not_run(tf):
    v = tf.Variable(1.0)
    v.assign(2.0)
    with started(tf) as session:
        return session.run(v)


@book.program()
def assigns_in_order(tf):
    v = tf.Variable(1.0)
    first = tf.assign(v, v * 2.0)
    with tf.control_dependencies([first]):
        second = tf.assign(v, v.read_value() + 10.0)
    with started(tf) as session:
        session.run(second)
        return session.run(v)


@book.program()
def reads_after_assigns(tf):
    v = tf.Variable(1.0, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add(5.0)
    with tf.control_dependencies([change]):
        after = v.read_value()
    with started(tf) as session:
        return [session.run([before, after]), session.run([before, after])]


@book.program()
def assigning_slices(tf):
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    ops = [
        v[0].assign([9.0, 9.0, 9.0]),
        v[:, 1].assign([7.0, 8.0]),
        v[1, 2].assign(0.0),
        v[:, ::2].assign([[1.0, 1.0]] * 2),
    ]
    rows = []
    with started(tf) as session:
        for op in ops:
            session.run(op)
            rows.append(session.run(v))
    return rows


@book.program()
def scattering(tf):
    rows = {}
    for name in ("update", "add", "sub", "mul", "div", "min", "max"):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        op = getattr(tf, "scatter_" + name)(v, [0, 2], [[2.0, 2.0], [4.0, 8.0]])
        with started(tf) as session:
            rows[name] = [session.run(op), session.run(v)]
    return rows


@book.program()
def scattering_repeatedly(tf):
    rows = {}
    for name in ("add", "sub", "mul"):
        v = tf.Variable([1.0, 2.0, 3.0])
        op = getattr(tf, "scatter_" + name)(v, [1, 1, 0], [2.0, 3.0, 4.0])
        with started(tf) as session:
            session.run(op)
            rows[name] = session.run(v)
    return rows


@book.program()
def scattering_scalars(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with started(tf) as session:
        session.run([tf.scatter_add(v, [0, 2], 10.0), tf.scatter_update(w, 1, [0.0, 0.0])])
        return session.run([v, w])


@book.program()
def scattering_nd(tf):
    rows = {}
    for name in ("update", "add", "sub"):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        op = getattr(tf, "scatter_nd_" + name)(v, [[0, 1], [1, 0]], [10.0, 20.0])
        with started(tf) as session:
            session.run(op)
            rows[name] = session.run(v)
    return rows


@book.program()
def scattering_slices(tf):
    v = tf.Variable([[1.0], [2.0], [3.0]], use_resource=True)
    slices = tf.IndexedSlices(tf.constant([[5.0], [7.0]]), tf.constant([0, 2]))
    rows = []
    with started(tf) as session:
        for name in ("scatter_update", "scatter_add", "scatter_sub"):
            session.run(getattr(v, name)(slices))
            rows.append(session.run(v))
    return rows


@book.program()
def loading_and_evaluating(tf):
    v = tf.Variable([1.0, 2.0])
    with started(tf) as session:
        v.load([5.0, 6.0], session)
        return [v.eval(session), v.eval(), session.run(v + 1.0), session.run(v[1]), session.run(-v)]


@book.program()
def initializing_some(tf):
    v = tf.Variable([1.0], name="v")
    w = tf.Variable([2.0], name="w")
    n = tf.get_local_variable("n", [1], initializer=tf.zeros_initializer())
    report = tf.report_uninitialized_variables()
    only = tf.report_uninitialized_variables([w], name="only")
    is_set = [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
    with tf.Session() as session:
        rows = [session.run([report, only]), session.run(is_set)]
        session.run(tf.variables_initializer([v]))
        rows += [session.run([report, only]), session.run(is_set)]
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        rows += [session.run([report, only]), session.run(is_set), session.run([v, w, n])]
    return rows


@book.program(judges=("1.15",))
def initialized_values(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(v.initialized_value() * 3.0, name="w")
    with started(tf) as session:
        return session.run([v, w])


@book.program()
def initial_values(tf):
    v = tf.Variable(lambda: tf.constant([1.0, 2.0]), dtype=tf.float32)
    w = tf.Variable(np.arange(3), dtype=tf.float64)
    g = tf.get_variable("g", initializer=np.float32([[1, 2]]))
    with started(tf) as session:
        first = session.run([v, w, g, v.initial_value])
        session.run(v.assign([5.0, 5.0]))
        session.run(v.initializer)
        return [
            first,
            session.run(v),
            [x.dtype.base_dtype.name for x in (v, w, g)],
            [x.shape.as_list() for x in (v, w, g)],
        ]


@book.program()
def unchecked_shapes(tf):
    v = tf.Variable(tf.placeholder_with_default([1.0, 2.0], None), validate_shape=False)
    change = tf.assign(v, tf.placeholder_with_default([[1.0, 2.0, 3.0]], None), validate_shape=False)
    with started(tf) as session:
        before = session.run(v)
        session.run(change)
        return [before, session.run(v.read_value())]


@book.program()
def constraints(tf):
    v = tf.get_variable("v", initializer=tf.constant([1.0, -1.0]), constraint=lambda x: tf.clip_by_value(x, -0.5, 0.75))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(v)))
    with started(tf) as session:
        rows = [session.run(v)]
        for _ in range(3):
            session.run(train)
            rows.append(session.run(v))
    return [rows, v.constraint is not None]


@book.program()
def sharing_between_sessions(tf):
    v = tf.Variable(1.0)
    with started(tf) as one, started(tf) as two:
        one.run(v.assign(5.0))
        return [one.run(v), two.run(v)]


@book.program()
def counting_up(tf):
    v = tf.Variable(0)
    step = tf.count_up_to(v, 3)
    seen = []
    with started(tf) as session:
        try:
            while True:
                seen.append(session.run(step))
        except tf.errors.OutOfRangeError:
            seen.append("end")
    return seen


@book.program()
def operators_of_variables(tf):
    v = tf.Variable([1.0, -2.0])
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    made = [v + 1.0, 1.0 - v, v * v, v / 2.0, -v, abs(v), v**2.0, v > 0.0, w @ w, w[0], w[..., 1], v // 1.5, v % 1.5]
    with started(tf) as session:
        return session.run(made)


@book.program()
def variables_as_arguments(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with started(tf) as session:
        return session.run(
            [tf.reduce_sum(v), tf.concat([v, v], 0), tf.stack([v, v])[1], tf.matmul(v, v), tf.shape(v), tf.identity(v)]
        )


@book.program()
def global_steps(tf):
    step = tf.train.get_or_create_global_step()
    with started(tf) as session:
        rows = [tf.train.global_step(session, step)]
        for _ in range(3):
            session.run(tf.assign_add(step, 1))
        return [*rows, tf.train.global_step(session, step)]


@book.program()
def moving_averages_restored(tf):
    v = tf.Variable(1.0, name="v")
    ema = tf.train.ExponentialMovingAverage(0.5)
    apply = ema.apply([v])
    with started(tf) as session:
        rows = []
        for value in (2.0, 3.0, 4.0):
            session.run(v.assign(value))
            session.run(apply)
            rows.append(session.run(ema.average(v)))
    return [rows, ema.average_name(v), sorted(ema.variables_to_restore())]


def values_of(tf, initializer, shape, dtype=None):
    v = tf.get_variable(f"v{len(tf.global_variables())}", shape, dtype or tf.float32, initializer)
    with started(tf) as session:
        return session.run(v)


@book.program()
def plain_initializers(tf):
    return {
        "zeros": values_of(tf, tf.zeros_initializer(), [2, 3]),
        "ones": values_of(tf, tf.ones_initializer(), [2], tf.int32),
        "constant": values_of(tf, tf.constant_initializer(7), [3], tf.int64),
        "list": values_of(tf, tf.constant_initializer([1.0, 2.0, 3.0, 4.0]), [2, 2]),
        "array": values_of(tf, tf.constant_initializer(np.arange(6).reshape(2, 3)), [2, 3]),
        "identity": values_of(tf, tf.initializers.identity(gain=2.0), [2, 3]),
        "called": [started(tf).run(tf.ones_initializer()([2])), started(tf).run(tf.constant_initializer(3.0)([2]))],
        "default int": values_of(tf, None, [2], tf.int32),
        "default bool": values_of(tf, None, [2], tf.bool),
    }


@book.program()
def seeded_initializers(tf):
    return {
        "uniform": values_of(tf, tf.random_uniform_initializer(-2.0, 3.0, seed=1), [2, 3]),
        "uniform int": values_of(tf, tf.random_uniform_initializer(0, 100, seed=1, dtype=tf.int32), [5], tf.int32),
        "normal": values_of(tf, tf.random_normal_initializer(1.0, 2.0, seed=1), [2, 3]),
        "truncated": values_of(tf, tf.truncated_normal_initializer(1.0, 2.0, seed=1), [2, 3]),
        "double": values_of(tf, tf.random_normal_initializer(seed=2, dtype=tf.float64), [3], tf.float64),
        "glorot": values_of(tf, tf.glorot_uniform_initializer(seed=1), [4, 2]),
        "glorot_normal": values_of(tf, tf.glorot_normal_initializer(seed=1), [4, 2]),
        "scaling": values_of(tf, tf.variance_scaling_initializer(2.0, "fan_out", seed=1), [3, 3, 2, 4]),
        "scaling uniform": values_of(tf, tf.variance_scaling_initializer(1.0, "fan_avg", "uniform", seed=3), [4]),
        "lecun": values_of(tf, tf.initializers.lecun_normal(seed=1), [4, 2]),
        "he": values_of(tf, tf.initializers.he_uniform(seed=1), [4, 2]),
    }


@book.program()
def spread_of_initializers(tf):
    """What unseeded numbers must keep to, whatever they are; every entry is a truth."""
    uniform = values_of(tf, tf.random_uniform_initializer(-1.0, 1.0), [1000])
    truncated = values_of(tf, tf.truncated_normal_initializer(stddev=0.5), [1000])
    glorot = values_of(tf, tf.glorot_uniform_initializer(), [30, 20])
    square = values_of(tf, tf.orthogonal_initializer(gain=2.0), [6, 6])
    tall = values_of(tf, tf.orthogonal_initializer(), [3, 2, 4])
    tall = tall.reshape(6, 4)
    return {
        "uniform": [bool(np.all(np.abs(uniform) <= 1)), bool(np.std(uniform) > 0.4), len(set(uniform.tolist())) > 900],
        "truncated": [bool(np.all(np.abs(truncated) <= 1.0)), bool(0.35 < np.std(truncated) < 0.55)],
        "glorot": [bool(np.all(np.abs(glorot) <= np.sqrt(6 / 50.0) + 1e-6)), bool(np.std(glorot) > 0.15)],
        "orthogonal": [
            bool(np.allclose(square @ square.T, 4 * np.eye(6), atol=1e-4)),
            bool(np.allclose(tall.T @ tall, np.eye(4), atol=1e-4)),
        ],
    }


@book.program(judges=("1.15",))
def regularizers(tf):
    layers = tf.contrib.layers
    v = tf.constant([[1.0, -2.0], [3.0, -4.0]])
    made = {
        "l1": layers.l1_regularizer(0.5)(v),
        "l2": layers.l2_regularizer(0.5)(v),
        "l1_l2": layers.l1_l2_regularizer(0.1, 0.2)(v),
        "sum": layers.sum_regularizer([layers.l1_regularizer(0.5), layers.l2_regularizer(0.5)])(v),
    }
    with tf.Session() as session:
        values = session.run(made)
    return {
        "values": values,
        "names": {key: value.name for key, value in made.items()},
        "zero": layers.l1_regularizer(0.0)(v),
    }


book.include(variables_scopes.book)
book.include(variables_eager.book)


def play(tf, judge, program):
    if program.facts.get("eager"):
        return plain(program(tf))
    v1 = graph_module(tf, judge)
    with v1.Graph().as_default():
        return plain(program(v1))


def write(judge, recording):
    write_recording("variables", judge, recording)


def read(judge):
    return read_recording("variables", judge)
