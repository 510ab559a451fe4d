"""What TF 1 programs do with variables besides calling their methods: lists of them, initializers, assignment
functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Assigned, Effect, TensorLike
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.scopes import device_scope, group, name_scope_v1
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.masks import boolean_mask
from ebbflow.ops.declare import raw
from ebbflow.state.variables import RefVariable, Variable


def global_variables(scope: str | None = None) -> list[Any]:
    """Return the graph's global variables (whose names match `scope`).

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     w = tf.compat.v1.get_variable("w", [2])
    ...     [variable.name for variable in global_variables()]
    ['w:0']
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Return the graph's global variables (the name before 1.0)."""
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """Return the graph's local variables: not saved, made anew by each process."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that layers marked as the model's."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that optimizers train.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", [2])
    ...     w = tf.compat.v1.get_variable("w", [2], trainable=False)
    ...     [variable.name for variable in trainable_variables()]
    ['v:0']
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Effect:
    """Return an operation that gives each variable its initial value."""
    if var_list and not context.executing_eagerly():
        return group(*[v.initializer for v in var_list], name=name)
    return group(name=name)


def global_variables_initializer() -> Effect:
    """Return an operation that initialises all global variables.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.compat.v1.get_variable("v", initializer=3.0)
    ...     session.run(global_variables_initializer())
    ...     float(session.run(v))
    3.0
    """
    if context.executing_eagerly():
        return group(name="init")
    return variables_initializer(global_variables())


def local_variables_initializer() -> Effect:
    """Return an operation that initialises all local variables."""
    if context.executing_eagerly():
        return group(name="init")
    return variables_initializer(local_variables())


def initialize_all_variables() -> Effect:
    """`global_variables_initializer`, by its name before 1.0.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     w = tf.compat.v1.get_variable("w", initializer=[1.0, 2.0])
    ...     session.run(initialize_all_variables())
    ...     session.run(w).tolist()
    [1.0, 2.0]
    """
    return global_variables_initializer()


def initialize_local_variables() -> Effect:
    """`local_variables_initializer`, by its name before 1.0."""
    return local_variables_initializer()


def initialize_variables(var_list: Iterable[Any], name: str = "init") -> Effect:
    """`variables_initializer`, by its name before 1.0."""
    return variables_initializer(var_list, name)


def is_variable_initialized(variable: Variable, name: str | None = None) -> Tensor:
    """Return whether a variable has a value, as a bool tensor."""
    if isinstance(variable, Variable):
        return variable.is_initialized(name)
    return raw.IsVariableInitialized(variable, name=name)


def report_uninitialized_variables(
    var_list: Iterable[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Return the names of the variables that have no value yet, as a string tensor."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope_v1(name):
        ready = [is_variable_initialized(v) for v in var_list]
        with device_scope("/cpu:0"):
            if not ready:
                return constant([], dtypes.string)
            missing = raw.LogicalNot(stack(ready))
            return boolean_mask(constant([v.op.name for v in var_list]), missing)


def assert_variables_initialized(var_list: Iterable[Any] | None = None) -> Effect:
    """Return an operation that fails when a variable has no value."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    ranks = [raw.Rank(v) for v in var_list]
    return ranks[0] if len(ranks) == 1 else stack(ranks)


# --- assignment as functions ------------------------------------------------------------------------------------------


def _is_ref(ref: Any) -> bool:
    return isinstance(ref, RefVariable) or (not isinstance(ref, Variable) and ref.dtype._is_ref_dtype)


def _reference(ref: Any) -> Any:
    return ref._variable if isinstance(ref, RefVariable) else ref


def assign(
    ref: Variable,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Assigned:
    """Set a variable; return what gives its new value.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     session.run(tf.compat.v1.global_variables_initializer())
    ...     float(session.run(assign(v, 5.0)))
    5.0
    """
    if _is_ref(ref):
        options = {k: v for k, v in (("validate_shape", validate_shape), ("use_locking", use_locking)) if v is not None}
        return raw.Assign(_reference(ref), value, name=name, **options)
    return ref.assign(value, name=name)


def assign_add(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Assigned:
    """Add to a variable; return what gives its new value.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     session.run(tf.compat.v1.global_variables_initializer())
    ...     float(session.run(assign_add(v, 5.0)))
    6.0
    """
    if _is_ref(ref):
        return raw.AssignAdd(_reference(ref), value, use_locking=bool(use_locking), name=name)
    return ref.assign_add(value)  # TensorFlow leaves the name out here


def assign_sub(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Assigned:
    """Subtract from a variable; return what gives its new value."""
    if _is_ref(ref):
        return raw.AssignSub(_reference(ref), value, use_locking=bool(use_locking), name=name)
    return ref.assign_sub(value)


def count_up_to(ref: Variable, limit: int, name: str | None = None) -> Tensor:
    """Add one until `limit` is reached; return the value before."""
    if _is_ref(ref):
        return raw.CountUpTo(_reference(ref), limit=limit, name=name)
    return raw.ResourceCountUpTo(ref.handle, limit=limit, T=ref.dtype, name=name)


_DONE = {
    "Update": "Set to `updates`",
    "Add": "Add `updates` to",
    "Sub": "Subtract `updates` from",
    "Mul": "Multiply by `updates`",
    "Div": "Divide by `updates`",
    "Min": "Limit to at most `updates`",
    "Max": "Limit to at least `updates`",
}


def _scatter(kind: str, default_locking: bool) -> Any:
    def scatter(
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = default_locking,
        name: str | None = None,
    ) -> Assigned:
        if _is_ref(ref):
            return getattr(raw, f"Scatter{kind}")(_reference(ref), indices, updates, use_locking=use_locking, name=name)
        return ref._scatter_rows(kind, indices, updates, use_locking, name)

    scatter.__name__ = scatter.__qualname__ = f"scatter_{kind.lower()}"
    scatter.__doc__ = f"{_DONE[kind]} the rows of `ref` that `indices` name; return what gives the new value."
    return scatter


scatter_update = _scatter("Update", True)
scatter_add = _scatter("Add", False)
scatter_sub = _scatter("Sub", False)
scatter_mul = _scatter("Mul", False)
scatter_div = _scatter("Div", False)
scatter_min = _scatter("Min", False)
scatter_max = _scatter("Max", False)


def _scatter_nd(kind: str, default_locking: bool) -> Any:
    def scatter(
        ref: Variable,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = default_locking,
        name: str | None = None,
    ) -> Assigned:
        if _is_ref(ref):
            return getattr(raw, f"ScatterNd{kind}")(
                _reference(ref), indices, updates, use_locking=use_locking, name=name
            )
        return ref._scatter_nd(kind, indices, updates, name)

    scatter.__name__ = scatter.__qualname__ = f"scatter_nd_{kind.lower()}"
    scatter.__doc__ = f"{_DONE[kind]} the entries of `ref` at N-d `indices`; return what gives the new value."
    return scatter


scatter_nd_update = _scatter_nd("Update", True)
scatter_nd_add = _scatter_nd("Add", False)
scatter_nd_sub = _scatter_nd("Sub", False)


def batch_scatter_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Assigned:
    """Set, in each batch entry, the rows that `indices` name."""
    slices = IndexedSlices(convert(updates, ref.dtype.base_dtype), convert(indices))
    return ref.batch_scatter_update(slices, use_locking, name)
