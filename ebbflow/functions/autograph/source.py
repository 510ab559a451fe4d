"""Finding the syntax tree of a function: in its file, in a notebook cell, in what was typed.

The whole text a function comes from is parsed (and kept, for the functions next to it), so that positions are the
file's own, the class around a method is known, and one `lambda` among several on a line can be told by its column.
Where Python keeps no text (the plain interactive prompt before 3.13, `python -c`, `exec`), it is looked for in the line
editor's history, on the command line and among what those know who are running (`executed`), and trusted only if
compiling it gives the very code of the function.
"""

from __future__ import annotations

import ast
import copy
import itertools
import linecache
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ebbflow.functions.autograph import executed
from ebbflow.functions.autograph.errors import InaccessibleSourceCodeError
from ebbflow.functions.autograph.names import FUNCTIONS, parameters


class Found(NamedTuple):
    """A function's own syntax tree (a copy), and the class whose private names it may use."""

    node: Any
    class_name: str | None


Index = dict[int, list[tuple[Any, "str | None"]]]
"""The functions of a text by their first lines, each with the class it is in."""

trees: dict[str, Callable[[Sequence[str]], ast.Module]] = {}
"""File in another language -> what makes a tree of its lines; filled by those who run such files."""

_parsed: OrderedDict[str, tuple[Sequence[str], Index]] = OrderedDict()
KEPT = 16


def find(function: FunctionType) -> Found:
    """Return the syntax tree of a function; raise InaccessibleSourceCodeError where there is no source."""
    found, reason = _in_its_file(function)
    if found is None:
        found = _unkept(function)
    if found is not None:
        return found
    raise InaccessibleSourceCodeError(
        f"Unable to locate the source code of {function}. Note that functions defined in certain environments, like "
        "the interactive Python shell, do not expose their source code. If that is the case, you should define them in "
        "a .py source file, or put the text that you give to `exec` into `linecache`. If you are certain the code is "
        f"graph-compatible, wrap the call using @tf.autograph.experimental.do_not_convert. Original error: {reason}"
    )


def note(function: Any) -> None:
    """Find the text of a function that has just been made by `exec`, while those who know it are running."""
    code = getattr(function, "__code__", None)
    if isinstance(function, FunctionType) and code.co_filename.startswith("<") and _in_its_file(function)[0] is None:  # type: ignore[union-attr]
        _unkept(function)


def _in_its_file(function: FunctionType) -> tuple[Found | None, str]:
    """Return what the file that a function names (or what Python keeps under that name) says of it, or why it does not.

    Many texts are called "<string>": from Python 3.13 on, the one on the command line is kept, whoever asks.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        return None, "could not get source code"
    try:
        is_it = code.co_filename != "<string>" or _same_code("".join(lines), code) is not None
        found = _locate(_parse(code.co_filename, lines), code) if is_it else None
    except SyntaxError as error:
        return None, f"its source does not parse: {error}"
    return found, f"line {code.co_firstlineno} of {code.co_filename} does not define it; was the file edited?"


def _unkept(function: FunctionType) -> Found | None:
    """Return the syntax tree of a function whose text Python did not keep, if the text is found."""
    code = function.__code__
    if not code.co_filename.startswith("<"):
        return None
    for text in itertools.chain(_typed(code), executed.texts(function)):
        index = _same_code(text, code)
        found = None if index is None else _locate(index, code)
        if found is not None:
            executed.keep(text)
            return found
    return None


def _parse(filename: str, lines: Sequence[str]) -> Index:
    kept = _parsed.get(filename)
    if kept is not None and (kept[0] is lines or kept[0] == lines):
        return kept[1]
    tree = trees[filename](lines) if filename in trees else ast.parse("".join(lines), filename)
    index = _index(tree)
    _parsed[filename] = (lines, index)
    while len(_parsed) > KEPT:
        _parsed.popitem(last=False)
    return index


def _index(tree: ast.Module) -> Index:
    index: Index = {}
    for node, owner in _functions(tree, None):
        first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
        index.setdefault(first, []).append((node, owner))
    return index


# --- which function ---------------------------------------------------------------------------------------------------


def _locate(index: Index, code: CodeType) -> Found | None:
    candidates = [(node, owner) for node, owner in index.get(code.co_firstlineno, ()) if _could_be(node, code)]
    if len(candidates) > 1:
        candidates = _covering(candidates, code)
    if len(candidates) > 1:
        candidates = [c for c in candidates if _compiles_to(c[0], code)] or candidates
    if not candidates:
        return None
    node, owner = candidates[0]
    return Found(copy.deepcopy(node), owner)


def _functions(node: ast.AST, owner: str | None) -> Iterator[tuple[Any, str | None]]:
    """Yield every function in a tree with the class it is in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child, owner
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _could_be(node: Any, code: CodeType) -> bool:
    """Return whether a function at the line of `code` has its name and its parameters."""
    if ("<lambda>" if isinstance(node, ast.Lambda) else node.name) != code.co_name:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args and **kwargs
    given = [name.lstrip("_") for name in parameters(node.args)]  # a private name may be written otherwise
    return len(given) == count and all(any(v.endswith(g) for g in given) for v in code.co_varnames[:count])


def _covering(candidates: list[tuple[Any, str | None]], code: CodeType) -> list[tuple[Any, str | None]]:
    """Return the innermost of the functions whose text has most of the places that the code knows (in Python 3.11).

    What is inside another function lies in the text of both, and what is around another has places of its own.
    """
    if not hasattr(code, "co_positions"):
        return candidates
    places = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    inside = [_count_inside(node, places) for node, _ in candidates]
    best = max(range(len(candidates)), key=lambda i: (inside[i], i))  # who is inside another comes after it
    return [candidates[best]] if inside[best] else candidates


def _count_inside(node: Any, places: Sequence[Any]) -> int:
    body = node.body[0] if isinstance(node.body, list) else node.body
    last = node.body[-1] if isinstance(node.body, list) else node.body
    start, end = (body.lineno, body.col_offset), (last.end_lineno, last.end_col_offset)
    return sum(start <= (line, column) and (until, stop) <= end for line, until, column, stop in places)


def _compiles_to(node: Any, code: CodeType) -> bool:
    """Return whether a function's text, and not that of one inside it, gives the same instructions."""
    free = [ast.arg(name) for name in code.co_freevars]
    outer = ast.FunctionDef("around", ast.arguments([], free, None, [], [], None, []), [], [], None, None)
    outer.type_params = []  # type: ignore[attr-defined]
    copied = copy.deepcopy(node)
    outer.body = [copied if isinstance(node, ast.stmt) else ast.Expr(copied)]
    try:
        module = compile(
            ast.fix_missing_locations(ast.Module([outer], [])), code.co_filename, "exec", dont_inherit=True
        )
    except SyntaxError:
        return False
    around = next(c for c in module.co_consts if isinstance(c, CodeType))
    return any(_alike(found, code) for found in around.co_consts if isinstance(found, CodeType))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _alike(one: CodeType, other: CodeType) -> bool:
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and _constants(one) == _constants(other)
        and all(_alike(*pair) for pair in zip(_inner(one), _inner(other), strict=True))
    )


def _constants(code: CodeType) -> list[Any]:
    return [(type(c), None if isinstance(c, CodeType) else repr(c)) for c in code.co_consts]


def _inner(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


# --- what was typed ---------------------------------------------------------------------------------------------------


def _typed(code: CodeType) -> Iterator[str]:
    """Yield texts that code without a file may come from, the likeliest first."""
    arguments = list(getattr(sys, "orig_argv", ()))
    if code.co_filename == "<string>" and "-c" in arguments[:-1]:
        yield arguments[arguments.index("-c") + 1]
    if code.co_filename == "<stdin>":
        yield from _standard_input()
    yield from _history(code)


def _standard_input() -> Iterator[str]:
    """Yield the program that is read from standard input, if that is a file."""
    try:
        size = os.fstat(0).st_size
        if size and not os.isatty(0):
            yield os.pread(0, size, 0).decode()
    except (OSError, ValueError):
        return


def _history(code: CodeType) -> Iterator[str]:
    """Yield what was typed at the prompt, from the last block back; a block's lines count from 1."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(i) or "" for i in range(max(1, count - 5000), count + 1)]
    for start in range(len(lines) - code.co_firstlineno, -1, -1):
        line = lines[start + code.co_firstlineno - 1].lstrip()
        if line.startswith(("def ", "@")) or "lambda" in line:
            end = start + code.co_firstlineno
            while end < len(lines) and (
                lines[end][:1] in (" ", "\t", "@", ")", "]", "}", "") or _opens(lines[end - 1])
            ):
                end += 1
            yield "\n".join(lines[start:end]) + "\n"


def _opens(line: str) -> bool:
    """Return whether a line of a block is continued by one that is not indented: a decorator, an open bracket."""
    return line.startswith("@") or line.rstrip().endswith(("(", "[", "{", ",", "\\"))


def _same_code(text: str, code: CodeType) -> Index | None:
    """Return the functions of a text that contains one with the very code."""
    try:
        tree = ast.parse(text)
        module = compile(text, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    same = (c for c in _codes(module) if c.co_firstlineno == code.co_firstlineno and _alike(c, code))
    return _index(tree) if any(same) else None
