"""`while_loop`: a body applied to loop variables for as long as a condition on them holds.

Eagerly it is a plain Python loop. In a graph condition and body become functions held by one node (`while_op`). The
first two variables of that node count the iterations and bound them, as in TensorFlow's graphs; the user's follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dims, TensorShape, dims_str, from_dims, is_compatible
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.while_op import loop_node
from ebbflow.functions.func_graph import FuncGraph, build, of_tf1, prunes
from ebbflow.functions.side_effects import keeping_state
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.spec import RaggedTensorSpec
from ebbflow.ops.ragged.tensor import RaggedTensor


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Nested,
    shape_invariants: Nested = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
) -> Nested:
    """Return the loop variables after `body` was applied to them for as long as `cond` holds, in their structure.

    >>> [int(x) for x in while_loop(lambda i, total: i < 5, lambda i, total: (i + 1, total + i), (0, 0))]
    [5, 10]
    """
    return while_loop_v1(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        name,
        maximum_iterations,
        return_same_structure=True,
    )


def functional_while(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """Return the loop variables after the loop: `tensorflow.python.ops.while_v2.while_loop`."""
    return while_loop_v1(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        name=name,
        maximum_iterations=maximum_iterations,
        return_same_structure=return_same_structure,
    )


def while_loop_v1(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Nested,
    shape_invariants: Nested = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Nested:
    """Return the loop variables after the loop; without `return_same_structure` a single one comes bare."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if not nest.is_nested(loop_vars):
        raise TypeError(f"'loop_vars' must be a list or tuple of tensors, got {loop_vars!r}")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    loop_vars = nest.map_structure(tensor_of_variable, loop_vars)
    if context.executing_eagerly():
        return _run_now(cond, body, loop_vars, maximum_iterations, return_same_structure)
    loop = _WhileBuilder(cond, body, loop_vars, shape_invariants, maximum_iterations)
    results = loop.add(context.current_graph(), name or "while", parallel_iterations, back_prop)
    if return_same_structure:
        return nest.pack_sequence_as(loop_vars, results, expand_composites=True)
    if not of_tf1(context.current_graph()):  # in the structure of what it starts with; TF 1: of what the body gives
        packed = nest.pack_sequence_as(loop_vars, results, expand_composites=True)
        return results[0] if len(results) == 1 else packed
    packed = nest.pack_sequence_as(loop.body_structure, results, expand_composites=True)
    return packed[0] if len(results) == 1 else packed


def tensor_of_variable(value: Any) -> Any:
    return value.read_value() if hasattr(value, "_tape_handle") and hasattr(value, "read_value") else value


# --- eagerly ----------------------------------------------------------------------------------------------------------


def _run_now(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any, same_structure: bool) -> Any:
    left = -1 if maximum_iterations is None else max(int(_limit(maximum_iterations)), 0)
    bare = False
    simple = all(isinstance(v, Tensor) or not nest.is_nested_or_composite(v) for v in loop_vars)
    values = loop_vars
    while left != 0 and cond(*values):
        result = body(*values)
        if not nest.is_nested(result):
            bare = not same_structure
            result = (result,)
        if not (simple and len(result) == len(values) and all(r.__class__ is EagerTensor for r in result)):
            result = _alike(loop_vars, result, in_full=False)
        values = result
        left -= 1
    found = nest.map_structure(_converted, values)
    if bare:
        return found[0]
    if values is not loop_vars and isinstance(result, tuple) and len(result) == 1:  # as the body gives it
        return tuple(nest.flatten(found)) if simple else found
    return nest.pack_sequence_as(loop_vars, nest.flatten(found)) if found.__class__ is tuple else found


def _alike(loop_vars: Any, result: Any, in_full: bool = True) -> Any:
    """Return what a body gave as a sequence of loop variables; raise where its structure is not theirs.

    Eagerly composite values are not looked at `in_full`: something else that passes for a tensor may become one.
    """
    try:
        nest.assert_same_structure(list(loop_vars), list(result), check_types=False, expand_composites=in_full)
    except (ValueError, TypeError):
        if len(loop_vars) != 1:
            raise
        try:  # the one loop variable is a structure, and the body gave it bare
            nest.assert_same_structure(loop_vars[0], result, check_types=False, expand_composites=in_full)
        except (ValueError, TypeError):
            pass
        else:
            return [result]
        raise
    return result


def _converted(value: Any) -> Any:
    return value if value.__class__ is EagerTensor or isinstance(value, CompositeTensor) else convert(value)


def _limit(maximum_iterations: Any) -> Any:
    limit = convert(maximum_iterations, name="maximum_iterations")
    if limit._dims is not None and limit._dims != ():
        raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {from_dims(limit._dims)}")
    return limit


# --- in a graph -------------------------------------------------------------------------------------------------------


class _WhileBuilder:
    """One loop being added to a graph."""

    def __init__(self, cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, maximum_iterations: Any):
        self.cond, self.body, self.loop_vars = cond, body, loop_vars
        self.invariants = shape_invariants
        self.limit = maximum_iterations
        self.body_structure: Any = None
        self.first_values: Sequence[Any] = ()

    def add(self, graph: Any, name: str, parallel_iterations: int, back_prop: bool) -> list[Any]:
        """Add the node; return the loop variables after the loop, flat."""
        inside = not (context.switches.control_flow_v2 or graph.building_function)
        flat = None if inside else self._flat()
        with graph.name_scope(name) as scope:
            flat = self._flat() if flat is None else flat
            limit = convert(-1) if self.limit is None else _limit(self.limit)
            counter = convert(0, limit.dtype.base_dtype, name="loop_counter")
            given = [counter, limit, *flat]
            self.first_values = given if of_tf1(graph) else ()
            dims = [(), (), *self._argument_dims(flat)]
            arguments = [(t.dtype.base_dtype, d, t.op.name) for t, d in zip(given, dims, strict=True)]
            prefix = scope.replace("/", "_")
            test = build(f"{prefix}cond", self._test, graph, arguments, control_flow=True)
            step = build(f"{prefix}body", self._step, graph, arguments, control_flow=True)
            _check_steady(step, given, dims)
            if prunes(graph):
                for part in (test, step):
                    needed = set().union(*(keeping_state(t) for t in part.outputs))
                    part.effects = [node for node in part._nodes if node in needed]
            if of_tf1(graph):
                test.brought_out = step.brought_out = functools.partial(_refuse_outside, scope)
            outputs = loop_node(given, dims, test, step, parallel_iterations, scope)
            outputs = _handed_out(graph, outputs, len(given), self.limit is not None)
        return outputs if back_prop else [raw.StopGradient(t) for t in outputs]

    def _flat(self) -> list[Any]:
        return [convert(v) for v in nest.flatten(self.loop_vars, expand_composites=True)]

    def _argument_dims(self, flat: list[Any]) -> list[Dims]:
        """Return the dims that each (flat) loop variable keeps through all iterations."""
        if self.invariants is None:
            given = nest.map_structure(lambda v: None, self.loop_vars)
        else:
            nest.assert_same_structure(self.loop_vars, self.invariants, check_types=False)
            given = self.invariants
        pairs = zip(nest.flatten(self.loop_vars), nest.flatten(given), strict=True)
        found = [dims for var, invariant in pairs for dims in _kept_dims(var, invariant)]
        return [_checked_dims(t, t._dims if d is _OWN else d) for t, d in zip(flat, found, strict=True)]

    def _pack(self, flat: Sequence[Any]) -> Any:
        return nest.pack_sequence_as(self.loop_vars, list(flat), expand_composites=True)

    def _test(self, counter: Any, limit: Any, *flat: Any) -> Any:
        pred = convert(self.cond(*self._pack(flat)))
        if pred._dims != ():
            pred = raw.Squeeze(pred)
        return pred if self.limit is None else raw.LogicalAnd(counter < limit, pred)

    def _step(self, counter: Any, limit: Any, *flat: Any) -> Any:
        context.current_graph().first_values = self.first_values
        result = self.body(*self._pack(flat))
        if not nest.is_nested(result):
            result = [result]
        result = _alike(self.loop_vars, nest.map_structure(tensor_of_variable, result))
        self.body_structure = result
        return [counter + 1, limit, *nest.flatten(result, expand_composites=True)]


_OWN: Any = object()


def _kept_dims(var: Any, invariant: Any) -> list[Any]:
    """Return the dims of the tensors of one loop variable; `_OWN` where a tensor keeps its own."""
    if isinstance(invariant, TypeSpec) and not invariant.is_compatible_with(var):
        raise TypeError(f"TypeSpec {invariant!r} is not compatible with {var!r}")
    if isinstance(var, IndexedSlices) and isinstance(invariant, TensorShape):
        dims = invariant._dims  # that of the values, which says those of the others
        return [dims, None if dims is None else dims[:1], *([_OWN] if var.dense_shape is not None else [])]
    if isinstance(var, SparseTensor) and isinstance(invariant, TensorShape) and context.switches.tf1:
        dims = invariant._dims  # in TF 1 that of the dense shape: how many axes there are
        rank = None if dims is None else dims[0]
        return [(None, rank), (None,), (rank,)]
    if isinstance(var, CompositeTensor):
        spec = invariant if isinstance(invariant, TypeSpec) else _composite_spec(var, invariant)
        parts = nest.flatten(spec, expand_composites=True)
        return [part.shape._dims for part in parts]
    if invariant is None:
        return [_OWN]
    if isinstance(invariant, TypeSpec):
        return [invariant.shape._dims]  # type: ignore[attr-defined]
    if not isinstance(invariant, TensorShape):
        raise TypeError(f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(invariant)}")
    return [invariant._dims]


def _checked_dims(var: Any, dims: Dims) -> Dims:
    """Refuse a shape that a loop variable does not even start with."""
    if not is_compatible(var._dims, dims):
        raise ValueError(
            f"The shape invariant specified for {var.name} is not compatible with the initial shape of the loop "
            f"variable. It enters the loop with shape {_show(var._dims)}, but the specified shape invariant is "
            f"{_show(dims)}."
        )
    return dims


def _composite_spec(var: Any, invariant: Any) -> Any:
    if invariant is None:
        return var._type_spec
    if isinstance(var, RaggedTensor) and context.switches.tf1:
        return RaggedTensorSpec(invariant, var.dtype, var.ragged_rank, var.row_splits.dtype)
    narrow = getattr(var, "_shape_invariant_to_type_spec", None)
    if narrow is None:
        raise TypeError(
            f"To describe or constrain a {type(var).__name__}, use a {type(var._type_spec).__name__} instead of a "
            f"TensorShape."
        )
    return narrow(invariant)


def _check_steady(step: FuncGraph, given: Sequence[Any], dims: Sequence[Dims]) -> None:
    """Refuse loop variables whose dtype or shape an iteration changes."""
    for before, argument, kept, after in zip(given, step.inputs, dims, step.outputs, strict=False):
        if after.dtype.base_dtype is not argument.dtype.base_dtype:
            raise TypeError(
                f"Loop var {before.name} enters the loop with type {argument.dtype!r} but has type {after.dtype!r} "
                f"after 1 iteration. {before.name} type should remain constant."
            )
        if not within(after._dims, kept):
            quote = "`" if context.switches.control_flow_v2 else "'"
            raise ValueError(
                f"Input tensor {quote}{before.name}{quote} enters the loop with shape {_show(kept)}, but has shape "
                f"{_show(after._dims)} after one iteration. To allow the shape to vary across iterations, use the "
                "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
            )


def _refuse_outside(scope: str, item: Any, taker: Any) -> Any:
    """Refuse the use of what is made in a turn of a loop outside of it: it has no value there, or many."""
    name, user = scope + getattr(item, "op", item).name, context.current_graph()._name_stack
    goal = f" as input to '{user}'" if user else ""
    raise ValueError(f"Cannot use '{name}'{goal} because '{name}' is in a while loop. Return it from the loop's body.")


def _show(dims: Dims) -> str:
    return dims_str(dims)


def within(dims: Dims, kept: Dims) -> bool:
    """Return whether every shape that `dims` allows is one that `kept` allows."""
    if kept is None:
        return True
    if dims is None or len(dims) != len(kept):
        return False
    return all(k is None or d == k for d, k in zip(dims, kept, strict=True))


def _handed_out(graph: Any, outputs: list[Any], count: int, limited: bool) -> list[Any]:
    """Return the loop variables among the outputs: as they are in a function, under names of their own in a graph.

    TF 1 programs look for `while/Exit`, TF 2 programs for `while/Identity`.
    """
    if graph.building_function:
        return outputs[2:count]
    if context.switches.control_flow_v2:
        return [raw.Identity(t, name="Identity") for t in outputs][2:count]
    named = [raw.Identity(t, name="Exit") for t in ([outputs[0]] if limited else []) + outputs[2:count]]
    return named[1:] if limited else named
