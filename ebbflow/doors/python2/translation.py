"""A Python 2 file as a tree that Python 3 compiles, with every line and column where the file has it.

Tries first whether only later words of the language, or a late `global`, stand in Python 3's way: then the file is of
an older Python 3, and means what it says. Loaded when a file is met that may need it.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from typing import NamedTuple

from ebbflow.doors.python2 import syntax
from ebbflow.doors.python2.meaning import GlobalsFirst, Meaning, newer
from ebbflow.doors.python2.tokens import UnknownTextError

_FUTURE = re.compile(r"^from\s+__future__\s+import\s+(?:\(([^)]*)\)|([^\n#;]*))", re.MULTILINE)


class Translated(NamedTuple):
    """A file's tree, and whether it is Python 2 (or an older Python 3)."""

    tree: ast.Module
    is_python2: bool


class RefusedError(Exception):
    """A text is not Python 2 either; why, and in which line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why


def text_of(data: bytes | str) -> str:
    """Return the text of a source file, with plain line ends; SyntaxError, UnicodeDecodeError if it has none."""
    if isinstance(data, bytes):
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        data = data.decode(encoding)
    return data.replace("\r\n", "\n").replace("\r", "\n")


@functools.lru_cache(maxsize=64)
def translate(text: str, only_python2: bool = False, divides: bool = True) -> Translated:
    """Return what a text says; `only_python2` where it is known not to be an older Python 3.

    >>> ast.unparse(translate("print 7 / 2").tree)
    '__py2_print__(None, True, __py2_divide__(7, 2))'
    """
    try:
        if not only_python2:
            tree = _of_older_python3(text)
            if tree is not None:
                return Translated(tree, False)
        features = _features(text) | (frozenset() if divides else {"division"})
        return Translated(_of_python2(text, features), True)
    except UnknownTextError as error:
        raise RefusedError(text.count("\n", 0, error.place) + 1, "unknown characters") from None
    except SyntaxError as error:
        raise RefusedError(error.lineno or 1, error.msg) from None


def _features(text: str) -> frozenset[str]:
    found = (first or second for first, second in _FUTURE.findall(text))
    return frozenset(name.split()[0] for names in found for name in names.split(",") if name.strip())


def _of_older_python3(text: str) -> ast.Module | None:
    changes = syntax.renamed_words(text)
    try:
        tree = GlobalsFirst().visit(ast.parse(syntax.applied(text, changes)))
        compile(tree, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return tree


def _of_python2(text: str, features: frozenset[str]) -> ast.Module:
    changes = syntax.edits(text, features)
    tree = ast.parse(syntax.applied(text, changes))
    new = newer(tree)
    if new is not None:
        raise SyntaxError(f"{type(new).__name__} is of Python 3", ("", getattr(new, "lineno", 1), 0, ""))
    _put_back(tree, syntax.Columns(text, changes))
    return Meaning(features).of(GlobalsFirst().visit(tree))


def _put_back(tree: ast.AST, columns: syntax.Columns) -> None:
    """Have every part of a tree stand where it stood before the text was changed."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.ExceptHandler, ast.arg, ast.keyword, ast.alias)):
            node.col_offset = columns.before(node.lineno, node.col_offset)
            if node.end_lineno is not None and node.end_col_offset is not None:
                node.end_col_offset = columns.before(node.end_lineno, node.end_col_offset, ends=True)
