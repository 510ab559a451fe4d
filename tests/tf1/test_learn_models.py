"""skflow's models and ops: the numbers and the names of variables are TensorFlow 1.15's."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.layers.rnn.cells import BasicRNNCell
from ebbflow.tf1 import learn_models as learn

v1 = tf.compat.v1
X = [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def values(*fetches):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(fetches)


def names():
    return sorted(v.op.name for v in v1.global_variables())


def test_linear_regression():
    predictions, loss = learn.linear_regression_zero_init(tf.constant(X), tf.constant([1.0, 2.0, 4.0]))
    found = values(predictions, loss)
    assert predictions.shape == (3,) and found[0].tolist() == [0, 0, 0] and found[1] == 7.0
    assert names() == ["linear_regression/bias", "linear_regression/weights"]
    told = [each.op.name for each in v1.get_collection(v1.GraphKeys.SUMMARIES)]
    assert sorted(told) == [f"linear_regression/linear_regression.{of}" for of in ("bias", "weights", "x", "y")]


@pytest.mark.parametrize("named", [False, True])
def test_logistic_regression(named):
    weight = [1.0, 2.0, 3.0]
    if named:
        tf.constant(weight, name="class_weight")
    given = None if named else weight
    shares, loss = learn.logistic_regression(X, tf.one_hot([0, 2, 1], 3), given, init_mean=0.5, init_stddev=0.0)
    found = values(shares, loss)
    np.testing.assert_allclose(found[0][0], [0.015876241, 0.117310427, 0.866813362], rtol=1e-5)
    np.testing.assert_allclose(found[1], 1.85633886, rtol=1e-5)
    assert names() == ["logistic_regression/bias", "logistic_regression/weights"]


def test_regressor_of_a_column():
    predictions, loss = learn.mean_squared_error_regressor(X, [[1.0], [2.0], [3.0]], [[1.0], [2.0]], [0.5])
    found = values(predictions, loss)
    assert found[0].tolist() == [[5.5], [11.5], [2.5]] and found[1] == pytest.approx(36.916668)


def test_embeddings():
    table = np.arange(12.0).reshape(4, 3)
    (found,) = values(learn.embedding_lookup(table, [[1, 3], [0, 0]]))
    np.testing.assert_array_equal(found, table[[[1, 3], [0, 0]]])
    assert learn.categorical_variable(tf.constant([[0, 1]]), 5, 3, "cat").shape == (1, 2, 3)
    assert names() == ["cat/cat_embeddings"]


def test_sequences():
    decoding = [tf.constant([[1.0, 2.0], [0.0, 1.0]]), tf.constant([[0.0, 0.0], [3.0, 1.0]])]
    shares, loss = learn.sequence_classifier(decoding, [tf.constant([[1.0, 0], [0, 1.0]])] * 2)
    found = values(shares, loss)
    np.testing.assert_allclose(found[0][1], [[0.2689414, 0.7310586], [0.880797, 0.1192029]], rtol=1e-5)
    assert found[1] == pytest.approx(4.446598, rel=1e-5)
    y = np.arange(8.0).reshape(2, 2, 2)
    steps, shown, wanted = learn.seq2seq_inputs(np.zeros((2, 3, 2)), y, 3, 2)
    found = values(*shown, *wanted)
    assert len(steps) == 3
    np.testing.assert_array_equal(found, [0 * y[:, 0], y[:, 0], y[:, 1], y[:, 0], y[:, 1], 0 * y[:, 0]])


def test_decoders():
    inputs = [tf.ones([1, 2]), tf.ones([1, 2]) * 2, tf.ones([1, 2])]
    with v1.variable_scope("z", initializer=v1.constant_initializer(0.3)):
        found = learn.rnn_decoder(inputs, tf.zeros([1, 2]), BasicRNNCell(2))
        learn.rnn_seq2seq(inputs, inputs, BasicRNNCell(2))
    assert [len(part) for part in found] == [3, 4, 3, 4]
    outputs, own = values(tf.concat(found[0], 0), tf.concat(found[2], 0))
    np.testing.assert_allclose(outputs[:, 0], [0.5370496, 0.9090855, 0.8162416], rtol=1e-5)
    np.testing.assert_allclose(own[:, 0], [0.5370496, 0.3115217, 0.3573338], rtol=1e-5)
    assert {name.rpartition("/basic")[0] for name in names()} == {"z/dnn_decoder", "z/rnn_seq2seq/rnn"}


@pytest.mark.parametrize("cell_type, both, attention", [("lstm", True, None), ("gru", False, None), ("rnn", False, 2)])
def test_model_of_cells(cell_type, both, attention):
    make = learn.get_rnn_model(
        2, cell_type, 2, lambda x: tf.unstack(x, axis=1), both, lambda code, y: (code, y), None, None, attention, None,
        None,
    )  # fmt: skip
    with v1.variable_scope("z", initializer=v1.constant_initializer(0.3)):
        code, y = make(tf.ones([1, 3, 2]), 7)
    (found,) = values(code)
    assert y == 7 and np.isfinite(found).all()
    if both:
        np.testing.assert_allclose(found[0, ::2], [1.1005646, 0.5606643, 0.3931689, 0.2243694] * 2, rtol=1e-5)
        assert {name.split("/multi")[0] for name in names()} == {"z/BiRNN_FW/rnn", "z/BiRNN_BW/rnn"}


def test_unknown_cells():
    with pytest.raises(ValueError, match=r"cell_type tree is not supported\. One of rnn, gru, lstm"):
        learn.get_rnn_model(2, "tree", 1, None, False, None, None, None, None, None, None)
