"""Optimizers of other libraries on a graph's variables: `ScipyOptimizerInterface` hands them to `scipy.optimize`.

The variables are packed into one vector; the loss and its gradient are what a session computes with that vector put
back into them. Knows graphs and sessions through the arguments it is given; scipy is imported when a search begins.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.typing import SessionLike, TensorLike
from ebbflow.graph.gradients import gradients
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.state.functions import trainable_variables


class ExternalOptimizerInterface:
    """What an optimizer outside a graph needs: a vector of variables, the loss, gradients, bounds and constraints."""

    def __init__(
        self,
        loss: TensorLike | Callable[..., Any],
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: dict[Any, Any] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or ()), list(inequalities or ())
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self.optimizer_kwargs = optimizer_kwargs
        self._sizes = [int(np.prod(v.shape.as_list())) for v in self._vars]
        ends = np.cumsum([0, *self._sizes])
        self._slices = [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
        self._packed_bounds = self._bounds_of(var_to_bounds) if var_to_bounds is not None else None
        self._packed_var = _pack(self._vars)
        self._packed_loss_grad = _pack(_slopes(loss, self._vars))
        self._packed_equality_grads = [_pack(_slopes(e, self._vars)) for e in self._equalities]
        self._packed_inequality_grads = [_pack(_slopes(e, self._vars)) for e in self._inequalities]

    def _bounds_of(self, var_to_bounds: dict[Any, Any]) -> list[tuple[float, float]]:
        by_name = {v.name: bounds for v, bounds in ((_named(v), b) for v, b in var_to_bounds.items())}
        packed: list[tuple[float, float]] = []
        for v in self._vars:
            dims = v.shape.as_list()
            low, high = by_name.get(v.name, (-np.inf, np.inf))
            lows, highs = (np.broadcast_to(x, dims).ravel().tolist() for x in (low, high))
            packed += list(zip(lows, highs, strict=True))
        return packed

    def minimize(
        self,
        session: SessionLike | None = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Search for the least loss, and leave the variables there. `fetches` go to `loss_callback` each time."""
        if session is None:
            raise ValueError("minimize: a session is needed")
        feed_dict, fetches = feed_dict or {}, list(fetches or ())
        loss_callback = loss_callback or (lambda *_: None)
        step_callback = step_callback or (lambda _: None)

        def loss_and_slope(x: Any) -> tuple[Any, Any]:
            wanted = [self._loss, self._packed_loss_grad, *fetches]
            loss, slope, *rest = self._at(session, x, wanted, feed_dict, run_kwargs)
            loss_callback(*rest)
            return loss, slope

        def functions(tensors: Sequence[Any]) -> list[Callable[[Any], Any]]:
            return [lambda x, t=t: self._at(session, x, [t], feed_dict, run_kwargs)[0] for t in tensors]  # type: ignore[misc]

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=loss_and_slope,
            equality_funcs=functions(self._equalities),
            equality_grad_funcs=functions(self._packed_equality_grads),
            inequality_funcs=functions(self._inequalities),
            inequality_grad_funcs=functions(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        self._put(session, found)

    def _put(self, session: Any, x: Any) -> None:
        for v, where in zip(self._vars, self._slices, strict=True):
            v.load(np.asarray(x[where], v.dtype.as_numpy_dtype).reshape(v.shape.as_list()), session)

    def _at(self, session: Any, x: Any, tensors: Sequence[Any], feed_dict: Any, run_kwargs: Any) -> list[Any]:
        self._put(session, x)
        return session.run(list(tensors), feed_dict=feed_dict, **run_kwargs)

    def _minimize(self, **arguments: Any) -> Any:
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement _minimize().")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` on a graph's variables; `method=` and `options=` are scipy's."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(  # type: ignore[override]
        self,
        initial_val: Any,
        loss_grad_func: Callable[[Any], Any],
        equality_funcs: Sequence[Any],
        equality_grad_funcs: Sequence[Any],
        inequality_funcs: Sequence[Any],
        inequality_grad_funcs: Sequence[Any],
        packed_bounds: Any,
        step_callback: Callable[[Any], Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        import scipy.optimize

        constraints = [
            {"type": kind, "fun": function, "jac": slope}
            for kind, functions, slopes in (
                ("eq", equality_funcs, equality_grad_funcs), ("ineq", inequality_funcs, inequality_grad_funcs)
            )
            for function, slope in zip(functions, slopes, strict=True)
        ]  # fmt: skip
        options = {"method": self._DEFAULT_METHOD, "callback": step_callback, **optimizer_kwargs}
        if "jac" in optimizer_kwargs:
            raise ValueError("jac: the gradient comes from the graph")
        if constraints:
            options["constraints"] = constraints

        def precise(x: Any) -> tuple[float, Any]:
            loss, slope = loss_grad_func(x)
            return float(loss), np.asarray(slope, np.float64)

        result = scipy.optimize.minimize(
            precise, np.asarray(initial_val, np.float64), jac=True, bounds=packed_bounds, **options
        )
        logging.getLogger("tensorflow").info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f\n  Number of iterations: %s\n"
            "  Number of functions evaluations: %s",
            result.message, result.fun, getattr(result, "nit", "?"), result.nfev,
        )  # fmt: skip
        return result.x


def _named(v: Any) -> Any:
    return v.deref() if hasattr(v, "deref") else v


def _slopes(loss: Any, variables: Sequence[Any]) -> list[Any]:
    slopes = gradients(loss, list(variables))
    return [zeros_like(convert(v)) if g is None else convert(g) for g, v in zip(slopes, variables, strict=True)]


def _pack(tensors: Sequence[Any]) -> Any:
    if not tensors:
        return None
    return concat([reshape(convert(t), [-1]) for t in tensors], 0) if len(tensors) > 1 else reshape(tensors[0], [-1])
