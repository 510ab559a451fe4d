"""Small functions of TensorFlow's inside that programs and tests call and that no public name stands for.

Each is a few lines on public functions; what has a public twin is in `tables/inner_paths.txt`, and what belongs to a
room in `tables/inside.py`. Imported by nobody: the tables name what is here.
"""

from __future__ import annotations

import collections.abc as collections_abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, convert_to_tensor
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.graph import get_default_graph
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged import rows
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.platform.eras import control_flow_v2_enabled
from ebbflow.runtime.fetches import IndexedSlicesValue
from ebbflow.runtime.session import Session, get_default_session
from ebbflow.state.base import Variable

__all__ = ["collections_abc"]

newaxis = None
RNG_ALG_PHILOX, RNG_ALG_THREEFRY = 1, 2
SYNC, ASYNC = 0, 1
INFINITE, UNKNOWN = -1, -2  # lengths of datasets
np_where, np_asarray, np_array = np.where, np.asarray, np.array


def to_numpy(value: Any) -> Any:
    """Return a value, a tensor's or that of some rows, as one array."""
    if isinstance(value, (IndexedSlices, IndexedSlicesValue)):
        dense = np.zeros([int(size) for size in to_numpy(value.dense_shape)], to_numpy(value.values).dtype)
        np.add.at(dense, to_numpy(value.indices), to_numpy(value.values))
        return dense
    if isinstance(value, Tensor) and not hasattr(value, "numpy"):
        return (get_default_session() or Session()).run(value)
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def execute(
    op_name: str | bytes,
    num_outputs: int,
    inputs: Sequence[Any],
    attrs: Sequence[Any] | None = None,
    ctx: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Return the outputs of an op called by its name; attrs are a row of names and values."""
    word = op_name.decode() if isinstance(op_name, bytes) else op_name
    try:
        declared = getattr(raw, word)
    except AttributeError:
        raise errors.NotFoundError(None, None, f"Op type not registered '{word}' in this process") from None
    row = list(attrs or ())
    given = dict(zip(row[::2], row[1::2], strict=True))
    for key, value in given.items():
        attr = declared.signature.attrs.get(key)
        if attr is not None and attr.kind == "type" and isinstance(value, int):
            given[key] = dtypes.as_dtype(value)
    takes_one_list = declared.signature.takes_lists and len(declared.signature.inputs) == 1
    try:
        found = declared(*([list(inputs)] if takes_one_list else inputs), name=name, **given)
    except TypeError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    outputs = list(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]
    if not isinstance(num_outputs, int):
        raise TypeError(f"expected int for number of outputs; got {num_outputs!r}")
    if num_outputs < len(outputs):
        raise errors.InvalidArgumentError(None, None, f"Expecting {num_outputs} outputs, but got {len(outputs)}")
    return outputs


def body_of(node: Any, attr_name: str, attr_graph_name: str = "") -> Any:
    """Return the body that an attr of a node names: `while_v2._get_graph`."""
    return node._attrs[attr_name]


class NotOkStatusException(Exception):  # noqa: N818  (TensorFlow's word)
    """What TensorFlow's runtime raises inside: a code and words, which become one of `tf.errors`."""

    def __init__(self, message: str, code: int, payloads: Any = None) -> None:
        super().__init__(message, code, payloads)
        self.message, self.code, self.payloads = message, code, payloads or {}


def status_to_exception(status: Any) -> Exception:
    """Return the error of `tf.errors` that a code and words mean."""
    try:
        kind: Any = errors.exception_type_from_error_code(status.code)
    except KeyError:
        return errors.UnknownError(None, None, status.message, status.code)
    return kind(None, None, status.message, status.payloads)


def convert_n_to_tensor(
    values: Sequence[Any], dtype: DTypeLike | None = None, name: str | None = None, preferred_dtype: Any = None
) -> list[Tensor]:
    """Return a tensor for each of some values."""
    if not isinstance(values, collections_abc.Iterable):
        raise TypeError("values must be iterable.")
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    return [convert(v, kind, preferred_dtype, f"{name}_{i}" if name else None) for i, v in enumerate(values)]


def is_sparse(x: Any) -> bool:
    """Return whether a value is a sparse tensor, or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def is_dense_tensor_like(t: Any) -> bool:
    """Return whether something is a tensor or stands for one, as variables do."""
    return isinstance(t, (Tensor, Variable))


def is_ragged(value: Any) -> bool:
    """Return whether a value is a ragged tensor, or the value of one."""
    return isinstance(value, RaggedTensor) or type(value).__name__ == "RaggedTensorValue"


def convert_to_tensor_or_ragged_tensor(
    value: TensorLike, dtype: DTypeLike | None = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """Return a ragged tensor as it is (or of its value), anything else as a tensor."""
    return ragged_or_tensor(value, None if dtype is None else dtypes.as_dtype(dtype), preferred_dtype, name)


def batch_gather_nd(params: TensorLike, indices: TensorLike, batch_dims: Any, name: str | None = None) -> Tensor:
    """Return `gather_nd` within each of the batches that the first axes number."""
    return gather_nd(params, indices, batch_dims, name)


def tensor_equals(self: Any, other: Any) -> Any:
    """Return what `==` gives: where tensors are compared by their values their comparison, else whether it is one."""
    return self == other


def tensor_not_equals(self: Any, other: Any) -> Any:
    """Return what `!=` gives: where tensors are compared by their values their comparison, else whether it is two."""
    return self != other


def anonymous_name() -> str:
    """Return the shared name that asks for a resource of one's own."""
    return "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def shared_name(name: str | None = None) -> str | None:
    """Return a shared name for a resource: eager ones are never shared unless they say so."""
    return name if name or not context.executing_eagerly() else anonymous_name()


def enable_control_flow_v2(graph: Any) -> bool:
    """Return whether loops and choices of a graph are functional nodes."""
    return control_flow_v2_enabled() or bool(getattr(graph, "building_function", False))


def ensure_initialized() -> None:
    """Do nothing: devices are ready when they are first used."""


def get_name_scope() -> str:
    """Return the name scope that ops are made in, without a slash behind it."""
    return "" if context.executing_eagerly() else get_default_graph().get_name_scope()


# --- ragged tensors ---------------------------------------------------------------------------------------------------


def ragged_concat(values: Sequence[Any], axis: Any, name: str | None = None) -> Any:
    """Return ragged tensors one behind the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    return concat([ragged_or_tensor(v) for v in values], axis)


def ragged_gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Return the rows of `params` that `indices` name."""
    place = batch_dims if axis is None else axis
    return rows.gather(ragged_or_tensor(params), ragged_or_tensor(indices), place, batch_dims)


def ragged_gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Any:
    """Return what the index tuples of `indices` name in `params`."""
    return rows.gather_nd(ragged_or_tensor(params), ragged_or_tensor(indices), batch_dims, bad_indices_policy)


def ragged_squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Return a ragged tensor without some axes of length one."""
    chosen = squeeze_dims if axis is None else axis
    if chosen is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = [chosen] if isinstance(chosen, int) else list(chosen)
    return rows.squeeze(ragged_or_tensor(input), axes)


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """Return the rows of a dense tensor as a ragged one; a ragged one as it is."""
    if isinstance(tensor, RaggedTensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, dtypes.as_dtype(row_splits_dtype))


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """Return a ragged tensor filled up; a dense one as it is."""
    return rt_input.to_tensor(default_value, name) if isinstance(rt_input, RaggedTensor) else rt_input


def to_dense(rt_input: Any, default_value: Any = None, shape: Any = None) -> Any:
    """Return a ragged tensor filled up to a shape; a dense one as it is."""
    if isinstance(rt_input, RaggedTensor):
        return rt_input.to_tensor(default_value, shape=shape)
    return rt_input if shape is None else RaggedTensor.from_tensor(rt_input).to_tensor(default_value, shape=shape)


def to_sparse(rt_input: Any, name: str | None = None) -> SparseTensor:
    """Return a ragged tensor as a sparse one."""
    return rt_input.to_sparse(name)


def from_sparse(st_input: Any, name: str | None = None) -> RaggedTensor:
    """Return a sparse matrix as a ragged tensor."""
    return RaggedTensor.from_sparse(st_input, name)


def get_positive_axis(axis: int, ndims: int | None, axis_name: str = "axis", ndims_name: str = "ndims") -> int:
    """Return an axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError(f"{axis_name}={axis} may only be negative if {ndims_name} is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"{axis_name}={axis} out of bounds: expected {-ndims}<={axis_name}<{ndims}")
    return axis % ndims


def internal_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
    accepted_result_types: Any = None,
) -> Any:
    """Return `value` as a tensor; `as_ref` asks for the reference of a variable that has one."""
    if as_ref and hasattr(value, "_ref"):
        return value._ref()
    return convert_to_tensor(value, dtype, name, preferred_dtype)
