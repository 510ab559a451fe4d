"""Jacobians: one walk of the tape for each entry of the target, stacked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import nest
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.shape import TensorShape, as_dims
from ebbflow.eager.backprop import unconnected
from ebbflow.ops.declare import raw

of_graphs: list[Callable[[Any, list[Any]], list[Any]]] = []
"""Who loops over the entries of a target whose number only the run knows: given it and the sources."""


def jacobian(tape: Any, target: Any, sources: Any, mode: Any) -> Any:
    """Return d target / d source for each source."""
    _use(tape)
    flat = nest.flatten(sources)
    if of_graphs and not target.shape.is_fully_defined():
        found = [
            unconnected(_spread(target, x), mode) if grad is None else grad
            for grad, x in zip(of_graphs[0](target, flat), flat, strict=True)
        ]
        return nest.pack_sequence_as(sources, found)
    handles = [getattr(s, "_tape_handle", s) for s in flat]
    dims = _static(target, "jacobian")
    rows: list[list[Any]] = [[] for _ in flat]
    for index in range(int(np.prod(dims, dtype=np.int64))):
        pick = np.zeros(dims, target.dtype.np)
        pick.reshape(-1)[index] = 1
        for row, grad in zip(rows, tape.backward([target], handles, [convert(pick)]), strict=True):
            row.append(grad)
    found = [_stack(row, dims, source, mode) for row, source in zip(rows, flat, strict=True)]
    return nest.pack_sequence_as(sources, found)


def batch_jacobian(tape: Any, target: Any, source: Any, mode: Any) -> Any:
    """Return the Jacobian of each batch entry's target for its own source: the entries do not mix."""
    _check_unused(tape)
    dims, source_dims = _entry_dims(target), _entry_dims(source)
    if None not in (dims[0], source_dims[0]) and dims[0] != source_dims[0]:
        raise ValueError(
            f"Need first dimension of target shape ({list(dims)}) and source shape ({list(source_dims)}) to match."
        )
    _use(tape)
    handle = getattr(source, "_tape_handle", source)
    size = int(np.prod(dims[1:], dtype=np.int64))
    shape = raw.Shape(target)
    rows = []
    for index in range(size):
        picked = np.eye(1, size, index, target.dtype.np).reshape(1, *dims[1:])
        rows.append(tape.backward([target], [handle], [raw.BroadcastTo(convert(picked), shape)])[0])
    whole = raw.ConcatV2([shape, np.array(source_dims[1:], np.int32)], 0)
    if not rows or rows[0] is None:  # TensorFlow has zeros here, whatever is asked of unconnected gradients
        return raw.Fill(whole, convert(np.zeros((), target.dtype.np)))
    found = raw.Reshape(raw.Pack([_dense(r) for r in rows], axis=1), whole)
    found.set_shape([*dims, *source_dims[1:]])
    return found


def _entry_dims(tensor: Any) -> tuple[Any, ...]:
    """Return a batch's shape, of which the number of entries alone may be known when the graph runs."""
    dims = TensorShape(tensor.shape).with_rank_at_least(2)._dims
    if dims is None or None in dims[1:]:
        raise ValueError(f"batch_jacobian needs entries of fully known shape, got {tensor!r}")
    return dims


def _use(tape: Any) -> None:
    _check_unused(tape)
    if tape._recording and not tape._persistent:
        tape._pop()
    tape._used = True


def _check_unused(tape: Any) -> None:
    if tape._used and not tape._persistent:
        raise RuntimeError(
            "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
        )


def _static(tensor: Any, what: str) -> tuple[int, ...]:
    dims = as_dims(tensor.shape)  # a Keras variable's is a plain tuple
    if dims is None or None in dims:
        raise ValueError(f"{what} needs a target of fully known shape, got {tensor!r}")
    return dims  # type: ignore[return-value]


def _dense(grad: Any) -> Any:
    return convert(grad)


def _spread(target: Any, source: Any) -> Any:
    """Return a zero for each entry of the target and of the source."""
    zero = convert(np.zeros((), as_dtype(source.dtype).base_dtype.np))
    return raw.Fill(raw.ConcatV2([raw.Shape(target), raw.Shape(convert(source))], 0), zero)


def _stack(row: list[Any], dims: tuple[int, ...], source: Any, mode: Any) -> Any:
    source_dims = list(_static(source, "jacobian"))
    if not row or row[0] is None:
        if row or getattr(mode, "value", mode) != "none":
            zeros = raw.Fill(list(dims) + source_dims, convert(np.zeros((), as_dtype(source.dtype).base_dtype.np)))
            return unconnected(zeros, mode)
        return None
    return raw.Reshape(raw.Pack([_dense(g) for g in row], axis=0), list(dims) + source_dims)
