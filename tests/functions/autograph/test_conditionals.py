"""`if`, `elif`, `else`, and expressions that choose: the same in Python, in graphs and in functions."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.autograph.programs import Table, check

table = Table()
program = table.program


@program(1.0, -2.0, 0.0)
def two_sides(x):
    if x > 0:
        y = x * 2.0
    else:
        y = -x
    return y


@program(1.0, -2.0)
def one_side(x):
    y = x
    if x > 0:
        y = y + 10.0
    return y


@program(5, -5, 0)
def chain_of_three(x):
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    else:
        y = 0
    return y


@program(5, 15, 25, 35)
def chain_of_four(x):
    if x > 30:
        kind, rest = 4, x - 30
    elif x > 20:
        kind, rest = 3, x - 20
    elif x > 10:
        kind, rest = 2, x - 10
    else:
        kind, rest = 1, x
    return kind, rest


@program((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
def nested(x, y):
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    else:
        z = x
        if y > 0:
            z = z * 3.0
    return z


@program(3.0, -3.0)
def several_variables(x):
    a, b, c = x, x + 1.0, x + 2.0
    if x > 0:
        a, b = b, a
        c += 1.0
    else:
        c -= 1.0
    return a, b, c


@program(3.0, -3.0)
def temporary_in_a_branch(x):
    if x > 0:
        t = x * x
        y = t + 1.0
    else:
        u = x - 1.0
        y = u * u
    return y


@program(3.0, -3.0)
def temporary_read_before_it_is_set_again(x):
    t = x + 1.0
    if x > 0:
        t = t * 2.0
        y = t
    else:
        y = t
    return y


@program(3.0, -3.0)
def structures(x):
    if x > 0:
        d = {"a": x, "b": (x, [x + 1.0])}
    else:
        d = {"a": -x, "b": (x * 2.0, [x])}
    return d


@program(3.0, -3.0)
def python_numbers(x):
    if x > 0:
        y = 1
    else:
        y = 2
    return y + 1


@program(3.0, -3.0)
def same_python_value_on_both_sides(x):
    if x > 0:
        kind, y = "linear", x
    else:
        kind, y = "linear", -x
    return y if kind == "linear" else y * 100.0


@program(3.0, -3.0)
def same_function_on_both_sides(x):
    if x > 0:
        act, y = tf.tanh, x
    else:
        act, y = tf.tanh, x * 2.0
    return act(y)


@program(3.0)
def condition_of_python(x):
    training = True
    if training:
        y = x * 2.0
    else:
        y = None
    return y


@program(3.0)
def is_none(x):
    y = None
    if y is None:
        y = x
    if y is not None and x is not None:
        y = y + 1.0
    return y


@program(3.0)
def plain_tests_stay_python(x):
    options = {"scale": 2.0}
    if "scale" in options and isinstance(options["scale"], float):
        x = x * options["scale"]
    if not hasattr(x, "no such thing"):
        x = x + 1.0
    return x


@program(3.0, -3.0)
def ternary(x):
    return x * 2.0 if x > 0 else -x


@program(3, 7, 20)
def nested_ternary(x):
    return x if x < 5 else x * 10 if x < 10 else -x


@program(3.0, -3.0)
def ternary_of_structures(x):
    a, b = (x, 1.0) if x > 0 else (-x, 2.0)
    return a, b


@program((1.0, 2.0), (1.0, -2.0), (-1.0, 2.0))
def and_(x, y):
    if x > 0 and y > 0:
        return x + y
    return x - y


@program((1.0, 2.0), (1.0, -2.0), (-1.0, -2.0))
def or_(x, y):
    if x > 0 or y > 0:
        return x + y
    return x - y


@program(1.0, -1.0)
def not_(x):
    if not x > 0:
        return -x
    return x


@program((1, 2, 3), (3, 2, 1), (1, 3, 2))
def mixed_logic(a, b, c):
    if (a < b and not b > c) or a == 3:
        return a
    return c


@program((5, True), (5, False), (-5, True))
def logic_with_python(x, flag):
    if flag and x > 0:
        return x * 2
    if flag or x > 100:
        return x * 3
    return x


@program((6, 0), (6, 2), (5, 2))
def and_protects_its_right_side(x, y):
    if y != 0 and x // y == 3:
        return 1
    return 0


@program((1, 2, 3), (2, 2, 3), (1, 5, 3), (3, 2, 1))
def chained_comparison(a, b, c):
    return a < b < c


@program((1, 2, 3), (1, 4, 3))
def chained_comparison_of_calls(a, b, c):
    if a <= tf.abs(b) <= tf.abs(c) < 10:
        return 1
    return 0


@program(5, 50, -5)
def chained_with_constants(x):
    return 0 < x < 10


@program((2.0, 3.0), (3.0, 2.0))
def equality(a, b):
    if a == b:
        return 0.0
    elif a != b and b == 3.0:
        return 1.0
    return 2.0


@program(4.0, 9.0)
def nested_function_in_a_branch(x):
    if x > 5:

        def f(v):
            return v * x

        y = f(2.0)
    else:
        y = x
    return y


@program(4.0, 9.0)
def lambda_over_a_variable_of_a_branch(x):
    scale = 1.0
    f = lambda v: v * scale
    if x > 5:
        scale = x
    return f(10.0)


@program(4.0, 9.0)
def list_item_assigned_in_a_branch(x):
    items = [x, x + 1.0]
    if x > 5:
        items[0] = items[0] * 10.0
    else:
        items[1] = items[1] * 10.0
    return items


@program(4.0, 9.0)
def dictionary_item_assigned_in_a_branch(x):
    d = {"a": x}
    alias = d
    if x > 5:
        d["a"] = x * 10.0
    return d["a"] + alias["a"]


@program(4.0, 9.0)
def the_same_append_on_both_sides(x):
    items = [x]
    if x > 5:
        items.append(x * 2.0)
    else:
        items.append(x * 3.0)
    return items


@program([1.0, -2.0, 3.0])
def condition_on_a_reduction(x):
    if tf.reduce_sum(x) > 1.0:
        return tf.reduce_max(x)
    return tf.reduce_min(x)


@program([1.0, 2.0, 3.0], [1.0, 2.0])
def shapes_that_differ_between_branches(x):
    if tf.reduce_sum(x) > 5.0:
        y = x
    else:
        y = tf.concat([x, x], 0)
    return y


@program(1.0, -1.0)
def branch_that_only_passes(x):
    if x > 0:
        pass
    else:
        x = -x
    return x


@program(1.0, -1.0)
def deleted_names(x):
    t = x
    if x > 0:
        del t
        t = x * 2.0
    return t


@program(1.0, -1.0)
def annotated_names(x):
    y: float = 0.0
    if x > 0:
        y: float = x
    return y


@program(1.0, -1.0)
def walrus_in_a_condition(x):
    if (y := x * 2.0) > 0:
        return y
    return y - 1.0


@program(1.0, -1.0)
def walrus_in_a_branch(x):
    y = x
    if x > 0:
        z = (y := x * 2.0) + 1.0
    else:
        z = x
    return y + z


@program(1.0, -1.0)
def imports_inside(x):
    if x > 0:
        import math

        y = x * math.floor(2.5)
    else:
        y = x
    return y


@program(1.0, -1.0)
def with_around_and_inside(x):
    with tf.name_scope("outer"):
        if x > 0:
            with tf.name_scope("inner"):
                y = x + 1.0
        else:
            y = x
    return y


@program(1.0, -1.0)
def try_around_and_inside(x):
    try:
        if x > 0:
            try:
                y = x * 2.0
            finally:
                z = 1.0
        else:
            y, z = x, 2.0
    except ValueError:
        y = z = x
    return y + z


@program(("square", 3.0), ("double", 3.0), ("other", 3.0))
def match_on_python(kind, x):
    match kind:
        case "square":
            y = x * x
        case "double" if x is not None:
            y = x + x
        case other:
            y = x if len(other) == 5 else -x
    return y


@program((0.5, 2.0), (2.0, 0.5))
def starred_and_swapped(x, y):
    first, *rest = [x, y, x + y]
    if first > rest[0]:
        first, (second, third) = rest[0], [first, rest[1]]
    else:
        second, third = rest
    return first, second, third


@program(1.0, -1.0)
def assertion_that_holds(x):
    assert x < 2.0, "x is large"
    assert True
    if x > 0:
        assert x > 0.5
    return x


@program(3, -3)
def boolean_results(x):
    positive = x > 0
    if positive:
        even = x % 2 == 0
    else:
        even = not x % 2 > 0
    return positive, even


@program(2.0, -2.0)
def condition_kept_in_a_variable(x):
    big = x > 1.0 or x < -10.0
    small = not big
    if small:
        x = x * 10.0
    return x


@pytest.mark.parametrize(("function", "arguments"), table, ids=table.ids())
def test_program(function, arguments):
    check(function, arguments)


def test_only_the_branch_taken_runs():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign_add(1.0)
        else:
            v.assign_add(10.0)

    for x in (1.0, 1.0, -1.0):
        f(tf.constant(x))
    assert float(v) == 12.0


def test_a_variable_is_a_condition():
    v = tf.Variable(True)

    @tf.function
    def f(x):
        return x if v else -x

    assert float(f(tf.constant(1.0))) == 1.0
    v.assign(False)
    assert float(f(tf.constant(1.0))) == -1.0


def test_gradients_go_through():
    @tf.function
    def f(x):
        if x > 0:
            y = x * x
        else:
            y = -3.0 * x
        return y

    for x, slope in ((2.0, 4.0), (-2.0, -3.0)):
        t = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        assert float(tape.gradient(y, t)) == slope


def test_an_eager_condition_is_decided_while_tracing():
    flag, traced = tf.constant(True), []

    @tf.function
    def f(x):
        if flag:
            traced.append("then")
        else:
            traced.append("else")
        return x

    f(tf.constant(1.0))
    assert traced == ["then"]


def test_a_graph_condition_traces_both_sides_and_python_notes_stay():
    traced = []

    @tf.function
    def f(x):
        if x > 0:
            traced.append("then")
        else:
            traced.append("else")
        return x

    f(tf.constant(1.0))
    f(tf.constant(-1.0))
    assert traced == ["then", "else"]


def test_an_assertion_fails_when_the_graph_runs():
    @tf.function
    def f(x):
        assert tf.reduce_all(x > 0), "x must be positive"
        return x

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be positive"):
        f(tf.constant([1.0, -2.0]))


def test_an_assertion_may_say_several_things():
    @tf.function
    def f(x):
        assert x > 0, ("x must be positive, not", x)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[x must be positive, not\] \[-2\]"):
        f(tf.constant(-2))
