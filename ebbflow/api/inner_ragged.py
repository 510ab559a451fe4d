"""Ragged tensors at TensorFlow's inner paths: what no public name stands for."""

from __future__ import annotations

from ebbflow.core import dtypes
from ebbflow.core.typing import DTypeLike


class RaggedTensorType:
    """What a function's result is: a ragged tensor of a dtype, a number of ragged axes and a dtype of splits."""

    def __init__(self, dtype: DTypeLike, ragged_rank: int, row_splits_dtype: DTypeLike = dtypes.int64) -> None:
        self._dtype, self._ragged_rank = dtype, ragged_rank
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    dtype = property(lambda self: self._dtype, doc="The dtype of the values.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="How many axes are ragged.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The dtype of the splits.")
