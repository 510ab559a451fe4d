"""Gradients of values made of several tensors: which of their tensors are differentiated, and what the gradient is.

A class says it by the attribute `__composite_gradient__`. A ragged tensor's gradient is a ragged tensor of gradients of
its values; a class that says nothing is neither differentiated nor differentiated by. Knows no tape.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any

from ebbflow.core.composite import CompositeTensor
from ebbflow.core.slices import IndexedSlices


class CompositeTensorGradient(abc.ABC):
    """How a class of values made of tensors is differentiated."""

    @abc.abstractmethod
    def get_gradient_components(self, value: Any) -> Any:
        """Return what of a value is differentiated: a tensor, a value made of tensors, or a list of such."""

    @abc.abstractmethod
    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """Return the gradient of a value from the gradients of those."""


class WithValuesCompositeTensorGradient(CompositeTensorGradient):
    """For classes whose numbers are in `values`, and which have `with_values` to make one with others."""

    def get_gradient_components(self, value: Any) -> Any:
        """Return the values."""
        return value.values

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """Return one with the gradients for values."""
        return value.with_values(component_grads)


def is_composite(value: Any) -> bool:
    """Return whether a value is made of tensors that are differentiated for themselves."""
    return isinstance(value, CompositeTensor) and not isinstance(value, IndexedSlices)


def _protocol(value: Any) -> Any:
    found = getattr(value, "__composite_gradient__", None)
    if found is None:
        raise ValueError(f"Type {type(value).__name__} is not supported as a gradient source or gradient target.")
    return found


def flat_tensors(values: Sequence[Any]) -> list[Any]:
    """Return the tensors that are differentiated of values, some of which are made of several."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, list):
            flat += flat_tensors(value)
        elif is_composite(value):
            flat += flat_tensors([_protocol(value).get_gradient_components(value)])
        else:
            flat.append(value)
    return flat


def gradients_like(values: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
    """Return the gradients of values from those of their `flat_tensors`; None where there is none."""
    given = iter(grads)
    return [_gradient_like(value, given) for value in values]


def _gradient_like(value: Any, grads: Iterator[Any]) -> Any:
    if isinstance(value, list):
        parts = [_gradient_like(item, grads) for item in value]
        return None if all(part is None for part in parts) else parts
    if not is_composite(value):
        return next(grads)
    protocol = _protocol(value)
    inner = _gradient_like(protocol.get_gradient_components(value), grads)
    return None if inner is None else protocol.replace_gradient_components(value, inner)
