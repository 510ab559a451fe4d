"""Concrete functions: one trace of a function, ready to be called.

Called with tensors (or what becomes tensors) by position or by name, as the Python function would be, or flat: one
tensor a placeholder. Holds what it captures by reference: variables by their handles, eager tensors, tensors of the
graph around it. Knows bodies and their types; knows nothing of how a call finds its trace.
"""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import context, dtypes, elsewhere, errors, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.containers import PLAIN, rebuild
from ebbflow.core.convert import convert
from ebbflow.core.elsewhere import as_array
from ebbflow.core.op import eager_run
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray
from ebbflow.core.typing import Message, Nested
from ebbflow.eager.tape import variable_accessed
from ebbflow.functions import device_choice, trace_types
from ebbflow.functions.atomic import AtomicFunction
from ebbflow.functions.call import call_body, wrap
from ebbflow.functions.func_graph import FuncGraph, variable_of
from ebbflow.functions.signature import FunctionType
from ebbflow.functions.trace_types import Container, Literal, Weakref
from ebbflow.functions.tracing import output_type
from ebbflow.graph import graph_def
from ebbflow.trackable.base import Trackable

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


_numbers = itertools.count()
Packer = Callable[[Sequence[Any]], Any]
on_trace: list[Callable[[FuncGraph], Any]] = []
"""Who wants to see the graphs of functions as they are traced."""


class ConcreteFunction(Trackable):
    """A traced function: a graph with arguments and results."""

    _maker: weakref.ref[Any] | None = None  # the function it is a trace of
    _keywords: list[str] | None = None  # what its tensors are called in a file

    def __init__(self, graph: FuncGraph, kind: FunctionType):
        self._graph = graph
        self.function_type = kind.with_types(kind.types, output_type(graph))
        self._captured = self.function_type.captured = graph.external_captures
        self._count = len(graph.inputs) - len(self._captured)
        self._name = graph.function_name = graph.function_name or f"__inference_{graph.name}_{next(_numbers)}"
        self._symbolic = next((t for t in self._captured if not isinstance(t, EagerTensor)), None)
        self._handles = [i for i, t in enumerate(graph.inputs[: self._count]) if t.dtype is dtypes.resource]
        self._trainable = [weakref.ref(v) for v in graph.trainable_variables]
        self.values = None if self._symbolic is not None else [t._array for t in self._captured]
        self.pack = packer(graph.structured_outputs)
        self._dtypes = [t.dtype.base_dtype for t in graph.outputs]
        self.single = graph.outputs[0].dtype.base_dtype if isinstance(graph.structured_outputs, Tensor) else None
        if graph.forms:
            device_choice.prefer_registered(graph)
        for see in on_trace:
            see(graph)

    # --- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Nested:
        """Call with arguments bound as the Python function's, or with one tensor for each placeholder."""
        if not kwargs and len(args) == self._count and all(isinstance(x, Tensor) for x in args):
            return self.call_flat(args)
        try:
            tensors = self._bound(args, kwargs)
        except TypeError as refused:
            try:
                tensors = self._bound_flat(args, kwargs)
            except TypeError as also:
                raise TypeError(f"{refused}\nFallback to flat signature also failed due to: {also}") from None
        return self.call_flat(tensors)

    def run_now(self, tensors: Sequence[EagerTensor]) -> Nested:
        """Return the structured result where nobody listens and no graph is built."""
        try:
            values = [x._array for x in tensors]
        except AttributeError:  # a tensor without a value: the long way says so
            return self.call_flat(tensors)
        return self.run_values(values)

    def run_values(self, values: list[Any]) -> Nested:
        """`run_now` with the arrays of the tensors, in a list that is this function's from now on."""
        if self.values:
            values += self.values
        graph = self._graph
        straight = graph.straight
        if straight is None or graph.straight_since != graph.base._mutations or context.recorders or elsewhere.bodies:
            return self.wrapped(graph.run(eager_run, values))
        try:
            results = straight(*values)
        except Exception as error:
            results = graph.rescued(values, error)
        return self.wrapped(results)

    def wrapped(self, results: Sequence[Any]) -> Nested:
        """Return the structured result made of these arrays."""
        dtype = self.single
        if dtype is None:
            return self.pack(wrap(self._dtypes, results))
        tensor = _new(EagerTensor)
        value = results[0]
        tensor._array = value if value.__class__ is ndarray else as_array(value, dtype.np)
        tensor._dtype = dtype
        return tensor

    def call_flat(self, tensors: Sequence[Any]) -> Nested:
        """Return the structured result for one tensor a placeholder."""
        self._check(tensors)
        if context.recorders and context.thread.recorders:
            for ref in self._trainable:
                variable = ref()
                if variable is not None:
                    variable_accessed(variable)
            for i in self._handles:
                variable = variable_of(tensors[i])
                if variable is not None:
                    variable_accessed(variable)
        if context.executing_eagerly():
            for tensor in tensors:
                if tensor.__class__ is not EagerTensor:
                    raise tensor.out_of_scope()
            if self._symbolic is not None:
                raise self._symbolic.out_of_scope()
        return self.pack(call_body(self._graph, [*tensors, *self._captured]))

    _call_flat = call_flat

    def _call_with_flat_signature(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Nested:
        """Call with one tensor for each placeholder, by position or by its name."""
        return self.call_flat(self._bound_flat(args, kwargs))

    def _check(self, tensors: Sequence[Any]) -> None:
        for i, (tensor, argument) in enumerate(zip(tensors, self._graph.inputs, strict=False)):
            if tensor._dtype is not argument._dtype and tensor.dtype.base_dtype is not argument.dtype.base_dtype:
                wanted, given = (dtypes.c_name(t.dtype.base_dtype) for t in (argument, tensor))
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"cannot compute {self._name} as input #{i}(zero-based) was expected to be a "
                    f"{wanted} tensor but is a {given} tensor [Op:{self._name}]",
                )

    def _bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        kind = self.function_type
        try:
            bound = kind.signature().bind(*args, **kwargs)
            positional, named = kind.cast(bound.args, bound.kwargs)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {tuple(args)} and kwargs: "
                f"{kwargs} for signature: {kind}."
            ) from None
        return [convert(t) for t in kind.tensors_of(positional, named)]

    def _bound_flat(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        names = self._arg_keywords
        shown = f"{self._graph.name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{shown} takes {len(names)} positional arguments, got {len(args)}.")
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(f"{shown} got unexpected keyword arguments: {', '.join(unknown)}.")
        missing = [name for name in names[len(args) :] if name not in kwargs]
        if missing:
            raise TypeError(f"{shown} missing required arguments: {', '.join(missing)}.")
        twice = [name for name in names[: len(args)] if name in kwargs]
        if twice:
            raise TypeError(f"{shown} got two values for {twice[0]!r}.")
        values = [*args, *[kwargs[name] for name in names[len(args) :]]]
        for i, value in enumerate(values):
            if not isinstance(value, Tensor) and not hasattr(value, "_tape_handle"):
                raise TypeError(
                    f"{shown}: expected argument #{i}(zero-based) to be a Tensor; got {type(value).__name__} ({value})."
                )
        return [convert(v) for v in values]

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> bytes:
        return self._name.encode()

    @property
    def graph(self) -> FuncGraph:
        return self._graph

    def _body_of_attr(self) -> FuncGraph:
        return self._graph

    @property
    def inputs(self) -> list[Any]:
        """The placeholders: of the arguments, then of what is captured."""
        return list(self._graph.inputs)

    @property
    def outputs(self) -> list[Any]:
        return list(self._graph.outputs)

    @property
    def structured_outputs(self) -> Nested:
        return self._graph.structured_outputs

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The types of the arguments, in the structure they are given in: specs, and Python values as they are."""
        kind = self.function_type
        shown = [_shown(t, name) for t, name in zip(kind.types, kind.names, strict=True)]
        return tuple(shown[: kind.positional]), dict(zip(kind.names[kind.positional :], shown[kind.positional :]))

    @property
    def captured_inputs(self) -> list[Any]:
        return list(self._captured)

    @property
    def variables(self) -> tuple[Any, ...]:
        return self._graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return self._graph.trainable_variables

    @property
    def output_dtypes(self) -> Nested:
        return nest.map_structure(_dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Nested:
        return nest.map_structure(lambda t: None if t is None else t.shape, self.structured_outputs)

    @property
    def _arg_keywords(self) -> list[str]:
        """The names under which flat arguments can be given."""
        if self._keywords is not None and len(self._keywords) == self._count:
            return self._keywords
        return self._own_keywords()

    def _own_keywords(self) -> list[str]:
        return [t.op._attrs.get("_user_specified_name", t.op.name) if t.op.name == "Placeholder" else t.op.name
                for t in self._graph.inputs[: self._count]]  # fmt: skip

    @property
    def _num_positional_args(self) -> int:
        return self._count

    @property
    def inference_fn(self) -> AtomicFunction:
        """The trace alone: a function of its arguments and of what is captured, without gradient."""
        return AtomicFunction(self.name, self._graph, self.function_type, self.pack)

    @property
    def function_def(self) -> Message:
        """The body as a FunctionDef message."""
        message = messages.FunctionDef()
        graph_def.fill_function(message, self._graph, graph_def.Library())
        return message

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Say that this is the form of a function for the CPU, if it is; a node brings along what it calls anyway."""
        device_choice.register(self._graph, context.current_graph() if g is None else g)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Do nothing, as `add_to_graph`."""

    def source(self) -> str:
        """Return what runs, as text."""
        return self._graph.source()

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return the types of arguments and results, and what is captured, as text."""
        kind = self.function_type
        if not verbose:
            return str(kind)
        lines = ["Input Parameters:"]
        lines += [
            f"  {name} ({how.name}): {of_type!r}"
            for name, how, of_type in zip(kind.names, kind.kinds, kind.types, strict=True)
        ]
        lines += ["Output Type:", f"  {kind.output!r}", "Captures:"]
        lines += [f"  {id(t)}: {TensorSpec(t.shape, t.dtype)!r}" for t in self._captured] or ["  None"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"


trace_types.Callable.register(ConcreteFunction)


class UnknownArgument:
    """Stands in a signature where an object stood that has no type of its own."""

    def __repr__(self) -> str:
        return "UnknownArgument()"


def _shown(kind: Any, path: str) -> Any:
    if isinstance(kind, TensorSpec):
        return TensorSpec(kind.shape, kind.dtype, kind.name or path)
    if isinstance(kind, Literal):
        return kind.value
    if isinstance(kind, Weakref):
        held = kind.ref()
        return held if isinstance(held, dtypes.DType) else UnknownArgument()
    if isinstance(kind, Container):
        children = [_shown(part, f"{path}_{key}") for key, part in zip(kind.keys, kind.parts, strict=True)]
        return rebuild(kind.kind, kind.form, children)
    return kind


def _dtype(value: Any) -> Any:
    if isinstance(value, CompositeTensor):
        return nest.map_structure(lambda part: part.dtype, value._type_spec._to_components(value))
    return None if value is None else value.dtype


def packer(structure: Any) -> Packer:
    """Return the function that arranges flat tensors as `structure` has them."""
    if structure.__class__ in (list, tuple) and all(isinstance(child, Tensor) for child in structure):
        return structure.__class__
    return _packer(structure, itertools.count())


def _packer(structure: Any, places: Iterator[int]) -> Packer:
    if structure is None:
        return lambda tensors: None
    kind = PLAIN[structure.__class__]
    if isinstance(structure, CompositeTensor):
        mine = [next(places) for _ in nest.flatten(structure, expand_composites=True)]
        spec = structure._type_spec
        parts = spec._to_components(structure)
        if parts.__class__ in (list, tuple) and all(isinstance(part, Tensor) for part in parts):
            several = parts.__class__
            return lambda tensors: spec._from_components(several([tensors[i] for i in mine]))
        return lambda tensors: nest.pack_sequence_as(structure, [tensors[i] for i in mine], expand_composites=True)
    if kind is None:
        return operator.itemgetter(next(places))
    children = [_packer(child, places) for child in kind.values(structure)]
    if structure.__class__ is list:
        return lambda tensors: [child(tensors) for child in children]
    if structure.__class__ is tuple:
        return lambda tensors: tuple([child(tensors) for child in children])
    if structure.__class__ is dict:
        by_key = dict(zip(kind.keys(structure), children, strict=True))
        in_order = [(key, by_key[key]) for key in structure]
        return lambda tensors: {key: child(tensors) for key, child in in_order}
    return lambda tensors: rebuild(kind, structure, [child(tensors) for child in children])
