"""Functions of `tf.experimental.numpy` that are more than other names of ops: with NumPy's arguments and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype, from_numpy
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw


def finfo(dtype: DTypeLike) -> Any:
    """Return the limits of a type of floating-point numbers, as NumPy tells them.

    >>> float(finfo("float32").eps) == 2.0**-23
    True
    """
    return ml_dtypes.finfo(as_dtype(dtype).np)


def iinfo(dtype: DTypeLike) -> Any:
    """Return the limits of a type of whole numbers, as NumPy tells them."""
    return ml_dtypes.iinfo(as_dtype(dtype).np)


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> Tensor:
    """Return for each place the choice of the first condition that holds there, or the default.

    >>> select([[True, False], [True, True]], [[1, 2], [3, 4]]).numpy().tolist()
    [1, 4]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist and choicelist must have the same length: got {len(condlist)} and {len(choicelist)}"
        )
    if not condlist:
        raise ValueError("condlist must have length at least 1")
    choices = [convert(choice) for choice in choicelist]
    weak = isinstance(default, (bool, int, float, complex))
    others = [] if weak else [convert(default)]
    types: list[Any] = [x.dtype.np for x in [*choices, *others]] + ([default] if weak else [])
    kind = from_numpy(np.result_type(*types))
    result = convert(default, kind) if weak else raw.Cast(others[0], DstT=kind)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = raw.SelectV2(convert(condition), raw.Cast(choice, DstT=kind), result)
    return result
