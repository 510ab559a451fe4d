"""What a class needs for `tf.nest` to take its instances apart: two methods, and no registration.

Only the protocol: `nest` itself asks for the methods by name.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class CustomNestProtocol(Protocol):
    """A value that says itself what its parts are."""

    def __tf_flatten__(self) -> Any:
        """Return what belongs to the type, and a tuple of the parts."""

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, leaves: Any) -> Any:
        """Return a value from what `__tf_flatten__` gave."""
