"""Recurrent cells and loops give TensorFlow 1.15's numbers and names (tests/golden/programs/rnn.py)."""

import types

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.layers.rnn import blocks
from tests.golden.programs import replay, rnn

RELATIVE = 3e-5  # sums over time and over a batch, in another order than TensorFlow's
ROWS = [program.name for program in rnn.book if program.function is None]
PROGRAMS = [program.name for program in rnn.book if program.function is not None and program.name != "refusals"]
COUNTED = ("indrnn", "indy gru", "indy lstm")  # weights drawn by how many nodes there are, which a loop hides


def assert_told(given, wanted, what):
    assert given["shape"] == wanted["shape"], what
    scale = max(np.abs(wanted["first"]).max(initial=0.0), 1e-2)
    np.testing.assert_allclose(given["first"], wanted["first"], RELATIVE, RELATIVE * scale, err_msg=what)
    size = int(np.prod(wanted["shape"]))
    np.testing.assert_allclose(given["sum"], wanted["sum"], RELATIVE, RELATIVE * scale * size**0.5, err_msg=what)


def assert_all_told(given, wanted, what):
    assert len(given) == len(wanted), what
    for number, (one, other) in enumerate(zip(given, wanted, strict=True)):
        assert_told(one, other, f"{what} {number}")


def assert_known(given, wanted):
    """All that TensorFlow knows of shapes is known here too (and sometimes more)."""
    for one, other in zip(given, wanted, strict=True):
        assert len(one) == len(other) and all(n is None or m == n for m, n in zip(one, other, strict=True))


@pytest.mark.parametrize("name", ROWS)
def test_cells(name):
    wanted, given = replay.outcome("rnn", "1.15", name)
    assert given["variables"] == wanted["variables"]
    assert set(wanted["of the cell"]) <= set(given["of the cell"])  # a wrapper has its cell's too, here
    assert given["output"] == wanted["output"] and given["nodes"] == wanted["nodes"]
    assert_known(given["static"], wanted["static"])
    if not (name.startswith(COUNTED) and "dynamic" in name):
        assert_told(given["outputs"], wanted["outputs"], "outputs")
        assert_all_told(given["states"], wanted["states"], "state")
        assert_all_told(given["gradients"], wanted["gradients"], "gradient")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    wanted, given = replay.outcome("rnn", "1.15", name)
    assert given["variables"] == wanted["variables"] and given["names"] == wanted["names"]
    assert_known(given["static"], wanted["static"])
    assert_all_told(given["parts"], wanted["parts"], "part")
    assert_all_told(given["gradients"], wanted["gradients"], "gradient")


def test_refusals():
    wanted, given = replay.outcome("rnn", "1.15", "refusals")
    assert given == wanted


MADE_IN_CALL = ("projected", "lstm in shards", "highway")  # variables that only a graph (or a store) finds again
EAGER = [
    name
    for name in ROWS
    if "nothing known" not in name
    and name.partition(":")[0] in rnn.NAMED
    and not name.startswith(("dropout:", "dropout,", "dropout of memory", *MADE_IN_CALL))
]
BOTH = types.SimpleNamespace(
    **{name: getattr(tf.compat.v1, name) for name in dir(tf.compat.v1) if not name.startswith(("_", "keras", "estim"))},
    contrib=types.SimpleNamespace(rnn=blocks),
)


@pytest.mark.parametrize("name", EAGER)
def test_cells_eagerly(name):
    given = rnn.eagerly(BOTH, tf, name)
    wanted = replay.recorded("rnn", "1.15")[name]
    assert_told(given["outputs"], wanted["outputs"], "outputs")
    assert_all_told(given["states"], wanted["states"], "state")
    assert_all_told(given["gradients"], wanted["gradients"], "gradient")
