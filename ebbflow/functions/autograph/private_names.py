"""Private names of a class (`self.__x`) written out as Python stores them, for methods compiled outside their class."""

from __future__ import annotations

import ast
from typing import Any


def spell_out(node: Any, class_name: str | None) -> Any:
    """Return the tree with `__x` written as `_Class__x`, as Python does inside a class.

    >>> ast.unparse(spell_out(ast.parse("self.__x + __y__"), "_Point"))
    'self._Point__x + __y__'
    """
    prefix = (class_name or "").lstrip("_")
    return _Speller(prefix).visit(node) if prefix else node


class _Speller(ast.NodeTransformer):
    def __init__(self, prefix: str):
        self.prefix = prefix

    def _spelled(self, name: str | None) -> Any:
        if name is None or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        return f"_{self.prefix}{name}"

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for part in ("id", "attr", "arg", "name", "asname", "rest"):
            value = getattr(node, part, None)
            if isinstance(value, str) and not isinstance(node, (ast.ClassDef, ast.alias)):
                setattr(node, part, self._spelled(value))
        if isinstance(node, ast.alias) and node.asname is None:
            node.asname = self._spelled(node.name) if self._spelled(node.name) != node.name else None
        elif isinstance(node, ast.alias):
            node.asname = self._spelled(node.asname)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self._spelled(name) for name in node.names]
        return super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node  # a class of its own
