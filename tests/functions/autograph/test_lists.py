"""Lists and dictionaries that change in place, in branches and loops of a graph."""

from __future__ import annotations

import pytest

import ebbflow as tf
from tests.functions.autograph.programs import Table, check

table = Table()
program = table.program


@program(4)
def growing_list(n):
    items = []
    for i in tf.range(n):
        items.append(i * i)
    return tf.stack(items)


@program(4)
def growing_list_that_had_items(n):
    items = [7, 8]
    for i in tf.range(n):
        items.append(i)
    return tf.stack(items)


@program(4)
def growing_list_under_a_condition(n):
    items = []
    for i in tf.range(n):
        items.append(i)
        if i % 2 == 0:
            items.append(i * 100)
    return tf.stack(items)


@program(3)
def growing_list_in_nested_loops(n):
    items = []
    for i in tf.range(n):
        for j in tf.range(i + 1):
            items.append(i * 10 + j)
    return tf.stack(items)


@program(4)
def growing_list_used_afterwards(n):
    items = []
    for i in tf.range(n):
        items.append(i)
    total = 0
    for v in items:
        total = total * 10 + v
    return total, len(items), items[0], items[2], items[-1]


@program(4)
def growing_list_in_two_loops(n):
    items = []
    for i in tf.range(n):
        items.append(i)
    for i in tf.range(n):
        items.append(-i)
    return tf.stack(items)


@program(5)
def growing_list_in_while(n):
    items = []
    while n > 0:
        items.append(n)
        n -= 1
    return items


@program(3)
def list_of_fixed_length_in_a_loop(n):
    state = [1, 2]
    for i in tf.range(n):
        state[0] = state[0] + state[1]
        state[1] = state[1] * 2 + i
    return state


@program(3)
def dictionary_in_a_loop(n):
    state = {"sum": 0, "last": -1}
    for i in tf.range(n):
        state["sum"] = state["sum"] + i
        state["last"] = i
    return state


@program((4.0, 3), (9.0, 3))
def growing_list_in_a_branch(x, n):
    items = [x]
    if x > 5:
        items.append(x * 2.0)
        items.extend([x * 3.0, x * 4.0])
    for _ in tf.range(n):
        items.append(x)
    return tf.stack(items)


@program(3)
def popped_and_replaced(n):
    items = [1, 2, 3]
    for i in tf.range(n):
        items.append(i)
        items.append(i * 10)
        last = items.pop()
        items[0] = last
    return tf.stack(items)


@program(3)
def counters_in_a_dictionary(n):
    counts = {"even": 0, "odd": 0}
    for i in tf.range(n):
        if i % 2 == 0:
            counts["even"] += 1
        else:
            counts["odd"] += 1
    return counts


@program(3)
def list_that_is_made_anew_in_each_iteration(n):
    total = 0
    for i in tf.range(n):
        parts = []
        parts.append(i)
        parts.append(i * i)
        total += sum(parts)
    return total


@program(3)
def list_of_an_object(n):
    class Holder:
        pass

    holder = Holder()
    holder.items = []
    for i in tf.range(n):
        holder.items.append(i + 1)
    return tf.stack(holder.items)


@pytest.mark.parametrize(("function", "arguments"), table, ids=table.ids())
def test_program(function, arguments):
    check(function, arguments)


def test_a_list_that_grows_can_be_returned():
    @tf.function
    def f(n):
        items = []
        for i in tf.range(n):
            items.append(i)
        return items

    assert [int(x) for x in f(tf.constant(3))] == [0, 1, 2]


def test_notes_that_python_takes_while_tracing():
    traced = []

    @tf.function
    def f(n):
        for _ in tf.range(n):
            traced.append("body")
        return n

    f(tf.constant(3))
    assert traced == ["body"]


def test_what_comes_from_outside_is_for_notes():
    calls = {"n": 0}

    @tf.function
    def f(x):
        calls["n"] += 1
        for _ in tf.range(3):
            calls["n"] += 10
        if x > 0:
            calls["n"] += 100
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert calls == {"n": 111}


def test_elements_must_be_alike():
    @tf.function
    def f(x):
        items = []
        for _ in tf.range(3):
            items.append(x)
        items.append(tf.constant(1))
        return tf.stack(items)

    with pytest.raises(TypeError, match=r"the list holds float32 of shape .* and int32 .* is appended to it"):
        f(tf.constant(1.0))


def test_length_and_iteration_outside_converted_code():
    made = []

    @tf.function
    def f(n):
        items = []
        for i in tf.range(n):
            items.append(i)
        made.append(items)
        return items

    assert len(f(tf.constant(4))) == 4
    with pytest.raises(TypeError, match="the length of a list that grew in a loop of a graph is a tensor"):
        len(made[0])
    with pytest.raises(TypeError, match="can be iterated over by `for` in converted code only"):
        list(made[0])
