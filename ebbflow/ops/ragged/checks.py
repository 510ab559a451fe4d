"""Whether parts make a ragged tensor: row splits and row numbers looked at, at once or when the graph runs.

Knows tensors of splits; nothing of ragged tensors themselves, which ask here when they are made of a program's parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.sizes import invalid

TEXTS = {
    "vector": "must be a vector",
    "scalar": "must be a scalar",
    "zero": "zero: where the first row begins must be 0",
    "rise": "monotonic: ends of rows must not decrease",
    "steps": "monotonic: numbers of rows must not decrease",
    "positive": "must not be negative",
    "below": "must be below nrows",
    "equal": "must be equal",
}


def checked(maker: str, tensor: Any, *checks: tuple[Any, ...]) -> Any:
    """Return a tensor once what a ragged tensor is made of is known to fit; refuse it at once where it does not.

    A check is a word of `TEXTS` and the tensors it is about. Eagerly all are looked at now, in a graph when it runs.
    """
    what = f"Arguments to {maker} do not form a valid RaggedTensor"
    asserts = []
    for word, *about in checks:
        condition = _condition(word, *about)
        if condition is None:
            continue
        if isinstance(condition, EagerTensor):
            if not condition._array.all():
                shown = ", ".join(str(t.numpy().tolist()) for t in about)
                raise invalid(f"{what}: {TEXTS[word]}, got {shown}")
        else:
            asserts.append(raw.Assert(condition, [f"{what}: {TEXTS[word]}, got", *about]))
    if not asserts:
        return tensor
    with context.current_graph().control_dependencies(asserts):
        return raw.Identity(tensor)


def _condition(word: str, x: Any, y: Any = None) -> Any:
    """Return a tensor that says whether a check holds; None where that is known already."""
    if word in ("vector", "scalar"):
        return None if x.shape.rank is not None else raw.Equal(raw.Rank(x), 1 if word == "vector" else 0)
    if word == "equal":
        return raw.Equal(x, y)
    zero = np.array(0, x.dtype.np)
    if word in ("rise", "steps"):
        holds = raw.GreaterEqual(x[1:] - x[:-1], zero)
    elif word == "zero":
        holds = raw.Equal(x, zero)
    else:
        holds = raw.Less(x, y) if word == "below" else raw.GreaterEqual(x, zero)
    return raw.All(holds, [0])


def must_have_rank(tensor: Any, rank: int) -> Any:
    """Return a tensor that has a rank, as far as that is known."""
    if tensor.shape.rank not in (rank, None):
        raise ValueError(f"Shape {tensor.shape} must have rank {rank}")
    return tensor


def check_rowids_fit(numbers: Any, nrows: Any) -> None:
    """Refuse a number of rows that is too small for the numbers of rows, where both are known."""
    must_have_rank(nrows, 0)
    rows, ids = nrows.constant_value(), numbers.constant_value()
    if rows is None:
        return
    if int(rows) < 0:
        raise ValueError(f"Expected nrows >= 0; got {int(rows)}")
    if ids is not None and ids.size and int(ids[-1]) >= int(rows):
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={int(rows)}, value_rowids[-1]={int(ids[-1])}"
        )


def check_values_fit(maker: str, rows: Any, count: Any) -> Any:
    """Return a partition whose last row is known to end with the values, of which there are `count`."""
    end = rows.nvals()
    what = f"Arguments to {maker} do not form a valid RaggedTensor: the last row must end with the values"
    a, b = end.constant_value(), count.constant_value()
    if a is not None and b is not None:
        if int(a) != int(b):
            raise invalid(f"{what}, but ends at {int(a)}, and there are {int(b)} values")
        return rows
    return rows._with_dependencies([raw.Assert(raw.Equal(end, count), [what, end, count])])


def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Return assertions that ragged tensors have the same rows; eagerly they are checked at once."""
    first = nested_splits_lists[0]
    if any(len(other) != len(first) for other in nested_splits_lists[1:]):
        raise ValueError("Inputs must have identical ragged splits")
    return [
        assert_equal(a, b, message="Inputs must have identical ragged splits")
        for other in nested_splits_lists[1:]
        for a, b in zip(first, other, strict=True)
    ]


def check_dense(tensor: Any, lengths: Any, padding: Any, ragged_rank: Any) -> None:
    """Refuse what cannot be cut into rows of rows, `ragged_rank` levels of them."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    rank = tensor.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {rank}."
        )
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    if padding is not None and rank is not None:
        padding.shape.assert_is_compatible_with(tensor.shape[ragged_rank + 1 :])


def check_lengths(tensor: Any, lengths: Any) -> None:
    """Refuse lengths of rows that are no vector of integers, one for each row."""
    if not lengths.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: lengths) must be of type integer. Received `tensor` = {lengths} of dtype: "
            f"{lengths.dtype!r}"
        )
    lengths.shape.assert_has_rank(1)
    if tensor.shape.rank is not None:
        tensor.shape[:1].assert_is_compatible_with(lengths.shape)


def check_sparse(rows: Any, places: Any, indices: Any) -> Any:
    """Return the rows of a sparse matrix once its elements are known to fill them from the left, without a gap."""
    zero, one = np.array(0, places.dtype.np), np.array(1, places.dtype.np)
    first = raw.ConcatV2([[True], raw.NotEqual(rows[1:], rows[:-1])], 0)[: raw.Size(rows)]
    due = raw.ConcatV2([[zero], places[:-1] + one], 0)[: raw.Size(rows)]
    right = raw.All(raw.Equal(places, raw.SelectV2(first, zero, due)), [0])
    what = "SparseTensor is not right-ragged: the elements of a row must be its first ones, in order"
    if isinstance(right, EagerTensor):
        if not right._array:
            raise invalid(f"{what}. SparseTensor.indices = {indices.numpy().tolist()}")
        return rows
    with context.current_graph().control_dependencies([raw.Assert(right, [what, "SparseTensor.indices =", indices])]):
        return raw.Identity(rows)


def axis_in(axis: Any, rank: int | None, name: str = "axis") -> int:
    """Return an axis counted from the front; one that is not there is refused."""
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(f"{name} must be an int, got {type(axis).__name__}: {axis!r}")
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
        return int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return int(axis) % rank
