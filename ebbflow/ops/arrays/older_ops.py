"""Ops that few programs name and exported graphs hold: indices unravelled, rows changed in place, truth, and the like.

In-place ops give a new array, as everything here does: what TensorFlow saves by writing into its input, nobody may see.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.declare import FLAT, raw, same, scalar, show
from ebbflow.ops.shape_rules import agreed, ranked_at_least
from ebbflow.ops.sizes import invalid

# --- indices ----------------------------------------------------------------------------------------------------------

UnravelIndex = op(
    "UnravelIndex(indices:Tidx, dims:Tidx) -> (output:Tidx) | Tidx: type in [int32,int64] = int32", gradient=FLAT
)


@UnravelIndex.shape
def _(indices, dims):
    if dims.dims is not None and len(dims.dims) != 1:
        raise errors.StaticShapeError(f"dims must be a vector, but its shape is {show(dims.dims)}")
    count = dims.dims[0] if dims.dims is not None else None
    return None if indices.dims is None else (count, *indices.dims)


@UnravelIndex.kernel
def _(xp, indices, dims):
    if dims.ndim != 1:
        raise invalid(f"dims must be a vector, got shape {show(dims.shape)}")
    sizes = dims.tolist()
    if any(n <= 0 for n in sizes):
        raise invalid(f"Input dims cannot contain a dim of zero or below, got {sizes}")
    total = 1
    for n in sizes:
        total *= n
    if total > np.iinfo(dims.dtype).max:
        raise invalid(f"Input dims product is more than {dims.dtype.name} can hold: {sizes}")
    outside = indices[(indices < 0) | (indices >= total)]
    if outside.size:
        raise invalid(f"index is out of bound as with dims: {int(outside.reshape(-1)[0])} is not in [0, {total})")
    return np.array(np.unravel_index(indices, sizes)).astype(indices.dtype).reshape(len(sizes), *indices.shape)


def unravel_index(indices: TensorLike, dims: ShapeLike, name: str | None = None) -> Tensor:
    """Return the places of flat indices in an array of the shape `dims`, one row an axis.

    >>> unravel_index([2, 5, 7], [3, 3]).numpy().tolist()
    [[0, 1, 2], [2, 2, 1]]
    """
    return UnravelIndex(indices, dims, name=name)


# --- rows, as if in place ---------------------------------------------------------------------------------------------


def _inplace_dims(x: Known, i: Known, v: Known) -> Any:
    dims, rows = ranked_at_least(x, 1), ranked_at_least(v, 1)
    if dims is not None and rows is not None:
        agreed(dims[1:], rows[1:])
    return dims


def _inplace(name: str, change: Any) -> Op:
    declared = op(f"{name}(x:T, i:int32, v:T) -> (y:T) | T: type", gradient=FLAT)
    declared.shape(_inplace_dims)

    @declared.kernel
    def _(xp: Any, x: Any, i: Any, v: Any) -> Any:
        if i.ndim > 1 or not x.ndim:
            raise invalid(f"i must be a scalar or vector and x have rows: shapes {show(i.shape)} and {show(x.shape)}")
        rows = np.atleast_1d(i)
        if v.shape != (len(rows), *x.shape[1:]):
            raise invalid(f"v must have shape {show((len(rows), *x.shape[1:]))}, got {show(v.shape)}")
        if not len(x) and len(rows):
            raise invalid("x has no rows that could be changed")
        y = x.copy()
        if len(x):
            change(y, rows % len(x), v)
        return y

    return declared


InplaceUpdate = _inplace("InplaceUpdate", lambda y, rows, v: y.__setitem__(rows, v))
InplaceAdd = _inplace("InplaceAdd", lambda y, rows, v: np.add.at(y, rows, v))
InplaceSub = _inplace("InplaceSub", lambda y, rows, v: np.subtract.at(y, rows, v))


def _at_rows(declared: Op) -> Any:
    def function(x, i, v):
        if i is None:  # all of it
            every = raw.Range(0, raw.Shape(x)[0], 1)
            return declared(x, every, v)
        if getattr(i, "ndim", None) == 0 or isinstance(i, int):
            return declared(x, raw.Reshape(i, [1]), raw.ExpandDims(v, 0))
        return declared(x, i, v)

    function.__doc__ = f"Return x after {declared.name} of rows i (all where None, one where a scalar) by v."
    return function


inplace_update = _at_rows(InplaceUpdate)
inplace_add = _at_rows(InplaceAdd)
inplace_sub = _at_rows(InplaceSub)

# --- segments with their number given ---------------------------------------------------------------------------------

_INDEX = "Tindices: index; Tnumsegments: type in [int32,int64] = int32"
_REALS, _NUMBERS = "reals", "numbers"


def _segments(kind: str, types: str) -> Op:
    """Declare Segment…V2: segments in order, as many as given."""
    unsorted = registry[f"UnsortedSegment{kind}"]
    declared = op(
        f"Segment{kind}V2(data:T, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:T) | T: {types}; "
        f"{_INDEX}",
        facts="beside",
    )
    declared.shape(unsorted.shape_fn)
    declared.gradient(unsorted.gradient_fn)

    @declared.kernel
    def _(xp: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
        if segment_ids.ndim != 1:
            raise invalid(f"segment_ids should be a vector, got shape {show(segment_ids.shape)}")
        if xp is np and (np.diff(segment_ids) < 0).any():
            raise invalid("segment ids are not increasing")
        return unsorted.kernel_fn(xp, data, segment_ids, num_segments)

    return declared


SegmentSumV2 = _segments("Sum", _NUMBERS)
SegmentProdV2 = _segments("Prod", _NUMBERS)
SegmentMaxV2 = _segments("Max", _REALS)
SegmentMinV2 = _segments("Min", _REALS)

# --- the rest ---------------------------------------------------------------------------------------------------------

ToBool = op("ToBool(input:T) -> (output:bool) | T: type", shape=scalar, gradient=FLAT, facts="beside")


@ToBool.kernel
def _(xp, input):
    """A number is true unless it is zero, a string unless it is empty, an array where it has elements."""
    return np.bool_(input.size > 0 if input.ndim else bool(input.item()))


CheckPinned = op("CheckPinned(tensor:T) -> (output:T) | T: type", shape=same)
CheckPinned.kernel(lambda xp, tensor: tensor)
CheckPinned.gradient(lambda call, grad: grad)

IsTensorFloat32Enabled = op("IsTensorFloat32Enabled() -> (enabled:bool) | stateful", shape=scalar, gradient=FLAT)
IsTensorFloat32Enabled.kernel(lambda xp: np.bool_(True))

DeviceIndex = op("DeviceIndex() -> (index:int32) | device_names: list(string) | stateful", shape=scalar, gradient=FLAT)


@DeviceIndex.kernel
def _(xp, *, device_names):
    names = [n.decode() if isinstance(n, bytes) else n for n in device_names]
    return np.int32(names.index("CPU") if "CPU" in names else len(names))


_BEST = "(topk:float, topk_indices:int32) | k: int"
TopKUnique = op(f"TopKUnique(input:float) -> {_BEST}", gradient=FLAT)
TopKWithUnique = op(f"TopKWithUnique(input:float) -> {_BEST}", gradient=FLAT)


def _best_dims(input: Known, *, k: int) -> Any:
    if input.dims is not None and len(input.dims) != 2:
        raise errors.StaticShapeError(f"input must be a matrix, but its shape is {show(input.dims)}")
    rows = None if input.dims is None else input.dims[0]
    return [(rows, k), (rows, k)]


def _best(xp: Any, input: Any, *, k: int) -> Any:
    if input.ndim != 2 or not 0 <= k <= input.shape[1]:
        raise invalid(f"input must be a matrix of at least k = {k} columns, got shape {show(input.shape)}")
    order = np.argsort(-input, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(input, order, 1), order.astype(np.int32)


for _declared in (TopKUnique, TopKWithUnique):
    _declared.shape(_best_dims)
    _declared.kernel(_best)
