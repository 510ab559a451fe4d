"""Inner functions of TensorFlow 1.15 about shapes, types and devices that no public name stands for.

As in `inner_helpers`: a few lines each, on public functions; the tables name what is here.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.device import DeviceSpec
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast


def bfloat16_numpy_type() -> type:
    """Return NumPy's type of bfloat16: `TF_bfloat16_type`."""
    return dtypes.bfloat16.as_numpy_dtype


def is_broadcast_compatible(shape_x: ShapeLike, shape_y: ShapeLike) -> bool:
    """Return whether two shapes, as far as they are known, broadcast."""
    one, other = as_shape(shape_x), as_shape(shape_y)
    if one.rank is None or other.rank is None:
        return False
    pairs = zip(reversed(one.as_list()), reversed(other.as_list()), strict=False)
    return all(None in pair or 1 in pair or pair[0] == pair[1] for pair in pairs)


def broadcast_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Return the shape that two shapes broadcast to, as far as it is known."""
    one, other = as_shape(shape_x), as_shape(shape_y)
    if one.rank is None or other.rank is None:
        return TensorShape(None)
    if not is_broadcast_compatible(one, other):
        raise ValueError(f"Incompatible shapes for broadcasting: {one} and {other}")
    return broadcast_static_shape(one, other)


def scalar_shape(op: Any) -> list[TensorShape]:
    """Return the shape of an op whose one output is a scalar."""
    return [TensorShape([])]


def unknown_shape(op: Any) -> list[TensorShape]:
    """Return unknown shapes for all outputs of an op."""
    return [TensorShape(None) for _ in op.outputs]


def canonical_name(device: DeviceSpec | str | None) -> str:
    """Return a device's name in its full form."""
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device).to_string()


def check_valid(spec: str) -> None:
    """Raise unless a text names a device."""
    DeviceSpec.from_string(spec)


def shape_tensor(shape: ShapeLike) -> Tensor:
    """Return a shape as a tensor of integers: int32 where its type does not say otherwise."""
    natural = getattr(shape, "dtype", None) is not None
    return convert(shape if natural or not isinstance(shape, TensorShape) else shape.as_list(),
                   None if natural else dtypes.int32)  # fmt: skip


def reduced_shape(input_shape: TensorLike, axes: TensorLike) -> Tensor:
    """Return the shape that a reduction along some axes keeps, with 1 for each of them."""
    sizes, along = cast(input_shape, dtypes.int32), cast(axes, dtypes.int32)
    rank = raw.Size(sizes)
    along = (along + rank) % rank
    return raw.DynamicStitch([raw.Range(0, rank, 1), along], [sizes, raw.Fill(raw.Shape(along), 1)])


def add_leading_unit_dimensions(x: TensorLike, num_dimensions: TensorLike) -> Tensor:
    """Return a tensor with some axes of length 1 in front."""
    tensor = convert(x)
    ones = raw.Fill(raw.ExpandDims(convert(num_dimensions, dtypes.int32), 0), 1)
    return raw.Reshape(tensor, raw.ConcatV2([ones, raw.Shape(tensor)], 0))


def rank_internal(input: TensorLike, name: str | None = None, optimize: bool = True) -> Tensor:
    """Return the number of a tensor's axes, a constant where it is known and wanted so."""
    tensor = convert(input)
    known = tensor.shape.rank
    return convert(known, dtypes.int32, name=name) if optimize and known is not None else raw.Rank(tensor, name=name)


def size_internal(
    input: TensorLike, name: str | None = None, optimize: bool = True, out_type: DTypeLike = dtypes.int32
) -> Tensor:
    """Return how many elements a tensor has, a constant where it is known and wanted so."""
    tensor, kind = convert(input), dtypes.as_dtype(out_type)
    known = tensor.shape.num_elements()
    if optimize and known is not None:
        return convert(known, kind, name=name)
    return raw.Size(tensor, out_type=kind, name=name)


def to_complex(x: TensorLike) -> Tensor:
    """Return a tensor as complex numbers of its width."""
    tensor = convert(x)
    if tensor.dtype.is_complex:
        return tensor
    return cast(tensor, dtypes.complex128 if tensor.dtype.base_dtype == dtypes.float64 else dtypes.complex64)


def variable_op(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """Return a variable of TensorFlow 1 as the node that it is."""
    known = as_shape(shape) if set_shape else TensorShape(None)
    made = raw.Variable(
        shape=known, dtype=dtypes.as_dtype(dtype), container=container, shared_name=shared_name, name=name
    )
    if set_shape:
        made.set_shape(known)
    return made


def empty_like(x: TensorLike, init: bool | None = None) -> Tensor:
    """Return a tensor of the same shape and type whose values are nobody's affair: zeros."""
    tensor = convert(x)
    return zeros(raw.Shape(tensor), tensor.dtype)
