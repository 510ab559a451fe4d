"""Which variables surely have a value: before each statement, and wherever they are read.

The usual forward walk over the structured syntax tree. A variable that surely has a value at all its reads is *safe*:
where two paths meet and it has a value on one only, nobody will look at it before it is set again, so anything may
stand in for it. Knows nothing of tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ebbflow.functions.autograph.liveness import in_order
from ebbflow.functions.autograph.names import names_in

Known = frozenset
NOWHERE: Known[str] | None = None
"""The state where control never comes: everything is known there."""


class Assigned:
    """The variables that surely have a value, in one function.

    >>> tree = ast.parse("if x: y = 1\\nprint(y)\\nz = 2\\nprint(z)").body
    >>> sorted(Assigned(tree, ["x", "print"]).unsafe)
    ['y']
    """

    def __init__(self, body: Sequence[ast.stmt], given: Iterable[str]):
        self.unsafe: set[str] = set()
        self.before: dict[ast.stmt, Known[str]] = {}
        self.after: dict[ast.stmt, Known[str]] = {}  # of an `if`: what both sides leave with a value
        self._jumps: list[dict[str, list[Known[str] | None]]] = []
        self._block(body, Known(given))

    def _block(self, statements: Sequence[ast.stmt], known: Known[str] | None) -> Known[str] | None:
        for statement in statements:
            if known is None:
                break
            kept = self.before.get(statement)
            self.before[statement] = known if kept is None else kept & known
            method = getattr(self, f"_{type(statement).__name__}", self._simple)
            known = method(statement, known)
        return known

    def _read(self, names: Iterable[str], known: Known[str]) -> None:
        self.unsafe |= set(names) - known

    def _expression(self, node: ast.expr | None, known: Known[str]) -> Known[str]:
        if node is None:
            return known
        written, read = in_order(node)
        self._read(read, known)
        return known | written

    def _simple(self, node: ast.stmt, known: Known[str]) -> Known[str]:
        found = names_in(node)
        self._read(found.reads, known)
        return known | found.writes

    def _Expr(self, node: ast.Expr, known: Known[str]) -> Known[str]:
        return self._expression(node.value, known)

    def _Assign(self, node: ast.Assign, known: Known[str]) -> Known[str]:
        known = self._expression(node.value, known)
        targets = names_in(node.targets)
        self._read(targets.reads, known)
        return known | targets.writes

    def _AnnAssign(self, node: ast.AnnAssign, known: Known[str]) -> Known[str]:
        return known if node.value is None else self._simple(node, known)

    def _Delete(self, node: ast.Delete, known: Known[str]) -> Known[str]:
        return known - names_in(node).writes

    def _FunctionDef(self, node: ast.FunctionDef, known: Known[str]) -> Known[str]:
        self._read(names_in(node).reads, known | {node.name})
        return known | {node.name}

    _AsyncFunctionDef = _FunctionDef

    # --- ways that part and meet --------------------------------------------------------------------------------------

    def _Return(self, node: ast.Return, known: Known[str]) -> Known[str] | None:
        self._expression(node.value, known)
        return NOWHERE

    def _Raise(self, node: ast.Raise, known: Known[str]) -> Known[str] | None:
        self._read(names_in(node).reads, known)
        return NOWHERE

    def _Break(self, node: ast.Break, known: Known[str]) -> Known[str] | None:
        self._jumps[-1]["break"].append(known)
        return NOWHERE

    def _Continue(self, node: ast.Continue, known: Known[str]) -> Known[str] | None:
        return NOWHERE

    def _If(self, node: ast.If, known: Known[str]) -> Known[str] | None:
        known = self._expression(node.test, known)
        met = _meet(self._block(node.body, known), self._block(node.orelse, known))
        self.after[node] = known if met is None else met
        return met

    def _While(self, node: ast.While, known: Known[str]) -> Known[str] | None:
        known = known - _deleted(node.body)
        tested = self._expression(node.test, known)
        self._jumps.append({"break": []})
        self._block(node.body, tested)
        left = self._jumps.pop()["break"]
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value) and not hasattr(node, "until")
        return _meet(NOWHERE if endless else self._block(node.orelse, tested), *left)

    def _For(self, node: ast.For, known: Known[str]) -> Known[str] | None:
        known = self._expression(node.iter, known) - _deleted(node.body)
        target = names_in(node.target)
        self._read(target.reads, known)
        self._jumps.append({"break": []})
        self._block(node.body, known | target.writes)
        left = self._jumps.pop()["break"]
        return _meet(self._block(node.orelse, known), *left)

    def _With(self, node: ast.With, known: Known[str]) -> Known[str] | None:
        for item in node.items:
            known = self._expression(item.context_expr, known)
            if item.optional_vars is not None:
                known = known | names_in(item.optional_vars).writes
        return self._block(node.body, known)

    def _Try(self, node: ast.Try, known: Known[str]) -> Known[str] | None:
        done = self._block(node.body, known)
        done = done if done is None else self._block(node.orelse, done)
        for handler in node.handlers:
            named = {handler.name} if handler.name else set()
            caught = self._block(handler.body, self._expression(handler.type, known) | named)
            done = _meet(done, caught if caught is None else caught - named)
        if not node.finalbody:
            return done
        after = self._block(node.finalbody, known)
        return NOWHERE if done is None or after is None else done | after

    _TryStar = _Try

    def _Match(self, node: ast.AST, known: Known[str]) -> Known[str] | None:
        known = self._expression(node.subject, known)  # type: ignore[attr-defined]
        ends = []
        for case in node.cases:  # type: ignore[attr-defined]
            inside = known | names_in(case.pattern).writes
            ends.append(self._block(case.body, self._expression(case.guard, inside)))
        last = node.cases[-1]  # type: ignore[attr-defined]
        complete = last.guard is None and getattr(last.pattern, "pattern", last.pattern) is None
        return _meet(*ends, *([] if complete else [known]))


def _meet(*ways: Known[str] | None) -> Known[str] | None:
    """Return what is surely known where several ways meet."""
    met = NOWHERE
    for way in ways:
        if way is not NOWHERE:
            met = way if met is None else met & way  # type: ignore[operator]
    return met


def _deleted(body: Sequence[ast.stmt]) -> set[str]:
    return {
        name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Delete)
        for name in names_in(node).writes
    }
