"""Programs whose sizes change from run to run, and sparse rows, on Ebbflow and on TensorFlow.

The encoder-decoder is a graph of TF 1: `bidirectional_dynamic_rnn` over a batch padded to its longest row, and a
`raw_rnn` that feeds its own answers back until all rows have ended. The cell is written out here, because TensorFlow's
has left for Keras.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks.problems import RATE, reading_parameters, readings, sparse_rows, translation_parameters, translations
from benchmarks.work import Work
from benchmarks.work.tf_module import tf

v1 = tf.compat.v1


class Cell:
    """An LSTM cell: gates i, j, f, o from one product."""

    def __init__(self, kernel, bias):
        self.kernel, self.bias = kernel, bias
        self.units = self.output_size = int(bias.shape[0]) // 4
        self.state_size = (self.units, self.units)

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, self.units], dtype), tf.zeros([batch, self.units], dtype)

    def __call__(self, x, state, scope=None):
        c, h = state
        gates = tf.matmul(tf.concat([x, h], 1), self.kernel) + self.bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (c, h)


def _decoder(p, cell, lengths, first):
    """Return the logits of all steps: each step is given the word that the one before found most likely."""
    embeddings, weights, bias = p["embeddings"], p["weights"], p["bias"]
    batch = tf.shape(lengths)[0]
    start, padding = (tf.nn.embedding_lookup(embeddings, tf.fill([batch], word)) for word in (1, 0))

    def turn(time, output, state, loop_state):
        if output is None:
            return lengths <= 0, start, first, None, None
        done = time >= lengths
        likely = lambda: tf.nn.embedding_lookup(embeddings, tf.argmax(tf.matmul(output, weights) + bias, 1))
        return done, tf.cond(tf.reduce_all(done), lambda: padding, likely), state, output, None

    outputs = v1.nn.raw_rnn(cell, turn)[0].stack()
    flat = tf.matmul(tf.reshape(outputs, [-1, cell.units]), weights) + bias
    return tf.reshape(flat, [tf.shape(outputs)[0], batch, bias.shape[0]])


def _encoder_decoder():
    """Return the placeholders, the loss, and the step."""
    given, lengths = v1.placeholder(tf.int32, [None, None]), v1.placeholder(tf.int32, [None])
    wanted = v1.placeholder(tf.int32, [None, None])
    p = {name: v1.get_variable(name, initializer=x) for name, x in translation_parameters().items()}
    *cells, decoder = [Cell(p[f"{name}_w"], p[f"{name}_b"]) for name in ("forwards", "backwards", "decoder")]
    words = tf.nn.embedding_lookup(p["embeddings"], given)
    with v1.variable_scope("encoder"):
        _, states = v1.nn.bidirectional_dynamic_rnn(
            *cells, words, sequence_length=lengths, dtype=tf.float32, time_major=True
        )
    first = tuple(tf.concat(pair, 1) for pair in zip(*states))
    logits = _decoder(p, decoder, lengths + 3, first)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=logits))
    return (given, lengths, wanted), loss, v1.train.AdamOptimizer().minimize(loss)


def encoder_decoder_batch():
    """A training step, each on a batch of another length."""
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        placeholders, loss, step = _encoder_decoder()
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
    feeds = [dict(zip(placeholders, arrays)) for arrays in translations()]
    batches = itertools.cycle(feeds)

    def run():
        return [session.run([loss, step], next(batches))[0] for _ in feeds]

    return Work(run, len(feeds))


def lstm_of_41_lengths():
    """A training step of a `dynamic_rnn`, each on sequences of another length."""
    with tf.Graph().as_default() as graph:
        x, y = v1.placeholder(tf.float32, [None, None, 16]), v1.placeholder(tf.float32, [None, 1])
        p = {name: v1.get_variable(name, initializer=value) for name, value in reading_parameters().items()}
        _, (_, h) = v1.nn.dynamic_rnn(Cell(p["reader_w"], p["reader_b"]), x, dtype=tf.float32)
        loss = tf.reduce_mean((tf.matmul(h, p["out"]) - y) ** 2)
        step = v1.train.AdamOptimizer().minimize(loss)
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
    feeds = [{x: given, y: wanted} for given, wanted in readings()]
    return Work(lambda: [session.run([loss, step], feed)[0] for feed in feeds], len(feeds))


def embedding_rows():
    """The gradient of a few rows of a large table, and their update."""
    table, ids = sparse_rows()
    variable, ids = tf.Variable(table), tf.constant(ids)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.embedding_lookup(variable, ids) ** 2)
        slices = tape.gradient(loss, variable)
        variable.scatter_sub(tf.IndexedSlices(RATE * slices.values, slices.indices))
        return loss

    return Work(lambda: step(ids), parameters=lambda: {"table": np.asarray(variable)})


WORKLOADS = {f.__name__: f for f in (encoder_decoder_batch, lstm_of_41_lengths, embedding_rows)}
