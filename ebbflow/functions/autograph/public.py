"""`tf.autograph`: converting by hand, showing the code that conversion makes, and keeping functions out of it."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.autograph import status
from ebbflow.functions.autograph.convert import OFF, converted, rewritten, template_of
from ebbflow.functions.autograph.errors import ConversionError
from ebbflow.functions.autograph.log import set_verbosity, trace

__all__ = [
    "Feature",
    "do_not_convert",
    "set_loop_options",
    "set_verbosity",
    "tf_convert",
    "to_code",
    "to_code_v1",
    "to_graph",
    "to_graph_v1",
    "trace",
]


class Feature(enum.Enum):
    """Conversions that TensorFlow does on demand only; here they are always done where they are of use."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Return all of them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Callable[..., Any]) -> tuple[Feature, ...]:
        """Return all but one, or some."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(feature for feature in cls if feature not in left_out)


def to_graph(
    entity: object, recursive: bool = True, experimental_optional_features: object = None
) -> Callable[..., Any]:
    """Return a function that does what `entity` does, and whose conditions and loops may be on tensors of a graph."""
    _function_of(entity, template_of)
    return converted(entity, asked=True)


def to_code(entity: object, recursive: bool = True, experimental_optional_features: object = None) -> str:
    """Return the source of what conversion makes of a function; `ag` in it are AutoGraph's operators."""
    node, _ = _function_of(entity, rewritten)
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"


def _function_of(entity: Any, use: Callable[[FunctionType], Any]) -> Any:
    """Give the Python function behind an entity to `use`; say what could not be converted."""
    function = inspect.unwrap(entity) if isinstance(entity, FunctionType) else entity
    while isinstance(function, (MethodType, functools.partial)):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    if not isinstance(function, FunctionType) and not isinstance(entity, type):
        call = getattr(type(entity), "__call__", None)  # noqa: B004  (the function is wanted)
        function = None if hasattr(entity, "python_function") else call
    try:
        if not isinstance(function, FunctionType):
            raise ValueError(
                "Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a "
                "@tf.function, try passing f.python_function instead."
            )
        return use(function)
    except Exception as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def to_graph_v1(
    entity: object,
    recursive: bool = True,
    arg_values: Mapping[str, Any] | None = None,
    arg_types: Mapping[str, Any] | None = None,
    experimental_optional_features: object = None,
) -> Callable[..., Any]:
    """Return the conversion of a function, as TF 1 has it."""
    return to_graph(entity, recursive, experimental_optional_features)


def to_code_v1(
    entity: object,
    recursive: bool = True,
    arg_values: Mapping[str, Any] | None = None,
    arg_types: Mapping[str, Any] | None = None,
    indentation: str = "  ",
    experimental_optional_features: object = None,
) -> str:
    """Return the source of a function's conversion, as TF 1 has it."""
    return to_code(entity, recursive, experimental_optional_features)


def do_not_convert(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that AutoGraph leaves as it is, with all that it calls."""
    if func is None:
        return do_not_convert

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        with status.conversion(False):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        unconverted = functools.update_wrapper(unconverted, func)
    setattr(unconverted, OFF, True)
    return unconverted


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: TensorLike | None = None,
    shape_invariants: Nested = None,
) -> None:
    """Say, at the start of a loop's body, how a loop in the graph is to run. A loop in Python does not mind."""


def convert_v1(
    recursive: bool = False,
    optional_features: object = None,
    user_requested: bool = True,
    conversion_ctx: object = None,
) -> Callable[..., Any]:
    """Return a decorator that converts a function when it is called, as `tf.contrib.autograph.convert` does."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return converted(function, asked=user_requested)(*args, **kwargs)

        setattr(wrapper, OFF, True)
        return wrapper

    return decorate


def tf_convert(
    f: Callable[..., Any], ctx: object = None, convert_by_default: bool = True, user_requested: bool = False
) -> Callable[..., Any]:
    """Return `f` converted where conversion is on: what functions of the library do with functions they are given."""
    return status.converted_where_on(f, convert_by_default, user_requested, getattr(ctx, "status", None))
