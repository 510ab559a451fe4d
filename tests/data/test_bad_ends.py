"""Pipelines that end badly: generators that raise, iterators dropped while stages run, exits and forks with threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines import background
from ebbflow.engines.native import late_code

Dataset = tf.data.Dataset


def threads():
    """Return the threads of stages: those that compile in the background stay."""
    compilers = {worker._name for worker in background._workers}
    return [t for t in threading.enumerate() if t.name.startswith("ebbflow-") and t.name not in compilers]


def gone(before, seconds=20.0):
    """Wait until there are no more threads than before; return whether that happened."""
    end = time.monotonic() + seconds
    while len(threads()) > before and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    return len(threads()) <= before


def test_a_generator_that_raises_is_heard_after_its_elements():
    def numbers():
        yield 1
        yield 2
        raise ValueError("the well is dry")

    dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32)).prefetch(4)
    seen = []
    with pytest.raises(tf.errors.OpError, match="the well is dry"):
        for x in dataset:
            seen.append(int(x))
    assert seen == [1, 2]


@pytest.mark.parametrize("value", [[1, 2, 3], "text"])
def test_a_generator_of_other_elements_than_promised(value):
    dataset = Dataset.from_generator(lambda: iter([[1, 2], value]), output_signature=tf.TensorSpec([2], tf.int32))
    with pytest.raises((tf.errors.OpError, TypeError, ValueError)):
        list(dataset.batch(2))


def slow(x):
    def wait(v):
        time.sleep(0.002)
        return v

    return tf.ensure_shape(tf.py_function(wait, [x], tf.int64), [])


ENDLESS = [
    lambda: Dataset.range(10**9).prefetch(4),
    lambda: Dataset.range(10**9).map(slow, num_parallel_calls=4).batch(2).prefetch(2),
    lambda: Dataset.range(10**9).map(lambda x: x + 1).shuffle(100).batch(4).prefetch(-1),
    lambda: Dataset.range(10**9).interleave(lambda x: Dataset.range(x, x + 5), cycle_length=3, num_parallel_calls=3),
]


@pytest.mark.parametrize("make", ENDLESS)
def test_an_iterator_that_is_dropped_takes_its_threads_with_it(make):
    before = len(threads())
    iterator = iter(make())
    for _ in range(12):
        next(iterator)
    del iterator
    assert gone(before)


PROGRAM = """
import ebbflow as tf
import threading, time
def slow(x):
    def wait(v):
        if v > 3:
            stuck.set()
            time.sleep(1000)
        time.sleep(0.001)
        return v
    return tf.py_function(wait, [x], tf.int64)
stuck = threading.Event()
it = iter(tf.data.Dataset.range(10**9).map(slow, num_parallel_calls=4).prefetch(4))
print(int(next(it)))
stuck.wait()
{end}
"""


@pytest.mark.parametrize("end", ["", "import sys; sys.exit(3)", "raise ValueError('on purpose')"])
def test_a_program_ends_while_stages_run(end):
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.stdout.strip() == "0"
    assert found.returncode == {"": 0, "import sys; sys.exit(3)": 3}.get(end, 1)


FORKED = """
import os
import numpy as np
import ebbflow as tf
dataset = tf.data.Dataset.from_tensor_slices(np.arange(100)).shuffle(10).map(lambda x: x * 2).batch(7).prefetch(2)
it = iter(dataset)
next(it)
child = os.fork()
if child == 0:
    total = sum(int(b.numpy().sum()) for b in dataset)
    os._exit(0 if total == 9900 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


BEGUN_BEFORE = """
import os, time
import ebbflow as tf
def slow(x):
    return tf.py_function(lambda v: (time.sleep(0.005), v)[1], [x], tf.int64)
numbers = tf.data.Dataset.range(1000)
iterators = [iter(d) for d in (numbers.prefetch(2), numbers.map(slow, num_parallel_calls=3),
                               numbers.interleave(lambda x: numbers.take(3), num_parallel_calls=2))]
for iterator in iterators:
    for _ in range(8):
        next(iterator)
child = os.fork()
if child == 0:
    told = 0
    for iterator in iterators:
        try:
            list(iterator)
        except tf.errors.FailedPreconditionError as error:
            told += "before the process was forked" in str(error)
    del iterator, iterators
    os._exit(told)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(list(iterators[0])))
"""


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="no fork here")
def test_an_iterator_that_was_begun_before_a_fork_is_refused():
    program = [sys.executable, "-c", BEGUN_BEFORE]
    found = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout.split() == ["3", "992"], found.stderr


HELD = """
import os, threading
import ebbflow as tf
from ebbflow.core import forks
dataset = tf.data.Dataset.range(10).map(lambda x: x + 1).prefetch(2)
list(dataset)
held = [lock for lock in list(forks._locks) if lock.acquire(blocking=False)]  # as a stage's thread may hold any of them
child = os.fork()
if child == 0:
    os._exit(sum(int(x) for x in dataset))
for lock in held:
    lock.release()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="no fork here")
@pytest.mark.parametrize(("program", "code"), [(FORKED, "0"), (HELD, "55")])
def test_a_dataset_can_be_gone_over_after_a_fork(program, code):
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.strip() == code, found.stderr


def test_epochs_leave_nothing_behind():
    dataset = Dataset.from_tensor_slices(np.zeros((500, 8), np.float32)).shuffle(100).map(lambda x: x + 1).batch(32)
    dataset = dataset.prefetch(2)
    for _ in range(40):  # until all is compiled that pays
        list(dataset)
    late_code.settle()
    list(dataset)
    gc.collect()
    before, running = len(gc.get_objects()), len(threads())
    for _ in range(20):
        for _batch in dataset:
            pass
    assert gone(running)
    gc.collect()
    assert len(gc.get_objects()) - before < 200


def test_a_generator_is_let_go_behind_the_last_element():
    let_go = []

    def count():
        try:
            yield from range(9)
        finally:
            let_go.append(True)

    iterator = iter(tf.data.Dataset.from_generator(count, output_signature=tf.TensorSpec([], tf.int32)).take(2))
    assert [int(x) for x in iterator] == [0, 1] and let_go and next(iterator, None) is None
