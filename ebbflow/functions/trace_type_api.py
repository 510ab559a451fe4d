"""`tensorflow.core.function.trace_type`: the types that traces are told apart by, for programs that make or cast them.

A thin front of `signature` and `trace_types`. The contexts say how strictly a value is taken.
"""

from __future__ import annotations

from typing import Any

from ebbflow.functions.signature import Given, type_of


class InternalCastContext:
    """How values are cast: `allow_specs` lets a spec stand for a value."""

    def __init__(self, allow_specs: bool = False):
        self._allow_specs = allow_specs

    @property
    def allow_specs(self) -> bool:
        """Whether a spec may stand for a value."""
        return self._allow_specs


class InternalTracingContext(Given):
    """What a walk over values collects while their types are found."""

    def __init__(self, is_legacy_signature: bool = False):
        super().__init__()
        self.is_legacy_signature = is_legacy_signature

    __slots__ = ("is_legacy_signature",)


def from_value(value: Any, context: Any = None) -> Any:
    """Return the type by which a function knows a value; `context` is what the walk collects, if somebody looks.

    >>> from_value(3)
    Literal[3]
    """
    return type_of(value, context if isinstance(context, Given) else Given())
