"""Shapes: how many axes a tensor has and how long each is, as far as that is known.

Inside Ebbflow a shape is **dims**: a plain tuple of int or None (unknown length), or None for unknown rank; shape
rules work on these with the functions at the end of this file. `TensorShape` and `Dimension` are what users see, with
TensorFlow's two manners: v2 hands out `int | None`, v1 hands out `Dimension`. Knows nothing of tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ebbflow.core.tracing import TensorFree

if TYPE_CHECKING:
    from ebbflow.core.typing import Axis, ShapeLike


Dims: TypeAlias = "tuple[int | None, ...] | None"

_v2 = True  # indexing and iterating a TensorShape give int | None; otherwise Dimension
_tf1 = False  # compare and convert as TensorFlow 1.15 did


def enable_v2_tensorshape() -> None:
    """From now on `shape[i]` and iteration give `int | None`."""
    global _v2
    TensorShape._v2_behavior = _v2 = True


def disable_v2_tensorshape() -> None:
    """From now on `shape[i]` and iteration give `Dimension` objects, and unknown lengths print as `?`."""
    global _v2
    TensorShape._v2_behavior = _v2 = False


def use_tf1_manners(on: bool = True) -> None:
    """Choose TensorFlow 1.15's comparisons and conversions (it was stricter about unknowns, laxer about numbers).

    With it, shapes with an unknown dimension are never equal, `!=` on an unknown rank raises, a `Dimension` is always
    true, and numbers like `2.0` or `"2"` serve as dimensions.
    """
    global _tf1
    _tf1 = on


class Dimension:
    """The length of one axis, maybe unknown. Arithmetic with an unknown gives an unknown, comparison gives None."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = dimension_length(value)

    @property
    def value(self) -> int | None:
        """The length, or None if unknown."""
        return self._value

    def is_compatible_with(self, other: object) -> bool:
        """Whether the two lengths could be the same: equal, or one of them unknown."""
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: object) -> Dimension:
        """The better known of the two lengths; ValueError if both are known and differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def _calculate(self, other: Any, function: Callable[[int, int], int]) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(self._value, other._value))

    def _compare(self, other: Any, function: Callable[[int, int], bool]) -> Any:
        other = as_dimension(other)
        return None if self._value is None or other._value is None else function(self._value, other._value)

    # What `as_dimension` refuses, Python may still know (7 * "a"), where TensorFlow lets it; elsewhere it is an error.
    def __add__(self, other: Any) -> Any:
        return self._calculate(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self._calculate(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return as_dimension(other) - self

    def __mul__(self, other: Any) -> Any:
        return self._calculate(other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __floordiv__(self, other: Any) -> Any:
        return self._calculate(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return as_dimension(other) // self

    __div__, __rdiv__ = __floordiv__, __rfloordiv__

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(_no_true_division("Dimension", type(other).__name__))

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(_no_true_division(type(other).__name__, "Dimension"))

    def __mod__(self, other: Any) -> Any:
        return self._calculate(as_dimension(other), operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return as_dimension(other) % self

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equality is three-valued

    def __bool__(self) -> bool:
        return _tf1 or bool(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # None: Python itself says what is wrong

    __index__ = __long__ = __int__

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)


def _no_true_division(left: str, right: str) -> str:
    return f"unsupported operand type(s) for /: '{left}' and '{right}', please use // instead"


class TensorShape(TensorFree):
    """The shape of a tensor: fully known, partly known (`[None, 3]`), or of unknown rank (`TensorShape(None)`).

    >>> shape = TensorShape([None, 3])
    >>> shape.rank, shape[1], shape.is_compatible_with([5, 3])
    (2, 3, True)
    """

    __slots__ = ("__weakref__", "_dims")

    _dims: Dims
    _v2_behavior = True

    def __init__(self, dims: Any) -> None:
        self._dims = as_dims(dims)

    @property
    def rank(self) -> int | Any:
        """The number of axes, or None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The axes as `Dimension` objects, or None if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | Any]:
        """The lengths as a list of int or None; ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> Any:
        """A `TensorShapeProto` message: unknown lengths are -1."""
        message = self.experimental_type_proto()
        if self._dims is None:
            return message(unknown_rank=True)
        return message(dim=[message.Dim(size=-1 if d is None else d) for d in self._dims])

    experimental_as_proto = as_proto

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The message class a shape is written as."""
        from ebbflow import messages  # loads protobuf

        return messages.TensorShapeProto

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> TensorShape:
        """The shape that a `TensorShapeProto` message says."""
        return cls(proto)

    def num_elements(self) -> int | None:
        """How many elements such a tensor has, or None if that is not known."""
        return num_elements(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return is_static(self._dims)

    def is_compatible_with(self, other: object) -> bool:
        """Whether one tensor could have both shapes."""
        return is_compatible(self._dims, as_dims(other))

    def is_subtype_of(self, other: object) -> bool:
        """Whether every tensor of this shape is also of the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        mine, theirs = self._dims, other._dims
        if theirs is None or mine == theirs:
            return True
        if mine is None or len(mine) != len(theirs):
            return False
        return all(t is None or m == t for m, t in zip(mine, theirs, strict=True))

    def merge_with(self, other: object) -> TensorShape:
        """The shape that says all that either says; ValueError if they contradict each other."""
        return from_dims(merge_dims(self._dims, as_dims(other)))

    def concatenate(self, other: object) -> TensorShape:
        """The axes of this shape, then those of `other`; unknown if either rank is."""
        theirs = as_dims(other)
        return from_dims(None if self._dims is None or theirs is None else self._dims + theirs)

    __concat__ = __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def most_specific_compatible_shape(self, other: object) -> TensorShape:
        """The shape that says what both say: lengths that differ become unknown."""
        mine, theirs = self._dims, as_dims(other)
        if mine is None or theirs is None or len(mine) != len(theirs):
            return from_dims(None)
        return from_dims(tuple(m if m == t else None for m, t in zip(mine, theirs, strict=True)))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The most specific shape that this and all `others` are subtypes of; None if one is no shape."""
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result.most_specific_compatible_shape(other)
        return result

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` axes; ValueError if it has not."""
        try:
            return self.merge_with(unknown_shape(rank=rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank:d}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have fewer than `rank` axes."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank:d}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have more than `rank` axes."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank:d}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if this shape is known not to have `rank` axes."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank:d}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if the two ranks are known and differ."""
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: object) -> None:
        """Raise ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    __nonzero__ = __bool__

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims if _v2 else [Dimension(d) for d in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return self._item_of_unknown(key)
        if isinstance(key, slice):
            return from_dims(self._dims[key])
        return self._dims[key] if _v2 else [Dimension(d) for d in self._dims][key]

    def _item_of_unknown(self, key: Any) -> Any:
        """A slice of an unknown rank has a known rank where both ends are given from the front."""
        if not isinstance(key, slice):
            return None if _v2 else Dimension(None)
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = 0 if key.start is None else operator.index(key.start)
        stop = None if key.stop is None else operator.index(key.stop)
        if stop is None or start < 0 or stop < 0:
            return from_dims(None)
        return from_dims((None,) * max(0, stop - start))

    def __eq__(self, other: object) -> Any:
        try:
            theirs = as_dims(other)
        except TypeError:
            return NotImplemented
        if _tf1 and self._dims and theirs and not (is_static(self._dims) and is_static(theirs)):
            return False  # a Dimension equality that is None counted as False
        return self._dims == theirs

    def __ne__(self, other: object) -> Any:
        if _tf1:
            try:
                known = self._dims is not None and as_dims(other) is not None
            except TypeError:
                return NotImplemented
            if not known:
                raise ValueError("The inequality of unknown TensorShapes is undefined.")
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        return dims_str(self._dims)

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        return f"TensorShape({list(self._dims) if _v2 else self.dims})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)


def from_dims(dims: Dims) -> TensorShape:
    """The TensorShape of `dims`, which are known to be well-formed."""
    shape = object.__new__(TensorShape)
    shape._dims = dims
    return shape


def as_shape(shape: ShapeLike) -> TensorShape:
    """`shape` as a TensorShape; one that is already comes back itself."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of which at most the rank is known (`ndims` is the old name of `rank`)."""
    if rank is None and "ndims" in kwargs:
        rank = kwargs.pop("ndims")
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return from_dims(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """The shape of a single number."""
    return from_dims(())


def vector(length: Any) -> TensorShape:
    """The shape of a vector of `length` elements (None: unknown)."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix (None: unknown)."""
    return TensorShape([rows, cols])


def as_dimension(value: Any) -> Dimension:
    """`value` as a Dimension; one that is already comes back itself."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Axis) -> Any:
    """The plain value of what indexing a shape gave, in either manner."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The axis at `index` as a Dimension, in either manner; an unknown one if the rank is unknown."""
    dims = shape.dims
    return Dimension(None) if dims is None else dims[index]


# ---- dims ------------------------------------------------------------------------------------------------------------


def dimension_length(value: Any) -> int | None:
    """The length that `value` (None, an int, a Dimension, anything with `__index__`) says, checked."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value._value
    if _tf1:
        length = int(value)
        if length != value and not isinstance(value, (str, bytes)):
            raise ValueError(f"Ambiguous dimension: {value}")
    else:
        try:
            length = int(value.__index__())
        except AttributeError:
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, "
                f"got value '{value!r}' with type '{type(value)!r}'"
            ) from None
    if length < 0:
        raise ValueError(f"Dimension {length} must be >= 0")
    return length


def as_dims(shape: Any) -> Dims:
    """`shape` as plain dims. Takes None, a TensorShape, a length, an iterable of lengths, or a TensorShapeProto.

    >>> as_dims(TensorShape([2, None])), as_dims(3), as_dims(None)
    ((2, None), (3,), None)
    """
    kind = shape.__class__
    if shape is None or kind is TensorShape:
        return shape if shape is None else shape._dims
    if kind is tuple or kind is list:
        for d in shape:
            if d.__class__ is not int or d < 0:
                return tuple(dimension_length(d) for d in shape)
        return tuple(shape)
    if kind is int:
        return (dimension_length(shape),)
    if isinstance(shape, TensorShape):
        return shape._dims
    if hasattr(shape, "unknown_rank") and hasattr(shape, "dim"):
        return None if shape.unknown_rank else tuple(None if d.size == -1 else d.size for d in shape.dim)
    return _dims_of_anything(shape)


def _dims_of_anything(shape: Any) -> Dims:
    if isinstance(shape, (str, bytes)) and _tf1:
        raise TypeError(f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {shape!s}")
    try:
        lengths: Iterator[Any] = iter(shape)
    except TypeError:
        return (dimension_length(shape),)
    dims = []
    for length in lengths:
        try:
            dims.append(dimension_length(length))
        except TypeError as error:
            raise TypeError(
                f"Failed to convert '{shape!r}' to a shape: '{length!r}'could not be converted to a dimension. "
                "A shape should either be single dimension (e.g. 10), or an iterable of dimensions "
                "(e.g. [1, 10, None])."
            ) from error
    return tuple(dims)


def dims_str(dims: Dims) -> str:
    """`dims` as TensorFlow prints a shape: `(2, None)`, or `(2, ?)` in the v1 manner, or `<unknown>`."""
    if dims is None:
        return "<unknown>"
    if _v2:
        return str(tuple(dims))
    inside = ", ".join("?" if d is None else str(d) for d in dims)
    return f"({inside},)" if len(dims) == 1 else f"({inside})"


def is_static(dims: Dims) -> bool:
    """Whether the rank and every length are known."""
    return dims is not None and None not in dims


def num_elements(dims: Dims) -> int | None:
    """The product of the lengths, or None if one is unknown."""
    if dims is None or None in dims:
        return None
    product = 1
    for d in dims:
        product *= d  # type: ignore[operator]
    return product


def is_compatible(a: Dims, b: Dims) -> bool:
    """Whether one tensor could have both shapes."""
    if a is None or b is None or a == b:
        return True
    if len(a) != len(b):
        return False
    return all(x == y or x is None or y is None for x, y in zip(a, b, strict=True))


def merge_dims(a: Dims, b: Dims) -> Dims:
    """What `a` and `b` say together; ValueError if they contradict each other.

    >>> merge_dims((2, None), (None, 3))
    (2, 3)
    """
    if a is None or b is None:
        return b if a is None else a
    if not is_compatible(a, b):
        raise ValueError(f"Shapes {dims_str(a)} and {dims_str(b)} are not compatible")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def broadcast_dims(a: Dims, b: Dims) -> Dims:
    """The shape of an element-wise result of `a` and `b`; ValueError if they do not broadcast.

    >>> broadcast_dims((None, 3), (5, 1, 1))
    (5, None, 3)
    """
    if a is None or b is None:
        return None
    if a == b and None not in a:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    try:
        return longer[:lead] + tuple(map(_broadcast_length, longer[lead:], shorter))
    except ValueError:
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
            f"either equal or one of them is 1. Received: {dims_str(a)} and {dims_str(b)}."
        ) from None


def _broadcast_length(x: int | None, y: int | None) -> int | None:
    """One axis of a broadcast: 1 gives way; beside an unknown, only a length above 1 is certain to be the result."""
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x is None or y is None:
        known = y if x is None else x
        return known if known else None
    raise ValueError


def broadcast_all(shapes: Iterable[Dims]) -> Dims:
    """The shape of an element-wise result of all `shapes`."""
    result: Dims = ()
    for dims in shapes:
        result = broadcast_dims(result, dims)
    return result
