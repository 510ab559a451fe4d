"""Maps in processes of their own: the same elements, errors that arrive, and no process that stays behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import processes
from ebbflow.data.processes import available

pytestmark = pytest.mark.skipif(not available(), reason="no fork here")
Dataset = tf.data.Dataset


def apart(dataset):
    options = tf.data.Options()
    options.experimental_python_processes = True
    return dataset.with_options(options)


def in_python(function, dtype=tf.int64, calls=2):
    return lambda dataset: apart(
        dataset.map(lambda x: tf.numpy_function(function, [x], dtype), num_parallel_calls=calls)
    )


def gone(seconds=20.0):
    """Return whether no process of a map is left within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        gc.collect()  # errors hold the frames they went through
        if not [p for p in multiprocessing.active_children() if p.name == "ebbflow-map"]:
            return True
        time.sleep(0.05)
    return False


def test_elements_come_in_order_and_from_other_processes():
    dataset = Dataset.range(20).apply(in_python(lambda x: np.array([x * x, os.getpid()])))
    rows = [x.numpy().tolist() for x in dataset]
    assert [row[0] for row in rows] == [i * i for i in range(20)]
    assert os.getpid() not in {row[1] for row in rows}
    assert gone()


def test_without_the_option_nothing_leaves_this_process():
    dataset = Dataset.range(8).map(
        lambda x: tf.numpy_function(lambda x: np.int64(os.getpid()), [x], tf.int64), num_parallel_calls=2
    )
    assert {int(x) for x in dataset} == {os.getpid()}


@pytest.mark.parametrize("size", [3, 1 << 18, 1 << 24])
def test_arrays_of_every_size_go_there_and_back(size):
    source = Dataset.from_tensors(np.arange(size, dtype=np.float64)).repeat(3)
    for array in source.apply(in_python(lambda x: np.stack([x, x + 1]), tf.float64)):
        assert array.shape == (2, size)
        assert array[1, -1] == size
    assert gone()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3)])
def test_shapes_are_kept(shape):
    dataset = Dataset.range(3).apply(in_python(lambda x: np.full(shape, x)))
    assert [x.shape for x in dataset] == [shape] * 3


def test_strings_go_there_and_back():
    dataset = Dataset.from_tensor_slices([b"a", b"bc"]).apply(in_python(lambda x: x + b"!", tf.string))
    assert [x.numpy() for x in dataset] == [b"a!", b"bc!"]


def fails_at_three(x):
    if x == 3:
        raise ValueError("three is not wanted")
    return x


def test_an_error_arrives_with_the_number_of_its_element_and_ends_nothing():
    iterator = iter(Dataset.range(6).apply(in_python(fails_at_three)))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"three is not wanted[\s\S]*element 3, counted from 0"):
        next(iterator)
    assert [int(x) for x in iterator] == [4, 5]


def dies_at_three(x):
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_process_that_is_killed_is_an_error_of_its_element():
    iterator = iter(Dataset.range(6).apply(in_python(dies_at_three)))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.AbortedError, match=r"exit code -9"):
        next(iterator)
    assert [int(x) for x in iterator] == [4, 5]
    del iterator
    assert gone()


def test_an_iterator_that_is_dropped_takes_its_processes_with_it():
    iterator = iter(Dataset.range(10**6).apply(in_python(lambda x: x)).prefetch(4))
    assert int(next(iterator)) == 0
    del iterator
    assert gone()


PROGRAM = """
import os, signal, sys, time
import ebbflow as tf
options = tf.data.Options()
options.experimental_python_processes = True
wait = lambda x: time.sleep(0.01) or x
dataset = tf.data.Dataset.range(10**6).map(lambda x: tf.numpy_function(wait, [x], tf.int64), num_parallel_calls=2)
iterator = iter(dataset.with_options(options).prefetch(2))
for _ in range(6):
    next(iterator)
import multiprocessing
print(*[p.pid for p in multiprocessing.active_children()], flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError('on purpose')", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_the_program(end):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, text=True, timeout=120, check=False
    )
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    deadline = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_no_process_is_begun_while_the_program_ends(monkeypatch):
    """Python waits for all that there are: one that took a killed one's place was waited for for ever."""
    iterator = iter(Dataset.range(6).apply(in_python(dies_at_three)))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    assert processes._Exit.looks.still_active()
    monkeypatch.setattr(processes._Exit, "begun", False)
    processes._Exit.begin()
    with pytest.raises((tf.errors.CancelledError, tf.errors.AbortedError)):
        for _ in range(3):
            next(iterator)
    with pytest.raises(tf.errors.CancelledError, match="the program is ending"):
        processes._Worker(lambda element: element)
