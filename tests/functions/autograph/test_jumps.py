"""`return`, `break` and `continue` out of branches and loops, also where TensorFlow refuses them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.autograph.programs import Table, check

table = Table()
program = table.program


# --- return -----------------------------------------------------------------------------------------------------------


@program(1.0, -1.0)
def return_on_both_sides(x):
    if x > 0:
        return x
    else:
        return -x


@program(1.0, -1.0)
def early_return(x):
    if x > 0:
        return x * 2.0
    x = x - 1.0
    return x


@program(1, -1, 0, 100)
def several_early_returns(x):
    if x > 50:
        return 3
    if x > 0:
        return 1
    if x < 0:
        return 2
    return 0


@program((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
def nested_returns(x, y):
    if x > 0:
        if y > 0:
            return x + y
        return x - y
    elif y > 0:
        return y
    return x * y


@program(1.0, 3.0, -3.0)
def return_from_one_inner_branch(x):
    if x > 0:
        if x > 2:
            return tf.constant(1.0)
        x = x + 1.0
    else:
        x = x + 2.0
    return x


@program((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0), (5.0, 5.0))
def several_inner_returns(x, y):
    if x > 0:
        if y > 3:
            return x * 100.0
        x = x + 1.0
    if y > 0:
        if x > 1.5:
            return x + y
        y = y * 2.0
    else:
        y = y - 1.0
    return x - y


@program(1.0, -1.0)
def return_of_structures(x):
    if x > 0:
        return {"a": x, "b": [x, 2.0]}
    return {"a": -x, "b": [x * 3.0, 1.0]}


@program(1.0, -1.0)
def nothing_is_returned(x):
    if x > 0:
        return
    x = x + 1.0


@program(1.0, -1.0)
def return_in_else(x):
    if x > 0:
        y = x + 1.0
    else:
        return x
    return y * 2.0


@program(3.0, -3.0)
def static_return_before_a_tensor_one(x):
    y = None
    if y is not None:
        return 100.0
    if x > 0:
        return x
    return -x


@program(3.0, -3.0)
def static_return_inside_a_tensor_one(x):
    scale = None
    if x > 0:
        if scale is None:
            return x
        return x * scale
    return -x


@program(3.0, -3.0)
def tensor_return_inside_a_static_one(x):
    scale = 2.0
    if scale is not None:
        if x > 0:
            return x * scale
        x = x + 1.0
    return x


@program(3.0, -3.0)
def return_inside_with(x):
    with tf.name_scope("scope"):
        if x > 0:
            return x * 2.0
        y = x - 1.0
    return y * 3.0


@program(3.0, -3.0)
def return_inside_with_on_all_paths(x):
    with tf.name_scope("scope"):
        if x > 0:
            return x * 2.0
        return x


@program(3.0, -3.0)
def return_inside_try(x):
    try:
        if x > 0:
            return x * 2.0
        y = x - 1.0
    except ZeroDivisionError:
        y = x
    else:
        y = y * 10.0
    finally:
        z = 1.0
    return y * 3.0 + z


@program(("a", 3.0), ("a", -3.0), ("b", 3.0))
def return_inside_match(kind, x):
    match kind:
        case "a":
            if x > 0:
                return x * 2.0
            y = x
        case _:
            y = x * 5.0
    return y + 1.0


@program(2.0, 5.0)
def return_inside_a_tensor_for(x):
    for _ in tf.range(10):
        if x > 3.0:
            return x
        x = x + 1.0
    return x * 10.0


@program(2.0, -50.0)
def return_inside_a_tensor_for_or_behind_it(x):
    for i in tf.range(10):
        if x > 3.0:
            return x
        x = x + tf.cast(i, tf.float32)
    return x * 10.0


@program(2.0, 5.0)
def return_inside_while_true(x):
    while True:
        if x > 3.0:
            return x
        x = x + 1.0


@program(2.0, 5.0, -20.0)
def return_inside_while(x):
    while x < 100.0:
        x = x + 7.0
        if x > 3.0:
            return x * 2.0, 1
        if x < -10.0:
            return x, 2
    return x, 3


@program(7, 12, 100)
def return_inside_nested_loops(n):
    for i in tf.range(1, 10):
        for j in tf.range(1, 10):
            if i * j == n:
                return i * 10 + j
    return -1


@program(7, 12)
def return_inside_nested_loops_with_code_behind(n):
    total = 0
    for i in tf.range(1, 10):
        for j in tf.range(1, i + 1):
            if i * j == n:
                return total
            total += j
        total += 100
    total = total + 1
    return -total


@program(2.0, 50.0)
def return_inside_a_python_for(x):
    for k in [1.0, 2.0, 3.0]:
        x = x + k
        if x > 5.0:
            return x
    return -x


@program(3.0)
def return_inside_a_python_for_in_a_branch(x):
    if x > 0:
        for k in (1, 2, 3):
            if k == 2:
                return x * k
        x = x + 100.0
    return x


@program((2.0, 3), (2.0, 0))
def return_of_a_value_known_in_the_first_iteration_only(x, n):
    for i in tf.range(n):
        return x + tf.cast(i, tf.float32)
    return x


@program(1.0, -1.0)
def code_behind_return_is_dead(x):
    if x > 0:
        return x
        x = "never"
    return -x
    return None


@program(1.0, -1.0)
def raise_on_a_path_of_python(x):
    if x > 0:
        return x
    elif x is None:
        raise ValueError("never")
    else:
        return -x


@program([1.0, 2.0, 3.0], [1.0, -2.0, 3.0])
def return_of_the_item(x):
    for v in x:
        if v < 0:
            return v
    return tf.constant(0.0)


@program(4.0)
def lambda_and_nested_function_return_for_themselves(x):
    def sign(v):
        if v > 0:
            return 1.0
        return -1.0

    if x > 3:
        return sign(x) * (lambda v: v + 1.0)(x)
    return sign(-x)


# --- break and continue -----------------------------------------------------------------------------------------------


@program(3, 20)
def break_in_for(n):
    total = 0
    for i in tf.range(10):
        if i == n:
            break
        total += i
    return total


@program(3, 20)
def break_in_while(n):
    i = 0
    while i < 10:
        i += 1
        if i > n:
            break
    return i


@program(3)
def break_out_of_while_true(n):
    i = 0
    while True:
        i += 1
        if i > n:
            break
    return i


@program(3)
def continue_in_for(n):
    total = 0
    for i in tf.range(10):
        if i % n == 0:
            continue
        total += i
    return total


@program(3)
def continue_in_while(n):
    i, total = 0, 0
    while i < 10:
        i += 1
        if i % n == 0:
            continue
        total += i
    return total


@program(5)
def break_and_continue(n):
    total = 0
    for i in tf.range(100):
        if i % 2 == 0:
            continue
        if i > n:
            break
        total = total * 10 + i
    return total


@program(5)
def continue_in_a_nested_branch(n):
    total = 0
    for i in tf.range(10):
        if i > 2:
            if i > n:
                continue
            total += 100
        else:
            total += 1
        total += i
    return total


@program(5)
def break_in_a_nested_branch(n):
    total = 0
    for i in tf.range(10):
        if i > 2:
            total += 100
            if i > n:
                total += 1000
                break
            total += 10
        total += i
    return total


@program(4)
def break_of_the_inner_loop_only(n):
    total = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j > i:
                break
            total += j
        total += 10
    return total


@program(4)
def continue_of_the_outer_loop(n):
    total = 0
    for i in tf.range(n):
        if i == 1:
            continue
        for j in tf.range(n):
            if j == 2:
                continue
            total += i * j
        total += 100
    return total


@program((3, 10), (3, 2))
def for_else(n, m):
    for i in tf.range(m):
        if i == n:
            found = i
            break
    else:
        found = -1
    return found


@program((3, 10), (3, 2))
def while_else(n, m):
    i, found = 0, 0
    while i < m:
        if i == n:
            found = i
            break
        i += 1
    else:
        found = -1
    return found


@program(3, 9)
def break_in_a_python_for(n):
    total = 0
    for i in range(6):
        if i == n:
            break
        total += i
    return total


@program(3)
def continue_in_a_python_for(n):
    total = 0
    for i in [1, 2, 3, 4]:
        if i == n:
            continue
        total += i
    return total


@program(3, 100)
def break_in_a_python_for_of_unknown_length(n):
    total = 0
    for i in itertools.islice(itertools.count(), 6):
        total += i
        if total > n:
            break
    return total


@program(2.0)
def python_break_in_a_python_loop(x):
    for i in range(10):
        if i is None:
            continue
        if i in (3,):
            break
        x = x + 1.0
    return x


@program(2.0)
def python_break_in_a_tensor_loop(x):
    stop = True
    for _ in tf.range(10):
        x = x + 1.0
        if stop is True:
            break
        x = x + 100.0
    return x


@program(6)
def break_inside_with(n):
    total = 0
    for i in tf.range(10):
        with tf.name_scope("step"):
            if i == n:
                break
            total += i
        total += 100
    return total


@program(6)
def continue_inside_try(n):
    total = 0
    for i in tf.range(10):
        try:
            if i == n:
                continue
            total += i
        finally:
            total += 1000
        total += 100
    return total


@program([1.0, 2.0, -1.0, 5.0])
def break_over_rows(x):
    total = 0.0
    for v in x:
        if v < 0:
            break
        total += v
    return total


@program([4, 7, 9])
def binary_search(x):
    low, high = 0, 3
    while low < high:
        middle = (low + high) // 2
        if x[middle] == 7:
            return middle
        if x[middle] < 7:
            low = middle + 1
        else:
            high = middle
    return -1


@program(3.0)
def line_search(x):
    step = 1.0
    for _ in tf.range(20):
        candidate = x - step * 2.0 * x
        if candidate * candidate < x * x:
            break
        step = step * 0.5
    return candidate, step


@program(10)
def static_and_tensor_conditions_for_break(n):
    limit = 4
    total = 0
    for i in tf.range(n):
        if limit is None:
            break
        if i > limit and total > 0:
            break
        total += i
    return total


@program(3)
def break_and_a_condition_that_must_not_be_tried(n):
    x = [5, 6, 7]
    data = tf.constant(x)
    i = 0
    while data[i] > 0:
        i += 1
        if i == n:
            break
    return i


@program((3, 5))
def names_that_look_like_ours(do_break, ag):
    do_return, retval, if_body = 0, 1, 2
    for i in tf.range(10):
        if i == do_break:
            break
        do_return += ag
    if do_return > 10:
        return do_return + retval + if_body
    return retval


@pytest.mark.parametrize(("function", "arguments"), table, ids=table.ids())
def test_program(function, arguments):
    check(function, arguments)


def test_gradients_of_an_early_return_from_a_loop():
    @tf.function
    def f(x):
        for _ in tf.range(10):
            x = x * 2.0
            if x > 10.0:
                return x * x
        return x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(y) == 144.0
    np.testing.assert_allclose(tape.gradient(y, x), 2 * 12.0 * 4.0)


def test_effects_after_a_break_do_not_happen():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(10):
            if i == n:
                break
            v.assign_add(1)

    f(tf.constant(4))
    assert int(v) == 4


def test_an_endless_python_loop_with_a_tensor_break_is_refused():
    @tf.function
    def f(x):
        for i in itertools.count():
            if x > tf.cast(i, tf.float32):
                break
        return x

    with pytest.raises(NotImplementedError, match="break and return statements which depend on a TF condition"):
        f(tf.constant(1.0))
