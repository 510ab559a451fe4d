"""Graphs for batches of any size: their loops and lists have one size in a run."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow import v1 as tf
from ebbflow.compiler.flow import is_loop
from tests.compiler.native_runs import close, only_numpy

R = np.random.RandomState(0)


def cells(kind):
    rnn = tf.nn.rnn_cell
    if kind == "dropout":
        return rnn.DropoutWrapper(rnn.BasicRNNCell(5), output_keep_prob=0.5, seed=2)
    return rnn.MultiRNNCell([rnn.BasicLSTMCell(5), rnn.GRUCell(4)])


def trained(kind, batches):
    """Return the losses of steps of a recurrent net whose graph knows neither batch nor variables by value."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 40, 3])
        out, _ = tf.nn.dynamic_rnn(cells(kind), x, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(out[:, -1] - 1.0))
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, step], {x: batch})[0] for batch in batches]


@pytest.mark.parametrize("kind", ["layers", "dropout"])
def test_recurrent_nets_for_any_batch_are_machine_code(kind, made, monkeypatch):
    batches = [R.rand(n, 40, 3).astype("f") for n in (6, 6, 2)]
    by_code = trained(kind, batches)
    assert sum(is_loop(n) for m in made for n in m.region.nodes if m.kernel is not None) == 4  # there, back; two sizes
    only_numpy(monkeypatch)
    close(by_code, trained(kind, batches))


def test_lists_that_hold_several_shapes():
    @tf2.function(autograph=False, input_signature=[tf2.TensorSpec([None, 2]), tf2.TensorSpec([], tf2.int32)])
    def f(x, n):
        rows = tf2.TensorArray(tf2.float32, 0, dynamic_size=True, infer_shape=False, clear_after_read=False)
        turn = lambda i, a, y: (i + 1, a.write(i, y), y[1:])
        _, rows, rest = tf2.while_loop(
            lambda i, a, y: i < n, turn, [0, rows, x], [tf2.TensorShape([]), None, tf2.TensorShape([None, 2])]
        )
        return rows.concat(), rows.read(0), rest

    x = np.arange(8.0).reshape(4, 2).astype("f")
    for _ in range(3):
        joined, first, rest = f(tf2.constant(x), tf2.constant(3))
        np.testing.assert_array_equal(joined, np.concatenate([x, x[1:], x[2:]]))
        np.testing.assert_array_equal(first, x)
        np.testing.assert_array_equal(rest, x[3:])


def test_elements_that_were_not_set_are_zeros_whatever_others_are():
    @tf2.function(autograph=False, input_signature=[tf2.TensorSpec([None])])
    def f(x):
        rows = tf2.TensorArray(tf2.int32, 3, element_shape=[1], clear_after_read=False)
        turn = lambda i, a: (i + 1, a.write(i, tf2.shape(x)))
        _, rows = tf2.while_loop(lambda i, a: i < 2, turn, [0, rows])
        return rows.read(2), rows.read(0), rows.stack()

    for _ in range(3):
        last, first, all_of_them = f(tf2.ones([7]))
        assert last.numpy() == [0] and first.numpy() == [7] and all_of_them.numpy().tolist() == [[7], [7], [0]]
