"""Templates: functions whose variables are made by the first call and shared by all later ones (`tf.make_template`)."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

from ebbflow.core import context
from ebbflow.functions.function import function
from ebbflow.graph.collections import GraphKeys
from ebbflow.platform import logging
from ebbflow.state.variable_scope import EagerVariableStore, VariableScope, scope_store, variable_scope
from ebbflow.state.variable_store import default_store
from ebbflow.trackable.base import Trackable


class _Open(threading.local):
    """The templates that are being called in this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


_open = _Open()


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:
    """Return `func_` as a function that makes its variables (`get_variable`) in its first call and shares them."""
    return make_template_internal(name_, func_, create_scope_now_, unique_name_, custom_getter_, False, **kwargs)


def make_template_internal(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Template:
    """Return `func_` as such a function; run eagerly, it is a graph after its first call if asked for."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if context.executing_eagerly() and unique_name_ is not None:
        raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
    template = Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)
    if create_graph_function_ and context.executing_eagerly():
        template._in_graph = function(template._again, autograph=False)
    return template


class Template(Trackable):
    """A function with variables of its own."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ):
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._called = False
        self._in_graph: Callable[..., Any] | None = None  # what runs instead once there are variables
        self._template_store = _eager_store() if context.executing_eagerly() else None
        if create_scope_now:
            with variable_scope(
                unique_name or scope_store().unique(name), custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as stack:
            if self._template_store is not None:
                stack.enter_context(self._template_store.as_default())
            if self._scope is None:
                opened = variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter)
                self._scope = stack.enter_context(opened)
            else:
                stack.enter_context(variable_scope(self._scope, reuse=self._called))
            _open.stack.append(self)
            try:
                return self._call(args, kwargs)
            finally:
                _open.stack.pop()

    def _again(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function where its variables are: in the scope and with the store that they were made with."""
        with contextlib.ExitStack() as stack:
            if self._template_store is not None:
                stack.enter_context(self._template_store.as_default())
            stack.enter_context(variable_scope(self._scope, reuse=True))
            return self._func(*args, **kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        before = self._known()
        result = (self._in_graph if self._in_graph and self._called else self._func)(*args, **kwargs)
        if self._called:
            old = {id(v) for known in before for v in known}
            trainable, all_made = ([v for v in known if id(v) not in old] for known in self._known())
            if trainable:
                raise ValueError(
                    "Trainable variable created when calling a template after the first time, perhaps you used "
                    f"tf.Variable when you meant tf.get_variable: {trainable}"
                )
            if all_made:
                logging.info(
                    "New variables created when calling a template after the first time, perhaps you used "
                    f"tf.Variable when you meant tf.get_variable: {all_made}"
                )
        if not self._called:
            self._track_made()
        self._called = True
        return result

    def _track_made(self) -> None:
        """Track what the first call made, by the names it has in the template: variables, and templates called."""
        inner = [child for child in self._unconditional_dependency_names.values() if isinstance(child, Template)]
        theirs = {id(v) for template in inner for v in template.variables}
        start = self.variable_scope_name or ""
        for variable in self.variables:
            if id(variable) not in theirs:
                self._track_trackable(variable, variable._shared_name.removeprefix(start), overwrite=True)
        if len(_open.stack) > 1 and not _open.stack[-2]._called:
            outer, own = _open.stack[-2]._scope, self._scope
            inside = outer is not None and own is not None and own.name.startswith(f"{outer.name}/")
            name = own.name[len(outer.name) + 1 :] if inside else self._name  # type: ignore[union-attr]
            _open.stack[-2]._track_trackable(self, name, overwrite=True)

    def _known(self) -> tuple[list[Any], list[Any]]:
        """Return the variables that there are: those that are trained, and all."""
        if self._template_store is not None:
            return self.trainable_variables, self.variables
        graph = context.default_graph()
        return graph.get_collection(GraphKeys.TRAINABLE_VARIABLES), graph.get_collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def name(self) -> str:
        return self._name

    @property
    def _variables_created(self) -> bool:
        """Whether it has been called, and has its variables."""
        return self._called

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        return self._scope

    @property
    def var_scope(self) -> VariableScope | None:
        """The variable scope, under the name it had first."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the variable scope, with a slash behind it; known after the first call."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    @property
    def variables(self) -> list[Any]:
        """All variables of the template."""
        if self._template_store is not None:
            return self._inside(self._template_store.variables())
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        if self._template_store is not None:
            return self._inside(self._template_store.trainable_variables())
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trainable]

    @property
    def global_variables(self) -> list[Any]:
        return self._collected(GraphKeys.GLOBAL_VARIABLES) if self._template_store is None else self.variables

    @property
    def local_variables(self) -> list[Any]:
        return self._collected(GraphKeys.LOCAL_VARIABLES) if self._template_store is None else []

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables

    def _collected(self, key: str) -> list[Any]:
        start = self.variable_scope_name
        return [] if start is None else context.default_graph().get_collection(key, start or None)

    def _inside(self, variables: list[Any]) -> list[Any]:
        """Return those of the store's variables that are in the template's scope."""
        start = self.variable_scope_name
        return [] if start is None else [v for v in variables if v.name.startswith(start)]


def _eager_store() -> EagerVariableStore:
    """Return what keeps a template's variables: one made while another is called has that one's."""
    around = default_store()
    return EagerVariableStore(around if around._store_eager_variables else None)
