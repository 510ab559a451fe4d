"""Recurrences beyond TensorFlow's recordings: gradients of second order, loops against unrolled steps, own
cells, misuse.
"""

import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.layers.rnn import blocks, cells, dynamic, projections, static, wrappers

v1 = tf.compat.v1
BATCH, TIME, DEPTH = 2, 3, 3
LENGTHS = [2, 3]

CELLS = {
    "basic": lambda: cells.BasicRNNCell(3),
    "gru": lambda: cells.GRUCell(3),
    "basic lstm": lambda: cells.BasicLSTMCell(3),
    "lstm": lambda: cells.LSTMCell(3, use_peepholes=True, num_proj=2),
    "stack": lambda: cells.MultiRNNCell([cells.LSTMCell(2), cells.GRUCell(3)]),
    "residual": lambda: wrappers.ResidualWrapper(cells.GRUCell(3)),
    "projected": lambda: projections.OutputProjectionWrapper(cells.BasicLSTMCell(3), 2),
    "lstm block": lambda: blocks.LSTMBlockCell(3),
    "lstm block with peepholes": lambda: blocks.LSTMBlockCell(3, use_peephole=True),
    "gru block": lambda: blocks.GRUBlockCell(3),
}


def waves(*shape, dtype=np.float32):
    return np.sin(np.arange(int(np.prod(shape))) * 0.7 + 0.3).reshape(shape).astype(dtype)


def weights(shape, dtype=tf.float32, partition_info=None):
    sizes = [int(d) for d in shape]
    return tf.constant(np.cos(np.arange(int(np.prod(sizes))) * 1.3).reshape(sizes) * 0.5, dtype)


def flat(structure):
    return tf.nest.flatten(structure)


def unrolled(cell, x, lengths):
    outputs, state = static.static_rnn(cell, tf.unstack(x, TIME, axis=1), dtype=x.dtype, sequence_length=lengths)
    return tf.stack(outputs, axis=1), state


def looped(cell, x, lengths):
    return dynamic.dynamic_rnn(cell, x, dtype=x.dtype, sequence_length=lengths)


def fused(cell, x, lengths):
    outputs, state = cell(tf.transpose(x, [1, 0, 2]), dtype=x.dtype, sequence_length=lengths)
    return tf.transpose(outputs, [1, 0, 2]), state


def loss_of(parts):
    return tf.add_n([tf.reduce_sum(tf.sin(part * 2.0)) for part in flat(parts)])


def orders(make, run, lengths=None, dtype=np.float32, known=True):
    """The loss, its gradients, and the gradients of their squares, of inputs and variables, in a graph."""
    with tf.Graph().as_default(), v1.variable_scope("all", initializer=weights):
        x = v1.placeholder(dtype, [BATCH, TIME, DEPTH] if known else [None, None, DEPTH])
        lengths = None if lengths is None else tf.constant(lengths)
        loss = loss_of(run(make(), x, lengths))
        sources = [x, *v1.trainable_variables()]
        first = tf.gradients(loss, sources)
        second = tf.gradients(tf.add_n([tf.reduce_sum(g * g) for g in first]), sources)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return session.run([loss, first, second], {x: waves(BATCH, TIME, DEPTH, dtype=dtype)})


def orders_eagerly(make, run, lengths=None):
    x = tf.constant(waves(BATCH, TIME, DEPTH))
    with v1.variable_scope("all", initializer=weights), tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            cell = make()
            loss = loss_of(run(cell, x, lengths))
        sources = [x, *cell.trainable_variables]
        first = inner.gradient(loss, sources)
        squares = tf.add_n([tf.reduce_sum(g * g) for g in first])
    return loss.numpy(), [g.numpy() for g in first], [g.numpy() for g in outer.gradient(squares, sources)]


def assert_orders(given, wanted, tolerance=2e-4):
    np.testing.assert_allclose(given[0], wanted[0], rtol=tolerance)
    for one, other in zip(given[1:], wanted[1:], strict=True):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            scale = np.abs(b).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-2))


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["full", "lengths"])
@pytest.mark.parametrize("name", CELLS)
def test_a_loop_differentiates_as_its_steps_do(name, lengths):
    wanted = orders(CELLS[name], unrolled, lengths)
    assert_orders(orders(CELLS[name], looped, lengths), wanted)


@pytest.mark.parametrize("name", ["gru", "basic lstm", "stack", "lstm block"])
def test_a_loop_of_unknown_length_differentiates_too(name):
    wanted = orders(CELLS[name], unrolled, LENGTHS)
    assert_orders(orders(CELLS[name], looped, LENGTHS, known=False), wanted)


@pytest.mark.parametrize("run", [unrolled, looped], ids=["unrolled", "looped"])
@pytest.mark.parametrize("name", [n for n in CELLS if n != "projected"])  # makes variables at every eager call
def test_eagerly_the_same(name, run):
    assert_orders(orders_eagerly(CELLS[name], run, LENGTHS), orders(CELLS[name], unrolled, LENGTHS))


@pytest.mark.parametrize("peepholes", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["full", "lengths"])
def test_a_fused_layer_differentiates_as_its_steps_do(lengths, peepholes):
    wanted = orders(lambda: blocks.LSTMBlockCell(3, 0.5, 0.6, peepholes, name="same"), unrolled, lengths)
    given = orders(lambda: blocks.LSTMBlockFusedCell(3, 0.5, 0.6, peepholes, name="same"), fused, lengths)
    assert_orders(given, wanted)


ALONE = {
    "dynamic_rnn": """
import ebbflow.v1 as tf
x = tf.ones([3, 5, 4])
y, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), x, dtype=tf.float32)
print(tf.gradients(tf.gradients(y, x)[0] ** 2, x)[0].shape)""",
    "raw op": """
import ebbflow as tf
x, w, none, cell = tf.ones([3, 5, 4]), tf.ones([7, 12]), tf.zeros([3]), tf.zeros([5, 3])
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.BlockLSTM(seq_len_max=3, x=x, cs_prev=cell, h_prev=cell, w=w, wci=none, wcf=none, wco=none,
                                 b=tf.zeros([12])).h
    grad = tape.gradient(y, x)
print(outer.gradient(grad, x).shape)""",
}


@pytest.mark.parametrize("name", ALONE)
def test_second_order_where_nothing_else_was_loaded(name):
    run = subprocess.run([sys.executable, "-c", ALONE[name]], capture_output=True, text=True)
    assert run.stdout == "(3, 5, 4)\n", run.stderr


@pytest.mark.parametrize("name", ["basic", "gru", "basic lstm", "lstm", "stack"])
def test_gradients_by_finite_differences(name):
    """The first order against differences of the loss, the second against differences of the first."""
    with tf.Graph().as_default(), v1.variable_scope("all", initializer=weights, dtype=tf.float64):
        x = v1.placeholder(tf.float64, [BATCH, TIME, DEPTH])
        loss = loss_of(looped(CELLS[name](), x, tf.constant(LENGTHS)))
        sources = [x, *v1.trainable_variables()]
        first = tf.gradients(loss, sources)
        squares = tf.add_n([tf.reduce_sum(g * g) for g in first])
        second = tf.gradients(squares, sources)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            at = [waves(BATCH, TIME, DEPTH, dtype=np.float64), *session.run(sources[1:])]
            numbers = [loss, squares, first, second]
            _, _, slopes, bends = session.run(numbers, dict(zip(sources, at, strict=True)))
            for k, (slope, bend) in enumerate(zip(slopes, bends, strict=True)):
                step = 1e-5 * waves(*at[k].shape, dtype=np.float64)
                ends = []
                for sign in (1, -1):
                    moved = [value + sign * step if i == k else value for i, value in enumerate(at)]
                    ends.append(session.run([loss, squares], dict(zip(sources, moved, strict=True))))
                (high, high_2), (low, low_2) = ends
                np.testing.assert_allclose((slope * step).sum() * 2, high - low, rtol=1e-5, atol=1e-12)
                np.testing.assert_allclose((bend * step).sum() * 2, high_2 - low_2, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("given, named", [("relu", "relu"), ("sigmoid", "sigmoid"), (None, "tanh"), (tf.nn.elu, "elu")])
def test_settings_of_cells_have_activations_by_name(given, named):
    for kind in (cells.BasicRNNCell, cells.GRUCell, cells.BasicLSTMCell):
        config = kind(3, activation=given).get_config()
        assert config["activation"] == named
        assert kind.from_config(config).get_config() == config


@pytest.mark.parametrize("start", [{"bias_start": 1.0}, {"bias_initializer": 1.0}])
def test_a_linear_map_takes_the_arguments_of_before_1_1(start):
    with tf.Graph().as_default():
        y = projections.linear([tf.ones([2, 3]), tf.zeros([2, 1])], 2, True, **start, scope="Gate")
        names = [v.name for v in v1.global_variables()]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            kernel, bias, found = session.run([*v1.global_variables(), y])
    assert names == ["Gate/kernel:0", "Gate/bias:0"]
    assert bias.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(found[0], kernel[:3].sum(0) + 1.0, rtol=1e-6)
