"""Which names are needed later: for every statement of a function, the names whose values may be read after it.

The usual backward walk, over the structured syntax tree; loops are walked until nothing changes. Knows nothing of
tensors. What it says decides which variables a branch hands on and which variables a loop carries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ebbflow.functions.autograph.names import names_in

Live = frozenset


class Liveness:
    """For the statements of one function: the names live before and after each, and at the head of each loop.

    >>> tree = ast.parse("a = 1\\nif x: b = a\\nelse: b = 2\\nreturn b").body
    >>> sorted(Liveness(tree).after[tree[0]]), sorted(Liveness(tree).after[tree[1]])
    (['a', 'x'], ['b'])
    """

    def __init__(self, body: Sequence[ast.stmt], at_exit: Iterable[str] = ()):
        self.after: dict[ast.stmt, Live[str]] = {}
        self.before: dict[ast.stmt, Live[str]] = {}
        self.head: dict[ast.stmt, Live[str]] = {}
        self._exit = Live(at_exit)  # what others may read once the function is done: its nonlocal and global names
        self._breaks: list[tuple[Live[str], Live[str]]] = []
        self._raised: list[Live[str]] = [Live()]
        self.block(body, self._exit)

    def block(self, statements: Sequence[ast.stmt], after: Live[str]) -> Live[str]:
        """Return what is live before the statements, given what is after them."""
        for statement in reversed(statements):
            self.after[statement] = self.after.get(statement, Live()) | after
            after = self._statement(statement, after) | self._raised[-1]
            self.before[statement] = self.before.get(statement, Live()) | after
        return after

    def _statement(self, node: ast.stmt, after: Live[str]) -> Live[str]:
        method = getattr(self, f"_{type(node).__name__}", None)
        return self._simple(node, after) if method is None else method(node, after)

    def _simple(self, node: ast.AST, after: Live[str]) -> Live[str]:
        """Anything that just runs: what it certainly writes is not needed before, what it reads is."""
        found = names_in(node)
        written = found.writes if isinstance(node, ast.stmt) else set()
        return (after - written) | found.reads

    def _expression(self, node: ast.expr | None, after: Live[str]) -> Live[str]:
        if node is None:
            return after
        written, read = in_order(node)
        return (after - written) | read

    def _Expr(self, node: ast.Expr, after: Live[str]) -> Live[str]:
        return self._expression(node.value, after)

    def _Assign(self, node: ast.Assign, after: Live[str]) -> Live[str]:
        targets = names_in(node.targets)
        return self._expression(node.value, (after - targets.writes) | targets.reads)

    def _AnnAssign(self, node: ast.AnnAssign, after: Live[str]) -> Live[str]:
        if node.value is None:
            return after
        target = names_in(node.target)
        return self._expression(node.value, (after - target.writes) | target.reads)

    def _Return(self, node: ast.Return, after: Live[str]) -> Live[str]:
        return self._expression(node.value, self._exit)

    def _Raise(self, node: ast.Raise, after: Live[str]) -> Live[str]:
        return self._raised[-1] | names_in(node).reads | self._exit

    def _Break(self, node: ast.Break, after: Live[str]) -> Live[str]:
        return self._breaks[-1][0]

    def _Continue(self, node: ast.Continue, after: Live[str]) -> Live[str]:
        return self._breaks[-1][1]

    def _If(self, node: ast.If, after: Live[str]) -> Live[str]:
        return self._expression(node.test, self.block(node.body, after) | self.block(node.orelse, after))

    def _While(self, node: ast.While, after: Live[str]) -> Live[str]:
        done = self.block(node.orelse, after)
        head = done
        while True:
            self._breaks.append((after, head))
            found = self._expression(node.test, self.block(node.body, head) | done) | self._until(node)
            self._breaks.pop()
            if found <= head:
                break
            head |= found
        self.head[node] = head
        return found

    def _For(self, node: ast.For, after: Live[str]) -> Live[str]:
        done = self.block(node.orelse, after)
        head, target = done, names_in(node.target)
        while True:
            self._breaks.append((after, head))
            found = (self.block(node.body, head) - target.writes) | target.reads | done | self._until(node)
            self._breaks.pop()
            if found <= head:
                break
            head |= found
        self.head[node] = head
        return self._expression(node.iter, head)

    _AsyncFor = _For

    def _until(self, node: ast.stmt) -> Live[str]:
        flag = getattr(node, "until", None)
        return Live([flag]) if flag else Live()

    def _With(self, node: ast.With, after: Live[str]) -> Live[str]:
        live = self.block(node.body, after)
        for item in reversed(node.items):
            target = names_in([item.optional_vars]) if item.optional_vars is not None else names_in([])
            live = self._expression(item.context_expr, (live - target.writes) | target.reads)
        return live

    _AsyncWith = _With

    def _Try(self, node: ast.Try, after: Live[str]) -> Live[str]:
        final = self.block(node.finalbody, after)
        handlers: Live[str] = Live()
        for handler in node.handlers:
            live = self.block(handler.body, final) - ({handler.name} if handler.name else set())
            handlers |= live if handler.type is None else self._expression(handler.type, live)
        done = self.block(node.orelse, final)
        self._raised.append(self._raised[-1] | handlers | final)
        live = self.block(node.body, done)
        self._raised.pop()
        return live | handlers | final

    _TryStar = _Try

    def _Match(self, node: ast.AST, after: Live[str]) -> Live[str]:
        live = after
        for case in node.cases:  # type: ignore[attr-defined]
            inside = self._expression(case.guard, self.block(case.body, after))
            live |= (inside - names_in(case.pattern).writes) | names_in(case.pattern).reads
        return self._expression(node.subject, live)  # type: ignore[attr-defined]

    def _FunctionDef(self, node: ast.FunctionDef, after: Live[str]) -> Live[str]:
        found = names_in(node)
        return (after - {node.name}) | (found.reads - {node.name})

    _AsyncFunctionDef = _FunctionDef


def in_order(node: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names an expression certainly writes (with `:=`), and those it reads before it writes them."""
    if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
        return set(), names_in(node).reads
    written: set[str] = set()
    read: set[str] = set()

    def walk(part: ast.AST, certain: bool) -> None:
        if isinstance(part, ast.NamedExpr):
            walk(part.value, certain)
            if certain:
                written.add(part.target.id)
        elif isinstance(part, ast.BoolOp):
            for i, value in enumerate(part.values):
                walk(value, certain and i == 0)
        elif isinstance(part, ast.IfExp):
            walk(part.test, certain)
            walk(part.body, False)
            walk(part.orelse, False)
        elif isinstance(part, ast.Compare):
            for i, value in enumerate([part.left, *part.comparators]):
                walk(value, certain and i < 2)
        elif isinstance(part, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Name)):
            read.update(names_in(part).reads - written)
        else:
            for child in ast.iter_child_nodes(part):
                walk(child, certain)

    walk(node, True)
    return written, read
