"""Loops as machine code: what they carry, the lists that go through them, and what is left to others."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import symbols
from ebbflow.engines.native.lowering import OPS
from ebbflow.engines.native.lowerings.loops import Turns
from ebbflow.ops.declare import raw
from tests.compiler.native_runs import both_ways, close

X = np.random.RandomState(0).rand(6, 3, 4).astype("f")
W = np.random.RandomState(1).rand(4, 4).astype("f") / 2


def scalar(x, w):
    return tf.while_loop(lambda i, a: i < 100, lambda i, a: (i + 1, a * 0.9 + 1.0), [0, x[0, 0, 0]])


def until_small(x, w):
    return tf.while_loop(lambda a: tf.reduce_sum(a) > 1.0, lambda a: (tf.tanh(a) * 0.5,), [x])


def matrices(x, w):
    return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, x[0]])


def swapped(x, w):
    """Each variable takes the other's old value."""
    return tf.while_loop(lambda i, a, b: i < 5, lambda i, a, b: (i + 1, b + 1.0, a * 2.0), [0, x[0], x[1]])


def nested(x, w):
    def outer(i, a):
        return i + 1, tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + w[0, 0]), [0, a])[1]

    return tf.while_loop(lambda i, a: i < 5, outer, [0, x[0]])


def rows(x, w):
    """The counter is an index."""
    return tf.while_loop(lambda i, a: i < 6, lambda i, a: (i + 1, tf.matmul(a + x[i], w)), [0, tf.zeros([3, 4])])


def picked(x, w):
    """Slices whose indices are counters: along any axis, two at once, from the end, with new axes beside."""

    def turn(i, a):
        found = a + x[:, i, :3] + x[..., 2 - i][:, :3] + x[i, 2 - i, tf.newaxis, :3] + x[:, -1 - i, 1:]
        found += x[tf.newaxis, :, i, 1:][0]
        return i + 1, found + tf.gather(x, i, axis=1)[:, :3] + tf.gather(x, 2 - i)[0, 1:]

    return tf.while_loop(lambda i, a: i < 3, turn, [0, tf.zeros([6, 3])])


def picked_backwards(x, w):
    """The gradient by what such slices are taken from."""
    with tf.GradientTape() as tape:
        tape.watch(x)

        def turn(i, a):
            return i + 1, tf.tanh(tf.matmul(a, w) + x[:, i] * x[0, :1, -1 - i] + tf.gather(x, 2 - i, axis=1))

        total = tf.reduce_sum(tf.while_loop(lambda i, a: i < 3, turn, [0, tf.zeros([6, 4])])[1])
    return tape.gradient(total, x)


def paths(x, w):
    """Choices by counters and by values, one in another, with what only one side reads."""

    def turn(i, a):
        low = lambda: tf.cond(tf.reduce_sum(a) > 8.0, lambda: a * 0.5, lambda: a + x[:, i])
        return i + 1, tf.cond(tf.equal(i % 3, 1), lambda: tf.tanh(tf.matmul(a, w)), low)

    return tf.while_loop(lambda i, a: i < 3, turn, [0, x[:, 0]])


def paths_backwards(x, w):
    with tf.GradientTape() as tape:
        tape.watch([x, w])

        def turn(i, a):
            further = lambda: tf.tanh(tf.matmul(a, w) + x[:, i])
            return i + 1, tf.cond(tf.reduce_sum(a) > 1.0, lambda: a * a * 0.25, further)

        total = tf.reduce_sum(tf.while_loop(lambda i, a: i < 3, turn, [0, x[:, 1]])[1])
    return tape.gradient(total, [x, w])


def stopped(x, w):
    """A loop that ends when a value says so."""
    turn = lambda i, a, on: (i + 1, a * 1.5, tf.cond(tf.reduce_max(a) > 50.0, lambda: False, lambda: on))
    return tf.while_loop(lambda i, a, on: on, turn, [0, x[0], tf.constant(True)])


def both_counters(x, w):
    """An index that follows from the counters of two loops."""

    def outer(i, a):
        return i + 1, tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * 0.5 + x[i + 2 * j]), [0, a])[1]

    return tf.while_loop(lambda i, a: i < 3, outer, [0, x[0]])


def contracted(x, w):
    """Contractions of several kinds: of one matrix, of many, with axes in another order, with vectors."""

    def turn(i, a):
        many = tf.einsum("abc,adc->adb", x, x)
        one = tf.einsum("abc,cd->abd", x, w)[:, :, 0]
        turned = tf.einsum("abc,dc->bda", x, w)[:, 1]
        inner = tf.einsum("abc,bad->cd", x, tf.transpose(x, [1, 0, 2]))[0, :3]
        return i + 1, (tf.einsum("abd,ad->ab", many, a) + one + tf.transpose(turned) + inner) * 0.1

    return tf.while_loop(lambda i, a: i < 3, turn, [0, x[:, :, 0]])


def arrays(x, w):
    found = tf.TensorArray(tf.float32, 6, element_shape=[3, 4])
    given = tf.TensorArray(tf.float32, 6).unstack(x)
    loop = lambda i, ta: (i + 1, ta.write(i, tf.sqrt(given.read(i))))
    return tf.while_loop(lambda i, ta: i < 6, loop, [0, found])[1].stack()


def scanned(x, w):
    return tf.scan(lambda a, b: tf.tanh(tf.matmul(a, w) + b), x)


def two_arrays(x, w):
    """Two lists that begin alike do not stay one."""
    return tf.scan(lambda a, b: (a[0] + b, a[1] * 0.5 - b), x, initializer=(x[0], x[0]))


def mapped(x, w):
    return tf.map_fn(lambda a: tf.reduce_sum(tf.matmul(a, w), 1), x)


def backwards(x, w):
    """The gradient of a loop pops what the loop pushed."""
    with tf.GradientTape() as tape:
        tape.watch(w)
        last = tf.while_loop(lambda i, a: i < 6, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w) + x[i])), [0, x[0]])[1]
        loss = tf.reduce_sum(last * last)
    return [loss, tape.gradient(loss, w)]


def pushed(x, w):
    """Lists outside of loops, and one that a loop goes on with."""
    first = raw.EmptyTensorList([3, 4], -1, element_dtype=tf.float32)
    first = raw.TensorListPushBack(first, x[0])
    loop = lambda i, handle: (i + 1, raw.TensorListPushBack(handle, x[i] * 2.0))
    _, handle = tf.while_loop(lambda i, handle: i < 5, loop, [1, first])
    return raw.TensorListStack(handle, [3, 4], element_dtype=tf.float32)


def popped(x, w):
    handle = raw.TensorListFromTensor(x, [3, 4], element_dtype=tf.float32)

    def loop(i, handle, total):
        handle, item = raw.TensorListPopBack(handle, [3, 4], element_dtype=tf.float32)
        return i + 1, handle, total * 0.5 + item

    return tf.while_loop(lambda i, *_: i < 4, loop, [0, handle, tf.zeros([3, 4])])[2]


def joined(x, w):
    handle = raw.TensorListReserve([3, 4], 6, element_dtype=tf.float32)
    loop = lambda i, handle: (i + 1, raw.TensorListSetItem(handle, i, x[i] + 1.0))
    _, handle = tf.while_loop(lambda i, handle: i < 6, loop, [0, handle])
    empty = tf.zeros([0], tf.int64)
    return list(raw.TensorListConcatV2(handle, [3, 4], empty, element_dtype=tf.float32))


def read(x, w):
    handle = raw.TensorListFromTensor(x, [3, 4], element_dtype=tf.float32)
    get = lambda i: raw.TensorListGetItem(handle, i, [3, 4], element_dtype=tf.float32)
    return tf.while_loop(lambda i, a: i < 6, lambda i, a: (i + 1, a + get(i)), [0, x[0]])[1]


def recurrent(x, w):
    """A loop over an array of steps, that gives its last one, and the gradients by both."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        given = tf.TensorArray(tf.float32, 6).unstack(x)
        last = tf.TensorArray(tf.float32, 1, element_shape=[3, 4])
        step = lambda i, a, ta: (lambda b: (i + 1, b, ta.write(0, b)))(tf.tanh(tf.matmul(a, w) + given.read(i)))
        ta = tf.while_loop(lambda i, *_: i < 6, step, [0, tf.zeros([3, 4]), last])[2]
        loss = tf.reduce_sum(tf.square(ta.stack()[-1]))
    return [loss, *tape.gradient(loss, [x, w])]


def sequence(x, w):
    """A loop that gives all its steps, and something no region takes before the gradient."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        given = tf.TensorArray(tf.float32, 6).unstack(x)
        steps = tf.TensorArray(tf.float32, 6, element_shape=[3, 4])
        step = lambda i, a, ta: (lambda b: (i + 1, b, ta.write(i, b)))(tf.tanh(tf.matmul(a, w) + given.read(5 - i)))
        ta = tf.while_loop(lambda i, *_: i < 6, step, [0, tf.zeros([3, 4]), steps])[2]
        loss = tf.reduce_sum(tf.square(tf.sort(ta.stack(), axis=0)))
    return [loss, *tape.gradient(loss, [x, w])]


def grown(x, w):
    """An array without a size, whose length a turn asks for, and one that has two elements before."""
    longer = tf.TensorArray(tf.float32, 2, dynamic_size=True, element_shape=[3, 4]).unstack(X[:2])

    def step(i, a, one, two):
        size = tf.cast(one.size(), tf.float32)
        b = tf.tanh(tf.matmul(a, w) + size)
        return i + 1, b, one.write(i, b * size), two.write(i + 2, a)

    first = [0, x[0], tf.TensorArray(tf.float32, 0, dynamic_size=True), longer]
    _, a, one, two = tf.while_loop(lambda i, *_: i < 6, step, first)
    return [a, one.stack(), two.stack(), one.size(), two.size()]


def grown_backwards(x, w):
    """The gradients through such arrays, by what is done with all of them."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        loss = sum(tf.reduce_sum(tf.square(tf.cast(t, tf.float32))) for t in grown(x, w))
    return [loss, *tape.gradient(loss, [x, w])]


def decoded(x, w):
    """Rows looked up by what the turn before has found, and the gradients by them."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        words = tf.TensorArray(tf.int64, 5)

        def turn(i, h, word, words):
            row = tf.gather(x[:, 0], tf.minimum(word + 1, 5) - tf.cast(word > 3, tf.int64))
            h = tf.tanh(tf.matmul(h, w) + tf.reshape(row, [3, 4]))
            found = tf.argmax(tf.matmul(h, x[:, 1], transpose_b=True), 1)
            return i + 1, h, found, words.write(i, found[0])

        first = [0, x[0], tf.zeros([3], tf.int64), words]
        _, h, last, words = tf.while_loop(lambda i, *_: i < 5, turn, first)
        loss = tf.reduce_sum(h**2)
    return [loss, last, words.stack(), *tape.gradient(loss, [x, w])]


def broken(x, w):
    """A loop over rows that may end before the last."""
    more = lambda i, a: tf.logical_and(i < 6, tf.reduce_sum(a) < 40.0)
    return tf.while_loop(more, lambda i, a: (i + 1, a + x[i] + x[:, 0][5 - i]), [0, x[0]])


LOOPS = [scalar, until_small, matrices, swapped, nested, rows, arrays, scanned, two_arrays, mapped, backwards]
LOOPS += [pushed, popped, joined, read, recurrent, sequence, picked, picked_backwards]
LOOPS += [paths, paths_backwards, stopped, both_counters, contracted, grown, grown_backwards, decoded, broken]


@pytest.mark.parametrize("program", LOOPS, ids=lambda p: p.__name__)
def test_the_same_as_by_numpy(program, made, monkeypatch):
    def run():
        compiled = tf.function(lambda *given: program(*given), autograph=False)
        return compiled(tf.constant(X), tf.constant(W))

    close(*both_ways(monkeypatch, made, run))
    seen = {n.op.name for region in made for n in region.region.nodes}
    assert "StatelessWhile" in seen


def test_arrays_that_grow_in_other_ways():
    """Elements are left out, written twice, written from the end, or read back: no push, and no other answer."""

    def filled(index, n, start=0):
        rows = tf.TensorArray(tf.float32, start, dynamic_size=True, element_shape=[], clear_after_read=False)
        turn = lambda i, a, s: (i + 1, a.write(index(i), tf.cast(i, tf.float32)), s + a.size())
        _, rows, sizes = tf.while_loop(lambda i, a, s: i < n, turn, [0, rows, 0])
        return rows.stack(), sizes, rows.size()

    for index, n, start, wanted, sizes in (
        (lambda i: 2 * i, 3, 0, [0, 0, 1, 0, 2], 0 + 1 + 3),
        (lambda i: i // 2, 4, 0, [1, 3], 0 + 1 + 1 + 2),
        (lambda i: 3 - i, 4, 0, [3, 2, 1, 0], 0 + 4 + 4 + 4),
        (lambda i: i + 1, 2, 0, [0, 0, 1], 0 + 2),
        (lambda i: i, 2, 3, [0, 1, 0], 3 + 3),
        (lambda i: i, 0, 0, [], 0),
    ):
        f = tf.function(lambda index=index, n=n, start=start: filled(index, n, start), autograph=False)
        for _ in range(3):
            rows, seen, last = f()
            assert rows.numpy().tolist() == wanted and seen.numpy() == sizes and last.numpy() == len(wanted)


def test_variables_that_a_loop_reads(made, monkeypatch):
    weights, shift = tf.Variable(W), tf.Variable(0.5)

    def run():
        @tf.function(autograph=False)
        def train(x):
            with tf.GradientTape() as tape:
                step = lambda i, a: (i + 1, tf.tanh(tf.matmul(a, weights) + x[i] + shift * tf.reduce_sum(weights)))
                loss = tf.reduce_sum(tf.while_loop(lambda i, a: i < 6, step, [0, x[0]])[1])
            halved = tf.while_loop(lambda a: tf.reduce_sum(a) > shift, lambda a: (a * shift,), [x])
            return [loss, halved, *tape.gradient(loss, [weights, shift])]

        return train(tf.constant(X))

    close(*both_ways(monkeypatch, made, run))
    assert sum(n.op.name == "StatelessWhile" for region in made for n in region.region.nodes) == 3


def test_variables_that_a_loop_in_a_loop_reads(made, monkeypatch):
    weights, shift = tf.Variable(W), tf.Variable(0.5)

    def run():
        @tf.function(autograph=False)
        def f(x):
            def turn(i, a):
                inner = lambda k, b: (k + 1, tf.tanh(tf.matmul(b, weights) + x[i + k]))
                b = tf.while_loop(lambda k, b: tf.cast(k, tf.float32) < 6 * shift, inner, [0, a])[1]
                return i + 1, tf.while_loop(lambda k, b: k < 3, inner, [0, b])[1] + shift

            return tf.while_loop(lambda i, a: i < 3, turn, [0, x[0]])

        return f(tf.constant(X))

    close(*both_ways(monkeypatch, made, run))


def test_rows_that_a_loop_looks_up_and_choices_that_read(made, monkeypatch):
    table, weights, bias = tf.Variable(X[:, 0]), tf.Variable(W), tf.Variable(0.25)
    ids = np.array([[0, 3], [5, 5], [2, 1]], np.int32)

    def run():
        @tf.function(autograph=False)
        def train(ids, labels):
            def step(i, a, loss):
                words = tf.nn.embedding_lookup(table, ids[:, i])
                a = tf.cond(
                    tf.reduce_sum(a) > bias, lambda: tf.tanh(tf.matmul(a, weights) + words), lambda: words * bias
                )
                each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels[:, i], logits=a)
                return i + 1, a, loss + tf.reduce_sum(each)

            with tf.GradientTape() as tape:
                _, a, loss = tf.while_loop(lambda i, *_: i < 2, step, [0, tf.zeros([3, 4]), 0.0])
                loss += tf.reduce_sum(a)
            rows, *others = tape.gradient(loss, [table, weights, bias])
            return [loss, tf.convert_to_tensor(rows), *others]

        return train(tf.constant(ids), tf.constant(ids % 4))

    close(*both_ways(monkeypatch, made, run))
    assert sum(n.op.name == "StatelessWhile" for region in made for n in region.region.nodes) == 2


def test_a_row_that_is_not_there_is_told_at_the_line_that_looks_it_up(made):
    table = tf.Variable(X[:, 0])

    @tf.function(autograph=False)
    def f(ids):
        step = lambda i, a: (i + 1, a + tf.gather(table, ids[i]))  # the line
        return tf.while_loop(lambda i, a: i < 3, step, [0, tf.zeros([4])])[1]

    np.testing.assert_allclose(f(tf.constant([0, 1, 5])), X[[0, 1, 5], 0].sum(0), rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"6 is not in \[0, 6\)") as told:
        f(tf.constant([0, 6, 1]))
    line = f.python_function.__code__.co_firstlineno + 2
    assert f"{__file__}:{line}" in str(told.value)


def test_a_loop_that_changes_what_it_reads_runs_turn_by_turn(made):
    counter = tf.Variable(0.0)

    @tf.function(autograph=False)
    def f():
        return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a + counter.assign_add(1.0)), [0, 0.0])[1]

    assert [float(f()) for _ in range(3)] == [15.0, 40.0, 65.0]
    assert not any(n.op.name == "StatelessWhile" for region in made for n in region.region.nodes)


def test_every_list_op_has_a_program(made):
    seen = set()
    for program in LOOPS:
        graph = tf.function(lambda *given, program=program: program(*given), autograph=False)
        concrete = graph.get_concrete_function(tf.TensorSpec(X.shape), tf.TensorSpec(W.shape)).graph
        stack = [concrete]
        while stack:
            for node in stack.pop()._nodes:
                seen.add(node.type)
                stack += [node._attrs[k] for k in ("cond", "body") if k in node._attrs]
    inside = "_TensorListAddItem"  # what `recurrent` becomes
    assert sorted(name for name in OPS if "TensorList" in name and name not in {*seen, inside}) == []


def test_what_does_not_change_is_computed_before(made):
    @tf.function(autograph=False)
    def f(x, w):
        return tf.while_loop(lambda i, a: i < 9, lambda i, a: (i + 1, tf.matmul(a, w, transpose_b=True)), [0, x])[1]

    f(tf.constant(X[0]), tf.constant(W))
    from ebbflow.engines.native.lowering import Lowering

    low = Lowering(made[-1].region)
    (turns,) = [s for s in low.steps if isinstance(s, Turns)]
    before = low.steps[: low.steps.index(turns)]
    assert sum(type(s).__name__ == "Block" for s in before) == 1  # w turned round
    assert sum(type(s).__name__ == "Product" for s in turns.steps) == 1


def test_a_gather_counts_from_the_end_no_more_in_a_loop_than_elsewhere(made):
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(x, i - 3)), [0, x[0]])[1]

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"-3 is not in \[0, 6\)"):
        f(tf.constant(X))


def test_an_index_out_of_range_is_an_error_still():
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda i, a: i < 7, lambda i, a: (i + 1, a + x[i]), [0, x[0]])[1]

    for _ in range(3):
        with pytest.raises((tf.errors.InvalidArgumentError, IndexError), match=r"slice index 6|out of bounds"):
            f(tf.constant(X))


def test_a_loop_of_growing_arrays_is_left_alone(made):
    @tf.function(autograph=False)
    def f(x):
        shapes = [tf.TensorShape([]), tf.TensorShape([None])]
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, x], shapes)[1]

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [1.0, 2.0] * 8)
    assert not any(n.op.name == "StatelessWhile" for region in made for n in region.region.nodes)


# --- loops that do not end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "heeds"), [(scalar, False), (rows, False), (nested, True), (until_small, True)])
def test_loops_that_nobody_can_count_look_whether_to_end(program, heeds, made):
    tf.function(lambda *given: program(*given), autograph=False)(tf.constant(X), tf.constant(W))
    assert [m.kernel.heeds for m in made if any(n.op.name == "StatelessWhile" for n in m.region.nodes)] == [heeds]


ENDLESS = """
    import os, signal, threading
    import ebbflow as tf
    from ebbflow.compiler import native_region as native

    class Noted(native.Kernel):
        def __init__(self, region):
            super().__init__(region)
            print("heeds" if self.heeds else "", end="")

    native.Kernel = Noted
    {variable}

    @tf.function(autograph=False)
    def f(x, n):
        {update}
        inner = lambda i, a: tf.while_loop(lambda j, b: j > 2, lambda j, b: (j - 1, b * 0.5), [i, a])
        return tf.while_loop(lambda i, a: i != n, {step}, [0, x])[1]

    def send(one):
        os.kill(os.getpid(), one)

    def end():
        print(" ended" if heard else " ended, deaf")
        raise KeyboardInterrupt

    heard = []
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    signal.signal(signal.SIGINT, lambda *_: end())
    before = float(f(tf.constant(1.0), tf.constant(30)))
    threading.Timer(0.2, send, [signal.SIGUSR1]).start()
    threading.Timer(0.6, send, [signal.SIGINT]).start()
    try:
        f(tf.constant(1.0), tf.constant(-1))
    except KeyboardInterrupt:
        print("as", "before" if before == float(f(tf.constant(1.0), tf.constant(30))) else "never")
"""

SHAPES = {
    "plain": ("", "", "lambda i, a: ((i + 1) % 1000, a * 0.5 + 1.0)"),
    "inside another": ("", "", "lambda i, a: ((i + 1) % 1000, inner(i, a)[1] + 1.0)"),
    "with a variable": (
        "v = tf.Variable(2.0)",
        "x = v.assign(x * 2.0) + 1.0",
        "lambda i, a: ((i + 1) % 1000, a * 0.5)",
    ),
}


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="sends signals to itself")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_signal_ends_a_loop_without_end(shape, monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")  # code from the first run on
    variable, update, step = SHAPES[shape]
    code = textwrap.dedent(ENDLESS).format(variable=variable, update=update, step=step)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["heeds", "ended", "as", "before"], done.stderr


def test_large_memory_is_left_for_the_next_call(made):
    """Two threads never have the same, and what is too small goes."""

    @tf.function(autograph=False)
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            turn = lambda i, a: (i + 1, tf.sin(a) * x)
            loss = tf.reduce_sum(tf.while_loop(lambda i, a: i < n, turn, [0, x])[1])
        return tape.gradient(loss, x)

    x = np.random.RandomState(2).rand(128, 512).astype("f")
    wanted = [f(tf.constant(x), n).numpy() for n in (40, 80)]
    kept = int(symbols.spare)
    assert kept and np.array_equal(f(tf.constant(x), 80), wanted[1]) and int(symbols.spare) == kept
    with ThreadPoolExecutor(3) as pool:
        for i, found in enumerate(pool.map(lambda i: f(tf.constant(x), (40, 80)[i % 2]).numpy(), range(12))):
            np.testing.assert_array_equal(found, wanted[i % 2])


def test_sums_of_many_elements_stay_exact_beside_a_loop(made):
    a, b = np.random.RandomState(3).randn(2, 1 << 16).astype("f")
    wanted = np.tanh((a - b).astype("d") ** 2)

    @tf.function(autograph=False)
    def f(a, b):
        d = tf.math.squared_difference(a, b)
        looped = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, tf.sin(z) * 0.5 + d), [0, d])[1]
        t = tf.tanh(d)
        return tf.reduce_sum(t), tf.reduce_max(t), looped

    total, most, _ = f(tf.constant(a), tf.constant(b))
    assert made and abs(float(total) - wanted.sum()) < 1e-6 * wanted.sum()
    assert abs(float(most) - wanted.max()) < 1e-6
