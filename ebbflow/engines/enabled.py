"""Which engines may serve: all that are installed, or those that EBBFLOW_ENGINES names.

    EBBFLOW_ENGINES=host            NumPy alone
    EBBFLOW_ENGINES=host,onednn     no machine code of our own, no XLA

NumPy always serves: it is the reference, and what the others leave over is its.
"""

from __future__ import annotations

import os


def allowed(engine: str) -> bool:
    """Return whether the environment lets an engine serve.

    >>> allowed("onednn") or "EBBFLOW_ENGINES" in os.environ
    True
    """
    named = os.environ.get("EBBFLOW_ENGINES")
    return named is None or engine in (name.strip().lower() for name in named.split(","))
