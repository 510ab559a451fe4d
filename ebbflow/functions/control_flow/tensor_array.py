"""`TensorArray`: tensors written and read one by one, in loops above all.

Eagerly it is a Python list, changed in place; each tensor in it is one that tapes know. In a graph it is a list of
tensors as a value (`ops.tensor_list`): every write gives a new array with a new `flow`, so loops carry it like any
other tensor and gradients of any order pass through. The class is one; which of the two does the work is decided when
it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, TensorShape, as_dims, dims_str, from_dims, is_compatible, is_static, merge_dims
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Effect, Nested, ShapeLike, TensorLike
from ebbflow.ops.declare import raw


class TensorArray(CompositeTensor):
    """An array of tensors of one dtype.

    >>> array = TensorArray(dtypes.float32, size=2)
    >>> array = array.write(0, 1.0).write(1, 2.0)
    >>> array.stack().numpy().tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: TensorLike | None = None,
        flow: AnyTensor = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._element = _Element(as_dims(element_shape) if element_shape is not None else None)
        self._elements: _Eager | _Graph
        if context.executing_eagerly() and (flow is None or flow.dtype is not dtypes.variant):
            if handle is not None:
                raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
            if size is None:
                raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
            self._elements = _Eager(self, size, clear_after_read is None or clear_after_read)
        else:
            self._elements = _Graph(self, size, flow, element_shape, name)

    @property
    def flow(self) -> Tensor:
        """The tensor that stands for this state of the array (of no meaning eagerly)."""
        return self._elements.flow

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def handle(self) -> AnyTensor:
        """None: the array is a value, not a resource."""
        return None

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return from_dims(self._element.dims)

    @property
    def dynamic_size(self) -> bool:
        """Whether writing behind the end makes the array longer."""
        return self._dynamic_size

    def identity(self) -> TensorArray:
        """Return an array with the same content."""
        return self._elements.identity()

    def grad(self, source: Nested, flow: TensorLike | None = None, name: str | None = None) -> TensorArray:
        """Arrays are differentiated like any other value: there is no array of gradients to ask for."""
        raise NotImplementedError(
            "TensorArray.grad is not supported: gradients pass through an array's tensors by themselves; use "
            "tf.gradients or tf.GradientTape"
        )

    def read(self, index: AnyTensor, name: str | None = None) -> Tensor:
        """Return the element at `index`."""
        return self._elements.read(index, name)

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Return the array with `value` at `index`."""
        return self._elements.write(index, value, name)

    def stack(self, name: str | None = None) -> Tensor:
        """Return the elements, which have one shape, as the rows of a tensor."""
        return self._elements.stack(name)

    def gather(self, indices: TensorLike, name: str | None = None) -> AnyTensor:
        """Return some elements, which have one shape, as the rows of a tensor."""
        return self._elements.gather(indices, name)

    def concat(self, name: str | None = None) -> Tensor:
        """Return the elements joined along their first axis."""
        return self._elements.concat(name)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` as its elements."""
        return self._elements.unstack(value, name)

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` at `indices`."""
        return self._elements.scatter(indices, value, name)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Return the array with pieces of `value`, of these lengths, as its elements."""
        return self._elements.split(value, lengths, name)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements."""
        return self._elements.size(name)

    def close(self, name: str | None = None) -> Effect:
        """Let go of the elements."""
        return self._elements.close(name)

    @property
    def _type_spec(self) -> TensorArraySpec:
        spec = TensorArraySpec(self.element_shape, self._dtype, self._dynamic_size, self._infer_shape)
        spec._element = self._element  # what a write in a loop tells of the shape, readers after it may know
        spec._size = self._elements.static_size
        return spec

    def _shape_invariant_to_type_spec(self, shape: Any) -> TensorArraySpec:
        return self._type_spec


@register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of a TensorArray."""

    __slots__ = ("_dtype", "_dynamic_size", "_element", "_infer_shape", "_size")

    def __init__(
        self,
        element_shape: ShapeLike = None,
        dtype: DTypeLike = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self._element = _Element(TensorShape(element_shape)._dims)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape
        self._size: int | None = None

    @property
    def value_type(self) -> type:
        return TensorArray

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._elements.as_list()]

    def _from_components(self, components: Any) -> TensorArray:
        array = TensorArray(self._dtype, None, self._dynamic_size, flow=components[0], infer_shape=self._infer_shape)
        array._element = self._element
        array._elements.static_size = self._size
        return array

    @classmethod
    def from_value(cls, value: TensorLike) -> TensorArraySpec:
        """Return the spec of a TensorArray."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        return value._type_spec

    def _serialize(self) -> tuple[Any, ...]:
        return TensorShape(self._element.dims), self._dtype, self._dynamic_size, self._infer_shape

    def is_subtype_of(self, other: object) -> bool:
        """Return whether every array of this type is of the other type too."""
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
        )

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether an array of the other type (or the array itself) can stand where this one is asked for."""
        other = other._type_spec if isinstance(other, TensorArray) else other
        return self.is_subtype_of(other) and is_compatible(self._element.dims, other._element.dims)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorArraySpec | None:
        """Return the narrowest spec that this and all `others` fit, or None."""
        if not all(self.is_subtype_of(other) for other in others):
            return None
        shape = from_dims(self._element.dims).most_specific_common_supertype(
            [from_dims(o._element.dims) for o in others]
        )
        infer = self._infer_shape and all(o._infer_shape for o in others)
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infer)

    def _fields(self) -> tuple[Any, ...]:
        return self._element.dims, self._dtype, self._dynamic_size, self._infer_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorArraySpec) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((self._dtype, self._dynamic_size))

    def __repr__(self) -> str:
        dims, dtype, dynamic, infer = self._fields()
        return f"TensorArraySpec({from_dims(dims)!r}, {dtype!r}, {dynamic}, {infer})"


class _Element:
    """What is known of the shape of an array's elements; shared by all states of the array."""

    __slots__ = ("dims",)

    def __init__(self, dims: Dims):
        self.dims = dims


# --- in a graph -------------------------------------------------------------------------------------------------------


class _Graph:
    """The elements as a list of tensors."""

    def __init__(self, array: TensorArray, size: Any, flow: Any, element_shape: Any, name: str | None):
        self._array = array
        self.static_size: int | None = None
        if flow is None and size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        if flow is not None and size is not None:
            raise ValueError("Cannot provide both `flow` and `size` arguments at the same time.")
        if flow is not None and element_shape is not None:
            raise ValueError("Cannot provide both `flow` and `element_shape` arguments at the same time.")
        if flow is not None:
            if not isinstance(flow, Tensor) or flow.dtype is not dtypes.variant:
                found = flow.dtype if isinstance(flow, Tensor) else type(flow).__name__
                raise TypeError(f"Expected `flow` to be a variant tensor, but received `{found}` instead.")
            self.flow = flow
            return
        with name_scope(name, "TensorArrayV2", [size]) as scope:
            size = convert(size, dtypes.int32, name="num_elements")
            self.flow = raw.TensorListReserve(self._shape(), size, element_dtype=array.dtype, name=scope or None)
            known = size.constant_value()
            if known is not None and not array.dynamic_size:
                self.static_size = int(known)

    def _shape(self) -> np.ndarray:
        return _shape_argument(self._array._element.dims)

    def _with(self, flow: Any) -> TensorArray:
        """Return the array in another state."""
        old = self._array
        array = TensorArray(old.dtype, None, old.dynamic_size, flow=flow, infer_shape=old._infer_shape)
        array._element = old._element
        array._elements.static_size = self.static_size
        return array

    def _learn(self, dims: Dims) -> None:
        """Check a written element's shape, and note what it tells of the others'."""
        element = self._array._element
        if not is_compatible(dims, element.dims):
            raise ValueError(f"Inconsistent shapes: saw {dims_str(dims)} but expected {dims_str(element.dims)} ")
        if self._array._infer_shape:
            element.dims = merge_dims(element.dims, dims)

    def _value(self, value: Any) -> Any:
        return _checked(convert(value, None, self._array.dtype, name="value"), self._array.dtype)

    def as_list(self) -> Any:
        return self.flow

    def identity(self) -> TensorArray:
        return self._with(raw.Identity(self.flow))

    def read(self, index: Any, name: str | None) -> Any:
        with name_scope(name, "TensorArrayV2Read"):
            item = raw.TensorListGetItem(self.flow, index, self._shape(), element_dtype=self._array.dtype)
        return item

    def write(self, index: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write"):
            value = self._value(value)
            self._learn(value._dims)
            resize = self._array.dynamic_size
            return self._with(raw.TensorListSetItem(self.flow, index, value, resize_if_index_out_of_bounds=resize))

    def stack(self, name: str | None) -> Any:
        with name_scope(name, "TensorArrayV2Stack"):
            count = -1 if self.static_size is None else self.static_size
            return raw.TensorListStack(self.flow, self._shape(), element_dtype=self._array.dtype, num_elements=count)

    def gather(self, indices: Any, name: str | None) -> Any:
        return raw.TensorListGather(self.flow, indices, self._shape(), element_dtype=self._array.dtype, name=name)

    def concat(self, name: str | None) -> Any:
        dims = self._array._element.dims
        shape = _shape_argument((None, *dims[1:]) if dims else None)
        lengths = np.zeros([0], np.int64)
        return raw.TensorListConcatV2(self.flow, shape, lengths, element_dtype=self._array.dtype, name=name).tensor

    def unstack(self, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack"):
            value = self._value(value)
            if value._dims is not None:
                self._learn(value._dims[1:])
            rows = value._dims and value._dims[1:]
            array = self._with(raw.TensorListFromTensor(value, _shape_argument(rows)))
        return array

    def scatter(self, indices: Any, value: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter"):
            value = self._value(value)
            if value._dims is not None:
                self._learn(value._dims[1:])
            return self._with(raw.TensorListScatterIntoExistingList(self.flow, value, indices))

    def split(self, value: Any, lengths: Any, name: str | None) -> TensorArray:
        with name_scope(name, "TensorArraySplit"):
            value = self._value(value)
            lengths = raw.Cast(lengths, DstT=dtypes.int64)
            known = lengths.constant_value()
            if value._dims is not None and known is not None and known.size and known.max() == known.min():
                self._learn((int(known.flat[0]), *value._dims[1:]))
            return self._with(raw.TensorListSplit(value, self._shape(), lengths))

    def size(self, name: str | None) -> Any:
        if self.static_size is not None:
            return convert(self.static_size, dtypes.int32)
        return raw.TensorListLength(self.flow, name=name)

    def close(self, name: str | None) -> Any:
        return raw.NoOp(name=name)


def _shape_argument(dims: Dims) -> np.ndarray:
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], np.int32)


def _checked(value: Any, dtype: dtypes.DType) -> Any:
    if value.dtype.base_dtype is not dtype:
        raise errors.InvalidArgumentError(
            None, None, f"TensorArray dtype is {dtype.name} but Op is trying to write dtype {value.dtype.name} "
        )
    return value


# --- eagerly ----------------------------------------------------------------------------------------------------------


class _Eager:
    """The elements as a Python list, changed in place."""

    def __init__(self, array: TensorArray, size: Any, clear_after_read: bool):
        self._array = array
        count = int(size)
        if count < 0:
            raise errors.InvalidArgumentError(None, None, f"Size should be >= 0, got {count}")
        self._tensors: list[Any] = [None] * count
        self._cleared: set[int] = set()
        self._clears = clear_after_read
        self.static_size: int | None = None

    @property
    def flow(self) -> Any:
        return convert(0)

    def as_list(self) -> Any:
        shape = _shape_argument(self._array._element.dims)
        handle = raw.TensorListReserve(shape, len(self._tensors), element_dtype=self._array.dtype)
        for index, tensor in enumerate(self._tensors):
            if tensor is not None:
                handle = raw.TensorListSetItem(handle, index, tensor)
        return handle

    def identity(self) -> TensorArray:
        return self._array

    def read(self, index: Any, name: str | None) -> Any:
        index = int(index)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._tensors):
            raise errors.OutOfRangeError(
                None, None, f"Tried to read from index {index} but array size is: {len(self._tensors)} "
            )
        if self._tensors[index] is None and index in self._cleared:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)",
            )
        tensor = self._at(index)
        if self._clears:
            self._tensors[index] = None
            self._cleared.add(index)
        return tensor

    def _at(self, index: int) -> Any:
        """Return an element; one that was never written is zero."""
        tensor = self._tensors[index]
        if tensor is None:
            dims = self._array._element.dims
            if not is_static(dims):
                raise ValueError(
                    f"element {index} of the TensorArray was never written, and its shape {dims_str(dims)} is not "
                    "fully known: pass element_shape, or write it before it is read"
                )
            tensor = self._tensors[index] = convert(np.zeros(dims, self._array.dtype.np), self._array.dtype)
        return tensor

    def write(self, index: Any, value: Any, name: str | None) -> TensorArray:
        index = int(index)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        size = len(self._tensors)
        if index >= size:
            if not self._array.dynamic_size:
                raise errors.OutOfRangeError(
                    None,
                    None,
                    f"Tried to write to index {index} but array is not resizeable and size is: {size} ",
                )
            self._tensors.extend([None] * (index - size + 1))
        self._tensors[index] = self._element_of(value)
        return self._array

    def _element_of(self, value: Any) -> Any:
        """Return a value as an element; raise where it cannot be one."""
        if value.__class__ is not EagerTensor:
            value = convert(value, None, self._array.dtype, name="value")
            if value.__class__ is not EagerTensor:
                raise NotImplementedError(
                    "an eager TensorArray cannot hold tensors of a graph: construct a new TensorArray inside the "
                    "function"
                )
        _checked(value, self._array.dtype)
        element = self._array._element
        if not is_compatible(element.dims, value._array.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({from_dims(element.dims)})")
        if self._array._infer_shape:
            element.dims = value._array.shape
        return value

    def stack(self, name: str | None) -> Any:
        tensors = [self._at(i) for i in range(len(self._tensors))]
        if not tensors:
            dims = self._array._element.dims
            if not is_static(dims):
                return convert(np.zeros([0], self._array.dtype.np), self._array.dtype)
            return convert(np.zeros((0, *dims), self._array.dtype.np), self._array.dtype)  # type: ignore[misc]
        return raw.Pack(tensors)

    def gather(self, indices: Any, name: str | None) -> Any:
        return raw.Pack([self._at(int(i)) for i in np.asarray(convert(indices)).reshape(-1)])

    def concat(self, name: str | None) -> Any:
        tensors = [self._at(i) for i in range(len(self._tensors))]
        for i, tensor in enumerate(tensors):
            if tensor._dims == ():
                raise errors.InvalidArgumentError(
                    None, None, f"Concat saw a scalar shape at index {i} but requires at least vectors."
                )
        return tensors[0] if len(tensors) == 1 else raw.ConcatV2(tensors, 0)

    def unstack(self, value: Any, name: str | None) -> TensorArray:
        value = convert(value, None, self._array.dtype)
        tensors = raw.Unpack(value, num=value._dims[0])
        if len(tensors) > len(self._tensors) and not self._array.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(tensors)} tensors into a TensorArray of static size {len(self._tensors)} "
            )
        self._tensors = [self._element_of(t) for t in tensors]
        return self._array

    def scatter(self, indices: Any, value: Any, name: str | None) -> TensorArray:
        value = convert(value, None, self._array.dtype)
        rows = raw.Unpack(value, num=value._dims[0])
        for index, row in zip(np.asarray(convert(indices)).reshape(-1), rows, strict=False):
            self.write(index, row, None)
        return self._array

    def split(self, value: Any, lengths: Any, name: str | None) -> TensorArray:
        value = _checked(convert(value, None, self._array.dtype), self._array.dtype)
        sizes = np.asarray(convert(lengths))
        problem = self._split_problem(value._dims, sizes)
        if problem:
            raise errors.InvalidArgumentError(None, None, problem)
        self._tensors = list(raw.SplitV(value, sizes, 0, num_split=sizes.size)) if sizes.size else []
        return self._array

    def _split_problem(self, dims: Any, sizes: np.ndarray) -> str:
        if sizes.ndim != 1:
            return f"Expected lengths to be a vector, received shape: {list(sizes.shape)} "
        if not dims:
            return f"Expected value to be at least a vector, but received shape: {list(dims)} "
        if sizes.sum() != dims[0]:
            return (
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sizes.sum()} and "
                f"value's shape is: {list(dims)} "
            )
        if not self._array.dynamic_size and sizes.size != len(self._tensors):
            return (
                f"TensorArray's size is not equal to the size of lengths ({len(self._tensors)} vs. {sizes.size}), and "
                "the TensorArray is not marked as dynamically resizeable."
            )
        return ""

    def size(self, name: str | None) -> Any:
        return convert(len(self._tensors), dtypes.int32)

    def close(self, name: str | None) -> None:
        self._tensors.clear()
