"""Expressions rewritten: calls, `and`, `or`, `not`, chained comparisons, `a if c else b`, the built-in functions.

    g(x)             ag.convert(g)(x)                 left as it is where g is known to be a library's
    a and b          ag.and_(a, lambda: b)
    a < b < c        ag.and_(a < b, lambda: b < c)
    x if c else y    ag.if_exp(c, lambda: x, lambda: y)
    len(x)           ag.len(x)

What is certainly no tensor stays Python, and so does what a `lambda` cannot hold (`:=` behind `and`). Works on syntax
trees; what `ag` does is written in `operators`.
"""

from __future__ import annotations

import ast
from typing import Any

from ebbflow.functions.autograph.certain import World, needs_no_conversion, never_a_tensor
from ebbflow.functions.autograph.names import names_in
from ebbflow.functions.autograph.places import placed

OVERLOADED = frozenset(
    """
    all any bool enumerate filter float int len map max min print range round sorted sum zip
    """.split()  # noqa: SIM905
)
"""Built-in functions that `ag` has a version of for tensors (`python_functions`)."""
SIMPLE = (ast.Name, ast.Constant)


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function; nested functions are for the rewriter of statements."""

    def __init__(self, ag: str, world: World, local: set[str], first_argument: str | None, fresh: Any, functions: Any):
        self.ag = ag
        self.world = world
        self.local = local
        self.first_argument = first_argument
        self.fresh = fresh
        self.rewrite_function = functions

    def operator(self, name: str, *args: ast.expr, like: Any, **keywords: ast.expr) -> ast.Call:
        """Return a call of an operator, standing where `like` stood."""
        function = ast.Attribute(ast.Name(self.ag, ast.Load()), name, ast.Load())
        given = [ast.keyword(key, value) for key, value in keywords.items()]
        return placed(ast.Call(function, list(args), given), like)

    def plain(self, node: ast.expr) -> bool:
        """Return whether an expression is certainly no tensor."""
        return never_a_tensor(node, self.world, self.local)

    # --- calls --------------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "super" and not node.args and self.first_argument and self.world.is_builtin(name, self.local):
                named = [ast.Name("__class__", ast.Load()), ast.Name(self.first_argument, ast.Load())]
                return placed(ast.Call(node.func, named, []), node)  # type: ignore[arg-type]
            if name in OVERLOADED and self.world.is_builtin(name, self.local):
                self.generic_visit(node)
                node.func = placed(ast.Attribute(ast.Name(self.ag, ast.Load()), name, ast.Load()), node.func)
                return node
            if self.world.is_builtin(
                name, self.local
            ):  # `locals`, `eval` and the like see the frame they are called in
                self.generic_visit(node)
                return node
        leave = needs_no_conversion(node.func, self.world, self.local)
        self.generic_visit(node)
        if not leave:
            node.func = self.operator("convert", node.func, like=node.func)
        return node

    # --- logic --------------------------------------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if all(self.plain(value) for value in node.values) or _binds(node.values[1:]):
            return self._visited(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        values = [self.visit(value) for value in node.values]
        return self.operator(name, values[0], *[_later(value) for value in values[1:]], like=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if not isinstance(node.op, ast.Not) or self.plain(node.operand):
            return self._visited(node)
        return self.operator("not_", self.visit(node.operand), like=node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 or self.plain(node) or _binds(node.comparators[1:]):
            return self._visited(node)
        operands = [self.visit(value) for value in [node.left, *node.comparators]]
        links: list[ast.expr] = []
        left = operands[0]
        for i, (op, right) in enumerate(zip(node.ops, operands[1:], strict=True)):
            last, again = i == len(node.ops) - 1, right
            if not last and not isinstance(right, SIMPLE):  # read twice, but computed once
                name = self.fresh("middle")
                again = ast.Name(name, ast.Load())
                right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
            links.append(placed(ast.Compare(left, [op], [right]), node))
            left = again
        if any(isinstance(n, ast.NamedExpr) for link in links[1:] for n in ast.walk(link)):
            return self._nested_chain(links, node)
        return self.operator("and_", links[0], *[_later(link) for link in links[1:]], like=node)

    def _nested_chain(self, links: list[ast.expr], like: ast.AST) -> ast.expr:
        """Put each comparison inside the one before, so that a value named there is seen by those after it."""
        chain = links[-1]
        for link in reversed(links[:-1]):
            chain = self.operator("and_", link, _later(chain), like=like)
        return chain

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.plain(node.test) or _binds([node.body, node.orelse]):
            return self._visited(node)
        test, body, orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return self.operator("if_exp", test, _later(body), _later(orelse), like=node)

    # --- scopes inside ------------------------------------------------------------------------------------------------

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return self.rewrite_function(node)

    def _comprehension(self, node: Any) -> ast.expr:
        bound = {name for generator in node.generators for name in names_in(generator.target).writes}
        outer, self.local = self.local, self.local | bound
        self.generic_visit(node)
        self.local = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def _visited(self, node: Any) -> ast.expr:
        return self.generic_visit(node)  # type: ignore[return-value]


def first_argument(arguments: ast.arguments) -> str | None:
    """Return the name of a function's first argument, which `super()` takes to be the object."""
    named = [*arguments.posonlyargs, *arguments.args]
    return named[0].arg if named else None


def _later(value: ast.expr) -> ast.Lambda:
    return placed(ast.Lambda(NO_ARGUMENTS, value), value)


NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _binds(values: list[ast.expr]) -> bool:
    """Return whether some value has a `:=`, whose name a `lambda` would keep to itself, or waits for something."""
    kinds = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(n, kinds) for value in values for n in ast.walk(value))
