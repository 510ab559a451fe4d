"""Models made under a strategy: variables that have a copy for each replica are one variable in a file.

Traces that write to several copies are made anew for the file, so that a loaded function writes once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.savedmodel.options import SaveOptions
from ebbflow.trackable.save_context import save_context


def copies_of(variable: Any) -> Sequence[Any]:
    """Return what a variable keeps for each replica, if it does."""
    return getattr(variable, "values", ()) if getattr(variable, "_distribute_strategy", None) is not None else ()


def for_a_file(concrete: ConcreteFunction, options: SaveOptions) -> ConcreteFunction:
    """Return a trace as a model keeps it: one that knows several copies of a variable is made anew, with the first."""
    maker = concrete._maker() if concrete._maker is not None else None
    if maker is None or options.experimental_variable_policy._expand_distributed_variables():
        return concrete
    if not any(_is_further_copy(tensor) for tensor in concrete.captured_inputs):
        return concrete
    with save_context(options):
        return maker._traced_for_a_file(concrete)


def _is_further_copy(handle: Any) -> bool:
    container = getattr(handle, "_distributed_container", None)
    return container is not None and handle is not container()._primary.handle
