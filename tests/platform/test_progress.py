"""Loops that show how far they are: in terminals, notebooks and logs."""

from __future__ import annotations

import io
import sys
import types

import pytest

import ebbflow as tf
from ebbflow.platform import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that goes on by a step each time it is asked."""

    def __init__(self, step):
        self.now, self.step = 100.0, step

    def monotonic(self):
        self.now += self.step
        return self.now


def test_a_terminal_has_one_line_that_is_written_over(monkeypatch):
    monkeypatch.setattr(progress, "time", Clock(0.2))
    stream = Terminal()
    bar = progress.Progress(range(5), "epoch 1", stream=stream)
    for i in bar:
        bar.note(loss=1 / (i + 1))
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    *_, last = text.rstrip("\n").split("\r")
    assert last.startswith("epoch 1: 100% [########################] 5/5")
    assert "loss 0.2" in last and "left" in text and "/s" in last


def test_logs_get_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "time", Clock(1.0))
    stream = io.StringIO()
    for _ in progress.Progress(range(1000), "work", stream=stream):
        pass
    lines = stream.getvalue().splitlines()
    assert 5 < len(lines) < 30
    assert lines[-1].startswith("work: 100%") and all("\r" not in line for line in lines)


def test_notebooks_have_one_output_that_is_replaced(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(("update", data["text/plain"], raw))

    def display(data, raw, display_id):
        shown.append(("display", data["text/html"], raw))
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = type("ZMQInteractiveShell", (), {}).__call__
    shell.get_ipython = lambda: type("ZMQInteractiveShell", (), {})()
    inner = types.ModuleType("IPython.display")
    inner.display = display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    monkeypatch.setattr(progress, "time", Clock(0.3))
    list(progress.progress([1, 2, 3], "<b>"))
    assert [kind for kind, _, _ in shown] == ["display", "update", "update", "update"]
    assert "&lt;b&gt;" in shown[0][1]


def test_datasets_know_their_length():
    bar = tf.data.Dataset.range(10).batch(4).progress("epoch")
    bar._show = progress._Log(io.StringIO())
    assert len(bar) == 3 and [int(b[0]) for b in bar] == [0, 4, 8]
    unknown = tf.data.Dataset.range(10).filter(lambda x: x > 3).progress()
    unknown._show = progress._Log(io.StringIO())
    with pytest.raises(TypeError):
        len(unknown)
    assert len(list(unknown)) == 6 and unknown.total == 6


def test_what_cannot_be_shown_stops_nothing(capsys):
    stream = Terminal()
    stream.close()
    assert list(progress.Progress(iter("ab"), stream=stream)) == ["a", "b"]
    assert list(tf.progress([1], total=1)) == [1]


def test_an_error_in_a_loop_leaves_the_line_ended():
    stream = Terminal()
    with pytest.raises(ZeroDivisionError):
        for _ in progress.Progress(range(3), stream=stream):
            1 / 0  # noqa: B018
    assert stream.getvalue() == "" or stream.getvalue().endswith("\n")
