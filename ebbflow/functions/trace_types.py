"""The types of arguments and results, as tracing sees them.

A tensor's type is its TensorSpec, a composite's its TypeSpec, a Python value's is the value itself (`Literal`), that of
any other object the object (`Weakref`), and containers are made of the types of what they hold. A type says what stands
for the value while a function is traced, which tensors a value of the type holds, and which wider type two have in
common. Classes can bring a type of their own with `__tf_tracing_type__`. Knows nothing of functions.
"""

from __future__ import annotations

import abc
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.composite import TypeSpec
from ebbflow.core.containers import MAPPING, PLAIN, SEQUENCE, rebuild
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor, TensorBase
from ebbflow.core.typing import Nested
from ebbflow.trackable.wrappers import ListWrapper


class TraceType(abc.ABC):
    """The type of a value that is given to a traced function. Values of equal types share a trace."""

    @abc.abstractmethod
    def is_subtype_of(self, other: object) -> bool:
        """Return whether a trace for `other` serves values of this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[Any]) -> TraceType | None:
        """Return the narrowest type whose trace serves this and all `others`, or None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: object) -> Nested:
        """Return what stands for the value while the function is traced."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def flatten(self) -> list[Any]:
        """Return the types of the tensors inside."""
        return []

    def to_tensors(self, value: Nested) -> list[Any]:
        """Return the tensors inside a value of this type."""
        return []

    def from_tensors(self, tensors: Nested) -> Nested:
        """Return the value again from an iterator of what `to_tensors` gave."""
        return self.placeholder_value(None)

    def cast(self, value: Nested, cast_context: object = None) -> Nested:
        """Return `value` as one of this type, or raise TypeError or ValueError."""
        return value


TensorLike = TensorBase | Tensor | int | float | bool | complex | str | bytes | tuple | list | np.ndarray | np.generic
"""What becomes a tensor where one is asked for (`tf.types.experimental.TensorLike`)."""


class Callable(abc.ABC):
    """Something that is called like a Python function and runs as a graph."""

    @abc.abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Nested:
        """Run it."""


class SupportsTracingProtocol(abc.ABC):
    """A class whose values bring their own trace type."""

    @abc.abstractmethod
    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """Return the type of this value."""

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return hasattr(other, "__tf_tracing_type__") if cls is SupportsTracingProtocol else NotImplemented


class Literal(TraceType):
    """A Python value: another value is another type. `1`, `1.0` and `True` are three."""

    def __init__(self, value: Any):
        self.value = value

    def is_subtype_of(self, other: Any) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return self.value

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return the value if it is this one; a tensor or another value is refused with ValueError."""
        if isinstance(value, Tensor) or not (value is self.value or value == self.value):
            raise ValueError(f"Can not cast {value!r} to {self!r}")
        return self.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal) or other.value.__class__ is not self.value.__class__:
            return False
        return self.value == other.value or (self.value != self.value and other.value != other.value)

    def __hash__(self) -> int:
        return hash((Literal, self.value))

    def __repr__(self) -> str:
        return f"Literal[{self.value!r}]"


class Weakref(TraceType):
    """Any other object: another object is another type, unless the two are equal."""

    def __init__(self, ref: weakref.ref[Any]):
        self.ref = ref

    def is_subtype_of(self, other: Any) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any) -> Any:
        return self.ref()

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return the value if it is the object."""
        held = self.ref()
        if held is None or (value is not held and value != held):
            raise ValueError(f"Can not cast {value!r} to {self!r}")
        return held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weakref) and (self.ref is other.ref or self.ref == other.ref)

    def __hash__(self) -> int:
        return hash(self.ref)

    def __repr__(self) -> str:
        return f"Weakref[{self.ref!r}]"


class Container(TraceType):
    """A list, tuple, named tuple, mapping or attrs class of other types. `form` is one that holds nothing.

    Parts stand in the order of `nest.flatten`: those of mappings by sorted key.
    """

    def __init__(self, form: Any, parts: Sequence[Any]):
        self.form = form
        self.kind: Any = PLAIN[form.__class__]
        self.keys = tuple(self.kind.keys(form))  # type: ignore[union-attr]
        self.parts = tuple(parts)

    @classmethod
    def of(cls, value: Any, parts: Sequence[Any]) -> Container:
        """Return the type of a container whose children (in flat order) have the types `parts`."""
        form = rebuild(PLAIN[value.__class__], value, [None] * len(parts))  # type: ignore[arg-type]
        return cls(list(form) if form.__class__ is ListWrapper else form, parts)  # as an attribute, still a list

    @property
    def _is_mapping(self) -> bool:
        return self.kind is MAPPING

    @property
    def components(self) -> tuple[Any, ...]:
        """The types of what it holds, in flat order."""
        return self.parts

    @property
    def mapping(self) -> dict[Any, Any]:
        """The types of what it holds, by key."""
        return dict(zip(self.keys, self.parts, strict=True))

    def _alike(self, other: Any) -> bool:
        return (
            isinstance(other, Container)
            and self.kind is other.kind
            and (self._is_mapping or self.form.__class__ is other.form.__class__)
            and self.keys == other.keys
        )

    def is_subtype_of(self, other: Any) -> bool:
        return self._alike(other) and all(is_subtype(a, b) for a, b in zip(self.parts, other.parts, strict=True))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        if not all(self._alike(other) for other in others):
            return None
        parts = [common(part, [other.parts[i] for other in others]) for i, part in enumerate(self.parts)]
        return None if any(p is None for p in parts) else Container(self.form, parts)

    def placeholder_value(self, placeholder_context: Any) -> Any:
        made = {key: placeholder_of(part, placeholder_context) for key, part in self._as_written()}
        return rebuild(self.kind, self.form, [made[key] for key in self.keys])

    def _as_written(self) -> list[tuple[Any, Any]]:
        """Return keys and parts in the order of the container itself."""
        parts = dict(zip(self.keys, self.parts, strict=True))
        return [(key, parts[key]) for key in (self.form if self._is_mapping else self.keys)]

    def flatten(self) -> list[Any]:
        return [leaf for part in self.parts for leaf in flat_types(part)]

    def to_tensors(self, value: Any) -> list[Any]:
        children = self.kind.values(value)
        return [t for part, child in zip(self.parts, children, strict=True) for t in tensors_of(part, child)]

    def from_tensors(self, tensors: Any) -> Any:
        return rebuild(self.kind, self.form, [from_tensors(part, tensors) for part in self.parts])

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return the same container with each child cast."""
        kind = PLAIN[value.__class__]
        if self._is_mapping:
            if kind is not MAPPING:
                raise TypeError(f"Can not cast {value!r} to a Dict type.")
            if set(value) != set(self.keys):
                raise TypeError(f"{value!r} has different keys with the TraceType {self!r}.")
        elif kind is None or (kind is not self.kind) or (kind is not SEQUENCE and type(value) is not type(self.form)):
            raise TypeError(f"Can not cast {value!r} to {type(self.form).__name__} type: it is to be {self!r}")
        children = list(kind.values(value))
        if len(children) != len(self.parts):
            raise TypeError(f"Can not cast {value!r} to {self!r}: it has {len(children)} elements")
        return rebuild(self.kind, self.form, [cast(p, child) for p, child in zip(self.parts, children, strict=True)])

    def __eq__(self, other: object) -> bool:
        return self._alike(other) and self.parts == other.parts  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.keys)

    def __repr__(self) -> str:
        if self.kind is SEQUENCE:
            label = "List" if isinstance(self.form, list) else "Tuple"
            return f"{label}[{', '.join(map(repr, self.parts))}]"
        label = "Dict" if self._is_mapping else type(self.form).__name__
        return f"{label}[{', '.join(f'[{key!r}, {part!r}]' for key, part in self._as_written())}]"


# --- one question for all types ---------------------------------------------------------------------------------------


def is_subtype(a: Any, b: Any) -> bool:
    """Return whether a trace for type `b` serves values of type `a`."""
    if isinstance(a, TensorSpec) and isinstance(b, TensorSpec):
        return a.dtype is b.dtype and (not a.name or a.name == b.name) and a.shape.is_subtype_of(b.shape)
    return a.is_subtype_of(b)


def common(a: Any, others: Sequence[Any]) -> Any:
    """Return the narrowest type that serves `a` and all others, or None."""
    if isinstance(a, TensorSpec):
        if not all(isinstance(o, TensorSpec) for o in others):
            return None
        return _common_tensor(a, others)
    return a.most_specific_common_supertype(others)


def _common_tensor(a: TensorSpec, others: Sequence[TensorSpec]) -> TensorSpec | None:
    """Return the narrowest spec of a tensor that serves all; it has no name, since a trace serves any."""
    if any(o.dtype is not a.dtype for o in others):
        return None
    shape = a.shape.most_specific_common_supertype([o.shape for o in others])
    return None if shape is None else TensorSpec(shape, a.dtype)


def flat_types(kind: Any) -> list[TensorSpec]:
    """Return the specs of the tensors that a value of this type holds."""
    if isinstance(kind, TensorSpec):
        return [kind]
    if isinstance(kind, TypeSpec) and not kind._is_dense:
        specs = nest.flatten(kind, expand_composites=True)
        return [tensor for spec in specs for tensor in flat_types(spec)] if kind._holds_variables else specs
    return kind.flatten()


def tensors_of(kind: Any, value: Any) -> list[Any]:
    """Return the tensors that `value`, which is of this type, holds."""
    if isinstance(kind, TensorSpec):
        return [value]
    if isinstance(kind, TypeSpec) and not kind._is_dense:
        parts = nest.flatten(value, expand_composites=True)
        if not kind._holds_variables:
            return parts
        specs = nest.flatten(kind, expand_composites=True)
        return [tensor for spec, part in zip(specs, parts, strict=True) for tensor in tensors_of(spec, part)]
    return kind.to_tensors(value)


def placeholder_of(kind: Any, maker: Any) -> Any:
    """Return what stands for a value of this type while tracing; `maker.argument(spec)` makes the tensors."""
    if isinstance(kind, TensorSpec):
        return maker.argument(kind)
    if isinstance(kind, TypeSpec) and not kind._is_dense:
        parts = [placeholder_of(spec, maker) for spec in nest.flatten(kind, expand_composites=True)]
        return nest.pack_sequence_as(kind, parts, expand_composites=True)
    return kind.placeholder_value(maker)


def from_tensors(kind: Any, tensors: Any) -> Any:
    """Return a value of this type from an iterator of its tensors."""
    if isinstance(kind, TensorSpec):
        return next(tensors)
    if isinstance(kind, TypeSpec) and not kind._is_dense:
        parts = [from_tensors(spec, tensors) for spec in nest.flatten(kind, expand_composites=True)]
        return nest.pack_sequence_as(kind, parts, expand_composites=True)
    return kind.from_tensors(tensors)


def cast(kind: Any, value: Any) -> Any:
    """Return `value` as one of this type, converted where that loses nothing; else raise TypeError or ValueError."""
    if isinstance(kind, TensorSpec):
        return _cast_tensor(kind, value)
    if isinstance(kind, TypeSpec) and not kind._is_dense:
        compatible: Any = getattr(kind, "is_compatible_with", lambda v: type(v) is kind.value_type)
        if not compatible(value):
            raise _refused_composite(kind, value)
        return value
    return kind.cast(value, None)


def _refused_composite(kind: Any, value: Any) -> TypeError | ValueError:
    """Return the error for what is no value of a composite's type: by its parts (TypeError), or by which there are."""
    parts = nest.flatten(value, expand_composites=True)
    if type(value) is not kind.value_type or len(parts) != len(nest.flatten(kind, expand_composites=True)):
        return ValueError(f"Can not cast {value!r} to {kind!r}: the two don't have the same nested structure")
    found = [TensorSpec(part.shape, part.dtype.base_dtype) for part in parts]
    wanted = nest.flatten(kind, expand_composites=True)
    return TypeError(f"Can not cast {value!r} to {kind!r}: its parts are {found} and were to be cast to {wanted}")


TAKES_TRUTH = frozenset(
    [
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint64,
        dtypes.complex128,
    ]
)
"""What a signature asks for where Python's True is taken as 1, as TensorFlow takes it."""


def _numbers(value: Any, dtype: Any) -> Any:
    """Return a Python or NumPy value as a signature of this dtype takes it: arrays are cast, truth may count as 1."""
    if isinstance(value, (np.ndarray, np.generic)):
        plain = value.dtype.kind in "biuf" and (
            dtype.is_bool or dtype.is_floating or dtype.is_integer or dtype.is_complex
        )
        return np.asarray(value).astype(dtype.np) if plain else value
    if dtype not in TAKES_TRUTH:
        return value
    if isinstance(value, bool):
        return int(value)
    return [_numbers(item, dtype) for item in value] if isinstance(value, (list, tuple)) else value


def _cast_tensor(spec: TensorSpec, value: Any) -> Any:
    if not isinstance(value, (Tensor, TensorSpec)):
        try:
            value = convert(_numbers(value, spec.dtype), spec.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(str(error)) from None
    if value.dtype.base_dtype is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
        shown = TensorSpec(value.shape, value.dtype.base_dtype)
        raise TypeError(f"Can not cast {shown!r} to {spec!r}")
    return value
