"""What a Python function asks of its callers, as TensorFlow's inside says it: a `FunctionSpec`.

A Python function and an `input_signature` together make a `FunctionType`: the signature's types go to the parameters
in order, those it does not reach keep the types of their default values. Knows types; traces nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.functions.function_types import FunctionType, Parameter, canonicalize_to_monomorphic
from ebbflow.functions.signature import Given, checked_input_signature, type_of

_NAMED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def make_function_type(
    python_function: Callable[..., Any], input_signature: Any
) -> tuple[FunctionType, dict[str, Any]]:
    """Return the type of a Python function, with what `input_signature` says of it, and its default values."""
    if input_signature is not None:
        input_signature = checked_input_signature(input_signature)
    plain = FunctionType.from_callable(python_function)
    defaults = FunctionType.get_default_values(python_function)
    if input_signature is None:
        return plain, defaults
    return with_constraints(plain, input_signature, defaults), defaults


def with_constraints(kind: FunctionType, input_signature: Sequence[Any], defaults: Mapping[str, Any]) -> FunctionType:
    """Return a function type whose parameters take the types of a signature, in order."""
    left = [type_of(spec, Given()) for spec in input_signature]
    rows: list[Parameter] = []
    any_number = any(p.kind is Parameter.VAR_POSITIONAL for p in kind.parameters.values())
    for p in kind.parameters.values():
        if p.kind is Parameter.VAR_KEYWORD:
            continue
        if p.kind is Parameter.VAR_POSITIONAL:
            rows += [Parameter(f"{p.name}_{i}", Parameter.POSITIONAL_ONLY, False, of) for i, of in enumerate(left)]
            left = []
            continue
        how = Parameter.POSITIONAL_ONLY if any_number and p.kind is not Parameter.KEYWORD_ONLY else p.kind
        if p.name == "self":
            rows.append(Parameter(p.name, how, p.default is not p.empty, None))
        else:
            rows.append(Parameter(p.name, how, p.default is not p.empty, _constraint_of(p, left, defaults)))
    if left:
        raise TypeError(f"input_signature contains {len(left)} extra type constraints.")
    return FunctionType(rows)


def _constraint_of(parameter: inspect.Parameter, left: list[Any], defaults: Mapping[str, Any]) -> Any:
    """Return the next type of a signature, or that of the parameter's default value."""
    name = parameter.name
    if parameter.kind is Parameter.KEYWORD_ONLY and name not in defaults:
        raise TypeError(f"Since input_signature is defined, keyword-only parameter `{name}` must have a default value")
    if left:
        return left.pop(0)
    if name not in defaults:
        raise TypeError(f"input_signature missing type constraint for {name}")
    return type_of(defaults[name], Given())


class FunctionSpec:
    """A function's type, its default values, and what else its maker asked for."""

    def __init__(
        self,
        function_type: FunctionType,
        default_values: Mapping[str, Any],
        is_pure: bool = False,
        jit_compile: bool | None = None,
        name: str | None = None,
    ):
        self.function_type, self.default_values = function_type, dict(default_values)
        self.is_pure, self.jit_compile = is_pure, jit_compile
        self._name = name or "f"

    @classmethod
    def from_function_and_signature(
        cls,
        python_function: Callable[..., Any],
        input_signature: Any,
        is_pure: bool = False,
        name: str | None = None,
        jit_compile: bool | None = None,
    ) -> FunctionSpec:
        """Return what is known of a Python function that takes the types of `input_signature`."""
        kind, defaults = make_function_type(python_function, input_signature)
        known = name or getattr(python_function, "__name__", None)
        return cls(kind, defaults, is_pure, jit_compile, known)

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters as `inspect.getfullargspec` says them."""
        rows = list(self.function_type.parameters.values())
        args = [p.name for p in rows if p.kind in _NAMED[:2]]
        named = [p.name for p in rows if p.kind is Parameter.KEYWORD_ONLY]
        defaults = tuple(self.default_values[name] for name in args if name in self.default_values)
        by_name = {name: self.default_values[name] for name in named if name in self.default_values}
        return inspect.FullArgSpec(
            args, self.vararg_name, self.varkw_name, defaults or None, named, by_name or None, {}
        )  # fmt: skip

    def _name_of(self, kind: Any) -> str | None:
        return next((p.name for p in self.function_type.parameters.values() if p.kind is kind), None)

    @property
    def vararg_name(self) -> str | None:
        """The name of the parameter that takes any number of arguments, if there is one."""
        return self._name_of(Parameter.VAR_POSITIONAL)

    @property
    def varkw_name(self) -> str | None:
        """The name of the parameter that takes any names, if there is one."""
        return self._name_of(Parameter.VAR_KEYWORD)

    @property
    def arg_names(self) -> list[str]:
        """The names of parameters given by position or by name."""
        return self.fullargspec.args

    @property
    def is_method(self) -> bool:
        """Whether the first parameter is an instance."""
        return next(iter(self.function_type.parameters), None) == "self"

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The types that callers are held to, or None where there are none."""
        rows = [p for p in self.function_type.parameters.values() if p.name != "self"]
        if not rows or any(p.type_constraint is None for p in rows):  # type: ignore[attr-defined]
            return None
        given = [p for p in rows if not self._by_default(p)]
        return tuple(_as_given(p.type_constraint) for p in given)  # type: ignore[attr-defined]

    def _by_default(self, parameter: Any) -> bool:
        """Return whether a parameter has its type from its default value."""
        if parameter.name not in self.default_values:
            return False
        return bool(parameter.type_constraint == type_of(self.default_values[parameter.name], Given()))

    def make_canonicalized_monomorphic_type(
        self, args: Any, kwargs: Any, captures: Mapping[Any, Any] | None = None
    ) -> FunctionType:
        """Return the type of a call with these arguments."""
        given = Given()
        types = {key: type_of(value, given) for key, value in (captures or {}).items()}
        return canonicalize_to_monomorphic(
            args, kwargs, self.default_values, types, self.function_type, lambda value: type_of(value, given)
        )

    def signature_summary(self, default_values: bool = False) -> str:
        """Return the parameters with their types as text, with their default values if asked."""
        lines = ["Input Parameters:"]
        lines += [f"  {p.name} ({p.kind.name}): {p.type_constraint}" for p in self.function_type.parameters.values()]  # type: ignore[attr-defined]
        lines += ["Output Type:", f"  {self.function_type.output}", "Captures:"]
        lines += [f"  {name}: {of}" for name, of in self.function_type.captures.items()] or ["  None"]
        if default_values:
            lines += ["Defaults:"] + (
                [f"  {name}: {value}" for name, value in self.default_values.items()] or ["  None"]
            )
        return "\n".join(lines)


def _as_given(kind: Any) -> Any:
    """Return a type as it stood in a signature: containers of types are containers again."""
    return kind.placeholder_value(_AsSpecs()) if hasattr(kind, "components") and hasattr(kind, "form") else kind


class _AsSpecs:
    name = ""

    def argument(self, spec: Any) -> Any:
        return spec
