"""Iterators: where one is in a dataset. What `iter(dataset)` gives; those of TF 1 graphs are in `iterator_v1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes, errors, source
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, wrap
from ebbflow.core.typing import Nested
from ebbflow.data import iterator_ops, structure
from ebbflow.data.iterator_state import DeserializeIterator, SerializeIterator, State
from ebbflow.data.optional import OptionalSpec
from ebbflow.data.pipe import Position
from ebbflow.functions.autograph import iteration
from ebbflow.ops.state.storage import boxed
from ebbflow.trackable.base import Trackable

if TYPE_CHECKING:
    from ebbflow.data.optional import Optional


class IteratorBase(CompositeTensor, Trackable):
    """What all iterators have in common.

    A checkpoint keeps how many elements were taken, and the seeds that the iteration began with.
    """

    _LEGACY_SAVEABLE_NAME = "ITERATOR"

    _spec: Any
    _resource: Any
    _own_type: IteratorSpec | None = None
    _position: Position | None = None

    @property
    def element_spec(self) -> Nested:
        """The type of an element, as a nested structure of specs."""
        return self._spec

    @property
    def _iterator_resource(self) -> Any:
        return self._resource

    def _take(self) -> Any:
        try:
            return self._position.take()  # type: ignore[union-attr]
        except Exception as error:
            raise source.trimmed(error) from error.__cause__

    def get_next(self, name: str | None = None) -> Nested:
        """Return the next element; behind the last, `tf.errors.OutOfRangeError`."""
        if self._position is not None and not (context.graph_scopes and not context.executing_eagerly()):
            element = self._take()
            if element is None:
                raise errors.OutOfRangeError(None, None, "End of sequence")
            return self._open(element)  # type: ignore[attr-defined]
        found = self._op(self._iterator_resource, name=name, **structure.types_and_shapes(self._spec))
        return structure.from_tensors(self._spec, found)

    _op = iterator_ops.IteratorGetNext

    _next_internal = get_next  # what programs that reach inside call

    def get_next_as_optional(self, name: str | None = None) -> Optional:
        """Return the next element as an optional, which is empty behind the last."""
        spec = structure.types_and_shapes(self._spec)
        found = iterator_ops.IteratorGetNextAsOptional(self._iterator_resource, name=name, **spec)
        return OptionalSpec(self._spec)._from_components([found])

    @property
    def _type_spec(self) -> IteratorSpec:
        if self._own_type is None:
            made = IteratorSpec(self._spec)
            while len(_types) >= MOST_TYPES:
                _types.pop(next(iter(_types)), None)
            self._own_type = _types.setdefault(made, made)
        return self._own_type

    def _save(self) -> Any:
        """Return where this is, as a value."""
        return SerializeIterator(self._iterator_resource)

    def _restore(self, state: Any) -> Any:
        """Go on from where `_save` was called."""
        return DeserializeIterator(self._iterator_resource, state)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"_STATE": SerializeIterator(self._iterator_resource)}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        if "_STATE" in restored_tensors:
            return DeserializeIterator(self._iterator_resource, restored_tensors["_STATE"])
        if "_COUNT" in restored_tensors and self._position is not None:  # as 0.1 wrote it
            arrays = [restored_tensors[key] for key in ("_COUNT", "_SEEDS") if key in restored_tensors]
            State.from_arrays(arrays).restore(self._position)
        return None


MOST_ASKED_IN_GRAPHS = 32
"""A graph knows no end of an iterator, so a plain Python loop over one would go on for ever."""


class OwnedIterator(IteratorBase):
    """An iterator that lives as long as somebody has it."""

    _asked_in_graphs = 0

    def __init__(self, dataset: Any = None, components: Any = None, element_spec: Any = None):
        self._resource = None
        self._dataset = dataset
        if dataset is None:
            if components is None or element_spec is None:
                raise ValueError(
                    "When `dataset` is not provided, both `components` and `element_spec` must be specified."
                )
            self._spec = element_spec
            self._resource = components[0]
            if isinstance(self._resource, EagerTensor):
                self._position = iterator_ops.position_of(self._resource._array)
                self._open = structure.opener(element_spec)
            return
        if components is not None or element_spec is not None:
            raise ValueError("When `dataset` is provided, `element_spec` and `components` must not be specified.")
        self._spec = spec = dataset.element_spec
        pipe = dataset._pipe_to_run() if context.executing_eagerly() else None
        if pipe is not None:
            types, dims, self._open = _manner(dataset._recipe, spec)
            self._position = Position("iterator", types, dims)
            self._position.begin(pipe, later=True)
        else:
            self._resource = iterator_ops.AnonymousIteratorV3(**structure.types_and_shapes(spec))
            iterator_ops.MakeIterator(dataset._variant_tensor, self._resource)

    @property
    def _iterator_resource(self) -> Any:
        if self._resource is None:
            self._resource = wrap(boxed(self._position), dtypes.resource)
        return self._resource

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        if self._position is None or (context.graph_scopes and not context.executing_eagerly()):
            self._asked_in_graphs += 1
            if self._asked_in_graphs > MOST_ASKED_IN_GRAPHS:
                raise ValueError(
                    f"next() was called {self._asked_in_graphs} times for one iterator in one graph: a `for` "
                    "over a dataset inside tf.function needs AutoGraph, which is disabled here"
                )
            return self.get_next()
        element = self._take()
        if element is None:
            raise StopIteration
        return self._open(element)

    next = __next__

    def __repr__(self) -> str:
        return f"<OwnedIterator element_spec={self._spec!r}>"


def _manner(recipe: Any, spec: Any) -> tuple[Any, ...]:
    """Return the types and shapes of the arrays of an element, and what makes the element of them."""
    if recipe is not None and recipe.manner is not None:
        return recipe.manner
    manner = structure.flat_types(spec), structure.flat_dims(spec), structure.opener(spec)
    if recipe is not None:
        recipe.manner = manner
    return manner


class IteratorSpec(TypeSpec):
    """The type of an iterator: that of its elements."""

    __slots__ = ("_element_spec", "_hash")

    def __init__(self, element_spec: Nested):
        self._element_spec = element_spec
        self._hash: int | None = None

    @classmethod
    def from_value(cls, value: Any) -> IteratorSpec:
        """Return the type of an iterator."""
        return cls(value.element_spec)

    @property
    def element_spec(self) -> Nested:
        """The type of an element."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        return OwnedIterator

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.resource)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._iterator_resource]

    def _from_components(self, components: Any) -> Any:
        return OwnedIterator(None, components, self._element_spec)

    def is_compatible_with(self, other: object) -> bool:
        """Return whether an iterator of the other type can stand where this one is asked for."""
        spec = other if isinstance(other, IteratorSpec) else getattr(other, "_type_spec", None)
        return (
            isinstance(spec, IteratorSpec)
            and _forms(self) == _forms(spec)
            and all(
                a.is_compatible_with(b)
                for a, b in zip(
                    structure.flatten(self._element_spec), structure.flatten(spec._element_spec), strict=True
                )
            )
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IteratorSpec)
            and _forms(self) == _forms(other)
            and structure.flatten(self._element_spec) == structure.flatten(other._element_spec)
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((IteratorSpec, tuple(structure.flatten(self._element_spec))))
        return self._hash

    def __repr__(self) -> str:
        return f"IteratorSpec({self._element_spec!r})"


MOST_TYPES = 64

_types: dict[IteratorSpec, IteratorSpec] = {}
"""Types of iterators that were asked for lately. Equal ones are one, so that the function that a step of `fit` calls is
found by the identity of its iterator's type."""


def _forms(spec: IteratorSpec) -> Any:
    return structure.form_of(spec._element_spec)


iteration.register(OwnedIterator, iteration.Drawn)
