"""Queue runners: threads that fill queues, and how they end."""

from __future__ import annotations

import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow.functions.meta_graph_import import import_scoped_meta_graph
from ebbflow.graph import meta_graph


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


def counted(limit, capacity=5):
    """A queue of 1 … limit, and its runner."""
    count = tf1.Variable(0, name="count")
    queue = tf1.FIFOQueue(capacity, tf.int32, shapes=[[]])
    below = count.count_up_to(limit)
    return queue, tf1.train.QueueRunner(queue, [queue.enqueue([below])])


def test_the_end_of_the_input_closes_the_queue(session):
    queue, runner = counted(12)
    session.run(tf1.global_variables_initializer())
    coord, take = tf1.train.Coordinator(), queue.dequeue()
    threads = runner.create_threads(session, coord, start=True)
    assert [session.run(take) for _ in range(12)] == list(range(12))
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(take)
    coord.request_stop()
    coord.join(threads)


def test_stopping_ends_threads_that_wait(session):
    queue, runner = counted(1000)
    tf1.train.add_queue_runner(runner)
    session.run(tf1.global_variables_initializer())
    coord = tf1.train.Coordinator()
    threads = tf1.train.start_queue_runners(session, coord)
    assert len(threads) == 2 and not tf1.train.start_queue_runners(session, coord)
    assert session.run(queue.dequeue()) == 0
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=10)


def test_an_error_in_a_thread_reaches_join_and_those_who_take(session):
    def fail():
        raise ValueError("broken input")

    queue = tf1.FIFOQueue(5, tf.float32, shapes=[[]])
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue([tf1.py_func(fail, [], tf.float32)])]))
    coord, take = tf1.train.Coordinator(), queue.dequeue()
    threads = tf1.train.start_queue_runners(session, coord)
    with pytest.raises(tf.errors.OutOfRangeError, match="ended with InvalidArgumentError: ValueError: broken input"):
        session.run(take)
    with pytest.raises(tf.errors.InvalidArgumentError, match="broken input"):
        coord.join(threads, stop_grace_period_secs=10)


def test_without_a_coordinator_errors_are_kept(session):
    queue = tf1.FIFOQueue(1, tf.int32)
    missing = tf1.Variable(3)
    runner = tf1.train.QueueRunner(queue, [queue.enqueue([missing])])
    (thread,) = runner.create_threads(session, daemon=True)
    run = thread.run

    def quietly():
        with pytest.raises(tf.errors.FailedPreconditionError):
            run()

    thread.run = quietly
    thread.start()
    thread.join(10)
    assert [type(e) for e in runner.exceptions_raised] == [tf.errors.FailedPreconditionError]
    with pytest.raises(tf.errors.OutOfRangeError, match="ended with FailedPreconditionError"):  # and nobody waits
        session.run(queue.dequeue())


def test_as_a_message(session):
    queue, runner = counted(3)
    message = runner.to_proto()
    assert message.queue_name == "fifo_queue" and list(message.enqueue_op_name) == ["fifo_queue_enqueue"]
    assert (message.close_op_name, message.cancel_op_name) == ("fifo_queue_Close", "fifo_queue_Close_1")
    assert list(message.queue_closed_exception_types) == [tf.errors.OUT_OF_RANGE]
    again = tf1.train.QueueRunner.from_proto(message)
    assert again.to_proto() == message and again.name == queue.name
    assert runner.to_proto(export_scope="elsewhere") is None


def test_in_a_meta_graph(session):
    queue, runner = counted(3)
    tf1.train.add_queue_runner(runner)
    queue.dequeue(name="take")
    tf1.global_variables_initializer()
    message, _ = meta_graph.export_scoped_meta_graph()
    with tf1.Graph().as_default(), tf1.Session() as other:
        import_scoped_meta_graph(message)
        other.run("init")
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(other, coord)
        assert [other.run("take:0") for _ in range(3)] == [0, 1, 2]
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda q: tf1.train.QueueRunner(q, []), ValueError),
        (lambda q: tf1.train.QueueRunner(None, [1]), ValueError),
        (lambda q: tf1.train.QueueRunner(q, [q.close()], queue_closed_exception_types=(ValueError,)), TypeError),
        (lambda q: tf1.train.QueueRunner(q, [q.close()], queue_closed_exception_types=()), TypeError),
    ],
)
def test_refused(session, make, error):
    with pytest.raises(error):
        make(tf1.FIFOQueue(1, tf.int32))


def test_a_session_is_needed():
    with tf1.Graph().as_default(), pytest.raises(ValueError, match="No default session"):
        tf1.train.start_queue_runners()
    with pytest.raises(RuntimeError, match="eager"):
        tf.compat.v1.train.start_queue_runners()
    with pytest.raises(RuntimeError, match="eager"):
        tf.compat.v1.train.string_input_producer(["a"])
