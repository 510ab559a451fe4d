"""Tracing: run a Python function once on placeholders, and keep the graph.

Side effects of Python happen here and only here. Results become tensors (None stays None); effects are put in order.
Variables that the function makes are made outside of it; what their initial values are computed from is computed there
too. Knows graphs and types of arguments; knows nothing of when a trace is made and who keeps it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ebbflow.core import context, forks, garbage, nest
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.eager import jacobian as jacobians
from ebbflow.eager.tape import stop_recording
from ebbflow.functions import side_effects
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.signature import FunctionType, Given, type_of
from ebbflow.graph.scopes import init_scope
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.platform import logging
from ebbflow.runtime.executor import needed_nodes


class Arguments:
    """Makes the placeholders of a function's arguments, named for the parameter they belong to."""

    def __init__(self, graph: FuncGraph, name: str | None = None):
        self.graph = graph
        self.name = "args"
        self._one_name = name
        self.by_alias: dict[int, Any] = {}  # variables given twice are one inside, too
        self.variables: dict[int, tuple[Any, Any]] = {}  # by their handles' ids: these, and what stands for them

    def argument(self, spec: TensorSpec, **attrs: Any) -> SymbolicTensor:
        """Return the placeholder for a tensor of this type."""
        name = spec.name or self._one_name or self.name
        made = self.graph.argument(spec.dtype, spec.shape._dims, name)
        made.op._attrs = {**made.op._attrs, "_user_specified_name": name, **attrs}
        return made


def trace(
    name: str,
    function: Callable[..., Any],
    kind: FunctionType,
    outer: Any,
    creator: Callable[..., Any] | None = None,
    shown: Any = None,
    jit_compile: Any = None,
) -> FuncGraph:
    """Return the graph of `function` for arguments of the types `kind`.

    `creator(graph, next_creator, arguments)` is asked when the function makes a variable. Errors call it `shown`. What
    is traced can see from its graph whether it will be compiled.
    """
    logging.vlog(2, "Python function %s is traced with the signature %s", name, kind)
    graph = FuncGraph(name, outer)
    graph.jit_compile = jit_compile
    graph.changing = forks.rlock()  # others call it too: it does not wait for the function it was first called in
    if outer is not None:
        graph.begin_with(outer)
    around = list(context.default_graph()._stack("variable_creators")) if outer is None else ()
    with context.scope(graph), stop_recording(), creating(graph, creator, around), garbage.seldom():
        makes = Arguments(graph)
        args, kwargs = kind.placeholders(makes)
        graph.inputs = kind.tensors_of(args, kwargs)
        graph.stand_for(makes.variables)
        before = nest.flatten_with_tuple_paths((args, kwargs))
        result = function(*args, **kwargs)
        _check_unchanged(before, nest.flatten_with_tuple_paths((args, kwargs)), shown or function)
        finish(graph, result, shown or function)
    graph.stand_ins.clear()
    graph.closed = True
    for callback in graph.exit_callbacks:
        callback()
    return graph


def _check_unchanged(before: Any, after: Any, function: Any) -> None:
    """Refuse a function that changed a list or dictionary it was given: later calls would not do that again."""
    same = len(before) == len(after) and all(
        path == now and (leaf is new or (leaf.__class__ in (int, float) and leaf == new))
        for (path, leaf), (now, new) in zip(before, after, strict=True)
    )
    if not same:
        raise ValueError(
            f"{getattr(function, '__name__', function)}() should not modify its Python input arguments. Check if it "
            "modifies any lists or dicts passed as arguments. Modifying a copy is allowed."
        )


@contextmanager
def creating(graph: FuncGraph, creator: Callable[..., Any] | None, around: Sequence[Any] = ()) -> Iterator[None]:
    """Have `creator(graph, next_creator, arguments)` make the variables that are asked for inside the block."""
    stack = graph._stack("variable_creators")
    if graph._around is None:  # creators that the program has open where it runs eagerly have a say here, too
        stack.extend(around)
    if creator is not None:
        stack.append(lambda make, **given: creator(graph, make, given))
    try:
        yield
    finally:
        stack.clear()


# --- results ----------------------------------------------------------------------------------------------------------


def finish(graph: FuncGraph, result: Any, function: Any) -> None:
    """Make `result` what the graph gives: each tensor through an Identity that waits for all effects."""
    flat = [_tensor(graph, leaf, function) for leaf in nest.flatten(result, expand_composites=True)]
    side_effects.put_in_order(graph)
    with graph.name_scope(None), graph.control_dependencies(None):
        waits = []
        if graph.control_outputs and any(t is not None for t in flat):
            with graph.control_dependencies(graph.control_outputs):
                waits = [raw.NoOp()]
        with graph.control_dependencies(waits):
            given = [None if t is None else raw.Identity(t) for t in flat]
    graph.structured_outputs = nest.pack_sequence_as(result, given, expand_composites=True)
    graph.outputs = [t for t in given if t is not None]


def _tensor(graph: FuncGraph, value: Any, function: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Tensor):
        return graph.take(value)
    try:
        if isinstance(value, Operation):
            raise TypeError
        return convert(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; in compilation of {function}, found return value of type {type(value).__name__}, which is "
            "not a Tensor or ExtensionType."
        ) from None


def output_type(graph: FuncGraph) -> Any:
    """Return the trace type of what a graph gives."""
    return type_of(graph.structured_outputs, Given())


# --- variables --------------------------------------------------------------------------------------------------------


def lifted(graph: FuncGraph, tensor: SymbolicTensor, arguments: Sequence[Any] | None) -> Any:
    """Return `tensor` of a body, computed again outside of it; `arguments` are what the body was called with."""
    known: dict[int, Any] = {id(inside): outside for outside, inside in graph.captures}
    if arguments is not None:
        known.update(zip(map(id, graph.inputs), arguments, strict=False))
    for node in needed_nodes([tensor], set(known)):
        if node.type == "Placeholder" and id(node._outputs[0]) not in known:
            raise ValueError(
                f"Unable to lift tensor {tensor!r} because it depends transitively on placeholder {node!r}: the "
                "initial value of a variable that a tf.function makes must not depend on arguments that have no value "
                "yet. Call the function with values first, or pass a callable as initial_value."
            )
    with init_scope():
        for node in needed_nodes([tensor], set(known)):
            _again(node, known)
    return known[id(tensor)]


def _again(node: Operation, known: dict[int, Any]) -> None:
    """Call a node's op once more, on what its inputs are outside."""
    signature = node._op.signature
    attrs = {k: v for k, v in node._attrs.items() if k in signature.attrs and k not in signature.inferred}
    if node.type == "Const":
        made: Any = convert(EagerTensor(attrs["value"], attrs["dtype"]))
    else:
        inputs = [known[id(t)] for t in node._inputs]
        made = node._op(*signature.group_inputs(inputs, node._attrs), **attrs)
    for inside, outside in zip(node._outputs, nest.flatten(made), strict=True):
        known[id(inside)] = outside


def refuse_variable(first: bool) -> ValueError:
    """Return the error for a variable made where none may be: while tracing again, or in a later call."""
    if first:
        return ValueError(
            "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is "
            "only created once or created outside tf.function. See "
            "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
        )
    return ValueError(
        "Creating variables on a non-first call to a function decorated with tf.function. Make the variable outside "
        "the function, or in its first call only (`if self.v is None: self.v = tf.Variable(...)`)."
    )


def _looped_jacobian(target: Any, sources: list[Any]) -> list[Any]:
    vectorized = importlib.import_module("ebbflow.functions.vectorize.vectorized_map")  # heavy, and seldom asked for
    return vectorized.jacobian(target, sources)


jacobians.of_graphs.append(_looped_jacobian)
