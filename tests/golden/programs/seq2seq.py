"""Sequences to sequences: the unrolled models of `contrib.legacy_seq2seq`, and decoding in loops of `contrib.seq2seq`.

Only TensorFlow 1.15 can judge: contrib ended with it. Weights are known, as in `rnn`; what is kept of a tensor is its
shape, its first numbers and its sum.
"""

import numpy as np

from .book import Book, read_recording, write_recording
from .rnn import flat, summary, told, waves, weights

book = Book(judges=("1.15",))
BATCH, TIME, DEPTH, UNITS, WORDS = 3, 4, 3, 4, 6
SYMBOLS = [np.array([1, 3, 5]), np.array([0, 2, 4]), np.array([5, 5, 1])]


def program(function):
    """Enter a program of tf: it gives outputs and states, and is played in a graph of its own."""

    def played(tf):
        with tf.Graph().as_default():
            tf.set_random_seed(31)
            tf.get_variable_scope().set_initializer(weights(tf))
            outputs, states = function(tf)
            return summary(tf, outputs, states, [], {})

    book.add(function.__name__, played)
    return function


def numbers(function):
    """Enter a program of tf that gives tensors without variables: only their values are kept."""

    def played(tf):
        with tf.Graph().as_default():
            tf.set_random_seed(31)
            tf.get_variable_scope().set_initializer(weights(tf))
            found = function(tf)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                values = session.run(found)
            return {"parts": [told(value) for value in values], "variables": names(tf)}

    book.add(function.__name__, played)
    return function


def names(tf):
    return [[v.name, v.shape.as_list()] for v in tf.global_variables()]


def steps(tf, *shape):
    return [tf.constant(waves(*shape) * (i + 1)) for i in range(3)]


def symbols(tf):
    return [tf.constant(s, tf.int32) for s in SYMBOLS]


# --- unrolled ---------------------------------------------------------------------------------------------------------


@program
def basic(tf):
    outputs, state = tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(
        steps(tf, BATCH, DEPTH), steps(tf, BATCH, DEPTH)[:2], tf.nn.rnn_cell.GRUCell(UNITS)
    )
    return outputs, [state]


@program
def tied(tf):
    outputs, state = tf.contrib.legacy_seq2seq.tied_rnn_seq2seq(
        steps(tf, BATCH, DEPTH), steps(tf, BATCH, DEPTH), tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    )
    return outputs, flat(tf, state)


@program
def embedding(tf):
    outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        symbols(tf), symbols(tf)[:2], tf.nn.rnn_cell.BasicLSTMCell(UNITS), WORDS, WORDS, 3
    )
    return outputs, flat(tf, state)


@program
def embedding_fed_back(tf):
    outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        symbols(tf), symbols(tf), tf.nn.rnn_cell.GRUCell(UNITS), WORDS, WORDS, 3, feed_previous=True
    )
    return outputs, flat(tf, state)


@program
def embedding_fed_back_by_choice(tf):
    found = []
    for number, feed in enumerate([True, False]):
        with tf.variable_scope("m%d" % number):
            outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
                symbols(tf),
                symbols(tf),
                tf.nn.rnn_cell.GRUCell(UNITS),
                WORDS,
                WORDS,
                3,
                feed_previous=tf.constant(feed),
            )
        found += outputs + flat(tf, state)
    return [], found


@program
def embedding_tied(tf):
    w, b = tf.get_variable("w", [UNITS, WORDS]), tf.get_variable("b", [WORDS])
    first, state = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
        symbols(tf), symbols(tf), tf.nn.rnn_cell.GRUCell(UNITS), WORDS, 3, feed_previous=True, output_projection=(w, b)
    )
    second, _ = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
        symbols(tf), symbols(tf), tf.nn.rnn_cell.GRUCell(UNITS), WORDS, 3, num_decoder_symbols=4, scope="other"
    )
    return first + second, flat(tf, state)


@program
def attention(tf):
    memory = tf.constant(waves(BATCH, 5, 2))
    outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(
        steps(tf, BATCH, DEPTH),
        tf.constant(waves(BATCH, UNITS)),
        memory,
        tf.nn.rnn_cell.GRUCell(UNITS),
        output_size=5,
        num_heads=2,
        initial_state_attention=True,
    )
    return outputs, [state]


@program
def embedding_attention(tf):
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        symbols(tf), symbols(tf), tf.nn.rnn_cell.BasicLSTMCell(UNITS), WORDS, WORDS, 3, feed_previous=True
    )
    return outputs, flat(tf, state)


@program
def one_to_many(tf):
    cells = {"a": tf.nn.rnn_cell.GRUCell(UNITS), "b": tf.nn.rnn_cell.GRUCell(UNITS)}
    outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        symbols(tf),
        {"a": symbols(tf), "b": [tf.constant(SYMBOLS[0] % 3, tf.int32)]},
        tf.nn.rnn_cell.GRUCell(UNITS),
        cells,
        WORDS,
        {"a": WORDS, "b": 3},
        3,
    )
    return outputs["a"] + outputs["b"], [states["a"], states["b"]]


@program
def buckets(tf):
    def model(encoder, decoder):
        return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
            encoder, decoder, tf.nn.rnn_cell.GRUCell(UNITS), WORDS, WORDS, 3
        )

    ones = [tf.ones([BATCH]), tf.constant([1.0, 0.0, 1.0]), tf.ones([BATCH])]
    outputs, losses = tf.contrib.legacy_seq2seq.model_with_buckets(
        symbols(tf), symbols(tf), symbols(tf), ones, [(1, 2), (3, 3)], model
    )
    _, each = tf.contrib.legacy_seq2seq.model_with_buckets(
        symbols(tf),
        symbols(tf),
        symbols(tf),
        ones,
        [(2, 1)],
        lambda a, b: (outputs[0][:1], None),
        per_example_loss=True,
    )
    return outputs[0] + outputs[1], losses + each


# --- losses -----------------------------------------------------------------------------------------------------------


@program
def losses(tf):
    logits = tf.constant(waves(BATCH, TIME, WORDS))
    targets = tf.constant(np.arange(BATCH * TIME).reshape(BATCH, TIME) % WORDS)
    given = tf.constant([[1.0, 1.0, 0.0, 0.0], [0.5, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    rows = [
        (True, True, False, False),
        (True, False, False, False),
        (False, True, False, False),
        (False, False, False, False),
        (False, False, True, True),
        (False, False, True, False),
        (False, False, False, True),
        (True, False, False, True),
    ]
    found = [tf.contrib.seq2seq.sequence_loss(logits, targets, given, *row) for row in rows]

    def own(labels, logits):
        return tf.reduce_sum(logits, 1) * tf.cast(labels, tf.float32)

    return found + [tf.contrib.seq2seq.sequence_loss(logits, targets, given, softmax_loss_function=own)], []


# --- decoding ---------------------------------------------------------------------------------------------------------


def inputs(tf):
    return tf.constant(waves(BATCH, TIME, DEPTH))


def decoded(tf, helper, cell=None, state=None, layer=None, **more):
    """What dynamic_decode gives with a plain decoder: outputs, then states and lengths."""
    cell = cell or tf.nn.rnn_cell.GRUCell(UNITS)
    state = cell.zero_state(BATCH, tf.float32) if state is None else state
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, layer)
    outputs, last, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, parallel_iterations=1, **more)
    return [outputs.rnn_output], flat(tf, last) + [tf.cast(outputs.sample_id, tf.float32), tf.cast(lengths, tf.float32)]


@program
def training(tf):
    helper = tf.contrib.seq2seq.TrainingHelper(inputs(tf), [2, 4, 1])
    return decoded(tf, helper, layer=tf.layers.Dense(WORDS))


@program
def training_imputed(tf):
    helper = tf.contrib.seq2seq.TrainingHelper(tf.transpose(inputs(tf), [1, 0, 2]), [2, 3, 0], time_major=True)
    return decoded(tf, helper, tf.nn.rnn_cell.BasicLSTMCell(UNITS), impute_finished=True, output_time_major=True)


@program
def training_cut(tf):
    helper = tf.contrib.seq2seq.TrainingHelper(inputs(tf), tf.constant([2, 4, 4]))
    return decoded(tf, helper, maximum_iterations=3, impute_finished=True, scope="mine")


def table(tf):
    return tf.get_variable("table", [WORDS, DEPTH])


@program
def greedy(tf):
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table(tf), tf.constant([1, 2, 0]), 3)
    return decoded(tf, helper, layer=tf.layers.Dense(WORDS, use_bias=False), maximum_iterations=5)


@program
def sampled(tf):
    embedded = table(tf)
    helper = tf.contrib.seq2seq.SampleEmbeddingHelper(
        lambda ids: tf.nn.embedding_lookup(embedded, ids), [1, 2, 0], 3, softmax_temperature=0.5, seed=9
    )
    return decoded(tf, helper, layer=tf.layers.Dense(WORDS), maximum_iterations=6)


@program
def scheduled(tf):
    embedded = table(tf)
    helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
        inputs(tf), [4, 3, 4], embedded, 0.5, seed=5, scheduling_seed=8
    )
    return decoded(tf, helper, layer=tf.layers.Dense(WORDS))


@program
def scheduled_outputs(tf):
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(inputs(tf), [4, 3, 4], 0.6, seed=5)
    outputs, states = decoded(tf, helper, tf.nn.rnn_cell.GRUCell(DEPTH))
    layer = tf.layers.Dense(DEPTH, name="back")
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(
        inputs(tf),
        [4, 3, 4],
        0.6,
        seed=5,
        next_inputs_fn=lambda x: layer(x),
        auxiliary_inputs=tf.constant(waves(BATCH, TIME, 2)),
    )
    more, others = decoded(tf, helper, tf.nn.rnn_cell.GRUCell(UNITS), scope="second")
    return outputs + more, states + others


@program
def inference(tf):
    helper = tf.contrib.seq2seq.InferenceHelper(
        lambda x: tf.tanh(x),
        [UNITS],
        tf.float32,
        tf.constant(waves(BATCH, UNITS)),
        lambda ids: tf.reduce_sum(ids, 1) > 0.8,
        lambda ids: ids * 2.0,
    )
    return decoded(tf, helper, maximum_iterations=4)


@program
def custom(tf):
    def start():
        return tf.constant([False, False, False]), tf.constant(waves(BATCH, DEPTH))

    def following(time, outputs, state, sample_ids):
        return tf.fill([BATCH], time >= 2), outputs[:, :DEPTH], state

    helper = tf.contrib.seq2seq.CustomHelper(
        start, lambda time, outputs, state: tf.argmax(outputs, 1), following, (), tf.int64
    )
    return decoded(tf, helper)


# --- attention --------------------------------------------------------------------------------------------------------


def memory(tf):
    return tf.constant(waves(BATCH, 5, 4))


def attending(tf, mechanism, cell=None, **more):
    cell = cell or tf.nn.rnn_cell.GRUCell(UNITS)
    wrapped = tf.contrib.seq2seq.AttentionWrapper(cell, mechanism, **more)
    helper = tf.contrib.seq2seq.TrainingHelper(inputs(tf), [2, 4, 3])
    state = wrapped.zero_state(BATCH, tf.float32)
    decoder = tf.contrib.seq2seq.BasicDecoder(wrapped, helper, state)
    outputs, last, _ = tf.contrib.seq2seq.dynamic_decode(decoder, parallel_iterations=1)
    kept = [last.attention] + flat(tf, last.alignments) + flat(tf, last.cell_state)
    if more.get("alignment_history"):
        kept.append(last.alignment_history.stack())
    return [outputs.rnn_output], kept


@program
def luong(tf):
    return attending(tf, tf.contrib.seq2seq.LuongAttention(UNITS, memory(tf)))


@program
def luong_scaled(tf):
    mechanism = tf.contrib.seq2seq.LuongAttention(UNITS, memory(tf), memory_sequence_length=[5, 2, 3], scale=True)
    return attending(tf, mechanism, attention_layer_size=6, alignment_history=True)


@program
def bahdanau(tf):
    mechanism = tf.contrib.seq2seq.BahdanauAttention(3, memory(tf), memory_sequence_length=tf.constant([5, 2, 3]))
    return attending(tf, mechanism, tf.nn.rnn_cell.LSTMCell(UNITS), output_attention=False)


@program
def bahdanau_normalized(tf):
    mechanism = tf.contrib.seq2seq.BahdanauAttention(
        3, memory(tf), normalize=True, probability_fn=tf.contrib.seq2seq.hardmax
    )
    return attending(tf, mechanism, attention_layer=tf.layers.Dense(5, name="own"))


@program
def two_mechanisms(tf):
    first = tf.contrib.seq2seq.LuongAttention(UNITS, memory(tf))
    second = tf.contrib.seq2seq.BahdanauAttention(3, tf.constant(waves(BATCH, 2, 3)))
    return attending(
        tf, [first, second], attention_layer_size=[3, 2], cell_input_fn=lambda x, a: tf.concat([a, x, a], 1)
    )


@program
def monotonic(tf):
    found = []
    for mode in ("parallel", "recursive", "hard"):
        with tf.variable_scope(mode):
            mechanism = tf.contrib.seq2seq.BahdanauMonotonicAttention(
                3, memory(tf), memory_sequence_length=[5, 4, 3], score_bias_init=0.5, mode=mode
            )
            outputs, states = attending(tf, mechanism)
            found += outputs + states[1:2]
    with tf.variable_scope("luong"):
        mechanism = tf.contrib.seq2seq.LuongMonotonicAttention(
            UNITS, memory(tf), scale=True, sigmoid_noise=0.3, sigmoid_noise_seed=2
        )
        outputs, states = attending(tf, mechanism)
    return [], found + outputs + states[1:2]


# --- beams ------------------------------------------------------------------------------------------------------------


def beams(tf, cell, state, width, **more):
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, table(tf), tf.constant([1, 2, 0]), 3, state, width, tf.layers.Dense(WORDS, use_bias=False), **more
    )
    outputs, last, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5, parallel_iterations=1)
    steps = outputs.beam_search_decoder_output
    return [
        outputs.predicted_ids,
        steps.scores,
        steps.predicted_ids,
        steps.parent_ids,
        last.log_probs,
        last.lengths,
        lengths,
    ], last


@numbers
def beam(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    found, last = beams(tf, cell, cell.zero_state(BATCH * 2, tf.float32), 2)
    return found + flat(tf, last.cell_state)


@numbers
def beam_with_penalties(tf):
    width = 3
    tiled = tf.contrib.seq2seq.tile_batch(memory(tf), width)
    lengths = tf.contrib.seq2seq.tile_batch(tf.constant([5, 3, 4]), width)
    mechanism = tf.contrib.seq2seq.LuongAttention(UNITS, tiled, memory_sequence_length=lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), mechanism, attention_layer_size=4, alignment_history=True
    )
    state = cell.zero_state(BATCH * width, tf.float32).clone(
        cell_state=tf.contrib.seq2seq.tile_batch(tf.constant(waves(BATCH, UNITS)), width)
    )
    found, last = beams(tf, cell, state, width, length_penalty_weight=0.7, coverage_penalty_weight=0.3)
    return found + [last.cell_state.cell_state, last.accumulated_attention_probs]


@numbers
def trees(tf):
    ids = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]])
    first = tf.contrib.seq2seq.gather_tree(ids, parents, tf.constant([3]), 10)
    second = tf.contrib.seq2seq.gather_tree(ids, parents, tf.constant([3]), 5)
    return [first, second, tf.contrib.seq2seq.hardmax(tf.constant(waves(3, 4)))]


def refusals(tf):
    s = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(3)

    def x(*shape):
        return tf.placeholder(tf.float32, shape)

    rows = {
        "not a helper": lambda: s.BasicDecoder(cell, 3, None),
        "not a decoder": lambda: s.dynamic_decode(3),
        "lengths of rank 2": lambda: s.TrainingHelper(x(2, 3, 4), [[1, 2]]),
        "starts of rank 2": lambda: s.GreedyEmbeddingHelper(x(5, 3), [[1, 2]], 1),
        "end of rank 1": lambda: s.GreedyEmbeddingHelper(x(5, 3), [1, 2], [1]),
        "probability of rank 2": lambda: s.ScheduledOutputTrainingHelper(x(2, 3, 4), [1, 2], [[0.5]]),
        "memory of unknown depth": lambda: s.LuongAttention(3, x(2, 3, None), name="n"),
        "other units": lambda: s.LuongAttention(4, x(2, 3, 4))(x(2, 3), None),
        "not a mechanism": lambda: s.AttentionWrapper(cell, 3),
        "not mechanisms": lambda: s.AttentionWrapper(cell, [3]),
        "two sizes": lambda: s.AttentionWrapper(cell, s.LuongAttention(3, x(2, 3, 4)), [3, 4]),
        "layer and size": lambda: s.AttentionWrapper(
            cell, s.LuongAttention(3, x(2, 3, 4)), 3, attention_layer=tf.layers.Dense(3)
        ),
        "mode": lambda: s.monotonic_attention(x(2, 3), x(2, 3), "other"),
        "rank of logits": lambda: s.sequence_loss(x(2, 3), x(2, 3), x(2, 3)),
        "both ways": lambda: s.sequence_loss(x(2, 3, 4), x(2, 3), x(2, 3), sum_over_batch=True),
        "lengths of lists": lambda: tf.contrib.legacy_seq2seq.sequence_loss([x(2, 3)], [], []),
        "no inputs": lambda: tf.contrib.legacy_seq2seq.attention_decoder([], x(2, 3), x(2, 3, 4), cell),
        "no heads": lambda: tf.contrib.legacy_seq2seq.attention_decoder(
            [x(2, 3)], x(2, 3), x(2, 3, 4), cell, num_heads=0
        ),
        "short inputs": lambda: tf.contrib.legacy_seq2seq.model_with_buckets([], [], [], [], [(1, 2)], None),
        "no attention to cover": lambda: s.BeamSearchDecoder(
            cell, x(5, 3), [1, 2], 3, x(4, 3), 2, coverage_penalty_weight=0.5
        ).initialize(),
        "rank of a tile": lambda: s.tile_batch(tf.constant(3), 2),
    }
    said = {}
    for name, wrong in rows.items():
        with tf.Graph().as_default():
            cell = tf.nn.rnn_cell.GRUCell(3)
            try:
                wrong()
                said[name] = ["nothing", ""]
            except Exception as error:
                said[name] = [type(error).__name__, str(error).split("\n")[0].split("<")[0]]
    return said


book.add("refusals", refusals)


def play(tf, judge, program):
    return program.function(tf)


def write(judge, recording):
    write_recording("seq2seq", judge, recording)


def read(judge):
    return read_recording("seq2seq", judge)
