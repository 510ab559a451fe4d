"""Types of functions, as Python signatures whose annotations are trace types.

A `Parameter` says name, kind, whether it may be left out and which type it takes; a `FunctionType` is a row of them
with the types of what the function captures and gives. A function type without types ("polymorphic") binds arguments;
one with all of them says whether a trace serves a call. Programs meet these in `tensorflow.core.function.polymorphism`.
Knows types; knows nothing of graphs and traces.
"""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.functions.trace_types import common, flat_types, is_subtype, placeholder_of, tensors_of
from ebbflow.platform import logging


class CapturedDefault:
    """Stands for a default value, which is kept apart from the type."""

    def __repr__(self) -> str:
        return "<captured_default_value>"

    __str__ = __repr__

    def __reduce__(self) -> str:
        return "CAPTURED_DEFAULT_VALUE"


CAPTURED_DEFAULT_VALUE = CapturedDefault()


class Parameter(inspect.Parameter):
    """A parameter of a function with the type that it takes, or None where any is taken."""

    def __init__(self, name: str, kind: Any, optional: bool, type_constraint: Any):
        if optional and kind in (self.VAR_POSITIONAL, self.VAR_KEYWORD):
            raise ValueError(f"Parameter {name!r} takes any number of arguments, so it cannot be optional")
        if type_constraint is not None and kind in (self.VAR_POSITIONAL, self.VAR_KEYWORD):
            raise TypeError(f"Variable args/kwargs can not have type constraints: {name!r}")
        super().__init__(
            name,
            kind,
            default=CAPTURED_DEFAULT_VALUE if optional else self.empty,
            annotation=self.empty if type_constraint is None else type_constraint,
        )

    @property
    def optional(self) -> bool:
        """Whether it need not be given."""
        return self.default is not self.empty

    @property
    def type_constraint(self) -> Any:
        """The type, or None."""
        return None if self.annotation is self.empty else self.annotation

    def _known_type(self, other: Parameter) -> Any:
        if self.type_constraint is None or other.type_constraint is None:
            raise TypeError(f"Can not determine relationship between partially specified types: {self} and {other}")
        return self.type_constraint

    def _alike(self, other: Any) -> bool:
        return (self.name, self.kind, self.optional) == (other.name, other.kind, other.optional)

    def is_subtype_of(self, other: Parameter) -> bool:
        """Return whether what this takes is taken by `other`, too."""
        mine = self._known_type(other)
        return self._alike(other) and is_subtype(mine, other.type_constraint)

    def most_specific_common_supertype(self, others: Sequence[Parameter]) -> Parameter | None:
        """Return the narrowest parameter that takes what this and all `others` take, or None."""
        for other in others:
            self._known_type(other)
        if not all(self._alike(other) for other in others):
            return None
        wider = common(self.type_constraint, [other.type_constraint for other in others])
        return None if wider is None else Parameter(self.name, self.kind, self.optional, wider)

    def __reduce__(self) -> Any:
        return Parameter, (self.name, self.kind, self.optional, self.type_constraint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        return self._alike(other) and self.type_constraint == other.type_constraint

    def __hash__(self) -> int:
        return hash((self.name, self.kind, self.optional, self.type_constraint))


class FunctionType(inspect.Signature):
    """The parameters of a function, the types of what it captures (by name), and that of its result."""

    __slots__ = ("_captures",)
    _captures: OrderedDict[Any, Any]

    def __init__(
        self, parameters: Iterable[Parameter], captures: Mapping[Any, Any] | None = None, return_annotation: Any = None
    ):
        super().__init__(
            list(parameters), return_annotation=self.empty if return_annotation is None else return_annotation
        )
        self._captures = OrderedDict(captures or {})

    @property
    def captures(self) -> OrderedDict[Any, Any]:
        """The types of captured values, by name."""
        return self._captures

    @property
    def output(self) -> Any:
        """The type of the result, or None where it is not known."""
        return None if self.return_annotation is self.empty else self.return_annotation

    @classmethod
    def from_callable(cls, obj: Any, *, follow_wrapped: bool = True, **kwargs: Any) -> FunctionType:
        """Return the parameters of a Python function, without types."""
        found = inspect.signature(obj, follow_wrapped=follow_wrapped).parameters.values()
        return cls(Parameter(p.name, p.kind, p.default is not p.empty, None) for p in found)

    @classmethod
    def get_default_values(cls, obj: Any, *, follow_wrapped: bool = True) -> dict[str, Any]:
        """Return the default values of a Python function's parameters, by name."""
        found = inspect.signature(obj, follow_wrapped=follow_wrapped).parameters.values()
        return {p.name: p.default for p in found if p.default is not p.empty}

    def bind_with_defaults(self, args: Any, kwargs: Any, default_values: Mapping[str, Any]) -> inspect.BoundArguments:
        """Return arguments bound to the parameters; what is left out has its value of `default_values`."""
        bound = self.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if value is CAPTURED_DEFAULT_VALUE:
                bound.arguments[name] = default_values[name]
        return bound

    def is_supertype_of(self, other: FunctionType) -> bool:
        """Return whether a function of type `other` serves where one of this type is asked for."""
        if len(self.parameters) != len(other.parameters):
            return False
        pairs = zip(self._typed(), other._typed(), strict=True)
        if not all(mine.is_subtype_of(theirs) for mine, theirs in pairs):
            return False
        return all(
            name in other.captures and is_subtype(of, other.captures[name]) for name, of in self.captures.items()
        )

    def most_specific_common_subtype(self, others: Sequence[FunctionType]) -> FunctionType | None:
        """Return the narrowest type whose functions serve wherever one of this or of `others` is asked for, or None."""
        if any(len(other.parameters) != len(self.parameters) for other in others):
            return None
        rows = zip(self._typed(), *[other._typed() for other in others], strict=True)
        parameters = [first.most_specific_common_supertype(rest) for first, *rest in rows]
        captures: dict[Any, Any] = {}
        for name in dict.fromkeys(name for kind in (self, *others) for name in kind.captures):
            first, *rest = [kind.captures[name] for kind in (self, *others) if name in kind.captures]
            captures[name] = common(first, rest)
        if None in parameters or any(of is None for of in captures.values()):
            return None
        return FunctionType([p for p in parameters if p is not None], captures, self.output)

    def _typed(self) -> list[Parameter]:
        return list(self.parameters.values())  # type: ignore[arg-type]

    def placeholder_arguments(self, placeholder_context: Any) -> inspect.BoundArguments:
        """Return what stands for the arguments while the function is traced, bound."""
        arguments = OrderedDict()
        for parameter in self._typed():
            if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                raise ValueError(f"Can not generate placeholder values for variable length function type {self}")
            if parameter.type_constraint is None:
                raise ValueError(f"Can not generate placeholder value for partially defined function type {self}")
            arguments[parameter.name] = placeholder_of(parameter.type_constraint, placeholder_context)
        return inspect.BoundArguments(self, arguments)

    def _in_order(self) -> list[Parameter]:
        """Return the parameters in the order their tensors are passed: those by name last, sorted."""
        named = [p for p in self._typed() if p.kind is Parameter.KEYWORD_ONLY]
        rest = [p for p in self._typed() if p.kind is not Parameter.KEYWORD_ONLY]
        return rest + sorted(named, key=lambda p: p.name)

    @property
    def flat_inputs(self) -> list[Any]:
        """The specs of all tensors among the arguments, in the order they are passed."""
        return [spec for p in self._in_order() for spec in flat_types(p.type_constraint)]

    @property
    def flat_captures(self) -> list[Any]:
        """The specs of all captured tensors."""
        return [spec for of in self.captures.values() for spec in flat_types(of)]

    @property
    def flat_outputs(self) -> list[Any]:
        """The specs of all tensors that the function gives."""
        return [] if self.output is None else flat_types(self.output)

    def unpack_inputs(self, bound_parameters: inspect.BoundArguments) -> list[Any]:
        """Return the tensors among bound arguments, in the order they are passed."""
        given = bound_parameters.arguments
        return [t for p in self._in_order() for t in tensors_of(p.type_constraint, given[p.name])]

    def __reduce__(self) -> Any:
        return FunctionType, (list(self.parameters.values()), dict(self._captures), self.output)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionType):
            return NotImplemented
        return super().__eq__(other) and self._captures == other._captures

    def __hash__(self) -> int:
        return hash((tuple(self.parameters.items()), tuple(self._captures.items())))

    def __repr__(self) -> str:
        rows = ", ".join(map(repr, self.parameters.values()))
        return f"FunctionType(parameters=[{rows}], captures={dict(self._captures)!r}, output={self.output!r})"


def sanitize_arg_name(name: str) -> str:
    """Return a name that a parameter of a traced function can have.

    >>> sanitize_arg_name("96ab.cd")
    'arg_96ab_cd'
    """
    plain = re.sub(r"[^a-zA-Z0-9]", "_", name)
    plain = plain if plain[:1].isalpha() else "arg_" + plain
    if plain != name:
        logging.warning("`%s` is not a valid tf.function parameter name. Sanitizing to `%s`.", name, plain)
    return plain


def canonicalize_to_monomorphic(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    default_values: Mapping[str, Any],
    capture_types: Mapping[Any, Any],
    polymorphic_type: FunctionType,
    type_of: Callable[[Any], Any],
) -> FunctionType:
    """Return the type of a call: each argument a parameter with its type, those beyond the named ones, too."""
    bound = polymorphic_type.bind_with_defaults(args, kwargs, default_values)
    rows: list[Parameter] = []
    for parameter in polymorphic_type.parameters.values():
        name, kind = parameter.name, parameter.kind
        if kind is Parameter.VAR_POSITIONAL:
            values = bound.arguments.get(name, ())
            rows = [Parameter(p.name, Parameter.POSITIONAL_ONLY, False, p.type_constraint) for p in rows]
            rows += [
                Parameter(f"{name}_{i}", Parameter.POSITIONAL_ONLY, False, type_of(v)) for i, v in enumerate(values)
            ]
        elif kind is Parameter.VAR_KEYWORD:
            given = bound.arguments.get(name, {})
            rows += [Parameter(key, Parameter.KEYWORD_ONLY, False, type_of(given[key])) for key in sorted(given)]
        else:
            rows.append(Parameter(name, kind, False, type_of(bound.arguments[name])))
    return FunctionType(rows, capture_types)


def from_structured_signature(
    input_signature: Any, output_signature: Any, capture_types: Mapping[Any, Any] | None, type_of: Callable[[Any], Any]
) -> FunctionType:
    """Return the type of a function whose arguments (a row and a dict) and result are said by example."""
    args, kwargs = input_signature if input_signature is not None else ((), {})
    rows = [Parameter(f"arg_{i}", Parameter.POSITIONAL_ONLY, False, type_of(v)) for i, v in enumerate(args)]
    rows += [Parameter(key, Parameter.KEYWORD_ONLY, False, type_of(v)) for key, v in kwargs.items()]
    return FunctionType(rows, capture_types, type_of(output_signature))


def is_same_structure(structure1: Any, structure2: Any, check_values: bool = False) -> bool:
    """Return whether two values are nested alike, and, if asked, hold the same."""
    try:
        nest.assert_same_structure(structure1, structure2, expand_composites=True)
    except (ValueError, TypeError):
        return False
    if not check_values:
        return True
    flat = zip(nest.flatten(structure1, expand_composites=True), nest.flatten(structure2, expand_composites=True))
    return all(type(a) is type(b) and a == b for a, b in flat)
