"""SparseTensor: a tensor given by the places of its elements that matter.

`values[i]` stands at place `indices[i]` of a tensor shaped `dense_shape`; everywhere else there is nothing (ops say
what that counts as). Only the three parts and their types live here; what can be done with them is in `ops/sparse`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core import context, dtypes
from ebbflow.core.composite import BatchableTypeSpec, CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import Tensor

if TYPE_CHECKING:
    from ebbflow.core.typing import DTypeLike, Feeds, SessionLike, ShapeLike, TensorLike


SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
"""What a fetched SparseTensor is, and what one is fed with: three arrays."""


class SparseTensor(CompositeTensor):
    """Elements of a tensor, and where they are.

    >>> import ebbflow as tf
    >>> x = SparseTensor(indices=[[0, 1], [1, 0]], values=[2.0, 3.0], dense_shape=[2, 2])
    >>> tf.sparse.to_dense(x).numpy().tolist()
    [[0.0, 2.0], [3.0, 0.0]]
    """

    is_tensor_like = True

    if TYPE_CHECKING:  # what `ops/sparse/functions` puts on it

        def __mul__(self, other: Any) -> SparseTensor: ...
        def __rmul__(self, other: Any) -> SparseTensor: ...
        def __truediv__(self, other: Any) -> SparseTensor: ...
        def __div__(self, other: Any) -> SparseTensor: ...

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: ShapeLike):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert(indices, dtypes.int64, name="indices")
            self._values = convert(values, name="values")
            self._dense_shape = convert(dense_shape, dtypes.int64, name="dense_shape")
        places, rows = self._indices.shape.with_rank(2), self._values.shape.with_rank(1)
        lengths = self._dense_shape.shape.with_rank(1)
        _agree(places.as_list()[0], rows.as_list()[0])
        _agree(places.as_list()[1], lengths.as_list()[0])
        self._static = TensorShape(None)  # what `set_shape` says beyond `dense_shape`

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a SparseTensor from three arrays (or itself)."""
        if not is_sparse(sparse_tensor_value):
            raise TypeError(
                "Argument sparse_tensor_value must be either SparseTensor or SparseTensorValue. "
                f"Received: {sparse_tensor_value}."
            )
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """The places, [n, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements there, [n]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole, [rank]."""
        return self._dense_shape

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """Return other elements at the same places."""
        made = SparseTensor(self._indices, new_values, self._dense_shape)
        made._static = self._static
        return made

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole, as far as it is known."""
        return TensorShape(_lengths(self._dense_shape)).merge_with(self._static)

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Add to what is known of the shape."""
        self._static = self.shape.merge_with(TensorShape(shape))

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def graph(self) -> Any:
        return self._values.graph

    @property
    def device(self) -> str:
        return self._values.device

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> SparseTensorValue:
        """Return the value in `session`, or in the default session."""
        running: Any = session or (context.thread.sessions[-1] if context.thread.sessions else None)
        if running is None:
            self._values.eval(feed_dict, None)  # says that there is none
        return running.run(self, feed_dict)

    def consumers(self) -> list[Any]:
        return list(dict.fromkeys(node for part in self._flatten() for node in part.consumers()))

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def _flatten(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _numpy(self) -> SparseTensorValue:
        return SparseTensorValue(*[part.numpy() for part in self._flatten()])

    def __str__(self) -> str:
        parts = f"indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s}"
        return f"SparseTensor({parts})"

    __repr__ = __str__


def _lengths(shape: Any) -> Any:
    """Return what is known of the lengths in a shape vector."""
    value = shape.constant_value()
    if value is not None:
        return [None if n < 0 else int(n) for n in value]
    return shape.constant_dims()


def _agree(a: int | None, b: int | None) -> None:
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


def is_sparse(x: Any) -> bool:
    """Return whether `x` is a SparseTensor, or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


@register("tf.SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """The type of a SparseTensor.

    >>> SparseTensorSpec([None, 3], dtypes.int32)
    SparseTensorSpec(TensorShape([None, 3]), tf.int32)
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike = dtypes.float32):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: TensorLike) -> SparseTensorSpec:
        """Return the spec of a SparseTensor, or of the value of one."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return SparseTensor.from_value(value)._type_spec
        raise TypeError("Expected SparseTensor or SparseTensorValue.")

    @property
    def value_type(self) -> type:
        return SparseTensor

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        places = TensorSpec([None, rank], dtypes.int64)
        return [places, TensorSpec([None], self._dtype), TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value: Any) -> list[Any]:
        return list(value) if isinstance(value, SparseTensorValue) else value._flatten()

    def _from_components(self, components: Sequence[Any]) -> Any:
        if not any(isinstance(part, Tensor) for part in components):
            return SparseTensorValue(*components)
        made = SparseTensor(*components)
        made._static = self._shape
        return made

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a sparse tensor of the other type can stand where this one is asked for."""
        other = spec_or_value if isinstance(spec_or_value, SparseTensorSpec) else None
        if is_sparse(spec_or_value):
            other = SparseTensorSpec.from_value(spec_or_value)
        return other is not None and self._dtype is other._dtype and self._shape.is_compatible_with(other._shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    # --- in one tensor ------------------------------------------------------------------------------------------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [travels.pack(value)]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [travels.pack_rows(value)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> SparseTensor:
        made = SparseTensor(*travels.open(tensor_list[0], self._dtype))
        made.set_shape(self._shape)
        return made

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape


class Travels(NamedTuple):
    """How a sparse tensor becomes one tensor of dtype variant, and again three; the room of the ops says it."""

    pack: Callable[[Any], Any]
    pack_rows: Callable[[Any], Any]
    open: Callable[[Any, Any], Any]


def _untold(*_: Any) -> Any:
    raise NotImplementedError("`ops.ragged.composite_variants` says how sparse tensors travel; import it first")


travels = Travels(_untold, _untold, _untold)


def provide_travels(way: Travels) -> None:
    """Let the room of ops say how sparse tensors travel as one tensor."""
    global travels
    travels = way
