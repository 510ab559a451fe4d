"""Structured tensors: `tf.experimental.StructuredTensor`, fields by name that share their outer axes.

A structure of rank 0 is like a dict of tensors, one of rank 1 like a list of them kept field by field. It is a value of
an extension type. Nested Python values are made one in `pyvals`; what ops give for one is in `array_ops`; the values of
fields are handled in `fields`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.errors import OpError
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.extension.batching import BatchableExtensionType
from ebbflow.ops.extension.types import ExtensionType, new_of
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.structured import fields as fields_of
from ebbflow.ops.structured import pyvals
from ebbflow.ops.structured.spec import StructuredSpec, structured_spec

Path = str | Sequence[str]


class StructuredTensor(BatchableExtensionType):
    """Fields by name: tensors, ragged or structured ones, that have their outer axes in common.

    >>> people = StructuredTensor.from_pyval([{"age": 3, "toys": ["ball"]}, {"age": 5, "toys": []}])
    >>> people[0, "toys"].numpy().tolist(), people.field_value("age").numpy().tolist()
    ([b'ball'], [3, 5])
    """

    _fields: Mapping[str, Tensor | RaggedTensor | StructuredTensor | ExtensionType]
    _ragged_shape: DynamicRaggedShape

    __name__ = "tf.StructuredTensor"

    Spec = StructuredSpec
    FieldName = Path

    def __init__(self, fields: Mapping[str, Any], ragged_shape: DynamicRaggedShape) -> None:
        self._fields, self._ragged_shape = fields, ragged_shape

    # --- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def _of(cls, fields: Mapping[str, Any], shape: DynamicRaggedShape) -> StructuredTensor:
        """Return the structure of fields that are known to have these outer axes."""
        kind = shape.dtype
        own = ImmutableDict((name, fields_of.with_shape_dtype(value, kind)) for name, value in fields.items())
        return new_of(cls, {"_fields": own, "_ragged_shape": shape})

    @classmethod
    def from_shape(cls, ragged_shape: DynamicRaggedShape) -> StructuredTensor:
        """Return a structure without fields."""
        return cls._of({}, ragged_shape)

    @classmethod
    def from_fields(
        cls,
        fields: Mapping[str, Any],
        shape: ShapeLike = (),
        nrows: TensorLike | None = None,
        row_partitions: Sequence[RowPartition] | None = None,
        validate: bool = False,
    ) -> StructuredTensor:
        """Return the structure of fields whose outer axes have this shape."""
        static = TensorShape(shape)
        if static.rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        if not isinstance(fields, Mapping):
            raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
        if static.rank == 0 and nrows is not None:
            raise ValueError("nrows must be None if shape.rank==0")
        if static.rank < 2 and row_partitions:
            raise ValueError("row_partitions must be None or [] if shape.rank<2")
        if static.rank >= 2 and row_partitions is not None and len(row_partitions) != static.rank - 1:
            raise ValueError("len(row_partitions) must be shape.rank-1")
        own = fields_of.checked_fields(fields)
        return cls._of(own, fields_of.init_shape(own, static, nrows, row_partitions))

    @classmethod
    def from_fields_and_rank(
        cls, fields: Mapping[str, Any], rank: int, validate: bool = False, dtype: DTypeLike | None = None
    ) -> StructuredTensor:
        """Return the structure of fields, the first `rank` axes of which are its own."""
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError(f"rank must be an integer, got {rank!r}")
        if rank < 0:
            raise ValueError(f"rank must be nonnegative, got {rank}")
        own = fields_of.checked_fields(fields)
        kind = fields_of.shape_dtype(list(own.values())) if dtype is None else dtypes.as_dtype(dtype)
        if not rank:
            return cls._of(own, DynamicRaggedShape._from_inner_shape([], kind))
        shape = fields_of.common_shape(own, rank, kind)
        assert shape is not None, "there is a field"
        return cls._of(own, shape)

    @classmethod
    def from_pyval(cls, pyval: Any, typespec: Any = None) -> AnyTensor:
        """Return nested dicts and lists as a structure; without dicts in it, as a tensor or ragged tensor."""
        return pyvals.from_pyval(cls, pyval, typespec, ())

    # --- asking it ----------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """How many axes the structure has."""
        return self._ragged_shape.rank  # type: ignore[return-value]

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return self._ragged_shape._to_tensor_shape()

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """How every axis but the first is divided into rows."""
        return tuple(self._ragged_shape._as_row_partitions()) if self.rank > 1 else ()

    def nrows(self) -> Tensor | None:
        """Return how many rows there are; None for a structure of rank 0."""
        return self._ragged_shape[0] if self.rank else None

    def field_names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(self._fields)

    def field_value(self, field_name: Path) -> Any:
        """Return the value of a field, or of a field in a field by a path of names."""
        if isinstance(field_name, str):
            return self._fields[field_name]
        found: Any = self
        for name in field_name:
            if not isinstance(found, StructuredTensor) or name not in found._fields:
                raise KeyError(f"Field path {tuple(field_name)} not found in {self}")
            found = found._fields[name]
        return found

    def with_shape_dtype(self, dtype: DTypeLike) -> StructuredTensor:
        """Return the same structure with its rows counted in another integer type."""
        return (
            self if self._ragged_shape.dtype is dtype else self._of(self._fields, self._ragged_shape.with_dtype(dtype))
        )

    def to_pyval(self) -> Any:
        """Return the structure as nested dicts and lists."""
        tensors = [self._ragged_shape.inner_shape, *(t for t in self._fields.values() if isinstance(t, Tensor))]
        if not all(isinstance(tensor, EagerTensor) for tensor in tensors):
            raise ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")
        return pyvals.to_pyval(self)

    def __getitem__(self, key: Any) -> Any:
        """Return a part: indices for the structure's own axes, then the name of a field, then what its axes take."""
        keys = tuple(key) if isinstance(key, (list, tuple)) else (key,)
        return self._scalar_getitem(keys) if not self.rank else self._tensor_getitem(keys)

    def _scalar_getitem(self, keys: tuple[Any, ...]) -> Any:
        if keys[0] == slice(None) and isinstance(keys[0], slice):
            return self._of({name: _item(value, keys[1:]) for name, value in self._fields.items()}, self._ragged_shape)
        if not isinstance(keys[0], str):
            raise ValueError("Key for indexing a StructuredTensor must be a string or a full slice (':')")
        return _item(self.field_value(keys[0]), keys[1:])

    def _tensor_getitem(self, keys: tuple[Any, ...]) -> Any:
        if any(key is None for key in keys):
            raise ValueError("Slicing not supported for tf.newaxis")
        if len(keys) <= self.rank and any(key is Ellipsis for key in keys):
            raise ValueError("Slicing not supported for Ellipsis")
        keys = _spelled_out(keys, self.rank)
        if len(keys) <= self.rank:
            return self._each(lambda value: value[keys])
        if not isinstance(keys[self.rank], str):
            raise ValueError("Key for indexing a StructuredTensor must be a string")
        return _item(self.field_value(keys[self.rank]), keys[: self.rank] + keys[self.rank + 1 :])

    def __repr__(self) -> str:
        shown = ",\n        ".join(f'"{name}": {fields_of.field_text(value)}' for name, value in self._fields.items())
        return f"<StructuredTensor(\n    fields={{\n        {shown}}},\n    shape={self.shape})>"

    # --- others like it -----------------------------------------------------------------------------------------------

    def _each(self, function: Callable[[Any], Any]) -> StructuredTensor:
        """Return the structure of what a function of the outer axes gives for each field."""
        shape = DynamicRaggedShape.from_tensor(function(marker(self._ragged_shape)), self._ragged_shape.dtype)
        values = {name: function(value) for name, value in self._fields.items()}
        return self._of(values, fields_of.normal(shape))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> StructuredTensor:
        """Return the structure with the axes from one to the other made one."""
        rank = self.rank
        outer, inner = (
            _positive(axis, rank, n) for axis, n in ((outer_axis, "outer_axis"), (inner_axis, "inner_axis"))
        )
        if outer > inner:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})"
            )
        values = {name: fields_of.merge_axes(value, outer, inner) for name, value in self._fields.items()}
        if outer == inner:
            return self
        return self._of(values, fields_of.normal(self._ragged_shape._merge_dims(outer, inner)))

    def partition_outer_dimension(self, row_partition: RowPartition) -> StructuredTensor:
        """Return the structure with its first axis divided into rows."""
        if not isinstance(row_partition, RowPartition):
            raise TypeError("row_partition must be a RowPartition.")
        if not self.rank:
            raise ValueError(f"Shape {self.shape} must have rank at least 1")
        rows = row_partition.with_dtype(self._ragged_shape.dtype)
        values = {name: fields_of.partition_outer(value, rows) for name, value in self._fields.items()}
        return self._of(values, DynamicRaggedShape.from_row_partitions((rows, *self.row_partitions)))

    def promote(self, source_path: Path, new_name: str) -> StructuredTensor:
        """Return the structure with a field of a field also one level up, where its rows are put one behind another."""
        path = (source_path,) if isinstance(source_path, str) else tuple(source_path)
        if len(path) < 2:
            raise ValueError(f"promote needs a path of at least two names, got {path}")
        upper, parent = self.field_value(path[:-2]), self.field_value(path[:-1])
        made = fields_of.merge_generic(parent.field_value(path[-1]), upper.rank, parent.rank)
        return self.with_updates({(*path[:-2], new_name): made})

    def with_updates(self, updates: Mapping[Any, Any], validate: bool = False) -> StructuredTensor:
        """Return the structure with other fields: values, functions of the values before, None for those that go."""
        named = sorted((_path(name), value) for name, value in ((k, _Change(v)) for k, v in updates.items()))
        for (before, _), (name, _) in zip(named[:-1], named[1:], strict=True):  # noqa: RUF007  (the pairs are taken apart)
            if name[: len(before)] == before:
                raise ValueError(
                    "`StructuredTensor.with_updates` does not allow both parent and child nodes to be updated: "
                    f"parent={before}, child={name}"
                )
        return self._with_updates((), named)

    def _with_updates(self, prefix: tuple[str, ...], updates: Sequence[tuple[tuple[str, ...], _Change]]) -> Any:
        values = dict(self._fields)
        inside: dict[str, list[Any]] = {}
        for path, change in updates:
            if len(path) > 1:
                inside.setdefault(path[0], []).append((path[1:], change))
            elif change.value is None:
                if values.pop(path[0], None) is None:
                    raise ValueError(f"`with_updates` cannot delete field {(*prefix, *path)}: it is not present")
            else:
                values[path[0]] = change.of(values.get(path[0]), (*prefix, *path))
        for name, changes in inside.items():
            where, value = (*prefix, name), values.get(name)
            if not isinstance(value, StructuredTensor):
                why = "is not set" if value is None else "is not a `StructuredTensor`"
                raise ValueError(f"cannot create new sub-field {(*where, *changes[0][0])}: {where} {why}")
            values[name] = value._with_updates(where, changes)
        try:
            if self.rank:
                fields_of.common_shape(
                    values, self.rank, self._ragged_shape.dtype, fields_of.normal(self._ragged_shape)
                )
        except (ValueError, OpError) as error:
            raise ValueError(f"`StructuredTensor.with_updates` failed for field {prefix}: {error}") from error
        return self._of(values, self._ragged_shape)


class _Change:
    """What becomes of a field; any two are in order, so that names alone decide how changes are sorted."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: object) -> bool:
        return False

    def of(self, before: Any, path: tuple[str, ...]) -> Any:
        """Return the new value of a field."""
        if not callable(self.value):
            return fields_of.field_value(self.value)
        if before is None:
            raise ValueError(f"cannot update field {path} by a function: it does not already exist")
        return fields_of.field_value(self.value(before))


def marker(shape: DynamicRaggedShape) -> Any:
    """Return a tensor of a shape, for what an op does to the axes."""
    return shape._add_row_partitions(raw.Fill(shape.inner_shape, True))


def StructuredTensorSpec(shape: ShapeLike, field_specs: Mapping[str, Any]) -> Any:
    """Return the type of structures of a shape with fields of these types."""
    return structured_spec(StructuredTensor.Spec, shape, field_specs)


def _item(value: Any, keys: tuple[Any, ...]) -> Any:
    return value[keys] if keys else value


def _path(name: Path) -> tuple[str, ...]:
    path = (name,) if isinstance(name, str) else tuple(name)
    if not path or "" in path:
        raise ValueError("`StructuredTensor.with_updates` does not allow empty names in field paths")
    return path


def _positive(axis: int, rank: int, name: str) -> int:
    if not isinstance(axis, int):
        raise TypeError(f"{name} must be an int, got {axis!r}")
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis + rank if axis < 0 else axis


def _spelled_out(keys: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return keys with a slice for each axis that `...` stands for."""
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if not places:
        return keys
    at = places[0]
    own = next((i for i, key in enumerate(keys) if isinstance(key, str)), len(keys)) - 1
    return (*keys[:at], *[slice(None)] * (rank - own), *keys[at + 1 :])
