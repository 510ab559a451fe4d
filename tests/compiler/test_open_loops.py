"""Loops over sequences of changing lengths, whole as machine code, give what they give eagerly."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import native_region, turn_by_turn
from ebbflow.compiler.open_loops import ROOM
from ebbflow.engines import enabled
from ebbflow.engines.native import region_functions, threads

BATCH, DEPTH, UNITS, WORDS = 4, 3, 5, 7
LENGTHS = [6, 8, 10, 12, 14, 16, 18, 4, 20, 22]


@pytest.fixture
def loops(monkeypatch):
    """The loops that were run turn by turn at first; code for them is made soon."""
    found = []
    made = turn_by_turn.TurnByTurn.__init__

    def noted(self, *given):
        made(self, *given)
        found.append(self)

    monkeypatch.setattr(turn_by_turn.TurnByTurn, "__init__", noted)
    monkeypatch.setattr(turn_by_turn, "PATIENCE", 1)
    return found


random = np.random.RandomState(0)
w, u, b, table, out = (
    tf.Variable(random.randn(*dims).astype("f") * 0.3)
    for dims in ((DEPTH, UNITS), (UNITS, UNITS), (UNITS,), (WORDS, DEPTH), (UNITS, WORDS))
)
WEIGHTS = [w, u, b, table, out]
FORMS = {}


def form(function):
    FORMS[function.__name__] = function
    return function


def cell(x, h):
    return tf.tanh(x @ w + h @ u + b)


def start():
    return tf.zeros([BATCH, UNITS])


@form
def columns(x, ids):
    h = start()
    for t in tf.range(tf.shape(x)[1]):
        h = cell(x[:, t], h)
    return tf.reduce_sum(h)


@form
def two_columns_a_turn(x, ids):
    h = start()
    for t in tf.range(0, tf.shape(x)[1], 2):
        h = cell(x[:, t] + x[:, t + 1], h)
    return tf.reduce_sum(h)


@form
def part_of_a_column_by_gather(x, ids):
    h, t = start(), tf.shape(x)[1]
    while t > 0:
        t -= 1
        h = cell(tf.stop_gradient(tf.gather(x, t, axis=1))[..., ::-1] + x[:, t, :1], h)
    return tf.reduce_sum(h)


@form
def rows(x, ids):
    h = start()
    for row in tf.transpose(x, [1, 0, 2]):
        h = cell(row, h)
    return tf.reduce_sum(h)


@form
def written(x, ids):
    length = tf.shape(x)[1]
    h, found = start(), tf.TensorArray(tf.float32, length)
    for t in tf.range(length):
        h = cell(x[:, t], h)
        found = found.write(t, h)
    return tf.reduce_sum(found.stack() ** 2)


@form
def written_behind_the_end(x, ids):
    h, found = start(), tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for t in tf.range(tf.shape(x)[1]):
        h = cell(x[:, t], h)
        found = found.write(t, h)
    return tf.reduce_sum(found.stack() ** 2)


@form
def scanned(x, ids):
    hs, sums = tf.scan(lambda a, row: (cell(row, a[0]), a[1] + a[0]), tf.transpose(x, [1, 0, 2]), (start(), start()))
    return tf.reduce_sum(hs * sums)


@form
def words_and_losses(x, ids):
    h, loss = start(), 0.0
    for t in tf.range(tf.shape(ids)[1]):
        h = cell(tf.gather(table, ids[:, t]), h)
        loss += tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, t], logits=h @ out))
    return loss


@form
def own_answers(x, ids):
    h, word = start(), tf.zeros([BATCH], tf.int32)
    for _ in tf.range(tf.shape(x)[1]):
        h = cell(tf.gather(table, word), h)
        word = tf.argmax(h @ out, 1, output_type=tf.int32)
    return tf.reduce_sum(h)


@form
def ended_by_what_it_computes(x, ids):
    h = start()
    for t in tf.range(tf.shape(x)[1]):
        h = cell(x[:, t], h)
        if tf.reduce_max(h) > 0.9:
            break
    return tf.reduce_sum(h)


@form
def chosen(x, ids):
    h = start()
    for t in tf.range(tf.shape(x)[1]):
        if tf.reduce_sum(h) > 0.0:
            h = cell(x[:, t], h)
        else:
            h = cell(x[:, t] * 0.5 + x[:, 0], h) + 0.1
    return tf.reduce_sum(h)


@form
def rows_by_number(x, ids):
    h, rows = start(), tf.transpose(x, [1, 0, 2])
    for t in tf.range(tf.shape(x)[1] - 1, -1, -1):
        h = cell(rows[t], h)
    return tf.reduce_sum(h)


@form
def chosen_from_a_list(x, ids):
    """As decoders take the next word, until all sentences have ended."""
    length = tf.shape(x)[1]
    words = tf.TensorArray(tf.float32, length).unstack(tf.transpose(x, [1, 0, 2]))
    h, now = start(), words.read(0)
    for t in tf.range(length):
        h = cell(now, h)
        if t + 1 < length:
            now = words.read(t + 1)
        else:
            now = tf.zeros_like(now)
    return tf.reduce_sum(h)


@form
def of_many_turns(x, ids):
    h, t = start(), 0
    while t < 5 * tf.shape(x)[1]:  # more than there is room for at first
        h = cell(x[:, 0], h) + 0.01
        t += 1
    return tf.reduce_sum(h)


def batch(length):
    random = np.random.RandomState(length)
    ids = random.randint(0, WORDS, (BATCH, length)).astype("i")
    return tf.constant(random.randn(BATCH, length, DEPTH).astype("f")), tf.constant(ids)


def trained(function):
    signature = [tf.TensorSpec([BATCH, None, DEPTH]), tf.TensorSpec([BATCH, None], tf.int32)]

    def step(x, ids):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = function(x, ids)
        return loss, tape.gradient(loss, [x, *WEIGHTS], unconnected_gradients="zero")

    return tf.function(step, input_signature=signature)


def run_for_a_while(step, given=None):
    given = [batch(length) for length in LENGTHS] if given is None else given
    for _ in range(2):
        for arguments in given:
            step(*arguments)
        native_region.settle()


@pytest.mark.parametrize("name", FORMS)
def test_loops_of_any_length_are_code(name, loops):
    step = trained(FORMS[name])
    run_for_a_while(step)
    assert loops and not [loop.refusal for loop in loops if loop.refusal]
    assert [loop for loop in loops if loop._code is not None]
    for length in LENGTHS:
        found = step(*batch(length))
        tf.config.run_functions_eagerly(True)
        try:
            wanted = step(*batch(length))
        finally:
            tf.config.run_functions_eagerly(False)
        for a, c in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
            np.testing.assert_allclose(tf.convert_to_tensor(a), tf.convert_to_tensor(c), rtol=2e-4, atol=2e-5)


def test_there_is_no_code_where_it_is_not_allowed(loops, monkeypatch):
    monkeypatch.setattr(enabled, "allowed", lambda engine: engine != "native")
    run_for_a_while(trained(columns))
    assert loops and not [loop for loop in loops if loop._code is not None]


def test_a_place_that_is_not_there_is_the_same_error_as_ever(loops):
    @tf.function(input_signature=[tf.TensorSpec([BATCH, None, DEPTH]), tf.TensorSpec([], tf.int32)])
    def step(x, count):
        h = start()
        for t in tf.range(count):
            h = cell(x[:, t], h)
        return h

    for length in LENGTHS * 2:
        step(batch(length)[0], length)
    native_region.settle()
    assert [loop for loop in loops if loop._code is not None]
    wanted = step(batch(9)[0], 9)
    for count in (10, 50):
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 9 of dimension 1 out of bounds"):
            step(batch(9)[0], count)
    np.testing.assert_array_equal(step(batch(9)[0], 9), wanted)
    np.testing.assert_array_equal(step(batch(9)[0], 0), start())


def test_a_list_does_not_become_longer_than_it_may(loops):
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None])])
    def step(count, x):
        found = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([], tf.int32), max_num_elements=2 * ROOM, element_dtype=tf.float32
        )
        for t in tf.range(count):
            found = tf.raw_ops.TensorListPushBack(input_handle=found, tensor=tf.cast(t, tf.float32))
        stack = tf.raw_ops.TensorListStack(
            input_handle=found, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32
        )
        return tf.reduce_sum(stack) + tf.reduce_sum(x)

    for length in LENGTHS * 2:
        step(length, np.ones(length, "f"))
    native_region.settle()
    assert [loop for loop in loops if loop._code is not None]
    assert float(step(2 * ROOM, [1.0])) == sum(range(2 * ROOM)) + 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="max"):
        step(2 * ROOM + 1, [1.0])


def test_what_a_run_gave_stays_what_it_was(loops):
    @tf.function(input_signature=[tf.TensorSpec([BATCH, None, DEPTH])])
    def step(x):
        return tf.scan(lambda h, row: cell(row, h), tf.transpose(x, [1, 0, 2]), start())

    run_for_a_while(lambda x, ids: step(x))
    assert [loop for loop in loops if loop._code is not None]
    kept = [(step(batch(length)[0]), length) for length in LENGTHS]
    copies = [np.array(a) for a, _ in kept]
    for _, length in kept:
        step(batch(length)[0] * 2.0)
    for (a, _), copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(a, copy)


def test_threads_divide_the_rows_of_a_large_batch(loops, monkeypatch):
    if threads.count() == 1:
        pytest.skip("there is one core, or no libgomp")
    wide = tf.Variable(random.randn(2 * 64, 64).astype("f") * 0.1)

    def step(x):
        with tf.GradientTape() as tape:
            h, found = tf.zeros([32, 64]), tf.TensorArray(tf.float32, 0, dynamic_size=True)
            for t in tf.range(tf.shape(x)[1]):
                h = tf.tanh(tf.concat([x[:, t], h], 1) @ wide)
                found = found.write(t, h)
            loss = tf.reduce_sum(found.stack() ** 2)
        return loss, tape.gradient(loss, wide)

    def runs(workers):
        monkeypatch.setattr(threads, "count", lambda: workers)
        divided.clear()
        compiled = tf.function(step, input_signature=[tf.TensorSpec([32, None, 64])])
        data = {n: np.random.RandomState(n).randn(32, n, 64).astype("f") for n in LENGTHS}
        run_for_a_while(lambda n: compiled(data[n]), [(n,) for n in LENGTHS])
        return [compiled(data[n]) for n in LENGTHS]

    divided = []
    looked = region_functions.shared
    monkeypatch.setattr(region_functions, "shared", lambda *given: divided.append(looked(*given)) or divided[-1])
    together = runs(2)
    assert any(divided)
    alone = runs(1)
    assert divided and not any(divided)
    for a, c in zip(tf.nest.flatten(together), tf.nest.flatten(alone), strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-5)
