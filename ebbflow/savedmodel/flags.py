"""Switches of a process that are no arguments of a call: `tensorflow.core.config.flags`."""

from __future__ import annotations


class Flag:
    """A switch with a value."""

    def __init__(self, value: bool):
        self._value = value

    def value(self) -> bool:
        """Return what the switch says."""
        return self._value

    def reset(self, value: bool) -> None:
        """Set the switch."""
        self._value = bool(value)


class Flags:
    """The switches."""

    def __init__(self) -> None:
        self.saved_model_fingerprinting = Flag(True)


_flags = Flags()


def config() -> Flags:
    """Return the switches of this process.

    >>> config().saved_model_fingerprinting.value()
    True
    """
    return _flags
