"""Recurrent layers with one vector of weights: the numbers that their cells have, by way of a checkpoint and back."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.layers.rnn.dynamic import dynamic_rnn, stack_bidirectional_dynamic_rnn
from ebbflow.tf1 import cudnn_params, cudnn_rnn

v1 = tf.compat.v1
TIME, BATCH, SIZE, UNITS = 5, 3, 4, 6
X = np.random.RandomState(0).randn(TIME, BATCH, SIZE).astype("f")
KINDS = {
    "lstm": (cudnn_rnn.CudnnLSTM, cudnn_rnn.CudnnCompatibleLSTMCell, cudnn_params.ConverterLSTM),
    "gru": (cudnn_rnn.CudnnGRU, cudnn_rnn.CudnnCompatibleGRUCell, cudnn_params.ConverterGRU),
    "tanh": (cudnn_rnn.CudnnRNNTanh, v1.nn.rnn_cell.BasicRNNCell, cudnn_params.ConverterSimple),
    "relu": (
        cudnn_rnn.CudnnRNNRelu,
        lambda units: v1.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.relu),
        cudnn_params.ConverterSimple,
    ),
}


def by_cells(cell, layers, both, lengths):
    with v1.variable_scope("net"):
        if both:
            cells = [[cell(UNITS) for _ in range(layers)] for _ in range(2)]
            kwargs = {"dtype": tf.float32, "sequence_length": lengths, "time_major": True}
            return stack_bidirectional_dynamic_rnn(*cells, X, **kwargs)[0]
        stacked = v1.nn.rnn_cell.MultiRNNCell([cell(UNITS) for _ in range(layers)])
        return dynamic_rnn(stacked, X, dtype=tf.float32, sequence_length=lengths, time_major=True)[0]


@pytest.mark.parametrize("lengths", [None, [5, 2, 4]], ids=["whole", "lengths"])
@pytest.mark.parametrize("both", [False, True], ids=["one", "both"])
@pytest.mark.parametrize("kind", KINDS)
def test_cells_compute_the_same_from_the_layers_checkpoint(kind, both, lengths, tmp_path):
    layer, cell, _ = KINDS[kind]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        made = layer(
            2,
            UNITS,
            direction="bidirectional" if both else "unidirectional",
            name="net",
            bias_initializer=v1.random_uniform_initializer(-0.5, 0.5),
        )
        outputs, _ = made(X, sequence_lengths=lengths)
        session.run(v1.global_variables_initializer())
        expected, kept = session.run([outputs, made.kernel])
        path = v1.train.Saver().save(session, str(tmp_path / "layer"))
    with tf.Graph().as_default(), v1.Session() as session:
        outputs = by_cells(cell, 2, both, lengths)
        v1.train.Saver().restore(session, path)
        np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-4, atol=1e-5)
        path = v1.train.Saver().save(session, str(tmp_path / "cells"))
    with tf.Graph().as_default(), v1.Session() as session:
        made = layer(2, UNITS, direction="bidirectional" if both else "unidirectional", name="net")
        outputs, _ = made(X, sequence_lengths=lengths)
        v1.train.Saver([made.saveable]).restore(session, path)
        np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-4, atol=1e-5)
        assert session.run(made.kernel).shape == kept.shape


@pytest.mark.parametrize("kind", KINDS)
def test_eager_states_go_on_where_they_ended(kind):
    layer = KINDS[kind][0](1, UNITS)
    whole, ends = layer(tf.constant(X))
    first, state = layer(tf.constant(X[:2]))
    second, again = layer(tf.constant(X[2:]), state)
    np.testing.assert_allclose(tf.concat([first, second], 0), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(again[0], ends[0], rtol=1e-5, atol=1e-6)
    turned, _ = layer(tf.transpose(X, [1, 0, 2]), time_major=False)
    np.testing.assert_allclose(tf.transpose(turned, [1, 0, 2]), whole, rtol=1e-5, atol=1e-6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant(X))[0])
    assert np.abs(tape.gradient(loss, layer.kernel)).max() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_vector_goes_to_cells_and_back(kind):
    converter = KINDS[kind][2](2, UNITS, SIZE, direction="bidirectional")
    vector = np.arange(converter.size(), dtype="f")
    weights, biases = converter.opaque_to_tf_canonical(tf.constant(vector))
    back = converter.tf_canonical_to_opaque([*weights, *biases])
    count = sum(int(np.prod(shape)) for shape in converter.weight_shapes())
    np.testing.assert_array_equal(back[:count], vector[:count])
    again = converter.opaque_to_tf_canonical(back)[1]
    for ours, theirs in zip(again, biases, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"direction": "up"}, "Invalid direction: 'up'"),
        ({"input_mode": "no"}, "Invalid input_mode: 'no'"),
        ({"dtype": tf.int32}, "Only support float16, float32, float64"),
    ],
)
def test_what_no_layer_can_be(arguments, says):
    with pytest.raises(ValueError, match=says):
        cudnn_rnn.CudnnLSTM(1, 2, **arguments)


def test_inputs_and_states_are_checked():
    layer = cudnn_rnn.CudnnGRU(1, UNITS)
    with pytest.raises(ValueError, match="input_size' is unknown"):
        _ = layer.input_size
    with pytest.raises(ValueError, match="3 dims, got 2"):
        layer(X[0])
    with pytest.raises(TypeError, match="expecting tuple"):
        layer(tf.constant(X), [tf.zeros([1, BATCH, UNITS])])
    assert layer.state_shape(7) == ([1, 7, UNITS],)
    assert cudnn_rnn.CudnnLSTM(2, 5, direction="bidirectional").state_shape(7) == ([4, 7, 5], [4, 7, 5])
