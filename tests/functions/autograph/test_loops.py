"""`while` and `for`: over tensors, ranges, arrays and plain Python, the same in every mode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.autograph.programs import Table, check

table = Table()
program = table.program


@program([5.0, 3.0], [0.1, 0.2])
def tanh_until_small(x):
    while tf.reduce_sum(x) > 1:
        x = tf.tanh(x)
    return x


@program(1, 6, 27)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(10, 0)
def fibonacci(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


@program(2.0)
def static_range(x):
    for i in range(10):
        x = x + float(i)
    return x


@program(2.0)
def tensor_range(x):
    for i in tf.range(10):
        x = x + tf.cast(i, tf.float32)
    return x


@program((2, 11), (5, 5))
def range_of_tensors(start, stop):
    total = 0
    for i in range(start, stop):
        total += i * i
    return total


@program(10, 3)
def range_downwards(n):
    total = 0
    for i in tf.range(n, 0, -2):
        total = total * 10 + i
    return total


@program((1, 10, 3), (10, 1, -4))
def range_with_a_step_that_is_a_tensor(a, b, c):
    total = 0
    for i in tf.range(a, b, c):
        total = total * 10 + i
    return total


@program(0.5)
def range_of_fractions(step):
    total = 0.0
    for x in tf.range(0.0, 2.0, step):
        total += x
    return total


@program([1.0, 2.0, 3.0], [4.0])
def rows_of_a_vector(x):
    total = 0.0
    for v in x:
        total = total * 10.0 + v
    return total


@program([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def rows_of_a_matrix(m):
    total = tf.zeros_like(m[0])
    for row in m:
        total = total * 2.0 + row
    return total


@program([3, 1, 2])
def rows_of_whole_numbers(x):
    total = 0
    for v in x:
        total = total * 10 + v
    return total


@program([[1, 2], [3, 4]])
def nested_loops_over_rows(m):
    total = 0
    for row in m:
        for v in row:
            total = total * 10 + v
    return total


@program(4, 0)
def nested_counting(n):
    total = 0
    i = 0
    while i < n:
        j = 0
        while j < i:
            total += j
            j += 1
        i += 1
    return total, i


@program((3, 4))
def tensor_loop_in_a_python_loop(n, m):
    total = 0
    for k in [1, 2, 3]:
        for i in tf.range(n):
            total += i * k + m
    return total


@program(3)
def python_loop_in_a_tensor_loop(n):
    total = 0
    for i in tf.range(n):
        for k in (1, 10, 100):
            total += i * k
    return total


@program(5)
def enumerate_a_tensor(n):
    total = 0
    for i, v in enumerate(tf.range(n) * 3):
        total += i * v
    return total


@program([1.0, 2.0])
def enumerate_from(x):
    total = 0.0
    for i, v in enumerate(x, 5):
        total += tf.cast(i, tf.float32) * v
    return total


@program(([1.0, 2.0, 3.0], [4.0, 5.0]))
def zip_of_tensors(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b
    return total


@program(([1, 2, 3],))
def zip_with_a_python_list(x):
    total = 0
    for a, b in zip(x, [10, 20, 30]):
        total += a * b
    return total


@program([1, 2, 3])
def enumerate_of_zip(x):
    total = 0
    for i, (a, b) in enumerate(zip(x, x + 1)):
        total = total * 10 + i * a + b
    return total


@program([1, 2, 3])
def map_over_a_tensor(x):
    total = 0
    for v in map(lambda v: v * v if v > 1 else v - 1, x):
        total = total * 10 + v
    return total


@program([1, 2, 3])
def length_of_a_tensor(x):
    total = 0
    for i in range(len(x)):
        total = total * 10 + x[i]
    return total


@program(([1.0, 2.0, 3.0], [2, 0, 1]))
def rows_of_a_ragged_tensor(x, lengths):
    total = 0.0
    for i, row in enumerate(tf.RaggedTensor.from_row_lengths(x, lengths)):
        total = total * 10.0 + tf.reduce_sum(row) + tf.cast(i, tf.float32)
    return total


RAGGED = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])


@program([3, 1, 2])
def nested_rows_of_a_ragged_tensor_from_outside(x):
    total = len(RAGGED)
    for v, rows in zip(x, RAGGED):
        for row in rows:
            if tf.size(row) == 1:
                break
            total = total * 10 + v * tf.reduce_sum(row)
    return total


@program([1.0, 2.0, 3.0])
def tensor_array_written(x):
    array = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        array = array.write(i, x[i] * 2.0)
    return array.stack()


@program([1.0, 2.0, 3.0])
def tensor_array_read(x):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    total = 0.0
    for v in array if not tf.executing_eagerly() else x:
        total = total * 10.0 + v
    return total


@program(3)
def structure_as_a_loop_variable(n):
    state = (0, [1.0, {"k": 2}])
    for i in tf.range(n):
        a, (b, c) = state
        state = (a + i, [b * 2.0, {"k": c["k"] + 1}])
    return state


@program(3)
def variable_first_set_in_the_loop(n):
    for i in tf.range(n):
        last = i * 2
    return last


@program(3)
def variable_that_was_none(n):
    last = None
    for i in tf.range(n):
        last = i * 2
    return last


@program(3)
def target_used_after_the_loop(n):
    for i in tf.range(n):  # noqa: B007
        pass
    return i


@program(3)
def target_set_again_in_the_loop(n):
    total = 0
    for i in tf.range(n):
        i = i * 10
        total += i
    return total


@program([[1.0, 2.0], [3.0, 4.0]])
def target_that_is_taken_apart(m):
    total = 0.0
    for a, b in zip(m, m + 1.0):
        total += tf.reduce_sum(a * b)
    return total


@program(5)
def temporaries_in_a_loop(n):
    total = 0
    for i in tf.range(n):
        t = i * 2
        if t > 4:
            u = t - 4
        else:
            u = t
        total += u
    return total


@program(5)
def loop_with_else(n):
    total = 0
    for i in tf.range(n):
        total += i
    else:
        total += 100
    while n > 0:
        n -= 1
    else:
        total += 1000
    return total


@program(7)
def condition_with_and(n):
    i = 0
    while i < n and i < 5:
        i += 1
    return i


@program(7)
def condition_with_a_call(n):
    def small(v):
        return v < 5

    i = 0
    while small(i) and not i > n:
        i += 1
    return i


@program(7, 0)
def walrus_in_the_condition(n):
    total = 0
    i = 0
    while (d := n - i) > 0:
        total += d
        i += 1
    return total, d


@program(3)
def python_loop_that_turns_to_tensors(n):
    i = 0
    limit = 2
    while i < limit:
        i = i + 1
        limit = n
    return i


@program(4)
def python_while(n):
    k = 0
    while k < 3:
        n = n * 2
        k += 1
    return n


@program(4)
def python_iterables(n):
    total = 0
    for k, v in {"a": 1, "b": 2}.items():
        total += v * len(k)
    for x in itertools.islice(itertools.count(), 3):
        total += x
    for x in [n, n + 1]:
        total += x
    for x in (v * 2 for v in (1, 2)):
        total += x
    return total


@program([1.0, 2.0, 3.0])
def comprehensions_are_pythons(x):
    parts = [x[i] * float(i) for i in range(3)]
    total = sum(parts)
    table = {i: p for i, p in enumerate(parts)}
    return total + table[2]


@program(3)
def captured_by_a_lambda(n):
    total = 0
    get = lambda: total
    for i in tf.range(n):
        total += i
    return get()


@program(3)
def lambda_made_in_the_loop(n):
    total = 0
    for i in tf.range(n):
        scaled = lambda v: v * i  # noqa: B023
        total += scaled(10)
    return total


@program(4)
def counted_by_a_nested_function(n):
    count = 0

    def tick():
        nonlocal count
        count = count + 1

    for _ in tf.range(n):
        tick()
    return count


@program([[1.0, 2.0], [3.0, 4.0]])
def power_iteration(m):
    v = tf.ones([2])
    for _ in tf.range(5):
        v = tf.linalg.matvec(m, v)
        v = tf.ensure_shape(v / tf.norm(v), [2])
    return v


@program(2.0, 10.0)
def newton(x):
    guess = x
    while tf.abs(guess * guess - x) > 1e-4:
        guess = 0.5 * (guess + x / guess)
    return guess


@program((48, 18), (7, 13))
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@program(30, 2)
def count_primes(n):
    count = 0
    for i in tf.range(2, n):
        prime = True
        for j in tf.range(2, i):
            if i % j == 0:
                prime = False
        if prime:
            count += 1
    return count


@program([3, 1, 2, 5, 4])
def bubble_sort(x):
    n = len(x)
    for i in tf.range(n):  # noqa: B007
        for j in tf.range(n - 1):
            if x[j] > x[j + 1]:
                a, b = x[j], x[j + 1]
                x = tf.tensor_scatter_nd_update(x, [[j], [j + 1]], [b, a])
    return x


@program([1.0, 3.0, 2.0])
def running_maximum(x):
    best, where, i = x[0], 0, 0
    for v in x:
        if v > best:
            best, where = v, i
        i += 1  # noqa: SIM113
    return best, where


@pytest.mark.parametrize(("function", "arguments"), table, ids=table.ids())
def test_program(function, arguments):
    check(function, arguments)


def nodes(function, *arguments):
    return [op.type for op in tf.function(function).get_concrete_function(*arguments).graph.get_operations()]


def test_a_static_range_is_unrolled_and_a_tensor_range_is_one_loop():
    def static(x):
        for _ in range(10):
            x = x + 1.0
        return x

    def staged(x):
        for _ in tf.range(10):
            x = x + 1.0
        return x

    assert nodes(static, tf.constant(0.0)).count("AddV2") == 10
    assert nodes(staged, tf.constant(0.0)).count("StatelessWhile") == 1
    assert "AddV2" not in nodes(staged, tf.constant(0.0))


def test_shape_invariants():
    @tf.function
    def f(n):
        x = tf.zeros([1])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, x], 0)
        return x

    assert f(tf.constant(3)).shape == [8]


def test_shape_invariants_of_a_dict():
    @tf.function
    def f(n):
        x = {"b": tf.zeros([1]), "a": tf.zeros([2])}
        free = {"a": tf.TensorShape([2]), "b": tf.TensorShape([None])}
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, free)])
            x = {"b": tf.concat([x["b"], x["b"]], 0), "a": x["a"] + 1.0}
        return x

    assert f(tf.constant(3))["b"].shape == [8]


def test_maximum_iterations():
    @tf.function
    def f(n):
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3, parallel_iterations=1)
            i += 1
        return i

    assert int(f(tf.constant(10))) == 3


def test_loop_options_mean_nothing_in_a_python_loop():
    def f(x):
        for _ in range(3):
            tf.autograph.experimental.set_loop_options(maximum_iterations=1)
            x = x + 1
        return x

    assert int(tf.function(f)(tf.constant(0))) == 3


def test_a_loop_that_must_run_once_says_so_when_it_does_not():
    @tf.function
    def f(n):
        for i in tf.range(n):
            last = i
        return last

    assert int(f(tf.constant(3))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize last"):
        f(tf.constant(0))


def test_gradients_through_a_loop_over_rows():
    @tf.function
    def f(x):
        y = 1.0
        for v in x:
            y = y * v
        return y

    x = tf.constant([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), [12.0, 8.0, 6.0])


def test_effects_happen_once_an_iteration_and_in_order():
    v = tf.Variable(1.0)

    @tf.function
    def f(n):
        for _ in tf.range(n):
            v.assign(v * 2.0)
            v.assign_add(1.0)
        return v.read_value()

    assert float(f(tf.constant(3))) == 15.0


def test_a_loop_without_loop_variables():
    v = tf.Variable(0)

    @tf.function
    def f():
        while v < 5:
            v.assign_add(1)

    f()
    assert int(v) == 5


def test_print_says_values_when_the_graph_runs(capsys):
    @tf.function
    def f(n):
        print("tracing")
        for i in tf.range(n):
            print("item", i, sep="=")
        return n

    f(tf.constant(2))
    f(tf.constant(1))
    assert capsys.readouterr().out == "tracing\nitem=0\nitem=1\nitem=0\n"
