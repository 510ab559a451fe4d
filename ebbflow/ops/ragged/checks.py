"""Whether parts make a ragged tensor: row splits and row numbers looked at, at once or when the graph runs.

Knows tensors of splits; nothing of ragged tensors themselves, which ask here when they are made of a program's parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw
from ebbflow.ops.sizes import invalid


def check_splits(splits: np.ndarray, values: Any) -> None:
    """Refuse splits that do not go with the values."""
    rows = values.shape.as_list()[0] if values.shape.rank else None
    wrong = None
    if not splits.size or splits[0] != 0:
        wrong = "row_splits[0] must be 0"
    elif np.any(np.diff(splits) < 0):
        wrong = "row_splits must not decrease"
    elif rows is not None and rows != splits[-1]:
        wrong = f"the last row ends at {splits[-1]}, and there are {rows} values"
    if wrong is not None:
        raise invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: {wrong}")


def checked_splits(splits: Any, count: Any) -> Any:
    """Return splits that are looked at when the graph runs."""
    rise = splits[1:] - splits[:-1]
    return _once(
        splits,
        "Arguments to from_row_splits do not form a valid RaggedTensor",
        ("row_splits[0] must be 0", raw.Equal(splits[:1], raw.ZerosLike(splits[:1])), splits[:1]),
        ("row_splits must not decrease", raw.GreaterEqual(rise, raw.ZerosLike(rise)), splits),
        ("the last row must end with the values", raw.Equal(splits[-1:], count), splits),
    )


def checked_rowids(numbers: Any, nrows: Any) -> Any:
    """Return the numbers of rows, which must not decrease, at once or when the graph runs."""
    what = "Arguments to from_value_rowids do not form a valid RaggedTensor"
    rise = numbers[1:] - numbers[:-1]
    checks = [
        ("value_rowids must not decrease", raw.GreaterEqual(rise, raw.ZerosLike(rise)), numbers),
        ("value_rowids must not be negative", raw.GreaterEqual(numbers[:1], raw.ZerosLike(numbers[:1])), numbers),
    ]
    if nrows is not None:
        most = raw.Cast(convert(nrows), DstT=numbers.dtype)
        checks.append(("value_rowids must be below nrows", raw.Less(numbers[-1:], most), numbers))
    if not isinstance(numbers, EagerTensor):
        return _once(numbers, what, *checks)
    for text, holds, shown in checks:
        if isinstance(holds, EagerTensor) and not holds._array.all():
            raise invalid(f"{what}: {text}, got {shown.numpy().tolist()}")
    return numbers


def _once(checked: Any, what: str, *checks: tuple[str, Any, Any]) -> Any:
    """Return a tensor that is there once all checks hold."""
    asserts = [raw.Assert(raw.All(holds, [0]), [f"{what}: {text}, got", shown]) for text, holds, shown in checks]
    with context.current_graph().control_dependencies(asserts):
        return raw.Identity(checked)


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
