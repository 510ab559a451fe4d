"""Maps from tensors to tensors, as values: each change gives a new map. The key of an array is its dtype and bytes.

The gradient of a map is a map, of the gradients of its values; what it does not hold is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import UNDEFINED, dense, raw, scalar, unknown
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed


class TensorMap:
    """Arrays by arrays."""

    __slots__ = ("items",)

    def __init__(self, items: dict[Any, tuple[np.ndarray, np.ndarray]]):
        self.items = items

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, TensorMap):
            return NotImplemented
        total = dict(self.items)
        for name, (key, value) in other.items.items():
            total[name] = (key, total[name][1] + value) if name in total else (key, value)
        return TensorMap(total)


def _key(array: np.ndarray) -> Any:
    return array.dtype.str, array.shape, tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()


def _map(handle: np.ndarray) -> TensorMap:
    found = handle.item() if handle.size == 1 else None
    if not isinstance(found, TensorMap):
        raise invalid("Input handle is not a map: it must come from EmptyTensorMap or TensorMapInsert")
    return found


EmptyTensorMap = op("EmptyTensorMap() -> (handle:variant)", shape=scalar, gradient=UNDEFINED)
EmptyTensorMap.kernel(lambda xp: boxed(TensorMap({})))

TensorMapSize = op("TensorMapSize(input_handle:variant) -> (size:int32)", shape=scalar, gradient=UNDEFINED)
TensorMapSize.kernel(lambda xp, input_handle: np.int32(len(_map(input_handle).items)))

TensorMapInsert = op(
    "TensorMapInsert(input_handle:variant, key:key_dtype, value:value_dtype) -> (output_handle:variant) | "
    "key_dtype: type; value_dtype: type",
    shape=scalar,
)


@TensorMapInsert.kernel
def _(xp, input_handle, key, value):
    return boxed(TensorMap({**_map(input_handle).items, _key(key): (key, value)}))


@TensorMapInsert.gradient
def _(call, grad):
    zero = TensorMapInsert(EmptyTensorMap(), call.key, raw.ZerosLike(call.value))
    known = raw.AddN([grad, zero])  # the key may have no gradient
    kinds = {"value_dtype": call.value.dtype}
    return TensorMapErase(known, call.key, **kinds), None, TensorMapLookup(known, call.key, **kinds)


TensorMapErase = op(
    "TensorMapErase(input_handle:variant, key:key_dtype) -> (output_handle:variant) | key_dtype: type; "
    "value_dtype: type",
    shape=scalar,
)
TensorMapErase.gradient(lambda call, grad: (grad, None))


@TensorMapErase.kernel
def _(xp, input_handle, key):
    items = dict(_map(input_handle).items)
    if items.pop(_key(key), None) is None:
        raise invalid("Trying to erase non-existent item.")
    return boxed(TensorMap(items))


TensorMapHasKey = op(
    "TensorMapHasKey(input_handle:variant, key:key_dtype) -> (has_key:bool) | key_dtype: type",
    shape=scalar,
    gradient=UNDEFINED,
)
TensorMapHasKey.kernel(lambda xp, input_handle, key: np.bool_(_key(key) in _map(input_handle).items))

TensorMapLookup = op(
    "TensorMapLookup(input_handle:variant, key:key_dtype) -> (value:value_dtype) | key_dtype: type; value_dtype: type",
    shape=unknown,
)
TensorMapLookup.gradient(lambda call, grad: (TensorMapInsert(EmptyTensorMap(), call.key, dense(grad)), None))


@TensorMapLookup.kernel
def _(xp, input_handle, key, *, value_dtype):
    found = _map(input_handle).items.get(_key(key))
    if found is None:
        raise invalid("Trying to lookup non-existent key. Could not find key.")
    if found[1].dtype != value_dtype.np:
        raise invalid(
            f"Key does not match requested dtype. value_dtype is {value_dtype.name}, but the map holds {found[1].dtype}"
        )
    return found[1]


TensorMapStackKeys = op(
    "TensorMapStackKeys(input_handle:variant) -> (keys:key_dtype) | key_dtype: type", shape=unknown, gradient=UNDEFINED
)


@TensorMapStackKeys.kernel
def _(xp, input_handle, *, key_dtype):
    keys = [key for key, _ in _map(input_handle).items.values()]
    if not keys:
        raise invalid("TensorMapStackKeys cannot be called on empty map.")
    if any(k.shape != keys[0].shape for k in keys):
        raise invalid("Keys must all have the same shape.")
    if any(k.dtype != key_dtype.np for k in keys):
        raise invalid(f"Key does not match requested dtype {key_dtype.name} and shape {list(keys[0].shape)}.")
    return np.stack(keys)
