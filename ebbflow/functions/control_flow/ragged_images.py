"""Images of several sizes, the rows of a ragged tensor, each made to one size: a loop over them.

Fills the hook of `ops.image.resize`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.functions.control_flow.loops import map_fn
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.image.resize import provide_loop


@provide_loop
def each_resized(change: Callable[[Any], Any], images: Any, dims: Sequence[int | None]) -> Any:
    """Return what `change` gives for each image, stacked; `dims` is what is known of its shape."""

    def one(image: Any) -> Any:
        return change(image if isinstance(image, Tensor) else image.to_tensor())

    dtype = change(zeros([1, 1, dims[-1] or 1], images.dtype)).dtype  # a small one tells it
    return map_fn(one, images, fn_output_signature=TensorSpec(dims, dtype))
