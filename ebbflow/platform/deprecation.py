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

from ebbflow.core import context
from ebbflow.platform import decorator_notes, decorators, logging

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING: dict[Any, bool] = {}
_STRICT = False


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


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _warn(key: Any, once: bool, what: str, *words: Any) -> None:
    """Log a warning about what the caller's caller calls, unless that was said."""
    if _STRICT:
        raise RuntimeError("This behavior has been deprecated, which raises an error in strict mode.")
    if not _PRINT_DEPRECATION_WARNINGS or key in _PRINTED_WARNING:
        return
    if once:
        _PRINTED_WARNING[key] = True
    caller = sys._getframe(2)
    logging.warning(f"From %s: {what}", f"{caller.f_code.co_filename}:{caller.f_lineno}", *words)


_GOES = "is deprecated and will be removed %s.\nInstructions for updating:\n%s"


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[..., Any]:
    """Decorate a function or class that should no longer be used."""
    _check(date, instructions)

    def decorate(thing: Any) -> Any:
        made_by = None
        if inspect.isclass(thing):  # a namedtuple, say, takes its arguments in __new__
            made_by = "__init__" if thing.__new__ is object.__new__ else "__new__"
        decorator_notes.validate_callable(thing, "deprecated")
        original = getattr(thing, made_by) if made_by else thing
        name = getattr(original, "__qualname__", original)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            _warn(thing, warn_once, f"%s (from %s) {_GOES}", name, thing.__module__, _when(date), instructions)
            if original is object.__init__ and type(args[0]).__new__ is not object.__new__:
                return None  # an heir that takes its arguments in __new__
            return original(*args, **kwargs)

        doc = _with_notice(thing.__doc__, "", "THIS FUNCTION IS DEPRECATED. It", date, instructions)
        if made_by:
            setattr(thing, made_by, call)
            thing.__doc__ = doc
            return thing
        return decorators.make_decorator(thing, call, "deprecated", doc)

    return decorate


def _with_notice(doc: str | None, of: str, what: str, date: str | None, instructions: str) -> str:
    """Return documentation with a notice behind its first line; `of`: which part of a function is deprecated."""
    notice = [f"{what} will be removed {_when(date)}.", "Instructions for updating:"]
    missing, suffix = f"DEPRECATED FUNCTION{of.upper()}", f"(deprecated{of})"
    kind = "Warning" if context.switches.tf1 else "Deprecated"
    return decorator_notes.add_notice_to_docstring(doc, instructions, missing, suffix, notice, kind)


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
        decorator_notes.validate_callable(function, "deprecated_args")
        signature = inspect.signature(function)
        missing = [item[0] for item in names if item[0] not in signature.parameters and not _takes_any(signature)]
        if missing:
            raise ValueError(
                f"The following deprecated arguments are not present in the function signature: {missing}. "
                f"Expected arguments from the following list: {list(signature.parameters)}."
            )

        def call(*args: Any, **kwargs: Any) -> Any:
            given = _given(signature, args, kwargs)
            for name, *fine in names:
                if name in given and not any(given[name] is value or _same(given[name], value) for value in fine):
                    words = (function.__qualname__, function.__module__, name, _when(date), instructions)
                    _warn((function, name), warn_once, f"calling %s (from %s) with %s {_GOES}", *words)
            return function(*args, **kwargs)

        listed = ", ".join(sorted(item[0] for item in names))
        what = f"SOME ARGUMENTS ARE DEPRECATED: `({listed})`. They"
        doc = _with_notice(function.__doc__, " arguments", what, date, instructions)
        return decorators.make_decorator(function, call, "deprecated", doc)

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[..., Any]:
    """Decorate a function some values of whose arguments should no longer be given."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        decorator_notes.validate_callable(function, "deprecated_arg_values")
        signature = inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = _given(signature, args, kwargs, defaults=True)
            for name, value in deprecated_kwargs.items():
                if name in given and _same(given[name], value):
                    words = (function.__qualname__, function.__module__, name, value, _when(date), instructions)
                    _warn((function, name), warn_once, f"calling %s (from %s) with %s=%s {_GOES}", *words)
            return function(*args, **kwargs)

        listed = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))
        what = f"SOME ARGUMENT VALUES ARE DEPRECATED: `({listed})`. They"
        doc = _with_notice(function.__doc__, " argument values", what, date, instructions)
        return decorators.make_decorator(function, call, "deprecated", doc)

    return decorate


def _takes_any(signature: inspect.Signature) -> bool:
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())


def _given(signature: inspect.Signature, args: Any, kwargs: Any, defaults: bool = False) -> dict[str, Any]:
    try:
        bound = signature.bind_partial(*args, **kwargs)
    except TypeError:  # the function itself will say what is wrong
        return {}
    if defaults:
        bound.apply_defaults()
    return dict(bound.arguments)


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
    words = ("The name %s is deprecated. Please use %s instead.\n", deprecated_name, name)
    if inspect.isclass(func_or_class):
        first = func_or_class.__init__

        class Alias(func_or_class):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                _warn(Alias, warn_once, *words)
                super().__init__(*args, **kwargs)

        Alias.__init__ = decorators.make_decorator(first, Alias.__init__, "deprecated")  # type: ignore[method-assign]
        Alias.__name__, Alias.__module__ = func_or_class.__name__, func_or_class.__module__
        Alias.__doc__ = decorator_notes.add_notice_to_docstring(
            func_or_class.__doc__,
            f"Please use {name} instead.",
            "DEPRECATED CLASS",
            "(deprecated)",
            ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "],
            "Deprecated",
        )
        return Alias

    def call(*args: Any, **kwargs: Any) -> Any:
        _warn(call, warn_once, *words)
        return func_or_class(*args, **kwargs)

    what = "THIS FUNCTION IS DEPRECATED. It"
    doc = _with_notice(func_or_class.__doc__, "", what, None, f"Please use {name} instead.")
    return decorators.make_decorator(func_or_class, call, "deprecated", doc)


class DeprecatedNamesAlreadySetError(Exception):
    """Raised when the deprecated names of a function are said a second time."""


def deprecated_endpoints(*args: str) -> Callable[[Any], Any]:
    """Decorate a function, saying which of its public names are deprecated."""

    def decorate(function: Any) -> Any:
        if "_tf_deprecated_api_names" in function.__dict__:
            raise DeprecatedNamesAlreadySetError(
                f"Cannot set deprecated names for {function.__name__} to {args}. "
                f"Deprecated names are already set to {function._tf_deprecated_api_names}."
            )
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
    """Return a module's `__getattr__` for a module that has moved: the first use of it is told."""

    def getter(name: str) -> Any:
        if getter not in _PRINTED_WARNING and _PRINT_DEPRECATION_WARNINGS:
            _PRINTED_WARNING[getter] = True
            logging.warning(
                "Please fix your imports. Module %s has been moved to %s. "
                "The old module will be deleted in version %s.",
                deprecated_name,
                new_module.__name__,
                deletion_version,
            )
        return getattr(new_module, name)

    return getter


def enable_strict_mode() -> None:
    """Make every use of what is deprecated an error."""
    global _STRICT
    _STRICT = True
