"""What a kernel raises when what it was given lives elsewhere, and who is asked then.

A variable may be kept by another process, an array may lie in parts on the devices of a mesh. Whoever calls kernels
(`Op`, the executor) asks the error to run the op, and takes what that gives for the kernel's own result. Kernels that
meet only arrays and resources of this process pay nothing for it. Knows nothing of processes and meshes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class RunElsewhere(Exception):  # noqa: N818  (no error: the op goes on at another place)
    """Not a failure: `run(op, arrays, attrs)` does at another place what the kernel would have done here."""

    def __init__(self, run: Callable[[Any, list[Any], dict[str, Any]], Any], why: str = "kept by another process"):
        super().__init__(f"this is {why}: an op can work on it, NumPy cannot")
        self.run = run


array_kinds: set[type] = set()
"""Classes of values that stand where arrays do, and lie elsewhere."""

bodies: list[Callable[[Any, Any], Any]] = []
"""Who runs a whole body, given its values, if any of them lies elsewhere; None is the answer if none does."""

body_runners: list[Callable[[Any, Any], Any]] = []
"""Who says what runs a body that is called in the block of a device, where another process does; None is the answer if
this one does.
"""

relayouts: list[Callable[[Any, str], Any]] = []
"""Who lays an array out as a text says."""


def as_array(value: Any, dtype: Any) -> Any:
    """Return a kernel's result as an array, or as it is where it lies elsewhere."""
    return value if value.__class__ in array_kinds else np.asarray(value, dtype)
