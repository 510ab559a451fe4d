"""What a piece of Python does to the names of the function it stands in: reads, writes, captures, changes in place.

Works on syntax trees alone and knows nothing of tensors or of how statements are rewritten. A name that a nested
function uses counts as read where that function is defined, and as *captured*: the nested function may be called at
any time. `self.x = …` is a write to the path "self.x"; `x.append(…)` and `x[i] = …` change what "x" holds in place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.While, ast.For)
CHANGERS = frozenset(
    """
    append extend insert pop remove clear update setdefault popitem add discard appendleft sort reverse
    """.split()  # noqa: SIM905
)
"""Methods by which lists, dictionaries and sets change."""


@dataclass
class Names:
    """The names that some code touches."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)  # attributes assigned: "self.x"
    changed: set[str] = field(default_factory=set)  # names or paths whose value is changed in place
    captured: set[str] = field(default_factory=set)  # used by nested functions
    remote: set[str] = field(default_factory=set)  # rebound by nested functions, whenever those are called
    outer: set[str] = field(default_factory=set)  # declared `global` or `nonlocal`
    calls: bool = False

    def every(self) -> set[str]:
        """Return all names that occur."""
        return self.reads | self.writes | self.captured | self.remote | self.outer


def names_in(code: ast.AST | Iterable[ast.AST]) -> Names:
    """Return what a statement, an expression or a list of them does to names.

    >>> found = names_in(ast.parse("y = x; z.total += y; log.append(y)"))
    >>> sorted(found.reads), sorted(found.writes), found.paths, found.changed
    (['log', 'x', 'y', 'z'], ['y'], {'z.total'}, {'log'})
    """
    visitor = _Visitor()
    for node in [code] if isinstance(code, ast.AST) else code:
        visitor.visit(node)
    return visitor.found


def free_names(function: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that a nested function takes from around it, and those among them that it rebinds."""
    assert isinstance(function, FUNCTIONS)
    body = function.body if isinstance(function.body, list) else [function.body]
    inside = names_in(body)
    declared_global = {n for s in own_nodes(body) if isinstance(s, ast.Global) for n in s.names}
    declared_nonlocal = {n for s in own_nodes(body) if isinstance(s, ast.Nonlocal) for n in s.names}
    own = (parameters(function.args) | inside.writes) - declared_nonlocal - declared_global
    rebound = (declared_nonlocal & inside.writes) | (inside.remote - own)
    return (inside.reads | inside.captured | declared_nonlocal) - own - declared_global, rebound - declared_global


def parameters(arguments: ast.arguments) -> set[str]:
    """Return the names of a function's parameters."""
    return {a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)}


def own_nodes(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """Yield the nodes of a function's own scope, without those of functions and classes nested in it."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def path_of(node: ast.AST) -> str | None:
    """Return a name with attributes as text: "x", "self.x", "a.b.c"; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found = Names()

    def visit_Name(self, node: ast.Name) -> None:
        (self.found.reads if isinstance(node.ctx, ast.Load) else self.found.writes).add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path is not None and not isinstance(node.ctx, ast.Load):
            self.found.paths.add(path)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        path = path_of(node.value)
        if path is not None and not isinstance(node.ctx, ast.Load):
            self.found.changed.add(path)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.found.calls = True
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
            path = path_of(node.func.value)
            if path is not None:
                self.found.changed.add(path)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.found.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:  # annotations of local names are never evaluated
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.found.writes.add((alias.asname or alias.name).partition(".")[0])

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.found.outer.update(node.names)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.found.writes.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.AST) -> None:
        if getattr(node, "name", None):
            self.found.writes.add(node.name)  # type: ignore[attr-defined]
        if getattr(node, "rest", None):
            self.found.writes.add(node.rest)  # type: ignore[attr-defined]
        self.generic_visit(node)

    visit_MatchStar = visit_MatchMapping = visit_MatchAs  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.found.writes.add(node.name)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._nested(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._nested(node)

    def _nested(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        taken, rebound = free_names(node)
        self.found.reads |= taken
        self.found.captured |= taken
        self.found.remote |= rebound

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class: what its body reads may come from around it, and so may what its methods use."""
        self.found.writes.add(node.name)
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        inside = names_in(node.body)
        self.found.reads |= inside.reads | inside.captured
        self.found.captured |= inside.captured
        self.found.remote |= inside.remote

    def _comprehension(self, node: ast.AST) -> None:
        inside = _Visitor()
        bound: set[str] = set()
        for generator in node.generators:  # type: ignore[attr-defined]
            bound |= names_in(generator.target).writes
        inside.generic_visit(node)
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        found = self.found
        found.reads |= inside.found.reads - (bound - walrus)
        found.writes |= walrus
        found.captured |= inside.found.captured - bound
        found.remote |= inside.found.remote - bound
        found.changed |= {p for p in inside.found.changed if p.partition(".")[0] not in bound}
        found.paths |= {p for p in inside.found.paths if p.partition(".")[0] not in bound}
        found.calls |= inside.found.calls

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815
