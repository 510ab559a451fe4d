"""Parts of kernels that an engine may do in a quicker way: kernels ask here by name, engines put their functions here.

A way gives what the kernel would, to the same bits, or None (False, for what is done in place) where it is not there or
would not pay; the kernel then goes on by itself. Knows no engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ways: dict[str, Callable[..., Any]] = {}
"""The functions that engines offer, by the name that kernels ask for."""


def quicker(name: str, *args: Any) -> Any:
    """Return what an engine makes of these arguments, or None where none offers a way.

    >>> quicker("a name that nobody knows", 1) is None
    True
    """
    way = ways.get(name)
    return None if way is None else way(*args)
