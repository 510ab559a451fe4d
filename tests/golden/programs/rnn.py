"""Recurrent cells with known weights, unrolled and in loops: outputs, states, gradients, names of variables.

Only TensorFlow 1.15 can judge: its cells left with Keras 2. A row of CELLS is a cell; WAYS are the ways to run it over
time. Every cell goes every way it can; what is kept of a tensor is its shape, its first numbers and its sum. Ebbflow
plays the same in a graph and, where no name is asked for, eagerly.
"""

import importlib

import numpy as np

from .book import Book, read_recording, write_recording

book = Book(judges=("1.15",))
BATCH, TIME, DEPTH, UNITS = 3, 4, 5, 5
LENGTHS = [2, 4, 0]
KEPT = 10  # numbers kept of each tensor, besides its shape and its sum


def waves(*shape):
    """Numbers that are different everywhere."""
    return np.sin(np.arange(int(np.prod(shape)), dtype=np.float32) * 0.7 + 0.3).reshape(shape).astype(np.float32)


def weights(tf):
    """An initializer anybody can recompute."""

    def values(shape, dtype=None, partition_info=None):
        sizes = [int(d) for d in shape]
        return tf.constant(np.cos(np.arange(int(np.prod(sizes))) * 1.3).reshape(sizes) * 0.5, dtype or tf.float32)

    return values


# name: cell of (tf, the cells of tf.nn.rnn_cell)
CELLS = {
    "basic rnn": lambda tf, c: c.BasicRNNCell(UNITS),
    "basic rnn relu": lambda tf, c: c.BasicRNNCell(UNITS, activation=tf.nn.relu, name="mine"),
    "gru": lambda tf, c: c.GRUCell(UNITS),
    "gru from weights": lambda tf, c: c.GRUCell(
        UNITS, activation="sigmoid", kernel_initializer=weights(tf), bias_initializer=weights(tf)
    ),
    "basic lstm": lambda tf, c: c.BasicLSTMCell(UNITS),
    "basic lstm, one state": lambda tf, c: c.BasicLSTMCell(UNITS, forget_bias=0.3, state_is_tuple=False),
    "basic lstm softsign": lambda tf, c: c.BasicLSTMCell(UNITS, activation=tf.nn.softsign),
    "lstm": lambda tf, c: c.LSTMCell(UNITS),
    "lstm, one state": lambda tf, c: c.LSTMCell(UNITS, state_is_tuple=False, num_proj=3),
    "lstm with everything": lambda tf, c: c.LSTMCell(
        UNITS,
        use_peepholes=True,
        cell_clip=0.4,
        initializer=weights(tf),
        num_proj=5,
        proj_clip=0.25,
        forget_bias=0.5,
        activation="softsign",
    ),
    "lstm with peepholes": lambda tf, c: c.LSTMCell(UNITS, use_peepholes=True),
    "lstm in shards": lambda tf, c: c.LSTMCell(UNITS, num_unit_shards=2, num_proj=4, num_proj_shards=3),
    "two lstms": lambda tf, c: c.MultiRNNCell([c.BasicLSTMCell(4), c.LSTMCell(UNITS)]),
    "two grus, one state": lambda tf, c: c.MultiRNNCell([c.GRUCell(4), c.GRUCell(UNITS)], state_is_tuple=False),
    "residual": lambda tf, c: c.ResidualWrapper(c.GRUCell(UNITS)),
    "residual by function": lambda tf, c: c.ResidualWrapper(c.BasicLSTMCell(UNITS), lambda i, o: i * o),
    "on a device": lambda tf, c: c.DeviceWrapper(c.GRUCell(UNITS), "/cpu:0"),
    "dropout": lambda tf, c: c.DropoutWrapper(c.BasicLSTMCell(UNITS), 0.7, 0.6, 0.8, seed=11),
    "dropout of nothing": lambda tf, c: c.DropoutWrapper(c.BasicLSTMCell(UNITS)),
    "dropout, the same at every step": lambda tf, c: c.DropoutWrapper(
        c.LSTMCell(UNITS), 0.7, 0.6, 0.8, variational_recurrent=True, input_size=DEPTH, dtype=tf.float32, seed=5
    ),
    "dropout of memory": lambda tf, c: c.DropoutWrapper(
        c.LSTMCell(UNITS), state_keep_prob=0.5, seed=3, dropout_state_filter_visitor=lambda s: True
    ),
    "lstm block": lambda tf, c: tf.contrib.rnn.LSTMBlockCell(UNITS),
    "lstm block with everything": lambda tf, c: tf.contrib.rnn.LSTMBlockCell(
        UNITS, forget_bias=0.2, cell_clip=0.3, use_peephole=True
    ),
    "gru block": lambda tf, c: tf.contrib.rnn.GRUBlockCell(UNITS),
    "gru block, second": lambda tf, c: tf.contrib.rnn.GRUBlockCellV2(UNITS),
    "projected inputs": lambda tf, c: tf.contrib.rnn.InputProjectionWrapper(c.GRUCell(4), 3, activation=tf.tanh),
    "projected outputs": lambda tf, c: tf.contrib.rnn.OutputProjectionWrapper(c.GRUCell(4), 3),
    "layer norm lstm": lambda tf, c: tf.contrib.rnn.LayerNormBasicLSTMCell(UNITS),
    "layer norm lstm with dropout": lambda tf, c: tf.contrib.rnn.LayerNormBasicLSTMCell(
        UNITS, forget_bias=0.5, norm_gain=0.7, norm_shift=0.1, dropout_keep_prob=0.6, dropout_prob_seed=4
    ),
    "basic lstm without layer norm": lambda tf, c: tf.contrib.rnn.LayerNormBasicLSTMCell(UNITS, layer_norm=False),
    "layer norm lstm with everything": lambda tf, c: inner(tf).LayerNormLSTMCell(
        UNITS, True, 0.5, weights(tf), 4, 0.4, layer_norm=True, norm_gain=0.8
    ),
    "coupled gates": lambda tf, c: tf.contrib.rnn.CoupledInputForgetGateLSTMCell(UNITS),
    "coupled gates with everything": lambda tf, c: tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
        UNITS, True, None, 4, 0.3, 2, 2, 0.5, layer_norm=True
    ),
    "coupled gates, one state": lambda tf, c: tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
        UNITS, state_is_tuple=False, num_proj=3
    ),
    "groups": lambda tf, c: tf.contrib.rnn.GLSTMCell(10, num_proj=5, number_of_groups=5),
    "weight norm": lambda tf, c: inner(tf).WeightNormLSTMCell(UNITS, use_peepholes=True, cell_clip=0.5, num_proj=3),
    "nas": lambda tf, c: tf.contrib.rnn.NASCell(UNITS),
    "nas projected": lambda tf, c: tf.contrib.rnn.NASCell(UNITS, num_proj=3, use_bias=True),
    "ugrnn": lambda tf, c: tf.contrib.rnn.UGRNNCell(UNITS),
    "intersection": lambda tf, c: tf.contrib.rnn.IntersectionRNNCell(UNITS),
    "intersection projected": lambda tf, c: tf.contrib.rnn.IntersectionRNNCell(4, num_in_proj=4),
    "sru": lambda tf, c: tf.contrib.rnn.SRUCell(UNITS),
    "indrnn": lambda tf, c: tf.contrib.rnn.IndRNNCell(UNITS),
    "indy gru": lambda tf, c: tf.contrib.rnn.IndyGRUCell(UNITS),
    "indy lstm": lambda tf, c: tf.contrib.rnn.IndyLSTMCell(UNITS, forget_bias=0.4),
    "minimal": lambda tf, c: inner(tf).MinimalRNNCell(UNITS, kernel_initializer=weights(tf)),
    "chaos free": lambda tf, c: inner(tf).CFNCell(UNITS, kernel_initializer=weights(tf)),
    "attention": lambda tf, c: tf.contrib.rnn.AttentionCellWrapper(c.BasicLSTMCell(UNITS), 3),
    "attention, one state": lambda tf, c: tf.contrib.rnn.AttentionCellWrapper(
        c.GRUCell(UNITS), 2, 4, 3, 6, state_is_tuple=False
    ),
    "time and frequency": lambda tf, c: tf.contrib.rnn.TimeFreqLSTMCell(
        UNITS, True, 0.5, forget_bias=0.5, feature_size=5
    ),
    "grid": lambda tf, c: tf.contrib.rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[4]),
    "grid with everything": lambda tf, c: tf.contrib.rnn.GridLSTMCell(
        3, True, False, 0.4, None, 2, 0.5, 2, 1, [2, 1], [0, 3], [3, 5]
    ),
    "grid, shared and coupled": lambda tf, c: tf.contrib.rnn.GridLSTMCell(
        3, True, True, None, None, 1, 0.5, 3, 2, [2], couple_input_forget_gates=True
    ),
    "grid both ways": lambda tf, c: tf.contrib.rnn.BidirectionalGridLSTMCell(
        2, feature_size=2, frequency_skip=3, num_frequency_blocks=[2], backward_slice_offset=1
    ),
    "highway": lambda tf, c: tf.contrib.rnn.HighwayWrapper(c.GRUCell(UNITS)),
    "highway with two gates": lambda tf, c: tf.contrib.rnn.HighwayWrapper(
        c.GRUCell(UNITS), couple_carry_transform_gates=False, carry_bias_init=0.5
    ),
}


def inner(tf):
    """Cells that contrib has but does not show."""
    return importlib.import_module(tf.contrib.rnn.__name__ + ".python.ops.rnn_cell")


def run_static(tf, cell, x, lengths=None):
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, TIME, axis=1), dtype=tf.float32, sequence_length=lengths)
    return tf.stack(outputs, axis=1), state


def run_dynamic(tf, cell, x, **more):
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, parallel_iterations=1, **more)


def from_a_state(tf, cell, x):
    def start(size):
        return tf.constant(waves(BATCH, int(size)) * 0.5)

    state = map_sizes(tf, start, cell.state_size)
    return tf.nn.dynamic_rnn(cell, x, initial_state=state, parallel_iterations=1)


def map_sizes(tf, function, sizes):
    if isinstance(sizes, tuple):
        parts = [map_sizes(tf, function, size) for size in sizes]
        return type(sizes)(*parts) if hasattr(sizes, "_fields") else tuple(parts)
    return function(sizes)


def time_first(tf, cell, x):
    outputs, state = run_dynamic(tf, cell, tf.transpose(x, [1, 0, 2]), time_major=True)
    return tf.transpose(outputs, [1, 0, 2]), state


def by_hand(tf, cell, x):
    """The cell called in a Python loop, in the scope that is open."""
    state, outputs = cell.zero_state(BATCH, tf.float32), []
    for step in tf.unstack(x, TIME, axis=1):
        output, state = cell(step, state)
        outputs.append(output)
    return tf.stack(outputs, axis=1), state


def emitting(tf, cell, x):
    """raw_rnn, fed from a TensorArray."""
    steps = tf.TensorArray(tf.float32, TIME).unstack(tf.transpose(x, [1, 0, 2]))
    lengths = tf.constant(LENGTHS)

    def loop(time, output, state, loop_state):
        state = cell.zero_state(BATCH, tf.float32) if output is None else state
        finished = time >= lengths
        done = tf.reduce_all(finished)
        following = tf.cond(done, lambda: tf.zeros([BATCH, DEPTH]), lambda: steps.read(time))
        return finished, following, state, output, None

    emitted, state, _ = tf.nn.raw_rnn(cell, loop, parallel_iterations=1)
    return tf.transpose(emitted.stack(), [1, 0, 2]), state


WAYS = {
    "by hand": by_hand,
    "static": run_static,
    "static with lengths": lambda tf, cell, x: run_static(tf, cell, x, tf.constant(LENGTHS)),
    "dynamic": run_dynamic,
    "dynamic with lengths": lambda tf, cell, x: run_dynamic(tf, cell, x, sequence_length=tf.constant(LENGTHS)),
    "dynamic, short": lambda tf, cell, x: run_dynamic(tf, cell, x, sequence_length=np.array([1, 0, 2], np.int64)),
    "time first": time_first,
    "from a state": from_a_state,
    "raw": emitting,
}
UNKNOWN = ("dynamic", "dynamic with lengths")  # these also with nothing known of batch and time
# Of most cells the loops are enough: they are all unrolled by the same functions.
ALL_WAYS = ("basic rnn", "gru", "basic lstm", "lstm", "lstm with everything", "two lstms", "lstm block", "dropout")


def ways_of(name):
    return list(WAYS) if name in ALL_WAYS else ["by hand", "dynamic with lengths"]


NAMED = list(CELLS)[: list(CELLS).index("layer norm lstm")]  # of these the names of all nodes are compared
CANNOT = {"highway: by hand", "highway with two gates: by hand"}  # a highway cannot be called twice in one scope


def add_rows():
    for name in CELLS:
        for way in ways_of(name):
            if name + ": " + way in CANNOT:
                continue
            book.add(name + ": " + way, None, cell=name, way=way, known=True)
            if way in UNKNOWN and name in ALL_WAYS:
                book.add(name + ": " + way + ", nothing known", None, cell=name, way=way, known=False)


add_rows()


def summary(tf, outputs, states, inputs, feed):
    """What a program computed: outputs, states, the gradients of all variables and inputs; and the names."""
    variables = tf.trainable_variables()
    parts = outputs + states
    loss = sum(tf.reduce_sum(tf.sin(part * 2.0)) for part in parts)
    grads = [tf.convert_to_tensor(g) for g in tf.gradients(loss, variables + inputs) if g is not None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, slopes = session.run([parts, grads], feed)
    return {
        "parts": [told(part) for part in found],
        "gradients": [told(g) for g in slopes],
        "variables": [[v.name, v.shape.as_list()] for v in variables],
        "static": [part.shape.as_list() for part in parts],
        "names": ["" if "TensorArray" in part.op.name else part.op.name for part in outputs],
    }


def in_a_graph():
    """Enter a program of (tf, x): it gives outputs and states, and is played in a graph of its own."""

    def enter(function):
        def played(tf):
            with tf.Graph().as_default():
                tf.set_random_seed(77)
                tf.get_variable_scope().set_initializer(weights(tf))
                x = tf.placeholder(tf.float32, [BATCH, TIME, DEPTH], name="x")
                outputs, states = function(tf, x)
                return summary(tf, outputs, states, [x], {x: waves(BATCH, TIME, DEPTH)})

        book.add(function.__name__, played)
        return function

    return enter


@in_a_graph()
def bidirectional(tf, x):
    c = tf.nn.rnn_cell
    outputs, states = tf.nn.bidirectional_dynamic_rnn(c.BasicLSTMCell(3), c.GRUCell(4), x, dtype=tf.float32)
    return list(outputs), flat(tf, states)


@in_a_graph()
def bidirectional_with_lengths(tf, x):
    c = tf.nn.rnn_cell
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        c.LSTMCell(3), c.LSTMCell(4), x, sequence_length=tf.constant(LENGTHS), dtype=tf.float32, scope="both"
    )
    return list(outputs), flat(tf, states)


@in_a_graph()
def bidirectional_time_first(tf, x):
    c = tf.nn.rnn_cell
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        c.GRUCell(3),
        c.GRUCell(4),
        tf.transpose(x, [1, 0, 2]),
        sequence_length=LENGTHS,
        initial_state_fw=tf.constant(waves(BATCH, 3)),
        initial_state_bw=tf.constant(waves(BATCH, 4)),
        time_major=True,
    )
    return list(outputs), flat(tf, states)


@in_a_graph()
def static_bidirectional(tf, x):
    c = tf.nn.rnn_cell
    outputs, fw, bw = tf.nn.static_bidirectional_rnn(
        c.BasicLSTMCell(3), c.GRUCell(4), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=tf.constant(LENGTHS)
    )
    return outputs, flat(tf, (fw, bw))


@in_a_graph()
def stacked_bidirectional(tf, x):
    c = tf.nn.rnn_cell
    outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        [c.LSTMCell(3), c.GRUCell(2)], [c.GRUCell(4), c.LSTMCell(3)], x, dtype=tf.float32, sequence_length=LENGTHS
    )
    return [outputs], flat(tf, (fw, bw))


@in_a_graph()
def stacked_static_bidirectional(tf, x):
    c = tf.nn.rnn_cell
    outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_rnn(
        [c.GRUCell(3), c.GRUCell(2)], [c.GRUCell(4), c.GRUCell(3)], tf.unstack(x, axis=1), dtype=tf.float32
    )
    return outputs, flat(tf, (fw, bw))


@in_a_graph()
def fused(tf, x):
    steps = tf.transpose(x, [1, 0, 2])
    cell = tf.contrib.rnn.LSTMBlockFusedCell(UNITS, forget_bias=0.5, cell_clip=0.6)
    outputs, state = cell(steps, dtype=tf.float32)
    again, last = cell(steps, initial_state=state, sequence_length=tf.constant(LENGTHS))
    return [outputs, again], flat(tf, (state, last))


@in_a_graph()
def fused_with_peepholes(tf, x):
    cell = tf.contrib.rnn.LSTMBlockFusedCell(UNITS, use_peephole=True)
    outputs, state = cell(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
    return [outputs], flat(tf, state)


@in_a_graph()
def fused_backwards(tf, x):
    steps = tf.transpose(x, [1, 0, 2])
    adapted = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(UNITS), use_dynamic_rnn=True)
    outputs, state = tf.contrib.rnn.TimeReversedFusedRNN(adapted)(
        steps, dtype=tf.float32, sequence_length=tf.constant(LENGTHS)
    )
    return [outputs], flat(tf, state)


@in_a_graph()
def embedded(tf, x):
    cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(4), embedding_classes=7, embedding_size=3)
    steps = [tf.constant([1, 3, 6]), tf.constant([0, 3, 2])]
    outputs, state = tf.nn.static_rnn(cell, steps, dtype=tf.float32)
    return outputs, [state]


@in_a_graph()
def convolved(tf, x):
    found = []
    rows = [
        (tf.contrib.rnn.Conv1DLSTMCell(input_shape=[5, 2], output_channels=3, kernel_shape=[3]), [2, 3, 5, 2]),
        (
            tf.contrib.rnn.Conv2DLSTMCell(
                input_shape=[4, 3, 1], output_channels=2, kernel_shape=[3, 3], use_bias=False
            ),
            [2, 3, 4, 3, 1],
        ),
        (
            tf.contrib.rnn.Conv3DLSTMCell(input_shape=[2, 3, 2, 1], output_channels=2, kernel_shape=[1, 2, 2]),
            [2, 2, 2, 3, 2, 1],
        ),
    ]
    for number, (cell, shape) in enumerate(rows):
        found.append(tf.nn.dynamic_rnn(cell, tf.constant(waves(*shape)), dtype=tf.float32, scope="c%d" % number))
    return [outputs for outputs, _ in found], flat(tf, tuple(state for _, state in found))


@in_a_graph()
def nested_inputs(tf, x):
    """A cell of one's own, with inputs, outputs and state in structures."""

    class Pair(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return (3, tf.TensorShape([2, 2]))

        @property
        def output_size(self):
            return {"a": 3, "b": 4}

        def call(self, inputs, state):
            left, right = inputs
            w = tf.get_variable("w", [DEPTH + 3, 3])
            a = tf.tanh(tf.matmul(tf.concat([left, state[0]], 1), w))
            b = tf.reshape(state[1], [-1, 4]) + tf.reduce_sum(right, [1, 2], keepdims=True)[:, :, 0]
            return {"a": a, "b": b}, (a, tf.reshape(b, [-1, 2, 2]))

    cell = Pair()
    right = tf.constant(waves(BATCH, TIME, 2, 2))
    outputs, state = tf.nn.dynamic_rnn(cell, (x, right), dtype=tf.float32, sequence_length=LENGTHS)
    return [outputs["a"], outputs["b"]], list(state)


@in_a_graph()
def saved_state(tf, x):
    class Saver(object):
        def __init__(self):
            self.saved = {}

        def state(self, name):
            return tf.constant(waves(BATCH, 4))

        def save_state(self, name, value):
            self.saved[name] = value
            return tf.identity(value)

    outputs, state = tf.nn.static_state_saving_rnn(
        tf.nn.rnn_cell.BasicLSTMCell(4), tf.unstack(x, axis=1), Saver(), ("c", "h")
    )
    return outputs, flat(tf, state)


@in_a_graph()
def two_scopes(tf, x):
    """One cell in two loops shares its variables; two cells in two scopes do not."""
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    first, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    second, state = tf.nn.dynamic_rnn(cell, first, dtype=tf.float32)
    with tf.variable_scope("other"):
        third, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(UNITS), second, dtype=tf.float32)
    with tf.variable_scope("other", reuse=True):
        fourth, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(UNITS), third, dtype=tf.float32)
    return [first, second, third, fourth], [state]


@in_a_graph()
def resource_variables(tf, x):
    with tf.variable_scope("r", use_resource=True):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicLSTMCell(4)])
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return [outputs], flat(tf, state)


@in_a_graph()
def phased(tf, x):
    def drawn(getter, name, *args, **kwargs):
        if name.endswith(("period", "phase")):
            kwargs["initializer"] = lambda shape, dtype=None, partition_info=None: tf.constant(waves(4) + 1.5)
        return getter(name, *args, **kwargs)

    cell = tf.contrib.rnn.PhasedLSTMCell(4, use_peepholes=True, ratio_on=0.6)
    state, outputs = cell.zero_state(BATCH, tf.float32), []
    with tf.variable_scope("p", custom_getter=drawn):
        for number, step in enumerate(tf.unstack(x, axis=1)):
            time = tf.constant([[0.5 + number], [1.5 * number], [number * number * 1.0]])
            output, state = cell((time, step), state)
            outputs.append(output)
    return outputs, flat(tf, state)


def refusals(tf):
    """What is said of wrong use: name -> the class and the words of the error."""
    c = tf.nn.rnn_cell

    def x(*shape):
        return tf.placeholder(tf.float32, shape)

    rows = {
        "no dtype": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), x(2, 3, 4)),
        "no dtype, static": lambda: tf.nn.static_rnn(c.GRUCell(3), [x(2, 4)]),
        "unknown depth": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), x(2, 3, None), dtype=tf.float32),
        "unknown depth, static": lambda: tf.nn.static_rnn(c.GRUCell(3), [x(2, None)], dtype=tf.float32),
        "unknown depth of the cell": lambda: c.GRUCell(3)(x(2, None), x(2, 3)),
        "lengths of rank 2": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), x(2, 3, 4), [[1, 2]], dtype=tf.float32),
        "no steps": lambda: tf.nn.static_rnn(c.GRUCell(3), [], dtype=tf.float32),
        "not a list": lambda: tf.nn.static_rnn(c.GRUCell(3), x(2, 3, 4), dtype=tf.float32),
        "steps differ": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), (x(2, 3, 4), x(2, 4, 4)), dtype=tf.float32),
        "batches differ": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), (x(2, 3, 4), x(3, 3, 4)), dtype=tf.float32),
        "rank 1": lambda: tf.nn.dynamic_rnn(c.GRUCell(3), x(2), dtype=tf.float32),
        "integers": lambda: c.GRUCell(3, dtype=tf.int32),
        "integer inputs": lambda: c.GRUCell(3)(tf.placeholder(tf.int32, [2, 3]), x(2, 3)),
        "no cells": lambda: c.MultiRNNCell([]),
        "one cell": lambda: c.MultiRNNCell(c.GRUCell(3)),
        "tuples in one state": lambda: c.MultiRNNCell([c.LSTMCell(3)], state_is_tuple=False),
        "keep too much": lambda: c.DropoutWrapper(c.GRUCell(3), input_keep_prob=1.5),
        "no input size": lambda: c.DropoutWrapper(
            c.GRUCell(3), input_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32
        ),
        "no dtype for noise": lambda: c.DropoutWrapper(c.GRUCell(3), variational_recurrent=True),
        "inputs of rank 3": lambda: c.GRUCell(3)(x(2, 3, 4), x(2, 3)),
        "residual of another size": lambda: c.ResidualWrapper(c.GRUCell(3))(x(2, 4), x(2, 3)),
        "no zero state": lambda: c.GRUCell(3).get_initial_state(batch_size=3),
        "other batch": lambda: c.GRUCell(3).get_initial_state(inputs=x(2, 4), batch_size=3),
        "no function": lambda: tf.nn.raw_rnn(c.GRUCell(3), 3),
        "no projection": lambda: tf.contrib.rnn.OutputProjectionWrapper(c.GRUCell(3), 0),
        "names of states": lambda: tf.nn.static_state_saving_rnn(c.LSTMCell(3), [x(2, 3)], None, "one"),
        "unlike cells": lambda: tf.contrib.rnn.stack_bidirectional_dynamic_rnn([c.GRUCell(3)], [], x(2, 3, 4)),
        "shared by mistake": lambda: [
            tf.nn.dynamic_rnn(c.GRUCell(3), x(2, 3, 4), dtype=tf.float32),
            tf.nn.dynamic_rnn(c.GRUCell(3), x(2, 3, 4), dtype=tf.float32),
        ],
    }
    said = {}
    for name, wrong in rows.items():
        with tf.Graph().as_default():
            try:
                wrong()
                said[name] = ["nothing", ""]
            except Exception as error:
                said[name] = [type(error).__name__, str(error).split("\n")[0].split("<")[0]]
    return said


book.add("refusals", refusals)


def told(array):
    """A tensor in short: its shape, its first numbers, the sum of all."""
    flat = np.asarray(array, np.float64).ravel()
    return {
        "shape": list(array.shape),
        "first": [float("%.7g" % x) for x in flat[:KEPT]],
        "sum": float("%.8g" % flat.sum()),
    }


def flat(tf, structure):
    return [part for item in structure for part in flat(tf, item)] if isinstance(structure, tuple) else [structure]


def loss_of(tf, outputs, state):
    parts = [outputs] + flat(tf, state)
    return sum(tf.reduce_sum(tf.sin(part * 2.0)) for part in parts)


def play(tf, judge, program):
    facts = program.facts
    if program.function is not None:
        return program.function(tf)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(77)
        tf.get_variable_scope().set_initializer(weights(tf))
        x = tf.placeholder(tf.float32, [BATCH, TIME, DEPTH] if facts["known"] else [None, None, DEPTH], name="x")
        cell = CELLS[facts["cell"]](tf, tf.nn.rnn_cell)
        outputs, state = WAYS[facts["way"]](tf, cell, x)
        states = flat(tf, state)
        nodes = [op.name for op in graph.get_operations() if "Initializer" not in op.name]
        loss = loss_of(tf, outputs, state)
        variables = tf.trainable_variables()
        grads = [g for g in tf.gradients(loss, variables + [x]) if g is not None]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fetched = session.run([outputs, states, grads], {x: waves(BATCH, TIME, DEPTH)})
        return {
            "outputs": told(fetched[0]),
            "states": [told(s) for s in fetched[1]],
            "gradients": [told(g) for g in fetched[2]],
            "variables": [[v.name, v.shape.as_list()] for v in variables],
            "of the cell": [] if "highway" in facts["cell"] else [v.name for v in cell.trainable_variables],
            "static": [outputs.shape.as_list()] + [s.shape.as_list() for s in states],
            "output": outputs.op.name,
            "nodes": nodes if facts["way"] == "by hand" and facts["cell"] in NAMED else [],
        }


def eagerly(tf, tf2, name):
    """The same with ops that run at once: only numbers."""
    facts = book[name].facts
    x = tf.constant(waves(BATCH, TIME, DEPTH))
    with tf.variable_scope("all", initializer=weights(tf)), tf2.GradientTape() as tape:
        tape.watch(x)
        cell = CELLS[facts["cell"]](tf, tf.nn.rnn_cell)
        outputs, state = WAYS[facts["way"]](tf, cell, x)
        loss = loss_of(tf, outputs, state)
    grads = tape.gradient(loss, list(cell.trainable_variables) + [x])
    return {
        "outputs": told(outputs.numpy()),
        "states": [told(s.numpy()) for s in flat(tf, state)],
        "gradients": [told(g.numpy()) for g in grads],
    }


def write(judge, recording):
    write_recording("rnn", judge, recording)


def read(judge):
    return read_recording("rnn", judge)
