"""Arrays as `TensorProto`, shapes as `TensorShapeProto`, and back, in the very forms TensorFlow writes.

Knows NumPy, dtypes and dims. Knows nothing of tensors at work, nodes or files. What comes from a message is checked
before anything is allocated: a proto of twenty bytes may claim 2**60 elements.
"""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dimension, Dims, as_dims
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike
from ebbflow.core.varint import varint

if TYPE_CHECKING:
    from google.protobuf.message import Message

LARGEST_FILL = 2**31  # bytes that repeated values may grow to: what a message could hold if it were written in full
LARGEST_CONTENT = 2**31  # bytes
LARGEST_RANK = 64  # of a NumPy array
SUPPORTED = "See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."

# The field of TensorProto that holds single values, by dtype, where it is not `int_val`.
VALUE_FIELDS: dict[DType, str] = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.string: "string_val",
}
_OF_ONE_NUMBER = {
    dtype.as_datatype_enum: dtype for dtype in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.bool)
}
NARROW = frozenset(map(dtypes.as_dtype, ("int4", "uint4", "int2", "uint2")))  # how a byte holds them is not agreed on
NEVER_AS_CONTENT = NARROW | {dtypes.string, dtypes.bool, dtypes.complex64, dtypes.complex128, dtypes.uint16}


def make_tensor_proto(
    values: AnyTensor,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Message:
    """A `TensorProto` of `values`; with `shape`, the last of too few values stands for all that are missing.

    >>> make_tensor_proto([1, 2], shape=[3]).int_val
    [1, 2]
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, messages.TensorProto):
        return values
    dtype = dtypes.as_dtype(dtype) if dtype else None
    if _is_array_like(values):
        values = np.asarray(values)
    array = _as_array(values, dtype, shape)
    found = dtype if dtype is not None and dtype.is_quantized else dtypes.as_dtype(array.dtype)
    if dtype is not None and dtype.base_dtype is not found.base_dtype:
        raise TypeError(f"`dtype` {dtype} is not compatible with {values} of dtype {array.dtype}.")
    dims = array.shape if shape is None else tuple(int(d) for d in shape)
    if shape is not None:
        _check_size(array, dims, verify_shape, allow_broadcast)
    return _write(array, found, dims, values)


def make_ndarray(proto: Message, limit: int = LARGEST_FILL, spread: bool = False) -> np.ndarray:
    """The array a `TensorProto` holds; `limit` caps the bytes that repeating a value may take.

    With `spread` one value that fills a shape stands in memory once, as in the message; such an array is read-only.

    >>> make_ndarray(make_tensor_proto(7, shape=[2, 2])).tolist()
    [[7, 7], [7, 7]]
    """
    dtype = _proto_dtype(proto)
    dims = _proto_dims(proto, dtype)
    count = math.prod(dims)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, dtype, dims, count)
    values = _read_values(proto, dtype)[:count]
    itemsize = dtype.np.itemsize
    if len(values) < count and count * itemsize > limit:
        raise _invalid(
            f"{count} elements of {dtype.name} in {proto.ByteSize()} bytes would fill more than {limit} bytes"
        )
    if len(values) == count:
        return values.reshape(dims)
    if spread and len(values) == 1:
        return np.broadcast_to(values[0], dims)
    array = np.empty(count, dtype.np)
    array[: len(values)] = values
    array[len(values) :] = values[-1] if len(values) else _zero(dtype)
    return array.reshape(dims)


def one_number(proto: Message) -> np.ndarray | None:
    """The scalar that a `TensorProto` of no dimensions holds as one number of its own; None of any other."""
    dtype = _OF_ONE_NUMBER.get(proto.dtype)
    if dtype is None:
        return None
    shape = proto.tensor_shape
    values = getattr(proto, VALUE_FIELDS.get(dtype, "int_val"))
    if len(values) != 1 or proto.tensor_content or shape.unknown_rank or len(shape.dim):
        return None
    return np.array(values[0], dtype.np)


def content_proto(array: np.ndarray, dtype: DType | None = None) -> Message:
    """A `TensorProto` as TensorFlow's kernels write it: every number in `tensor_content`, strings in `string_val`."""
    dtype = dtypes.from_numpy(array.dtype) if dtype is None else dtype
    proto = messages.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(array.shape))
    if dtype.base_dtype is dtypes.string:
        proto.string_val.extend(_as_bytes(item) for item in array.ravel())
    else:
        proto.tensor_content = _little_endian_bytes(array)
    return proto


def shape_proto(dims: Any) -> Message:
    """The `TensorShapeProto` of dims, or of whatever `as_dims` understands."""
    dims = as_dims(dims)
    if dims is None:
        return messages.TensorShapeProto(unknown_rank=True)
    Dim = messages.TensorShapeProto.Dim
    return messages.TensorShapeProto(dim=[Dim(size=-1 if d is None else d) for d in dims])


def shape_dims(proto: Message) -> Dims:
    """The dims of a `TensorShapeProto`."""
    if proto.unknown_rank:
        return None
    sizes = [d.size for d in proto.dim]
    if any(size < -1 for size in sizes):
        raise _invalid(f"Shape {sizes} has dimensions below -1")
    return tuple(None if size == -1 else size for size in sizes)


# Writing ------------------------------------------------------------------------------------------------------------


def _is_array_like(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    if callable(getattr(value, "__array__", None)) or isinstance(getattr(value, "__array_interface__", None), dict):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return not isinstance(value, bytes)


def _as_array(values: Any, dtype: DType | None, shape: Any) -> np.ndarray:
    target = dtype.np if dtype is not None and dtype.is_numpy_compatible else None
    if isinstance(values, (np.ndarray, np.generic)):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(values if target is None else values.astype(target))
    if values is None:
        raise ValueError("None values not supported.")
    if shape is not None and math.prod(map(int, shape)) == 0:
        array = np.empty(tuple(map(int, shape)), target)
    else:
        _check_elements(values, dtype)
        array = _from_python(values, target)
        if list(array.shape) != _nesting(values) and not (dtype is not None and dtype.is_quantized):
            raise ValueError(
                f"Expected values {values} to be a dense tensor with shape {_nesting(values)}, "
                f"but got shape {list(array.shape)}."
            )
    return array if dtype is not None else _prefer_32_bits(array)


def _from_python(values: Any, target: np.dtype | None) -> np.ndarray:
    with np.errstate(over="ignore"):
        try:
            return np.array(values, target)
        except OverflowError:  # 300 as uint8: TensorFlow wraps around
            return np.array(values).astype(target)


def _prefer_32_bits(array: np.ndarray) -> np.ndarray:
    """NumPy reads Python numbers as 64 bits wide; TensorFlow prefers 32 where an integer loses nothing by it."""
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        return narrow if np.array_equal(narrow, array) else array
    return array


def _nesting(values: Any) -> list[int]:
    """The lengths of the lists along the first items: the shape, if all lists of a level are as long."""
    lengths = []
    while isinstance(values, (list, tuple)):
        lengths.append(len(values))
        if not values:
            break
        values = values[0]
    return lengths


_INTEGERS = (numbers.Integral, np.integer, Dimension)
_REALS = (numbers.Real, np.integer, np.floating)
_COMPLEXES = (numbers.Complex, np.number)


def _check_elements(values: Any, dtype: DType | None) -> None:
    """Refuse elements that are tensors or, where a dtype is asked for, not of its kind."""
    if dtype is None:
        if any(isinstance(item, Tensor) for item in _leaves(values)):
            raise TypeError("Expected any non-tensor type, but got a tensor instead.")
        return
    wrong = _first_misfit(values, dtype)
    if wrong:
        raise TypeError(f"Expected {dtype.name}, but got {wrong[0]} of type '{type(wrong[0]).__name__}'.")


def _first_misfit(values: Any, dtype: DType) -> list[Any]:
    """The first element that is not of `dtype`'s kind, in a list; an empty list if all are."""
    if dtype.is_quantized:
        return _first_loose(values)
    kind: Any = object
    for is_kind, types in (
        (dtype.is_bool, bool),
        (dtype.is_integer, _INTEGERS),
        (dtype.is_floating, _REALS),
        (dtype.is_complex, _COMPLEXES),
        (dtype is dtypes.string, (bytes, str)),
    ):
        if is_kind:
            kind = types
    for item in _leaves(values):
        array_fits = isinstance(item, np.ndarray) and kind is not object and issubclass(item.dtype.type, kind)
        if isinstance(item, Tensor) or not (isinstance(item, kind) or array_fits):
            return [item]
    return []


def _first_loose(values: Any) -> list[Any]:
    """Quantised values are tuples of one integer inside lists; the first that is not."""
    if isinstance(values, tuple):
        return [v for v in values if not isinstance(v, _INTEGERS)][:1]
    if not isinstance(values, list):
        return [values]
    return next(filter(None, map(_first_loose, values)), [])


def _leaves(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        for inner in values:
            yield from _leaves(inner)
    else:
        yield values


def _check_size(array: np.ndarray, dims: tuple[int, ...], verify_shape: bool, allow_broadcast: bool) -> None:
    size = math.prod(dims)
    if allow_broadcast:
        if array.shape not in ((), (1,)) and array.size != size:
            raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
        return
    if verify_shape and array.shape != dims:
        raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
    if array.size > size:
        raise ValueError(f"Too many elements provided. Takes at most {size:d}, but got {array.size:d}.")


def _write(array: np.ndarray, dtype: DType, dims: tuple[int, ...], values: Any) -> Message:
    size = math.prod(dims)
    proto = messages.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(dims))
    if size == array.size and size > 1 and dtype.base_dtype not in NEVER_AS_CONTENT:
        if array.nbytes >= LARGEST_CONTENT:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        proto.tensor_content = _little_endian_bytes(array)
    elif dtype.base_dtype is dtypes.string and not isinstance(values, np.ndarray):
        proto.string_val.extend(_strings(values))  # from the values: NumPy cuts trailing NULs off
    else:
        _write_values(proto, array.ravel(), dtype.base_dtype)
    return proto


def _strings(values: Any) -> list[bytes]:
    try:
        return [_as_bytes(item) for item in _leaves(values)]
    except TypeError:
        raise TypeError(
            f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type. "
            + SUPPORTED
        ) from None


def _as_bytes(item: Any) -> bytes:
    if isinstance(item, (bytes, bytearray)):
        return bytes(item)
    if isinstance(item, str):
        return item.encode("utf-8")
    raise TypeError(f"Expected binary or unicode string, got {item!r}")


def _write_values(proto: Message, flat: np.ndarray, dtype: DType) -> None:
    if dtype is dtypes.string:
        proto.string_val.extend(_as_bytes(item) for item in flat)
        return
    field = _value_field(dtype)
    if field == "float8_val":
        proto.float8_val = flat.view(np.uint8).tobytes()
        return
    if field == "half_val":
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(flat.real.dtype)
    elif dtype.is_quantized:
        flat = flat.view(flat.dtype[0]) if flat.dtype.names else flat
    elif dtype in NARROW:
        flat = flat.astype(np.int8)
    getattr(proto, field).extend(flat.tolist())


def _value_field(dtype: DType) -> str:
    if dtype in VALUE_FIELDS:
        return VALUE_FIELDS[dtype]
    return "float8_val" if dtype.is_floating else "int_val"


def _little_endian_bytes(array: np.ndarray) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


# Reading ------------------------------------------------------------------------------------------------------------


def _proto_dtype(proto: Message) -> DType:
    try:
        dtype = dtypes.as_dtype(proto.dtype).base_dtype
    except TypeError:
        raise _invalid(f"TensorProto has the unknown dtype {proto.dtype}") from None
    if not dtype.is_numpy_compatible:
        raise TypeError(f"Unsupported tensor type: {proto.dtype}. {SUPPORTED}")
    return dtype


def _proto_dims(proto: Message, dtype: DType) -> tuple[int, ...]:
    found = shape_dims(proto.tensor_shape)
    if found is None or None in found:
        raise _invalid(f"TensorProto must have a fully defined shape, not {found}")
    dims = tuple(d for d in found if d is not None)
    if len(dims) > LARGEST_RANK:
        raise _invalid(f"TensorProto has {len(dims)} dimensions; at most {LARGEST_RANK} are supported")
    if math.prod(d or 1 for d in dims) * dtype.np.itemsize >= 2**63:
        raise _invalid(f"TensorProto has shape {list(dims)}, more than memory can address")
    return dims


def _from_content(content: bytes, dtype: DType, dims: tuple[int, ...], count: int) -> np.ndarray:
    if dtype is dtypes.string:
        return _texts_from_content(content, count).reshape(dims)
    if len(content) != count * dtype.np.itemsize:
        expected = f"{dtype.name} of shape {list(dims)} has {count * dtype.np.itemsize}"
        raise _invalid(f"TensorProto has {len(content)} bytes of tensor_content, but {expected}")
    if dtype is dtypes.bool:
        return (np.frombuffer(content, np.uint8) != 0).reshape(dims)
    return np.frombuffer(content, dtype.np.newbyteorder("<")).astype(dtype.np).reshape(dims)


def _texts_from_content(content: bytes, count: int) -> np.ndarray:
    """The strings of a proto that has them in its content: their lengths, one after the other, then their bytes."""
    lengths, at = [], 0
    try:
        for _ in range(count):
            length, at = varint(content, at)
            lengths.append(length)
    except IndexError:
        raise _invalid(f"TensorProto has {len(content)} bytes of tensor_content: too few for {count} strings") from None
    if sum(lengths) != len(content) - at:
        raise _invalid(f"TensorProto has {len(content) - at} bytes of strings, but their lengths sum to {sum(lengths)}")
    texts = np.empty(count, object)
    for i, length in enumerate(lengths):
        texts[i] = content[at : at + length]
        at += length
    return texts


def _read_values(proto: Message, dtype: DType) -> np.ndarray:
    """The single values of a proto as a flat array, as many as there are."""
    field = _value_field(dtype)
    values = getattr(proto, field)
    if field == "string_val":
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    if field == "float8_val":
        return np.frombuffer(values, np.uint8).copy().view(dtype.np)
    if field == "half_val":
        return np.array(values, np.int64).astype(np.uint16).view(dtype.np)
    if dtype.is_complex:
        if len(values) % 2:
            raise _invalid(f"TensorProto has {len(values)} numbers in {field}; complex numbers take two each")
        return np.array(values, np.empty(0, dtype.np).real.dtype).view(dtype.np)
    if field == "int_val":
        integers = np.array(values, np.int64)
        return integers.astype(dtype.np[0]).view(dtype.np) if dtype.is_quantized else integers.astype(dtype.np)
    return np.array(values, dtype.np)


def _zero(dtype: DType) -> Any:
    return b"" if dtype is dtypes.string else np.zeros((), dtype.np)


def _invalid(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)
