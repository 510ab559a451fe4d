"""Nodes and their outputs: `Operation` and the symbolic tensor.

An Operation is one op in a graph: inputs, control inputs, attrs, device, and the user's line that made it. A
SymbolicTensor is one of its outputs: a dtype, a shape as far as it is known, and no value. Knows nothing of sessions:
`eval` and `run` go to whatever session the thread has as its default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims, TensorShape, as_dims, dims_str, from_dims, merge_dims
from ebbflow.core.source import LazyLine, Line
from ebbflow.core.tensor import NUMPY_ONLY, Tensor, no_such_attribute
from ebbflow.core.typing import Array, Feeds, Message, Nested, SessionLike, ShapeLike
from ebbflow.graph import constants

NOT_LOOKED_FOR: Any = object()


class GraphTensorType(type):
    """The class of SymbolicTensor, which programs of TF 1 know as `tf.Tensor`.

    `type(x) is tf.Tensor` holds for the tensors of graphs, as it did then, and eager tensors are instances of it like
    all others. So code of this package asks by `type(x) is SymbolicTensor`, never by isinstance.
    """

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) if context.switches.tf1 else super().__instancecheck__(value)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, Tensor) if context.switches.tf1 else super().__subclasscheck__(other)


refusal_hints: list[Callable[[], str]] = []
"""What may be said to who uses a tensor as a Python value: each gives a sentence, or nothing."""


@final
class SymbolicTensor(Tensor, metaclass=GraphTensorType):
    """An output of an Operation: what `Session.run` gives a value to."""

    _dims: Dims
    __slots__ = ("_consumers", "_dims", "_dtype", "_known", "_op", "_value_index")

    def __init__(self, op: Operation, value_index: int, dtype: DType, dims: Dims):
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._dims = dims
        self._consumers: list[Operation] = []
        self._known: Any = NOT_LOOKED_FOR

    __hash__ = object.__hash__  # a dictionary key for feeds: no Python code on that path

    @property
    def op(self) -> Operation:
        return self._op

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def graph(self) -> Any:
        return self._op.graph

    @property
    def name(self) -> str:
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def value_index(self) -> int:
        return self._value_index

    @property
    def shape(self) -> TensorShape:
        return from_dims(self._dims)

    def _shape_tuple(self) -> Dims:
        return self._dims

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self._dims is None else list(self._dims)

    def set_shape(self, shape: ShapeLike) -> None:
        """Add to what is known of the shape; raise ValueError where it contradicts what is known."""
        dims = as_dims(shape)
        try:
            self._dims = merge_dims(self._dims, dims)
        except ValueError:
            raise ValueError(_contradiction(self._dims, dims)) from None

    def consumers(self) -> list[Operation]:
        """Return the operations that take this tensor, one as often as it does."""
        return list(self._consumers)

    def constant_value(self) -> np.ndarray | None:
        """Return the value, where the graph alone decides it, else None."""
        if self._known is NOT_LOOKED_FOR:
            self._known = constants.evaluate(self)
        return self._known

    def constant_dims(self) -> Dims:
        """Return the value read as a shape, as far as it is known."""
        return constants.partial_dims(self)

    def constant_parts(self) -> Any:
        """Return the value as far as it is known: lists of parts, None for each that is not."""
        return constants.partial_value(self)

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> Array:
        """Return the value in `session`, or in the default session."""
        return _session_for(session, self.graph, "evaluate tensor using `eval()`", "eval").run(self, feed_dict)

    def _as_node_def_input(self) -> str:
        return self._op.name if self._value_index == 0 else self.name

    def __str__(self) -> str:
        shape = "" if self._dims is None else f", shape={dims_str(self._dims)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={dims_str(self._dims)} dtype={self._dtype.name}>"

    def __bool__(self) -> bool:
        raise errors.OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed in Graph mode: it has no value yet. "
            "Use tf.cond to choose by a tensor's value, or `if t is not None` to test whether it is defined."
            + "".join(hint() for hint in refusal_hints)
        )

    def __iter__(self) -> Any:
        raise errors.OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.Tensor` is not allowed in Graph mode. Cannot iterate over what has no value "
            "yet: Tensor objects are only iterable when eager execution is enabled. To iterate over this tensor use "
            "tf.map_fn, or tf.unstack where its length is known." + "".join(hint() for hint in refusal_hints)
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. "
            "This error may indicate that you're trying to pass a Tensor to a NumPy call, which is not supported; "
            "fetch its value with Session.run, or use the op of the same name"
        )

    def __getattr__(self, name: str) -> Any:
        if name in NUMPY_ONLY:
            raise AttributeError(no_such_attribute(type(self), name))
        hint = ": it has no value; fetch it with Session.run" if name == "numpy" else ""
        raise AttributeError(f"'Tensor' object has no attribute {name!r}{hint}")

    def __int__(self) -> int:
        raise self._no_number("int")

    def __float__(self) -> float:
        raise self._no_number("float")

    def __index__(self) -> int:
        raise self._no_number("index")

    def _no_number(self, kind: str) -> TypeError:
        word = "interpreted as an integer" if kind == "index" else f"made a Python {kind}"
        return TypeError(f"a symbolic tensor ({self.name}) cannot be {word}: it has no value yet")

    def __deepcopy__(self, memo: Any) -> SymbolicTensor:
        return self

    def out_of_scope(self) -> errors.InaccessibleTensorError:
        """Return the error for using this tensor where its graph is neither built nor run."""
        line, graph = self._op.line, self._op.graph
        made = "" if line is None else f' at\n    File "{line.file}", line {line.number}, in {line.function}'
        how = (
            "Return it from the function, or keep it in a tf.Variable that lives outside."
            if graph.building_function
            else "It is a symbolic tensor with no value here: use it inside its graph (with graph.as_default()), or "
            "fetch it with Session.run."
        )
        return errors.InaccessibleTensorError(
            f"{self!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
            f"TensorFlow collections to access it.\n\n{self!r} was made by {self._op.type}{made}\nin {graph}, "
            f"which is out of scope.\n\n{how}"
        )


class Operation:
    """A node of a graph."""

    __slots__ = (
        "__dict__",  # programs may set attributes of their own
        "__weakref__",
        "_attrs",
        "_control_inputs",
        "_control_outputs",
        "_copy_of",
        "_device",
        "_graph",
        "_id",
        "_idle_controls",
        "_inputs",
        "_line",
        "_name",
        "_op",
        "_original_op",
        "_outputs",
    )

    def __init__(
        self, node_def: Message, g: Any, inputs: Nested = None, output_types: Nested = None,
        control_inputs: Nested = None, input_types: Sequence[Any] | None = None, original_op: object = None,
        op_def: Message | None = None,
    ):  # fmt: skip
        """Add the node that a NodeDef describes to the graph `g`. (Ops make their nodes by `make`.)"""
        if not hasattr(node_def, "attr") or not hasattr(node_def, "op"):
            raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
        if not hasattr(g, "_fill_node"):
            raise TypeError(f"g needs to be a Graph: {g}")
        for tensor in inputs or ():
            if type(tensor) is not SymbolicTensor:
                raise TypeError(f"input needs to be a Tensor: {tensor}")
        g._fill_node(self, node_def, inputs or (), output_types, control_inputs or (), input_types, original_op)

    @classmethod
    def make(cls, *fields: Any) -> Operation:
        """Return a node of these fields, which nobody has been told of yet."""
        node = object.__new__(cls)
        node._fill(*fields)
        return node

    def _fill(
        self,
        graph: Any,
        op: Any,
        name: str,
        inputs: Sequence[Any],
        attrs: dict[str, Any],
        control_inputs: Sequence[Operation],
        number: int,
        line: Any,
    ) -> None:
        self._graph = graph
        self._op = op
        self._name = name
        self._inputs = list(inputs)
        self._attrs = attrs
        self._control_inputs = list(control_inputs)
        self._control_outputs: list[Operation] = []
        self._idle_controls: Sequence[Operation] = ()
        self._id = number
        self._line = line
        self._device = ""
        self._copy_of: Operation | None = None  # of a node that a part of a graph runs: the one the user made
        self._original_op = None
        self._outputs: list[SymbolicTensor] = []
        for tensor in self._inputs:
            tensor._consumers.append(self)
        for other in self._control_inputs:
            other._control_outputs.append(self)

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def name(self) -> str:
        return self._name

    @property
    def type(self) -> str:
        return self._op.name

    @property
    def inputs(self) -> tuple[Any, ...]:
        return tuple(self._inputs)

    @property
    def outputs(self) -> list[SymbolicTensor]:
        return self._outputs

    @property
    def control_inputs(self) -> list[Operation]:
        return list(self._control_inputs)

    @property
    def waits_for(self) -> list[Operation]:
        """The control inputs that running this node makes necessary: all, but gradients that lead nowhere."""
        idle = self._idle_controls
        return [n for n in self._control_inputs if n not in idle] if idle else self._control_inputs

    @property
    def _control_inputs_list(self) -> list[Operation]:
        return self._control_inputs

    @property
    def attrs(self) -> dict[str, Any]:
        return self._attrs

    @property
    def device(self) -> str:
        return self._device

    @property
    def op_def(self) -> Message:
        """The op's interface as an OpDef message."""
        return self._graph._op_def_of(self._op)

    @property
    def node_def(self) -> Message:
        """This node as a NodeDef message."""
        return self._graph._node_def_of(self)

    @property
    def original(self) -> Operation:
        """The node that this is a copy of, or this node."""
        return self._copy_of or self

    @property
    def line(self) -> Line | None:
        """The user's line that made this node."""
        return None if self._line is None else LazyLine(*self._line).resolve()

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """Where the node was made: the user's line, as a stack of one frame."""
        return [] if self.line is None else [(self.line.file, self.line.number, self.line.function, "")]

    @property
    def output_types(self) -> list[DType]:
        return [t.dtype for t in self._outputs]

    @property
    def input_types(self) -> list[DType]:
        return [t.dtype for t in self._inputs]

    @property
    def _output_types(self) -> list[int]:
        return [t.dtype.as_datatype_enum for t in self._outputs]

    @property
    def _input_types(self) -> list[DType]:
        """The types as the interface has them: a reference where it takes one."""
        wanted = self._op.signature.each_input(self._attrs)
        return [t.dtype if arg.is_ref else t.dtype.base_dtype for t, arg in zip(self._inputs, wanted, strict=True)]

    @property
    def _node_def(self) -> Any:
        return self.node_def

    @property
    def _op_def(self) -> Any:
        return self.op_def

    def get_attr(self, name: str) -> Any:
        """Return an attr's value: bytes for strings, lists for lists, as TensorFlow gives them."""
        if name not in self._attrs:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        return _public(self._attrs[name], self._op.signature.attrs.get(name), self._graph)

    def _set_attr(self, name: str, value: Any) -> None:
        value = self._graph._attr(self._op, name, value, self._name)
        self._attrs = {**self._attrs, name: value}  # nodes of one kind share their attrs

    def _clear_attr(self, name: str) -> None:
        """Forget an attr: it has its default again, if it has one."""
        declared = self._op.signature.attrs.get(name)
        self._attrs = {key: value for key, value in self._attrs.items() if key != name}
        if declared is not None and declared.has_default:
            self._attrs[name] = declared.default

    def _set_device(self, device: Any) -> None:
        self._device = device if isinstance(device, str) else device.to_string()

    def colocation_groups(self) -> list[bytes]:
        """Return the groups of nodes that this one must share a device with."""
        return list(self._attrs.get("_class", ())) or [f"loc:@{self._name}".encode()]

    def values(self) -> tuple[SymbolicTensor, ...]:
        """Return the outputs."""
        return tuple(self._outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run this operation in `session`, or in the default session."""
        _session_for(session, self._graph, "execute operation using `run()`", "run").run(self, feed_dict)

    def _control_flow_post_processing(self, input_tensors: Any = None) -> None:
        """Do what is left to do for a node that was added by hand: nothing, as choices and loops are bodies here."""

    def _add_control_inputs(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            if operation not in self._control_inputs:
                self._control_inputs.append(operation)
                operation._control_outputs.append(self)
                self._graph._mutations += 1

    def _add_control_input(self, operation: Operation) -> None:
        self._add_control_inputs([operation])

    @classmethod
    def from_node_def(
        cls, node_def: Any, g: Any, inputs: Nested = None, output_types: Nested = None, control_inputs: Nested = None,
        input_types: Any = None, original_op: Any = None, op_def: Message | None = None,
    ) -> Operation:  # fmt: skip
        """Add the node that a NodeDef describes to the graph `g`, and return it."""
        return cls(node_def, g, inputs, output_types, control_inputs, input_types, original_op, op_def)

    def _update_input(self, index: int, tensor: SymbolicTensor) -> None:
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor!r} must be from the same graph as {self!r}")
        if not 0 <= index < len(self._inputs):
            raise errors.OutOfRangeError(
                None, None, f"Cannot update edge. Input index [{index}] is greater than the number of total inputs "
                f"[{len(self._inputs)}].",
            )  # fmt: skip
        before = self._inputs[index]
        if before._dtype.base_dtype == tensor._dtype.base_dtype and not from_dims(tensor._dims).is_compatible_with(
            from_dims(before._dims)
        ):
            shapes = " and ".join(str(list(t._dims or ())).replace(" ", "") for t in (tensor, before))
            raise errors.InvalidArgumentError(None, None, f"Cannot update edge, incompatible shapes: {shapes}.")
        self._inputs[index]._consumers.remove(self)
        self._inputs[index] = tensor
        tensor._consumers.append(self)
        self._graph._mutations += 1

    def _add_input(self, tensor: SymbolicTensor, dtype: Any = None) -> None:
        """Give a node that was made bare its next input."""
        self._inputs.append(tensor)
        tensor._consumers.append(self)
        if tensor._op._id > self._id:
            self._graph._move_to_end(self)
        self._graph._mutations += 1

    def _remove_all_control_inputs(self) -> None:
        for operation in self._control_inputs:
            operation._control_outputs.remove(self)
        self._control_inputs.clear()
        self._graph._mutations += 1

    def _get_control_flow_context(self) -> None:
        """Return the construct of TF 1's control flow that the node is in: none, loops and choices are functions."""

    def _set_control_flow_context(self, ctx: Any) -> None:
        """Take a construct of TF 1's control flow, of which there are none."""

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self._op.name}>"


def _contradiction(known: Dims, given: Dims) -> str:
    shown = " and ".join(
        "[" + ",".join("?" if n is None else str(n) for n in dims or ()) + "]" for dims in (known, given)
    )
    if len(known or ()) == len(given or ()):
        for i, (a, b) in enumerate(zip(known or (), given or (), strict=True)):
            if a is not None and b is not None and a != b:
                rule = f"Dimension {i} in both shapes must be equal, but are {a} and {b}"
                return f"{rule}. Shapes are {shown}: they are not compatible."
    rule = f"Shapes must be equal rank, but are {len(known or ())} and {len(given or ())}"
    return f"{rule}. Shapes are {shown}: they are not compatible."


def _public(value: Any, attr: Any, graph: Any) -> Any:
    kind = attr.kind if attr is not None else ""
    if kind == "shape":
        return from_dims(value).as_proto()
    if kind == "list(shape)":
        return [from_dims(v).as_proto() for v in value]
    if kind == "tensor":
        return graph._tensor_proto_of(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (tuple, list)):
        return [v.encode() if isinstance(v, str) else v for v in value]
    return value


def _session_for(session: Any, graph: Any, doing: str, method: str) -> Any:
    if session is None:
        stack = context.thread.sessions
        if not stack:
            raise ValueError(
                f"Cannot {doing}: No default session is registered. Use `with sess.as_default()` or pass an explicit "
                f"session to `{method}(session=sess)`"
            )
        session = stack[-1]
        if session.graph is not graph:
            raise ValueError(
                f"Cannot use the default session to {doing.split(' using')[0]}: the "
                f"{'tensor' if method == 'eval' else 'operation'}'s graph "
                f"is different from the session's graph. Pass an explicit session to `{method}(session=sess)`."
            )
    elif session.graph is not graph:
        raise ValueError(
            f"Cannot use the given session to {doing.split(' using')[0]}: the "
            f"{'tensor' if method == 'eval' else 'operation'}'s graph "
            "is different from the session's graph."
        )
    return session
