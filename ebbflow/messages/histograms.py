"""Histograms as TensorFlow's summaries have them: numbers counted in buckets that grow by a tenth."""

from __future__ import annotations

import bisect
import functools
import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from ebbflow import messages

if TYPE_CHECKING:
    from google.protobuf.message import Message


def histogram_proto(values: np.ndarray) -> Message:
    """The `HistogramProto` of finite numbers."""
    limits = bucket_limits()
    inside = np.minimum(np.searchsorted(limits, values, side="right"), len(limits) - 1)
    with np.errstate(over="ignore"):
        return _proto(
            np.bincount(inside, minlength=len(limits)),
            values.min(initial=sys.float_info.max),
            values.max(initial=-sys.float_info.max),
            _sum_in_order(values),
            _sum_in_order(values * values),
        )


def _proto(counts: np.ndarray, least: float, most: float, total: float, squares: float) -> Message:
    """Of buckets in a row that are empty, only the last is kept."""
    keep = (counts > 0) | np.append(counts[1:] > 0, True)
    return messages.HistogramProto(
        min=least,
        max=most,
        num=int(counts.sum()),
        sum=total,
        sum_squares=squares,
        bucket_limit=bucket_limits()[keep],
        bucket=counts[keep],
    )


class Buckets:
    """A histogram of numbers that come one by one."""

    def __init__(self) -> None:
        self._limits = bucket_limits().tolist()
        self._counts = np.zeros(len(self._limits), np.int64)
        self._least, self._most, self._sum, self._squares = sys.float_info.max, -sys.float_info.max, 0.0, 0.0

    def add(self, value: float) -> None:
        """Count a number."""
        if not math.isfinite(value):
            return
        self._counts[min(bisect.bisect_right(self._limits, value), len(self._limits) - 1)] += 1
        self._least, self._most = min(self._least, value), max(self._most, value)
        self._sum += value
        self._squares += value * value

    def proto(self) -> Message:
        """Return what was counted, as a `HistogramProto`.

        >>> found = Buckets()
        >>> found.add(8.0), found.add(16.0)
        (None, None)
        >>> found.proto().num, found.proto().sum
        (2.0, 24.0)
        """
        return _proto(self._counts, self._least, self._most, self._sum, self._squares)


@functools.cache
def bucket_limits() -> np.ndarray:
    """The upper ends of the buckets: 0, and to both sides 1e-12, growing by a tenth, up to 1e20, then the largest."""
    positive = []
    limit = 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(sys.float_info.max)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


def _sum_in_order(values: np.ndarray) -> float:
    """The sum as a loop gives it; `np.sum` adds in pairs, which rounds differently."""
    return np.add.accumulate(values)[-1] if len(values) else 0.0
