"""Loops that turn as often as what is fed says: one straight Program for each way, and the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler.passes.native import BOTH
from ebbflow.runtime import decided_programs
from ebbflow.runtime.decided_programs import Decided

v1 = tf.compat.v1
BATCH, DEPTH = 4, 3


def decided(session: Any) -> list[Decided]:
    """Return the Programs of a session that have several ways."""
    runners = [part for parts in session._runners.values() for part in parts if hasattr(part, "_programs")]
    found = [p for runner in runners for p in runner._programs.values()]
    return [p for p in found if isinstance(p, Decided)]


def rows_until_done(lengths: Any, w: Any) -> tuple[Any, Any]:
    """A recurrence that goes on until every row has ended, with a list that grows and a choice in each turn."""
    steps = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, DEPTH])

    def turn(time: Any, done: Any, h: Any, kept: Any) -> tuple[Any, ...]:
        after = tf.tanh(h @ w + 0.1)
        now = time + 1 >= lengths
        after = tf.cond(tf.reduce_all(now), lambda: after * 0.5, lambda: after + 0.25)
        kept = kept.write(time, tf.where(done[:, None], tf.zeros_like(after), after))
        return time + 1, done | now, after, kept

    first = (tf.constant(0), lengths <= 0, tf.ones([tf.shape(lengths)[0], DEPTH]), steps)
    _, _, last, kept = v1.while_loop(lambda time, done, *_: ~tf.reduce_all(done), turn, first)
    return kept.stack(), last


@pytest.fixture
def program() -> Any:
    with tf.Graph().as_default():
        lengths = v1.placeholder(tf.int32, [None])
        w = v1.get_variable("w", initializer=np.linspace(-0.5, 0.5, DEPTH * DEPTH, dtype=np.float32).reshape(DEPTH, -1))
        kept, last = rows_until_done(lengths, w)
        loss = tf.reduce_sum(kept * kept) + tf.reduce_sum(last)
        fetches = [kept, last, loss, *tf.gradients(loss, [w])]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            yield lambda given: session.run(fetches, {lengths: given}), session


def same(found: list[Any], wanted: list[Any]) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_each_way_gives_what_the_interpreter_gives(program: Any) -> None:
    run, session = program
    ways = [np.array(n, np.int32) for n in ([3, 1, 2, 5], [2, 2, 1, 1], [0, 0, 1, 0])]
    first = {}
    for _ in range(6):  # the first runs are interpreted
        for given in ways:
            found = run(given)
            same(found, first.setdefault(given.tobytes(), found))
    assert [p.shape[0] for p, *_ in first.values()] == [5, 2, 1]
    (way,) = decided(session)
    assert len(way._programs) == 3 and "StatelessWhile" not in {n.op.name for n in way._programs[0][1].flow.nodes}


def test_regions_keep_to_one_turn_so_that_more_turns_need_no_larger_ones(program: Any) -> None:
    run, session = program
    for longest in (3, 9):
        for _ in range(3):
            run(np.full(BATCH, longest, np.int32))
    (way,) = decided(session)
    largest = {}
    for gone, straight in way._programs:
        regions = [node.attrs["region"] for node in straight.flow.nodes if node.op in BOTH]
        assert all(len({node.turn for node in region.nodes if node.op.name != "Const"}) == 1 for region in regions)
        largest[len(gone.answers)] = max(len(region.nodes) for region in regions)
    few, many = sorted(largest)
    assert few < many and largest[few] == largest[many] > 2


def test_rows_with_other_lengths_go_the_same_way(program: Any) -> None:
    run, session = program
    for given in ([3, 1, 2, 1], [3, 3, 3, 3], [1, 3, 1, 1], [2, 1, 3, 2], [3, 2, 2, 3]):
        kept, *_ = run(np.array(given, np.int32))
        assert [(kept[:, i] != 0).any(1).sum() for i in range(BATCH)] == given
    (way,) = decided(session)
    assert len(way._programs) == 1


def test_no_turn_at_all_and_changing_batches(program: Any) -> None:
    run, _ = program
    for _ in range(4):
        for batch in (1, 2, 7):
            assert run(np.arange(batch, dtype=np.int32) + 2)[0].shape == (batch + 1, batch, DEPTH)


def test_ways_without_end_are_interpreted(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decided_programs, "MOST_WAYS", 2)
    run, session = program
    for _ in range(3):
        for longest in range(1, 8):
            assert run(np.full(BATCH, longest, np.int32))[0].shape[0] == longest
    (way,) = decided(session)
    assert len(way._known) == len(way._programs) == 2 and not way._looks


def test_what_a_turn_does_to_a_variable_is_done_once_a_turn() -> None:
    with tf.Graph().as_default():
        count = v1.placeholder(tf.int32, [])
        total = v1.get_variable("total", initializer=0, use_resource=True)

        def turn(i: Any) -> Any:
            with tf.control_dependencies([total.assign_add(1)]):
                return i + 1

        last = v1.while_loop(lambda i: i < count, turn, [tf.constant(0)])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for turns in (2, 3, 2, 2, 3, 3):
                assert session.run(last, {count: turns}) == turns
            assert session.run(total) == 15


def test_variables_that_turns_only_read_are_read_in_their_turn() -> None:
    with tf.Graph().as_default():
        lengths = v1.placeholder(tf.int32, [None])
        table = v1.get_variable("table", initializer=np.arange(8, dtype=np.float32).reshape(4, 2), use_resource=True)

        def turn(time: Any, total: Any) -> Any:
            row = lambda: tf.reduce_sum(tf.nn.embedding_lookup(table, [time]))
            return time + 1, total + tf.cond(time + 1 >= tf.reduce_max(lengths), lambda: 0.5, row)

        _, total = v1.while_loop(lambda time, _: time < tf.reduce_max(lengths), turn, (0, 0.0))
        slope = tf.convert_to_tensor(tf.gradients(total, [table])[0])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for longest in (3, 2, 3, 3, 2, 2):
                found, by_table = session.run([total, slope], {lengths: [1, longest]})
                assert found == {3: 6.5, 2: 1.5}[longest]
                assert by_table[:, 0].tolist() == [1.0] * (longest - 1) + [0.0] * (5 - longest)
            (way,) = decided(session)
            assert not any(node.op.facts.loop for _, p in way._programs for node in p.flow.nodes)


def test_errors_of_lists_are_told_in_every_run() -> None:
    with tf.Graph().as_default():
        count = v1.placeholder(tf.int32, [])
        array = tf.TensorArray(tf.float32, 3, element_shape=[])

        def turn(i: Any, array: Any) -> Any:
            return i + 1, array.write(i, tf.cast(i, tf.float32))

        _, array = v1.while_loop(lambda i, _: i < count, turn, [tf.constant(0), array])
        whole = array.stack()
        with v1.Session() as session:
            for _ in range(4):
                assert session.run(whole, {count: 2}).tolist() == [0, 1, 0]
                with pytest.raises(tf.errors.InvalidArgumentError, match="element 3 in a list with 3"):
                    session.run(whole, {count: 5})


def test_a_long_loop_stays_one() -> None:
    with tf.Graph().as_default():
        count = v1.placeholder(tf.int32, [])
        found = v1.while_loop(lambda i, x: i < count, lambda i, x: (i + 1, x + 1.0), [tf.constant(0), tf.zeros([2])])
        with v1.Session() as session:
            for turns in (1000, 3, 1000, 3, 1000, 3):
                assert session.run(found, {count: turns})[1].tolist() == [turns, turns]
