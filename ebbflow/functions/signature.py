"""Which trace of a function serves a call: arguments bound to parameters, and the key of what was given.

Tensors count by dtype and shape, Python values by value (and class: `1`, `1.0` and `True` are three, where TensorFlow
takes them for one and gives an int back for a float), containers by what they hold, composites by their spec, other
objects by identity, weakly: a trace goes when an object it was made for goes. The key is cheap and is all a call needs
when the trace exists; the full types (`trace_types`) are built only for a new trace. Knows Python signatures and types;
knows nothing of graphs.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.containers import PLAIN
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Nested
from ebbflow.functions.trace_types import (
    Container,
    Literal,
    TraceType,
    Weakref,
    cast,
    common,
    flat_types,
    is_subtype,
    placeholder_of,
    tensors_of,
)

Parameter = inspect.Parameter
_LITERALS = (int, float, bool, complex, str, bytes, type(None), range)


class Given:
    """What the walk over one call's arguments collects."""

    __slots__ = ("_aliases", "_apart", "forget", "refs", "tensors")

    def __init__(self, forget: Callable[[Any], None] | None = None, apart: Callable[[Any], bool] | None = None) -> None:
        self.tensors: list[Any] = []
        self.refs: list[Any] = []  # to objects that the key holds weakly; `forget` hears when one goes
        self.forget = forget
        self._aliases: dict[int, int] = {}
        self._apart = apart  # of a variable's handle: whether it has a trace of its own

    def alias_of(self, variable: Any) -> Any:
        """Return the same small number for the same variable, counted in the order they are met; where a trace serves
        one variable only, what tells it from all others.
        """
        number = id(variable._handle)
        if self._apart is not None and self._apart(variable._handle):
            return variable._unique_id, number
        return self._aliases.setdefault(number, len(self._aliases))


# --- keys -------------------------------------------------------------------------------------------------------------


def key_of(value: Any, given: Given) -> Any:
    """Return a hashable stand-in for a value's type; the tensors it holds are added to `given.tensors`."""
    cls = value.__class__
    if cls is EagerTensor:
        given.tensors.append(value)
        return value._dtype, value._array.shape
    if cls is float and value != value:
        return float, "nan"
    if cls in PLAIN_VALUES:
        return cls, value
    walker = _walkers.get(cls)
    if walker is None:
        walker = _walkers[cls] = _walker_of(cls)
    return walker(value, given)


PLAIN_VALUES = frozenset(_LITERALS)


def _tensor_key(value: Any, given: Given) -> Any:
    given.tensors.append(value)
    return value.dtype.base_dtype, value._dims


def _array_key(value: Any, given: Given) -> Any:
    return key_of(convert(value), given)


def _container_key(value: Any, given: Given) -> Any:
    kind: Any = PLAIN[value.__class__]
    keys = () if isinstance(value, (list, tuple)) else tuple(kind.keys(value))
    cls = dict if isinstance(value, dict) else value.__class__
    return (cls, keys, *[key_of(child, given) for child in kind.values(value)])


def _composite_key(value: Any, given: Given) -> Any:
    given.tensors.extend(nest.flatten(value, expand_composites=True))
    return value._type_spec


def _spec_key(value: Any, given: Given) -> Any:
    if isinstance(value, TensorSpec):
        dims = value.shape._dims
        return (value.dtype, dims) if value.name is None else (value.dtype, dims, value.name)
    return value


def _own_key(value: Any, given: Given) -> Any:
    kind = value.__tf_tracing_type__(given)
    given.tensors.extend(kind.to_tensors(value))
    return kind


def _object_key(value: Any, given: Given) -> Any:
    try:
        hash(value)
    except TypeError:
        raise unhashable(value) from None
    try:
        ref = weakref.ref(value, given.forget)
    except TypeError:  # no weak references to it: a frozenset, say
        return value.__class__, value
    given.refs.append(ref)
    return ref


def unhashable(value: Any) -> TypeError:
    """Return the error for an argument that no trace can be kept for."""
    return TypeError(
        f"Could not generate a generic TraceType for {value!r}.Please verify that it is immutable/hashable. Otherwise, "
        "consider implementing the Tracing Protocol for it. (A traced function is kept for each value of its Python "
        f"arguments, so they must be hashable: pass a tuple or a tensor instead of a {type(value).__name__}, or give "
        "the class a __tf_tracing_type__.)"
    )


_walkers: dict[type, Callable[[Any, Given], Any]] = {}


def _walker_of(cls: type) -> Callable[[Any, Given], Any]:
    if len(_walkers) > 4096:  # classes made on the fly must not be kept alive for ever
        _walkers.clear()
    if issubclass(cls, Tensor):
        return _tensor_key
    if issubclass(cls, (np.ndarray, np.generic)):
        return _array_key
    if issubclass(cls, TypeSpec):
        return _spec_key
    if hasattr(cls, "__tf_tracing_type__"):
        return _own_key
    if issubclass(cls, CompositeTensor):
        return _composite_key
    if PLAIN[cls] is not None:
        return _container_key
    if hasattr(cls, "__array__") or hasattr(cls, "__array_interface__"):
        return _array_key
    return _object_key


# --- types ------------------------------------------------------------------------------------------------------------


def type_of(value: Any, given: Given) -> Any:
    """Return the trace type of a value; a spec is its own."""
    cls = value.__class__
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if cls in PLAIN_VALUES:
        return Literal(value)
    if isinstance(value, (TypeSpec, TraceType)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return type_of(convert(value), given)
    if hasattr(cls, "__tf_tracing_type__"):
        return value.__tf_tracing_type__(given)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    kind = PLAIN[cls]
    if kind is not None:
        return Container.of(value, [type_of(child, given) for child in kind.values(value)])
    if hasattr(cls, "__array__") or hasattr(cls, "__array_interface__"):
        return type_of(convert(value), given)
    try:
        return Weakref(weakref.ref(value))
    except TypeError:
        return Literal(value)


class TypedParameter(Parameter):
    """A parameter of a function with the type that it takes."""

    @property
    def type_constraint(self) -> Any:
        """The type."""
        return self.annotation

    @property
    def optional(self) -> bool:
        """Whether it need not be given."""
        return self.default is not self.empty


class FunctionType:
    """The types of a function's parameters, and of its result once it is known."""

    captured: Sequence[Any] = ()
    """The tensors from outside that the function uses."""

    def __init__(self, parameters: Sequence[tuple[str, Any, Any]], output: Nested = None):
        self.names = tuple(name for name, _, _ in parameters)
        self.kinds = tuple(kind for _, kind, _ in parameters)
        self.types = tuple(kind for _, _, kind in parameters)
        self.output = output
        order = [i for i, kind in enumerate(self.kinds) if kind is not Parameter.KEYWORD_ONLY]
        keywords = [i for i, kind in enumerate(self.kinds) if kind is Parameter.KEYWORD_ONLY]
        self._flat_order = order + sorted(keywords, key=lambda i: self.names[i])
        self.positional = len(order)

    def with_types(self, types: Sequence[Any], output: Nested = None) -> FunctionType:
        """Return the same parameters with other types."""
        return FunctionType(list(zip(self.names, self.kinds, types, strict=True)), output)

    @property
    def parameters(self) -> dict[str, TypedParameter]:
        """The parameters by name, each with its type."""
        rows = zip(self.names, self.kinds, self.types, strict=True)
        return {name: TypedParameter(name, kind, annotation=of_type) for name, kind, of_type in rows}

    @property
    def captures(self) -> dict[int, Any]:
        """The types of the tensors from outside that the function uses, by the tensors' ids."""
        return {id(t): TensorSpec(t.shape, t.dtype.base_dtype) for t in self.captured}

    def is_subtype_of(self, other: FunctionType) -> bool:
        """Return whether a trace for `other` serves a call with these types."""
        return self.names == other.names and all(is_subtype(a, b) for a, b in zip(self.types, other.types, strict=True))

    def common_with(self, other: FunctionType) -> FunctionType | None:
        """Return the narrowest types that serve both, or None."""
        if self.names != other.names or self.kinds != other.kinds:
            return None
        types = [common(a, [b]) for a, b in zip(self.types, other.types, strict=True)]
        return None if any(t is None for t in types) else self.with_types(types)

    def placeholders(self, maker: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return what stands for the arguments while tracing, positional and by name."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        plain = [re.sub(r"\W", "_", name) for name in self.names]
        if len(set(plain)) < len(plain):
            raise ValueError(f"Name collision after sanitization. Arguments that differ in letters only: {self.names}")
        for name, kind, of_type in zip(self.names, self.kinds, self.types, strict=True):
            maker.name = name
            made = placeholder_of(of_type, maker)
            if kind is Parameter.KEYWORD_ONLY:
                kwargs[name] = made
            else:
                args.append(made)
        return args, kwargs

    def flat_types(self) -> list[TensorSpec]:
        """Return the specs of all tensors, in the order they are passed."""
        return [spec for i in self._flat_order for spec in flat_types(self.types[i])]

    def tensors_of(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Return the tensors among arguments of these types, in the order they are passed."""
        values = [*args, *[kwargs[name] for name in self.names[self.positional :]]]
        return [t for i in self._flat_order for t in tensors_of(self.types[i], values[i])]

    def cast(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return bound arguments as values of these types, or raise TypeError."""
        cast_args = [cast(t, v) for t, v in zip(self.types, args, strict=False)]
        names = dict(zip(self.names, self.types, strict=True))
        return cast_args, {name: cast(names[name], value) for name, value in kwargs.items()}

    def signature(self) -> inspect.Signature:
        """Return this as a Python signature whose annotations are the types."""
        parameters = [
            Parameter(name, kind, annotation=of_type)
            for name, kind, of_type in zip(self.names, self.kinds, self.types, strict=True)
        ]
        empty = inspect.Signature.empty
        return inspect.Signature(parameters, return_annotation=empty if self.output is None else self.output)

    def __str__(self) -> str:
        return str(self.signature())

    __repr__ = __str__


# --- binding ----------------------------------------------------------------------------------------------------------


class FunctionSignature:
    """The parameters of a Python function, and how arguments are bound to them."""

    def __init__(self, function: Callable[..., Any], input_signature: Any = None):
        try:
            self.python = inspect.signature(function)
        except (ValueError, TypeError):  # a builtin that does not say
            self.python = inspect.Signature(
                [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]
            )
        parameters = list(self.python.parameters.values())
        self._positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self._more = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._plain = not self._keywords and not self._more and self._rest is None
        self._defaults = [p.default for p in self._positional]
        self._required = sum(p.default is p.empty for p in self._positional)
        self.input_signature = None if input_signature is None else checked_input_signature(input_signature)
        self.awaits_self = self.input_signature is not None and next(iter(self.python.parameters), None) == "self"
        self.fixed = None if self.input_signature is None else self._fixed_type(self.input_signature)

    @property
    def arg_names(self) -> list[str]:
        """The names of the parameters that are given by position or by name."""
        return [p.name for p in self._positional]

    def _fixed_type(self, input_signature: tuple[Any, ...]) -> FunctionType:
        """Return the types that an `input_signature` fixes; parameters it does not reach keep their defaults.

        It says nothing of `self`: the types are those of the method, once it has its instance.
        """
        specs = list(input_signature)
        parameters: list[tuple[str, Any, Any]] = []
        for p in self._positional[self.awaits_self :]:
            if specs:
                parameters.append((p.name, self._kind(p), type_of(specs.pop(0), Given())))
            elif p.default is not p.empty:
                parameters.append((p.name, self._kind(p), type_of(p.default, Given())))
            else:
                raise TypeError(f"input_signature missing type constraint for {p.name}")
        if specs and self._rest is None:
            raise TypeError(f"input_signature contains {len(specs)} extra type constraints.")
        for i, spec in enumerate(specs):
            parameters.append((f"{self._rest}_{i}", Parameter.POSITIONAL_ONLY, type_of(spec, Given())))
        for p in self._keywords:
            if p.default is p.empty:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
                )
            parameters.append((p.name, p.kind, type_of(p.default, Given())))
        return FunctionType(parameters)

    def _kind(self, parameter: Parameter) -> Any:
        return Parameter.POSITIONAL_ONLY if self._rest is not None else parameter.kind

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return the arguments in the order of the parameters, defaults filled in; those by name apart."""
        count = len(args)
        if not kwargs and self._plain and self._required <= count <= len(self._defaults):
            return args if count == len(self._defaults) else (*args, *self._defaults[count:]), {}
        found = self._bound(args, kwargs) if self._rest is None and not self._more else None
        return found if found is not None else self._bind_slowly(args, kwargs)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
        """Bind as Python does, or give up: the slow way says what is wrong."""
        values, used = list(args), 0
        if len(args) > len(self._positional):
            return None
        named: dict[str, Any] = {}
        for p in [*self._positional[len(args) :], *self._keywords]:
            if p.name in kwargs and p.kind is not p.POSITIONAL_ONLY:
                value = kwargs[p.name]
                used += 1
            elif p.default is p.empty:
                return None
            else:
                value = p.default
            if p.kind is p.KEYWORD_ONLY:
                named[p.name] = value
            else:
                values.append(value)
        return (values, named) if used == len(kwargs) else None

    def _bind_slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        try:
            bound = self.python.bind(*args, **kwargs)
        except TypeError as error:
            raise self.refusal(error, args, kwargs) from None
        bound.apply_defaults()
        by_name = bound.arguments
        positional = [by_name[p.name] for p in self._positional]
        if self._rest is not None:
            positional.extend(by_name[self._rest])
        named = {p.name: by_name[p.name] for p in self._keywords}
        if self._more:
            extra = by_name[next(p.name for p in self.python.parameters.values() if p.kind is p.VAR_KEYWORD)]
            named.update(sorted(extra.items()))
        return positional, named

    def refusal(self, error: Any, args: Any, kwargs: Any, signature: Any = None) -> TypeError:
        """Return the error for arguments that do not fit the parameters."""
        if signature is None:
            signature = self._shown()
        return TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received args: {tuple(args)} and kwargs: {kwargs} "
            f"for signature: {signature}."
        )

    def _shown(self) -> str:
        if self.fixed is not None:
            return str(self.fixed)
        defaults = {
            p.name: p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else _Default())
            for p in self.python.parameters.values()
        }
        return str(inspect.Signature(list(defaults.values())))

    def key(self, positional: Sequence[Any], named: dict[str, Any], given: Given) -> Any:
        """Return the key of bound arguments, collecting their tensors in the order they are passed."""
        if not named:
            return tuple([key_of(value, given) for value in positional])
        return (
            tuple([key_of(value, given) for value in positional]),
            *[(name, key_of(named[name], given)) for name in sorted(named)],
        )

    def type_of(
        self, positional: Sequence[Any], named: dict[str, Any], apart: Callable[[Any], bool] | None = None
    ) -> FunctionType:
        """Return the types of bound arguments."""
        given = Given(apart=apart)
        names = [p.name for p in self._positional]
        parameters: list[tuple[str, Any, Any]] = []
        for i, value in enumerate(positional):
            inside = i < len(names)
            name = names[i] if inside else f"{self._rest}_{i - len(names)}"
            kind = self._kind(self._positional[i]) if inside else Parameter.POSITIONAL_ONLY
            parameters.append((name, kind, type_of(value, given)))
        parameters.extend((name, Parameter.KEYWORD_ONLY, type_of(value, given)) for name, value in named.items())
        return FunctionType(parameters)


class _Default:
    def __repr__(self) -> str:
        return "<captured_default_value>"


def checked_input_signature(input_signature: Any) -> tuple[Any, ...]:
    """Return an `input_signature` as a tuple of (nested) specs."""
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
    flat = nest.flatten(list(input_signature))
    variables = [s for s in flat if isinstance(s, TypeSpec) and s._is_dense and not isinstance(s, TensorSpec)]
    if variables:
        raise TypeError(f"input_signature doesn't support {type(variables[0]).__name__}, got {list(input_signature)}")
    wrong = [s for s in flat if not isinstance(s, (TypeSpec, TraceType))]
    if wrong and not all(isinstance(s, Tensor) or hasattr(s, "_tape_handle") for s in wrong):
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
            f"{list(input_signature)} with types {[type(s) for s in wrong]}."
        )
    return tuple(input_signature)
