"""`wrap_function`: TF 1 code, run once to build a graph, as a function that can be cut to size.

Nothing is added to what the code does: no order among effects beyond what it asks for, and only what is fetched runs.
`prune` gives the function from any tensors of the graph to any others. The variables the code makes are kept with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.eager.tape import stop_recording
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionType, Given, Parameter, type_of
from ebbflow.functions.tracing import Arguments, creating, lifted
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.runtime.executor import needed_nodes


class WrappedFunction(ConcreteFunction):
    """A graph built by TF 1 code, as a function."""

    def __init__(self, graph: FuncGraph, kind: FunctionType, variables: Sequence[Any] = ()):
        super().__init__(graph, kind)
        self._kept = list(variables)

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple({id(v): v for v in [*self._kept, *super().variables]}.values())

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None) -> WrappedFunction:
        """Return the function from `feeds` to `fetches`: tensors of the graph or their names; operations only run."""
        graph = self.graph
        captured = {id(t) for t in graph.internal_captures}  # these are taken from outside, fed or not
        values = [self._feed(f) for f in nest.flatten(feeds)]
        values = [f for f in values if id(f) not in captured]
        flat_feeds = nest.flatten(values, expand_composites=True)
        flat_fetches = [graph.as_graph_element(_named(f)) for f in nest.flatten(fetches, expand_composites=True)]
        outputs = [f if type(f) is SymbolicTensor else None for f in flat_fetches]
        pruned = graph.with_outputs([t for t in outputs if t is not None], name or "pruned")
        given = {id(t) for t in flat_feeds}
        needed = set(needed_nodes(flat_fetches, given))
        pruned._captures = {
            k: pair for k, pair in graph._captures.items() if id(pair[1]) not in given and pair[1].op in needed
        }
        pruned.inputs = [*flat_feeds, *[inside for _, inside in pruned._captures.values()]]
        pruned.effects = pruned.control_outputs = [f for f in flat_fetches if isinstance(f, Operation)]
        with context.scope(graph):  # sparse and ragged ones are put together
            pruned.structured_outputs = nest.pack_sequence_as(fetches, outputs, expand_composites=True)
        kind = _type_of_feeds(flat_feeds, input_signature)
        return WrappedFunction(pruned, kind, self._kept)

    def _feed(self, feed: Any) -> Any:
        """Return a tensor of the graph, or a value made of several, that is to be fed."""
        found = feed if isinstance(feed, CompositeTensor) else self.graph.as_graph_element(_named(feed))
        if type(found) is not SymbolicTensor and not isinstance(found, CompositeTensor):
            raise ValueError(f"All members of argument `feeds` must be tensors. Got {feed!r} instead.")
        return found

    def _own_keywords(self) -> list[str]:
        return [t.op.name for t in self.graph.inputs[: self._count]]


def _type_of_feeds(feeds: Sequence[Any], input_signature: Any) -> FunctionType:
    specs = [TensorSpec(t.shape, t.dtype.base_dtype, t.op.name) for t in feeds]
    if input_signature is not None:
        args, kwargs = input_signature if _is_pair(input_signature) else (input_signature, {})
        specs = nest.flatten([list(args), kwargs])
    return FunctionType([(f"arg_{i}", Parameter.POSITIONAL_ONLY, spec) for i, spec in enumerate(specs)])


def _named(element: Any) -> Any:
    """Return the name that a TensorInfo message tells of, anything else as it is."""
    return element.name if type(element).__name__ == "TensorInfo" else element


def _holds_types(spec: Any) -> bool:
    leaves = nest.flatten(spec)
    return not leaves or any(isinstance(leaf, (TypeSpec, TensorSpec, Tensor)) for leaf in leaves)


def _is_pair(signature: Any) -> bool:
    return isinstance(signature, tuple) and len(signature) == 2 and isinstance(signature[1], dict)


def wrap_function(fn: Callable[..., Any], signature: Nested, name: str | None = None) -> WrappedFunction:
    """Return TF 1 code as a function of tensors of the types `signature`, which runs it as a graph.

    What in the signature is no type (a Python value) is given to the code as it is, and to no call.
    """
    given = list(signature or ())
    places = [i for i, spec in enumerate(given) if _holds_types(spec)]
    kind = FunctionType([(f"arg_{i}", Parameter.POSITIONAL_ONLY, type_of(given[i], Given())) for i in places])
    variables: list[Any] = []

    def create(graph: Any, make: Callable[..., Any], given: dict[str, Any]) -> Any:
        value = given.get("initial_value")
        if type(value) is SymbolicTensor and value.graph is graph:
            given["initial_value"] = lifted(graph, value, None)
        variable = make(**{**given, "use_resource": True})
        variables.append(variable)
        trained = [GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else []
        graph.add_to_collections([*(given.get("collections") or [GraphKeys.GLOBAL_VARIABLES]), *trained], variable)
        return variable

    graph = FuncGraph(name or "wrapped_function", context.current_graph())
    graph.prunes = True
    with context.scope(graph), stop_recording(), creating(graph, create):
        args, kwargs = kind.placeholders(Arguments(graph, "Placeholder"))
        graph.inputs = kind.tensors_of(args, kwargs)
        for place, made in zip(places, args, strict=True):
            given[place] = made
        result = fn(*given)
        effects = [leaf for leaf in nest.flatten(result, expand_composites=True) if isinstance(leaf, Operation)]
        structured = nest.map_structure(
            lambda leaf: None if leaf is None or isinstance(leaf, Operation) else _tensor(graph, leaf),
            result,
            expand_composites=True,
        )
    graph.structured_outputs = structured
    graph.outputs = [t for t in nest.flatten(structured, expand_composites=True) if t is not None]
    graph.effects = effects
    return WrappedFunction(graph, kind, variables)


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any, captures: Any = None) -> WrappedFunction:
    """Return the function from some tensors of a GraphDef, by name, to others."""
    wrapped = wrap_function(lambda: import_graph_def(graph_def, name=""), [])
    return wrapped.prune(inputs, outputs)


def _tensor(graph: FuncGraph, value: Any) -> Any:
    tensor = graph.take(value) if isinstance(value, Tensor) else convert(value)
    return raw.Identity(tensor) if tensor.dtype._is_ref_dtype else tensor
