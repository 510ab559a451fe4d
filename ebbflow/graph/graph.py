"""The graph: where op calls become nodes.

Keeps nodes in the order they were made (which is a topological order) and their names; the scopes that are open are
`graph_scopes`, the collections `collections`. `call` is the graph's half of calling an op: convert the arguments, infer
types and shapes, add the node. Knows nothing of how graphs run.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes, errors, forks
from ebbflow.core.convert import check_fits_a_graph, convert
from ebbflow.core.dtypes import DType
from ebbflow.core.op import LONGEST_LIST, Known, Op, record
from ebbflow.core.source import users
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Message, Nested, TensorLike
from ebbflow.graph import graph_def
from ebbflow.graph.collections import Collections
from ebbflow.graph.creation import NodeCreation
from ebbflow.graph.graph_scopes import VALID_NAME, GraphScopes
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw


class Graph(GraphScopes, NodeCreation, Collections):
    """A set of nodes and the tensors that flow between them.

    >>> import ebbflow as tf
    >>> with Graph().as_default() as graph:
    ...     y = tf.constant(2.0) * 3.0
    >>> [node.type for node in graph.get_operations()]
    ['Const', 'Const', 'Mul']
    """

    building_function = False
    _around: Graph | None = None  # of the body of a function: the graph it is traced in
    is_control_flow_graph = False
    forward_graph: Any = None  # of a gradient: the body it is the gradient of, whose tensors it finds by itself
    stands_for: Graph | None = None  # the graph that it took the place of, as the default one, while that was open
    changing: Any = contextlib.nullcontext()  # held by who changes nodes that are there, and by who reads many of them

    def __init__(self) -> None:
        super().__init__()
        self._nodes: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._scope = threading.local()
        self._lock = forks.rlock()
        self._seed: int | None = None
        self._finalized = False
        self._unfeedable: set[int] = set()
        self._unfetchable: set[Any] = set()
        self._overrides: dict[str, str] = {}
        self._attr_overrides: dict[str, Any] = {}
        self._kernel_labels: dict[str, str] = {}
        self._container = ""
        self._functions: dict[str, Any] = {}
        self._versions: tuple[int, int, tuple[int, ...]] | None = None  # of what was read into it
        self._version = 0
        self.checked_nodes: set[Operation] = set()  # whose results must be finite: tf.debugging.enable_check_numerics
        self._graph_key = f"graph-key-{uid()}/"  # what other libraries keep by graph is kept by this
        self._mutations = 0  # changes to nodes that were there already: what was made to run them is stale

    # --- making nodes
    # ---------------------------------------------------------------------------------------------------

    def call(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
        """Add a node for a call of `op` and return its outputs as the op gives them (the node itself if it has
        none).
        """
        home = self._home(inputs)
        if home is not self:
            with context.scope(home):
                return home.call(op, inputs, attrs, name)
        try:
            node, settled = self._call(op, inputs, attrs, name)
        except (TypeError, ValueError):
            answer = op.form_for(inputs, attrs)
            if answer is NotImplemented:
                raise
            return answer
        if context.recorders:
            record(op, node._inputs, node._outputs, node._attrs)
        if not node._outputs:  # the op declares none, or only a list that is empty here
            return node
        return op.pack_outputs(node._outputs, settled)

    @property
    def _building_function(self) -> bool:
        """Whether this is the body of a function; programs that build functions by hand say so."""
        return self.building_function

    @_building_function.setter
    def _building_function(self, whether: bool) -> None:
        self.building_function = whether

    def _home(self, inputs: Sequence[Any]) -> Graph:
        """Return the graph that the inputs belong to: the one a call is added to, whichever is the default."""
        for x in inputs:
            for item in x if x.__class__ is list else (x,):
                if item.__class__ is SymbolicTensor:
                    graph = item._op._graph
                    while graph is not self and graph.brought_out is not None:
                        graph = graph._around
                    return graph
        return self

    def _call(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> tuple[Operation, Any]:
        name = name or op.name
        name = name if isinstance(name, str) else name.decode()
        full = name[:-1] if name.endswith("/") else self.unique_name(name)
        key = self._kind_of_call(op, inputs, attrs)
        remembered = op._settled.get(key) if key is not None else None
        if remembered is not None:  # types were settled before, for arguments of these kinds: nothing to convert
            flat = [t for x in inputs for t in (x if x.__class__ is list else (x,))]
            return self._add(op, full, flat, inputs, remembered[0]), remembered[0]
        outer = self._name_stack
        self._name_stack = full
        try:
            tensors, settled = op.settle(inputs, attrs, convert)
        finally:
            self._name_stack = outer
        flat = [t for group in tensors for t in (group if group.__class__ is list else (group,))]
        if key is not None:
            op._keep(key, settled, ())
        return self._add(op, full, flat, tensors, settled), settled

    def _kind_of_call(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Return what settled attrs are remembered by, as eager calls have it: dtypes of arguments, and attrs. None
        where an argument is to be converted, or an attr is a function, which nobody shall keep.
        """
        kinds: list[Any] = []
        lists = False
        for arg, x in zip(op.signature.inputs, inputs, strict=True):
            if x.__class__ is SymbolicTensor:
                if x._op._graph is not self or arg.is_list:
                    return None
                kinds.append(x._dtype)
            elif x.__class__ is list and arg.is_list and len(x) <= LONGEST_LIST:
                if any(t.__class__ is not SymbolicTensor or t._op._graph is not self for t in x):
                    return None
                kinds.append(tuple([t._dtype for t in x]))
                lists = True
            else:
                return None
        if not attrs:
            return (tuple(kinds),) if lists else tuple(kinds)
        if not kinds or op.signature.holds_functions:
            return None
        key = (tuple(kinds), *[(k, tuple(v) if v.__class__ is list else v) for k, v in attrs.items()])
        try:
            hash(key)
        except TypeError:
            return None
        return key

    def _add(self, op: Op, name: str, flat: list[Any], grouped: Sequence[Any], attrs: dict[str, Any]) -> Operation:
        self._check_not_finalized()
        if not VALID_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid node name")
        for tensor in flat:
            if tensor._op._graph is not self:
                raise ValueError(f"{tensor!r} must be from the same graph as the node '{name}' it goes into.")
        frame = users(sys._getframe(2))
        dims = self._infer(op, name, grouped, attrs)
        with self._lock:
            node = Operation.make(
                self,
                op,
                name,
                flat,
                attrs,
                self._control_inputs_for(flat),
                len(self._nodes),
                (frame.f_code, frame.f_lasti),
            )
            types = op.flat_output_types(attrs)
            if dims.__class__ is not list:
                dims = [dims]
            node._outputs = [SymbolicTensor(node, i, t, d) for i, (t, d) in enumerate(zip(types, dims, strict=True))]
            self._nodes.append(node)
            self._by_name[name] = node
            self._version += 1
        refs = _references(node) if flat and flat[0]._dtype._is_ref_dtype else []
        self._apply_scopes(node, by_devices=not refs)
        if refs:  # it changes variables, and is where they are, whatever was asked for
            groups = {group for ref in refs for group in ref.colocation_groups()}
            node._attrs = {**node._attrs, "_class": tuple(sorted({*node._attrs.get("_class", ()), *groups}))}
            node._set_device(refs[0].device)
        return node

    def _infer(self, op: Op, name: str, grouped: Sequence[Any], attrs: dict[str, Any]) -> Any:
        if op.shape_fn is None:
            return [None] * len(op.flat_output_types(attrs))
        knowns = [
            [Known(t._dims, t._dtype, t) for t in g] if g.__class__ is list else Known(g._dims, g._dtype, g)
            for g in grouped
        ]
        try:
            dims = self._inferred(op, knowns, attrs)
        except errors.StaticShapeError as error:
            said = getattr(error, "when_building", None) or error.message
            raise errors.StaticShapeError(
                f"{said} for '{{{{node {name}}}}} = {op.name}' with input shapes: {_shapes(knowns)}."
            ) from None
        return op.signature.flat_dims(dims)

    def _inferred(self, op: Op, knowns: list[Any], attrs: dict[str, Any]) -> Any:
        """Return what the shape rule says. In a branch, which may never be taken, values from outside break no rule."""
        try:
            return op.infer(knowns, attrs)
        except errors.StaticShapeError:
            if not self.is_control_flow_graph:
                raise
            return op.infer([list(map(_inner, k)) if k.__class__ is list else _inner(k) for k in knowns], attrs)

    def constant(self, array: np.ndarray, dtype: DType, name: str | None = None) -> SymbolicTensor:
        """Add a Const node."""
        name = name or "Const"
        name = name if isinstance(name, str) else name.decode()
        full = name[:-1] if name.endswith("/") else self.unique_name(name)
        array.flags.writeable = False  # a node's value does not change
        return self._add(raw.Const, full, [], [], {"value": array, "dtype": dtype})._outputs[0]

    def take(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """Return `tensor` as one of this graph: itself, or a Const with an eager tensor's value."""
        if tensor.__class__ is EagerTensor:
            if tensor._dtype is dtypes.resource or tensor._dtype is dtypes.variant:
                raise RuntimeError(
                    "Attempting to capture an EagerTensor without building a function: a variable (or other "
                    "resource) made "
                    "eagerly cannot be used in a graph; make it inside `with graph.as_default()`"
                )
            check_fits_a_graph(tensor._array)
            return self.constant(tensor._array, tensor._dtype, name)
        return self.from_branches(tensor)

    # --- looking up
    # -----------------------------------------------------------------------------------------------------

    def _create_op_from_tf_operation(self, c_op: Any, compute_device: bool = True) -> Operation:
        """Return the node that `create_c_op` has added: there is no other form of it."""
        return c_op

    def get_operations(self) -> list[Operation]:
        """Return all nodes, in the order they were made."""
        return list(self._nodes)

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the node called `name`."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """Return the tensor called `name`, in the form NODE:INDEX."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: object, allow_tensor: bool = True, allow_operation: bool = True) -> Nested:
        """Return the node or tensor of this graph that `obj` is or names."""
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        kinds = "Tensor or Operation" if allow_tensor and allow_operation else "Tensor" if allow_tensor else "Operation"
        convert_obj = getattr(obj, "_as_graph_element", None)
        if convert_obj is not None:
            obj = convert_obj()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._named(obj, allow_tensor, allow_operation)
        if (type(obj) is SymbolicTensor and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                raise ValueError(
                    f"{type(obj).__name__.replace('SymbolicTensor', 'Tensor')} {obj} is not an element of this graph."
                )
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__.replace('SymbolicTensor', 'Tensor')} into a {kinds}.")

    def _named(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, index = name.rpartition(":")
            if not index.isdigit():
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be "
                    f'of the form "<op_name>:<output_index>".'
                )
            node = self._by_name.get(op_name)
            if node is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does "
                    f"not exist in the graph."
                )
            if int(index) >= len(node._outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, "
                    f"exists but "
                    f"only has {len(node._outputs)} outputs."
                )
            return node._outputs[int(index)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        node = self._by_name.get(name)
        if not allow_operation:
            if node is not None:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
                    f'"<op_name>:<output_index>".'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of "
                f'the form "<op_name>:<output_index>".'
            )
        if node is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return node

    # --- as messages
    # ---------------------------------------------------------------------------------------------------

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Message:
        """Return this graph as a GraphDef message."""
        with self._lock:
            return graph_def.graph_def(self, from_version, add_shapes)

    @property
    def graph_def_versions(self) -> Message:
        """The versions of the GraphDef this graph is written as."""
        producer, min_consumer, bad_consumers = self._versions or (graph_def.PRODUCER, 0, ())
        return messages.VersionDef(producer=producer, min_consumer=min_consumer, bad_consumers=bad_consumers)

    def _take_versions(self, versions: Any) -> None:
        """Note the versions of a GraphDef that is being read: what is written later is no younger than its parts."""
        mine = self.graph_def_versions
        oldest = min(mine.producer, versions.producer) if self._nodes or self._versions else versions.producer
        bad = tuple(sorted({*mine.bad_consumers, *versions.bad_consumers}))
        self._versions = (oldest, max(mine.min_consumer, versions.min_consumer), bad)

    def _node_def_of(self, node: Operation) -> Any:
        return graph_def.node_def(node)

    def _op_def_of(self, op: Op) -> Any:
        return graph_def.op_def(op)

    def _tensor_proto_of(self, value: np.ndarray) -> Any:
        return graph_def.tensor_proto(value)

    # --- properties
    # -----------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        return self._version

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Allow no more nodes in this graph."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def prevent_feeding(self, tensor: TensorLike) -> None:
        """Let nobody feed `tensor`."""
        self._unfeedable.add(id(tensor))

    def is_feedable(self, tensor: TensorLike) -> bool:
        """Return whether `tensor` may be fed."""
        return id(tensor) not in self._unfeedable

    def prevent_fetching(self, op: object) -> None:
        """Let nobody fetch `op`."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: object) -> bool:
        """Return whether `tensor_or_op` may be fetched."""
        return tensor_or_op not in self._unfetchable and getattr(tensor_or_op, "op", None) not in self._unfetchable

    def __enter__(self) -> Any:
        raise TypeError("a Graph is entered with graph.as_default()")

    def __exit__(self, *exc: Any) -> None:
        """Only there so that `with graph` reaches the message above."""


def _inner(known: Known) -> Known:
    """Return what a branch knows of an input by itself: no value that follows from what comes from outside."""
    seen = {known._source.op}
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node.type == "Placeholder":
            return Known(known.dims, known.dtype)
        before = {t.op for t in node._inputs} - seen
        seen |= before
        stack.extend(before)
    return known


def _shapes(knowns: list[Any]) -> str:
    flat = [k for group in knowns for k in (group if isinstance(group, list) else (group,))]
    return ", ".join(
        "<unknown>" if k.dims is None else "[" + ",".join("?" if n is None else str(n) for n in k.dims) + "]"
        for k in flat
    )


# --- the process-wide default
# -------------------------------------------------------------------------------------------

_default: list[Graph] = []


def _references(node: Operation) -> list[Any]:
    """Return the nodes whose variables a node changes through references."""
    pairs = zip(node._inputs, node._op.signature.inputs, strict=False)
    return [t.op for t, arg in pairs if arg.is_ref and t._dtype._is_ref_dtype]


def process_default() -> Graph:
    """Return the graph that ops are added to where no other is open."""
    if not _default:
        _default.append(Graph())
    return _default[0]


context.provide_default_graph(process_default)


def has_default_graph() -> bool:
    """Return whether some graph is open here, other than that of the process."""
    return any(graph is not None for graph in context.thread.scopes)


def get_default_graph() -> Graph:
    """Return the graph that a symbolic op called here would be added to.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default() as graph:
    ...     get_default_graph() is graph
    True
    """
    return context.default_graph()


_numbers = itertools.count()


def uid() -> int:
    """Return a number that no other call in this process returns."""
    return next(_numbers)


def reset_default_graph() -> None:
    """Start afresh with an empty default graph.

    >>> before = get_default_graph()
    >>> reset_default_graph()
    >>> get_default_graph() is before
    False
    """
    scopes, old = context.thread.scopes, process_default()
    if any(scope is not context.EAGER and scope is not old for scope in scopes):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
            "nesting and create a new graph."
        )
    _default.clear()
    if old in scopes:  # a block that builds the default graph goes on with the new one
        process_default().stands_for = old.stands_for or old
        scopes[:] = [process_default() if scope is old else scope for scope in scopes]
