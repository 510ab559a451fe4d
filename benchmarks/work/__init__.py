"""The work on each framework: `<framework>_models.py` say what is computed, `<framework>_work.py` how it is run.

`tf_*.py` serve Ebbflow and TensorFlow alike: the same source on both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

MODULES = {
    "numpy": "numpy_work",
    "ebbflow": "tf_work",
    "tensorflow": "tf_work",
    "jax": "jax_work",
    "torch": "torch_work",
}


class Work(NamedTuple):
    """What is timed, and how to see what came of it."""

    run: Callable[[], Any]
    units: int = 1  # of work that one call does
    parameters: Callable[[], dict[str, Any]] | None = None  # as they are now, in the problem's own layout
    results: Callable[[Any], Any] = lambda raw: raw  # what a call returned, in the problem's own order and layout


def load(framework: str) -> Any:
    """Return the module that does the work on `framework`."""
    return importlib.import_module(f"benchmarks.work.{MODULES[framework]}")
