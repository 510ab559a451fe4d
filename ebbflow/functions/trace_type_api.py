"""`tensorflow.core.function.trace_type`: the types that traces are told apart by, for programs that make or cast them.

A thin front of `signature` and `trace_types`. The contexts say how strictly a value is taken.
"""

from __future__ import annotations

import weakref
from typing import Any

from ebbflow import messages
from ebbflow.core.composite import TypeSpec
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.functions import function_types
from ebbflow.functions.function_types import FunctionType
from ebbflow.functions.signature import Given, type_of, unhashable
from ebbflow.functions.trace_types import TraceType, Weakref
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.placeholders import placeholder_for

_serializable: dict[str, Any] = {}


def register_serializable(cls: Any) -> None:
    """Let values of a class be read back: it says its message (`experimental_type_proto`), and how to go both ways."""
    _serializable[cls.experimental_type_proto().DESCRIPTOR.full_name] = cls


def serialize(to_serialize: Any) -> Any:
    """Return a type as a message that says which class it is of."""
    if not hasattr(to_serialize, "experimental_as_proto"):
        raise ValueError(f"Can not serialize {to_serialize!r}: it has no experimental_as_proto")
    message = messages.Any()
    message.Pack(to_serialize.experimental_as_proto())
    return message


def deserialize(proto: Any) -> Any:
    """Return the type that a message of `serialize` says.

    >>> deserialize(serialize(TensorShape([1, None])))
    TensorShape([1, None])
    """
    if not _serializable:
        for known in (DType, TensorShape):
            register_serializable(known)
    name = proto.type_url.rpartition("/")[2]
    if name not in _serializable:
        raise ValueError(f"Can not deserialize proto of unregistered type {name}")
    inside = _serializable[name].experimental_type_proto()()
    proto.Unpack(inside)
    return _serializable[name].experimental_from_proto(inside)


class InternalCastContext:
    """How values are cast: `allow_specs` lets a spec stand for a value."""

    def __init__(self, allow_specs: bool = False):
        self._allow_specs = allow_specs

    @property
    def allow_specs(self) -> bool:
        """Whether a spec may stand for a value."""
        return self._allow_specs


class InternalTracingContext(Given):
    """What a walk over values collects while their types are found."""

    def __init__(self, is_legacy_signature: bool = False):
        super().__init__()
        self.is_legacy_signature = is_legacy_signature

    __slots__ = ("is_legacy_signature",)


class InternalPlaceholderContext:
    """Where stand-ins for arguments are made: a graph, or the default one."""

    def __init__(
        self,
        context_graph: Any = None,
        placeholders: dict[Any, Any] | None = None,
        unnest_only: bool = False,
        with_none_control_dependencies: bool = False,
        composite_device_name: str | None = None,
    ):
        self._graph, self._known = context_graph, dict(placeholders or {})
        self.unnest_only, self.with_none_control_dependencies = unnest_only, with_none_control_dependencies
        self.composite_device_name = composite_device_name
        self.naming_scope: str | None = None
        self.name = ""  # of the parameter that a stand-in is made for

    @property
    def context_graph(self) -> Any:
        """The graph that stand-ins are made in."""
        return self._graph

    def argument(self, spec: TensorSpec) -> Any:
        """Return what stands for a tensor: the spec itself, where only the nesting is asked for."""
        if self.unnest_only:
            return spec
        graph = get_default_graph() if self._graph is None else self._graph
        return placeholder_for(spec, graph, spec.name or self.naming_scope)

    def has_placeholder(self, placeholder_id: Any) -> bool:
        """Return whether there is a stand-in under an id."""
        return placeholder_id in self._known

    def get_placeholder(self, placeholder_id: Any) -> Any:
        """Return the stand-in under an id."""
        return self._known[placeholder_id]

    def add_placeholder(self, placeholder_id: Any, placeholder: Any) -> None:
        """Keep a stand-in under an id."""
        if placeholder_id in self._known:
            raise KeyError(f"Placeholder id {placeholder_id} is already in this context.")
        self._known[placeholder_id] = placeholder

    def update_naming_scope(self, naming_scope: str | None) -> None:
        """Name the next stand-ins."""
        self.naming_scope = naming_scope


def from_value(value: Any, context: Any = None) -> Any:
    """Return the type by which a function knows a value; `context` is what the walk collects, if somebody looks.

    >>> from_value(3)
    Literal[3]
    """
    if isinstance(value, weakref.ref):
        raise TypeError(f"weakref input {value} not supported for tf.function.")
    found = type_of(value, context if isinstance(context, Given) else Given())
    if not isinstance(found, (TraceType, TypeSpec)):
        raise TypeError(f"Expected an instance of TraceType for Tracing Protocol call to {value!r} but got {found!r}")
    if isinstance(found, Weakref) and type(found.ref()).__hash__ is None:
        raise unhashable(value)
    return found


def canonicalize_to_monomorphic(
    args: Any, kwargs: Any, default_values: Any, capture_types: Any, polymorphic_type: FunctionType
) -> tuple[FunctionType, InternalTracingContext]:
    """Return the type of a call with these arguments, and what the walk over them collected."""
    context = InternalTracingContext()
    kind = function_types.canonicalize_to_monomorphic(
        args, kwargs, default_values, capture_types, polymorphic_type, lambda value: from_value(value, context)
    )
    return kind, context


def from_structured_signature(
    input_signature: Any = None, output_signature: Any = None, capture_types: Any = None
) -> FunctionType:
    """Return the type of a function whose arguments and result are said by example.

    >>> from_structured_signature(((1,), {"a": 2})).parameters["a"].type_constraint
    Literal[2]
    """
    context = InternalTracingContext(is_legacy_signature=True)
    return function_types.from_structured_signature(
        input_signature, output_signature, capture_types, lambda value: from_value(value, context)
    )
