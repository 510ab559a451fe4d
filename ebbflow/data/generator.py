"""Python generators as datasets: the three functions that begin one, take its next element, and let go of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.containers import MAPPING, PLAIN
from ebbflow.core.convert import to_array
from ebbflow.core.shape import is_compatible
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import wrap
from ebbflow.data import structure
from ebbflow.data.traced import Traced
from ebbflow.eager.py_function import py_function
from ebbflow.functions.func_graph import build


class Running:
    """The generators of one dataset that are being iterated over, by number."""

    def __init__(self, generator: Callable[..., Any], spec: Any):
        self.generator, self.spec = generator, spec
        self._iterators: dict[int, Iterator[Any]] = {}
        self._numbers = itertools.count()

    def begin(self, *args: Any) -> Any:
        """Call the generator; return its number."""
        number = next(self._numbers)
        self._iterators[number] = iter(self.generator(*[a.numpy() for a in args]))
        return np.int64(number)

    def next(self, number: Any) -> list[Any]:
        """Return the tensors of the next element."""
        value = next(self._iterators[int(number)])
        leaves = _up_to(self.spec, value, value, self.spec)
        pairs = [(s, x) for s, x in zip(structure.flatten(self.spec), leaves, strict=True)]
        return [t for s, x in pairs if not isinstance(s, structure.NoneTensorSpec) for t in _tensors(s, x)]

    def end(self, number: Any) -> Any:
        """Let go of a generator."""
        self._iterators.pop(int(number), None)
        return np.int64(0)


def _up_to(spec: Any, value: Any, whole: Any, wanted: Any) -> list[Any]:
    """Return what stands in `value` where the leaves of `spec` are; lists will do for tuples."""
    kind = structure.kind_of(spec)
    if kind is None:
        return [value]
    children = list(kind.values(spec))
    inside = PLAIN[value.__class__]
    if (
        inside is None
        or (inside is MAPPING) != (kind is MAPPING)
        or (
            list(inside.keys(value))[: len(children) + 1] != list(kind.keys(spec))
            and (kind is MAPPING or len(list(inside.values(value))) != len(children))
        )
    ):
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The expected structure was "
            f"{structure.legacy_types(wanted)}, but the yielded element was {whole}."
        )
    pairs = zip(children, inside.values(value), strict=True)
    return [leaf for s, v in pairs for leaf in _up_to(s, v, whole, wanted)]


def _tensors(spec: Any, value: Any) -> list[Any]:
    """Return a leaf as the tensors that stand for it; refuse one of another dtype or shape."""
    if not isinstance(spec, TensorSpec):
        if not isinstance(value, CompositeTensor):
            value = structure.normalised(value)
        found = structure.spec_of(value)
        if not spec.is_compatible_with(found) and not spec.is_compatible_with(value):
            raise TypeError(f"`generator` yielded an element of {found} where an element of {spec} was expected.")
        return structure.leaf_tensors(spec, value)
    try:
        array = _array(value, spec.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{spec.dtype.name}, but the yielded element was {value}."
        ) from None
    if not is_compatible(array.shape, spec.shape._dims):
        raise TypeError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return [wrap(array, spec.dtype)]


def _array(value: Any, dtype: Any) -> np.ndarray:
    if dtype is dtypes.string:
        return to_array(value.numpy() if hasattr(value, "numpy") else value, dtypes.string)[0]
    return np.array(value, dtype.np)  # a copy: the generator may go on to change what it yields


def generator_functions(generator: Callable[..., Any], spec: Any, args: Sequence[Any]) -> list[Traced]:
    """Return the functions that begin the generator, take an element, and end it."""
    running = Running(generator, spec)
    types, dims = structure.flat_types(spec), structure.flat_dims(spec)

    def begin() -> Any:
        return py_function(running.begin, list(args), dtypes.int64)

    def go_on(number: Any) -> Any:
        found = py_function(running.next, [number], types)
        for tensor, shape in zip(found, dims, strict=True):
            tensor.set_shape(shape)
        return found

    def end(number: Any) -> Any:
        return py_function(running.end, [number], dtypes.int64)

    number = [(dtypes.int64, (), "number")]
    outer = context.current_graph()
    bodies = [
        build("generator_init", begin, outer),
        build("generator_next", go_on, outer, number),
        build("generator_end", end, outer, number),
    ]
    return [Traced(body, None) for body in bodies]
