"""Specs: what is known of a tensor before there is one. Shape, dtype, name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import BatchableTypeSpec, TypeSpec, _spec_or_none
from ebbflow.core.convert import convert, convert_to_tensor
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from ebbflow.core.typing import TensorLike


class DenseSpec(TypeSpec):
    """The type of a value that has a shape, a dtype and a name, whatever its parts are."""

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Return whether a value of the other type can stand where this one is asked for."""
        other = getattr(spec_or_tensor, "dtype", None)
        if other is None:
            return False
        return self._dtype.is_compatible_with(other) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and self._dtype is other._dtype
            and self._shape._dims == other._shape._dims
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape._dims, self._dtype))

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


@register("tf.TensorSpec")
class TensorSpec(DenseSpec, BatchableTypeSpec):
    """The type of a tensor: its shape, as far as it is known, and its dtype.

    >>> TensorSpec([None, 2])
    TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)
    """

    __slots__ = ()
    _is_dense = True

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return a spec with the shape and dtype of another."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor; a symbolic one's node gives the name."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        own = getattr(getattr(tensor, "_op", None), "name", None)
        return cls(tensor.shape, tensor.dtype, name or own)

    def flatten(self) -> list[Any]:
        return [self]

    def to_tensors(self, value: Any) -> list[Any]:
        return [value]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return next(tensors)

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return a value as a tensor of this type; raise TypeError where it is none."""
        if isinstance(value, TensorSpec) and not getattr(cast_context, "allow_specs", False):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        if not isinstance(value, (Tensor, TensorSpec)):
            try:
                value = convert(value, self._dtype)
            except ValueError as error:
                raise TypeError(str(error)) from None
        if value.dtype.base_dtype is not self._dtype or not self._shape.is_compatible_with(value.shape):
            raise TypeError(f"Can not cast {type(self)(value.shape, value.dtype.base_dtype)!r} to {self!r}")
        return value

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Return what stands for a tensor of this type where `placeholder_context` makes stand-ins."""
        return placeholder_context.argument(self)

    def __tf_tracing_type__(self, context: object) -> TensorSpec:
        return self

    @property
    def value_type(self) -> type:
        return Tensor

    def is_subtype_of(self, other: object) -> bool:
        """Return whether every tensor of this type is of the other type too."""
        return (
            isinstance(other, TensorSpec)
            and self._dtype is other.dtype
            and self._shape.is_subtype_of(other.shape)
            and (self._name is None or self._name == other.name)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """Return the narrowest spec that this and all `others` fit, or None."""
        if any(type(o) is not type(self) or o.dtype is not self._dtype or o.name != self._name for o in others):
            return None
        shape = self._shape.most_specific_common_supertype([o.shape for o in others])
        return None if shape is None else TensorSpec(shape, self._dtype, self._name)

    # --- one part, which is the tensor itself -------------------------------------------------------------------------

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _to_components(self, value: Any) -> Any:
        return convert_to_tensor(value, self._dtype)

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [self]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [self._to_components(value)]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        tensor = self._to_components(value)
        if tensor.shape.rank == 0:
            raise ValueError(f"Unbatching a tensor is only supported for rank >= 1, got {tensor!r}")
        return [tensor]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        tensor = tensor_list[0]
        if not isinstance(tensor, EagerTensor):
            tensor.set_shape(self._shape)
        return tensor

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _without_tensor_names(self) -> TensorSpec:
        return self if self._name is None else TensorSpec(self._shape, self._dtype)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._dtype is other._dtype
            and self._shape._dims == other._shape._dims
            and self._name == other._name
        )

    __hash__ = DenseSpec.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class BoundedTensorSpec(TensorSpec):
    """The type of a tensor whose elements lie between two bounds, each a number or an array that broadcasts.

    >>> BoundedTensorSpec([2], dtypes.int32, 0, 10).maximum
    array(10, dtype=int32)
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError("`minimum` and `maximum` of a BoundedTensorSpec cannot be None")
        self._minimum = self._bound(minimum, "minimum")
        self._maximum = self._bound(maximum, "maximum")

    def _bound(self, value: Any, which: str) -> np.ndarray:
        bound = np.array(value, self._dtype.np)
        dims = self._shape._dims
        if dims is not None and bound.ndim and not _broadcasts(bound.shape, dims):
            raise ValueError(
                f"`{which}` of shape {bound.shape} is not compatible with {self._shape}: it does not broadcast to it"
            )
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """Return a spec with the shape, dtype and bounds of another; without bounds, those of its dtype."""
        minimum = getattr(spec, "minimum", dtypes.as_dtype(spec.dtype).min)
        maximum = getattr(spec, "maximum", dtypes.as_dtype(spec.dtype).max)
        return cls(spec.shape, spec.dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The smallest values."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The largest values."""
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is BoundedTensorSpec
            and (self._shape, self._dtype, self._name) == (other._shape, other._dtype, other._name)
            and _close(self._minimum, other._minimum)
            and _close(self._maximum, other._maximum)
        )

    def __hash__(self) -> int:  # bounds are equal if they are close, so they cannot be part of it
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether bounds are the same, but for rounding; one number stands for an array of it."""
    return bool(np.allclose(a.astype(np.float64), b.astype(np.float64)))


def sanitize_spec_name(name: str) -> str:
    """Return a name of a spec as a node can have it.

    >>> sanitize_spec_name("1_2-A"), sanitize_spec_name("")
    ('tensor_1_2_a', 'unknown')
    """
    plain = re.sub(r"[^0-9a-zA-Z_]", "_", name or "unknown").lower()
    return plain if re.match(r"[a-z]", plain) else f"tensor_{plain}"


def _broadcasts(shape: tuple[int, ...], dims: Sequence[int | None]) -> bool:
    if len(shape) > len(dims):
        return False
    return all(n == 1 or m is None or n == m for n, m in zip(reversed(shape), reversed(dims), strict=False))


def type_spec_from_value(value: Any) -> TypeSpec:
    """Return the type of a value: of a tensor, of what can become one, or of what is made of several.

    >>> type_spec_from_value([1.0, 2.0])
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    spec = _spec_or_none(value)
    if spec is not None:
        return spec
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":  # no constant is made in a graph
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype))
    try:
        tensor = convert_to_tensor(value)
    except (ValueError, TypeError):
        raise TypeError(f"Could not build a TypeSpec for {value} of unsupported type {type(value)}.") from None
    return TensorSpec(tensor.shape, tensor.dtype)
