"""Extension types whose values can be rows of one: `tf.experimental.BatchableExtensionType`.

An encoder says which tensors stand for a value in a batch, and what the type of a batch is. The one that types have
by default stacks field by field. Knows specs; datasets and `map_fn` ask the specs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.composite import BatchableTypeSpec, TypeSpec
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.ops.extension.types import ExtensionType, ExtensionTypeSpec, new_of


class ExtensionTypeBatchEncoder:
    """How values of a batchable type become rows of one: the values of its fields are stacked, field by field."""

    def batch(self, spec: Nested, batch_size: int | None) -> Nested:
        """Return the type of `batch_size` values of a type in one."""
        return _mapped(spec, lambda part: part._batch(batch_size), lambda shape: TensorShape([batch_size]) + shape)

    def unbatch(self, spec: Nested) -> Nested:
        """Return the type of one row of values of a type."""
        return _mapped(spec, lambda part: part._unbatch(), lambda shape: shape[1:])

    def encode(self, spec: Nested, value: TensorLike, minimum_rank: int = 0) -> Nested:
        """Return the tensors, or what is made of tensors, that stand for a value; each has `minimum_rank` at least."""
        return spec._to_components(value)

    def decode(self, spec: Nested, encoded_value: Nested) -> Nested:
        """Return the value that `encode` took apart."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec: Nested) -> Nested:
        """Return the types of what `encode` gives."""
        return spec._component_specs


def _mapped(spec: Any, of_spec: Any, of_shape: Any) -> Any:
    """Return a spec with what one function gives for each spec in its fields, and another for each shape."""

    def changed(leaf: Any) -> Any:
        if isinstance(leaf, TensorShape):
            return of_shape(leaf)
        return of_spec(leaf) if isinstance(leaf, TypeSpec) else leaf

    own = spec._by_field()
    form = list(own.values())
    leaves = [changed(leaf) for leaf in nest.flatten(form)]
    return new_of(type(spec), dict(zip(own, nest.pack_sequence_as(form, leaves), strict=True)))


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The type of values of a batchable extension type."""

    @property
    def _encoder(self) -> Any:
        return self.value_type.__batch_encoder__  # type: ignore[attr-defined]

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    def _encoding(self) -> list[Any]:
        return nest.flatten(self._encoder.encoding_specs(self))

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [tensor for part in self._encoding() for tensor in part._flat_tensor_specs]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        parts = nest.flatten(self._encoder.encode(self, value))
        return [
            tensor for spec, part in zip(self._encoding(), parts, strict=True) for tensor in spec._to_tensor_list(part)
        ]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        parts = nest.flatten(self._encoder.encode(self, value, minimum_rank=1))
        pairs = zip(self._encoding(), parts, strict=True)
        return [tensor for spec, part in pairs for tensor in spec._to_batched_tensor_list(part)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        found, rest = [], list(tensor_list)
        for spec in self._encoding():
            count = len(spec._flat_tensor_specs)
            found.append(spec._from_compatible_tensor_list(rest[:count]))
            rest = rest[count:]
        return self._encoder.decode(self, nest.pack_sequence_as(self._encoder.encoding_specs(self), found))


class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be batched: in datasets, and by `map_fn` and `vectorized_map`.

    `__batch_encoder__` says how, where stacking field by field is not what is meant.
    """

    _tf_extension_type_do_not_transform_this_class = True
    _tf_extension_type_spec_base = BatchableExtensionTypeSpec
    __batch_encoder__ = ExtensionTypeBatchEncoder()
