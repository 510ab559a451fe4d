"""Values that programs leave for whoever watches them: gauges, counters and samplers, each with cells by labels.

They are kept in this process and read from it (`cell.value()`); nothing is sent anywhere.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import forks


class Cell:
    """One value."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._lock = forks.lock()

    def set(self, value: Any) -> None:
        """Replace the value."""
        self._value = value

    def increase_by(self, value: int) -> None:
        """Add to the value."""
        if value < 0:
            raise ValueError(f"a counter only grows, got {value}")
        with self._lock:
            self._value += value

    def add(self, value: Any) -> None:
        """Take note of one more value."""
        with self._lock:
            self._value = [*self._value, value]

    def value(self) -> Any:
        """Return the value."""
        return self._value


class Metric:
    """Cells of one name, by their labels."""

    START: Any = 0

    def __init__(self, name: str, *args: Any) -> None:
        self._name = name
        self._cells: dict[tuple[Any, ...], Cell] = {}

    def get_cell(self, *labels: Any) -> Cell:
        """Return the cell of these labels."""
        return self._cells.setdefault(labels, Cell(self.START))


class Counter(Metric):
    """Counts up."""


class IntGauge(Metric):
    """A whole number that changes."""


class StringGauge(Metric):
    """A text that changes."""

    START = ""


class BoolGauge(Metric):
    """Yes or no."""

    START = False


class Sampler(Metric):
    """Keeps the values it was given."""

    START: Any = []  # noqa: RUF012  (never changed: a cell makes a new list)


class Trace:
    """`with Trace("train", step_num=3):` names a stretch of a program; `metadata` is what was said about it."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name, self.metadata = name, dict(kwargs)

    def set_metadata(self, **kwargs: Any) -> None:
        """Say more about it."""
        self.metadata.update(kwargs)

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: Any) -> None:
        pass
