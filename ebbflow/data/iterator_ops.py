"""Iterators as resources of a graph, a session or a program: the ops that make, start and ask them."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from ebbflow.core import errors, forks
from ebbflow.core.op import op
from ebbflow.core.shape import is_compatible
from ebbflow.data.pipe import TYPED, Position, pipe_of
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.optional import OptionalValue
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import find_or_make

IteratorV2 = op(
    f"IteratorV2() -> (handle:resource) | shared_name: string; container: string; {TYPED} | stateful",
    shape=scalar,
    gradient=FLAT,
)
OneShotIterator = op(
    f"OneShotIterator() -> (handle:resource) | dataset_factory: func; {TYPED}; "
    'container: string = ""; shared_name: string = "" | stateful',
    shape=scalar,
    gradient=FLAT,
)
AnonymousIteratorV3 = op(
    f"AnonymousIteratorV3() -> (handle:resource) | {TYPED} | stateful", shape=scalar, gradient=FLAT
)
MakeIterator = op(
    "MakeIterator(dataset:variant, iterator:resource) -> () | stateful",
    shape=lambda dataset, iterator: [],
    gradient=FLAT,
    facts="keeps",
)
_GET_NEXT = f"(iterator:resource) -> (components:list(output_types)) | {TYPED} | stateful"
_SHAPES = lambda iterator, *, output_shapes: list(output_shapes)
IteratorGetNext = op("IteratorGetNext" + _GET_NEXT, shape=_SHAPES, gradient=FLAT, facts="brings ends")
IteratorGetNextSync = op("IteratorGetNextSync" + _GET_NEXT, shape=_SHAPES, gradient=FLAT, facts="brings ends")
IteratorGetNextAsOptional = op(
    f"IteratorGetNextAsOptional(iterator:resource) -> (optional:variant) | {TYPED} | stateful",
    shape=scalar,
    gradient=FLAT,
)
IteratorToStringHandle = op(
    "IteratorToStringHandle(resource_handle:resource) -> (string_handle:string) | stateful", shape=scalar, gradient=FLAT
)
IteratorFromStringHandleV2 = op(
    "IteratorFromStringHandleV2(string_handle:string) -> (resource_handle:resource) | output_types: list(type) >= 0 = "
    "[]; output_shapes: list(shape) >= 0 = [] | stateful",
    shape=scalar,
    gradient=FLAT,
)
DatasetToSingleElement = op(
    f'DatasetToSingleElement(dataset:variant) -> (components:list(output_types)) | {TYPED}; metadata: string = "" '
    "| stateful",
    shape=lambda dataset, *, output_shapes: list(output_shapes),
    gradient=FLAT,
)


# --- making -----------------------------------------------------------------------------------------------------------


@AnonymousIteratorV3.kernel
def _(xp: Any, *, output_types: Any, output_shapes: Any) -> Any:
    return boxed(Position("anonymous_iterator", output_types, output_shapes))


@IteratorV2.kernel
def _(xp: Any, *, shared_name: Any, container: Any, output_types: Any, output_shapes: Any, run: Any) -> Any:
    name = shared_name or (run.node.name if run.node is not None else "iterator")
    return boxed(find_or_make((container, name), run, lambda: Position(name, output_types, output_shapes)))


_starting = forks.lock()


@OneShotIterator.kernel
def _(
    xp: Any, *, dataset_factory: Any, shared_name: Any, container: Any, output_types: Any, output_shapes: Any, run: Any
) -> Any:
    name = shared_name or run.node.name
    found = find_or_make((container, name), run, lambda: Position(name, output_types, output_shapes))
    with _starting:
        if found.pipe is None:
            found.begin(pipe_of(dataset_factory.run(run.session, [])[0]))
    return boxed(found)


@MakeIterator.kernel
def _(xp: Any, dataset: Any, iterator: Any) -> Any:
    position_of(iterator).begin(pipe_of(dataset))
    return ()


def position_of(handle: np.ndarray) -> Position:
    """Return the iterator that a handle stands for."""
    found = held(handle)
    if not isinstance(found, Position):
        raise errors.FailedPreconditionError(
            None, None, f"The given resource is not an iterator: it holds {type(found).__name__}"
        )
    return found


# --- asking -----------------------------------------------------------------------------------------------------------


def _next(iterator: Any, types: Any, shapes: Any) -> Any:
    position = position_of(iterator)
    element = position.take()
    if element is None:
        raise errors.OutOfRangeError(None, None, "End of sequence")
    check(element, types, shapes)
    return list(element)


@IteratorGetNext.kernel
def _(xp: Any, iterator: Any, *, output_types: Any, output_shapes: Any) -> Any:
    return _next(iterator, output_types, output_shapes)


@IteratorGetNextSync.kernel
def _(xp: Any, iterator: Any, *, output_types: Any, output_shapes: Any) -> Any:
    return _next(iterator, output_types, output_shapes)


@IteratorGetNextAsOptional.kernel
def _(xp: Any, iterator: Any, *, output_types: Any, output_shapes: Any) -> Any:
    element = position_of(iterator).take()
    if element is not None:
        check(element, output_types, output_shapes)
    return boxed(OptionalValue(None if element is None else tuple(element)))


def check(element: Any, types: Any, shapes: Any) -> None:
    """Refuse an element of other dtypes or shapes than were promised."""
    if len(element) != len(types):
        raise invalid(f"Number of components does not match: expected {len(types)} types but got {len(element)}.")
    for i, (array, dtype, dims) in enumerate(zip(element, types, shapes, strict=True)):
        if array.dtype != dtype.np:
            raise invalid(f"Data type mismatch at component {i}: expected {dtype.name} but got {array.dtype}.")
        if not is_compatible(array.shape, dims):
            wanted = "[" + ",".join("?" if n is None else str(n) for n in dims) + "]"
            found = "[" + ",".join(map(str, array.shape)) + "]"
            raise invalid(f"Incompatible shapes at component {i}: expected {wanted} but got {found}.")


@DatasetToSingleElement.kernel
def _(xp: Any, dataset: Any, *, output_types: Any, output_shapes: Any) -> Any:
    elements = list(itertools.islice(pipe_of(dataset).start(), 2))
    if len(elements) != 1:
        raise invalid("Dataset was empty." if not elements else "Dataset had more than one element.")
    check(elements[0], output_types, output_shapes)
    return list(elements[0])


# --- by name ----------------------------------------------------------------------------------------------------------

_named: weakref.WeakValueDictionary[str, Position] = weakref.WeakValueDictionary()
_numbers = itertools.count()


@IteratorToStringHandle.kernel
def _(xp: Any, resource_handle: Any) -> Any:
    position = position_of(resource_handle)
    name = getattr(position, "handle_name", None)
    if name is None:
        name = position.handle_name = f"{position.name};{next(_numbers)}"  # type: ignore[attr-defined]
        _named[name] = position
    box = np.empty((), object)
    box[()] = name.encode()
    return box


@IteratorFromStringHandleV2.kernel
def _(xp: Any, string_handle: Any, *, output_types: Any, output_shapes: Any) -> Any:
    name = string_handle.item() if string_handle.ndim == 0 else None
    position = _named.get(name.decode()) if name is not None else None
    if position is None:
        raise invalid(f"Could not parse string_handle as a valid ResourceHandle: no iterator is called {name!r}")
    for i, (mine, theirs) in enumerate(zip(output_types, position.types, strict=False)):
        if mine is not theirs:
            raise invalid(f"Data type mismatch at component {i}: expected {mine.name} but got {theirs.name}.")
    return boxed(position)
