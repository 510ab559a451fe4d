"""What the tracer of functions asks of a value that holds no tensors (a dtype, a shape).

Knows nothing of functions: the protocol has these names in TensorFlow (`tf.types.experimental.TraceType`), and the
room that traces calls them.
"""

from __future__ import annotations

from typing import Any


class TensorFree:
    """Answers for values that are their own type: nothing inside to flatten, and only themselves to cast from."""

    __slots__ = ()

    def flatten(self) -> list[Any]:
        """The types of the tensors inside: none."""
        return []

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors inside `value`: none."""
        return []

    def from_tensors(self, tensors: Any) -> Any:
        """The value again from what `to_tensors` gave."""
        return self.placeholder_value(None)

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What stands for the value while tracing: nothing."""
        return None

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return `value` if it is this very type, else refuse."""
        if value != self:
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value
