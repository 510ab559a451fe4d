"""Optimizer trajectories: every tf.train optimizer over twenty steps, the variable and all its slots after each.

A case is a recipe x float32/float64 x dense/sparse gradients x ref/resource variables x graph/eager. The sparse
gradient comes through `gather` with a repeated row. Recordings are arrays (NumPy's npz), one row a step, and those
that are bit for bit the same are kept once.
"""

import functools
import json

import numpy as np

from .book import Book, graph_module, recording_path

STEPS = 20
book = Book(judges=("1.15", "2.21"))

RECIPES = {
    "sgd": lambda tf, step: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf, step: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf, step: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.5),
    "adagrad_start": lambda tf, step: tf.train.AdagradOptimizer(0.5, initial_accumulator_value=1.5),
    "adagrad_da": lambda tf, step: tf.train.AdagradDAOptimizer(0.5, step),
    "adagrad_da_l1_l2": lambda tf, step: tf.train.AdagradDAOptimizer(
        0.5, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    ),
    "adadelta": lambda tf, step: tf.train.AdadeltaOptimizer(1.0),
    "adadelta_slow": lambda tf, step: tf.train.AdadeltaOptimizer(0.5, rho=0.8, epsilon=1e-3),
    "rmsprop": lambda tf, step: tf.train.RMSPropOptimizer(0.05),
    "rmsprop_momentum": lambda tf, step: tf.train.RMSPropOptimizer(0.05, decay=0.8, momentum=0.5, epsilon=1e-5),
    "rmsprop_centered": lambda tf, step: tf.train.RMSPropOptimizer(0.05, centered=True),
    "rmsprop_centered_momentum": lambda tf, step: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
    "adam": lambda tf, step: tf.train.AdamOptimizer(0.1),
    "adam_betas": lambda tf, step: tf.train.AdamOptimizer(0.1, beta1=0.5, beta2=0.9, epsilon=1e-3),
    "ftrl": lambda tf, step: tf.train.FtrlOptimizer(0.5),
    "ftrl_l1_l2": lambda tf, step: tf.train.FtrlOptimizer(
        0.5, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "ftrl_shrinkage": lambda tf, step: tf.train.FtrlOptimizer(
        0.5, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.1
    ),
    "ftrl_power": lambda tf, step: tf.train.FtrlOptimizer(
        0.5, learning_rate_power=-0.7, initial_accumulator_value=0.2, l2_regularization_strength=0.01
    ),
    "proximal_sgd": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(0.1),
    "proximal_sgd_l1_l2": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "proximal_adagrad": lambda tf, step: tf.train.ProximalAdagradOptimizer(0.5),
    "proximal_adagrad_l1_l2": lambda tf, step: tf.train.ProximalAdagradOptimizer(
        0.5, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
}


def dense_problem(tf, dtype, resource):
    """Two variables pulled to different places; returns (variables by name, function giving the loss)."""
    w = tf.get_variable("w", initializer=tf.constant([1.0, -2.0, 0.5], dtype), use_resource=resource)
    b = tf.get_variable("b", initializer=tf.constant(0.25, dtype), use_resource=resource)
    target = tf.constant([0.2, 0.3, -0.1], dtype)
    weight = tf.constant([1.0, 0.5, 2.0], dtype)
    return {"w": w, "b": b}, lambda: tf.reduce_sum(weight * tf.square(w - target)) + tf.square(b - w[0])


def sparse_problem(tf, dtype, resource):
    """A table of which only rows 0 and 2 are used, row 2 twice."""
    start = tf.constant([[1.0, -1.0], [2.0, 2.0], [0.5, -0.25], [3.0, 3.0]], dtype)
    table = tf.get_variable("table", initializer=start, use_resource=resource)
    weight = tf.constant([[1.0, 0.5], [0.25, 1.0], [2.0, 0.1]], dtype)
    return {"table": table}, lambda: tf.reduce_sum(weight * tf.square(tf.gather(table, [0, 2, 2]) - 0.1))


PROBLEMS = {"dense": dense_problem, "sparse": sparse_problem}


def watched(optimizer, variables):
    """Everything an optimizer moves: variables, their slots, and what it keeps besides (powers of beta)."""
    found = dict(variables)
    for name, variable in variables.items():
        for slot in optimizer.get_slot_names():
            found[name + "." + slot] = optimizer.get_slot(variable, slot)
    known = [id(value) for value in found.values()]
    for other in optimizer.variables():
        if id(other) not in known:
            found[other.name.split(":")[0]] = other
    return found


def graph_trajectory(tf, recipe, problem, dtype, resource):
    with tf.Graph().as_default():
        variables, loss = PROBLEMS[problem](tf, dtype, resource)
        step = tf.train.get_or_create_global_step()
        optimizer = RECIPES[recipe](tf, step)
        train = optimizer.minimize(loss(), global_step=step)
        rows = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                session.run(train)
                rows.append(session.run(watched(optimizer, variables)))
            steps = session.run(step)
    return stacked(rows, steps)


def eager_trajectory(tf, recipe, problem, dtype, resource):
    with tf.variable_scope("eager", reuse=False):  # nothing is kept between cases: eager get_variable makes anew
        variables, loss = PROBLEMS[problem](tf, dtype, resource)
    step = tf.Variable(0, trainable=False, dtype=tf.int64, use_resource=True)
    optimizer = RECIPES[recipe](tf, step)
    rows = []
    for _ in range(STEPS):
        optimizer.minimize(loss, global_step=step)
        rows.append({name: value.numpy() for name, value in watched(optimizer, variables).items()})
    return stacked(rows, int(step.numpy()))


def stacked(rows, steps):
    columns = {name: np.stack([np.asarray(row[name]) for row in rows]).tolist() for name in rows[0]}
    return {"columns": columns, "steps": int(steps)}


def enter_cases():
    for recipe in RECIPES:
        # TensorFlow's proximal optimizers keep their rates in float32 and refuse variables of float64.
        for dtype in ("float32",) if recipe.startswith("proximal") else ("float32", "float64"):
            for problem in PROBLEMS:
                case = f"{recipe}-{problem}-{dtype}"
                in_graph = functools.partial(graph_trajectory, recipe=recipe, problem=problem)
                eagerly = functools.partial(eager_trajectory, recipe=recipe, problem=problem)
                book.add(case + "-ref", with_types(in_graph, dtype, False), ("1.15",))
                book.add(case + "-resource", with_types(in_graph, dtype, True), ("1.15", "2.21"))
                book.add(case + "-eager", with_types(eagerly, dtype, True), ("2.21",))


def with_types(run, dtype, resource):
    return lambda tf: run(tf, dtype=tf.as_dtype(dtype), resource=resource)


enter_cases()


def play(tf, judge, program):
    return program(graph_module(tf, judge))


def write(judge, recording):
    """One npz a judge: every different array once, and an index saying which case has which columns."""
    arrays, index, keys = {}, {}, {}
    for name, played in recording.items():
        dtype = np.float32 if "float32" in name else np.float64
        columns = {}
        for column, rows in played["columns"].items():
            array = np.asarray(rows, dtype)
            key = keys.setdefault((array.tobytes(), array.shape), f"a{len(keys)}")
            arrays[key] = array
            columns[column] = key
        index[name] = {"columns": columns, "steps": played["steps"]}
    arrays["index"] = np.frombuffer(json.dumps(index, sort_keys=True).encode(), np.uint8)
    np.savez_compressed(recording_path("optimizers", judge, "npz"), **arrays)


def read(judge):
    with np.load(recording_path("optimizers", judge, "npz")) as arrays:
        index = json.loads(arrays["index"].tobytes().decode())
        for case in index.values():
            case["columns"] = {column: arrays[key] for column, key in case["columns"].items()}
    return index
