"""From whatever the user wrote to a tensor, by TensorFlow's rules.

`to_array` turns Python numbers, strings, nested lists and NumPy arrays into an array and its DType: Python floats are
float32, ints int32 (int64 where they do not fit), strings their UTF-8 bytes; a dtype asked for is met exactly or
refused, never reached by losing a fraction. `convert_to_tensor` adds what the mode asks for: an eager tensor, or a
Const in the graph being built. Classes of higher rooms (variables, slices, ragged) register how they become tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.dtypes import DType
from ebbflow.core.memory import copied
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.core.tensor import EagerTensor, Tensor, _new, provide_conversion

if TYPE_CHECKING:
    from ebbflow.core.typing import DTypeLike, TensorLike


_FIRST_CHOICE = {float: dtypes.float32, int: dtypes.int32, bool: dtypes.bool, complex: dtypes.complex128}
_FROM_BOOL = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)
"""What TF 2 makes of Python's True and False where it is asked for; of arrays of them it makes any numbers."""
_PYTHON_TEXT = (str, bytes, bytearray)
LARGEST_CONSTANT = 2**31
"""Bytes of an array that no message can hold any more."""
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1

Converter = Callable[..., Any]
_converters: list[tuple[int, tuple[type, ...], Converter]] = []
_found: dict[type, Converter | None] = {}
_pack: list[Callable[..., Tensor]] = []


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Converter, priority: int = 100
) -> None:
    """Have values of `base_type` become tensors by `conversion_func(value, dtype=, name=, as_ref=)`."""
    types = base_type if isinstance(base_type, (tuple, list)) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError(f"base_type must be a type or a tuple of types, got {base_type!r}")
    if not callable(conversion_func):
        raise TypeError(f"conversion_func must be callable, got {conversion_func!r}")
    _converters.append((priority, tuple(types), conversion_func))
    _converters.sort(key=lambda entry: entry[0])
    _found.clear()


def provide_pack(pack: Callable[..., Tensor]) -> None:
    """Let the array ops say how a list that holds tensors becomes one tensor."""
    _pack[:] = [pack]


instant: dict[type, Callable[[Any], Tensor | None]] = {}
"""Kinds of values that are no tensors but have one at hand where ops run at once (variables), and what gives it; that
gives None where it cannot. Short ways ask here before they give up; `convert` does the same, and much more.
"""


def at_hand(value: Any) -> Any:
    """Return the tensor that `value` has at hand while no graph is being built, or `value` itself."""
    read = instant.get(value.__class__)
    tensor = None if read is None else read(value)
    return value if tensor is None else tensor


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """Return `value` as a tensor of the current mode, of `dtype` when that is given.

    >>> convert_to_tensor([1, 2]).dtype
    tf.int32
    """
    if dtype is not None and dtype.__class__ is not DType:
        dtype = dtypes.as_dtype(dtype)
    hint = dtype_hint if dtype_hint is not None else preferred_dtype
    if hint is not None:
        hint = dtypes.as_dtype(hint)
    return convert(value, dtype, hint, name)


def convert(value: Any, dtype: DType | None = None, hint: DType | None = None, name: str | None = None) -> Tensor:
    """`convert_to_tensor` for callers that hold DTypes already."""
    if isinstance(value, Tensor):
        return _convert_tensor(value, dtype, name)
    kind = value.__class__
    converter: Any = _found.get(kind, _found)
    if converter is _found:
        converter = _found[kind] = _find_converter(kind)
    if converter is not None:
        result = _by_converter(converter, value, dtype, hint, name)
        if result is not NotImplemented:
            return result
    if isinstance(value, (list, tuple)) and holds_tensors(value):
        return _pack[0](value, dtype or hint, name)
    graph = context.current_graph() if context.graph_scopes else None
    if graph is not None:
        check_fits_a_graph(value, dtype or hint)
        array, found = to_array(value, dtype, hint)
        return graph.constant(array, found, name)
    array, found = to_array(value, dtype, hint)
    tensor = _new(EagerTensor)
    tensor._array = array
    tensor._dtype = found
    return tensor


def operand(value: Any, dtype: DType | None = None, hint: DType | None = None, name: str | None = None) -> Tensor:
    """Return `value` as a tensor, or as it is where it knows what ops make of it (a ragged tensor)."""
    maker = getattr(type(value), "_as_operand", None)
    if maker is not None:  # what was fetched of a ragged tensor is one again
        return maker(value)
    return value if hasattr(type(value), "_op_form") else convert(value, dtype, hint, name)


def check_fits_a_graph(value: Any, dtype: DType | None = None) -> None:
    """Refuse an array that is too large for a GraphDef, before anybody copies it."""
    if isinstance(value, np.ndarray) and value.size > 1:
        size = value.itemsize if dtype is None else dtype.np.itemsize
        if value.size * size >= LARGEST_CONSTANT:
            raise errors.WrongValueError("Cannot create a tensor proto whose content is larger than 2GB.")


def _convert_tensor(value: Tensor, dtype: DType | None, name: str | None) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}. "
            f"Write tf.cast(x, tf.{dtype.name}) where that is meant."
        )
    if context.graph_scopes:
        graph = context.current_graph()
        if graph is not None:
            return graph.take(value, name)
    if not isinstance(value, EagerTensor):
        raise value.out_of_scope()  # type: ignore[attr-defined]
    return value


def _find_converter(kind: type) -> Converter | None:
    if kind in _FIRST_CHOICE or kind is np.ndarray or kind is str or kind is bytes:
        return None
    protocol = getattr(kind, "__tf_tensor__", None)
    if protocol is not None:
        return lambda value, dtype=None, name=None, as_ref=False: protocol(value, dtype, name)
    matching = [convert for _, types, convert in _converters if issubclass(kind, types)]
    if not matching:
        return None

    def try_in_turn(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        for convert_value in matching:
            result = convert_value(value, dtype=dtype, name=name, as_ref=as_ref)
            if result is not NotImplemented:
                return result
        return NotImplemented

    return try_in_turn


def _by_converter(converter: Converter, value: Any, dtype: DType | None, hint: DType | None, name: str | None) -> Any:
    if dtype is None and hint is not None:
        try:
            result = converter(value, dtype=hint, name=name, as_ref=False)
        except (TypeError, ValueError):
            result = NotImplemented
        if result is not NotImplemented:
            return result
    result = converter(value, dtype=dtype, name=name, as_ref=False)
    if result is NotImplemented or isinstance(result, Tensor):
        return result
    raise TypeError(f"a conversion function for {type(value)} gave {result!r}, which is not a tensor")


def holds_tensors(value: Iterable[Any]) -> bool:
    """Return whether a nested list has a tensor, or something that becomes one by registration, in it."""
    for item in value:
        kind = item.__class__
        if kind in _FIRST_CHOICE:
            continue
        if isinstance(item, Tensor):
            return True
        if kind is not list and kind is not tuple:
            if _found.get(kind, _found) is _found:
                _found[kind] = _find_converter(kind)
            if _found[kind] is not None:
                return True
        if isinstance(item, (list, tuple)) and holds_tensors(item):  # also tuples with names, such as a cell's state
            return True
    return False


# --- arrays
# -------------------------------------------------------------------------------------------------------------


def to_array(value: Any, dtype: DType | None = None, hint: DType | None = None) -> tuple[np.ndarray, DType]:
    """Return a new array with `value`'s elements, and its DType.

    `dtype` must be met; `hint` is met where the kind of number allows it and forgotten elsewhere. As in TensorFlow an
    integer that is too large keeps its low bits.
    """
    if dtype is None and hint is not None:
        try:
            return to_array(value, hint)
        except (TypeError, ValueError, OverflowError):
            return to_array(value)
    kind = value.__class__
    if kind in _FIRST_CHOICE:
        return _scalar(value, kind, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if isinstance(value, _PYTHON_TEXT):
        return _text_array(value, value, dtype)
    if isinstance(value, EagerTensor):
        return _from_numpy(value._array, dtype, value._dtype)
    if isinstance(value, Tensor):
        raise TypeError(f"{value!r} is a symbolic tensor: it has no value to build a constant from")
    if isinstance(value, TensorShape):
        return _shape_array(value, dtype)
    if isinstance(value, Dimension):
        return to_array(value.value if value.value is not None else -1, dtype)
    if value is None:
        raise errors.ConversionError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        )
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _from_numpy(np.asarray(value), dtype)
    if hasattr(value, "__dlpack__"):
        return _from_numpy(np.from_dlpack(value), dtype)
    if isinstance(value, (memoryview,)):
        return _from_numpy(np.asarray(value), dtype)
    if hasattr(kind, "__index__"):
        return _scalar(value.__index__(), int, dtype)
    if hasattr(kind, "__float__"):
        return _scalar(float(value), float, dtype)
    if _is_sequence(kind):
        return _from_sequence([value[i] for i in range(len(value))], dtype)
    raise _unsupported(value)


def _is_sequence(kind: type) -> bool:
    """Return whether a class of the user's has elements by number, and nothing else that says how to read it."""
    there = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return there and not issubclass(kind, Mapping) and not hasattr(kind, "_op_form") and not hasattr(kind, "keys")


def _unsupported(value: Any) -> errors.ConversionError:
    """Return the error for a value of no type that tensors are made of.

    What knows its own form of an op is asked for it after this: its elements need not be written out.
    """
    if hasattr(value, "node_def") and hasattr(value, "outputs"):
        return errors.ConversionError(f"can't convert Operation '{value.name}' to Tensor: use one of its outputs")
    own_form = hasattr(type(value), "_op_form") and hasattr(value, "shape")
    shown = f"{type(value).__name__} of shape {value.shape}" if own_form else repr(value)
    return errors.ConversionError(
        f"Attempt to convert a value ({shown}) with an unsupported type ({type(value)}) to a Tensor."
    )


def _refuse(value: Any, dtype: DType) -> errors.ConversionError:
    shown = repr(value)
    shown = shown if len(shown) < 200 else shown[:200] + "…"
    return errors.ConversionError(f"Cannot convert {shown} to EagerTensor of dtype {dtype.name}")


def _scalar(value: Any, kind: type, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if dtype is None:
        dtype = _FIRST_CHOICE[kind]
        if kind is int and not _INT32_MIN <= value <= _INT32_MAX:
            dtype = dtypes.int64
    elif not _fits(kind, dtype):
        raise _refuse(value, dtype)
    try:
        return np.array(value, dtype.np), dtype
    except OverflowError as error:
        if dtype is not dtypes.uint64 and -(2**63) <= value < 2**63:
            return np.array(value, np.int64).astype(dtype.np), dtype
        raise _refuse(value, dtype) from error


def _fits(kind: type, dtype: DType) -> bool:
    """Return whether a Python number of this kind may become `dtype`."""
    if kind is bool:
        return dtype is dtypes.bool or dtype in _FROM_BOOL or (dtype.is_numeric and _in_graph())
    if kind is int:
        return dtype.is_integer or dtype.is_floating or dtype.is_complex or dtype.is_quantized
    if kind is float:
        return dtype.is_floating or dtype.is_complex
    return dtype.is_complex


def _in_graph() -> bool:
    return bool(context.graph_scopes) and context.current_graph() is not None


def _from_numpy(value: Any, dtype: DType | None, found: DType | None = None) -> tuple[np.ndarray, DType]:
    array = np.asarray(value)
    if array.dtype.kind in "USO" and found is None:
        return _text_array(array, value, dtype)
    found = found or dtypes.from_numpy(array.dtype)
    if dtype is None or dtype is found:
        return copied(array, found.np), found
    if not _may_cast(found, dtype):
        raise _refuse(value, dtype)
    return copied(array, dtype.np), dtype


def _may_cast(source: DType, target: DType) -> bool:
    if source is dtypes.bool:
        return target.is_numeric or target.is_quantized
    if target is dtypes.bool:
        return source.is_numeric
    if target.is_complex or target.is_floating or target.is_integer:
        # From a NumPy array TensorFlow takes what NumPy casts: fractions are cut off, imaginary parts with a warning.
        return source.is_complex or source.is_floating or source.is_integer
    return target.is_quantized and source.is_integer


def _text_array(value: Any, shown: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if dtype is not None and dtype not in (dtypes.string, dtypes.variant, dtypes.resource):
        raise _refuse(shown, dtype)
    source = np.asarray(value, dtype=object)
    if dtype is not None and dtype is not dtypes.string:
        return source.copy(), dtype
    result = np.empty(source.shape, dtype=object)
    flat, flat_source = result.reshape(-1), source.reshape(-1)
    for i in range(flat.size):
        item = flat_source[i]
        if isinstance(item, str):
            item = item.encode("utf-8")
        elif isinstance(item, (bytes, bytearray)):
            item = bytes(item)
        else:
            raise errors.ConversionError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(item).__name__})."
            )
        flat[i] = item
    return result, dtypes.string


def _shape_array(shape: TensorShape, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    sizes: list[Any] = shape.as_list()
    if dtype is None:
        dtype = dtypes.int32 if all(n <= _INT32_MAX for n in sizes) else dtypes.int64
    if dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype.name}")
    return np.array(sizes, dtype.np), dtype


def _leaf_types(value: Any, kinds: set[type], depth: int = 0) -> None:
    if depth > 254:
        raise ValueError("Attempting to create a tensor with more than 254 dimensions")
    found = set(map(type, value))
    if list in found or tuple in found:
        for item in value:
            if item.__class__ is list or item.__class__ is tuple:
                _leaf_types(item, kinds, depth + 1)
    kinds |= found


def _from_sequence(value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    kinds: set[type] = set()
    _leaf_types(value, kinds)
    kinds -= {list, tuple}
    if kinds & {str, bytes, bytearray, np.str_, np.bytes_}:
        return _text_sequence(value, kinds, dtype)
    if type(None) in kinds:
        raise errors.ConversionError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        )
    if len(kinds) > 1 and (dtype is None or not _fits(bool, dtype)) and _led_by_less(value, kinds):
        raise errors.ConversionError(f"Can't convert Python sequence with mixed types to Tensor: {_shown(value)}")
    if Dimension in kinds or TensorShape in kinds:
        value = _plain_sizes(value)
        kinds = {int}
    try:
        array = np.array(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {_shown(value)}") from error
    if array.dtype == object:
        return _object_sequence(array, value, dtype)
    if kinds <= set(_FIRST_CHOICE) and kinds:
        return _python_numbers(array, value, dtype)
    if not kinds:
        target = dtype or dtypes.float32  # [] is float32
        return np.zeros(array.shape, target.np), target
    if dtype is None and np.ndarray not in kinds:
        array = _as_if_python_numbers(array)
    return _from_numpy(array, dtype)


def _led_by_less(value: Any, kinds: set[type]) -> bool:
    """Return whether the first number of a sequence cannot stand for the others, as an eager tensor's must.

    A flag stands for flags alone, an integer for flags, integers and floats. Graphs ask NumPy instead: it takes all.
    """
    if not kinds & {bool, complex} or not kinds <= set(_FIRST_CHOICE) or _in_graph():
        return False
    while isinstance(value, (list, tuple)):
        value = next((item for item in value if not isinstance(item, (list, tuple)) or item), 0)
    return isinstance(value, bool) or (isinstance(value, int) and complex in kinds)


def _as_if_python_numbers(array: np.ndarray) -> np.ndarray:
    """Return what a list of NumPy's numbers gives: int32 if that holds integers, and in graphs float32 for floats."""
    if array.dtype == np.int64 and array.size and array.min() >= _INT32_MIN and array.max() <= _INT32_MAX:
        return array.astype(np.int32)
    if array.dtype == np.float64 and _in_graph():
        return array.astype(np.float32)
    return array


def _beyond(integers: np.ndarray, dtype: DType) -> bool:
    """Return whether even the low bits of Python's integers are not TensorFlow's to take."""
    if dtype is dtypes.uint64:
        return bool(integers.dtype.kind == "i" and integers.min(initial=0) < 0)
    return integers.dtype.kind == "u"


def _python_numbers(array: np.ndarray, value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[array.dtype.kind]
    if dtype is None:
        dtype = _FIRST_CHOICE[kind]
        if kind is int and array.size and not (array.min() >= _INT32_MIN and array.max() <= _INT32_MAX):
            dtype = dtypes.uint64 if array.dtype.kind == "u" else dtypes.int64
    elif not _fits(kind, dtype):
        raise _refuse(value, dtype)
    if kind is int and dtype.is_integer and _beyond(array, dtype):
        raise _refuse(value, dtype)
    return array.astype(dtype.np, copy=False), dtype


def _text_sequence(value: Any, kinds: set[type], dtype: DType | None) -> tuple[np.ndarray, DType]:
    if kinds - {str, bytes, bytearray, np.str_, np.bytes_, np.ndarray}:
        raise errors.ConversionError(f"Can't convert Python sequence with mixed types to Tensor: {_shown(value)}")
    try:
        array = np.array(value, dtype=object)
    except ValueError as error:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {_shown(value)}") from error
    if array.size and isinstance(array.reshape(-1)[0], (list, tuple)):
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {_shown(value)}")
    return _text_array(array, value, dtype)


def _object_sequence(array: np.ndarray, value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    """Python ints too large for NumPy, arrays of strings in a list, or something that is no number at all."""
    flat = array.reshape(-1)
    if all(isinstance(item, int) for item in flat):
        if dtype is not None and not dtype.is_integer and (dtype.is_floating or dtype.is_complex):
            return array.astype(dtype.np), dtype
        raise errors.ConversionError(
            f"Python int too large to convert to {(dtype or dtypes.int64).name}: {_shown(value)}"
        )
    return _text_array(array, value, dtype)


def _plain_sizes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain_sizes(item) for item in value]
    if isinstance(value, TensorShape):
        return value.as_list()
    return int(value) if isinstance(value, Dimension) else value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def convert_to_tensor_or_composite(value: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Return a composite tensor as it is, and anything else as a tensor."""
    if not isinstance(value, (CompositeTensor, Tensor)):
        converter = _find_converter(type(value))
        found = NotImplemented if converter is None else converter(value, dtype=dtype, name=name, as_ref=False)
        value = value if found is NotImplemented else found
    if isinstance(value, CompositeTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):  # type: ignore[attr-defined]
            raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for {value!r}")
        return value
    return convert_to_tensor(value, dtype, name)


def _array_of(value: Any, dtype: Any) -> tuple[Any, DType]:
    """Return the array and dtype of the eager tensor that a value becomes."""
    tensor: Any = convert(value, None if dtype is None else dtypes.as_dtype(dtype))
    return tensor._array, tensor._dtype


provide_conversion(_array_of)
