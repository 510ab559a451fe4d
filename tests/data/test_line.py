"""Drawing from a line by machine code is what Python draws, place by place."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import line, selecting
from ebbflow.data.line import Line
from ebbflow.data.pipe import Pipe
from ebbflow.engines.native import late_code
from ebbflow.ops.random.philox import Words


@pytest.fixture(scope="module")
def code():
    list(tf.data.Dataset.range(1))  # the engines are there with the first ops
    line.draws.code()
    late_code.settle()
    assert line.draws.code() is not None


def drawn(room, steps, monkeypatch, many):
    """Return what a line gives: in blocks while others come in, then until it is empty."""
    monkeypatch.setattr(line, "MANY", many)
    monkeypatch.setattr(line, "_count", 0)
    waiting = Line(room, Words(7, room))
    parts = [part for step in steps for part in waiting.exchange(step)]
    while len(waiting):
        parts.append(waiting.draw(min(5, len(waiting))))
    return np.concatenate(parts)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("room", [1, 2, 7, 100, 1000])
@pytest.mark.parametrize("switch", [0, 40])  # from the first draw on, or in between
def test_code_draws_what_python_draws(room, switch, monkeypatch):
    steps = [1, 3, 64, 500, 2000, 1]
    np.testing.assert_array_equal(
        drawn(room, steps, monkeypatch, switch), drawn(room, steps, monkeypatch, 1 << 60), strict=True
    )


def test_without_code_lists_are_drawn_from(monkeypatch):
    monkeypatch.setattr(line.draws, "state", lambda: None)
    assert sorted(drawn(30, [], monkeypatch, 0).tolist()) == list(range(30))


def test_few_epochs_lie_in_line_however_much_room_there_is():
    begun = []

    def start():
        begun.append(True)
        return iter([(np.array(i),) for i in range(5)])

    drawn = selecting._in_random_order(Pipe(start, 5), 10**9, (1, 2), -1)
    for epoch in range(4):
        assert sorted(int(next(drawn)[0]) for _ in range(5)) == [0, 1, 2, 3, 4]
        assert len(begun) <= epoch + selecting.MOST_EPOCHS + 2
