"""Statements rewritten: branches and loops become functions of their own, handed to the operators of `ag`.

    if x > 0:                    def if_body():
        y = x                        nonlocal y
    else:                            y = x
        y = -x
                                 def else_body():
                                     nonlocal y
                                     y = -x
                                 y: ...
                                 ag.if_stmt(x > 0, if_body, else_body, changes='y')

The functions share their variables with the function around them, as Python's closures do: run in Python they do what
the statement did, and `ag` reaches the same variables by their cells when it has to run both branches, or the body with
stand-ins. `changes` are the variables that are needed afterwards (and, of a loop, from one iteration to the next),
`maybe` those that only nested functions could still need, `mutates` those whose lists and dictionaries change in place
(`drops` where nobody needs them afterwards, `notes` where they come from outside), and `fill` those that may have no
value on some path, on which nobody looks. A name set in such functions alone is declared with `y: ...`.

Works on syntax trees. Every new node has the place of the user's statement it stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.functions.autograph.assigned import Assigned
from ebbflow.functions.autograph.certain import World, never_a_tensor, plain_iteration
from ebbflow.functions.autograph.expressions import NO_ARGUMENTS, Expressions, first_argument
from ebbflow.functions.autograph.jumps import Jumps
from ebbflow.functions.autograph.liveness import Liveness
from ebbflow.functions.autograph.names import FUNCTIONS, LOOPS, Names, names_in, own_nodes, parameters
from ebbflow.functions.autograph.places import head_of, placed

GENERATED = ("if_body", "else_body", "loop_test", "loop_body")
STEPS = (ast.Yield, ast.YieldFrom, ast.Await)


def rewrite(function: Any, world: World) -> Naming:
    """Rewrite a function (or lambda) in place; return the names that were chosen for what is new in it."""
    naming = Naming(function)
    Function(function, naming, world, set()).rewrite()
    return naming


def is_stepwise(function: ast.AST) -> bool:
    """Return whether a function is a generator or a coroutine, which stay as they are."""
    if isinstance(function, ast.AsyncFunctionDef):
        return True
    body = function.body if isinstance(function.body, list) else [function.body]  # type: ignore[attr-defined]
    return any(isinstance(node, STEPS) for node in own_nodes(body))


class Naming:
    """Names for new things, none of which the function uses already."""

    def __init__(self, function: ast.AST):
        self.used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        self.used |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
        self.used |= {n.name for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self._standing: dict[str, str] = {}
        self.ag = self.standing("ag")

    def fresh(self, wish: str) -> str:
        """Return a name that was not there before."""
        name, number = wish, 1
        while name in self.used:
            name, number = f"{wish}_{number}", number + 1
        self.used.add(name)
        return name

    def standing(self, wish: str) -> str:
        """Return the function's one name for a thing that is used where it is made."""
        if wish not in self._standing:
            self._standing[wish] = self.fresh(wish)
        return self._standing[wish]

    def generated(self) -> set[str]:
        """Return the names of the functions that statements became."""
        return {self._standing[name] for name in GENERATED if name in self._standing}


class Scope:
    """A function of the result: the user's own, or one that a statement became."""

    def __init__(self, parameters: Iterable[str] = (), outer: Iterable[str] = ()):
        self.parameters = set(parameters)
        self.outer = set(outer)  # what is declared nonlocal or global here
        self.needed: dict[str, ast.stmt] = {}  # what functions inside declare nonlocal, and the statement they stand at

    def finish(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body with a declaration of every name that only functions inside it set."""
        bound = names_in(body).writes | self.parameters | self.outer
        for name, statement in self.needed.items():
            if name not in bound:
                target = ast.Name(name, ast.Store())
                declaration = placed(ast.AnnAssign(target, ast.Constant(...), None, 1), statement)
                body.insert(body.index(statement) if statement in body else 0, declaration)
        return body


class Function:
    """One function being rewritten."""

    def __init__(self, node: Any, naming: Naming, world: World, around: set[str]):
        self.node, self.naming, self.world = node, naming, world
        body = node.body if isinstance(node.body, list) else [node.body]
        found = names_in(body)
        self.globals = {n for s in own_nodes(body) if isinstance(s, ast.Global) for n in s.names}
        self.nonlocals = {n for s in own_nodes(body) if isinstance(s, ast.Nonlocal) for n in s.names}
        self.parameters = parameters(node.args)
        self.own = (self.parameters | found.writes) - self.globals - self.nonlocals
        self.captured = found.captured
        self.remote = found.remote & (self.own | self.nonlocals)
        self.local = around | self.own | self.nonlocals
        first = first_argument(node.args)
        self.expressions = Expressions(naming.ag, world, self.local, first, naming.fresh, self.nested)
        self.live: Any = None
        self.assigned: Any = None
        self.safe: set[str] = set()  # variables that surely have a value wherever they are read

    def rewrite(self) -> Any:
        """Rewrite the function in place and return it."""
        node = self.node
        if isinstance(node, ast.Lambda):
            node.body = self.expressions.visit(node.body)
            return node
        jumps = Jumps(self.becomes_function, self.naming.fresh)
        declared = [s for s in own_nodes(node.body) if isinstance(s, (ast.Global, ast.Nonlocal))]
        for loop in [s for s in own_nodes(node.body) if isinstance(s, ast.While) and self.becomes_function(s)]:
            _test_inside(loop)
        body = _without_declarations(node.body) or [placed(ast.Pass(), node)]
        unsafe = Assigned(body, self.parameters).unsafe
        body = jumps.lower(body)
        self.safe = (self.own - unsafe) | {jumps.result}
        self.assigned = Assigned(body, self.parameters)
        self.live = Liveness(body, at_exit=self.nonlocals | self.globals)
        scope = Scope(self.parameters, self.nonlocals | self.globals)
        node.body = [*declared, *scope.finish(self.block(body, scope))]
        return node

    def becomes_function(self, node: ast.stmt) -> bool:
        """Return whether a statement may depend on tensors, so that its parts must be functions."""
        if isinstance(node, ast.If):
            return not self._plain(node.test)
        if isinstance(node, ast.While):
            return hasattr(node, "until") or not self._plain(node.test)
        if isinstance(node, ast.For):
            return hasattr(node, "until") or not plain_iteration(node.iter, self.world, self.local)
        return False

    def _plain(self, test: ast.expr) -> bool:
        return never_a_tensor(test, self.world, self.local)

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt], scope: Scope) -> list[ast.stmt]:
        """Return statements rewritten."""
        done: list[ast.stmt] = []
        for statement in statements:
            done += self.statement(statement, scope)
        return done

    def statement(self, node: Any, scope: Scope) -> list[ast.stmt]:
        """Return what one statement becomes."""
        if isinstance(node, ast.If) and self.becomes_function(node):
            return self._if(node, scope)
        if isinstance(node, LOOPS) and self.becomes_function(node):
            return self._loop(node, scope)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.decorator_list = [self.expressions.visit(d) for d in node.decorator_list]
            return [self.nested(node)]
        if isinstance(node, ast.ClassDef):
            return [node]
        if isinstance(node, ast.Assert) and not self._plain(node.test):
            return [self._assert(node)]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in scope.outer:
            if node.value is None:
                return [placed(ast.Pass(), node)]
            node = placed(ast.Assign([node.target], node.value), node)
        return [self._parts(node, scope)]

    def _parts(self, node: Any, scope: Scope) -> Any:
        """Rewrite the expressions of a statement that stays, and the statements inside it."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.expressions.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value, scope))
            elif isinstance(value, list):
                parts = [self.expressions.visit(v) if isinstance(v, ast.expr) else self._part(v, scope) for v in value]
                setattr(node, name, parts)
        return node

    def _part(self, node: Any, scope: Scope) -> Any:
        """Rewrite an item of `with`, a handler, a case: the pattern of a case stays."""
        whole = isinstance(node, (ast.withitem, ast.ExceptHandler)) or type(node).__name__ == "match_case"
        return self._parts(node, scope) if whole else node

    def nested(self, node: Any) -> Any:
        """Rewrite a function inside this one; generators and coroutines stay as they are."""
        arguments = node.args
        arguments.defaults = [self.expressions.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.expressions.visit(d) for d in arguments.kw_defaults]
        if is_stepwise(node):
            return node
        return Function(node, self.naming, self.world, self.local).rewrite()

    def _assert(self, node: ast.Assert) -> ast.stmt:
        message = [] if node.msg is None else [_lambda(self.expressions.visit(node.msg))]
        call = self.expressions.operator("assert_", self.expressions.visit(node.test), *message, like=node)
        return placed(ast.Expr(call), node)

    # --- if -----------------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, scope: Scope) -> list[ast.stmt]:
        returns = getattr(node, "returns", False)
        after = self.nonlocals | self.globals if returns else self.live.after[node]
        head, parts = head_of(node), [names_in(node.body), names_in(node.orelse)]
        shared = Shared(self, node, parts, after)
        defined: list[ast.stmt] = []
        handed: list[ast.expr] = []
        for wish, block, found in zip(GENERATED, (node.body, node.orelse), parts, strict=False):
            if not block:
                continue
            seen = shared.names | self.live.before[block[0]]
            defined.append(self._body(wish, block, self._rebound(found) & seen, scope, head))
            handed.append(ast.Name(self.naming.standing(wish), ast.Load()))
        call = self.expressions.operator(
            "if_stmt", self.expressions.visit(node.test), *handed, like=head, **shared.keywords()
        )
        return [*defined, placed(ast.Return(call) if returns else ast.Expr(call), head)]

    # --- loops --------------------------------------------------------------------------------------------------------

    def _loop(self, node: Any, scope: Scope) -> list[ast.stmt]:
        options = _take_options(node.body) or []
        body = node.body or [placed(ast.Pass(), node)]
        place, head = head_of(node), names_in(node.test if isinstance(node, ast.While) else node.target)
        parts = [head, names_in(body)]
        live = self.live.head[node] | self.live.after[node]
        shared = Shared(self, node, parts, live)
        until = {} if not hasattr(node, "until") else {"until": ast.Constant(node.until)}
        if options:
            until["options"] = _lambda(self._options(options[0]))  # type: ignore[assignment]
        rebound = (self._rebound(parts[1]) | (head.writes if isinstance(node, ast.For) else set())) & shared.names
        first: list[Any] = []
        arguments = NO_ARGUMENTS
        if isinstance(node, ast.For):
            arguments, first = self._item(node, rebound)
        inside = self._body("loop_body", [*first, *body], rebound, scope, place, arguments)
        name = ast.Name(self.naming.standing("loop_body"), ast.Load())
        if isinstance(node, ast.For):
            operator, defined = "for_stmt", [inside]
            handed = [self.expressions.visit(node.iter), name]
        else:
            test = [placed(ast.Return(node.test), node.test)]
            defined = [self._body("loop_test", test, self._rebound(head) & shared.names, scope, place), inside]
            operator, handed = "while_stmt", [ast.Name(self.naming.standing("loop_test"), ast.Load()), name]
        call = self.expressions.operator(operator, *handed, like=place, **shared.keywords(), **until)
        return [*defined, placed(ast.Expr(call), place)]

    def _item(self, node: ast.For, rebound: set[str]) -> tuple[ast.arguments, list[ast.stmt]]:
        """Return the parameters of a loop's body, and the statement that gives the target its value where needed."""
        simple = isinstance(node.target, ast.Name) and node.target.id not in rebound | self.globals
        name = node.target.id if simple else self.naming.standing("item")  # type: ignore[attr-defined]
        arguments = ast.arguments([], [placed(ast.arg(name), node.target)], None, [], [], None, [])
        if simple:
            return arguments, []
        given = placed(ast.Name(name, ast.Load()), node.target)
        return arguments, [placed(ast.Assign([node.target], given), node.target)]

    def _options(self, call: ast.Call) -> ast.expr:
        self.expressions.generic_visit(call)
        call.func = placed(ast.Attribute(ast.Name(self.naming.ag, ast.Load()), "loop_options", ast.Load()), call.func)
        return call

    # --- functions made of blocks -------------------------------------------------------------------------------------

    def _rebound(self, found: Names) -> set[str]:
        return found.writes | (self.remote if found.calls else set())

    def _body(
        self, wish: str, block: Sequence[Any], rebound: set[str], scope: Scope, like: ast.stmt, arguments: Any = None
    ) -> ast.stmt:
        """Return the function that a block becomes; `rebound` are the variables it shares with those around it."""
        arguments = NO_ARGUMENTS if arguments is None else arguments
        shared, outer = sorted(rebound - self.globals), sorted(self.globals & names_in(block).writes)
        inside = Scope(parameters(arguments), {*shared, *outer})
        statements = inside.finish(self.block(block, inside))
        if outer:
            statements.insert(0, placed(ast.Global(outer), like))
        if shared:
            statements.insert(0, placed(ast.Nonlocal(shared), like))
        function = ast.FunctionDef(self.naming.standing(wish), arguments, statements, [], None, None)
        function.type_params = []  # type: ignore[attr-defined]
        for name in shared:
            scope.needed.setdefault(name, function)
        return placed(function, like)


class Shared:
    """The variables that a statement's functions share with the function around them."""

    def __init__(self, function: Function, node: ast.stmt, parts: Sequence[Names], live: Any):
        rebound = set().union(*[function._rebound(part) for part in parts])
        own, myself = function.own, function.expressions.first_argument
        known = function.assigned.after if isinstance(node, ast.If) else function.assigned.before
        self.fill = (rebound & live & function.safe) - known.get(node, set())
        self.changes = (rebound & live) - self.fill
        self.maybe = (rebound & function.captured) - live
        self.names = self.changes | self.maybe | self.fill
        self.paths = {p for part in parts for p in part.paths if _base(p) not in rebound}
        changed = {p for part in parts for p in part.changed if _base(p) not in rebound and p != myself}
        mine = {p for p in changed if p in own and p not in function.parameters}
        self.mutates = mine & (live | function.captured)
        self.drops = mine - self.mutates
        self.notes = changed - mine

    def keywords(self) -> dict[str, ast.expr]:
        """Return what the operator is told."""
        given = {
            "changes": [*sorted(self.changes), *sorted(self.paths)],
            "maybe": sorted(self.maybe),
            "mutates": sorted(self.mutates),
            "drops": sorted(self.drops),
            "notes": sorted(self.notes),
            "fill": sorted(self.fill),
        }
        return {key: ast.Constant(", ".join(names)) for key, names in given.items() if names}


def _base(path: str) -> str:
    return path.partition(".")[0]


def _lambda(value: ast.expr) -> ast.Lambda:
    return placed(ast.Lambda(NO_ARGUMENTS, value), value)


def _without_declarations(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without `global` and `nonlocal`, which hold for the whole function wherever they stand."""
    kept: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            continue
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for node in [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
                for name, value in ast.iter_fields(node):
                    if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                        inside = _without_declarations(value)
                        setattr(node, name, inside or [placed(ast.Pass(), value[0])])
        kept.append(statement)
    return kept


def _test_inside(loop: ast.While) -> None:
    """Test inside the body of a loop whose test sets variables: they keep what the last test gave them."""
    if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(loop.test)):
        return
    stop = ast.If(ast.UnaryOp(ast.Not(), loop.test), [*loop.orelse, ast.Break()], [])
    loop.body.insert(0, placed(stop, loop.test))
    loop.test, loop.orelse = placed(ast.Constant(True), loop.test), []


def _take_options(body: list[ast.stmt]) -> list[ast.Call]:
    """Take calls of `set_loop_options` out of a loop's body, and return them."""
    found = []
    for statement in list(body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", None))
            if name == "set_loop_options":
                found.append(call)
                body.remove(statement)
    return found
