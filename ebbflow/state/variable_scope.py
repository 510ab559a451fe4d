"""Variable scopes: names and defaults for the variables that `get_variable` gives.

A scope is open per thread; the variables themselves are kept per graph, in `variable_store`. Opening a variable scope
opens a name scope of the same name too; names of variables go by variable scopes alone.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import DTypeLike, InitializerLike, ShapeLike, TensorLike
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.graph import Graph
from ebbflow.graph.scopes import get_name_scope
from ebbflow.platform import logging
from ebbflow.state.base import VariableAggregation, VariableSynchronization
from ebbflow.state.variable_store import (
    AUTO_REUSE,
    EagerVariableStore,
    VariableStore,
    default_store,
    home_graph,
    with_variable_store,
)
from ebbflow.state.variables import SCOPE_KEY

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


__all__ = [
    "AUTO_REUSE",
    "EagerVariableStore",
    "VariableScope",
    "get_local_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "variable_op_scope",
    "variable_scope",
    "with_variable_store",
]


def no_regularizer(_: object) -> None:
    """Give no loss: the regularizer for variables that are not to have their scope's."""
    return None


class VariableScope:
    """The name of a variable scope and the defaults it gives to `get_variable`."""

    def __init__(
        self,
        reuse: object,
        name: str = "",
        initializer: InitializerLike | None = None,
        regularizer: Callable[[Any], Any] | None = None,
        caching_device: str | Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
    ):
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        if context.executing_eagerly():
            if caching_device is not None:
                raise NotImplementedError(
                    "Caching devices is not yet supported when eager execution is enabled: "
                    "an eager variable is read where it is; leave caching_device out"
                )
            self._reuse = AUTO_REUSE
            self._use_resource = True

    name = property(lambda self: self._name, doc="The prefix of names of variables.")
    original_name_scope = property(
        lambda self: self._name_scope, doc="The name scope opened with the scope, with its slash."
    )
    reuse = property(lambda self: self._reuse, doc="Whether variables are shared: False, True or AUTO_REUSE.")
    initializer = property(lambda self: self._initializer)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self) -> None:
        """Share variables from now on."""
        self._reuse = True

    def set_initializer(self, initializer: InitializerLike) -> None:
        """Set the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Set the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Say whether variables are resources."""
        if context.executing_eagerly() and not use_resource:
            raise ValueError("When eager execution is enabled, use_resource cannot be set to false.")
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Callable[..., Any]) -> None:
        """Set the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: str | Callable[..., Any]) -> None:
        """Set the default caching device."""
        if context.executing_eagerly():
            raise NotImplementedError(
                "Caching devices are not yet supported when eager execution is enabled: an eager variable is read "
                "where it is"
            )
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Set the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any]) -> None:
        """Set the custom getter."""
        self._custom_getter = custom_getter

    # --- the variables under it ---------------------------------------------------------------------------------------

    def get_collection(self, name: str) -> list[Any]:
        """Return the members of a collection that are under this scope."""
        return get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        """Return this scope's trainable variables."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Return this scope's global variables."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Return this scope's local variables."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Callable[[Any], Any] | None = None,
        reuse: object = None,
        trainable: bool | None = None,
        collections: Iterable[Any] | None = None,
        caching_device: str | Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Variable:
        """Return a variable under this scope, found or made in `var_store`."""
        if context.executing_eagerly():
            reuse, use_resource = False, True
        with name_scope(None):  # names of variables do not go by name scopes
            if dtype is not None and initializer is not None and not callable(initializer):
                _check_dtype(initializer, dtype)
            return var_store.get_variable(
                f"{self._name}/{name}" if self._name else name,
                shape=shape,
                dtype=_first(dtype, self._dtype),
                initializer=_first(initializer, self._initializer),
                regularizer=_first(regularizer, self._regularizer),
                reuse=_first(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=_first(caching_device, self._caching_device),
                partitioner=_first(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=_first(use_resource, self._use_resource),
                custom_getter=_first(custom_getter, self._custom_getter),
                constraint=_first(constraint, self._constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )


def _first(given: Any, default: Any) -> Any:
    return default if given is None else given


def _check_dtype(initializer: Any, dtype: Any) -> None:
    found = convert(initializer).dtype.base_dtype
    if found != dtype:
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")


# --- which scope is open ----------------------------------------------------------------------------------------------


class ScopeStore(threading.local):
    """The scope that is open in a graph, and how often each name was opened, per thread."""

    def __init__(self) -> None:
        self.current_scope = VariableScope(False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        """Note that a scope was opened."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inner(self, name: str) -> None:
        """Let the names inside a scope that is closed be given again."""
        for other in self.counts:
            if other.startswith(name + "/"):
                self.counts[other] = 0

    def unique(self, prefix: str) -> str:
        """Return a name for a scope inside the open one that was not opened before."""
        outer = self.current_scope.name
        full = f"{outer}/{prefix}" if outer else prefix
        name, number = prefix, 0
        while self.counts.get(full + (f"_{number}" if number else ""), 0):
            number += 1
            name = f"{prefix}_{number}"
        return name


def scope_store() -> ScopeStore:
    """Return the graph's scopes."""
    stores = home_graph().get_collection_ref(SCOPE_KEY)
    if not stores:
        stores.append(ScopeStore())
    return stores[0]


def get_variable_scope() -> VariableScope:
    """Return the variable scope that is open.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), variable_scope("outer"):
    ...     get_variable_scope().name
    'outer'
    """
    return scope_store().current_scope


class variable_scope:  # noqa: N801  (TensorFlow's name)
    """`with variable_scope(name_or_scope) as scope:` variables made inside are named and shared by the scope.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), variable_scope("layer", reuse=tf.compat.v1.AUTO_REUSE):
    ...     first, again = get_variable("w", [2]), get_variable("w", [2])
    >>> first is again, first.name
    (True, 'layer/w:0')
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: TensorLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Callable[[Any], Any] | None = None,
        caching_device: str | Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: Any = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
        auxiliary_name_scope: bool = True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:  # a scope inside a sharing one shares, whatever it says
            reuse = None
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values
        self._reuse = reuse
        self._constraint = constraint
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": dtype,
            "use_resource": use_resource,
        }
        self._custom_getter = custom_getter
        self._auxiliary_name_scope = auxiliary_name_scope
        self._unique_name: str | None = None
        self._original: str | None = None
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as stack:
            graph = None if context.executing_eagerly() else _graph_of(self._values)
            if graph is not None and graph is not context.current_graph():
                stack.enter_context(graph.as_default())
            scope = self._open(stack)
            self._entered.append(stack.pop_all())
        return scope

    def __exit__(self, *exc: Any) -> Any:
        return self._entered.pop().__exit__(*exc)

    def _open(self, stack: contextlib.ExitStack) -> VariableScope:
        asked = self._name_or_scope
        if asked is None and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if asked is not None and not isinstance(asked, (VariableScope, str)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        entered = self._enter_name_scope(stack, asked)
        store = scope_store()
        if isinstance(asked, VariableScope):
            scope = self._again(asked)
            stack.enter_context(_jumping(store, scope))
            return scope
        if asked is None:
            self._unique_name = asked = self._unique_name or store.unique(self._default_name)  # type: ignore[arg-type]
        if self._original is None:  # the name scope of the first time, also when the same object is entered again
            self._original = asked if entered is None else entered
        scope = self._inside(store.current_scope, asked, self._original)
        stack.enter_context(_prolonging(store, scope))
        return scope

    def _enter_name_scope(self, stack: contextlib.ExitStack, asked: Any) -> str | None:
        """Open the name scope that goes with the variable scope; return its name."""
        if not self._auxiliary_name_scope:
            here = get_name_scope()
            return stack.enter_context(name_scope(here + "/" if here else None))
        name = (
            self._default_name if asked is None else asked if isinstance(asked, str) else asked.name.rpartition("/")[2]
        )
        return stack.enter_context(name_scope(name)) if name else None

    def _again(self, shared: VariableScope) -> VariableScope:
        """Return a scope like `shared`, with what is asked for here."""
        scope = copy.copy(shared)
        scope._reuse = self._reuse or shared.reuse
        scope._constraint = self._constraint
        return self._settle(scope, shared.custom_getter)

    def _inside(self, outer: VariableScope, name: str, original: str) -> VariableScope:
        """Return a scope inside `outer`, with its defaults and what is asked for here."""
        scope = copy.copy(outer)
        scope._name = f"{outer.name}/{name}" if outer.name else name
        scope._name_scope = original
        scope._reuse = self._reuse or outer.reuse
        scope._constraint = self._constraint
        return self._settle(scope, outer.custom_getter)

    def _settle(self, scope: VariableScope, outer_getter: Any) -> VariableScope:
        for key, value in self._given.items():
            if value is not None:
                getattr(scope, f"set_{key}")(value)
        if self._custom_getter is not None:
            scope.set_custom_getter(_chained(self._custom_getter, outer_getter))
        if context.executing_eagerly():
            scope._reuse, scope._use_resource = AUTO_REUSE, True
        return scope


def pure_variable_scope(name_or_scope: Any, **kwargs: Any) -> variable_scope:
    """Return a variable scope that opens no name scope."""
    return variable_scope(name_or_scope, auxiliary_name_scope=False, **kwargs)


def _chained(getter: Callable[..., Any], outer: Any) -> Callable[..., Any]:
    """Return a custom getter that has the outer one as its getter."""
    if outer is None:
        return getter

    def chained(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    inner = getter
    return chained


@contextlib.contextmanager
def _jumping(store: ScopeStore, scope: VariableScope) -> Iterator[None]:
    """Go into a scope that was open before; names given inside are given again the next time."""
    with _current(store, scope):
        store.open(scope.name)
        held = dict(store.counts)
        try:
            yield
        finally:
            store.counts = held


@contextlib.contextmanager
def _prolonging(store: ScopeStore, scope: VariableScope) -> Iterator[None]:
    """Go into a scope inside the open one."""
    with _current(store, scope):
        store.open(scope.name)
        try:
            yield
        finally:
            store.close_inner(scope.name)


@contextlib.contextmanager
def _current(store: ScopeStore, scope: VariableScope) -> Iterator[None]:
    outer, store.current_scope = store.current_scope, scope
    try:
        yield
    finally:
        if store.current_scope is not scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        store.current_scope = outer


def _graph_of(values: Any) -> Graph | None:
    """Return the graph that values are of; what others call so (Mesh TensorFlow does) is none of ours."""
    graphs = (getattr(value, "graph", None) for value in values or ())
    return next((graph for graph in graphs if isinstance(graph, Graph)), None)


def variable_op_scope(
    values: TensorLike,
    name_or_scope: str | VariableScope,
    default_name: str | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Callable[[Any], Any] | None = None,
    caching_device: str | Callable[..., Any] | None = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: object = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable[[Any], Any] | None = None,
) -> variable_scope:
    """Return `variable_scope(name_or_scope, default_name, values, …)`: its older form."""
    logging.warn(
        "tf.variable_op_scope(values, name, default_name) is deprecated, use tf.variable_scope(name, default_name, "
        "values)"
    )
    return variable_scope(
        name_or_scope,
        default_name,
        values,
        initializer,
        regularizer,
        caching_device,
        partitioner,
        custom_getter,
        reuse,
        dtype,
        use_resource,
        constraint,
    )


# --- getting variables ------------------------------------------------------------------------------------------------


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool | None = None,
    collections: Sequence[str] | str | None = None,
    caching_device: str | Callable[..., Any] | None = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Return the variable of this name in the open variable scope: found or made, as the scope's `reuse` says.

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.variable_scope("layer"):
    ...     get_variable("kernel", [3, 2]).name
    'layer/kernel:0'
    """
    return get_variable_scope().get_variable(
        default_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def get_local_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: InitializerLike | None = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = False,
    collections: Sequence[str] | str | None = None,
    caching_device: str | Callable[..., Any] | None = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Return a local variable: one that is not trained and not saved."""
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )
