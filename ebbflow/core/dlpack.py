"""DLPack: a tensor's memory handed to another library, and another's taken, without a copy.

A capsule can be taken once. What was taken shares the giver's memory, so the giver should leave it as it is from then
on, as Ebbflow does with its own arrays. `np.from_dlpack(tensor)` and `torch.from_dlpack(tensor)` need no capsule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.tensor import EagerTensor, wrap

if TYPE_CHECKING:
    from ebbflow.core.tensor import Tensor


def to_dlpack(tf_tensor: Tensor) -> object:
    """Return a capsule with the memory of a tensor."""
    if not isinstance(tf_tensor, EagerTensor):
        raise TypeError(f"The argument to `to_dlpack` must be a TF tensor, not {type(tf_tensor).__name__}")
    try:
        return tf_tensor.__dlpack__()
    except (BufferError, TypeError):
        raise errors.InvalidArgumentError(None, None, f"{tf_tensor.dtype.name} is not supported by dlpack") from None


def from_dlpack(dlcapsule: object) -> EagerTensor:
    """Return the tensor in a capsule.

    >>> from_dlpack(to_dlpack(wrap(np.arange(3), dtypes.int64))).numpy().tolist()
    [0, 1, 2]
    """
    if type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError(f"a DLPack capsule is wanted, not {type(dlcapsule).__name__}")
    try:
        array = np.from_dlpack(_Capsule(dlcapsule))
    except (RuntimeError, ValueError, SystemError, BufferError) as error:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"the capsule cannot be taken ({error}); a DLPack tensor may be consumed at most once",
        ) from None
    return wrap(array, dtypes.from_numpy(array.dtype))


class _Capsule:
    """A capsule as NumPy wants to be given it: by an object that hands it out."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the host; NumPy itself looks at what the capsule says
