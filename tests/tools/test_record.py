"""Every golden file has its recorder: the program in `tools/record` that wrote it, and writes it again."""

from __future__ import annotations

import ast
import fnmatch
import functools
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"


@functools.cache  # reading all the recorders takes half a second
def written() -> dict[str, str]:
    """The patterns of golden files that recorders say they write (`WRITES`), with the recorder's name."""
    patterns = {}
    for path in sorted((ROOT / "tools" / "record").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "WRITES":
                patterns.update(dict.fromkeys(ast.literal_eval(node.value), path.name))
    return patterns


def recorders(name: str) -> list[str]:
    return sorted({recorder for pattern, recorder in written().items() if fnmatch.fnmatch(name, pattern)})


def golden_files() -> list[str]:
    files = (p for p in GOLDEN.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sorted(p.relative_to(GOLDEN).as_posix() for p in files if p.suffix != ".py")


def test_every_golden_file_has_one_recorder():
    wrong = {name: recorders(name) for name in golden_files() if len(recorders(name)) != 1}
    assert not wrong, f"golden files without a recorder, or with several: {wrong}"


def test_every_recorder_writes_something_that_is_there():
    files = golden_files()
    for pattern, recorder in written().items():
        assert fnmatch.filter(files, pattern), f"{recorder} says it writes {pattern}, which matches no file"


def test_files_without_a_recorder_are_noticed():
    assert recorders("ops/unary.jsonl") == ["ops.py"]
    assert recorders("by_hand/values.json") == []


@pytest.mark.parametrize("family", sorted(p.stem for p in (GOLDEN / "ops").glob("*.jsonl")))
def test_every_family_of_ops_has_its_table_of_cases(family):
    assert (ROOT / "tools" / "record" / f"ops_{family}.py").exists()
