"""Functions that would surely be traced to the same are known by what they read from outside."""

from __future__ import annotations

import collections
import math
import random
import time
from types import SimpleNamespace

import pytest

import ebbflow as tf
from ebbflow.functions.outside import outside

SCALE = 2
LOG: list = []
Pair = collections.namedtuple("Pair", "first second")
rng = random.Random(0)


def scaled_by(factor):
    return lambda x: x * factor


def by_attribute(owner):
    return lambda x: x * owner.factor


def helped(x):
    return tf.abs(x) * SCALE


def around(step):
    def inner(x):
        return [step(part) for part in tf.unstack(x)]

    return inner


@pytest.mark.parametrize("value", [1, 1.5, True, "a", None, (1, (2.0, "b")), tf.int32, tf.abs, math.floor, Pair])
def test_equal_values_give_equal_keys(value):
    assert outside(scaled_by(value)) == outside(scaled_by(value)) is not None


@pytest.mark.parametrize(
    ("one", "other"), [(1, 2), (1, 1.0), (1, True), (0.0, -0.0), ("a", b"a"), ((1, 2), ((1,), 2)), (tf.abs, tf.exp)]
)
def test_other_values_give_other_keys(one, other):
    assert outside(scaled_by(one)) != outside(scaled_by(other))


@pytest.mark.parametrize(
    "value", [[1], {1: 2}, object(), rng.random, time.time, print, tf.constant(1), tf.random.set_seed, LOG.append]
)
def test_what_may_change_has_no_key(value):
    assert outside(scaled_by(value)) is None


def test_attributes_count_by_their_values():
    one, other = SimpleNamespace(factor=2, unread=[]), SimpleNamespace(factor=2)
    assert outside(by_attribute(one)) == outside(by_attribute(other)) is not None
    other.factor = 3
    assert outside(by_attribute(one)) != outside(by_attribute(other))
    other.factor = [3]
    assert outside(by_attribute(other)) is None
    assert outside(by_attribute(object())) is None  # the attribute is not there


def test_functions_that_are_called_count_by_what_they_read(monkeypatch):
    before = outside(around(helped))
    assert before == outside(around(helped)) is not None
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert outside(around(helped)) != before


def test_defaults_count():
    def make(value):
        def inner(x, by=value, *, more=value):
            return x * by

        return inner

    assert outside(make(1)) == outside(make(1)) != outside(make(2))
    assert outside(make([])) is None


def test_code_that_changes_something_has_no_key():
    count = 0

    def counts(x):
        nonlocal count
        count += 1
        return x

    def writes(x):
        global SCALE
        SCALE = 5
        return x

    def imports(x):
        import os

        return x, os

    def logs(x):
        LOG.append(x)
        return x

    def sets(x):
        x.mark = 1
        return x

    for function in (counts, writes, imports, logs, sets):
        assert outside(function) is None, function


def test_functions_that_call_each_other_end():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert outside(even) is not None


def test_what_is_no_plain_function_has_no_key():
    assert outside(tf.function(lambda x: x)) is None
    assert outside(Pair(1, 2).index) is None
    assert outside(len) is None


def test_values_that_come_again_give_the_same_key_and_others_another(monkeypatch):
    first = outside(scaled_by(SCALE))
    assert outside(scaled_by(SCALE)) == first
    assert outside(scaled_by(3.0)) != first
    assert outside(scaled_by(SCALE)) == first

    def by_name(x):
        return x * SCALE

    before = outside(by_name)
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert outside(by_name) != before


def test_functions_that_are_read_are_looked_into_each_time():
    class Held:
        factor = 2

    def inner(x):
        return x * Held.factor

    def outer(x):
        return inner(x)

    first = outside(outer)
    assert outside(outer) == first
    Held.factor = 3
    assert outside(outer) != first
