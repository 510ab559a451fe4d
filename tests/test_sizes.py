"""Files and functions that fit in the eye: at most 600 lines a file, at most 40 lines for the body of a function."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parent.parent / "ebbflow"
FILE, BODY = 600, 40


def long_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the functions whose bodies, docstrings aside, are too long, with the lines they take."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            if lines > BODY:
                yield node.name, lines


def test_no_file_is_too_long():
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in ROOT.rglob("*.py")}
    assert {file: lines for file, lines in lengths.items() if lines > FILE} == {}


def test_no_function_is_too_long():
    wrong = {path.relative_to(ROOT).as_posix(): list(long_functions(path.read_text())) for path in ROOT.rglob("*.py")}
    assert {file: functions for file, functions in wrong.items() if functions} == {}


def test_long_functions_are_seen():
    assert list(long_functions("def f():\n    'Docstring.'\n" + "    x = 1\n" * 41)) == [("f", 41)]
    assert not list(long_functions("def f(\n" + "    x,\n" * 50 + "):\n" + "    x = 1\n" * 40))
