"""Programs whose sizes change from run to run, and sparse rows, on Ebbflow and on TensorFlow.

The encoder-decoder is a graph of TF 1: `bidirectional_dynamic_rnn` over a batch padded to its longest row, and a
`raw_rnn` that feeds its own answers back until all rows have ended. The cell is written out here, because TensorFlow's
has left for Keras.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks.problems import RATE, sparse_rows, translations
from benchmarks.work import Work
from benchmarks.work.tf_module import tf

v1 = tf.compat.v1
WORDS, WIDTH, UNITS = 10, 20, 20


class Cell:
    """An LSTM cell: gates i, j, f, o from one product."""

    def __init__(self, units, depth, name):
        self.units = self.output_size = units
        self.state_size = (units, units)
        self.kernel = v1.get_variable(f"{name}/kernel", [depth + units, 4 * units])
        self.bias = v1.get_variable(f"{name}/bias", [4 * units], initializer=v1.zeros_initializer())

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, self.units], dtype), tf.zeros([batch, self.units], dtype)

    def __call__(self, x, state, scope=None):
        c, h = state
        gates = tf.matmul(tf.concat([x, h], 1), self.kernel) + self.bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (c, h)


def _decoder(embeddings, lengths, first, weights, bias):
    """Return the logits of all steps: each step is given the word that the one before found most likely."""
    cell = Cell(2 * UNITS, WIDTH, "decoder")
    batch = tf.shape(lengths)[0]
    start, padding = (tf.nn.embedding_lookup(embeddings, tf.fill([batch], word)) for word in (1, 0))

    def turn(time, output, state, loop_state):
        if output is None:
            return lengths <= 0, start, first, None, None
        done = time >= lengths
        likely = lambda: tf.nn.embedding_lookup(embeddings, tf.argmax(tf.matmul(output, weights) + bias, 1))
        return done, tf.cond(tf.reduce_all(done), lambda: padding, likely), state, output, None

    outputs = v1.nn.raw_rnn(cell, turn)[0].stack()
    flat = tf.matmul(tf.reshape(outputs, [-1, 2 * UNITS]), weights) + bias
    return tf.reshape(flat, [tf.shape(outputs)[0], batch, WORDS])


def _encoder_decoder():
    """Return the placeholders, the loss, and the step."""
    given, lengths = v1.placeholder(tf.int32, [None, None]), v1.placeholder(tf.int32, [None])
    wanted = v1.placeholder(tf.int32, [None, None])
    embeddings = v1.get_variable("embeddings", [WORDS, WIDTH])
    weights, bias = v1.get_variable("weights", [2 * UNITS, WORDS]), v1.get_variable("bias", [WORDS])
    cells = Cell(UNITS, WIDTH, "forwards"), Cell(UNITS, WIDTH, "backwards")
    words = tf.nn.embedding_lookup(embeddings, given)
    with v1.variable_scope("encoder"):
        _, states = v1.nn.bidirectional_dynamic_rnn(
            *cells, words, sequence_length=lengths, dtype=tf.float32, time_major=True
        )
    first = tuple(tf.concat(pair, 1) for pair in zip(*states))
    logits = _decoder(embeddings, lengths + 3, first, weights, bias)
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


WORKLOADS = {f.__name__: f for f in (encoder_decoder_batch, embedding_rows)}
