"""More small functions and constants of TensorFlow's inside: about shapes, dtypes, ragged values, devices, annotations.

As in `inner_helpers`, each is a few lines on public functions, and only the tables name what is here.
"""

from __future__ import annotations

import collections.abc
import contextlib
import enum
import threading
import typing
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.device import DeviceSpecV2
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.arrays.shaping import size
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.state.base import Variable

HASH_KEY = 0xDECAFCAFFE
"""What crossed features are hashed with where nobody says."""

SHARD_HINT = -1  # stands in `Dataset.shard` for numbers that a strategy fills in
COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_SNAPPY = None, "GZIP", "SNAPPY"
ENABLED = True
TYPE_TO_STRING = {dtype.as_datatype_enum: dtype.name for dtype in (*dtypes.ALL, *(d._as_ref for d in dtypes.ALL))}
NUMPY_TYPES = {dtype.as_numpy_dtype: dtype for dtype in dtypes.ALL if dtype.is_numpy_compatible} | {
    np.object_: dtypes.string,
    np.bytes_: dtypes.string,
    np.str_: dtypes.string,
}

for _dtype in dtypes.ALL:
    if _dtype.is_numpy_compatible:
        globals()[f"_np_{_dtype.name}"] = _dtype.as_numpy_dtype


class DevicePlacement(enum.IntEnum):
    """What becomes of tensors on other devices than an op's."""

    EXPLICIT = 0
    WARN = 1
    SILENT = 2
    SILENT_FOR_INT32 = 3


PLACEMENT_EXPLICIT, PLACEMENT_WARN = DevicePlacement.EXPLICIT, DevicePlacement.WARN
PLACEMENT_SILENT, PLACEMENT_SILENT_FOR_INT32 = DevicePlacement.SILENT, DevicePlacement.SILENT_FOR_INT32


def never() -> bool:
    """Return False: what TensorFlow can be built with, and is not here."""
    return False


# --- shapes -----------------------------------------------------------------------------------------------------------


def broadcast_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """Return the shape that two static shapes are spread to."""
    return broadcast_static_shape(shape_x, shape_y)


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Return whether two static shapes are known to be spread to one."""
    if None in (shape_x.rank, shape_y.rank):
        return False
    try:
        broadcast_static_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """Return a shape with 1 for the axes of a reduction."""
    known = input_shape if not isinstance(input_shape, Tensor) else input_shape.constant_value()
    places = axes if not isinstance(axes, Tensor) else axes.constant_value()
    if known is not None and places is not None:
        dims = np.array(known)
        dims[np.array(places, np.int64)] = 1
        return dims
    shape, places = raw.Cast(convert(input_shape), DstT=dtypes.int32), raw.Cast(convert(axes), DstT=dtypes.int32)
    places = raw.FloorMod(places + raw.Size(shape), raw.Size(shape))
    return raw.TensorScatterUpdate(shape, raw.Reshape(places, [-1, 1]), raw.OnesLike(raw.Reshape(places, [-1])))


def shape_tensor(shape: Any) -> Any:
    """Return a shape, or the sizes of one, as a vector of integers."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    long = isinstance(shape, (tuple, list)) and any(getattr(n, "dtype", None) == dtypes.int64 for n in shape)
    plain = isinstance(shape, (tuple, list)) and all(isinstance(n, int) for n in shape)
    return convert(shape, dtypes.int64 if long else dtypes.int32 if plain or shape == () else None)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:
    """Return the number of axes; a constant where it is known and `optimize` is on."""
    if isinstance(input, SparseTensor):
        return raw.Size(input.dense_shape, name=name)
    tensor = convert(input)
    known = optimize and tensor.shape.rank is not None
    return convert(tensor.shape.rank, dtypes.int32, name=name) if known else raw.Rank(tensor, name=name)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Any:
    """Return the number of elements; a constant where it is known and `optimize` is on."""
    if optimize or isinstance(input, SparseTensor):
        return size(input, out_type=dtypes.as_dtype(out_type), name=name)
    return raw.Size(convert(input), out_type=dtypes.as_dtype(out_type), name=name)


def compute_fans(shape: Sequence[int]) -> tuple[int, int]:
    """Return how many inputs and outputs a weight of this shape joins."""
    if len(shape) < 2:
        return (int(shape[0]),) * 2 if shape else (1, 1)
    field = int(np.prod(shape[:-2])) if len(shape) > 2 else 1
    return int(shape[-2]) * field, int(shape[-1]) * field


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """Return how long the input of a convolution is that gives an output of this length."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def convert_data_format(data_format: str, ndim: int) -> str:
    """Return the order of axes as ops call it."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f'Invalid data_format: {data_format}. We only support "channels_first" or "channels_last"')
    names = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
    if ndim not in names:
        raise ValueError(f"Input rank: {ndim} not supported. We only support input rank 3, 4 or 5.")
    return names[ndim][data_format == "channels_last"]


# --- values -----------------------------------------------------------------------------------------------------------


def convert_variables_to_tensors(values: Any) -> Any:
    """Return a structure with the values of variables for these, inside composites too."""

    def converted(leaf: Any) -> Any:
        if isinstance(leaf, CompositeTensor):
            return leaf._convert_variables_to_tensors()
        return convert(leaf) if isinstance(leaf, Variable) else leaf

    return nest.map_structure(converted, values)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Any:
    """Return the rows that lie between splits, each range repeated as often as said."""
    ranges = RaggedTensor.from_row_splits(convert(params), convert(splits), validate=False)
    times = raw.Cast(convert(repeats), DstT=dtypes.int32)
    ends = raw.Cumsum(raw.Reshape(raw.BroadcastTo(times, raw.Shape(ranges.row_lengths())), [-1]), 0)
    total = raw.Cast(raw.Sum(ends[-1:], [0]), DstT=dtypes.int32)
    numbers = raw.Cast(raw.UpperBound(ends[None], raw.Range(0, total, 1)[None])[0], DstT=dtypes.int32)
    found: Any = ranges._op_form(raw.GatherV2, [ranges, numbers, 0], {})
    return found.values


def fill_empty_rows(ragged_input: Any, default_value: Any, name: str | None = None) -> tuple[Any, Any]:
    """Return a ragged tensor with one default value in each row that had none, and which rows these are."""
    numbers, values, empty, _ = raw.RaggedFillEmptyRows(
        raw.Cast(ragged_input.value_rowids(), DstT=dtypes.int64),
        ragged_input.values,
        raw.Cast(ragged_input.nrows(), DstT=dtypes.int64),
        convert(default_value, ragged_input.dtype),
        name=name,
    )
    return RaggedTensor.from_value_rowids(values, numbers, ragged_input.nrows(), validate=False), empty


def batch_sizes_for_worker(
    global_batch_size: TensorLike, num_workers: int, num_replicas_per_worker: int, worker_index: int
) -> Tensor:
    """Return the sizes into which one worker parts global batches, over as many batches as it takes to repeat."""
    replicas = num_workers * num_replicas_per_worker
    whole: Any = global_batch_size
    least, rest = whole // replicas, whole % replicas
    sizes = [least + (rest + replicas - 1 - place) // replicas for place in range(replicas)]  # one more for the first
    first = worker_index * num_replicas_per_worker
    own = [sizes[(first + place) % replicas] for place in range(replicas)]
    order = [(first + step * num_replicas_per_worker) % replicas for step in range(num_workers)]
    found = [sizes[(start + place) % replicas] for start in order for place in range(num_replicas_per_worker)]
    return convert(found if num_workers > 1 else own, dtypes.int64)


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """Return rows of labels, of which each has its own length, as a sparse tensor."""
    dense, length = convert(dense), raw.Cast(convert(length), DstT=dtypes.int64)
    longest = raw.Max(length, [0])
    places = raw.Where(
        raw.Less(raw.Range(raw.ZerosLike(longest), longest, raw.OnesLike(longest))[None], length[:, None])
    )
    rows = raw.Shape(length, out_type=dtypes.int64)[0]
    values = raw.Cast(raw.GatherNd(dense, places), DstT=dtypes.int32)  # as the loss takes them
    return SparseTensor(places, values, raw.Pack([rows, longest]))


# --- devices, locks, annotations --------------------------------------------------------------------------------------


def check_valid(spec: str) -> None:
    """Fail unless a device's name can be read."""
    DeviceSpecV2.from_string(spec)


def canonical_name(device: Any) -> str:
    """Return a device's name in its full form."""
    if device is None:
        return ""
    return (DeviceSpecV2.from_string(device) if isinstance(device, str) else device).to_string()


class GroupLock:
    """A lock that threads of one group hold together, and of different groups one after the other."""

    def __init__(self, num_groups: int = 2):
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._ready = threading.Condition(threading.Lock())
        self._num_groups = num_groups
        self._group_member_counts = [0] * num_groups

    def group(self, group_id: int) -> contextlib.AbstractContextManager[None]:
        """Return what holds the lock for a group."""
        self._validate_group_id(group_id)
        return self._held(group_id)

    @contextlib.contextmanager
    def _held(self, group_id: int) -> Iterator[None]:
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id: int) -> None:
        """Wait until no other group has the lock, and hold it."""
        self._validate_group_id(group_id)
        others = lambda: any(n for place, n in enumerate(self._group_member_counts) if place != group_id)
        with self._ready:
            self._ready.wait_for(lambda: not others())
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Let go of the lock."""
        self._validate_group_id(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            self._ready.notify_all()

    def _validate_group_id(self, group_id: int) -> None:
        if not 0 <= group_id < self._num_groups:
            raise ValueError(f"group_id must be in [0, {self._num_groups}), got {group_id}")


def get_generic_type_args(tp: Any) -> tuple[Any, ...]:
    """Return what stands in the brackets of an annotation."""
    return typing.get_args(tp)


def is_generic_union(tp: Any) -> bool:
    """Return whether an annotation is a union."""
    return typing.get_origin(tp) is typing.Union


def is_generic_tuple(tp: Any) -> bool:
    """Return whether an annotation is a tuple of types."""
    return tp not in (tuple, typing.Tuple) and typing.get_origin(tp) is tuple  # noqa: UP006


def is_generic_mapping(tp: Any) -> bool:
    """Return whether an annotation is a mapping of types."""
    return tp not in (collections.abc.Mapping, typing.Mapping) and typing.get_origin(tp) is collections.abc.Mapping


def is_forward_ref(tp: Any) -> bool:
    """Return whether an annotation names a class that is to come."""
    return isinstance(tp, typing.ForwardRef)


def get_qualified_name(function: Any) -> str:
    """Return a function's name with that of its class."""
    if hasattr(function, "__qualname__"):
        return function.__qualname__
    return f"{function.im_class.__name__}.{function.__name__}" if hasattr(function, "im_class") else function.__name__


def validate_callable(func: Any, decorator_name: str) -> None:
    """Fail unless a decorator has been given a function."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before @{decorator_name} in "
            f"your source code:\n\n@property\n@{decorator_name}\ndef method(...)"
        )


# --- what an op is of old control flow --------------------------------------------------------------------------------


def _containing(asks: str) -> Any:
    """Return the function that finds the innermost context of a kind, from one outwards (None: there is none)."""

    def find(ctxt: Any, stop_ctxt: Any = None) -> Any:
        while ctxt is not None:
            if getattr(ctxt, asks)() or ctxt is stop_ctxt:
                return ctxt
            ctxt = ctxt.outer_context
        return None

    return find


GetContainingWhileContext = _containing("IsWhileContext")
GetContainingCondContext = _containing("IsCondContext")
GetContainingXLAContext = _containing("IsXLAContext")


def IsSwitch(op: Any) -> bool:
    """Return whether an op sends its input one of two ways."""
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op: Any) -> bool:
    """Return whether an op takes what comes of two ways."""
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op: Any) -> bool:
    """Return whether an op takes a value into a loop."""
    return op.type in ("Enter", "RefEnter")


def IsLoopExit(op: Any) -> bool:
    """Return whether an op gives a value out of a loop."""
    return op.type in ("Exit", "RefExit")


def IsLoopConstantEnter(op: Any) -> bool:
    """Return whether an op takes a value into a loop that stays the same there."""
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def IsLoopSwitch(op: Any) -> bool:
    """Return whether an op sends a value on in a loop, or out of it."""
    return IsSwitch(op) and op.inputs[1].op.type == "LoopCond"


def IsCondSwitch(op: Any) -> bool:
    """Return whether an op sends a value into one of two branches."""
    return IsSwitch(op) and not IsLoopSwitch(op)


def IsCondMerge(op: Any) -> bool:
    """Return whether an op joins two branches."""
    return IsMerge(op) and bool(op.inputs) and not any(i.op.type.endswith("NextIteration") for i in op.inputs)


def IsLoopMerge(op: Any) -> bool:
    """Return whether an op joins what enters a loop with what comes of its last turn."""
    return IsMerge(op) and not IsCondMerge(op)
