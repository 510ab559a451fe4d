"""The tool that hits jobs again and again: what it calls a good end. (Jobs themselves: the tests of faults.)"""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "fault_seeds.py"


def load():
    spec = importlib.util.spec_from_file_location("fault_seeds", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Job:
    """A job that has ended."""

    def __init__(self, result, redone=0):
        self._result, self._redone = result, redone

    def result(self, seconds, in_step):
        if self._result is None:
            raise AssertionError("the job did not end in 240.0 s:\nlast line")
        return *self._result, ""

    def redone(self):
        return self._redone

    def events(self, event):
        return [{"time": float(at), "task": "worker 0", "step": at} for at in range(10)]


WEIGHTS = (2.0 * sum(s % 5 + 1 for s in range(60)), 240.0)


@pytest.mark.parametrize(
    "result, redone, in_step, good, why",
    [
        ((60, *WEIGHTS), 20, True, True, ""),
        ((60, *WEIGHTS), 21, True, False, "21 steps done again"),
        ((60, WEIGHTS[0] + 1, WEIGHTS[1]), 0, True, False, "and not"),
        (None, 0, True, False, "last line"),
        ((60, 60.0, 122.0), 0, False, True, ""),
        ((60, 60.0, 130.0), 0, False, False, "65.0 pushes of 60 steps"),
    ],
)
def test_what_a_good_end_is(tmp_path, result, redone, in_step, good, why):
    run = load().Run(tmp_path, 0, "")
    run.job, run.hit, run.times = Job(result, redone), ["ps0"], [2.5, 4.9]
    outcome = run.end(20, in_step, loose=4)
    assert outcome.good is good and why in outcome.why and outcome.hit == "ps0"
    assert result is None or outcome.stall == 0.5


def test_seeds_choose_alike():
    tool = load()
    first, second, other = (tool.Run(None, seed, "").chance.random() for seed in (1, 1, 2))
    assert first == second != other
    assert {"F1", "F2", "F3", "F4", "F5", "F7", "F8 F15", "F9", "F10", "F14"} <= set(tool.KINDS)
