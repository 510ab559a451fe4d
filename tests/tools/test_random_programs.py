"""Random programs give the same in every way they are run; and what does not is noticed."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
spec = importlib.util.spec_from_file_location("random_programs", ROOT / "tools" / "random_programs.py")
assert spec is not None and spec.loader is not None
tool: Any = importlib.util.module_from_spec(spec)
sys.modules["random_programs"] = tool
spec.loader.exec_module(tool)

SECONDS = 50
"""Programs are begun for this long; those that are left wait for a run by hand."""


def test_five_hundred_programs_give_the_same_in_every_way():
    done, wrong = tool.run_many(0, 500, ["function"], SECONDS, every=10)
    assert done and not wrong


def test_a_program_follows_from_its_number():
    one, other = tool.Maker(7), tool.Maker(7)
    assert one.inputs == other.inputs and one.pool == other.pool
    for a, b in zip(tool.results(one, "eager", 0), tool.results(other, "eager", 0), strict=True):
        np.testing.assert_array_equal(a, b)


def test_programs_have_loops_choices_variables_and_empty_arrays():
    kinds = {name for name in dir(tool.Maker) if name.startswith("any_")}
    assert kinds == {f"any_{kind}" for kind in tool.KINDS}
    pools = [tool.Maker(number).pool for number in range(60)]
    assert any(0 in dims for pool in pools for dims in pool)
    assert any(np.prod(dims) > 1 << 15 for pool in pools for dims in pool)


ONES = np.ones(3, np.float32)


@pytest.mark.parametrize(
    "other", [ONES * 1.01, ONES[:2], ONES.astype(np.float64), np.array([1, np.nan, 1], np.float32)]
)
def test_a_difference_is_seen(other: np.ndarray):
    assert tool.difference([ONES], [other]) is not None
    assert tool.difference([ONES], [ONES * np.float32(1.00001)]) is None


def test_a_way_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch):
    right = tool.results
    monkeypatch.setattr(
        tool,
        "results",
        lambda maker, way, salt, moved=0.0: [x + (way != "eager") for x in right(maker, "eager", salt, moved)],
    )
    assert tool.differs(3, ["function"]).startswith("function: result 0")


def test_what_a_breath_on_the_inputs_changes_is_no_proof(monkeypatch: pytest.MonkeyPatch):
    right = tool.results
    monkeypatch.setattr(
        tool,
        "results",
        lambda maker, way, salt, moved=0.0: [
            x + (way != "eager") + 1e6 * moved for x in right(maker, "eager", salt, moved)
        ],
    )
    assert tool.differs(3, ["function"]) is None


def test_a_process_that_dies_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path):
    dying = tmp_path / "dying.py"
    dying.write_text(
        "import os\nprint('begin 5', flush=True)\nprint('end 5 alike')\nprint('begin 6', flush=True)\nos.abort()\n"
    )
    monkeypatch.setattr(tool, "__file__", str(dying))
    done, wrong = tool.run_many(5, 2, ["function"], 30)
    assert done == 1 and wrong[0].startswith("program 6: the process ended with -6")
