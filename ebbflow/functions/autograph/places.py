"""Where new nodes of a syntax tree stand: in the user's file, at the line of what they stand for.

Tracebacks, debuggers and coverage show the user's text only because every new node has such a place.
"""

from __future__ import annotations

import ast
from typing import Any


def placed(node: Any, like: Any) -> Any:
    """Give a new node, and what is new inside it, the place of the one it stands for: the first line of that."""
    one_line = like.end_lineno == like.lineno
    place = {
        "lineno": like.lineno,
        "col_offset": like.col_offset,
        "end_lineno": like.lineno,
        "end_col_offset": like.end_col_offset if one_line else like.col_offset + 1,
    }
    for part in ast.walk(node):
        if "lineno" in part._attributes and (part is node or not hasattr(part, "lineno")):
            for name, value in place.items():
                setattr(part, name, value)
    return node


def head_of(statement: Any) -> ast.stmt:
    """Return the place of a statement's first line, up to the end of its condition or of what it goes over."""
    head = placed(ast.Pass(), statement)
    part = statement.iter if isinstance(statement, ast.For) else statement.test
    if part.end_lineno == statement.lineno:
        head.end_col_offset = part.end_col_offset
    return head
