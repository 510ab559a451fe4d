"""AutoGraph's machinery as TensorFlow's inside shows it: options of a conversion, rules of what is converted, `PyToTF`.

Here a function is converted as a whole (`rewrite`), not by one converter after another; so a transpiler that asks for
some of the converters gets a function in which all have had their turn, and which does the same.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ebbflow.functions.autograph import ag, libraries
from ebbflow.functions.autograph.convert import converted
from ebbflow.functions.autograph.public import Feature


class ConversionOptions:
    """What a conversion does: whether of what is called, too, and which features."""

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Feature | Iterable[Feature] | None = Feature.ALL,
    ):
        self.recursive, self.user_requested = recursive, user_requested
        self.internal_convert_user_code = internal_convert_user_code
        given = () if optional_features is None else optional_features
        self.optional_features = frozenset([given] if isinstance(given, Feature) else given)

    def as_tuple(self) -> tuple[Any, ...]:
        """Return all of it, to compare and to hash."""
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def uses(self, feature: Feature) -> bool:
        """Return whether a feature is asked for, by itself or with all."""
        return bool({Feature.ALL, feature} & self.optional_features)

    def call_options(self) -> ConversionOptions:
        """Return the options for what a function calls."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __hash__(self) -> int:
        return hash(self.as_tuple())


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)


class ProgramContext(NamedTuple):
    """What is the same for all functions of a conversion."""

    options: ConversionOptions
    autograph_module: Any = None


class _Rule:
    """Says what to do with modules of a name, and those below."""

    def __init__(self, module_prefix: str):
        self._prefix = module_prefix

    def matches(self, module_name: str) -> bool:
        """Return whether a module is the one named, or below it."""
        return module_name == self._prefix or module_name.startswith(self._prefix + ".")


class DoNotConvert(_Rule):
    """Functions of these modules stay as they are."""


class Convert(_Rule):
    """Functions of these modules are converted."""


CONVERSION_RULES: tuple[_Rule, ...] = ()
"""Rules that a program puts in front of what is done anyway; the module `config` of a program may hold others."""


def is_allowlisted(o: Any, check_call_override: bool = True, allow_namedtuple_subclass: bool = False) -> bool:
    """Return whether something is left unconverted: a library's, or what a rule of the program says so of."""
    owner = inspect.getmodule(o) if not isinstance(o, ModuleType) else o
    name = owner.__name__ if isinstance(owner, ModuleType) else getattr(o, "__module__", None)
    rule = _rule_for(name) if isinstance(name, str) else None
    if rule is not None:
        return isinstance(rule, DoNotConvert)
    function = inspect.unwrap(o) if isinstance(o, FunctionType) else o
    if isinstance(function, FunctionType) and libraries.is_library_code(function.__code__, function.__globals__):
        return True
    if isinstance(owner, ModuleType) and isinstance(o, ModuleType):
        return libraries.is_library_module(owner)
    return _its_owner_is(o, check_call_override)


def _its_owner_is(o: Any, check_call_override: bool) -> bool:
    """Return whether a method's class, or the method by which an object is called, is left unconverted."""
    if isinstance(o, MethodType):
        inner = o.__func__
        definer = next((cls for cls in type(o.__self__).__mro__ if inner in vars(cls).values()), type(o.__self__))
        return is_allowlisted(definer, check_call_override=False) if definer.__module__ != "builtins" else False
    if check_call_override and not inspect.isclass(o) and not isinstance(o, FunctionType) and callable(o):
        call = o.__call__
        return isinstance(call, MethodType) and is_allowlisted(call, check_call_override=False)
    return False


def _rule_for(module_name: str) -> _Rule | None:
    """Return the first rule that matches a module, of those the program has set."""
    config = sys.modules.get("tensorflow.python.autograph.core.config")
    rules = getattr(config, "CONVERSION_RULES", CONVERSION_RULES)
    return next((rule for rule in rules if rule.matches(module_name)), None)


class PyToTF:
    """Converts functions."""

    def get_extra_locals(self) -> dict[str, Any]:
        """Return what converted code calls AutoGraph's operators by."""
        return {"ag__": ag}

    def transform(self, obj: Any, user_context: ProgramContext) -> Any:
        """Return the conversion of a function, the module it is in, and what is known of its lines."""
        return self.transform_function(obj, user_context)

    def transform_function(self, fn: Callable[..., Any], user_context: ProgramContext) -> Any:
        """Return the conversion of a function, the module it is in, and what is known of its lines."""
        return converted(fn, asked=True), inspect.getmodule(fn), {}
