"""The same elements in another order along an axis: reverse, reverse_sequence, roll."""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import is_compatible
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.declare import raw, show
from ebbflow.ops.sizes import invalid, vector

# --- reverse ----------------------------------------------------------------------------------------------------------

_ANY = "type in [uint8,int8,uint16,int16,int32,uint32,int64,uint64,bool,floats,complex64,complex128,string]"
ReverseV2 = op(
    f"ReverseV2(tensor:T, axis:Tidx) -> (output:T) | Tidx: index = int32; T: {_ANY}", facts="static portable known=axis"
)


@ReverseV2.shape
def _(tensor, axis):
    if axis.rank not in (None, 1):
        raise errors.StaticShapeError(f"'dims' must be 1-dimension, not {axis.rank}")
    if tensor.dims is not None and axis.value is not None:
        _flipped(axis.value.tolist(), len(tensor.dims))
    return tensor.dims


def _flipped(axes: list[int], rank: int) -> tuple[int, ...]:
    found: list[int] = []
    for i, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise errors.StaticShapeError(f"'axis'[{i}] = {axis} is out of valid range [0, {rank - 1}")
        if axis % rank in found:
            raise errors.StaticShapeError(f"axis {axis % rank} specified more than once.")
        found.append(axis % rank)
    return tuple(found)


@ReverseV2.kernel
def _(xp, tensor, axis):
    if axis.ndim != 1:
        raise invalid(f"'dims' must be 1-dimension, not {axis.ndim}")
    return xp.flip(tensor, _flipped(axis.tolist(), tensor.ndim))


@ReverseV2.gradient
def _(call, grad):
    return ReverseV2(grad, call.axis), None


Reverse = op(f"Reverse(tensor:T, dims:bool) -> (output:T) | T: {_ANY}", facts="portable known=dims")


@Reverse.shape
def _(tensor, dims):
    count = vector(dims, "dims")
    if count is not None and tensor.rank is not None and count != tensor.rank:
        raise errors.StaticShapeError(
            "'dims' must have the same number of values as 'input' has dimensions. "
            f"'input' has {tensor.rank}'dims' has {count} values"
        )
    return tensor.dims if tensor.dims is not None or count is None else (None,) * count


@Reverse.kernel
def _(xp, tensor, dims):
    if dims.shape != (tensor.ndim,):
        raise ValueError("dims must have one entry for each axis")
    return xp.flip(tensor, tuple(i for i, flips in enumerate(dims.tolist()) if flips))


@Reverse.gradient
def _(call, grad):
    return Reverse(grad, call.dims), None


ReverseSequence = op(
    "ReverseSequence(input:T, seq_lengths:Tlen) -> (output:T)"
    " | seq_dim: int; batch_dim: int = 0; T: type; Tlen: index = int64",
    facts="portable in_range=seq_lengths",
)


@ReverseSequence.shape
def _(input, seq_lengths, *, seq_dim, batch_dim):
    if seq_lengths.rank not in (None, 1):
        raise errors.StaticShapeError(f"seq_lengths must be 1-dim, not {seq_lengths.rank}")
    if input.dims is None:
        return None
    rank = len(input.dims)
    _check_sequence(rank, seq_dim, batch_dim)
    count = None if seq_lengths.dims is None else seq_lengths.dims[0]
    batch = input.dims[batch_dim]
    if count is not None and batch is not None and count != batch:
        raise errors.StaticShapeError(f"Length of seq_lengths != input.dims({batch_dim}), ({count} vs. {batch})")
    return tuple(count if i == batch_dim and n is None else n for i, n in enumerate(input.dims))


def _check_sequence(rank: int, seq_dim: int, batch_dim: int) -> None:
    if seq_dim < 0:
        raise errors.StaticShapeError(f"Invalid seq_dim {seq_dim}")
    if batch_dim < 0:
        raise errors.StaticShapeError(f"Invalid batch_dim {batch_dim}")
    if batch_dim >= rank:
        raise errors.StaticShapeError(f"batch_dim must be < input rank ( {batch_dim} vs. {rank})")
    if seq_dim >= rank:
        raise errors.StaticShapeError(f"seq_dim must be < input rank ( {seq_dim} vs. {rank})")
    if batch_dim == seq_dim:
        raise errors.StaticShapeError(f"batch_dim == seq_dim == {seq_dim}")


@ReverseSequence.kernel
def _(xp, input, seq_lengths, *, seq_dim, batch_dim):
    _check_sequence(input.ndim, seq_dim, batch_dim)
    batch, length = input.shape[batch_dim], input.shape[seq_dim]
    if seq_lengths.shape != (batch,):
        raise ValueError("one length for each batch entry is needed")
    if xp is np:
        _check_lengths(seq_lengths, length, seq_dim)
    steps, ends = xp.arange(length), seq_lengths.reshape(-1, 1)
    picks = xp.where(steps < ends, ends - 1 - steps, steps)  # [batch, length]
    if (seq_dim, batch_dim) == (0, 1):
        return input[picks.T, xp.arange(batch)]
    moved = xp.moveaxis(input, (batch_dim, seq_dim), (0, 1))
    return xp.moveaxis(moved[xp.arange(batch).reshape(-1, 1), picks], (0, 1), (batch_dim, seq_dim))


def _check_lengths(lengths: np.ndarray, most: int, seq_dim: int) -> None:
    wrong = (lengths < 0) | (lengths > most)
    if wrong.any():
        i = int(wrong.argmax())
        raise invalid(f"seq_lens({i}) {'< 0' if lengths[i] < 0 else f'> input.dims({seq_dim})'}")


@ReverseSequence.gradient
def _(call, grad):
    return ReverseSequence(grad, call.seq_lengths, seq_dim=call.seq_dim, batch_dim=call.batch_dim), None


# --- roll -------------------------------------------------------------------------------------------------------------

Roll = op(
    "Roll(input:T, shift:Tshift, axis:Taxis) -> (output:T) | T: type; Tshift: index; Taxis: index",
    facts="portable known=shift,axis",
)


@Roll.shape
def _(input, shift, axis):
    if input.dims == ():
        raise errors.StaticShapeError("input must be 1-D or higher: Shape must be at least rank 1 but is rank 0")
    for arg, name in ((shift, "shift"), (axis, "axis")):
        if arg.rank is not None and arg.rank > 1:
            raise errors.StaticShapeError(
                f"{name} must be a scalar or a 1-D vector. Found: {show(arg.dims)}: "
                f"Shape must be at most rank 1 but is rank {arg.rank}"
            )
    if shift.dims is not None and axis.dims is not None and not is_compatible(shift.dims, axis.dims):
        raise errors.StaticShapeError(
            f"shift and axis must have the same size: both shapes must be equal, but are {show(shift.dims)} and "
            f"{show(axis.dims)}"
        )
    if input.dims is not None and axis.value is not None:
        for at in axis.value.reshape(-1).tolist():
            _roll_axis(at, len(input.dims))
    return input.dims


def _roll_axis(at: int, rank: int) -> int:
    if not -rank <= at < rank:
        raise errors.StaticShapeError(f"axis {at + rank if at < 0 else at} is out of range")
    return at % rank


@Roll.kernel
def _(xp, input, shift, axis):
    if not input.ndim or shift.ndim > 1 or axis.ndim > 1:
        raise ValueError("input must have axes, shift and axis must be scalars or vectors")
    if shift.size != axis.size or shift.shape != axis.shape:
        raise invalid("shift and axis must have the same size")
    axes = tuple(_roll_axis(at, input.ndim) for at in axis.reshape(-1).tolist())
    return xp.roll(input, tuple(shift.reshape(-1).tolist()), axes)


@Roll.gradient
def _(call, grad):
    return Roll(grad, raw.Neg(call.shift), call.axis), None, None


# --- public -----------------------------------------------------------------------------------------------------------


def reverse(tensor: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Return `tensor` with its elements along each axis named in `axis` in reverse order.

    >>> reverse([1, 2, 3], [0]).numpy().tolist()
    [3, 2, 1]
    """
    return ReverseV2(tensor, axis, name=name)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return `input` with the first `seq_lengths[i]` elements of batch entry i in reverse order along `seq_axis`.

    >>> reverse_sequence([[1, 2, 3]], [2], seq_axis=1).numpy().tolist()
    [[2, 1, 3]]
    """
    if seq_axis is None:
        raise TypeError("reverse_sequence() needs seq_axis")
    return ReverseSequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


def reverse_sequence_v1(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Return `input` with the first elements of each batch entry reversed (`seq_dim`, `batch_dim`: the old names)."""
    for new, old, names in (
        (seq_axis, seq_dim, "'seq_dim' and 'seq_axis'"),
        (batch_axis, batch_dim, "'batch_dim' and 'batch_axis'"),
    ):
        if new is not None and old is not None:
            raise ValueError(f"Cannot specify both {names}.")
    seq = seq_dim if seq_axis is None else seq_axis
    return reverse_sequence(input, seq_lengths, seq, batch_dim if batch_axis is None else batch_axis, name)


def roll(input: TensorLike, shift: TensorLike, axis: Axis, name: str | None = None) -> Tensor:
    """Return `input` with its elements moved by `shift` along `axis`; what falls off one end comes in at the other.

    >>> roll([1, 2, 3], 1, 0).numpy().tolist()
    [3, 1, 2]
    """
    return Roll(input, shift, axis, name=name)
