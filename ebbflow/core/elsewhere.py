"""What a kernel raises when a resource that it was given lives in another process: the op is to be run there.

Whoever calls kernels (`Op`, the executor) asks the error to run the op, and takes what that gives for the kernel's own
result. Kernels that meet only resources of this process pay nothing for it. Knows nothing of processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class RunElsewhere(Exception):  # noqa: N818  (no error: the op goes on at another place)
    """Not a failure: `run(op, arrays, attrs)` does at another place what the kernel would have done here."""

    def __init__(self, run: Callable[[Any, list[Any], dict[str, Any]], Any]):
        super().__init__("the resource is kept by another process")
        self.run = run
