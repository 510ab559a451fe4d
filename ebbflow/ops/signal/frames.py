"""Signals cut into frames that may overlap, and frames added up to a signal again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import one_axis, raw
from ebbflow.ops.lengths import known_number, larger, lengths_of, packed, packed_pairs


def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Return the frames of a signal: the axis becomes two, [frames, frame_length].

    >>> frame([1, 2, 3, 4, 5], 3, 2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step]):
        signal = convert(signal)
        length, step = (_scalar(n, what) for n, what in ((frame_length, "frame_length"), (frame_step, "frame_step")))
        at = one_axis(_axis(axis), len(lengths_of(signal)))
        lengths = lengths_of(signal)
        samples = lengths[at]
        if pad_end:
            count = -(-samples // step)
            missing = larger(0, length + step * (count - 1) - samples)
            pads = packed_pairs([(0, missing if i == at else 0) for i in range(len(lengths))])
            signal = raw.PadV2(signal, pads, convert(pad_value, signal.dtype))
        else:
            count = larger(0, 1 + (samples - length) // step)
        starts = raw.Reshape(raw.Range(0, count, 1) * step, np.array([-1, 1], np.int32))
        places = starts + raw.Reshape(raw.Range(0, length, 1), np.array([1, -1], np.int32))
        return raw.GatherV2(signal, places, np.array(at, np.int32))


def _axis(axis: Any) -> int:
    known = known_number(axis)
    if not isinstance(known, int):
        raise ValueError(f"axis must be a constant. Got: {axis}")
    return known


def _scalar(value: Any, what: str) -> Any:
    """Return a length as an int where it is known, else as a scalar tensor."""
    if isinstance(value, int):
        if value <= 0 and what == "frame_step":
            raise ValueError(f"{what} must be positive, got {value}")
        return value
    tensor = convert(value, hint=dtypes.int32)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"{what} must be a scalar, got shape {tensor.shape}")
    if not tensor.dtype.is_integer:
        raise ValueError(f"{what} must be an integer, got {tensor.dtype!r}")
    return known_number(raw.Cast(tensor, DstT=dtypes.int32) if tensor.dtype is not dtypes.int32 else tensor)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Return the signal that frames [..., frames, frame_length] add up to when each starts `frame_step` after the last.

    >>> overlap_and_add([[1, 2, 3], [10, 20, 30]], 2).numpy().tolist()
    [1, 2, 13, 20, 30]
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert(signal)
        if signal.shape.rank is not None and signal.shape.rank < 2:
            raise ValueError(f"signal must be at least rank 2, got shape {signal.shape}")
        step = _step(frame_step)
        if signal.shape.rank is None:  # as many signals as there are, in one axis
            sizes = raw.Shape(signal)
            flat = raw.Reshape(signal, raw.ConcatV2([[-1], sizes[-2:]], 0))
            flat.set_shape([None, None, None])
            added = overlap_and_add(flat, frame_step)
            return raw.Reshape(added, raw.ConcatV2([sizes[:-2], raw.Shape(added)[1:]], 0))
        *outer, count, length = lengths_of(signal)
        total = length + step * (count - 1)
        if isinstance(length, int) and length == step:  # nothing overlaps
            return raw.Reshape(signal, packed([*outer, total]), name="fast_path")
        pieces = -(-length // step)
        rank = len(outer)
        # Every frame is cut into pieces of one step. A row of pieces for each place in the frame, one shorter than
        # what it holds, is a row moved on by one more step than the row before; the rows add up to the signal.
        x = raw.Pad(signal, packed_pairs([(0, 0)] * rank + [(0, pieces), (0, pieces * step - length)]))
        x = raw.Reshape(x, packed([*outer, count + pieces, pieces, step]))
        x = raw.Transpose(x, np.array([*range(rank), rank + 1, rank, rank + 2], np.int32))
        x = raw.Reshape(x, packed([*outer, (count + pieces) * pieces, step]))
        x = raw.Slice(x, np.zeros(rank + 2, np.int32), packed([*outer, (count + pieces - 1) * pieces, step]))
        x = raw.Reshape(x, packed([*outer, pieces, count + pieces - 1, step]))
        x = raw.Sum(x, np.array([rank], np.int32))
        x = raw.Reshape(x, packed([*outer, (count + pieces - 1) * step]))
        return raw.Slice(x, np.zeros(rank + 1, np.int32), packed([*outer, total]))


def _step(frame_step: Any) -> Any:
    tensor = convert(frame_step)
    if not tensor.dtype.is_integer:
        raise ValueError(f"frame_step must be an integer. Got {tensor.dtype!r}")
    step = _scalar(frame_step, "frame_step")
    if isinstance(step, int) and step <= 0:
        raise ValueError(f"frame_step must be positive, got {step}")
    return step
