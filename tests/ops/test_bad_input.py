"""Bad input for every op: a right value or a typed error, never a crash, a hang or an unbounded allocation."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import ebbflow as tf
from ebbflow.core.op import registry
from tests.ops import golden, spoiled
from tests.ops.fuzz import fault

ROOT = pathlib.Path(__file__).parent.parent.parent


# program, its argument, how many calls it makes at least
PROGRAMS = [*(("fuzz", seed, 5000) for seed in range(4)), *(("spoiled", f"{part}/2", 2000) for part in range(2))]


@pytest.mark.parametrize(("program", "argument", "least"), PROGRAMS)
def test_odd_arguments_are_answered_or_refused(program, argument, least):
    code = f"import sys; sys.path.append({str(ROOT)!r}); sys.argv[1:] = ['{argument}']\n"
    code += f"from tests.ops import {program}; {program}.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (
        f"the process died ({done.returncode}) at {done.stderr.splitlines()[-1:]}\n{done.stderr[-2000:]}"
    )
    lines = done.stdout.splitlines()
    assert lines[-1].endswith("calls made") and int(lines[-1].split()[0]) > least, lines[-1]
    assert len(lines) == 1, done.stdout


def test_faults_are_noticed():
    class Wrong:
        def __call__(self, **given):
            raise IndexError("out of bounds")

    assert fault(Wrong(), {}, graph=False) == "IndexError: out of bounds"


def test_faults_of_spoilt_arguments_are_noticed():
    def crash(tf, op, inputs, attrs):
        raise IndexError("out of bounds")

    def only_eagerly(tf, op, inputs, attrs):
        if not tf.executing_eagerly():
            raise ValueError("not here")
        return golden.call_raw_op(tf, op, inputs, attrs)

    case = spoiled.good_cases()["Tanh"][0]
    assert spoiled.fault(golden.Runner(tf), case) is None
    assert "IndexError" in spoiled.fault(golden.Runner(tf, crash), case)
    assert "not alike" in spoiled.fault(golden.Runner(tf, only_eagerly), case)


def test_good_arguments_are_known_for_most_ops():
    known = spoiled.good_cases()
    assert len(known) > 290 and set(known) <= set(registry)
