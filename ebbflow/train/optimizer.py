"""The optimizer: gradients of a loss, applied to variables.

`Optimizer` is what programs subclass: a rule says how one gradient changes one variable (`_apply_dense`,
`_resource_apply_dense`, and the sparse forms), which slots it keeps, and which numbers it needs; the base class does
the rest, in graphs and eagerly. Knows variables, slots, tapes and graphs; the rules of `tf.train` are in `train.rules`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.context import eager_outside_functions
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Effect, Nested, TensorLike
from ebbflow.distribute import current
from ebbflow.distribute.distributed_variable import DistributedVariable
from ebbflow.eager.tape import GradientTape
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.gradients import gradients
from ebbflow.graph.scopes import colocate_with, control_dependencies, group, init_scope
from ebbflow.graph.scopes import tuple as gated
from ebbflow.ops.declare import raw
from ebbflow.state.functions import assign_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.state.variables import RefVariable, ResourceVariable, Variable, VariableV1
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType
from ebbflow.train import across_replicas, slots

GradsAndVars = list[tuple[Any, Any]]


class Optimizer(Trackable):
    """Base of the optimizers of `tf.train`."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[Any, Any] = {}
        self._slots_to_restore: dict[tuple[str, Any], list[Any]] = {}
        self._own_scope: Any = None
        if use_own_namescope_for_non_slot_vars:
            with variable_scope(None, default_name=name) as scope:
                self._own_scope = scope

    def get_name(self) -> str:
        """Return the optimizer's name."""
        return self._name

    # --- the three steps ----------------------------------------------------------------------------------------------

    def minimize(
        self,
        loss: AnyTensor,
        global_step: Variable | TensorLike | None = None,
        var_list: Iterable[Any] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Nested = None,
    ) -> Effect:
        """Take one step down: in a graph return the operation that does it; eagerly do it (`loss` is a function)."""
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(g is None for g, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in grads_and_vars]} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: TensorLike | Callable[..., Any],
        var_list: Iterable[Any] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Nested = None,
    ) -> GradsAndVars:
        """Return (gradient, variable) pairs."""
        if callable(loss):
            return _by_tape(loss, var_list, grad_loss)
        if context.executing_eagerly():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  "
                f"Not {gate_gradients}"
            )
        grad_loss = _gradient(grad_loss)
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        variables = _trained(var_list)
        grads = gradients(
            across_replicas.scaled(loss),
            variables,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = gated(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype.base_dtype is not dtypes.resource])
        return pairs

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Variable | TensorLike | None = None, name: str | None = None
    ) -> Effect:
        """Change each variable by its gradient; return the operation that does it (eagerly None)."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        if current.thread.places and across_replicas.needed(pairs):
            return _noted(across_replicas.apply(self, pairs, global_step, name))
        used = [(_gradient(g), v, _updater(v)) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with init_scope():
            self._create_slots([v for _, v, _ in used])
        updates = []
        with name_scope(name, self._name) as scope:
            self._prepare()
            with self._one_step():
                for grad, variable, update in used:
                    with _update_scope(variable):
                        updates.append(update(self, grad, variable))
            return _noted(self._applied(updates, global_step, scope))

    def _one_step(self) -> contextlib.AbstractContextManager[Any]:
        """Return a block for the changes of one step, during which its numbers stay as they are."""
        return contextlib.nullcontext()

    def _update(self, variable: Any, grad: Any) -> Any:
        """Change one variable by its gradient."""
        return _updater(variable)(self, _gradient(grad), variable)

    def _applied(self, updates: list[Any], global_step: Any, scope: str) -> Any:
        """Return the operation that ends the step, and counts it where there is a global step."""
        if global_step is None:
            return self._finish(updates, scope)
        finished = self._finish(updates, "update")
        if context.executing_eagerly():
            global_step.assign_add(1, read_value=False)
            return None
        with control_dependencies([finished]), _beside(global_step):
            if isinstance(global_step, DistributedVariable):
                return global_step.assign_add(convert(1, global_step.dtype)).op
            if isinstance(global_step, ResourceVariable):
                one = convert(1, global_step.dtype)
                return raw.AssignAddVariableOp(global_step.handle, one, name=scope)
            return assign_add(global_step, 1, name=scope)

    # --- slots --------------------------------------------------------------------------------------------------------

    def get_slot(self, var: AnyTensor, name: str) -> Any:
        """Return the slot called `name` of a variable, or None."""
        named = self._slots.get(name)
        return None if named is None else named.get(variable_key(var))

    def get_slot_names(self) -> list[str]:
        """Return the names of the slots kept."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Return the optimizer's own variables in the current graph (or eager ones), by name."""
        own = list(self._non_slot_variables())
        own += [slot for named in self._slots.values() for slot in named.values()]
        return sorted((v for v in own if _is_here(v)), key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _kept(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        named, key = self._slot_dict(slot_name), variable_key(var)
        if key not in named:
            named[key] = make()
            self._restore_slot_variable(slot_name, var, named[key])
        return named[key]

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        return self._kept(var, slot_name, lambda: slots.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        def make() -> Any:
            return slots.create_slot_with_initializer(var, initializer, shape, dtype, op_name)

        return self._kept(var, slot_name, make)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._kept(var, slot_name, lambda: slots.create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """Return a variable of the optimizer's own (one per graph), made on first use."""
        key = (name, None if context.executing_eagerly() else colocate_with.graph)
        if key not in self._non_slot_dict:
            with self._own_scope_open(), _beside(colocate_with):
                variable = VariableV1(
                    initial_value, name=name, trainable=False, use_resource=not isinstance(colocate_with, RefVariable)
                )
            self._non_slot_dict[key] = variable
            self._handle_deferred_dependencies(name, variable)
        return self._non_slot_dict[key]

    def _own_scope_open(self) -> Any:
        if self._own_scope is None:
            return _NOWHERE
        return variable_scope(self._own_scope, auxiliary_name_scope=True)

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self) -> Iterable[Any]:
        return self._non_slot_dict.values()

    # --- in a checkpoint ----------------------------------------------------------------------------------------------

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        own = sorted(self._non_slot_dict.items(), key=lambda item: item[0][0])
        children = {name: variable for (name, _), variable in own if _is_here(variable)}
        return {**children, **super()._trackable_children(save_type, cache=cache, **kwargs)}

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        child = super()._lookup_dependency(name, cached_dependencies)
        if child is not None:
            return child
        return self._get_non_slot_variable(name, None if context.executing_eagerly() else context.default_graph())

    def _restore_slot_variable(self, slot_name: str, variable: Any, slot_variable: Any) -> None:
        """Give a new slot what checkpoints hold for it, the latest first."""
        waiting = self._slots_to_restore.pop((slot_name, variable_key(variable)), [])
        for position in sorted(waiting, key=lambda each: each.restore_uid, reverse=True):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(self, slot_variable_position: Any, slot_name: str, variable: Any) -> None:
        """Restore a slot; eagerly it is made where it is missing, in a graph its value waits for it."""
        slot = self._slot_dict(slot_name).get(variable_key(variable))
        if slot is None and context.executing_eagerly() and slot_variable_position.is_simple_variable():
            slot = self._zeros_slot(variable, slot_name, self._name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            key = slot_name, variable_key(variable)
            self._slots_to_restore.setdefault(key, []).append(slot_variable_position)

    # --- what a rule says ---------------------------------------------------------------------------------------------

    def _valid_dtypes(self) -> set[Any]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}.")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Make the slots the rule needs."""

    def _prepare(self) -> None:
        """Make the numbers the rule needs into tensors."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Return the operation that changes a reference variable by a dense gradient."""
        raise self._unsaid("_apply_dense", "reference variables")

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Return the operation that changes a resource variable by a dense gradient."""
        raise self._unsaid("_resource_apply_dense", "resource variables")

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Return the operation that changes rows of a reference variable; rows are named once each."""
        raise self._unsaid("_apply_sparse", "gradients of single rows")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return the operation that changes rows of a resource variable; rows are named once each."""
        raise self._unsaid("_resource_apply_sparse", "gradients of single rows")

    def _unsaid(self, method: str, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} must define {method} to train with {what}")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return the operation that changes rows of a resource variable; rows may be named several times."""
        values, unique = deduplicate(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """Return the operation that changes rows of a reference variable; rows may be named several times."""
        values, unique = deduplicate(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, unique, grad.dense_shape), var)

    def _finish(self, update_ops: list[Any], name_scope: Any) -> Any:
        """Return the operation that ends a step."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param


# --- gradients --------------------------------------------------------------------------------------------------------


def _by_tape(loss: Callable[[], Any], var_list: Any, grad_loss: Any) -> GradsAndVars:
    """Return (gradient, variable) pairs of a loss given as a function."""
    with GradientTape() as tape:
        if var_list is not None:
            var_list = _flat(var_list)
            tape.watch(var_list)
        value = loss()
    variables = list(tape.watched_variables()) if var_list is None else var_list
    with control_dependencies([value]):
        grads = tape.gradient(value, variables, grad_loss)
    return list(zip(grads, variables, strict=True))


def _trained(var_list: Any) -> list[Any]:
    """Return the variables to compute gradients for: those given, or all that are trainable."""
    if var_list is None:
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES) + get_collection("trainable_resource_variables")
    else:
        variables = _flat(var_list)
    for variable in variables:
        if not isinstance(variable, (Variable, Tensor)):
            raise NotImplementedError(
                f"Trying to optimize unsupported type {variable!r}: var_list takes variables, or tensors to "
                "compute_gradients only"
            )
    if not variables:
        raise ValueError("No variables to optimize.")
    return variables


def _flat(var_list: Any) -> list[Any]:
    if isinstance(var_list, (Iterator, set)):
        var_list = list(var_list)
    return nest.flatten(var_list)


def _gradient(grad: Any) -> Any:
    if grad is None or isinstance(grad, (Tensor, IndexedSlices)):
        return grad
    try:
        return convert(grad)
    except (TypeError, ValueError):
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None


# --- updates ----------------------------------------------------------------------------------------------------------

Updater = Callable[[Optimizer, Any, Any], Any]


def _updater(variable: Any) -> Updater:
    """Return how an optimizer changes this kind of variable by a gradient."""
    if isinstance(variable, RefVariable):
        return _update_reference
    if isinstance(variable, Variable):  # a distributed one outside its strategy is its first copy
        return _update_resource
    if isinstance(variable, Tensor):
        return _refuse_tensor
    raise NotImplementedError(f"Trying to optimize unsupported type {variable!r}: pairs are (gradient, tf.Variable)")


def _refuse_tensor(optimizer: Optimizer, grad: Any, tensor: Any) -> Any:
    raise NotImplementedError(f"Trying to update a Tensor {tensor}: only a tf.Variable can be changed")


def _update_resource(optimizer: Optimizer, grad: Any, variable: Any) -> Any:
    if isinstance(grad, IndexedSlices):
        _refuse_constraint(variable)
        return optimizer._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
    return _constrained(variable, optimizer._resource_apply_dense(grad, variable))


def _update_reference(optimizer: Optimizer, grad: Any, variable: Any) -> Any:
    if isinstance(grad, IndexedSlices):
        _refuse_constraint(variable)
        return optimizer._apply_sparse_duplicate_indices(grad, variable)
    return _constrained(variable, optimizer._apply_dense(grad, variable))


def _refuse_constraint(variable: Any) -> None:
    if variable.constraint is not None:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")


def _constrained(variable: Any, update: Any) -> Any:
    if variable.constraint is None:
        return update
    with control_dependencies([update]):
        return variable.assign(variable.constraint(variable))


def deduplicate(values: TensorLike, indices: TensorLike) -> tuple[Any, Any]:
    """Return row gradients with each row named once, its parts added up."""
    unique, places = raw.Unique(indices)
    return raw.UnsortedSegmentSum(values, places, raw.Shape(unique)[0]), unique


def _noted(applied: Any) -> Any:
    """Return the operation that makes a step, which in a graph goes into the collection of these; eagerly None."""
    if context.executing_eagerly():
        return applied
    applied = applied.op if isinstance(applied, Tensor) else applied
    train_op = context.default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if applied not in train_op:
        train_op.append(applied)
    return applied


# --- scopes and keys --------------------------------------------------------------------------------------------------


def _update_scope(variable: Any) -> Any:
    """Name and place the nodes that update a variable; an eager variable has no node to name them by."""
    if context.executing_eagerly() or not getattr(variable, "_in_graph", True):
        return _NOWHERE
    scopes = contextlib.ExitStack()
    scopes.enter_context(name_scope(f"update_{variable.op.name}"))
    scopes.enter_context(colocate_with(variable.op))
    return scopes


_NOWHERE = contextlib.nullcontext()


def _beside(variable: Any) -> Any:
    in_graph = not context.executing_eagerly() and getattr(variable, "_in_graph", True)
    in_graph = in_graph and not isinstance(variable, DistributedVariable)  # its copies are where its strategy says
    return colocate_with(variable.op) if in_graph else _NOWHERE


def variable_key(variable: Any) -> Any:
    """Return what a variable's slots are filed under: its graph and its name (eagerly: a name of its own)."""
    container = getattr(variable, "_distributed_container", None)  # of a replica's copy: those of all copies together
    variable = variable if container is None else container()
    if isinstance(variable, DistributedVariable):  # whichever replica asks
        variable = variable.values[0]
    if getattr(variable, "_in_graph", True):
        node = variable.op
        return node.graph, node.name
    return variable._unique_id


def _is_here(variable: Any) -> bool:
    """Return whether a variable belongs to the current graph, or where there is none, is an eager one."""
    if variable._in_graph:
        return variable.graph is context.default_graph()
    return eager_outside_functions()
