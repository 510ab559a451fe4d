"""`return`, `break` and `continue` out of statements that become functions of their own.

A branch or loop body that may run inside a graph is turned into a function, and a jump cannot leave a function. So,
before that, jumps are taken out of such statements, by two means:

* what follows an `if` that jumps on one side moves into its other side, where both sides then end the same way
  (`if a: return x` followed by `return y` is an `if` whose two sides return);
* where that is not enough, the jump sets a flag (`do_return`, `do_break`, `do_continue`) and what must then be skipped
  stands behind `if not flag`. A loop with such a flag ends by it (`until`).

Statements that surely stay Python keep their jumps. Works on syntax trees; says of the `if`s both of whose sides return
that they do (`returns`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ebbflow.functions.autograph.names import FUNCTIONS, LOOPS
from ebbflow.functions.autograph.places import placed

JUMPS = (ast.Return, ast.Break, ast.Continue)


@dataclass(eq=False)
class Flag:
    """A variable that says that a jump was made."""

    name: str
    sets: list[ast.Assign] = field(default_factory=list)
    read: bool = False


@dataclass(frozen=True)
class Place:
    """Where a statement stands: how jumps are made from there."""

    flagged: bool = False  # `return` sets flags; else it is Python's
    stops: Flag | None = None  # `break` sets this flag; else it is Python's
    skips: Flag | None = None  # `continue` sets this flag; else it is Python's
    in_loop: bool = False
    tail: bool = False  # nothing comes behind: the end of the block is the end of the function


class Jumps:
    """Takes the jumps out of one function's body."""

    def __init__(self, becomes_function: Callable[[ast.stmt], bool], fresh: Callable[[str], str]):
        self._becomes_function = becomes_function
        self._fresh = fresh
        self._returned: Flag | None = None
        self._value = ""

    def lower(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the body without jumps out of statements that become functions."""
        lowered = self._block(list(body), Place(tail=True))
        if self._returned is not None and not self._returned.read:
            lowered = _without(lowered, self._returned.sets)
        elif self._returned is not None:
            lowered.insert(1 if _is_docstring(body[0]) else 0, _assign(self._returned.name, False, body[0]))
        return lowered

    @property
    def result(self) -> str:
        """The variable that holds what is to be returned, or "" where none is needed."""
        return self._value

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt], place: Place) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        while statements:
            statement, rest = statements[0], statements[1:]
            if isinstance(statement, JUMPS):
                done += self._jump(statement, place)
                break
            if not isinstance(statement, (ast.If, *LOOPS)) and not _jumps_in([statement]):
                done.append(self._inside(statement, replace(place, tail=False)))
            elif isinstance(statement, ast.If):
                more, rest = self._if(statement, rest, place)
                done += more
            elif isinstance(statement, LOOPS):
                more, rest = self._loop(statement, rest, place)
                done += more
            else:
                more, rest = self._compound(statement, rest, place)
                done += more
            statements = rest
        return done

    def _inside(self, statement: ast.stmt, place: Place) -> ast.stmt:
        """Lower what stands inside a compound statement."""
        for part in _blocks(statement):
            part[:] = self._block(list(part), place)
        return statement

    def _jump(self, jump: ast.stmt, place: Place) -> list[ast.stmt]:
        if isinstance(jump, ast.Return):
            if not place.flagged:
                return [jump]
            returned, value = self._return_flag()
            stop = [_set(place.stops, jump)] if place.stops else [placed(ast.Break(), jump)] if place.in_loop else []
            answer = jump.value if jump.value is not None else ast.Constant(None)
            given = placed(ast.Assign([ast.Name(value, ast.Store())], answer), jump)
            return [given, _set(returned, jump), *stop]
        flag = place.stops if isinstance(jump, ast.Break) else place.skips
        return [jump] if flag is None else [_set(flag, jump)]

    def _return_flag(self) -> tuple[Flag, str]:
        if self._returned is None:
            self._returned = Flag(self._fresh("do_return"))
            self._value = self._fresh("retval")
        return self._returned, self._value

    # --- if -----------------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, rest: list[ast.stmt], place: Place) -> tuple[list[ast.stmt], list[ast.stmt]]:
        kinds = _jumps_in([node])
        if not kinds or not self._hard(node, place):
            return [self._inside(node, replace(place, tail=place.tail and not rest))], rest
        then_leaves, else_leaves = leaves(node.body), leaves(node.orelse)
        if then_leaves and else_leaves:
            rest = []
        elif then_leaves:
            node.orelse, rest = [*node.orelse, *rest], []
        elif else_leaves:
            node.body, rest = [*node.body, *rest], []
        kinds = _jumps_in([node])
        ends = not rest and (place.tail or (leaves(node.body) and leaves(node.orelse)))
        if ends and not place.flagged and kinds == {ast.Return}:
            node.returns = True  # type: ignore[attr-defined]
            return [self._inside(node, replace(place, tail=True))], []
        self._inside(node, replace(place, flagged=place.flagged or ast.Return in kinds, tail=False))
        node.body = node.body or [placed(ast.Pass(), node)]
        more, rest = self._behind(node, kinds, rest, place)
        return [node, *more], rest

    def _hard(self, node: ast.stmt, place: Place) -> bool:
        """Return whether jumps out of a statement cannot stay as they are."""
        kinds = _jumps_in([node])
        if self._becomes_function(node) or self._crosses(node):
            return True
        return bool(
            (ast.Return in kinds and place.flagged)
            or (ast.Break in kinds and place.stops)
            or (ast.Continue in kinds and place.skips)
        )

    def _crosses(self, node: ast.stmt) -> bool:
        """Return whether some jump out of `node` stands inside a statement that becomes a function."""
        for part in _blocks(node):
            for statement in part:
                if isinstance(statement, JUMPS) or not _jumps_in([statement]):
                    continue
                if self._becomes_function(statement) or self._crosses(statement):
                    return True
        return False

    def _behind(
        self, node: ast.stmt, kinds: set[type], rest: list[ast.stmt], place: Place
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Return what comes behind a statement that may have set flags: done, and still to be lowered."""
        if ast.Return in kinds and not place.flagged:
            returned, value = self._return_flag()
            returned.read = True
            answer = placed(ast.Return(ast.Name(value, ast.Load())), node)
            return [], [placed(ast.If(ast.Name(returned.name, ast.Load()), [answer], []), node), *rest]
        flags = self._flags(kinds, place)
        if not rest or not flags:
            return [], rest
        for flag in flags:
            flag.read = True
        tests: list[ast.expr] = [ast.Name(flag.name, ast.Load()) for flag in flags]
        test = ast.UnaryOp(ast.Not(), tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests))
        guard = placed(ast.If(test, rest, []), node)
        if not _jumps_in(rest):
            return [self._inside(guard, replace(place, tail=False))], []
        return self._if(guard, [], place)

    def _flags(self, kinds: set[type], place: Place) -> list[Flag]:
        flags = []
        if ast.Return in kinds and place.flagged and not place.stops:
            flags.append(self._return_flag()[0])
        if place.stops and (ast.Break in kinds or ast.Return in kinds):
            flags.append(place.stops)
        if place.skips and ast.Continue in kinds:
            flags.append(place.skips)
        return flags

    # --- loops --------------------------------------------------------------------------------------------------------

    def _loop(self, node: ast.stmt, rest: list[ast.stmt], place: Place) -> tuple[list[ast.stmt], list[ast.stmt]]:
        assert isinstance(node, LOOPS)
        own, returns = _loop_jumps(node), ast.Return in _jumps_in(node.body)
        if not own and not returns:
            node.body = self._block(node.body, Place(flagged=place.flagged, in_loop=True))
            behind, node.orelse = node.orelse, []  # nothing jumps over it
            return [node], behind + rest
        flags = place.flagged or place.stops or place.skips
        through = flags and (_jumps_in(node.orelse) or _returns_through_loops(node.body))
        if not self._becomes_function(node) and not self._crosses(node) and not through:
            return self._python_loop(node, rest, place, returns)
        return self._flag_loop(node, rest, place, own, returns)

    def _python_loop(
        self, node: ast.stmt, rest: list[ast.stmt], place: Place, returns: bool
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        assert isinstance(node, LOOPS)
        node.body = self._block(node.body, Place(flagged=place.flagged, in_loop=True))
        node.orelse = self._block(node.orelse, replace(place, tail=False))
        if not returns or not place.flagged:
            return [node], rest
        more, rest = self._after_returning_loop(node, rest, place)
        return [node, *more], rest

    def _flag_loop(
        self, node: ast.stmt, rest: list[ast.stmt], place: Place, own: set[type], returns: bool
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        assert isinstance(node, LOOPS)
        endless = _leaves(node)
        stops = Flag(self._fresh("do_break")) if ast.Break in own or returns else None
        skips = Flag(self._fresh("do_continue")) if ast.Continue in own else None
        body = self._block(node.body, Place(flagged=True, stops=stops, skips=skips, in_loop=True))
        if skips is not None and skips.read:
            body.insert(0, _assign(skips.name, False, node))
        elif skips is not None:
            body = _passing(body, skips.sets)
        node.body = body or [placed(ast.Pass(), node)]
        behind, node.orelse = node.orelse, []
        first = [] if stops is None else [_assign(stops.name, False, node)]
        if stops is not None:
            node.until = stops.name  # type: ignore[union-attr]
            if behind:
                test = ast.UnaryOp(ast.Not(), ast.Name(stops.name, ast.Load()))
                behind = [placed(ast.If(test, behind, []), node)]
        rest = behind + rest
        if endless and returns and not place.flagged:  # it comes to an end by returning, or not at all
            return [*first, node], [placed(ast.Return(ast.Name(self._return_flag()[1], ast.Load())), node)]
        if returns:
            more, rest = self._after_returning_loop(node, rest, place)
            return [*first, node, *more], rest
        return [*first, node], rest

    def _after_returning_loop(
        self, node: ast.stmt, rest: list[ast.stmt], place: Place
    ) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """A loop that may return stands in another loop: that one stops, too. Elsewhere, the function returns."""
        if place.in_loop and place.flagged:
            returned, _ = self._return_flag()
            returned.read = True
            test = placed(ast.If(ast.Name(returned.name, ast.Load()), [placed(ast.Break(), node)], []), node)
            return [], [test, *rest]
        return self._behind(node, {ast.Return}, rest, place)

    # --- with, try, match ---------------------------------------------------------------------------------------------

    def _compound(self, node: ast.stmt, rest: list[ast.stmt], place: Place) -> tuple[list[ast.stmt], list[ast.stmt]]:
        kinds = _jumps_in([node])
        if not self._hard(node, place):
            return [self._inside(node, replace(place, tail=False))], rest
        if not place.flagged and kinds == {ast.Return} and isinstance(node, ast.With) and leaves(node.body):
            return [self._inside(node, replace(place, tail=True))], []
        self._inside(node, replace(place, flagged=place.flagged or ast.Return in kinds, tail=False))
        if hasattr(node, "handlers") and node.orelse and _sets_flags(node.body):  # type: ignore[attr-defined]
            node.orelse = self._behind(node, kinds, node.orelse, replace(place, flagged=True))[0]  # type: ignore[attr-defined]
        more, rest = self._behind(node, kinds, rest, place)
        return [node, *more], rest


# --- looking at statements --------------------------------------------------------------------------------------------


def leaves(block: Sequence[ast.stmt]) -> bool:
    """Return whether control never comes out at the end of a block."""
    return any(_leaves(statement) for statement in block)


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, (*JUMPS, ast.Raise)):
        return True
    if isinstance(node, ast.If):
        return leaves(node.body) and leaves(node.orelse)
    if isinstance(node, ast.With):
        return leaves(node.body)
    if isinstance(node, ast.Try):
        done = leaves(node.body) or leaves(node.orelse)
        return leaves(node.finalbody) or (done and all(leaves(h.body) for h in node.handlers))
    if isinstance(node, ast.While):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return endless and ast.Break not in _loop_jumps(node)
    return False


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the lists of statements directly inside a statement."""
    found = [getattr(node, name) for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
    found = [block for block in found if isinstance(block, list)]
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        found.append(part.body)
    return [] if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else found


def _jumps_in(statements: Iterable[ast.stmt]) -> set[type]:
    """Return the kinds of jump that may leave these statements: `break` of a loop inside does not."""
    kinds: set[type] = set()
    for statement in statements:
        if isinstance(statement, JUMPS):
            kinds.add(type(statement))
            continue
        for block in _blocks(statement):
            found = _jumps_in(block)
            if isinstance(statement, LOOPS) and block is statement.body:
                found &= {ast.Return}
            kinds |= found
    return kinds


def _loop_jumps(loop: ast.stmt) -> set[type]:
    """Return the kinds of jump inside a loop that are its own."""
    assert isinstance(loop, LOOPS)
    return _jumps_in(loop.body) & {ast.Break, ast.Continue}


def _returns_through_loops(block: Sequence[ast.stmt]) -> bool:
    """Return whether there is a `return` inside a loop inside these statements."""
    for statement in block:
        if isinstance(statement, LOOPS) and ast.Return in _jumps_in(statement.body):
            return True
        if any(_returns_through_loops(part) for part in _blocks(statement)):
            return True
    return False


def _sets_flags(block: Sequence[ast.stmt]) -> bool:
    return any(getattr(node, "sets_flag", False) for statement in block for node in ast.walk(statement))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# --- making statements ------------------------------------------------------------------------------------------------


def _assign(name: str, value: bool, like: ast.AST) -> ast.stmt:
    return placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), like)


def _set(flag: Flag | None, like: ast.AST) -> ast.stmt:
    assert flag is not None
    statement = _assign(flag.name, True, like)
    statement.sets_flag = True  # type: ignore[attr-defined]
    flag.sets.append(statement)  # type: ignore[arg-type]
    return statement


def _passing(block: list[ast.stmt], dropped: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a block in which some statements do nothing: their lines still run, for debuggers and coverage."""
    gone = {id(statement) for statement in dropped}
    kept = [placed(ast.Pass(), statement) if id(statement) in gone else statement for statement in block]
    for statement in kept:
        for part in _blocks(statement):
            part[:] = _passing(part, dropped)
    return kept


def _without(block: list[ast.stmt], dropped: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a block without some statements, wherever in it they stand."""
    gone = {id(statement) for statement in dropped}
    kept = [statement for statement in block if id(statement) not in gone]
    for statement in kept:
        for part in _blocks(statement):
            part[:] = _without(part, dropped) or [placed(ast.Pass(), statement)]
    return kept
