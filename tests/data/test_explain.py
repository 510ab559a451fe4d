"""`explain` and `debug`: what a dataset does, and all of it in the calling thread."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.traced import toggle_debug_mode

Dataset = tf.data.Dataset


def test_explain_tells_what_was_planned(capsys):
    dataset = Dataset.from_tensor_slices(np.ones((500, 3))).shuffle(50).map(lambda x: x * 2).batch(20).prefetch(2)
    text = dataset.explain(seconds=60)
    assert capsys.readouterr().out.strip() == text.strip()
    assert "25 elements" in text and "to the end" in text
    assert repr(text).startswith("<what was printed: 25 elements") and "\n" not in repr(text)
    for stage, how in (
        ("Prefetch [25]", "ahead"),
        ("Batch", "whole blocks"),
        ("Map", "by column"),
        ("Shuffle", "number"),
    ):
        line = next(line for line in text.splitlines() if line.strip().startswith(stage))
        assert how in line


def test_explain_counts_the_first_element_in_the_whole_time():
    late = Dataset.range(9).map(
        lambda x: tf.py_function(lambda y: time.sleep(0.02 + 0.1 * (int(y) == 0)) or y, [x], x.dtype)
    )
    text = late.explain(seconds=60)
    own, _, whole = (
        text.partition("takes most of the time: ")[2].removesuffix(" s.").partition("\n")[0].partition(" of ")
    )
    assert float(own) <= float(whole.split()[0])


def test_explain_says_why_a_function_is_called_for_each_element():
    def slow(x):
        time.sleep(0.001)
        return x

    dataset = Dataset.range(200).map(lambda x: tf.ensure_shape(tf.py_function(slow, [x], tf.int64), [])).batch(10)
    text = dataset.explain()
    assert "called for each element, since EagerPyFunc" in text and "num_parallel_calls" in text
    assert ".prefetch(" in text
    assert "and more to come" in Dataset.range(3).repeat().explain(elements=5)


def test_explain_tells_compiling_and_waiting_from_working():
    def first_is_slow(x):
        time.sleep(0.3 if x == 0 else 0.001)
        return x

    dataset = Dataset.range(12).map(lambda x: tf.py_function(first_is_slow, [x], tf.int64)).prefetch(2)
    lines = dataset.explain(seconds=30).splitlines()
    assert lines[0].startswith("12 elements, 11 of them in ") and "to the end" in lines[0]
    table = {line.split()[0]: line for line in lines[3:5]}
    assert "waits" in lines[2] and "0.000s" in table["Prefetch"]  # it has no work of its own
    assert float(table["Map"].split()[-1].rstrip("s")) < 0.3


def test_explain_leaves_the_order_of_later_iterations_alone():
    def orders(explained):
        dataset = Dataset.range(30).shuffle(30, seed=3)
        if explained:
            dataset.explain()
        return [[int(x) for x in dataset] for _ in range(2)]

    assert orders(True) == orders(False)


def test_debug_runs_functions_as_python_in_this_thread():
    threads = []

    def function(x):
        if tf.executing_eagerly():  # and not being traced
            threads.append((threading.current_thread(), int(x)))
        return x + 1

    dataset = Dataset.range(4).map(function, num_parallel_calls=4).prefetch(2)
    dataset = dataset.interleave(Dataset.from_tensors, cycle_length=2, num_parallel_calls=2).batch(2)
    assert [b.numpy().tolist() for b in dataset.debug()] == [[1, 2], [3, 4]]
    assert threads[:4] == [(threading.current_thread(), i) for i in range(4)]
    assert [b.numpy().tolist() for b in dataset.debug()] == [[1, 2], [3, 4]]


def test_both_are_for_eager_programs():
    with tf.Graph().as_default():
        dataset = Dataset.range(3)
        with pytest.raises(RuntimeError, match="eager"):
            dataset.explain()
        with pytest.raises(RuntimeError, match="eager"):
            dataset.debug()


def test_the_stages_of_an_iterator_are_a_message():
    iterator = iter(tf.data.Dataset.range(9).map(lambda x: x + 1).batch(2))
    next(iterator)
    model = tf.data.experimental.get_model_proto(iterator)
    found = [(model.nodes[i].name, list(model.nodes[i].inputs)) for i in sorted(model.nodes)]
    assert found == [("Root", [2]), ("Batch", [3]), ("Map", [4]), ("Range", [])]
    assert model.nodes[model.output].num_elements == 1 and model.id_counter == 5
    options = tf.data.Options()
    options.autotune.enabled = False
    with pytest.raises(tf.errors.NotFoundError, match="Did you disable autotune"):
        tf.data.experimental.get_model_proto(tf.data.Dataset.range(3).with_options(options).as_numpy_iterator())


def test_explain_runs_as_the_options_say():
    def slow(x):
        time.sleep(0.002)
        return x

    numbers = Dataset.range(60).map(lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=2)
    assert "`options.experimental_python_processes` would call it in processes" in numbers.explain(seconds=60)
    options = tf.data.Options()
    options.experimental_python_processes = True
    text = numbers.with_options(options).explain(seconds=60)
    assert "2 processes at once" in text and "experimental_python_processes" not in text


def test_debugging_is_switched_on_and_off():
    seen = []

    def note(x):
        seen.append(x)
        return x

    toggle_debug_mode(True)
    try:
        list(Dataset.range(4).map(note))
    finally:
        toggle_debug_mode(False)
    assert len(seen) == 5
    list(Dataset.range(4).map(note))
    assert len(seen) == 6
