"""New nodes from parts of a graph, and edges laid anew: `tf.contrib.graph_editor`'s transforms and reroutes.

A `Transformer` goes over the nodes of a view and makes of each what its handlers say, a copy if nobody says otherwise;
what enters from outside is kept, or becomes a placeholder in another graph. Bodies of loops and choices are shared by
the copies. `reroute_ts` and `swap_ts` change which tensors nodes take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ebbflow.core import nest
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, Nested, ShapeLike, TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.placeholders import placeholder
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.messages.attrs import attr_python
from ebbflow.tf1.graph_views import SubGraphView, get_walks_intersection_ops, make_list_of_t, make_view

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


def placeholder_name(t: TensorLike | None = None, scope: str | None = None, prefix: str = "geph") -> str:
    """Return what a placeholder that stands for a tensor is called: below `scope`, or (None) below the tensor's own."""
    below = f"{scope.rstrip('/')}/" if scope else ""
    if t is None:
        return f"{below}{prefix}"
    if type(t) is not SymbolicTensor:
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    own, _, name = t.op.name.rpartition("/")
    if scope is None and own:
        below = f"{own}/"
    return f"{below}{prefix}__{name}_{t.value_index}"


def make_placeholder_from_tensor(t: Nested, scope: str | None = None, prefix: str = "geph") -> Tensor:
    """Return a placeholder like a tensor, in the graph that is the default."""
    return placeholder(dtype=t.dtype.base_dtype, shape=t.shape, name=placeholder_name(t, scope, prefix))


def make_placeholder_from_dtype_and_shape(
    dtype: DTypeLike, shape: ShapeLike = None, scope: str | None = None, prefix: str = "geph"
) -> Nested:
    """Return a placeholder of a dtype and a shape, in the graph that is the default."""
    return placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


# --- handlers ---------------------------------------------------------------------------------------------------------


def keep_t_if_possible_handler(info: Any, t: Nested) -> Tensor:
    """Return a tensor from outside as it is, or a placeholder for it in another graph."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def replace_t_with_placeholder_handler(info: Any, t: TensorLike) -> Tensor:
    """Return a placeholder for a tensor from outside."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


def assign_renamed_collections_handler(info: Any, elem: Nested, elem_: Nested) -> None:
    """Put a new node or tensor into the collections of the old one, under the new scope's names."""
    known = {value for key, value in vars(GraphKeys).items() if not key.startswith("_")}
    for name in info.graph.get_all_collection_keys():
        if any(member is elem for member in info.graph.get_collection_ref(name)):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def copy_op_handler(
    info: Any, op: Any, new_inputs: Nested, copy_shape: bool = False, nodedef_fn: Callable[[Any], Any] | None = None
) -> tuple[Any, list[Any]]:
    """Return a copy of a node that takes `new_inputs`, and its outputs; `nodedef_fn` may change its NodeDef first."""
    if isinstance(new_inputs, SubGraphView):
        new_inputs = new_inputs.inputs
    attrs, new_inputs = dict(op._attrs), list(new_inputs)
    if nodedef_fn is not None:
        before, changed = op.node_def, nodedef_fn(op.node_def)
        attrs = {name: value for name, value in attrs.items() if name in changed.attr or name not in before.attr}
        for name, value in changed.attr.items():
            if name not in before.attr or before.attr[name] != value:
                declared = op._op.signature.attrs.get(name)
                attrs[name] = attr_python(value, declared.kind if declared is not None else None)
    graph = info.graph_
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
        name = graph.unique_name(info.new_name(op.name))
        node = graph._add(op._op, name, new_inputs, op._op.signature.group_inputs(new_inputs, attrs), attrs)
    if op.device and not node.device:
        node._set_device(op.device)
    for old, new in zip(op.outputs, node.outputs, strict=True):
        if copy_shape:
            new.set_shape(old.shape)
    return node, list(node.outputs)


def transform_op_if_inside_handler(info: Any, op: Any, keep_if_possible: bool = True) -> Effect:
    """Return what became of a node of the view; of another, itself where it is in the same graph."""
    if op in info.sgv.ops:
        return info.transformed_ops.get(op)
    return op if keep_if_possible and info.graph is info.graph_ else None


# --- the transformer --------------------------------------------------------------------------------------------------


class TransformerInfo:
    """What became of each node and tensor."""

    def __init__(self, info: Any):
        self._graph, self._graph_, self._scope, self._scope_ = info.graph, info.graph_, info.scope, info.scope_
        self._transformed_ops, self._transformed_ts = info.transformed_ops, info.transformed_ts

    def transformed(self, original: Nested, missing_fn: Callable[..., Any] | None = None) -> Nested:
        """Return the new ones for old nodes and tensors, in any structure; None, or what `missing_fn` says."""
        return self._mapped(original, self._transformed_ts, self._transformed_ops, missing_fn)

    def original(self, transformed: Nested, missing_fn: Callable[..., Any] | None = None) -> Tensor:
        """Return the old ones for new nodes and tensors, in any structure."""
        tensors = {new: old for old, new in self._transformed_ts.items()}
        nodes = {new: old for old, new in self._transformed_ops.items()}
        return self._mapped(transformed, tensors, nodes, missing_fn)

    def _mapped(self, structure: Any, tensors: Any, nodes: Any, missing_fn: Any) -> Any:
        def one(item: Any) -> Any:
            if type(item) is not SymbolicTensor and not isinstance(item, Operation):
                raise TypeError(f"Expected a tf.Tensor or tf.Operation, got a {type(item)}")
            known = nodes if isinstance(item, Operation) else tensors
            if item in known:
                return known[item]
            return None if missing_fn is None else missing_fn(item)

        return nest.map_structure(one, structure)

    def __str__(self) -> str:
        return f"Transform result info:\n{len(self._transformed_ops)} nodes, {len(self._transformed_ts)} tensors"


class _Work:
    """One transformation under way, as handlers see it."""

    def __init__(self, sgv: SubGraphView, graph: Any, scope: str, scope_: str):
        self.sgv, self.graph, self.graph_ = sgv, sgv.graph, graph
        self.scope, self.scope_ = scope, scope_
        self.ops = frozenset(sgv.ops)
        self.transformed_ops: dict[Any, Any] = {}
        self.transformed_ts: dict[Any, Any] = {}

    def new_name(self, name: str) -> str:
        """Return a name as it is below the new scope; it must be below the old one."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}")
        return f"{self.scope_}{name[len(self.scope) :]}"


class Transformer:
    """Makes new nodes of old ones; its handlers may be replaced."""

    def __init__(self) -> None:
        self.assign_collections_handler: Any = assign_renamed_collections_handler
        self.transform_external_input_handler: Any = keep_t_if_possible_handler
        self.transform_external_hidden_input_handler: Any = keep_t_if_possible_handler
        self.transform_op_handler: Any = copy_op_handler
        self.transform_control_input_handler: Any = transform_op_if_inside_handler
        self.transform_original_op_handler: Any = transform_op_if_inside_handler

    def __call__(
        self, sgv: Nested, dst_graph: Nested, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Return the view of the new nodes, and what became of what."""
        sgv = make_view(sgv)
        src_scope = f"{src_scope.rstrip('/')}/" if src_scope else ""
        if dst_scope and not reuse_dst_scope:
            dst_scope = dst_graph.unique_name(dst_scope.rstrip("/"))
        dst_scope = f"{dst_scope.rstrip('/')}/" if dst_scope else ""
        work = _Work(sgv, dst_graph, src_scope, dst_scope)
        for t in sgv.inputs:
            work.transformed_ts[t] = self.transform_external_input_handler(work, t)
        for op in sorted(sgv.ops, key=lambda op: op._id):
            self._one(work, op)
        new = SubGraphView(list(work.transformed_ops.values()))
        passing = [work.transformed_ts[t] for t in sgv.passthroughs]
        new = new._changed(
            passthrough=passing,
            input=[work.transformed_ts[t] for t in sgv.inputs],
            output=[work.transformed_ts[t] for t in sgv.outputs],
        )
        return new, TransformerInfo(work)

    def _one(self, work: _Work, op: Any) -> None:
        for t in op.inputs:
            if t not in work.transformed_ts:  # from outside, and no input of the view as it was remapped
                work.transformed_ts[t] = self.transform_external_hidden_input_handler(work, t)
        node, outputs = self.transform_op_handler(work, op, [work.transformed_ts[t] for t in op.inputs])
        work.transformed_ops[op] = node
        work.transformed_ts.update(zip(op.outputs, outputs, strict=True))
        if node is op or node is None:
            return
        controls = [self.transform_control_input_handler(work, other) for other in op.control_inputs]
        node._add_control_inputs([other for other in controls if other is not None])
        if op._original_op is not None:
            node._original_op = self.transform_original_op_handler(work, op._original_op)
        for old, new in [(op, node), *zip(op.outputs, outputs, strict=True)]:
            self.assign_collections_handler(work, old, new)


def copy(
    sgv: Nested, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[SubGraphView, TransformerInfo]:
    """Return a copy of a part of a graph, in the same or another one, and what became of what."""
    view = make_view(sgv)
    return Transformer()(view, dst_graph or view.graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Nested, replacement_ts: Mapping[Any, Any], dst_graph: Graph | None = None, dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Return a copy that takes other tensors in place of some, and what became of what."""
    view = make_view(sgv)
    copier = Transformer()

    def replaced(info: Any, t: Any) -> Any:
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)

    copier.transform_external_input_handler = copier.transform_external_hidden_input_handler = replaced
    return copier(view, dst_graph or view.graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Nested, replacement_ts: Mapping[Any, Any], dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Nested:  # fmt: skip
    """Return what tensors would be with others in place of some: what lies between is copied.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     a = tf.constant(1.0)
    ...     b = (a + 1.0) * 2.0
    ...     float(session.run(graph_replace(b, {a: tf.constant(5.0)})))
    12.0
    """
    targets = nest.flatten(target_ts)
    between = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=True)
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    options = (dst_scope, src_scope, reuse_dst_scope)
    _, info = copy_with_input_replacements(between, replacement_ts, None, *options)
    return info.transformed(target_ts, lambda item: item)


# --- edges ------------------------------------------------------------------------------------------------------------


def _laid(old: Any, new: Any, can_modify: Any, cannot_modify: Any) -> list[tuple[Any, int, Any]]:
    allowed = None if can_modify is None else frozenset(make_view(can_modify).ops)
    barred = frozenset(make_view(cannot_modify).ops) if cannot_modify is not None else frozenset()
    found = []
    for node in dict.fromkeys(old.consumers()):
        if node in barred or (allowed is not None and node not in allowed):
            continue
        found += [(node, i, new) for i, t in enumerate(node.inputs) if t is old]
    return found


def reroute_ts(ts0: Nested, ts1: Nested, can_modify: Nested = None, cannot_modify: Nested = None) -> int:
    """Have all that takes a tensor of `ts1` take the one of `ts0` instead; return how many edges changed."""
    pairs = list(zip(make_list_of_t(ts0), make_list_of_t(ts1), strict=True))
    edges = [edge for new, old in pairs if new is not old for edge in _laid(old, new, can_modify, cannot_modify)]
    return _change(edges)


def swap_ts(ts0: Nested, ts1: Nested, can_modify: Nested = None, cannot_modify: Nested = None) -> int:
    """Have what takes a tensor of one list take the other's, and the other way round; return how many edges changed."""
    edges = []
    for a, b in zip(make_list_of_t(ts0), make_list_of_t(ts1), strict=True):
        if a is not b:
            edges += [*_laid(a, b, can_modify, cannot_modify), *_laid(b, a, can_modify, cannot_modify)]
    return _change(edges)


def _change(edges: list[tuple[Any, int, Any]]) -> int:
    for node, i, new in edges:
        if not node.inputs or new.graph is not node.graph:
            raise ValueError(f"{new!r} is not of the graph of '{node.name}'")
        old = node.inputs[i]
        if old.dtype != new.dtype or not old.shape.is_compatible_with(new.shape):
            raise ValueError(f"'{node.name}' takes {old!r}; {new!r} has another dtype or shape")
    for node, i, new in edges:
        node._update_input(i, new)
        if new.op._id > node._id:
            _move_behind(node)
    return len(edges)


def _move_behind(node: Any) -> None:
    """Put a node, and all that depends on it, behind the rest, so that nodes stay in an order they can run in."""
    graph, waiting, after = node.graph, [node], {node}
    while waiting:
        at = waiting.pop()
        for other in [*(c for t in at.outputs for c in t.consumers()), *at._control_outputs]:
            if other not in after:
                after.add(other)
                waiting.append(other)
    if any(t.op in after for t in node.inputs):
        raise ValueError(f"'{node.name}' would depend on itself")
    for other in sorted(after, key=lambda other: other._id):
        graph._move_to_end(other)


def add_control_inputs(op: Operation, cops: Nested) -> None:
    """Have a node run after others."""
    waits = [cops] if isinstance(cops, Operation) else list(cops)
    for other in waits:
        if other in op.control_inputs:
            raise ValueError(f"{other.name} is already a control_input of {op.name}")
    op._add_control_inputs(waits)


def remove_control_inputs(op: Operation, cops: Nested) -> None:
    """Have a node not wait for others any more."""
    waits = [cops] if isinstance(cops, Operation) else list(cops)
    for other in waits:
        if other not in op.control_inputs:
            raise ValueError(f"{other.name} is not a control_input of {op.name}")
    kept = [other for other in op.control_inputs if other not in waits]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)
