"""Calls of a batch function from several threads, computed together."""

from __future__ import annotations

import threading

import pytest

import ebbflow as tf
from ebbflow.functions.typed_function import Defun

A_LONG_TIME = 60 * 10**6  # microseconds: full batches do not wait for it


def together(calls):
    """Return what calls give that are made in threads of their own."""
    results = [None] * len(calls)

    def make(i):
        try:
            results[i] = calls[i]()
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=make, args=[i]) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def batched(seen, most=3, wait=A_LONG_TIME, **more):
    @tf.nondifferentiable_batch_function(1, most, wait, **more)
    def double(x):
        tf.py_function(lambda rows: seen.append(len(rows)), [x], [])
        return 2 * x

    return double


def test_rows_of_several_threads_are_one_batch():
    seen = []
    double = batched(seen)
    found = together([lambda: double(tf.constant([1.0, 2.0])), lambda: double(tf.constant([5.0]))])
    assert [x.numpy().tolist() for x in found] == [[2.0, 4.0], [10.0]]
    assert seen == [3]


def test_one_call_alone_and_padding():
    seen = []
    double = batched(seen, wait=1, allowed_batch_sizes=[2, 3])
    assert double(tf.constant([7.0])).numpy().tolist() == [14.0]
    assert double(tf.constant([1.0, 2.0, 3.0, 4.0])).numpy().tolist() == [2.0, 4.0, 6.0, 8.0]
    assert seen == [2, 3, 2]


def test_in_graphs_with_what_is_captured():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        more, v = tf.compat.v1.placeholder_with_default(2.0, []), tf.Variable(3.0)

        @tf.nondifferentiable_batch_function(1, 2, A_LONG_TIME)
        def plus(x):
            return x + more + v

        given = tf.compat.v1.placeholder(tf.float32, [1])
        result = plus(given)
        session.run(v.initializer)
        found = together([lambda n=n: session.run(result, {given: [n]}).tolist() for n in (1.0, 2.0)])
        assert found == [[6.0], [7.0]]


def test_every_caller_hears_of_an_error():
    @tf.nondifferentiable_batch_function(1, 2, A_LONG_TIME)
    def wrong(x):
        return tf.debugging.check_numerics(x, "not finite")

    found = together([lambda: wrong(tf.constant([float("nan")])), lambda: wrong(tf.constant([1.0]))])
    assert all(isinstance(error, tf.errors.InvalidArgumentError) for error in found)


@pytest.mark.parametrize("call, says", [
    (lambda: batched([], wait=1)(tf.constant(1.0)), "at least one dimension"),
    (lambda: batched([], wait=1, enable_large_batch_splitting=False)(tf.ones([4])), "Task size 4 is larger"),
    (lambda: tf.nondifferentiable_batch_function(1, 2, 1)(tf.reduce_sum)(tf.ones([2])), "must give that many"),
    (lambda: tf.nondifferentiable_batch_function(1, 2, 1)(tf.add)(tf.ones([2]), tf.ones([1])), "equal 0th-dimension"),
])  # fmt: skip
def test_refusals(call, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        call()


def test_tensors_alone():
    with pytest.raises(ValueError, match="takes tensors alone"):
        batched([])([1.0])


def test_a_typed_function_is_an_attr():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        more = tf.compat.v1.placeholder_with_default(2, [])

        @Defun(tf.int32)
        def plus(x):
            return x + more

        found = tf.raw_ops.BatchFunction(
            in_tensors=[tf.constant([1])], captured_tensors=plus.captured_inputs, f=plus, num_batch_threads=1,
            max_batch_size=1, batch_timeout_micros=1, Tout=[tf.int32],
        )  # fmt: skip
        assert session.run(found)[0].tolist() == [3]
