"""`tensorflow.python.eager.polymorphic_function.tracing_compilation`: tracing as a service, without a `tf.function`.

`TracingOptions` say which Python function, under which types, and where its traces are kept: in a `FunctionCache` that
the caller holds, or nowhere. Traces are made by the functions of `function`; a cache has one of them for each Python
function and kind of options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import Function
from ebbflow.functions.function_types import FunctionType, Parameter
from ebbflow.functions.signature import FunctionType as TraceTypes
from ebbflow.functions.tracing import lifted
from ebbflow.functions.type_dispatch import FunctionCache, FunctionContext
from ebbflow.graph.symbolic import SymbolicTensor

KNOWN_ATTRIBUTES = frozenset(
    [
        "api_implements",
        "api_preferred_device",
        "backward_function_name",
        "composite_attributes",
        "disable_acd",
        "disable_summaries_at_runtime",
        "eager_runtime_construction_context",
        "forward_function_name",
        "implements",
        "input_shapes",
        "inputs_on_tpu_device",
        "no_inline",
        "original_function_name",
        "runtime_constant_optimization",
        "shared_rendezvous",
        "tf_data_function",
        "tfr_should_not_inline",
        "xla_compile_optional",
        "xla_cpu_only_ops",
        "_implements",
        "_noinline",
        "_original_func_name",
        "_XlaMustCompile",
        "_xla_compile_id",
    ]
)
"""The attrs that a trace may be given (TensorFlow's own list)."""


@dataclasses.dataclass
class TracingOptions:
    """Which Python function is traced, and how."""

    python_function: Callable[..., Any] = lambda *args, **kwargs: None
    name: str = "function"
    polymorphic_type: FunctionType | None = None
    default_values: Mapping[str, Any] | None = None
    scope_type: Any = None
    attributes: Mapping[str, Any] | None = None
    autograph: bool = True
    autograph_options: Any = None
    reduce_retracing: bool = False
    bind_graph_to_function: bool = False
    function_cache: FunctionCache | None = None
    function_captures: Any = None
    lock: Any = None

    def __post_init__(self) -> None:
        for name in self.attributes or {}:
            if name not in KNOWN_ATTRIBUTES:
                raise ValueError(f"Tracing compilation does not support `{name}` as an attribute.")

    @property
    def is_fixed(self) -> bool:
        """Whether the types of all arguments are said."""
        kind = self.polymorphic_type
        found: Any = () if kind is None else kind.parameters.values()
        return bool(found) and all(p.type_constraint is not None for p in found)


def call_function(args: Any = None, kwargs: Any = None, tracing_options: TracingOptions | None = None) -> Any:
    """Return what the traced function gives for arguments."""
    concrete, tensors = _found(args or (), kwargs or {}, tracing_options or TracingOptions())
    return concrete.call_flat(tensors)


def trace_function(
    args: Any = None, kwargs: Any = None, tracing_options: TracingOptions | None = None
) -> ConcreteFunction:
    """Return the trace for arguments like these, or for the types that the options fix."""
    options = tracing_options or TracingOptions()
    if options.is_fixed and not args and not kwargs:
        return _kept(_function_for(options)._find_fixed(None), options)
    return _found(args or (), kwargs or {}, options)[0]


def _found(args: Any, kwargs: Any, options: TracingOptions) -> tuple[ConcreteFunction, Any]:
    """Return the trace for arguments, and their tensors."""
    function = _function_for(options)
    if not options.is_fixed:
        concrete, tensors = function._find(tuple(args), dict(kwargs))
        return _kept(concrete, options), tensors
    kind: Any = options.polymorphic_type
    bound = kind.bind_with_defaults(args, kwargs, options.default_values or {})
    fixed = function._signature.fixed
    positional, named = fixed.cast(bound.args, bound.kwargs)  # type: ignore[union-attr]
    tensors = fixed.tensors_of(positional, named)  # type: ignore[union-attr]
    return _kept(function._find_fixed(tensors), options), tensors


def _kept(concrete: ConcreteFunction, options: TracingOptions) -> ConcreteFunction:
    """Put a trace among those of the options' cache, each apart: its maker knows which serves which call."""
    cache = options.function_cache
    if cache is not None and not any(concrete is known for known in cache.values()):
        cache.add(concrete, FunctionContext(id(concrete), options.scope_type))
    return concrete


def _function_for(options: TracingOptions) -> Function:
    """Return the function that makes the traces: the cache's, where there is one."""
    kept = None if options.function_cache is None else options.function_cache.makers
    key = (options.python_function, options.name, options.reduce_retracing, options.polymorphic_type)
    found = None if kept is None else kept.get(key)
    if found is None:
        found = _made(options)
        if kept is not None:
            kept[key] = found
    return found


class _Tracer(Function):
    """Makes traces, each of which makes variables of its own where the Python function makes any."""

    def _trace(self, kind: Any, tensors: Any) -> Any:
        def create(graph: Any, make: Callable[..., Any], given: dict[str, Any]) -> Any:
            value = given.get("initial_value")
            if type(value) is SymbolicTensor and value.graph is graph:
                given["initial_value"] = lifted(graph, value, tensors)
            return make(**given)

        return self._trace_once(kind, create)


def _made(options: TracingOptions) -> Function:
    function = _Tracer(
        options.python_function,
        options.name,
        autograph=options.autograph,
        reduce_retracing=options.reduce_retracing,
        options={"experimental_attributes": dict(options.attributes or {})},
    )
    if options.is_fixed:
        function._signature.fixed = _fixed_types(options.polymorphic_type)
    return function


def _fixed_types(kind: Any) -> TraceTypes:
    """Return the types of all parameters as traces take them."""
    return TraceTypes(
        [(p.name, p.kind, p.type_constraint) for p in kind.parameters.values() if isinstance(p, Parameter)]
    )
