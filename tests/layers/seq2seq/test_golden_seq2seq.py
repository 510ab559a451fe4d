"""Decoding in loops and unrolled models give TensorFlow 1.15's numbers and names (tests/golden/programs/seq2seq.py)."""

import pytest

from tests.golden.programs import replay, seq2seq
from tests.layers.rnn.test_golden_rnn import assert_all_told, assert_known

PROGRAMS = [program.name for program in seq2seq.book if program.name != "refusals"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    wanted, given = replay.outcome("seq2seq", "1.15", name)
    assert given["variables"] == wanted["variables"]
    assert_all_told(given["parts"], wanted["parts"], "part")
    if "gradients" in wanted:
        assert_all_told(given["gradients"], wanted["gradients"], "gradient")
        assert_known(given["static"], wanted["static"])


def test_refusals():
    wanted, given = replay.outcome("seq2seq", "1.15", "refusals")
    assert {name: kind for name, (kind, _) in given.items()} == {name: kind for name, (kind, _) in wanted.items()}
