"""Early eager's way to gradients: functions made from functions (`tfe.gradients_function` and its kin).

They work on a tape, so they work in graphs too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.eager.tape import GradientTape


def gradients_function(f: Callable[..., Any], params: Sequence[Any] | None = None) -> Callable[..., list[Any]]:
    """Return a function that gives the gradients of `f` for its arguments (all, or those that `params` names or
    numbers).
    """
    both = value_and_gradients_function(f, params)

    @functools.wraps(f, updated=())
    def decorated(*args: Any, **kwargs: Any) -> list[Any]:
        return both(*args, **kwargs)[1]

    return decorated


def value_and_gradients_function(f: Callable[..., Any], params: Sequence[Any] | None = None) -> Callable[..., Any]:
    """Return a function that gives `f`'s value and its gradients; `dy=` scales them by a gradient of the value."""
    numbers = _numbers(f, params)

    @functools.wraps(f, updated=())
    def decorated(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        chosen = range(len(args)) if numbers is None else numbers
        given = list(args)
        with GradientTape() as tape:
            sources = []
            for i in chosen:
                if isinstance(given[i], Tensor):
                    given[i] = _separate(given[i], [g for j, g in enumerate(given) if j != i])
                elif not hasattr(given[i], "_tape_handle"):
                    given[i] = _as_tensors(given[i])
                sources.append(given[i])
                tape.watch(given[i])
            value = f(*given)
            if value is None:
                raise ValueError(
                    "Cannot differentiate a function that returns None; did you forget to return a value from "
                    f"{getattr(f, '__name__', f)}?"
                )
        return value, tape.gradient(value, sources, output_gradients=dy)

    return decorated


def _as_tensors(value: Any) -> Any:
    """Return a list of numbers as one tensor, any other structure as one of tensors."""
    plain = isinstance(value, (list, tuple)) and not any(isinstance(leaf, Tensor) for leaf in nest.flatten(value))
    return convert(value) if plain and not hasattr(value, "_fields") else nest.map_structure(convert, value)


def _separate(tensor: Any, others: list[Any]) -> Any:
    """Return a tensor that counts on its own where the same one is passed for two arguments."""
    if not any(tensor is other for other in others):
        return tensor
    from_ops = type(tensor)
    return from_ops(tensor._array, tensor._dtype) if hasattr(tensor, "_array") else convert(tensor + 0)


def _numbers(f: Callable[..., Any], params: Sequence[Any] | None) -> list[int] | None:
    if params is None:
        return None
    names = list(inspect.signature(f).parameters)
    if all(isinstance(p, str) for p in params):
        return [names.index(p) for p in params]
    if all(isinstance(p, int) for p in params):
        return list(params)
    raise ValueError("params must be all strings or all integers; got %s." % (params,))  # noqa: UP031


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that gives `f`'s value and (gradient, variable) pairs for the trainable variables it used."""

    @functools.wraps(f, updated=())
    def grad_fn(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
            if value is None:
                raise ValueError(
                    "Cannot differentiate a function that returns None; did you forget to return a value from "
                    f"{getattr(f, '__name__', f)}?"
                )
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, list(variables)), variables, strict=True))

    return grad_fn


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """Return a function that gives (gradient, variable) pairs for the trainable variables that `f` uses."""
    both = implicit_value_and_gradients(f)

    @functools.wraps(f, updated=())
    def grad_fn(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return both(*args, **kwargs)[1]

    return grad_fn


implicit_val_and_grad = implicit_value_and_gradients
implicit_grad = implicit_gradients
val_and_grad_function = value_and_gradients_function


def make_vjp(f: Callable[..., Any], params: Sequence[Any] | None = None, persistent: bool = True) -> Callable[..., Any]:
    """Return a function that gives `f`'s value and a function from its gradient to the arguments' gradients."""
    numbers = _numbers(f, params)

    @functools.wraps(f, updated=())
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        chosen = range(len(args)) if numbers is None else numbers
        given = [convert(a) if i in chosen else a for i, a in enumerate(args)]
        sources = [given[i] for i in chosen]
        with GradientTape(persistent=persistent) as tape:
            tape.watch(sources)
            value = f(*given)

        def vjp(dy: Any = None) -> list[Any]:
            return tape.gradient(value, sources, output_gradients=dy)

        return value, vjp

    return decorated
