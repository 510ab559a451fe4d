"""The tensors of elements as records of a file: messages, also of what is sparse, ragged, optional or a list.

A tensor is a TensorProto. What elements carry as variants is written as the arrays that it is made of, under a name of
ours. What only means something in this process (datasets, handles) is refused. Knows messages and the kinds of
variants; knows nothing of files or pipes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.varint import to_varint
from ebbflow.io import variants
from ebbflow.messages.tensors import content_proto, make_ndarray, shape_proto
from ebbflow.ops.parsing.decode_ops import read_variants, write_variants
from ebbflow.ops.ragged.composite_variants import Held, RaggedValue
from ebbflow.ops.state.list_value import TensorList
from ebbflow.ops.state.optional import OptionalValue


def dtype_of(array: np.ndarray) -> dtypes.DType:
    """Return the dtype of a tensor whose array this is."""
    if array.dtype != object:
        return dtypes.from_numpy(array.dtype)
    texts = not array.size or isinstance(array.reshape(-1)[0], (bytes, str))
    return dtypes.string if texts else dtypes.variant


def record_of(array: np.ndarray) -> bytes:
    """Return a tensor as bytes, in TensorFlow's form of a saved one."""
    dtype = dtype_of(array)
    if dtype is dtypes.variant:
        return variants_record(array)
    if dtype is not dtypes.string:
        return content_proto(array, dtype).SerializeToString()
    message = messages.TensorProto(dtype=dtypes.string.as_datatype_enum, tensor_shape=shape_proto(array.shape))
    texts = [text.encode() if isinstance(text, str) else text for text in array.reshape(-1).tolist()]
    message.tensor_content = b"".join([*(to_varint(len(text)) for text in texts), *texts])
    return message.SerializeToString()


def variants_record(array: np.ndarray) -> bytes:
    """Return a tensor of variants as bytes."""
    message = messages.TensorProto(dtype=dtypes.variant.as_datatype_enum)
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    message.variant_val.extend([variants.to_message(value) for value in array.reshape(-1).tolist()])
    return message.SerializeToString()


def array_of(record: bytes | None, file: str) -> np.ndarray:
    """Return the tensor of a record; None where there should be one, or what is no tensor, is damage of a file."""
    try:
        message = messages.TensorProto.FromString(record)
        if message.dtype != dtypes.variant.as_datatype_enum:
            return make_ndarray(message)
        array = np.empty(len(message.variant_val), object)
        for i, value in enumerate(message.variant_val):
            array[i] = variants.from_bytes(value.SerializeToString(), file)
        return array.reshape([dim.size for dim in message.tensor_shape.dim])
    except Exception as error:  # whatever the parser of messages says
        raise errors.DataLossError(None, None, f"{file} is damaged: {type(error).__name__}") from None


read_variants.append(array_of)
write_variants.append(variants_record)


# --- the kinds of variants in elements --------------------------------------------------------------------------------


def _optional(arrays: Sequence[np.ndarray]) -> OptionalValue:
    return OptionalValue(tuple(arrays[1:]) if arrays[0] else None)


def _listed(value: TensorList) -> list[np.ndarray]:
    """Return dtype, limit, length and rank of a list, its dimensions, which places are set, and what is there."""
    dims, entries = value.element_dims, value.elements()
    head = [value.dtype.as_datatype_enum, value.limit, value.length, -1 if dims is None else len(dims)]
    places = [i for i, entry in enumerate(entries) if entry is not None]
    sizes = [-1 if size is None else size for size in dims or ()]
    return [np.array([*head, *sizes], np.int64), np.array(places, np.int64), *[entries[i] for i in places]]  # type: ignore[list-item]


def _list(arrays: Sequence[np.ndarray]) -> TensorList:
    dtype, limit, length, rank, *sizes = arrays[0].tolist()
    dims = None if rank < 0 else tuple([None if size < 0 else size for size in sizes])
    entries = dict(zip(arrays[1].tolist(), arrays[2:], strict=True))
    return TensorList(dtypes.as_dtype(dtype), dims, length, limit, entries)


variants.register(Held, "ebbflow::Held", lambda held: [held.array], lambda arrays: Held(arrays[0]))
variants.register(
    RaggedValue,
    "ebbflow::Ragged",
    lambda ragged: [*ragged.splits, ragged.values],
    lambda arrays: RaggedValue(arrays[:-1], arrays[-1]),
)
variants.register(
    OptionalValue,
    "ebbflow::Optional",
    lambda optional: [np.array(optional.parts is not None), *(optional.parts or ())],
    _optional,
)
variants.register(TensorList, "ebbflow::List", _listed, _list)

WRITTEN = (Held, RaggedValue, OptionalValue, TensorList)
"""The kinds that can be written."""
