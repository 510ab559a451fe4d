"""`tf.experimental.Optional`: a value that may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.shape import is_compatible
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.data import spec as _registered  # noqa: F401 (how sparse and ragged tensors travel)
from ebbflow.data import structure
from ebbflow.ops.state import optional as ops


class Optional(CompositeTensor):
    """A value, or none."""

    def __init__(self, variant_tensor: TensorLike, value_structure: Nested):
        # Keras sets `_element_spec` later, while it traces a loop that begins with an empty optional.
        self._variant_tensor_attr, self._element_spec = variant_tensor, value_structure

    @property
    def _variant_tensor(self) -> Any:
        return self._variant_tensor_attr

    @property
    def element_spec(self) -> Nested:
        """The type of the value."""
        return self._element_spec

    value_structure = element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def has_value(self, name: str | None = None) -> Tensor:
        """Return whether there is a value."""
        if name is None and self._is_at_hand():
            held = self._variant_tensor._array.item()
            if held.__class__ is ops.OptionalValue:
                return wrap(np.array(held.parts is not None), dtypes.bool)
        return ops.OptionalHasValue(self._variant_tensor_attr, name=name)

    def get_value(self, name: str | None = None) -> Nested:
        """Return the value; where there is none, `tf.errors.InvalidArgumentError`."""
        if name is None and self._is_at_hand():
            opened = self._opened()
            if opened is not None:
                return opened[0]
        found = ops.OptionalGetValue(
            self._variant_tensor_attr, name=name, **structure.types_and_shapes(self._element_spec)
        )
        return structure.from_tensors(self._element_spec, found)

    def _is_at_hand(self) -> bool:
        """Return whether no op has to be called: what is asked for lies here, and nobody listens."""
        return self._variant_tensor_attr.__class__ is EagerTensor and not (context.graph_scopes or context.recorders)

    def _opened(self) -> tuple[Nested] | None:
        """Return the value without an op being called, as each step of Keras's `fit` asks; None where it may not be."""
        held = self._variant_tensor._array.item()
        parts = held.parts if held.__class__ is ops.OptionalValue else None
        types, dims, open_arrays = _manner(self._element_spec)
        if parts is None or len(parts) != len(types):
            return None
        for part, dtype, expected in zip(parts, types, dims, strict=True):
            if part.dtype != dtype.np or not is_compatible(part.shape, expected):
                return None
        return (open_arrays(parts),)

    @staticmethod
    def from_value(value: Nested) -> Optional:
        """Return an optional that holds a value."""
        element = structure.normalised(value)
        spec = structure.spec_of(element)
        return Optional(ops.OptionalFromValue(structure.to_tensors(spec, element)), spec)

    @staticmethod
    def empty(element_spec: Nested) -> Optional:
        """Return an optional without a value."""
        return Optional(ops.OptionalNone(), element_spec)

    none_from_structure = empty

    def __repr__(self) -> str:
        return f"tf.experimental.Optional(element_spec={self._element_spec!r})"


_manners: dict[int, tuple[Any, tuple[Any, ...]]] = {}
"""By the identity of a spec, which is held: types, shapes, and what makes a value of arrays."""


def _manner(spec: Any) -> tuple[Any, ...]:
    known = _manners.get(id(spec))
    if known is None:
        while len(_manners) >= 64:
            _manners.pop(next(iter(_manners)), None)
        known = _manners[id(spec)] = (
            spec, (structure.flat_types(spec), structure.flat_dims(spec), structure.opener(spec))
        )  # fmt: skip
    return known[1]


class OptionalSpec(TypeSpec):
    """The type of an optional: that of its value."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Nested):
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: Nested) -> OptionalSpec:
        """Return the type of an optional."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        return Optional

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._variant_tensor_attr]

    def _from_components(self, components: Any) -> Any:
        return Optional(components[0], self._element_spec)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalSpec) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((OptionalSpec, tuple(structure.flatten(self._element_spec))))

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r})"


def _no_batch(spec: Any, *given: Any) -> Any:
    raise TypeError(f"Optionals cannot be batched or sliced as elements: got {spec!r}")


structure.register(
    OptionalSpec,
    structure.Leaf(
        dtype=lambda spec: dtypes.variant,
        dims=lambda spec: (),
        pack=lambda spec, value: value._variant_tensor_attr,
        open=lambda spec, tensor: Optional(tensor, spec._element_spec),
        batch=_no_batch,
        unbatch=_no_batch,
        pack_rows=_no_batch,
    ),
)
