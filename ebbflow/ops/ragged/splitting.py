"""Ragged tensors in several parts: what `tf.split` means for them.

Rows are cut apart anywhere; what is inside rows only along axes where all of them have one length. Sizes may be known
when the graph runs. Knows the class and how it is sliced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sizes import invalid


def split(value: RaggedTensor, sizes: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Return a value in several parts along an axis: as many as `sizes` says, or of these sizes."""
    axis, rank = int(axis), value.shape.rank
    if axis < 0:
        if rank is None:
            raise ValueError("a negative axis needs a ragged tensor of known rank")
        axis += rank
    if axis > 1 and not isinstance(value.values, RaggedTensor):
        return [value.with_values(part) for part in _dense_parts(value.values, sizes, axis - 1)]
    if axis > 1:
        return [value.with_values(part) for part in split(value.values, sizes, axis - 1, num)]
    if isinstance(sizes, (int, np.integer)):
        if sizes < 1:
            raise ValueError(f"num_or_size_splits must be >=1, got {sizes}")
        if sizes == 1:
            return [value]
    if axis and value._uniform is None:
        raise ValueError(f"Cannot split a ragged tensor along its ragged dimension, axis {axis}")
    ends = _ends(value, sizes, axis, num)
    before = (slice(None),) * axis
    return [value[(*before, slice(start, end))] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _ends(value: RaggedTensor, sizes: Any, axis: int, num: int | None) -> list[Any]:
    """Return where each part ends: numbers where they are known, else scalars."""
    kind = value.row_splits.dtype
    count = dimension_value(value.shape[axis]) if value.shape.rank is not None else None
    total = convert(count, kind) if count is not None else value.nrows() if not axis else convert(value._uniform, kind)
    if isinstance(sizes, (int, np.integer)):
        parts = np.array(sizes, kind.np)
        whole = _once(raw.FloorDiv(total, parts), raw.Equal(raw.FloorMod(total, parts), parts * 0), total, parts)
        return _scalars(whole * np.arange(1, int(sizes) + 1, dtype=kind.np), int(sizes))
    lengths = convert(sizes)
    if not lengths.dtype.is_integer:
        raise TypeError(f"num_or_size_splits must be an integer or a vector of them, got {lengths.dtype.name}")
    lengths = raw.Cast(lengths, DstT=kind)
    if lengths.shape.rank not in (None, 1):
        raise TypeError(f"num_or_size_splits must be a Python list or a vector, got shape {lengths.shape}")
    return _scalars(raw.Cumsum(_checked(lengths, total, num), 0), _number_of(lengths, num))


def _number_of(lengths: Any, num: int | None) -> int:
    known = None if lengths._dims is None else lengths._dims[0]
    if num is None and known is None:
        raise ValueError("`num` must be specified where the number of split lengths is not known")
    if None not in (num, known) and num != known:
        raise ValueError(f"`num` does not match: it is {num}, and there are {known} split lengths")
    return known if num is None else num  # type: ignore[return-value]


def _checked(lengths: Any, total: Any, num: int | None) -> Any:
    """Return lengths once they are known to be no negative numbers, as many as said, that make up the whole."""
    count = raw.Size(lengths)
    lengths = _once(lengths, raw.Equal(count, _number_of(lengths, num)), lengths, words="are inconsistent with `num`")
    zero = np.array(0, lengths.dtype.np)
    lengths = _once(lengths, raw.All(raw.GreaterEqual(lengths, zero), [0]), lengths, words="must be non-negative")
    return _once(lengths, raw.Equal(raw.Sum(lengths, [0]), total), total, lengths)


def _once(tensor: Any, holds: Any, *about: Any, words: str = "") -> Any:
    """Return a tensor once a condition is known to hold, at once or when the graph runs."""
    what = f"split lengths {words}:" if words else "Cannot exactly split:"
    if (known := holds.constant_value()) is not None:
        if not known.all():
            shown = (x.constant_value() if isinstance(x, Tensor) else x for x in about)
            raise invalid(f"{what} {', '.join(str(x) for x in shown)}")
        return tensor
    with context.current_graph().control_dependencies([raw.Assert(holds, [what, *about])]):
        return raw.Identity(tensor)


def _scalars(ends: Any, count: int) -> list[Any]:
    known = ends.constant_value() if isinstance(ends, Tensor) else ends
    return known.tolist() if known is not None else [ends[i] for i in range(count)]


def _dense_parts(values: Any, sizes: Any, axis: int) -> list[Any]:
    if isinstance(sizes, (int, np.integer)):
        return raw.Split(axis, values, num_split=int(sizes))
    sizes = convert(sizes)
    return raw.SplitV(values, sizes, axis, num_split=sizes.shape[0])
