"""A second trace says why, once; traces are a table; `max_traces` bounds them."""

from __future__ import annotations

import logging
import re

import pytest

import ebbflow as tf


def traced(function=None, **options):
    return tf.function(function, autograph=False, **options)


class Thing:
    pass


CHANGES = {
    "shape": (
        lambda f: (f(tf.constant([1.0])), f(tf.constant([1.0, 2.0]))),
        r"argument 'x' changed from TensorSpec\(shape=\(1,\).* to TensorSpec\(shape=\(2,\)",
        r"input_signature=\[\.\.\., tf\.TensorSpec\(\(None,\), tf\.float32\)\].*reduce_retracing=True",
    ),
    "dtype": (
        lambda f: (f(tf.constant(1.0)), f(tf.constant(1))),
        r"argument 'x' changed from .*tf\.float32.* to .*tf\.int32",
        r"tf\.cast it to one dtype",
    ),
    "number": (lambda f: (f(1), f(2)), r"from Literal\[1\] to Literal\[2\]", r"pass a tensor, tf\.constant\(2\)"),
    "flag": (
        lambda f: (f(True), f(False)),
        r"from Literal\[True\] to Literal\[False\]",
        "a trace for each Python value",
    ),
    "object": (lambda f: (f(Thing.a), f(Thing.b)), r"argument 'x' changed from Weakref", "pass the same object"),
    "deep": (
        lambda f: (f({"a": [tf.constant(1.0), 2]}), f({"a": [tf.constant(1.0), 3]})),
        r"argument 'x'\['a'\]\[1\] changed from Literal\[2\] to Literal\[3\]",
        "pass a tensor",
    ),
    "kind": (lambda f: (f(1), f(tf.constant(1))), r"from Literal\[1\] to TensorSpec", "the same type each time"),
    "another argument": (
        lambda f: (f(1), f(1, y=2)),
        r"argument 'y' changed from nothing to Literal\[2\]",
        "same type",
    ),
}
Thing.a, Thing.b = Thing(), Thing()


@pytest.fixture
def said(caplog):
    logger = tf.get_logger()
    held, logger.propagate = logger.propagate, True
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        yield lambda: [r.getMessage() for r in caplog.records if "traced again" in r.getMessage()]
    logger.propagate = held


@pytest.mark.parametrize("name", CHANGES)
def test_says_what_changed_and_the_fix(said, name):
    calls, what, fix = CHANGES[name]
    calls(traced(lambda x, **more: None))
    (message,) = said()
    assert re.search(what, message)
    assert re.search(fix, message)
    assert "test_function_retracing.py:" in message


def test_says_it_once(said):
    f = traced(lambda x: x)
    for n in range(1, 6):
        f(tf.constant([1.0] * n))
    assert len(said()) == 1


def test_says_nothing_where_nothing_changed(said):
    f = traced(lambda x: x)
    for value in (1.0, 2.0):
        f(tf.constant(value))
    with tf.Graph().as_default():
        f(tf.constant(1.0))
    assert said() == []


def test_traces_are_a_table():
    f = traced(lambda x, n=1: x * n)
    f(tf.constant(1.0))
    f(tf.constant([1.0]), 2)
    table = f.traces()
    assert [t.number for t in table] == [1, 2]
    assert "shape=(1,)" in table[1].signature
    assert "changed from Literal[1] to Literal[2]" in table[1].because
    assert all(t.nodes > 0 and t.seconds > 0 for t in table)
    head, *rows = str(table).splitlines()
    assert head.split()[:2] == ["#", "arguments"]
    assert len(rows) == 2


def test_bounded():
    f = traced(lambda x: x, max_traces=2)
    f(1)
    f(2)
    with pytest.raises(ValueError, match=r"max_traces=2 and would have to be traced for the 3rd time") as caught:
        f(3)
    assert "changed from Literal[2] to Literal[3]" in str(caught.value)
    assert int(f(2)) == 2


def test_traces_are_told_to_who_listens_for_details(caplog):
    doubled = tf.function(lambda x: x * 2)
    with caplog.at_level(2, logger="tensorflow"):
        doubled(tf.constant(1))
        doubled(tf.constant(2))
    assert len([r for r in caplog.records if r.levelno == 2 and "is traced with" in r.getMessage()]) == 1
