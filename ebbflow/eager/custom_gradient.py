"""Gradients of the user's own: custom gradients, recomputation, and rules registered by name.

A function with a custom gradient runs as usual; its results are then passed on as new tensors whose gradient is the
user's function. Eagerly that is one entry on the tape; in a graph it is an IdentityN node that names the rule, so
that `tf.gradients` finds it too.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.composite_gradient import flat_tensors, gradients_like, is_composite
from ebbflow.core.convert import convert
from ebbflow.core.recorder import Recorder
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.eager.backprop import GradientFn, gradient_registry, local_rules
from ebbflow.eager.tape import GradientTape, record_call, stop_recording, variable_accessed
from ebbflow.ops.declare import FLAT, raw

_numbers = itertools.count()


def custom_gradient(f: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Give `f`, which returns (value, gradient function), that function as its gradient.

    >>> @custom_gradient
    ... def twice_the_slope(x):
    ...     return x * x, lambda dy: dy * 4.0 * x
    >>> x = convert(3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = twice_the_slope(x)
    >>> float(tape.gradient(y, x))
    12.0
    """
    if f is None:
        return custom_gradient
    return Bind.create(f)


class Bind:
    """`custom_gradient` for functions and for methods alike."""

    @classmethod
    def create(cls, f: Callable[..., Any]) -> Bind:
        """Return `f` with its own gradient."""
        return functools.update_wrapper(cls(f), f)  # type: ignore[return-value]

    def __init__(self, f: Callable[..., Any]):
        self._f = f

    def __get__(self, instance: Any, owner: Any) -> Callable[..., Any]:
        return self if instance is None else functools.wraps(self._f)(functools.partial(self, instance))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = bool(args) and not _convertible(args[0])
        owner, args = (args[:1], args[1:]) if bound else ((), args)
        tensors = nest.map_structure(_as_argument, args)
        watcher = _Watcher()
        with watcher:
            result, grad_fn = self._f(*owner, *tensors, **kwargs)
        arguments = flat_tensors(nest.flatten(tensors))
        flat_args = [_handle(t) for t in arguments]
        given = {id(t) for t in flat_args}
        variables = [v for v in watcher.variables if id(v._tape_handle) not in given]
        results = [r if is_composite(r) else convert(r) for r in nest.flatten(result)]
        flat_result = [convert(r) for r in flat_tensors(results)]
        backward = _backward(self._f.__name__, _of_composites(grad_fn, results), len(flat_args), variables)
        if context.executing_eagerly():
            for variable in (t for t in arguments if hasattr(t, "_tape_handle")):
                variable_accessed(variable)  # the function may only hand it to its gradient
            inputs = flat_args + [v._tape_handle for v in variables]
            attached = _attach_eagerly(self._f.__name__, flat_result, inputs, backward)
        else:  # the node takes what variables hold, as TensorFlow's: a handle has no gradient to be handed over
            attached = _attach_in_graph(self._f.__name__, flat_result, arguments + variables, backward)
        return nest.pack_sequence_as(result, gradients_like(results, attached))


def _as_argument(value: Any) -> Any:
    return value if hasattr(value, "_tape_handle") or is_composite(value) else convert(value)


def _of_composites(grad_fn: Any, results: Sequence[Any]) -> Any:
    """Return a gradient function that is handed gradients like the results, ragged where these are."""
    if not any(map(is_composite, results)):
        return grad_fn

    @functools.wraps(grad_fn)
    def wrapped(*grads: Any, **kwargs: Any) -> Any:
        return grad_fn(*gradients_like(results, grads), **kwargs)

    return wrapped


def _convertible(value: Any) -> bool:
    """Return whether a first argument is data, and not the `self` of a method."""
    if isinstance(value, Tensor) or hasattr(value, "_tape_handle") or nest.is_nested(value) or is_composite(value):
        return True
    try:
        convert(value)
    except (TypeError, ValueError):
        return False
    return True


def _handle(value: Any) -> Any:
    return getattr(value, "_tape_handle", value)


class _Watcher(Recorder):
    """A recorder that only notes which trainable variables are read."""

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}

    def variable_accessed(self, variable: Any) -> None:
        self._found.setdefault(id(variable), variable)

    @property
    def variables(self) -> list[Any]:
        return list(self._found.values())

    def __enter__(self) -> None:
        self._listen()

    def __exit__(self, *exc: Any) -> None:
        self._leave()


def _backward(name: str, grad_fn: Any, count: int, variables: Sequence[Any]) -> Callable[..., list[Any]]:
    takes_variables = "variables" in inspect.signature(grad_fn).parameters or _takes_any_keyword(grad_fn)
    if variables and not takes_variables:
        raise TypeError(
            f"If using @custom_gradient with a function that uses variables, then grad_fn must accept an argument "
            f"'variables'. "
            f"{name} uses {[v.name for v in variables]}"
        )

    def backward(*grads: Any) -> list[Any]:
        if variables:
            given, of_variables = grad_fn(*grads, variables=list(variables))
            if len(of_variables) != len(variables):
                raise ValueError(f"Must return gradient for each variable from @custom_gradient grad_fn of {name}.")
        else:
            given, of_variables = grad_fn(*grads), []
        flat = flat_tensors(nest.flatten(given) if nest.is_nested(given) else [given])
        if len(flat) != count:
            raise ValueError(
                f"custom_gradient function {name} expected to return {count} gradients, but returned {len(flat)} "
                f"instead."
            )
        return flat + list(of_variables)

    return backward


def _takes_any_keyword(fn: Any) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def _attach_eagerly(name: str, results: list[Any], inputs: list[Any], backward: Callable[..., list[Any]]) -> list[Any]:
    outputs = [EagerTensor(r._array, r._dtype) for r in results]  # new tensors: the way through f's own ops ends here
    if context.recorders:
        record_call(GradientFn(name, backward), inputs, outputs)
    return outputs


def _attach_in_graph(name: str, results: list[Any], inputs: list[Any], backward: Callable[..., list[Any]]) -> list[Any]:
    graph = context.current_graph()
    rule_name = f"CustomGradient-{next(_numbers)}"
    kept = len(results)

    def rule(call: Any, *grads: Any) -> list[Any]:
        return [None] * kept + backward(*grads[:kept])

    local_rules[rule_name] = rule
    graph.__dict__.setdefault("_local_rules", []).append(rule)
    with graph.gradient_override_map({"IdentityN": rule_name}):
        return raw.IdentityN(results + inputs)[:kept]


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` keeping none of its intermediate results for the gradient: they are computed again when it is
    asked for.
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        @custom_gradient
        def inner(*tensors: Any) -> Any:
            with stop_recording_ops():
                result = f(*tensors, **kwargs)

            def grad(*grads: Any, variables: Any = None) -> Any:
                with GradientTape() as tape:
                    copies = nest.map_structure(raw.Identity, list(tensors))
                    tape.watch(copies)
                    again = f(*copies, **kwargs)
                sources = [nest.flatten(copies), list(variables or [])]
                found, of_variables = tape.gradient(again, sources, output_gradients=list(grads))
                return (found, of_variables) if variables is not None else found

            return result, grad

        return inner(*args)

    return wrapped


class stop_recording_ops:  # noqa: N801
    """Keep ops off the tapes of this thread, but let them still see which variables are read."""

    def __enter__(self) -> None:
        self._held = list(context.thread.recorders)
        context.thread.recorders[:] = [_VariablesOnly(r) for r in self._held]

    def __exit__(self, *exc: Any) -> None:
        context.thread.recorders[:] = self._held


class _VariablesOnly(Recorder):
    def __init__(self, recorder: Any):
        self.variable_accessed = recorder.variable_accessed  # type: ignore[method-assign]


class RegisterGradient:
    """`@RegisterGradient("OpType")`: the function below is the gradient of ops of that type (or of nodes mapped
    to that name).
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _register(self._op_type, f)
        return f


def no_gradient(op_type: str) -> None:
    """State that ops of this type have no gradient."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, FLAT)


NotDifferentiable = NoGradient = no_gradient


def _register(op_type: str, rule: Any) -> None:
    if op_type in gradient_registry:
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    gradient_registry[op_type] = rule


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` with the gradient of the identity."""

    @custom_gradient
    def passed(*args: Any, **kwargs: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            found = grads[0] if len(grads) == 1 else list(grads)
            return found if variables is None else (found, [None] * len(variables))

        return f(*args, **kwargs), grad

    return passed


__all__ = [
    "NoGradient",
    "NotDifferentiable",
    "RegisterGradient",
    "custom_gradient",
    "grad_pass_through",
    "no_gradient",
    "recompute_grad",
    "stop_recording",
]
