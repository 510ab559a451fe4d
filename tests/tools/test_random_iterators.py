"""Iterators over random chains go on exactly from wherever they were saved; and one that does not is noticed."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import ebbflow as tf

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "random_iterators.py"
spec = importlib.util.spec_from_file_location("random_iterators", TOOL)
assert spec is not None and spec.loader is not None
tool: Any = importlib.util.module_from_spec(spec)
sys.modules["random_iterators"] = tool
spec.loader.exec_module(tool)

SECONDS = 40
"""Chains are begun for this long; those that are left wait for a run by hand."""


def test_two_hundred_chains_go_on_where_they_were():
    done, wrong = tool.run_many(0, 200, SECONDS)
    assert done and not wrong


def test_a_chain_follows_from_its_number(tmp_path):
    one, other = tool.Chain(tf, 7, tmp_path, 1), tool.Chain(tf, 7, tmp_path, 3)
    assert one.names == other.names


def test_what_goes_on_elsewhere_is_told(monkeypatch):
    found = []
    monkeypatch.setattr(tool, "state_of", lambda iterator, tf: iter(tf.data.Dataset.range(83))._save())
    monkeypatch.setattr(tool, "STAGES", {"take, skip": tool.STAGES["take, skip"]})
    monkeypatch.setattr(tool, "SOURCES", {"range": tool.SOURCES["range"]})
    done, wrong = tool.run_many(0, 12, SECONDS, found.append)
    assert done == 12 and wrong == found and "NotFoundError" in wrong[0]
