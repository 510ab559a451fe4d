"""Small programs of loops, choices and arrays of tensors, as functions of `tf` and their inputs.

Every program is differentiable in its inputs where its results are floats. `PROGRAMS` holds (function, inputs) by
name; `REFUSED` holds programs that must fail, by name. TensorFlow 2.21 and 1.15 say what they give (`tools/record`);
Ebbflow is compared with that in every way a program can be run. Plain Python of any age: TensorFlow 1.15 runs on 3.7.
"""

import collections

import numpy as np

PROGRAMS = {}
REFUSED = {}
Pair = collections.namedtuple("Pair", "a b")

SCALARS = (np.float32(0.5), np.float32(0.3))
ROWS = (np.array([[0.3, 0.4], [0.5, 0.6], [0.7, 0.8]], np.float32), np.float32(0.3))
VECTOR = (np.array([0.3, -0.4, 0.5, 0.9], np.float32), np.float32(0.6))
MATRIX = (
    np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], np.float32),
    np.array([[0.2, -0.1, 0.4], [0.3, 0.1, -0.2], [0.0, 0.5, 0.1]], np.float32),
)


def program(*inputs):
    """Enter a program under its function's name."""

    def enter(function):
        PROGRAMS[function.__name__] = (function, inputs)
        return function

    return enter


def refused(*inputs):
    """Enter a program that must fail."""

    def enter(function):
        REFUSED[function.__name__] = (function, inputs)
        return function

    return enter


# --- while_loop -------------------------------------------------------------------------------------------------------


@program(*SCALARS)
def while_scalar(tf, x, w):
    return tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, tf.tanh(x * w + tf.cast(i, tf.float32))), (0, x))


@program(*SCALARS)
def while_never(tf, x, w):
    return tf.while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * w), (0, x))


@program(*SCALARS)
def while_by_value(tf, x, w):
    return tf.while_loop(lambda x, n: x > 0.01, lambda x, n: (x * w, n + 1), (x, 0))


@program(*SCALARS)
def while_maximum_iterations(tf, x, w):
    return tf.while_loop(lambda i, x: i < 100, lambda i, x: (i + 1, tf.sin(x) + w), (0, x), maximum_iterations=3)


@program(*SCALARS)
def while_maximum_beyond(tf, x, w):
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.sin(x) + w), (0, x), maximum_iterations=30)


@program(*SCALARS)
def while_invariant_variable(tf, x, w):
    return tf.while_loop(lambda i, x, w: i < 3, lambda i, x, w: (i + 1, tf.sin(x * w), w), (0, x, w))


@program(*SCALARS)
def while_swap(tf, x, w):
    return tf.while_loop(lambda i, x, y: i < 5, lambda i, x, y: (i + 1, y, tf.sin(x + y)), (0, x, w))


@program(*SCALARS)
def while_fibonacci(tf, x, w):
    return tf.while_loop(lambda i, a, b: i < 10, lambda i, a, b: (i + 1, b, a + b), (0, x, w))


@program(*SCALARS)
def while_square_many(tf, x, w):
    return tf.while_loop(lambda i, x: i < 6, lambda i, x: (i + 1, x * x + w), (0, x))


@program(*SCALARS)
def while_stop_gradient(tf, x, w):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x) * tf.stop_gradient(x * w) + w), (0, x))


@program(*SCALARS)
def while_no_back_prop(tf, x, w):
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * w), (0, x), back_prop=False)
    return y * x * w


@program(*SCALARS)
def while_partly_used(tf, x, w):
    found = tf.while_loop(
        lambda i, x, y, z: i < 3, lambda i, x, y, z: (i + 1, tf.sin(x * w), tf.cos(y), z + x * y), (0, x, w, x * w)
    )
    return found[3]


@program(*SCALARS)
def while_dead_branch(tf, x, w):
    found = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, tf.sin(x), y * w), (0, x, w))
    return found[1]


@program(*SCALARS)
def while_dictionary(tf, x, w):
    start = {"i": tf.constant(0), "x": x}
    body = lambda v: [{"i": v["i"] + 1, "x": tf.sin(v["x"] * w)}]
    found = tf.while_loop(lambda v: v["i"] < 3, body, [start])
    found = found[0] if isinstance(found, (list, tuple)) else found
    return found["x"]


@program(*SCALARS)
def while_named_tuple(tf, x, w):
    found = tf.while_loop(lambda i, p: i < 4, lambda i, p: (i + 1, Pair(tf.sin(p.a + p.b), p.a * p.b)), (0, Pair(x, w)))
    return found[1].a, found[1].b


@program(*SCALARS)
def while_nested_lists(tf, x, w):
    found = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, [tf.sin(v[0]), (v[1][0] * w, v[1][1] + v[0])]), (0, [x, (w, x * w)])
    )
    return found[1][0], found[1][1][0], found[1][1][1]


@program(*SCALARS)
def while_in_while(tf, x, w):
    inner = lambda x: tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.sin(z * w) + x), (0, x))[1]
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, inner(x)), (0, x))


@program(*SCALARS)
def while_in_while_of_growing_length(tf, x, w):
    inner = lambda i, x: tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.sin(z) * w), (0, x))[1]
    return tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, inner(i, x) + x), (0, x))


@program(*SCALARS)
def while_three_deep(tf, x, w):
    third = lambda x: tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.sin(z) + w), (0, x))[1]
    second = lambda x: tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, third(z * x)), (0, x))[1]
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, second(x)), (0, x))


@program(*SCALARS)
def while_after_while(tf, x, w):
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y * w)), (0, x))
    return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * y + w), (0, x))


@program(*SCALARS)
def while_shared_outside(tf, x, w):
    outside = tf.exp(x * w)
    return tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, tf.sin(z * outside) + outside), (0, x))


@program(*SCALARS)
def while_computed_invariant(tf, x, w):
    return tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * tf.exp(w * w) + tf.exp(w)), (0, x))


@program(*MATRIX)
def while_matmul(tf, x, w):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, w))), (0, x))


@program(*MATRIX)
def while_broadcast(tf, x, w):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * w[0] + tf.reduce_sum(w)), (0, x))


@program(*VECTOR)
def while_growing(tf, x, w):
    return tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, [tf.reduce_sum(y) * w]], 0)),
        (0, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )


@program(*VECTOR)
def while_shrinking(tf, x, w):
    return tf.while_loop(
        lambda y: tf.shape(y)[0] > 1,
        lambda y: [(y[1:] + y[:-1]) * w],
        [x],
        shape_invariants=[tf.TensorShape([None])],
    )[0]


@program(*VECTOR)
def while_gather(tf, x, w):
    return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * w + tf.gather(x, i % 3)), (0, w))


@program(*VECTOR)
def while_slice(tf, x, w):
    return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf.sin(s * w + x[i])), (0, w))


@program(*VECTOR)
def while_count_of_elements(tf, x, w):
    return tf.while_loop(lambda i, s: i < tf.size(x), lambda i, s: (i + 1, s + x[i] * x[i] * w), (0, w))


@program(*VECTOR)
def while_newton(tf, x, w):
    step = lambda i, y: (i + 1, y - (y * y - (x * x + w)) / (2.0 * y))
    return tf.while_loop(lambda i, y: i < 5, step, (0, tf.ones_like(x)))


@program(*VECTOR)
def while_power(tf, x, w):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.abs(x) ** w), (0, tf.ones_like(x)))


@program(*VECTOR)
def while_int_and_float(tf, x, w):
    return tf.while_loop(
        lambda n, s: n < 100, lambda n, s: (n * 2, s + x[0] / tf.cast(n, tf.float32)), (tf.constant(1), w)
    )


# --- cond, case, switch_case ------------------------------------------------------------------------------------------


@program(*SCALARS)
def cond_true(tf, x, w):
    return tf.cond(x > 0.0, lambda: tf.sin(x * w), lambda: x + w)


@program(*SCALARS)
def cond_false(tf, x, w):
    return tf.cond(x < 0.0, lambda: tf.sin(x * w), lambda: x * x + w)


@program(*SCALARS)
def cond_one_side_unused(tf, x, w):
    return tf.cond(x > 0.0, lambda: tf.exp(x), lambda: tf.exp(w))


@program(*SCALARS)
def cond_constant_side(tf, x, w):
    return tf.cond(x < 0.0, lambda: 1.0, lambda: x * w)


@program(*SCALARS)
def cond_structure(tf, x, w):
    found = tf.cond(x > 0.0, lambda: {"p": x * w, "q": (x, w)}, lambda: {"p": x, "q": (w, x)})
    return found["p"], found["q"][0] * found["q"][1]


@program(*SCALARS)
def cond_nested(tf, x, w):
    return tf.cond(x > 0.0, lambda: tf.cond(w > 0.5, lambda: x, lambda: tf.sin(x) * w), lambda: w)


@program(*SCALARS)
def cond_in_while(tf, x, w):
    return tf.while_loop(
        lambda i, x: i < 4,
        lambda i, x: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(x * w), lambda: x * x + w)),
        (0, x),
    )


@program(*SCALARS)
def while_in_cond(tf, x, w):
    loop = lambda: tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, tf.sin(z * w)), (0, x))[1]
    return tf.cond(x > 0.0, loop, lambda: w)


@program(*SCALARS)
def while_in_cond_not_taken(tf, x, w):
    loop = lambda: tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, tf.sin(z * w)), (0, x))[1]
    return tf.cond(x < 0.0, loop, lambda: w * w * x)


@program(*VECTOR)
def cond_of_vectors(tf, x, w):
    return tf.cond(tf.reduce_sum(x) > 1.0, lambda: x * w, lambda: tf.sin(x) + w)


@program(*VECTOR)
def cond_gather_rows(tf, x, w):
    return tf.cond(w > 0.0, lambda: tf.gather(x, [0, 2]) * w, lambda: tf.gather(x, [1, 1]))


@program(*SCALARS)
def case_first(tf, x, w):
    return tf.case([(x > 0.0, lambda: x * w), (w > 0.0, lambda: tf.sin(x))], default=lambda: w)


@program(*SCALARS)
def case_second(tf, x, w):
    return tf.case([(x > 1.0, lambda: x * w), (w > 0.0, lambda: tf.sin(x) * w)], default=lambda: w)


@program(*SCALARS)
def case_default(tf, x, w):
    return tf.case([(x > 1.0, lambda: x * w), (w > 1.0, lambda: tf.sin(x))], default=lambda: x / w)


@program(*SCALARS)
def case_exclusive(tf, x, w):
    return tf.case([(x > 1.0, lambda: x * w), (w < 1.0, lambda: tf.cos(x * w))], exclusive=True)


@program(*SCALARS)
def switch_case_list(tf, x, w):
    return tf.switch_case(tf.constant(1), [lambda: x, lambda: tf.sin(x * w), lambda: w])


@program(*SCALARS)
def switch_case_dictionary(tf, x, w):
    return tf.switch_case(tf.constant(0), {1: lambda: x, 0: lambda: x * w}, default=lambda: w)


@program(*SCALARS)
def switch_case_default(tf, x, w):
    return tf.switch_case(tf.constant(7), {1: lambda: x, 0: lambda: x * w}, default=lambda: tf.exp(w * x))


@program(*SCALARS)
def switch_case_in_while(tf, x, w):
    choice = lambda i, x: tf.switch_case(i, [lambda: tf.sin(x), lambda: x * w, lambda: x + w * x])
    return tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, choice(i, x)), (tf.constant(0), x))


# --- map_fn, scan, folds ----------------------------------------------------------------------------------------------


@program(*ROWS)
def map_rows(tf, x, w):
    return tf.map_fn(lambda r: tf.reduce_sum(r * w) ** 2.0, x)


@program(*ROWS)
def map_to_other_dtypes(tf, x, w):
    found = tf.map_fn(lambda r: (r[0] * w, tf.cast(r[1] * 10.0, tf.int32)), x, dtype=(tf.float32, tf.int32))
    return found[0], found[1]


@program(*ROWS)
def map_several(tf, x, w):
    return tf.map_fn(lambda r: r[0] * r[1] * w, (x, x * 2.0), dtype=tf.float32)


@program(*ROWS)
def map_nested(tf, x, w):
    return tf.map_fn(lambda r: tf.map_fn(lambda e: e * e * w, r), x)


@program(*ROWS)
def map_dictionary(tf, x, w):
    found = tf.map_fn(lambda r: {"s": r["a"] * w + r["b"]}, {"a": x, "b": x * x}, dtype={"s": tf.float32})
    return found["s"]


@program(*ROWS)
def scan_without_start(tf, x, w):
    return tf.scan(lambda a, r: tf.sin(a * w + r), x)


@program(*ROWS)
def scan_with_start(tf, x, w):
    return tf.scan(lambda a, r: tf.sin(a * w + r), x, initializer=tf.zeros([2]))


@program(*ROWS)
def scan_reversed(tf, x, w):
    return tf.scan(lambda a, r: tf.sin(a * w + r), x, reverse=True)


@program(*ROWS)
def scan_reversed_with_start(tf, x, w):
    return tf.scan(lambda a, r: a * w + tf.reduce_sum(r), x, initializer=w, reverse=True)


@program(*ROWS)
def scan_structures(tf, x, w):
    start = (tf.zeros([2]), tf.constant(0.0))
    found = tf.scan(lambda a, r: (tf.sin(a[0] + r[0]), a[1] * w + tf.reduce_sum(r[1])), (x, x), initializer=start)
    return found[0], found[1]


@program(*ROWS)
def fold_left(tf, x, w):
    return tf.foldl(lambda a, r: tf.sin(a * w + r), x)


@program(*ROWS)
def fold_left_with_start(tf, x, w):
    return tf.foldl(lambda a, r: a * w + tf.reduce_sum(r), x, initializer=w)


@program(*ROWS)
def fold_right(tf, x, w):
    return tf.foldr(lambda a, r: tf.sin(a * w + r), x)


@program(*ROWS)
def fold_right_with_start(tf, x, w):
    return tf.foldr(lambda a, r: a * w + r * a, x, initializer=tf.ones([2]))


# --- TensorArray ------------------------------------------------------------------------------------------------------


@program(*SCALARS)
def array_of_steps(tf, x, w):
    array = tf.TensorArray(tf.float32, 4)
    step = lambda i, x, a: (i + 1, tf.sin(x * w), a.write(i, x))
    _, y, array = tf.while_loop(lambda i, x, a: i < 4, step, (0, x, array))
    return array.stack(), y


@program(*VECTOR)
def array_read_in_loop(tf, x, w):
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    step = lambda i, s: (i + 1, tf.sin(s * w + array.read(i)) * array.read(3 - i))
    return tf.while_loop(lambda i, s: i < 4, step, (0, w))


@program(*VECTOR)
def array_write_and_read_in_loop(tf, x, w):
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False, element_shape=[]).write(0, x[0])
    step = lambda i, a: (i + 1, a.write(i, tf.sin(a.read(i - 1)) * x[i] + w))
    _, array = tf.while_loop(lambda i, a: i < 4, step, (1, array))
    return array.stack()


@program(*VECTOR)
def array_of_growing_size(tf, x, w):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    step = lambda i, a: (i + 1, a.write(i, x[i] * w))
    _, array = tf.while_loop(lambda i, a: i < 3, step, (0, array))
    return array.stack(), array.size()


@program(*VECTOR)
def array_concat(tf, x, w):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    array = array.write(0, x * x).write(1, tf.concat([x, [w]], 0))
    return array.concat()


@program(*VECTOR)
def array_split(tf, x, w):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(x * w, [1, 3])
    return array.read(1) * array.read(0)


@program(*VECTOR)
def array_scatter_gather(tf, x, w):
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).scatter([2, 0, 1, 3], x * w)
    return array.gather([3, 0, 1]) * array.read(2)


@program(*VECTOR)
def array_unwritten_is_zero(tf, x, w):
    array = tf.TensorArray(tf.float32, 3, element_shape=[]).write(1, x[0] * w)
    return array.stack()


@program(*VECTOR)
def array_identity(tf, x, w):
    array = tf.TensorArray(tf.float32, 4).unstack(x * w).identity()
    return array.stack()


@program(*MATRIX)
def array_rnn(tf, x, w):
    inputs = tf.TensorArray(tf.float32, 2).unstack(x)
    outputs = tf.TensorArray(tf.float32, 2)

    def step(t, state, outputs):
        state = tf.tanh(tf.matmul(state, w) + inputs.read(t))
        return t + 1, state, outputs.write(t, state)

    _, state, outputs = tf.while_loop(lambda t, s, o: t < 2, step, (0, tf.zeros([1, 3]), outputs))
    return outputs.stack(), state


# --- what is refused --------------------------------------------------------------------------------------------------


@refused(*VECTOR)
def while_shape_changes(tf, x, w):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y], 0)), (0, x))


@refused(*SCALARS)
def while_dtype_changes(tf, x, w):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.cast(y, tf.int32)), (0, x))


@refused(*SCALARS)
def while_count_changes(tf, x, w):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y, y), (0, x))


@refused(*SCALARS)
def while_condition_not_callable(tf, x, w):
    return tf.while_loop(True, lambda i: i, [x])


@refused(*SCALARS)
def while_body_not_callable(tf, x, w):
    return tf.while_loop(lambda i: True, 3, [x])


@refused(*SCALARS)
def while_no_variables(tf, x, w):
    return tf.while_loop(lambda: tf.constant(False), lambda: (), [])


@refused(*SCALARS)
def while_no_parallel_iterations(tf, x, w):
    return tf.while_loop(lambda i: i < 3.0, lambda i: i, [x], parallel_iterations=0)


@refused(*VECTOR)
def while_invariant_too_narrow(tf, x, w):
    shapes = (tf.TensorShape([]), tf.TensorShape([4]))
    return tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y], 0)), (0, x), shape_invariants=shapes
    )


@refused(*SCALARS)
def cond_not_callable(tf, x, w):
    return tf.cond(x > 0.0, x, lambda: w)


@refused(*SCALARS)
def cond_structures_differ(tf, x, w):
    return tf.cond(x > 0.0, lambda: (x, w), lambda: w)


@refused(*SCALARS)
def cond_dtypes_differ(tf, x, w):
    return tf.cond(x > 0.0, lambda: x, lambda: 1)


@refused(*SCALARS)
def case_not_pairs(tf, x, w):
    return tf.case([x > 0.0, lambda: x])


@refused(*SCALARS)
def case_python_predicate(tf, x, w):
    return tf.case([(True, lambda: x)])


@refused(*SCALARS)
def case_function_not_callable(tf, x, w):
    return tf.case([(x > 0.0, x)])


@refused(*SCALARS)
def case_predicate_of_floats(tf, x, w):
    return tf.case([(x, lambda: x)])


@refused(*SCALARS)
def case_none_holds(tf, x, w):
    return tf.case([(x > 1.0, lambda: x), (w > 1.0, lambda: w)])


@refused(*SCALARS)
def case_two_hold(tf, x, w):
    return tf.case([(x > 0.0, lambda: x), (w > 0.0, lambda: w)], exclusive=True)


@refused(*SCALARS)
def switch_case_python_index(tf, x, w):
    return tf.switch_case(1, [lambda: x, lambda: w])


@refused(*SCALARS)
def switch_case_holes(tf, x, w):
    return tf.switch_case(tf.constant(1), {0: lambda: x, 2: lambda: w})


@refused(*SCALARS)
def switch_case_float_index(tf, x, w):
    return tf.switch_case(x, [lambda: x, lambda: w])


@refused(*SCALARS)
def map_not_callable(tf, x, w):
    return tf.map_fn(3, tf.ones([2]))


@refused(*SCALARS)
def map_scalar(tf, x, w):
    return tf.map_fn(lambda r: r, x)


@refused(*ROWS)
def map_undeclared_structure(tf, x, w):
    return tf.map_fn(lambda r: (r, r), x)


@refused(*ROWS)
def map_lengths_differ(tf, x, w):
    return tf.map_fn(lambda r: r[0], (x, tf.ones([2, 2])), dtype=tf.float32)


@refused(*ROWS)
def scan_structure_changes(tf, x, w):
    return tf.scan(lambda a, r: (a, r), x)


@refused(*SCALARS)
def array_index_too_large(tf, x, w):
    return tf.TensorArray(tf.float32, 2).write(0, x).read(5)


@refused(*SCALARS)
def array_negative_index(tf, x, w):
    return tf.TensorArray(tf.float32, 2).write(0, x).read(-1)


@refused(*SCALARS)
def array_written_behind_the_end(tf, x, w):
    return tf.TensorArray(tf.float32, 2).write(3, x).stack()


@refused(*VECTOR)
def array_shapes_differ(tf, x, w):
    return tf.TensorArray(tf.float32, 2).write(0, x).write(1, w).stack()


@refused(*VECTOR)
def array_element_shape_differs(tf, x, w):
    return tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, x).stack()


@refused(*SCALARS)
def array_without_size(tf, x, w):
    return tf.TensorArray(tf.float32).write(0, x).stack()


@refused(*VECTOR)
def array_split_lengths_wrong(tf, x, w):
    return tf.TensorArray(tf.float32, 2).split(x, [1, 1]).concat()


@refused(*SCALARS)
def array_concat_of_scalars(tf, x, w):
    return tf.TensorArray(tf.float32, 1).write(0, x).concat()
