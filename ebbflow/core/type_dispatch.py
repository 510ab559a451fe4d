"""Functions chosen by the types of arguments: `tf.experimental.dispatch_for_api` and its relatives.

A program says that some function is what `tf.add` means for its own types. From then on, and only then, calls of that
one function are looked at (`core.interception`): where a registered signature fits, its function answers; all else goes
where it always went. Functions that nobody registered anything for cost nothing. Knows functions and annotations;
which public functions are element-wise it asks `api`.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import interception
from ebbflow.core.annotations import arguments
from ebbflow.core.dispatch import INNER, NOT_SUPPORTED, OWN, answer, elementwise_functions, support, supports
from ebbflow.core.scopes import name_scope
from ebbflow.core.type_checks import MATCH_DISPATCHABLE, NO_MATCH, TypeChecker, make_type_checker

Checks = list[tuple[int, str, TypeChecker]]  # position, name, checker of each annotated parameter


class ApiDispatcher:
    """What answers for a function: functions by signatures, in the order of registration."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self.inner = getattr(api, INNER, api)
        self.signature = inspect.signature(api)
        self.names = list(self.signature.parameters)
        self.targets: list[tuple[Any, Any, list[Checks]]] = []  # as registered, as called, its signatures
        self._original: Any = None

    def register(self, target: Any, called: Any, signatures: list[Checks]) -> None:
        """Let a function answer where one of its signatures fits."""
        self.look()
        self.targets.append((target, called, signatures))

    def look(self) -> None:
        """Begin to look at calls."""
        if self._original is None:
            self._original = interception.intercept(self.inner, self)

    def unregister(self, target: Any) -> bool:
        """Forget a function; return whether it was there."""
        before = len(self.targets)
        self.targets = [row for row in self.targets if row[0] is not target]
        if not self.targets and self._original is not None and not getattr(self.inner, OWN, None):
            interception.release(self.inner)
            self._original = None
        return len(self.targets) < before

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call of the function."""
        result = self.choose(args, kwargs)
        if result is not NotImplemented:
            return result
        if self.api is not self.inner:  # wrapped: what is around it asks the other dispatchers
            return self._original(*args, **kwargs)
        try:
            return self._original(*args, **kwargs)
        except (TypeError, ValueError):
            result = answer(self.api, args, kwargs)
            if result is NOT_SUPPORTED:
                raise
            return result

    def choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the answer of the first function whose signature fits, or NotImplemented."""
        for _, called, signatures in self.targets:
            for checks in signatures:
                args, kwargs = self._listed(checks, args, kwargs)
                if self._fits(checks, args, kwargs):
                    result = called(*args, **kwargs)
                    if result is not NotImplemented and result is not NOT_SUPPORTED:
                        return result
                    break
        return NotImplemented

    def _value(self, position: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if position < len(args):
            return args[position]
        return kwargs[name] if name in kwargs else self.signature.parameters[name].default

    def _fits(self, checks: Checks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        best = NO_MATCH
        for position, name, checker in checks:
            found = checker.check(self._value(position, name, args, kwargs))
            if found == NO_MATCH:
                return False
            best = max(best, found)
        return best == MATCH_DISPATCHABLE

    def _listed(self, checks: Checks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the arguments with iterators, where lists are asked for, as lists: they can be gone over once only."""
        for position, name, _ in checks:
            value = self._value(position, name, args, kwargs)
            if isinstance(value, Iterator):
                if position < len(args):
                    args = (*args[:position], list(value), *args[position + 1 :])
                else:
                    kwargs = {**kwargs, name: list(value)}
        return args, kwargs


_dispatchers: dict[Any, ApiDispatcher] = {}


def dispatcher_of(api: Any) -> ApiDispatcher:
    """Return what answers for a public function; made when first asked for."""
    api = getattr(api, "__func__", api)
    if not supports(api):
        raise ValueError(f"{api} does not support dispatch.")
    inner = getattr(api, INNER, api)
    if inner not in _dispatchers:
        _dispatchers[inner] = ApiDispatcher(api)
    return _dispatchers[inner]


def add_type_based_api_dispatcher(target: Any) -> Any:
    """Let other functions be registered for a function; it stays the same object."""
    if supports(target):
        raise ValueError(f"{target} already has a type-based API dispatcher.")
    support(target)
    return target


# --- registration -----------------------------------------------------------------------------------------------------


def dispatch_for_api(api: Callable[..., Any], *signatures: Any) -> Callable[[Any], Any]:
    """Return a decorator of the function that `api` is where its arguments have the types that a signature says.

    Each signature maps parameters (names or positions) to types; without any, the annotations of the function say them.
    """
    dispatcher = dispatcher_of(api)

    def decorator(dispatch_target: Any) -> Any:
        if not callable(dispatch_target):
            raise TypeError(f"Expected dispatch_target to be callable; got {dispatch_target!r}")
        called = _taking_names(dispatch_target, dispatcher)
        _check_signature(called, dispatch_target, dispatcher)
        said = signatures or (_annotated(dispatch_target, dispatcher),)
        dispatcher.register(dispatch_target, called, [_checks(one, dispatcher) for one in said])
        return dispatch_target

    for one in signatures:
        _check_form(one)
    return decorator


def _check_form(signature: Any) -> None:
    if not isinstance(signature, dict) or not all(isinstance(key, (str, int)) for key in signature):
        raise TypeError(
            "signatures must be dictionaries mapping parameter names to type annotations; "
            f"got {signature!r} instead of a dictionary of them"
        )


def _annotated(target: Any, dispatcher: ApiDispatcher) -> dict[str, Any]:
    hints = typing.get_type_hints(target)
    found = {name: kind for name, kind in hints.items() if name in dispatcher.signature.parameters}
    if not found:
        raise ValueError(
            f"dispatch_for_api({dispatcher.api.__name__}) must be called with at least one signature, "
            "or decorate a function that has annotations"
        )
    return found


def _checks(signature: dict[Any, Any], dispatcher: ApiDispatcher) -> Checks:
    parameters = dispatcher.signature.parameters
    checks: Checks = []
    for key, annotation in signature.items():
        if key not in parameters and not (isinstance(key, int) and key < len(dispatcher.names)):
            raise ValueError(f"signature includes annotation for unknown parameter {key!r}.")
        name = dispatcher.names[key] if isinstance(key, int) else key
        if parameters[name].kind not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            raise ValueError(
                "Dispatch currently only supports type annotations for positional parameters; "
                f"signature includes annotation for keyword-only parameter {name!r}."
            )
        checks.append((dispatcher.names.index(name), name, make_type_checker(annotation)))
    return checks


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature without annotations, as messages show it."""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return inspect.Signature(bare)


def _takes_anything(signature: inspect.Signature) -> bool:
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values())


def _check_signature(called: Any, target: Any, dispatcher: ApiDispatcher) -> None:
    signature = inspect.signature(target)
    if _takes_anything(signature):
        return
    names = list(signature.parameters)
    expected = [name for name in dispatcher.names if name != "name" or called is target]
    if names != expected:
        raise ValueError(
            f"Dispatch function's signature {_bare(signature)} does not match API's signature "
            f"{_bare(dispatcher.signature)}."
        )


def _taking_names(target: Any, dispatcher: ApiDispatcher) -> Any:
    """Return a function that takes `name`, where the API does and the target does not: a scope around the call."""
    signature = inspect.signature(target)
    if "name" not in dispatcher.names or "name" in signature.parameters or _takes_anything(signature):
        return target
    position = dispatcher.names.index("name")

    @functools.wraps(target)
    def call(*args: Any, **kwargs: Any) -> Any:
        name = kwargs.pop("name", None)
        if len(args) > position:
            name, args = args[position], (*args[:position], *args[position + 1 :])
        if name is None:
            return target(*args, **kwargs)
        with name_scope(name):
            return target(*args, **kwargs)

    return call


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Let a function no longer answer for anything it was registered for."""
    everywhere = [dispatcher.unregister(dispatch_target) for dispatcher in list(_dispatchers.values())]
    known = any(everywhere)
    for kind in _handlers.values():
        for types in [types for types, handler in kind.items() if handler is dispatch_target]:
            del kind[types]
            known = True
    if not known:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


def type_based_dispatch_signatures_for(cls: type) -> dict[Any, list[dict[str, Any]]]:
    """Return, for each function that something is registered for, the signatures in which a class stands."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for dispatcher in _dispatchers.values():
        for _, _, signatures in dispatcher.targets:
            for checks in signatures:
                if any(_mentions(checker.annotation, cls) for _, _, checker in checks):
                    said = {name: checker.annotation for _, name, checker in checks}
                    found.setdefault(dispatcher.api, []).append(said)
    return found


def _mentions(annotation: Any, cls: type) -> bool:
    return annotation is cls or any(_mentions(part, cls) for part in arguments(annotation))


# --- element-wise functions -------------------------------------------------------------------------------------------

_handlers: dict[str, dict[tuple[Any, ...], Any]] = {"unary": {}, "binary": {}, "binary assert": {}}
_elementwise: dict[str, list[Any]] = {}


def elementwise(kind: str) -> list[Any]:
    """Return the functions of one kind: unary, binary, or binary assertions."""
    if kind not in _elementwise:
        _elementwise[kind] = elementwise_functions(kind)
    return _elementwise[kind]


def unary_elementwise_apis() -> list[Any]:
    """Return the functions that `dispatch_for_unary_elementwise_apis` means."""
    return list(elementwise("unary"))


def binary_elementwise_apis() -> list[Any]:
    """Return the functions that `dispatch_for_binary_elementwise_apis` means."""
    return list(elementwise("binary"))


def _register_elementwise(kind: str, types: tuple[Any, ...]) -> Callable[[Any], Any]:
    def decorator(handler: Any) -> Any:
        if types in _handlers[kind]:
            shown = types[0] if len(types) == 1 else types
            raise ValueError(
                f"A {kind} elementwise dispatch handler ({_handlers[kind][types]}) has already been registered "
                f"for {shown}."
            )
        _handlers[kind][types] = handler
        for api in elementwise(kind):
            _answer_elementwise(api, types, handler)
        return handler

    for one in types:
        make_type_checker(one)
    return decorator


def _answer_elementwise(api: Any, types: tuple[Any, ...], handler: Any) -> None:
    dispatcher = dispatcher_of(api)
    leading = dispatcher.names[: len(types)]
    at = dispatcher.names.index("name") if "name" in dispatcher.names else None

    def call(*args: Any, **kwargs: Any) -> Any:
        values, rest = args[: len(types)], list(args[len(types) :])
        values = (*values, *[kwargs.pop(name) for name in leading[len(values) :]])
        name = kwargs.pop("name", None)
        if at is not None and len(args) > at:
            name = rest.pop(at - len(types))
        if name is None:
            return handler(lambda *inner: api(*inner, *rest, **kwargs), *values)
        with name_scope(name):
            return handler(lambda *inner: api(*inner, *rest, **kwargs), *values)

    checks = [(i, name, make_type_checker(kind)) for i, (name, kind) in enumerate(zip(leading, types, strict=True))]
    dispatcher.register(handler, call, [checks])


def dispatch_for_unary_elementwise_apis(x_type: object) -> Callable[[Any], Any]:
    """Return a decorator of `handler(api, x)`, which answers for every element-wise function of one `x_type`."""
    return _register_elementwise("unary", (x_type,))


def dispatch_for_binary_elementwise_apis(x_type: object, y_type: object) -> Callable[[Any], Any]:
    """Return a decorator of `handler(api, x, y)`, which answers for every element-wise function of these two."""
    return _register_elementwise("binary", (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(x_type: object, y_type: object) -> Callable[[Any], Any]:
    """Return a decorator of `handler(assertion, x, y)`, which answers for every element-wise assertion of these two."""
    return _register_elementwise("binary assert", (x_type, y_type))


def _add_elementwise(kind: str, api: Any) -> Any:
    elementwise(kind).append(api)
    for types, handler in _handlers[kind].items():
        _answer_elementwise(api, types, handler)
    return api


def register_unary_elementwise_api(func: Any) -> Any:
    """Count a function that supports dispatch among the element-wise ones of one argument; a decorator."""
    return _add_elementwise("unary", func)


def register_binary_elementwise_api(func: Any) -> Any:
    """Count a function that supports dispatch among the element-wise ones of two arguments; a decorator."""
    return _add_elementwise("binary", func)
