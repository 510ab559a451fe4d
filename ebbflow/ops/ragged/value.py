"""What a fetched ragged tensor is, and what may be fed for one: arrays in place of tensors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core.typing import Array, TensorLike


class RaggedTensorValue:
    """Rows of different lengths as an array of all their values and one of where each begins.

    >>> RaggedTensorValue(np.array([3, 1, 4]), np.array([0, 2, 2, 3])).to_list()
    [[3, 1], [], [4]]
    """

    def __init__(self, values: TensorLike, row_splits: TensorLike):
        self._values = values if isinstance(values, RaggedTensorValue) else np.asarray(values)
        self._splits = np.asarray(row_splits)
        if self._splits.dtype not in (np.int32, np.int64):
            raise TypeError(f"row_splits must be int32 or int64, got {self._splits.dtype}")

    @classmethod
    def of_parts(cls, parts: Sequence[Any]) -> RaggedTensorValue:
        """Return a value from its flat values and the splits of its levels, the outermost first."""
        found = parts[0]
        for splits in reversed(parts[1:]):
            found = cls(found, splits)
        return found

    @property
    def parts(self) -> list[Any]:
        """The flat values and the splits of all levels."""
        return [self.flat_values, *self.nested_row_splits]

    @property
    def values(self) -> Array | RaggedTensorValue:
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        return self._splits

    @property
    def flat_values(self) -> np.ndarray:
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._splits, *inner)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype:
        return self._values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        return (len(self._splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """Return the rows as Python lists."""
        inner = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [inner[a:b] for a, b in itertools.pairwise(self._splits)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._splits!r})"
