"""Axes of labelled tensors: a name, and a size or a label for each place."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np

from ebbflow.core.shape import Dimension

AXIS_LIKE = (
    "Union(labeled_tensor.Axis, Tuple(str, Union(Union(numpy.ndarray, range, list, tuple), "
    "Optional(Union(tensorflow.Dimension, int)))))"
)
"""How TensorFlow writes what may stand for an axis."""


class Error(TypeError):
    """An argument of a type that a function of labelled tensors does not take."""


def refused(value: object, allowed: str, function: str) -> Error:
    """Return the error of an argument that is not of an allowed type."""
    return Error(f"{value!r} of type {type(value)!r} is not an instance of the allowed type {allowed} for {function}")


def is_axis_like(value: object) -> bool:
    """Return whether something is an axis, or a pair that makes one."""
    if isinstance(value, Axis):
        return True
    kinds = (np.ndarray, range, list, tuple, Dimension, int, type(None))
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], kinds)


class Axis:
    """One axis: a name, and a size (None: unknown) or the labels of its places.

    >>> Axis("rgb", ["red", "green", "blue"]).index("green")
    1
    """

    def __init__(self, name: str, value: Iterable[Hashable] | Dimension | int | None) -> None:
        if not isinstance(name, str):
            raise refused(name, "str", "Axis")
        self._labels: tuple[Any, ...] | None = None
        if isinstance(value, Dimension):
            self._dimension = value
        elif value is None or isinstance(value, int):
            self._dimension = Dimension(value)
        elif isinstance(value, np.ndarray | range | list | tuple):
            self._labels = tuple(value)
            self._dimension = Dimension(len(self._labels))
        else:
            raise refused(value, "Union(numpy.ndarray, range, list, tuple, tensorflow.Dimension, int)", "Axis")
        if self.size == 0:
            self._labels = ()
        self._name = name
        self._places = None if self._labels is None else {label: place for place, label in enumerate(self._labels)}
        if self._places is not None and len(self._places) != self.size:
            raise ValueError(f"Tick labels must be unique, but got {self._labels}")

    @property
    def name(self) -> str:
        """The axis's name."""
        return self._name

    @property
    def dimension(self) -> Dimension:
        """The axis's size as a Dimension."""
        return self._dimension

    @property
    def size(self) -> int | None:
        """The axis's size, None where it is unknown."""
        return self._dimension.value

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels of the places, None where there are none."""
        return self._labels

    @property
    def value(self) -> tuple[Any, ...] | Dimension:
        """The labels, or the size where there are none."""
        return self._dimension if self._labels is None else self._labels

    def index(self, value: Hashable) -> int:
        """Return the place of a label."""
        if self._places is None:
            raise ValueError("Axis does not have tick labels")
        return self._places[value]

    def _facts(self) -> tuple[Any, ...]:
        return self._name, self.size, self._labels

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self._name}', {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self._name!r} has unknown length")
        return self.size


def as_axis(axis_data: Axis | tuple[str, Any]) -> Axis:
    """Return an axis, or the one that a pair of name and value describes."""
    if not is_axis_like(axis_data):
        raise refused(axis_data, AXIS_LIKE, "as_axis")
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


class Axes(Mapping[str, Axis]):
    """The axes of a tensor by name, in their order."""

    def __init__(self, axes: list[Axis | tuple[str, Any]]) -> None:
        if not isinstance(axes, list) or not all(map(is_axis_like, axes)):
            raise refused(axes, f"List({AXIS_LIKE})", "Axes")
        self._axes: dict[str, Axis] = {}
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __len__(self) -> int:
        return len(self._axes)

    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __hash__(self) -> int:
        return hash(tuple(self._axes.items()))

    def __repr__(self) -> str:
        between = ",\n" + " " * len(f"{type(self).__name__}([")
        return f"{type(self).__name__}([{between.join(pairs(self))}])"

    def remove(self, axis_name: str) -> Axes:
        """Return the axes without one."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for name, axis in self._axes.items() if name != axis_name])


def pairs(axes: Axes) -> list[str]:
    """Return each axis as text: its name and value."""
    return [f"('{axis.name}', {axis.value!r})" for axis in axes.values()]


def concat_axes(axes: Iterable[Axis]) -> Axis:
    """Return the axis of tensors laid end to end along axes of one name."""
    if not isinstance(axes, Sized) or not all(isinstance(axis, Axis) for axis in axes):
        raise refused(axes, "Collection(labeled_tensor.Axis)", "concat_axes")
    parts = list(axes)
    if not parts:
        raise ValueError("axes must not be empty")
    names = {axis.name for axis in parts}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    if all(axis.labels is not None for axis in parts):
        return Axis(parts[0].name, tuple(label for axis in parts for label in axis.labels or ()))
    unknown = any(axis.size is None for axis in parts)
    return Axis(parts[0].name, None if unknown else sum(map(len, parts)))
