"""What the words of Python 2 meant, put into a tree that Python 3 has parsed.

Division of integers, lists instead of views, methods that have other names now, names that outlive their loop: each
becomes a call of one of `words`' functions, or a statement more, at the line it was written in. Knows trees only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ebbflow.doors.python2.syntax import PRINT, place_of

_ATTRIBUTES = """
    iteritems iterkeys itervalues viewitems viewkeys viewvalues has_key next message func_name func_code func_defaults
    func_globals func_closure func_dict func_doc im_func im_self im_class
"""
OLD_ATTRIBUTES = frozenset(_ATTRIBUTES.split())
"""What objects had under these names, they have under another."""

VIEWS = frozenset(("keys", "values", "items"))
NEW = (
    ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.YieldFrom,
    ast.Nonlocal, ast.NamedExpr, ast.MatMult, *((ast.Match,) if hasattr(ast, "Match") else ()),
)  # fmt: skip
"""Parts of trees that Python 2 had no words for."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def newer(tree: ast.AST) -> ast.AST | None:
    """Return what in a tree Python 2 has no words for, if there is anything."""
    for node in ast.walk(tree):
        if isinstance(node, NEW) or getattr(node, "returns", None) or getattr(node, "annotation", None):
            return node
        if isinstance(node, ast.arguments) and (node.kwonlyargs or node.posonlyargs):
            return node
        if (isinstance(node, ast.Raise) and node.cause) or (isinstance(node, ast.ClassDef) and node.keywords):
            return node
        if isinstance(node, (ast.List, ast.Tuple)) and any(isinstance(one, ast.Starred) for one in node.elts):
            return node
        printing = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == PRINT
        if printing and (node.keywords or any(isinstance(one, ast.Starred) for one in node.args)):  # type: ignore[attr-defined]
            return node
    return None


def features_of(tree: ast.Module) -> frozenset[str]:
    """Return what a file imports from `__future__`."""
    found = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    return frozenset(alias.name for node in found for alias in node.names)


class GlobalsFirst(ast.NodeTransformer):
    """Says `global` where a function begins: Python 2 took it anywhere, and at the top of a module as well."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def visit_Global(self, node: ast.Global) -> Any:
        self._names += node.names
        return ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        outside, self._names = self._names, []
        self.generic_visit(node)
        if self._names:
            said = ast.Global(names=sorted(set(self._names)))
            node.body.insert(_after_text(node.body), ast.copy_location(said, node.body[0]))
        self._names = outside
        return node


def _after_text(body: list[ast.stmt]) -> int:
    """Return the place behind a docstring."""
    first = body[0]
    return int(
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what lies in a scope, and not in the scopes inside it."""
    waiting: list[ast.AST] = [scope]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            yield child
            if not isinstance(child, SCOPES):
                waiting.append(child)


class Meaning(ast.NodeTransformer):
    """Gives a tree of a Python 2 file its meaning. With `whole` false, only attributes that are gone are looked up."""

    def __init__(self, features: Iterable[str] = (), whole: bool = True) -> None:
        self.divides = whole and "division" not in features
        self.whole = whole
        self._number = 0
        self._inside = 0  # functions around what is visited

    def of(self, tree: ast.Module) -> ast.Module:
        """Return the tree with its meaning."""
        if self.whole:
            for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, SCOPES))]:
                self._outlive(scope)
        return ast.fix_missing_locations(self.visit(tree))

    # names that outlive their loop or their handler

    def _outlive(self, scope: ast.AST) -> None:
        """Have names live on that Python 2 kept: of list comprehensions, and of exceptions that were caught."""
        nodes = list(_own_nodes(scope))
        sources = {id(n) for node in nodes if isinstance(node, ast.comprehension) for n in ast.walk(node.iter)}
        lists = [node for node in nodes if isinstance(node, ast.ListComp) and id(node) not in sources]
        handlers = [node for node in nodes if isinstance(node, ast.ExceptHandler) and node.name]
        if not lists and not handlers:
            return
        for node in lists if not isinstance(scope, (ast.ClassDef, ast.Lambda)) else ():
            names = {name.id for one in node.generators for name in ast.walk(one.target) if isinstance(name, ast.Name)}
            outside = set(_read_outside(scope, node)) & names
            if outside:
                self._keep_names(node, names)
        for handler in handlers:
            assert handler.name is not None
            if place_of(handler.name) is None and handler.name in set(_read_outside(scope, handler)):
                self._number += 1
                kept = ast.parse(f"{handler.name} = __py2_caught_{self._number}__").body
                handler.name = f"__py2_caught_{self._number}__"
                handler.body[:0] = [_at(one, handler) for one in kept]

    def _keep_names(self, node: ast.ListComp, names: set[str]) -> None:
        for one in node.generators:
            own = [name for name in ast.walk(one.target) if isinstance(name, ast.Name)]
            binds: list[ast.expr] = []
            for name in own:
                value = ast.Name(id=f"__py2_each_{name.id}__", ctx=ast.Load())
                binds.append(ast.NamedExpr(target=ast.Name(id=name.id, ctx=ast.Store()), value=value))
                name.id = f"__py2_each_{name.id}__"
            one.ifs.insert(0, _at(ast.Tuple(elts=binds, ctx=ast.Load()), node))

    # statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1
        for argument in reversed(node.args.args):
            place = place_of(argument.arg)
            if place is not None:
                taken = ast.parse(f"{place} = {argument.arg}").body[0]
                node.body.insert(_after_text(node.body), _at(taken, node.body[0]))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.generic_visit(node)
        for argument in reversed(node.args.args):
            place = place_of(argument.arg)
            if place is not None:
                target = ast.parse(f"{place} = 0").body[0].targets[0]  # type: ignore[attr-defined]
                node.body = _at(_with_target(target, argument.arg, node.body), node.body)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        place = place_of(node.name or "")
        if place is not None:
            taken = f"{node.name}.args" if place[0] in "([" else node.name
            node.body.insert(0, _at(ast.parse(f"{place} = {taken}").body[0], node))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.generic_visit(node)
        if not self.whole:
            return node
        node.decorator_list.append(_at(ast.Name(id="__py2_class__", ctx=ast.Load()), node))
        for statement in node.body:
            if isinstance(statement, ast.Assign) and any(_is_name(t, "__metaclass__") for t in statement.targets):
                node.keywords.append(ast.keyword(arg="metaclass", value=statement.value))
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if self.whole and node.names[0].name == "*" and self._inside:
            words = [ast.Constant(node.module or ""), ast.Constant(node.level)]
            return _at(ast.Expr(_call("__py2_import_all__", _call("globals"), *words)), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not self.divides or not isinstance(node.op, ast.Div) or _is_float(node.value):
            return node
        before, target = _read_and_written(node.target)
        value = _at(_call("__py2_divide_in_place__", before, node.value), node)
        return _at(ast.Assign(targets=[target], value=value), node)

    # expressions

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and not self.whole:
            node.left, node.right = _as_list(node.left), _as_list(node.right)
        if not isinstance(node.op, ast.Div) or _is_float(node.left) or _is_float(node.right):
            return node
        if not self.divides and self.whole:
            return node
        return _at(_call("__py2_divide__" if self.whole else "__py2_try_to_divide__", node.left, node.right), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not self.whole and isinstance(node.ctx, ast.Load):
            node.value = _as_list(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr in OLD_ATTRIBUTES and isinstance(node.ctx, ast.Load):
            return _at(_call("__py2_attribute__", node.value, ast.Constant(node.attr)), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        method = node.func
        if not self.whole or not isinstance(method, ast.Attribute):
            return node
        if _as_list(node) is not node:
            return _as_list(node)
        given = len(node.args) + len(node.keywords)
        if (method.attr == "sort" and given) or method.attr in ("encode", "decode"):
            node.args.insert(0, method.value)
            node.func = _at(ast.Name(id=f"__py2_{method.attr}__", ctx=ast.Load()), method)
        elif method.attr == "translate" and given == 2:
            node.args.insert(0, method.value)
            node.func = _at(ast.Name(id="__py2_translate__", ctx=ast.Load()), method)
        return node


def _as_list(node: ast.expr) -> ast.expr:
    """Return `d.keys()` and its like as a list; where it is added to or has an index, nothing else can be meant."""
    method = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    if not isinstance(method, ast.Attribute) or method.attr not in VIEWS:
        return node
    return _at(_call("__py2_listed__", node), node)


def _with_target(target: ast.expr, name: str, body: ast.expr) -> ast.expr:
    """Return an expression in which a parameter's parts have their names: `(lambda a, b: body)(*name)`."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        parts, given = [target], ast.Name(id=name, ctx=ast.Load())
        starred: ast.expr = given
    else:
        parts, starred = target.elts, ast.Starred(value=ast.Name(id=name, ctx=ast.Load()), ctx=ast.Load())
    arguments = []
    for number, part in enumerate(parts):
        if isinstance(part, ast.Name):
            arguments.append(part.id)
        else:
            arguments.append(f"{name}{number}")
            body = _with_target(part, f"{name}{number}", body)
    made = ast.parse(f"lambda {', '.join(arguments)}: 0", mode="eval").body
    assert isinstance(made, ast.Lambda)
    made.body = body
    return ast.Call(func=made, args=[starred], keywords=[])


def _read_outside(scope: ast.AST, inside: ast.AST) -> Iterator[str]:
    """Yield the names of a scope that are read in it (and in the functions in it), but not in one part of it."""
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(child, frozenset()) for child in ast.iter_child_nodes(scope)]
    while waiting:
        node, hidden = waiting.pop()
        if node is inside:
            if isinstance(inside, ast.ListComp):
                waiting.append((inside.generators[0].iter, hidden))
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in hidden:
            yield node.id
        if isinstance(node, (*COMPREHENSIONS, *_FUNCTIONS, ast.Lambda)):
            hidden |= _bound(node)
        waiting += [(child, hidden) for child in ast.iter_child_nodes(node)]


def _bound(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function or a comprehension has for itself."""
    if isinstance(scope, COMPREHENSIONS):
        targets = [name for one in scope.generators for name in ast.walk(one.target)]
        return frozenset(name.id for name in targets if isinstance(name, ast.Name))
    found = {node.id for node in _own_nodes(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(found | {node.arg for node in ast.walk(scope.args) if isinstance(node, ast.arg)})  # type: ignore[attr-defined]


def _read_and_written(target: ast.expr) -> tuple[ast.expr, ast.expr]:
    """Return a target of `/=` as it is read, which comes first, and as it is written: its parts are found once."""
    if isinstance(target, ast.Name):
        return _at(ast.Name(id=target.id, ctx=ast.Load()), target), target
    if isinstance(target, ast.Attribute):
        taken, again = _once(target.value, "owner")
        read: ast.expr = ast.Attribute(value=taken, attr=target.attr, ctx=ast.Load())
        return _at(read, target), _at(ast.Attribute(value=again, attr=target.attr, ctx=ast.Store()), target)
    assert isinstance(target, ast.Subscript)
    taken, again = _once(target.value, "owner")
    where, there = (target.slice, target.slice) if _is_slice(target.slice) else _once(target.slice, "index")
    read = ast.Subscript(value=taken, slice=where, ctx=ast.Load())
    return _at(read, target), _at(ast.Subscript(value=again, slice=there, ctx=ast.Store()), target)


def _is_slice(node: ast.expr) -> bool:
    return isinstance(node, (ast.Slice, ast.Constant)) or any(isinstance(one, ast.Slice) for one in ast.walk(node))


def _once(value: ast.expr, name: str) -> tuple[ast.expr, ast.expr]:
    """Return an expression that keeps its value under a name, and that name."""
    if isinstance(value, ast.Name):
        return value, value
    kept = f"__py2_{name}__"
    bound = ast.NamedExpr(target=ast.Name(id=kept, ctx=ast.Store()), value=value)
    return _at(bound, value), _at(ast.Name(id=kept, ctx=ast.Load()), value)


def _is_float(node: ast.expr) -> bool:
    """Return whether an operand is a float, whatever happens: then `/` is what it is today."""
    if isinstance(node, ast.UnaryOp):
        return _is_float(node.operand)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (float, complex))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])


def _at(node: Any, place: ast.AST) -> Any:
    """Return a node that stands, with what in it stands nowhere, where another one does."""
    for one in ast.walk(node):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, place)
    return node
