"""Functions that come from a SavedModel: bodies of its library, bound to the objects they capture.

A `RestoredFunction` picks the trace whose recorded signature fits a call (tensors by dtype and shape, Python values by
equality); it has no Python function to trace anew. Bodies are built when a trace is first needed, so that loading a
large model costs what is used of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import errors, nest, source
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.function import Function
from ebbflow.functions.signature import FunctionSignature, FunctionType, Given, Parameter, type_of
from ebbflow.io.structures import decode_proto, named_tuple_class

FULL_ARG_SPEC = ("args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations")
"""What is said of a Python function's parameters."""

JIT_COMPILE = (None, True, False)
"""What the numbers of a FunctionSpec's jit_compile mean."""


class RestoredConcreteFunction(ConcreteFunction):
    """One trace from a file."""

    def __init__(
        self, graph: FuncGraph, kind: FunctionType, keywords: Sequence[str] | None, positional: int, output: Any
    ):
        super().__init__(graph, kind)
        self._output = output
        captured = self.function_type.captured
        self.function_type = kind.with_types(kind.types, type_of(output, Given()))
        self.function_type.captured = captured
        self._keywords = None if keywords is None else list(keywords)
        self._allowed_positional = positional

    @property
    def structured_outputs(self) -> Any:
        """What it gives, as specs with the names they were saved under."""
        return self._output

    def _bound_flat(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        if len(args) > self._allowed_positional:
            names = ", ".join(self._arg_keywords)
            raise TypeError(
                f"{self.graph.name}({names}) takes {self._allowed_positional} positional arguments, got {len(args)}: "
                "give the others by name"
            )
        return super()._bound_flat(args, kwargs)

    @property
    def _num_positional_args(self) -> int:
        return self._allowed_positional


def bound_body(body: FuncGraph, captures: Sequence[Any], output: Any, name: str) -> FuncGraph:
    """Return a body whose last arguments are captured tensors, and whose results have the structure `output`."""
    graph = body.with_outputs(body.outputs, name)
    count = len(captures)
    inside = graph.inputs[len(graph.inputs) - count :]
    graph._captures = {}
    for i, (outer, inner) in enumerate(zip(captures, inside, strict=True)):
        graph._captures[-i - 1 if id(outer) in graph._captures else id(outer)] = (outer, inner)
    graph.structured_outputs = packed(output, graph.outputs)
    return graph


def packed(structure: Any, tensors: Sequence[Any]) -> Any:
    """Return tensors arranged as a structure of specs says."""
    rest = iter(tensors)

    def leaf(spec: Any) -> Any:
        if not isinstance(spec, TypeSpec):
            return spec
        if isinstance(spec, TensorSpec):
            tensor = next(rest)
            if tensor.shape.is_compatible_with(spec.shape):  # a body does not know the shapes of variables it captures
                tensor.set_shape(spec.shape)
            return tensor
        specs = nest.flatten(spec._component_specs, expand_composites=True)
        parts = nest.pack_sequence_as(spec._component_specs, [next(rest) for _ in specs], expand_composites=True)
        return spec._from_components(parts)

    return nest.map_structure(leaf, structure)


# --- signatures -------------------------------------------------------------------------------------------------------


def python_signature(function_spec: Any) -> inspect.Signature:
    """Return the Python signature that a FunctionSpec message describes."""
    fields = decode_proto(function_spec.fullargspec)
    missing = [name for name in FULL_ARG_SPEC[:-1] if not hasattr(fields, name)]
    if missing:
        raise errors.DataLossError(None, None, f"the parameters of a function are described without {missing}")
    names = list(fields.args)
    if function_spec.is_method and names[:1] == ["self"]:
        names = names[1:]
    defaults = list(fields.defaults or ())
    first = len(names) - len(defaults)
    parameters = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=defaults[i - first] if i >= first else Parameter.empty)
        for i, name in enumerate(names)
    ]
    if fields.varargs:
        parameters.append(Parameter(fields.varargs, Parameter.VAR_POSITIONAL))
    keyword_defaults = fields.kwonlydefaults or {}
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=keyword_defaults.get(name, Parameter.empty))
        for name in fields.kwonlyargs or ()
    ]
    if fields.varkw:
        parameters.append(Parameter(fields.varkw, Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def stub(name: str, signature: inspect.Signature | None) -> Callable[..., Any]:
    """Return a function of a signature that cannot be run: its Python text is not in the file."""

    def restored(*args: Any, **kwargs: Any) -> Any:
        raise ValueError(f"{name} comes from a SavedModel: only its recorded traces can be called")

    restored.__name__ = name
    restored.__signature__ = signature or inspect.Signature(  # type: ignore[attr-defined]
        [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]
    )
    return restored


def kind_of(saved: Any, signature: FunctionSignature | None, keywords: Sequence[str]) -> FunctionType:
    """Return the types of a trace's arguments, from its canonical signature."""
    args, kwargs = decode_proto(saved.canonicalized_input_signature)
    if signature is not None:
        return signature.type_of(args, dict(sorted(kwargs.items())))
    names = list(keywords) if len(keywords) >= len(args) else [f"arg_{i}" for i in range(len(args))]
    parameters: list[tuple[str, Any, Any]] = [
        (names[i], Parameter.POSITIONAL_OR_KEYWORD, type_of(arg, Given())) for i, arg in enumerate(args)
    ]
    parameters += [(name, Parameter.KEYWORD_ONLY, type_of(kwargs[name], Given())) for name in sorted(kwargs)]
    return FunctionType(parameters)


def _without_names(kind: FunctionType) -> FunctionType:
    """Return types that any tensor of that dtype and shape fits, whatever the argument was called."""
    return kind.with_types([TensorSpec(t.shape, t.dtype) if type(t) is TensorSpec else t for t in kind.types])


class _Recorded:
    """A trace as the file has it; its body is built when it is asked for."""

    place = key = None
    because, seconds = "it was loaded", 0.0

    def __init__(self, make: Callable[[], ConcreteFunction], kind: FunctionType):
        self._make, self.kind = make, kind
        self._concrete: ConcreteFunction | None = None

    @property
    def concrete(self) -> ConcreteFunction:
        if self._concrete is None:
            self._concrete = self._make()
        return self._concrete


class RestoredFunction(Function):
    """A function with the traces that were saved, and no others."""

    def __init__(self, name: str, function_spec: Any, traces: Sequence[tuple[Any, Callable[[], ConcreteFunction]]]):
        given = function_spec.HasField("fullargspec")
        python = stub(name, python_signature(function_spec) if given else None)
        super().__init__(python, name, autograph=False, jit_compile=JIT_COMPILE[function_spec.jit_compile])
        self._saved_input_signature = (
            decode_proto(function_spec.input_signature) if function_spec.HasField("input_signature") else None
        )
        kinds = [_without_names(kind_of(saved, self._signature, ())) for saved, _ in traces]
        self._entries = [_Recorded(make, kind) for (_, make), kind in zip(traces, kinds, strict=True)]  # type: ignore[misc]

    @property
    def input_signature(self) -> Any:
        return self._saved_input_signature

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        return self._list_all_concrete_functions()

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[ConcreteFunction, Sequence[Any]]:
        args, kwargs = _known_classes(args), _known_classes(kwargs)
        positional, named = self._signature.bind(args, kwargs)
        given = Given(self._forget_ref)
        key = self._signature.key(positional, named, given)
        found = self._by_key.get(key)
        if found is not None:
            return found, given.tensors
        kind = self._signature.type_of(positional, named)
        entry = self._serving_entry(kind)
        if entry is not None:
            if not given.refs:
                self._by_key[key] = entry.concrete
                if not kwargs and len(given.tensors) == len(args):
                    self._learn(args, positional, entry.concrete)
            return entry.concrete, given.tensors
        return self._converted(positional, named)

    def _serving_entry(self, kind: FunctionType) -> Any:
        fitting = [entry for entry in self._entries if kind.is_subtype_of(entry.kind)]
        return next(
            (e for e in fitting if all(e.kind.is_subtype_of(other.kind) for other in fitting)),
            fitting[0] if fitting else None,
        )

    def _converted(self, positional: Sequence[Any], named: dict[str, Any]) -> tuple[ConcreteFunction, Sequence[Any]]:
        """Return the first trace that the arguments can be converted for: numbers and arrays become tensors."""
        for entry in self._entries:
            kind = entry.kind
            if len(positional) != kind.positional or set(named) != set(kind.names[kind.positional :]):
                continue
            try:
                args, kwargs = kind.cast(list(positional), named)
                tensors = kind.tensors_of(args, kwargs)
            except (TypeError, ValueError):
                continue
            if all(_fits(spec, tensor) for spec, tensor in zip(kind.flat_types(), tensors, strict=True)):
                return entry.concrete, tensors
        if self._saved_input_signature is not None:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `no fit for {self._saved_input_signature}`. Received "
                f"args: {tuple(positional)} and kwargs: {named} for signature: {self._entries[0].kind}."
            )
        raise ValueError(self._refusal(positional, named))

    def _refusal(self, positional: Sequence[Any], named: dict[str, Any]) -> str:
        if not self._entries:
            return "Found zero restored functions for caller function: it was not traced when it was saved."
        options = "\n\n".join(f"Option {i + 1}:\n  {entry.kind}" for i, entry in enumerate(self._entries))
        return (
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"  Positional arguments ({len(positional)} total):\n"
            + "".join(f"    * {arg!r}\n" for arg in positional)
            + f"  Keyword arguments: {named}\n\n Expected these arguments to match one of the following "
            f"{len(self._entries)} option(s):\n\n{options}"
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for arguments like these; with none, the only one there is."""
        if not args and not kwargs and len(self._entries) == 1:
            return self._entries[0].concrete
        try:
            return self._find(args, kwargs)[0]
        except Exception as error:
            raise source.trimmed(error) from error.__cause__

    def _method_of(self, instance: Any) -> Any:
        return self  # its instance is part of what it captures

    def __repr__(self) -> str:
        return f"<tf.function {self._name} with {len(self._entries)} traces, loaded>"


def _known_classes(value: Any) -> Any:
    """Return a structure whose named tuples are of the classes that a file's are: same name, same fields."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return named_tuple_class(type(value).__name__, tuple(value._fields))(*map(_known_classes, value))
    if value.__class__ in (list, tuple):
        return value.__class__(map(_known_classes, value))
    if value.__class__ is dict:
        return {key: _known_classes(item) for key, item in value.items()}
    return value


def _fits(spec: TensorSpec, tensor: Any) -> bool:
    if isinstance(tensor, CompositeTensor) or not isinstance(tensor, Tensor):
        return True
    return tensor.dtype.base_dtype is spec.dtype.base_dtype and spec.shape.is_compatible_with(tensor.shape)
