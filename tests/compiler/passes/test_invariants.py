"""What every turn of a loop pushes alike is taken as it is by the loop that runs backwards."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import passes
from ebbflow.compiler.flow import is_loop
from ebbflow.compiler.passes import narrow, reads
from ebbflow.compiler.passes.invariants import take_invariants
from tests.compiler.native_runs import only_numpy

RANDOM = np.random.RandomState(0)
W, X = (RANDOM.randn(*s).astype("f") / 2 for s in ([4, 4], [6, 3, 4]))


def net(w, b, x):
    """A loop that reads its weights in every turn, one of them twice."""

    def turn(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w) + tf.gather(x, i) * b) + 0.1 * tf.matmul(h, w)

    return tf.while_loop(lambda i, h: i < x.shape[0], turn, [0, x[0]])[1]


def trained(second=False):
    """Return the weights of four steps, each with the gradients of the step."""
    w, b = tf.Variable(W), tf.Variable(W[0])

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as outer, tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(w, b, x) ** 2)
            found = tape.gradient(loss, [w, b])
            more = tf.reduce_sum(found[0] ** 2) if second else 0.0
        if second:
            found = outer.gradient(more, [w, b])
        w.assign_sub(0.01 * found[0])
        b.assign_sub(0.01 * found[1])
        return [loss, *found]

    return [[t.numpy() for t in [*step(tf.constant(X)), w, b]] for _ in range(4)]


@pytest.mark.parametrize("second", [False, True])
def test_weights_are_what_they_are_turn_by_turn(second, monkeypatch):
    by_code = trained(second)
    only_numpy(monkeypatch)
    tf.config.optimizer.set_experimental_options({"loop_optimization": False})
    try:
        by_turns = trained(second)
    finally:
        tf.config.optimizer.set_experimental_options({"loop_optimization": True})
    for one, other in zip(by_code, by_turns, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_no_weights_are_in_lists(made):
    trained()
    region = next(m.region for m in made if sum(map(is_loop, m.region.nodes)) == 2)
    shapes = [list(n.inputs[0].known) for n in region.nodes if n.op.name == "EmptyTensorList"]
    assert shapes and [4, 4] not in shapes and [4] not in shapes


def lists(loops):
    """Return how many lists the last of two loops takes, after the pass."""
    taken = []

    def noted(flow):
        flow = take_invariants(reads.read_before_loops(narrow.narrow_bodies(flow)))
        loops = [n for n in flow.nodes if is_loop(n)]
        taken.extend(sum(v.dtype is tf.variant for v in n.inputs) for n in loops[1:])
        return flow

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(passes.PASSES, "invariants", noted)
        loops()
    return taken[0]


def popping(turns, *, inside=lambda rest, item: rest, result=False, pushed=None):
    """Push onto a list in five turns, and pop from it in some."""

    def run(w):
        empty = tf.raw_ops.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)
        push = lambda i, l: (
            i + 1,
            tf.raw_ops.TensorListPushBack(input_handle=l, tensor=w if pushed is None else pushed(w, i)),
        )
        count, whole = tf.while_loop(lambda i, l: i < tf.shape(w)[0] + 2, push, [0, empty])

        def pop(i, l, total):
            rest, item = tf.raw_ops.TensorListPopBack(input_handle=l, element_shape=[3], element_dtype=tf.float32)
            return i + 1, inside(rest, item), total + item

        limit = count if turns is None else turns
        _, rest, total = tf.while_loop(lambda i, *_: i < limit, pop, [0, whole, tf.zeros([3])])
        return (total, tf.raw_ops.TensorListLength(input_handle=rest)) if result else total

    return tf.function(run, autograph=False)


KEPT = {
    "another number of turns": popping(5),
    "a number in every turn": popping(None, pushed=lambda w, i: w * tf.cast(i, tf.float32)),
    "what is left is wanted": popping(None, result=True),
    "it is pushed to": popping(
        None, inside=lambda rest, item: tf.raw_ops.TensorListPushBack(input_handle=rest, tensor=item)
    ),
}


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_other_lists_are_kept(case):
    w = tf.constant([1.0, 2.0, 3.0])
    assert lists(lambda: [KEPT[case](w) for _ in range(3)]) == 1


def test_the_list_of_one_array_is_gone():
    w = tf.constant([1.0, 2.0, 3.0])
    run = popping(None)
    assert lists(lambda: [run(w) for _ in range(3)]) == 0
    np.testing.assert_array_equal(run(w), [5.0, 10.0, 15.0])


def test_more_pops_than_pushes_are_still_an_error():
    run = popping(6)
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
            run(tf.constant([1.0, 2.0, 3.0]))
