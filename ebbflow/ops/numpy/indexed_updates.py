"""What an assignment by NumPy's indices would give: `x[index] = y`, `+= y`, for tensors, which do not change.

An index is applied to the numbers of the elements, so that whatever an index can pick can be updated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.numpy.advanced_indexing import item
from ebbflow.ops.numpy.promotion import tensor


def _updated(scatter: str, a: TensorLike, slice_spec: Any, updates: TensorLike) -> Tensor:
    """Return `a` with the elements that an index picks updated; `updates` are spread over these."""
    x, new = tensor(a), convert(updates) if isinstance(updates, Tensor) else tensor(updates)
    size = raw.Shape(x)
    numbers = raw.Reshape(raw.Range(0, raw.Size(x), 1), size)
    places = item(numbers, slice_spec, Tensor.__getitem__)
    spread = raw.Reshape(raw.BroadcastTo(cast(new, x.dtype), raw.Shape(places)), [-1])
    flat = getattr(raw, scatter)(raw.Reshape(x, [-1]), raw.Reshape(places, [-1, 1]), spread)
    return raw.Reshape(flat, size)


UPDATES: dict[str, Callable[..., Tensor]] = {
    "update": functools.partial(_updated, "TensorScatterUpdate"),
    "add": functools.partial(_updated, "TensorScatterAdd"),
    "min": functools.partial(_updated, "TensorScatterMin"),
    "max": functools.partial(_updated, "TensorScatterMax"),
}
"""Called as functions of the class: `Tensor._with_index_add(x, index, y)`."""
