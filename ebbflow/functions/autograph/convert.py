"""`convert`: from a Python function to one whose statements may run in a graph.

The new function has the user's globals and shares the very cells of the user's closure, so that `nonlocal` and later
assignments are seen on both sides; its code has the user's file name and line numbers, so that tracebacks, debuggers
and coverage show the user's text. What depends on the text alone is worked out once for each code object and held
weakly. Functions of libraries, generators, coroutines, and functions with nothing to convert are left as they are.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import inspect
import os
import weakref
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from ebbflow.core import errors as tf_errors
from ebbflow.core import forks
from ebbflow.core.source import PACKAGE
from ebbflow.functions.autograph import libraries, log, source
from ebbflow.functions.autograph.certain import World
from ebbflow.functions.autograph.errors import InaccessibleSourceCodeError
from ebbflow.functions.autograph.private_names import spell_out
from ebbflow.functions.autograph.rewrite import Naming, rewrite

STEPWISE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
FUTURE = functools.reduce(
    lambda a, b: a | b, [getattr(__future__, n).compiler_flag for n in __future__.all_feature_names]
)


class Template:
    """What conversion made of a code object: new code that awaits globals and cells."""

    __slots__ = ("ag", "code", "reason")

    def __init__(self, code: CodeType | None, ag: str = "", reason: str = ""):
        self.code = code  # None: the function runs as it is
        self.ag = ag
        self.reason = reason  # why it could not be converted, for those who run into it


LEFT_ALONE = Template(None)
_templates: dict[int, tuple[Any, Template]] = {}
"""By the identity of a code object, which is held weakly: what became of it. Converted code is among them, as it is."""
_lock = forks.rlock()
_ag = CellType()


def provide_operators(operators: Any) -> None:
    """Let `operators` be what converted functions call `ag`."""
    _ag.cell_contents = operators


# --- from callable to callable ----------------------------------------------------------------------------------------


def convert(function: Any) -> Any:
    """Return a function that does what `function` does, and whose conditions and loops may be on tensors of a graph.

    Methods, partial applications and objects with `__call__` are taken, too. What must or can not be converted is
    returned as it is: functions of Ebbflow, generators, functions without source (after a warning).
    """
    return converted(function, asked=True)


def converted(function: Any, asked: bool = False) -> Any:
    """Return the conversion of anything callable; where nobody `asked` for it, of the user's functions only."""
    kind = type(function)
    if kind is FunctionType:
        return _converted_function(function, asked)
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is not FunctionType:
            return function
        new = _converted_function(inner, asked)
        return function if new is inner else MethodType(new, function.__self__)
    if kind is functools.partial:
        inner = converted(function.func, asked)
        return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, type):
        return function
    call = getattr(kind, "__call__", None)  # noqa: B004  (the function is wanted, not whether there is one)
    if type(call) is not FunctionType:
        return function
    new = _converted_function(call, asked=False)
    return function if new is call else MethodType(new, function)


def _converted_function(function: FunctionType, asked: bool) -> Any:
    if is_converted(function) or function.__dict__.get(OFF):
        return function
    code = function.__code__
    may_be_asked = asked and libraries.place(code.co_filename) != "ours"
    if not may_be_asked and libraries.is_library_code(code, function.__globals__):
        return function
    template = template_of(function)
    if template.code is None:
        return _explaining(function, template.reason) if template.reason else function
    return instantiate(function, template)


OFF = "_autograph_off"
"""The attribute by which `do_not_convert` marks functions."""


def is_converted(function: FunctionType) -> bool:
    """Return whether a function came out of conversion, by itself or inside another."""
    return function.__closure__ is not None and any([cell is _ag for cell in function.__closure__])


def instantiate(function: FunctionType, template: Template) -> FunctionType:
    """Return a function of the template's code that lives where `function` does."""
    code = template.code
    assert code is not None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[template.ag] = _ag
    closure = tuple([cells[name] for name in code.co_freevars])
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    for name in ("__kwdefaults__", "__qualname__", "__doc__", "__module__"):
        setattr(new, name, getattr(function, name))
    lazy = "__annotate__" if hasattr(function, "__annotate__") else "__annotations__"
    setattr(new, lazy, getattr(function, lazy))
    new.__dict__.update(function.__dict__)
    return new


# --- from code to code ------------------------------------------------------------------------------------------------


def template_of(function: FunctionType) -> Template:
    """Return what conversion makes of a function's code, worked out the first time."""
    code = function.__code__
    kept = _templates.get(id(code))
    if kept is not None and kept[0]() is code:
        return kept[1]
    with _lock:
        template = _template(function)
        _keep(code, template)
        for made in () if template.code is None else (template.code, *_codes_inside(template.code)):
            _keep(made, LEFT_ALONE)
    return template


def _keep(code: CodeType, template: Template) -> None:
    _templates[id(code)] = (weakref.ref(code, functools.partial(_forget, id(code))), template)


def _forget(key: int, ref: Any, templates: dict[int, Any] = _templates) -> None:
    templates.pop(key, None)  # (given as a default: at exit the module's names go first)


def has_been_converted(code: CodeType) -> bool:
    """Return whether code came out of conversion, or needed none."""
    kept = _templates.get(id(code))
    return kept is not None and kept[0]() is code and not kept[1].reason


def _template(function: FunctionType) -> Template:
    code = function.__code__
    if code.co_flags & STEPWISE:
        return LEFT_ALONE
    try:
        node, naming = rewritten(function)
        if naming is None:
            return LEFT_ALONE
        log.tell(3, "AutoGraph made of %s:\n%s", function, ast.unparse(node))
        return Template(_compiled(node, naming, code), naming.ag)
    except Exception as error:
        if os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0") not in ("", "0"):
            raise
        if isinstance(error, InaccessibleSourceCodeError) and not _branches(code):
            return LEFT_ALONE
        log.warn_once(
            (code.co_filename, code.co_firstlineno, code.co_name),
            "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
            "function with @tf.autograph.experimental.do_not_convert",
            function,
            error,
        )
        return Template(None, reason=str(error))


def rewritten(function: FunctionType) -> tuple[Any, Naming | None]:
    """Return a function's syntax tree after conversion, with the names chosen in it; None where nothing changed."""
    found = source.find(function)
    node = spell_out(found.node, found.class_name)
    if not isinstance(node, ast.Lambda):
        node.decorator_list = []
    naming = rewrite(node, World(function))
    used = any(isinstance(n, ast.Name) and n.id == naming.ag for n in ast.walk(node))
    return node, naming if used else None


def _branches(code: CodeType) -> bool:
    """Return whether code has conditions or loops."""
    return any(i.opcode in dis.hasjrel or i.opcode in dis.hasjabs for i in dis.get_instructions(code))


def _compiled(node: Any, naming: Naming, code: CodeType) -> CodeType:
    """Return the code of a rewritten function, whose free variables are those of the original and `ag`."""
    _strip(node, naming)
    free = [ast.arg(name) for name in dict.fromkeys([*code.co_freevars, naming.ag])]
    arguments = ast.arguments([], free, None, [], [], None, [])
    around = ast.FunctionDef(
        "around", arguments, [node if isinstance(node, ast.stmt) else ast.Expr(node)], [], None, None
    )
    around.type_params = []  # type: ignore[attr-defined]
    ast.copy_location(around, node)
    module = ast.fix_missing_locations(ast.Module([around], []))
    made = compile(module, code.co_filename, "exec", code.co_flags & FUTURE, dont_inherit=True)
    new = next(_codes_in(next(_codes_in(made))))
    return _renamed(new, naming.generated(), code)


def _strip(node: Any, naming: Naming) -> None:
    """Take away what Python evaluates when it defines a function (that was done when the user's was defined), and its
    name, which may be a global one inside it.
    """
    arguments = node.args
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if not isinstance(node, ast.Lambda):
        node.name, node.returns, node.type_params = naming.fresh("function"), None, []


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _codes_inside(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions in a function, at any depth; a class is left to Python, so its methods are not among them."""
    for inner in _codes_in(code):
        if inner.co_flags & inspect.CO_OPTIMIZED:
            yield inner
            yield from _codes_inside(inner)


def _renamed(new: CodeType, generated: set[str], code: CodeType) -> CodeType:
    """Give the functions that statements became the name of the function they come from, for tracebacks."""
    constants = tuple(
        _renamed(c, generated, code if c.co_name in generated else c) if isinstance(c, CodeType) else c
        for c in new.co_consts
    )
    names = {"co_name": code.co_name}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = code.co_qualname
    return new.replace(co_consts=constants, **names)  # type: ignore[arg-type]


# --- functions without source -----------------------------------------------------------------------------------------


def _explaining(function: FunctionType, reason: str) -> Any:
    """Return the function as it is; an error that conversion would have avoided says why there was none."""

    @functools.wraps(function)
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except tf_errors.OperatorNotAllowedInGraphError as error:
            if _raised_in(error, function.__code__) and "AutoGraph" not in str(error):
                told = type(error)(f"{error} AutoGraph did not convert this function. {reason}")
                raise told.with_traceback(error.__traceback__) from None
            raise

    setattr(unconverted, OFF, True)
    return unconverted


def _raised_in(error: BaseException, code: CodeType) -> bool:
    """Return whether the last line of the user's in an error's traceback is one of `code`."""
    last, step = None, error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(PACKAGE):
            last = step.tb_frame.f_code
        step = step.tb_next
    return last is code
