"""`tf.progress` and `Dataset.progress`: how far a loop is, how fast it goes, when it will end, and its loss.

A bar that is redrawn in a terminal, one piece of output that is replaced in a notebook, a line now and then where
output goes to a file. What is shown never stops a loop: a stream that is closed or cannot show a character is left
alone. Knows streams and clocks; knows nothing of datasets.
"""

from __future__ import annotations

import contextlib
import html
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

WIDTH = 24
"""Characters of a bar."""

REDRAWN = 0.1
"""Seconds between two states of a bar."""

FIRST_LINE = 10.0
"""Seconds until the first line in a log; each further one comes after a quarter more of the time, at least as long."""


class Progress:
    """A loop that shows how far it is. `note(loss=…)` adds numbers to what is shown."""

    def __init__(self, items: Iterable[Any], label: str = "", total: int | None = None, stream: Any = None):
        self._items, self.label = items, label
        self.total = _length(items) if total is None else int(total)
        self.count = 0
        self.numbers: dict[str, Any] = {}
        self._show = _way(sys.stderr if stream is None else stream)
        self._began = self._shown = 0.0

    def note(self, **numbers: Any) -> None:
        """Show these numbers from now on: losses, metrics. What is a tensor is read when it is shown."""
        self.numbers.update(numbers)

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError("The length of this loop is not known.")
        return self.total

    def __iter__(self) -> Iterator[Any]:
        self.count, self._began = 0, time.monotonic()
        self._shown = self._began
        done = False
        try:
            for item in self._items:
                yield item
                self.count += 1
                now = time.monotonic()
                if now - self._shown >= self._show.pause(now - self._began):
                    self._shown = now
                    self._show.state(self.text(now))
            done = True
        finally:
            if done and self.total is None:
                self.total = self.count
            self._show.last(self.text(time.monotonic()))

    def text(self, now: float | None = None) -> str:
        """Return the state in a line: bar, count, rate, time left, numbers."""
        spent = max(1e-9, (time.monotonic() if now is None else now) - self._began)
        rate = self.count / spent
        parts = [f"{self.label}:"] if self.label else []
        if self.total:
            share = min(1.0, self.count / self.total)
            parts += [f"{share:4.0%}", f"[{'#' * round(share * WIDTH):<{WIDTH}}]", f"{self.count}/{self.total}"]
        else:
            parts.append(str(self.count))
        parts.append(_rate(rate))
        if self.total and self.count < self.total and rate > 0:
            parts.append(f"{clock((self.total - self.count) / rate)} left")
        else:
            parts.append(f"in {clock(spent)}")
        parts += [f"{name} {_number(value)}" for name, value in self.numbers.items()]
        return " ".join(parts)


def progress(items: Iterable[Any], label: str = "", total: int | None = None) -> Progress:
    """Return a loop over `items` that shows how far it is, how fast it goes and when it will end.

    >>> import io
    >>> bar = Progress([3, 4], "sum", stream=io.StringIO())
    >>> sum(bar)
    7
    >>> bar.count, bar.total
    (2, 2)
    """
    return Progress(items, label, total)


def _length(items: Any) -> int | None:
    try:
        return len(items)
    except (TypeError, NotImplementedError, AttributeError):
        return None


def _rate(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2f}/s" if rate >= 0.1 or not rate else f"{1 / rate:.0f} s each"


def clock(seconds: float) -> str:
    """Return seconds as people read them.

    >>> clock(7), clock(125), clock(7265)
    ('7 s', '2:05', '2:01:05')
    """
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _number(value: Any) -> str:
    with contextlib.suppress(TypeError, ValueError):
        return f"{float(value):.4g}"
    return str(value)


# --- where it is shown ------------------------------------------------------------------------------------------------


class _Terminal:
    """One line that is written over."""

    def __init__(self, stream: Any):
        self._stream, self._longest = stream, 0

    def pause(self, spent: float) -> float:
        return REDRAWN

    def state(self, text: str) -> None:
        self._longest = max(self._longest, len(text))
        _write(self._stream, "\r" + text.ljust(self._longest))

    def last(self, text: str) -> None:
        self.state(text)
        _write(self._stream, "\n")


class _Log:
    """A line now and then."""

    def __init__(self, stream: Any):
        self._stream = stream

    def pause(self, spent: float) -> float:
        return max(FIRST_LINE, spent / 5)

    def state(self, text: str) -> None:
        _write(self._stream, text + "\n")

    last = state


class _Notebook:
    """A piece of output that is replaced."""

    def __init__(self, display: Any):
        self._display, self._handle = display, None

    def pause(self, spent: float) -> float:
        return 2 * REDRAWN

    def state(self, text: str) -> None:
        data = {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    last = state


def _write(stream: Any, text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        stream.write(text)
        stream.flush()


def _way(stream: Any) -> Any:
    """Return how to show something where output goes."""
    shell = sys.modules.get("IPython")
    if shell is not None and stream is sys.stderr and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        from IPython.display import display  # there only where IPython is running

        return _Notebook(display)
    isatty = getattr(stream, "isatty", None)
    try:
        return _Terminal(stream) if isatty is not None and isatty() else _Log(stream)
    except ValueError:  # closed
        return _Log(stream)
