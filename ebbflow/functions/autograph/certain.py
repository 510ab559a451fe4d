"""What can be told of an expression before it runs: that it is never a tensor, or that a call needs no conversion.

`if x is None`, `isinstance(…)` and `for k in ("a", "b")` stay the Python they are; `tf.tanh(x)` needs no second look,
because `tf` is a library's module. Names are looked up where the function lives, when it is converted. Knows syntax
trees and which code belongs to libraries (`libraries`).
"""

from __future__ import annotations

import ast
import builtins
from types import FunctionType, ModuleType
from typing import Any

from ebbflow.functions.autograph import libraries

UNKNOWN: Any = object()
ANSWERS_PLAINLY = frozenset(
    """
    isinstance issubclass hasattr callable type id repr str bytes hash dir vars list tuple dict set frozenset
    object slice getattr setattr delattr ord chr format open input iter reversed complex
    """.split()  # noqa: SIM905
)
"""Built-in functions that AutoGraph has no version of its own for; their result is no tensor unless it was one."""
NEVER_TENSORS = ANSWERS_PLAINLY - {"getattr", "iter", "reversed", "object", "slice", "complex", "format"}


class World:
    """Where a function lives: the objects that its free names stand for now."""

    def __init__(self, function: FunctionType):
        self.globals = function.__globals__
        self.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def find(self, name: str, local: frozenset[str] | set[str]) -> Any:
        """Return what `name` stands for, UNKNOWN where it is local or may come to stand for something else."""
        if name in local:
            return UNKNOWN
        if name in self.cells:
            try:
                value = self.cells[name].cell_contents
            except ValueError:
                return UNKNOWN
            return value if isinstance(value, ModuleType) else UNKNOWN
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name, UNKNOWN)

    def is_builtin(self, name: str, local: frozenset[str] | set[str]) -> bool:
        """Return whether `name` is Python's own here."""
        return name not in local and name not in self.cells and name not in self.globals and hasattr(builtins, name)


def never_a_tensor(node: ast.expr, world: World, local: set[str]) -> bool:
    """Return whether an expression certainly gives a plain Python value."""
    if isinstance(node, (ast.Constant, ast.JoinedStr, ast.Lambda, ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return True
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return True
    if isinstance(node, ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return True
        return all(never_a_tensor(part, world, local) for part in [node.left, *node.comparators])
    if isinstance(node, ast.UnaryOp):
        return never_a_tensor(node.operand, world, local)
    if isinstance(node, ast.BoolOp):
        return all(never_a_tensor(value, world, local) for value in node.values)
    if isinstance(node, ast.BinOp):
        return never_a_tensor(node.left, world, local) and never_a_tensor(node.right, world, local)
    if isinstance(node, ast.Name):
        return node.id in ("__debug__", "__name__") and node.id not in local
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in NEVER_TENSORS and world.is_builtin(node.func.id, local)
    return False


def plain_iteration(node: ast.expr, world: World, local: set[str]) -> bool:
    """Return whether a `for` over this certainly runs in Python: a display, or `range` of plain numbers."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in ("range", "enumerate", "zip", "reversed") and world.is_builtin(node.func.id, local):
            plain = never_a_tensor if node.func.id == "range" else plain_iteration
            return all(plain(argument, world, local) for argument in node.args)
        return never_a_tensor(node, world, local)
    return never_a_tensor(node, world, local)


def needs_no_conversion(function: ast.expr, world: World, local: set[str]) -> bool:
    """Return whether what is called is a library's, a class, or a built-in that AutoGraph leaves as it is."""
    steps: list[str] = []
    while isinstance(function, ast.Attribute):
        steps.append(function.attr)
        function = function.value
    if isinstance(function, ast.Lambda):
        return True
    if not isinstance(function, ast.Name):
        return False
    if not steps and function.id in ANSWERS_PLAINLY and world.is_builtin(function.id, local):
        return True
    value = world.find(function.id, local)
    if steps:
        return isinstance(value, ModuleType) and libraries.is_library_module(value)
    if isinstance(value, type):
        return value.__module__ != "builtins"
    return isinstance(value, FunctionType) and libraries.is_library_code(value.__code__, value.__globals__)
