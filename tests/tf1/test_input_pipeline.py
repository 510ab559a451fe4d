"""One string after the other out of a list."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import input_pipeline

v1 = tf.compat.v1


def started(session):
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])


def test_a_counter_goes_round():
    with tf.Graph().as_default(), v1.Session() as session:
        counter = v1.get_variable("counter", [], tf.int64, v1.initializers.constant(-1), use_resource=False)
        following = input_pipeline.obtain_next(tf.constant(["a", "b"]), counter)
        started(session)
        assert [session.run(following) for _ in range(3)] == [b"a", b"b", b"a"]
        assert session.run(counter) == 0


@pytest.mark.parametrize("epochs", [1, 3])
def test_epochs_come_to_an_end(epochs):
    with tf.Graph().as_default(), v1.Session() as session:
        following = input_pipeline.seek_next(["a", "b", "c"], num_epochs=epochs)
        started(session)
        assert [session.run(following) for _ in range(3 * epochs)] == [b"a", b"b", b"c"] * epochs
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


def test_orders_by_chance():
    with tf.Graph().as_default(), v1.Session() as session:
        given = [str(n) for n in range(20)]
        following = [input_pipeline.seek_next(given, True, seed) for seed in (1, 1, 2)]
        started(session)
        first, same, other = ([session.run(f) for _ in given] for f in following)
    assert first == same != other and sorted(first) == sorted(n.encode() for n in given) == sorted(other)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must not be empty"):
        input_pipeline.seek_next([])
