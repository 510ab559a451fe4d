"""Python loops in graphs: one that never ends is an error, one that makes many nodes a warning."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import ebbflow as tf
from ebbflow.functions.autograph import log, operators, unrolled


def run(loop):
    state = {"get_state": None, "set_state": None, "symbol_names": (), "opts": {}}
    loop(state)


def test_a_loop_that_turns_too_often_is_an_error(monkeypatch):
    monkeypatch.setattr(unrolled, "PYTHON_MAX_ITERATIONS", 100)
    with pytest.raises(ValueError, match="iteration limit"):
        run(lambda state: operators.while_stmt(test=lambda: True, body=lambda: None, **state))
    with pytest.raises(ValueError, match="iteration limit"):
        run(lambda state: operators.for_stmt(range(101), None, lambda i: None, **state))
    run(lambda state: operators.for_stmt(range(100), None, lambda i: None, **state))


def test_a_loop_that_keeps_adding_nodes_is_spoken_of(monkeypatch, capsys):
    monkeypatch.setattr(unrolled, "INEFFICIENT_UNROLL_MIN_ITERATIONS", 10)
    monkeypatch.setattr(log, "_to_stdout", [True])

    @tf.function
    def many(x, turns):
        for _ in range(turns):
            x = tf.square(x)
        return x

    many(tf.constant(1.0), 10)
    assert "Large unrolled loop" not in capsys.readouterr().out
    many(tf.constant(1.0), 12)
    assert capsys.readouterr().out.count("Large unrolled loop") == 1


def test_what_a_program_assigns_to_an_inner_switch_counts(tmp_path):
    program = """
        import tensorflow as tf
        from unittest import mock
        from tensorflow.python.autograph.operators import control_flow
        from tensorflow.python.ops import control_flow_util
        state = dict(get_state=None, set_state=None, symbol_names=(), opts={})
        with mock.patch.object(control_flow, "PYTHON_MAX_ITERATIONS", 5):
            try:
                control_flow.for_stmt(range(6), None, lambda i: None, **state)
            except ValueError as error:
                print("refused" if "iteration limit" in str(error) else error)
        control_flow.for_stmt(range(6), None, lambda i: None, **state)
        print(control_flow.PYTHON_MAX_ITERATIONS)
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
        print(tf.compat.v1.control_flow_v2_enabled())
        from tensorflow.python.platform import tf_logging
        with mock.patch.object(tf_logging, "warn") as said:
            tf.function(tf.summary.trace_on)()
        print(said.call_count)
        tf_logging.info, before = said, tf_logging.info
        with tf.Graph().as_default():
            tf.compat.v1.train.MonitoredSession().close()
        tf_logging.info = before
        print(said.call_count > 1)
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    words = [sys.executable, "-m", "ebbflow", "run", "--tf", "2", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["refused", "100000000", "False", "1", "True"]
