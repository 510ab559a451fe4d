"""`tensorflow.python.util.deprecation`: decorators that mark what programs should no longer call.

Libraries of TensorFlow's time decorate their own functions with these. A warning is logged once for each place that
calls a deprecated thing, unless silenced. Knows decorators and logging.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ebbflow.platform import decorators, logging

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING: dict[Any, bool] = {}


class DeprecatedArgSpec(NamedTuple):
    """Where a deprecated argument stands, and which value of it may still be given in silence."""

    position: int
    has_ok_value: bool
    ok_value: Any


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Log no such warning inside the block."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _check(date: str | None, instructions: str | None) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be in format YYYY-MM-DD. Received: {date}")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions! Specify the `instructions` argument.")


def _warn(key: Any, once: bool, words: str, date: str | None, instructions: str) -> None:
    if not _PRINT_DEPRECATION_WARNINGS or (once and key in _PRINTED_WARNING):
        return
    _PRINTED_WARNING[key] = True
    caller = sys._getframe(2)
    place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
    when = "in a future version" if date is None else f"after {date}"
    logging.warning(
        "From %s: %s and will be removed %s.\nInstructions for updating:\n%s", place, words, when, instructions
    )


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[..., Any]:
    """Decorate a function or class that should no longer be used."""
    _check(date, instructions)

    def decorate(thing: Any) -> Any:
        name = f"{getattr(thing, '__qualname__', thing)} (from {getattr(thing, '__module__', None)})"
        made_by = None
        if inspect.isclass(thing):  # a namedtuple, say, takes its arguments in __new__
            if thing.__init__ is object.__init__ and thing.__new__ is object.__new__:
                return thing  # only its heirs take arguments, and there is nothing to warn from
            made_by = "__new__" if thing.__init__ is object.__init__ else "__init__"
        original = getattr(thing, made_by) if made_by else thing

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            _warn(thing, warn_once, f"{name} is deprecated", date, instructions)
            return original(*args, **kwargs)

        if made_by:
            setattr(thing, made_by, call)
            return thing
        return decorators.make_decorator(thing, call, "deprecated", _with_notice(thing.__doc__, date, instructions))

    return decorate


def _with_notice(doc: str | None, date: str | None, instructions: str) -> str:
    first, _, rest = (doc or "DEPRECATED FUNCTION").partition("\n")
    when = "in a future version" if date is None else f"after {date}"
    notice = f"Deprecated: THIS FUNCTION IS DEPRECATED. It will be removed {when}.\nInstructions for updating:\n"
    return f"{first} (deprecated)\n\n{notice}{instructions}\n{rest}"


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Decorate a function some of whose arguments should no longer be given: names, or (name, value that may be)."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.get("warn_once", True)
    names = [item if isinstance(item, tuple) else (item,) for item in deprecated_arg_names_or_tuples]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        missing = [item[0] for item in names if item[0] not in signature.parameters and not _takes_any(signature)]
        if missing:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {missing}")

        def call(*args: Any, **kwargs: Any) -> Any:
            given = _given(signature, args, kwargs)
            for name, *fine in names:
                if name in given and not any(given[name] is value or _same(given[name], value) for value in fine):
                    words = f"calling {function.__qualname__} (from {function.__module__}) with {name} is deprecated"
                    _warn((function, name), warn_once, words, date, instructions)
            return function(*args, **kwargs)

        return decorators.make_decorator(function, call, "deprecated")

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[..., Any]:
    """Decorate a function some values of whose arguments should no longer be given."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = _given(signature, args, kwargs)
            for name, value in deprecated_kwargs.items():
                if name in given and _same(given[name], value):
                    words = f"calling {function.__qualname__} (from {function.__module__}) with {name}={value}"
                    _warn((function, name), warn_once, f"{words} is deprecated", date, instructions)
            return function(*args, **kwargs)

        return decorators.make_decorator(function, call, "deprecated")

    return decorate


def _takes_any(signature: inspect.Signature) -> bool:
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())


def _given(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    try:
        return dict(signature.bind_partial(*args, **kwargs).arguments)
    except TypeError:  # the function itself will say what is wrong
        return {}


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError):  # arrays and tensors
        return False


def hide_attribute_from_api(obj: Any) -> Any:
    """Return an attribute of a class that its documentation does not show: what is public is said elsewhere."""
    return obj


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Return a function or class under the name it used to have."""
    words = f"The name {deprecated_name} is deprecated. Please use {name} instead."
    if inspect.isclass(func_or_class):

        class Alias(func_or_class):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                _note(Alias, warn_once, words)
                super().__init__(*args, **kwargs)

        Alias.__name__, Alias.__doc__, Alias.__module__ = (
            func_or_class.__name__,
            func_or_class.__doc__,
            func_or_class.__module__,
        )
        return Alias

    def call(*args: Any, **kwargs: Any) -> Any:
        _note(call, warn_once, words)
        return func_or_class(*args, **kwargs)

    return decorators.make_decorator(func_or_class, call, "deprecated")


def _note(key: Any, once: bool, words: str) -> None:
    if _PRINT_DEPRECATION_WARNINGS and not (once and key in _PRINTED_WARNING):
        _PRINTED_WARNING[key] = True
        frame = sys._getframe(2)
        logging.warning("From %s:%s: %s\n", frame.f_code.co_filename, frame.f_lineno, words)


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """Decorate a function, saying which of its public names are deprecated."""

    def decorate(function: Any) -> Any:
        function._tf_deprecated_api_names = args
        return function

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value given under an argument's new name or its old one, which must not both be given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
        return old_value
    return new_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """Return documentation with an argument called by another name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


def deprecate_moved_module(deprecated_name: str, new_module: Any, deletion_version: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` for a module that has moved."""

    return lambda name: getattr(new_module, name)
