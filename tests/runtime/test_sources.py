"""Values that iterators and queues of a graph bring: taken once a run, and the rest is compiled for their shapes."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.runtime.run_on_devices import runner_for
from ebbflow.runtime.sources import Sourced

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def batches(count=10, size=4):
    return v1.data.make_one_shot_iterator(tf.data.Dataset.range(count).batch(size)).get_next()


def test_a_batch_of_another_size_gets_code_of_its_own(graph):
    x = tf.cast(batches(22), tf.float32)
    doubled = tf.reduce_sum(tf.exp(x - 20.0) * 2.0)
    with v1.Session() as session:
        found = [session.run(doubled) for _ in range(6)]
        wanted = [2 * np.exp(np.arange(i, min(i + 4, 22)) - 20.0).sum() for i in range(0, 22, 4)]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        assert session.explain(doubled).count("# Program for") == 1  # for the size that came again
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(doubled)


def waited_for(x):
    with tf.control_dependencies([x]):
        return [x * 2, tf.constant(7) + 0]


FORMS = {
    "fetched itself": (lambda x: [x, x + 1, x.op], lambda x: [x, x + 1, None]),
    "waited for": (waited_for, lambda x: [x * 2, 7]),
    "in a group": (lambda x: [tf.group(x, x + 1), x - 1], lambda x: [None, x - 1]),
}


@pytest.mark.parametrize("form, wanted", FORMS.values(), ids=FORMS)
def test_a_run_takes_one_batch_whoever_asks(form, wanted, graph):
    fetches = form(batches(12))
    with v1.Session() as session:
        for first in (0, 4, 8):
            for value, known in zip(session.run(fetches), wanted(np.arange(first, first + 4)), strict=True):
                assert value is known is None or (value == known).all()
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(fetches)


def test_what_may_not_come_first_does_not(graph):
    iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(10).batch(4))
    with tf.control_dependencies([iterator.initializer]):
        begun = iterator.get_next()
    queue = v1.FIFOQueue(9, [tf.int32])
    put = queue.enqueue([tf.constant([1, 2])])
    with tf.control_dependencies([put]):
        taken = queue.dequeue()
    with v1.Session() as session:
        for _ in range(3):
            assert session.run(begun + 0).tolist() == [0, 1, 2, 3]
            assert session.run(taken + 1).tolist() == [2, 3]
        assert not isinstance(runner_for(session, [begun], []), Sourced)
        assert not isinstance(runner_for(session, [taken], []), Sourced)


def test_queues_bring_too(graph):
    queue = v1.FIFOQueue(99, [tf.float32])
    value = v1.placeholder(tf.float32)
    put, taken = queue.enqueue([value]), queue.dequeue()
    doubled = tf.sqrt(taken) * 2.0
    with v1.Session() as session:
        assert isinstance(runner_for(session, [doubled], []), Sourced)
        for count in (3, 3, 3, 5):
            session.run(put, {value: np.full(count, 4.0)})
            assert session.run(doubled).tolist() == [4.0] * count
        assert session.run(doubled, {taken: [9.0]}).tolist() == [6.0]  # fed: nothing is taken
        assert session.run(queue.size()) == 0


def test_a_counter_at_its_limit_ends_a_run_that_waits(graph):
    queue = v1.FIFOQueue(9, [tf.float32])
    put, count = queue.enqueue([[1.0, 2.0]]), v1.Variable(0).count_up_to(1)
    both = [tf.sqrt(queue.dequeue()) * 2.0, count]
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), put])
        assert session.run(both)[1] == 0
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 1"):
            session.run(both)


def test_functions_take_from_the_iterator_they_are_given():
    @tf.function
    def step(iterator):
        return tf.reduce_sum(tf.exp(tf.cast(next(iterator), tf.float32) - 20.0))

    iterator = iter(tf.data.Dataset.range(22).batch(4))
    found = [float(step(iterator)) for _ in range(6)]
    wanted = [np.exp(np.arange(i, min(i + 4, 22)) - 20.0).sum() for i in range(0, 22, 4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)


def test_what_is_fetched_as_it_came_may_be_written_to(graph):
    x = batches(12)
    with v1.Session() as session:
        for first in (0, 4, 8):
            found, more = session.run([x, x[:2]])
            assert found.tolist() == list(range(first, first + 4))
            found[:] = -1
            assert more.tolist() == [first, first + 1]


@pytest.mark.parametrize("dequeue_first", [False, True])
def test_a_counter_at_its_limit_ends_a_run_that_would_wait_for_ever(graph, dequeue_first):
    queue = v1.PaddingFIFOQueue(9, [tf.int32], shapes=[[None]])
    with v1.Session() as session:
        session.run([queue.enqueue([[i] * i]) for i in range(1, 3)])
        taken = queue.dequeue() if dequeue_first else None
        counter = v1.Variable(0).count_up_to(2)
        both = [counter, (queue.dequeue() if taken is None else taken) + counter]
        session.run(v1.global_variables_initializer())
        for _ in range(2):
            session.run(both)
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
            session.run(both, options=v1.RunOptions(timeout_in_ms=20_000))
