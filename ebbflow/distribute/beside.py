"""Making a variable where another one is kept: what optimizers do with their slots.

Knows homes and creators of variables; loads nothing of clusters unless a variable has a home at another task.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.state import variables


@contextlib.contextmanager
def beside(primary: Any) -> Iterator[None]:
    """Have variables that are made inside the block kept by the task that keeps `primary`."""
    home = getattr(primary, "_home", None)
    if home is None:
        yield
        return

    def together(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return next_creator(**{"colocate_with": primary, **kwargs})  # what a strategy's scope asks for

    kind: Callable[..., Any] = primary.__class__
    with variables.variable_creator_scope(together), variables.made_by(functools.partial(kind, home)):
        yield
