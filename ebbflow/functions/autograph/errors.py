"""What goes wrong when a function is converted: its source cannot be found, or it is nothing that can be converted."""

from __future__ import annotations


class AutoGraphError(Exception):
    """The base of AutoGraph's own errors."""


class ConversionError(AutoGraphError):
    """A function could not be converted."""


class InaccessibleSourceCodeError(ConversionError, ValueError):
    """The source of a function could not be found."""


class StagingError(AutoGraphError):
    """A converted function failed while its graph was built."""
