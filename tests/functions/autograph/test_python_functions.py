"""Python's built-in functions in converted code: on tensors of a graph, and Python's own on everything else."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.autograph import convert
from tests.functions.autograph.programs import as_function, in_session, same

VECTOR, MATRIX = [3.0, 1.0, 2.0], [[1.0, 5.0], [4.0, 2.0]]
CASES = [
    ("len vector", lambda x: len(x), VECTOR, 3),
    ("len matrix", lambda x: len(x), MATRIX, 2),
    ("int", lambda x: int(x), 2.7, 2),
    ("int of bool", lambda x: int(x > 0), 2.7, 1),
    ("float", lambda x: float(x) / 2.0, 3, 1.5),
    ("bool", lambda x: 1 if bool(x) else 0, 3, 1),
    ("abs", lambda x: abs(x), -3, 3),
    ("round", lambda x: round(x), 2.6, 3.0),
    ("sum vector", lambda x: sum(x), VECTOR, 6.0),
    ("sum matrix", lambda x: sum(x), MATRIX, [5.0, 7.0]),
    ("sum from", lambda x: sum(x, 10.0), VECTOR, 16.0),
    ("sum of a list", lambda x: sum([x, x + 1.0]), 3.0, 7.0),
    ("max items", lambda x: max(x), VECTOR, 3.0),
    ("min items", lambda x: min(x), VECTOR, 1.0),
    ("max two", lambda x: max(x, 2), 5, 5),
    ("max three", lambda x: max(1, x, 7), 5, 7),
    ("min two", lambda x: min(2.0, x), 5.0, 2.0),
    ("any", lambda x: any(x > 2.0), VECTOR, True),
    ("all", lambda x: all(x > 2.0), VECTOR, False),
    ("sorted", lambda x: sorted(x), VECTOR, [1.0, 2.0, 3.0]),
    ("sorted backwards", lambda x: sorted(x, reverse=True), VECTOR, [3.0, 2.0, 1.0]),
    ("range", lambda x: range(x), 3, [0, 1, 2]),
    ("range with a step", lambda x: range(1, x, 2), 6, [1, 3, 5]),
    ("max of plain values", lambda x: max([1, 5, 3], key=lambda v: -v), 0, 1),
    ("len of text", lambda x: len("abc"), 0, 3),
    ("int with a base", lambda x: int("ff", 16), 0, 255),
    ("round with digits", lambda x: round(2.345, 1), 0, 2.3),
    ("filter", lambda x: list(filter(lambda v: v > 1, [1, 2, 3])), 0, [2, 3]),
    ("map of plain values", lambda x: list(map(lambda v: v * x if v > 1 else v, [1, 2, 3])), 2, [1, 4, 6]),
    ("zip strict", lambda x: list(zip([1], [2], strict=True)), 0, [(1, 2)]),
    ("sorted plain", lambda x: sorted([3, 1, 2], key=lambda v: -v), 0, [3, 2, 1]),
    ("enumerate plain", lambda x: list(enumerate("ab", start=1)), 0, [(1, "a"), (2, "b")]),
    ("zip of rows in a comprehension", lambda x: [a + b for a, b in zip(x, x)], VECTOR, [6.0, 2.0, 4.0]),
]


@pytest.mark.parametrize(("function", "argument", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_function(function, argument, expected):
    same(in_session(function, (argument,)), expected)
    if not isinstance(expected, list) or not any(isinstance(e, tuple) for e in expected):
        same(as_function(function, (argument,), known_shapes=True), expected)


def test_lengths_that_are_not_known():
    f = tf.function(lambda x: len(x), input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    assert int(f(tf.zeros([5, 2]))) == 5
    g = tf.function(lambda x: len(x), input_signature=[tf.TensorSpec(None, tf.float32)])
    assert int(g(tf.zeros([4]))) == 4


def test_print_on_plain_values_is_pythons(capsys):
    convert(lambda x: print("x", x, sep="-", end="!\n"))(3)
    assert capsys.readouterr().out == "x-3!\n"


def test_print_to_a_stream_and_to_nowhere(capsys):
    import io
    import sys

    def f(x):
        print("value", x, file=sys.stderr)
        return x

    tf.function(f)(tf.constant(3))
    assert capsys.readouterr().err == "value 3\n"
    with pytest.raises(ValueError, match=r"goes to sys.stdout or sys.stderr"):
        tf.function(lambda x: print(x, file=io.StringIO()))(tf.constant(3))


class Numbers:
    """As much of a dataset as a loop needs."""

    element_spec = tf.TensorSpec([], tf.int32)

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return (tf.constant(i) for i in range(self.n))

    def reduce(self, state, step):
        for i in range(self.n):
            state = step(state, tf.constant(i))
        return state

    def scan(self, state, step):
        return Scanned(self, state, step)


class Scanned:
    """What `scan` gives, cut by `take_while`."""

    def __init__(self, numbers, state, step):
        self.numbers, self.state, self.step = numbers, state, step

    def take_while(self, predicate):
        self.predicate = predicate
        return self

    def reduce(self, state, step):
        held, going = self.state, tf.constant(True)
        for i in range(self.numbers.n):
            held, found = self.step(held, tf.constant(i))
            going = tf.logical_and(going, self.predicate(*found))
            chosen = step(state, found)
            state = tuple(tf.where(going, new, old) for new, old in zip(chosen, state, strict=True))
        return state


def test_a_dataset_goes_over_its_elements_itself():
    numbers = Numbers(5)

    @tf.function
    def total(x):
        for n in numbers:
            x += n
        return x

    @tf.function
    def until(limit):
        x = 0
        for n in numbers:
            x += n
            if x > limit:
                break
        return x

    assert int(total(tf.constant(1))) == 11
    assert [int(until(tf.constant(k))) for k in (2, 100)] == [3, 10]
    np.testing.assert_array_equal(sum(int(n) for n in numbers), 10)


def test_a_range_with_nothing_in_it_is_empty():
    @tf.function
    def total(n):
        s = 0
        for i in range(n):
            s += i + 1
        for _ in range(n, n - 2):
            s += 100
        return s

    assert [int(total(tf.constant(n))) for n in (-3, 0, 4)] == [0, 0, 10]


def test_items_are_sorted_by_a_key():
    @tf.function
    def arranged(x):
        return sorted(x, key=lambda v: abs(v - 2.0)), sorted(x, key=lambda v: int(v) % 3, reverse=True), sorted(x)

    found = arranged(tf.constant([5.0, 1.0, 2.0, 4.0]))
    assert [t.numpy().tolist() for t in found] == [[2, 1, 4, 5], [5, 2, 1, 4], [1, 2, 4, 5]]


def test_texts_become_numbers():
    @tf.function
    def numbers(text):
        return int(text), float(text), int(text, 10)

    assert [n.numpy() for n in numbers(tf.constant("12"))] == [12, 12.0, 12]
    with pytest.raises(NotImplementedError, match="base"):
        tf.function(lambda text: int(text, 2))(tf.constant("1"))


def test_the_greatest_of_one_number_is_itself():
    assert int(tf.function(lambda x: max(x) + min(x))(tf.constant(2))) == 4


def test_a_dataset_without_end_has_no_length():
    lengths = tf.function(lambda data: len(data))
    assert int(lengths(tf.data.Dataset.range(5))) == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="definitive cardinality"):
        lengths(tf.data.Dataset.range(5).repeat())
