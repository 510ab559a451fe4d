"""Damaged graphs and SavedModels: five hundred of the fuzzer's cases."""

import importlib.util
import pathlib

import pytest

TOOL = pathlib.Path(__file__).parent.parent.parent / "tools" / "fuzz_formats.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_formats", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_damaged_files_load_or_are_refused(fuzz, first):
    assert list(fuzz.run(first, 50)) == []


def test_a_leak_is_told(fuzz, monkeypatch):
    def broken(data):
        raise IndexError("oops")

    monkeypatch.setattr(fuzz, "TARGETS", [("frozen_conv/graph.pb", broken, 1)])
    assert "IndexError" in next(fuzz.run(0, 1))
