"""What goes with optimizers: moving averages over steps, learning rates at many steps, clipping and norms.

Every program returns numbers (nested lists in a dict), compared to a relative 1e-6.
"""

import numpy as np

from .book import Book, graph_module, read_recording, write_recording

book = Book(judges=("1.15", "2.21"))

STEPS = [0, 1, 2, 5, 9, 10, 11, 49, 50, 51, 99, 100, 101, 150, 250, 1000, 12345]


def numbers(value):
    return np.asarray(value).tolist()


def at_steps(tf, make, steps=STEPS, step_dtype="int64"):
    step = tf.placeholder(tf.as_dtype(step_dtype), [])
    rate = make(tf, step)
    with tf.Session() as session:
        values = [float(session.run(rate, {step: s})) for s in steps]
    return {"dtype": rate.dtype.name, "values": values}


DECAYS = {
    "exponential": lambda tf, s: tf.train.exponential_decay(0.1, s, 50, 0.9),
    "exponential_stairs": lambda tf, s: tf.train.exponential_decay(0.1, s, 50, 0.9, staircase=True),
    "exponential_double": lambda tf, s: tf.train.exponential_decay(tf.constant(0.1, tf.float64), s, 50, 0.9),
    "natural": lambda tf, s: tf.train.natural_exp_decay(0.1, s, 50, 0.9),
    "natural_stairs": lambda tf, s: tf.train.natural_exp_decay(0.1, s, 50, 0.9, staircase=True),
    "inverse": lambda tf, s: tf.train.inverse_time_decay(0.1, s, 50, 0.9),
    "inverse_stairs": lambda tf, s: tf.train.inverse_time_decay(0.1, s, 50, 0.9, staircase=True),
    "piecewise": lambda tf, s: tf.train.piecewise_constant(s, [10, 50, 100], [1.0, 0.5, 0.1, 0.01]),
    "polynomial": lambda tf, s: tf.train.polynomial_decay(0.1, s, 100),
    "polynomial_square": lambda tf, s: tf.train.polynomial_decay(0.1, s, 100, 0.01, power=2.0),
    "polynomial_cycle": lambda tf, s: tf.train.polynomial_decay(0.1, s, 40, 0.01, power=0.5, cycle=True),
    "cosine": lambda tf, s: tf.train.cosine_decay(0.1, s, 100),
    "cosine_alpha": lambda tf, s: tf.train.cosine_decay(0.1, s, 100, alpha=0.2),
    "cosine_restarts": lambda tf, s: tf.train.cosine_decay_restarts(0.1, s, 30, t_mul=2.0, m_mul=0.9, alpha=0.1),
    "cosine_restarts_equal": lambda tf, s: tf.train.cosine_decay_restarts(0.1, s, 30, t_mul=1.0),
    "linear_cosine": lambda tf, s: tf.train.linear_cosine_decay(0.1, s, 100, num_periods=2.0, alpha=0.1, beta=0.01),
}


def enter_decays():
    for name, make in DECAYS.items():
        book.add("decay_" + name, lambda tf, make=make: at_steps(tf, make))
    for name in ("exponential", "polynomial", "cosine"):
        book.add(f"decay_{name}_int32_step", lambda tf, make=DECAYS[name]: at_steps(tf, make, step_dtype="int32"))


enter_decays()


def averaged(tf, resource=None, **options):
    v = tf.get_variable("v", initializer=tf.constant([1.0, -2.0]), use_resource=resource)
    n = tf.placeholder(tf.int64, [], name="n")
    if options.pop("counts", False):
        options["num_updates"] = n
    ema = tf.train.ExponentialMovingAverage(0.9, **options)
    t = tf.square(v, name="t")
    apply = ema.apply([v, t])
    rows = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows.append(session.run([ema.average(v), ema.average(t)]))
        for step in range(12):
            session.run(v.assign([float(step), 2.0 - step]))
            session.run(apply, {n: step})
            rows.append(session.run([ema.average(v), ema.average(t)]))
    return {"v": numbers([row[0] for row in rows]), "t": numbers([row[1] for row in rows])}


@book.program()
def moving_average(tf):
    return averaged(tf)


@book.program()
def moving_average_of_resources(tf):
    return averaged(tf, resource=True)


@book.program()
def moving_average_counting_updates(tf):
    return averaged(tf, counts=True)


@book.program()
def moving_average_debiased(tf):
    return averaged(tf, zero_debias=True)


@book.program()
def moving_average_debiased_counting(tf):
    return averaged(tf, zero_debias=True, counts=True)


TENSORS = {
    "vector": np.float32([3.0, -4.0]),
    "small": np.float32([0.1, -0.2]),
    "zeros": np.zeros([3], np.float32),
    "matrix": np.float32([[1.0, -2.0], [3.0, -4.0], [5.0, 6.0]]),
    "double": np.float64([[10.0, -20.0]]),
    "empty": np.zeros([0], np.float32),
}


def over_tensors(tf, function, names=tuple(TENSORS)):
    with tf.Session() as session:
        return {name: numbers(session.run(function(tf.constant(TENSORS[name])))) for name in names}


@book.program()
def clip_by_value(tf):
    return over_tensors(tf, lambda x: tf.clip_by_value(x, -1.5, 2.5))


@book.program()
def clip_by_norm(tf):
    return over_tensors(tf, lambda x: tf.clip_by_norm(x, 2.0))


@book.program()
def clip_by_norm_of_rows(tf):
    x = tf.constant(TENSORS["matrix"])
    with tf.Session() as session:
        return {
            "rows": numbers(session.run(tf.clip_by_norm(x, 2.0, axes=[1]))),
            "columns": numbers(session.run(tf.clip_by_norm(x, 2.0, axes=[0]))),
        }


@book.program()
def clip_by_average_norm(tf):
    return over_tensors(tf, lambda x: tf.clip_by_average_norm(x, 0.8), ["vector", "small", "zeros", "matrix"])


@book.program()
def clip_by_global_norm(tf):
    results = {}
    a, b = tf.constant(TENSORS["vector"]), tf.constant(TENSORS["matrix"])
    slices = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 5]), tf.constant([9, 1]))
    with tf.Session() as session:
        for limit in (1.0, 5.0, 100.0):
            clipped, norm = tf.clip_by_global_norm([a, None, b], limit)
            results[str(limit)] = [numbers(v) for v in session.run([clipped[0], clipped[2], norm])]
        clipped, norm = tf.clip_by_global_norm([a, slices], 3.0)
        results["slices"] = [numbers(v) for v in session.run([clipped[0], clipped[1].values, clipped[1].indices, norm])]
        given, _ = tf.clip_by_global_norm([a, b], 2.0, use_norm=tf.constant(4.0))
        results["given norm"] = [numbers(v) for v in session.run(given)]
        results["global_norm"] = numbers(session.run(tf.global_norm([a, None, b])))
    return results


@book.program()
def clipped_values_pass_gradients(tf):
    x = tf.constant([-3.0, -1.0, 0.5, 2.0, 4.0])
    with tf.Session() as session:
        return {
            "value": numbers(session.run(tf.gradients(tf.clip_by_value(x, -1.0, 2.0), x)[0])),
            "norm": numbers(session.run(tf.gradients(tf.clip_by_norm(x, 2.0), x)[0])),
        }


@book.program(judges=("2.21",), eager=True)
def eager_decays(tf):
    rates = {}
    for name in ("exponential", "natural", "inverse", "piecewise", "polynomial", "cosine", "linear_cosine"):
        step = tf.Variable(0, dtype=tf.int64, use_resource=True)
        rate = DECAYS[name](tf, step)
        rates[name] = [float((step.assign(s), rate())[1]) for s in STEPS]
    return rates


@book.program(judges=("2.21",), eager=True)
def eager_moving_average(tf):
    v = tf.Variable([1.0, -2.0], use_resource=True)
    ema = tf.train.ExponentialMovingAverage(0.9)
    rows = []
    for step in range(8):
        v.assign([float(step), 2.0 - step])
        ema.apply([v])
        rows.append(numbers(ema.average(v).numpy()))
    return {"v": rows}


@book.program(judges=("2.21",), eager=True)
def eager_clipping(tf):
    x = tf.constant(TENSORS["matrix"])
    clipped, norm = tf.clip_by_global_norm([x, x], 3.0)
    return {
        "value": numbers(tf.clip_by_value(x, -1.0, 1.0)),
        "norm": numbers(tf.clip_by_norm(x, 2.0)),
        "average": numbers(tf.clip_by_average_norm(x, 0.5)),
        "global": [numbers(clipped[0]), float(norm)],
    }


def play(tf, judge, program):
    v1 = graph_module(tf, judge)
    if program.facts.get("eager"):
        return program(v1)
    with v1.Graph().as_default():
        return program(v1)


def write(judge, recording):
    write_recording("schedules", judge, recording)


def read(judge):
    return read_recording("schedules", judge)
